//! The listeners: connections come in, requests run, and at the end everything that runs may finish.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
};
use trilith_core::BoxFuture;

use crate::{
    admin,
    answer::Answer,
    app::App,
    route,
    workers::{Place, Workers},
};

/// A socket that takes connections.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        TcpListener::bind(address).await.map(Self)
    }

    /// The address that was bound, with its real port.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Whether the process is about to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draining(Arc<AtomicBool>);

impl Draining {
    pub(crate) fn is_draining(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Which of the two surfaces a connection speaks to.
#[derive(Clone)]
enum Surface {
    Api,
    Admin(Draining),
}

/// Serves on the workers until `stop` resolves, then takes no new connection and waits for running requests, at
/// most the drain time. Says whether all of them ended.
pub async fn serve(
    app: Arc<App>,
    workers: &Workers,
    api: Listener,
    admin: Option<Listener>,
    stop: impl Future<Output = ()>,
) -> bool {
    let draining = Draining::default();
    let graceful = GracefulShutdown::new();
    let admin = AdminSurface {
        listener: admin,
        draining: draining.clone(),
        graceful: GracefulShutdown::new(),
        room: Arc::new(Semaphore::new(64)),
    };
    // Connections hold the other end: they are cut when this one is dropped, after the drain time.
    let (over, cut) = watch::channel(());
    let room = Arc::new(Semaphore::new(app.limits.connections));
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = accept(&api, &room) => {
                let (stream, permit) = accepted;
                let (app, watcher, cut) = (Arc::clone(&app), graceful.watcher(), cut.clone());
                let handed = workers.hand(stream, move |stream, place| {
                    let held = Held { _permit: permit, _place: Some(place), cut };
                    start(&app, stream, Surface::Api, watcher, held);
                });
                if let Err(error) = handed {
                    tracing::warn!(%error, "a connection could not be taken");
                }
            }
            () = admin.serve_one(&app, &cut) => {}
        }
    }
    draining.0.store(true, Ordering::Relaxed);
    drop(api);
    // Whoever watches the process is told until the end that it takes no more.
    let mut drained = std::pin::pin!(tokio::time::timeout(app.limits.drain_timeout, graceful.shutdown()));
    let whole = loop {
        tokio::select! {
            drained = &mut drained => break drained.is_ok(),
            () = admin.serve_one(&app, &cut) => {}
        }
    };
    admin.close().await;
    drop(over);
    whole
}

/// The listener of whoever runs the process; it is the last to close.
struct AdminSurface {
    listener: Option<Listener>,
    draining: Draining,
    graceful: GracefulShutdown,
    room: Arc<Semaphore>,
}

impl AdminSurface {
    /// Starts the next connection that there is room for; waits for ever if there is no such listener.
    async fn serve_one(&self, app: &Arc<App>, cut: &watch::Receiver<()>) {
        let Some(listener) = &self.listener else { return std::future::pending().await };
        let Ok((stream, _)) = listener.0.accept().await else {
            // Out of descriptors, most likely.
            return tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else { return };
        let held = Held { _permit: permit, _place: None, cut: cut.clone() };
        start(app, stream, Surface::Admin(self.draining.clone()), self.graceful.watcher(), held);
    }

    /// Lets the requests that run here end, for a moment.
    async fn close(self) {
        drop(self.listener);
        tokio::time::timeout(Duration::from_secs(1), self.graceful.shutdown()).await.ok();
    }
}

type Permit = tokio::sync::OwnedSemaphorePermit;

/// What a connection holds while it lasts.
struct Held {
    /// Its room among the others.
    _permit: Permit,
    /// Its place on its thread.
    _place: Option<Place>,
    /// Changes when the time is over in which it may end by itself.
    cut: watch::Receiver<()>,
}

/// The next connection that there is room for.
async fn accept(listener: &Listener, room: &Arc<Semaphore>) -> (TcpStream, Permit) {
    loop {
        let Ok(permit) = Arc::clone(room).acquire_owned().await else { std::future::pending().await };
        match listener.0.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                // Out of descriptors, most likely: those that run will give some back.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

fn start(app: &Arc<App>, stream: TcpStream, surface: Surface, watcher: Watcher, mut held: Held) {
    // Without this, an answer written in two pieces waits for the client's delayed acknowledgement.
    stream.set_nodelay(true).ok();
    let shared = Arc::clone(app);
    let service = service_fn(move |request| answer(Arc::clone(&shared), surface.clone(), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.header_timeout)
        .max_buf_size(64 << 10);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(256);
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let connection = watcher.watch(connection);
    let task: BoxFuture<'static, ()> = Box::pin(async move {
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            },
            // Nothing is ever sent: this resolves when the sender is gone.
            _ = held.cut.changed() => tracing::debug!("a connection was cut off"),
        }
    });
    app.runtime.spawn.spawn("connection", task);
}

async fn answer(
    app: Arc<App>,
    surface: Surface,
    request: http::Request<Incoming>,
) -> Result<http::Response<Answer>, Infallible> {
    Ok(match surface {
        Surface::Api => route::answer(app, request).await,
        Surface::Admin(draining) => admin::answer(app, draining, request).await,
    })
}
