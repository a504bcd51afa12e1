//! The threads that serve connections, each with a runtime of its own.
//!
//! A connection stays on the thread that it was given to, and so does what it waits for: the client's socket, the
//! upstream's, timers. Nothing that a request does has to wake another core, which costs more than passing a
//! small body on.

use std::{io, num::NonZeroUsize, sync::Arc, thread};

use tokio::{
    net::TcpStream,
    runtime::{Builder, Runtime},
    sync::mpsc,
};

/// What begins to serve a connection, on the thread that will go on with it.
type Beginning = Box<dyn FnOnce(TcpStream, Place) + Send>;

/// A connection's place among those of its thread, held while it lasts.
pub(crate) struct Place(#[expect(dead_code, reason = "it counts by being there")] Arc<()>);

struct Handed {
    stream: std::net::TcpStream,
    begin: Beginning,
    place: Place,
}

struct Worker {
    /// `None` once it is to end.
    handed: Option<mpsc::UnboundedSender<Handed>>,
    /// Cloned for each connection that is served.
    places: Arc<()>,
    thread: Option<thread::JoinHandle<()>>,
}

/// The threads that serve connections. When dropped, connections that still run are cut, and the threads are
/// waited for.
pub struct Workers(Vec<Worker>);

impl Workers {
    /// Starts threads: this many, or one for each core that the process may use.
    ///
    /// # Errors
    /// The system gives no more threads or descriptors.
    pub fn start(count: Option<NonZeroUsize>) -> io::Result<Self> {
        let count = count.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let mut workers = Self(Vec::with_capacity(count));
        for number in 0..count {
            workers.0.push(Worker::start(number)?);
        }
        Ok(workers)
    }

    /// Gives a connection to the thread that has the fewest.
    ///
    /// # Errors
    /// The socket cannot be moved, or no thread is left.
    pub(crate) fn hand(
        &self,
        stream: TcpStream,
        begin: impl FnOnce(TcpStream, Place) + Send + 'static,
    ) -> io::Result<()> {
        let least = self.0.iter().min_by_key(|worker| Arc::strong_count(&worker.places));
        let Some(Worker { handed: Some(handed), places, .. }) = least else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (stream, place) = (stream.into_std()?, Place(Arc::clone(places)));
        handed
            .send(Handed { stream, begin: Box::new(begin), place })
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let (handed, queue) = mpsc::unbounded_channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let name = format!("trilith-serve-{number}");
        let thread = thread::Builder::new().name(name).spawn(move || work(&runtime, queue))?;
        Ok(Self { handed: Some(handed), places: Arc::default(), thread: Some(thread) })
    }
}

/// Serves what is handed over, until nothing can be any more.
fn work(runtime: &Runtime, mut queue: mpsc::UnboundedReceiver<Handed>) {
    runtime.block_on(async {
        while let Some(Handed { stream, begin, place }) = queue.recv().await {
            match TcpStream::from_std(stream) {
                Ok(stream) => begin(stream, place),
                Err(error) => tracing::warn!(%error, "a connection could not be taken"),
            }
        }
    });
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            worker.handed = None;
        }
        for thread in self.0.iter_mut().filter_map(|worker| worker.thread.take()) {
            thread.join().ok();
        }
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Workers").field(&self.0.len()).finish()
    }
}
