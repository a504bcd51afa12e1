//! The hyper floor: the minimal reverse proxy that hyper's own server and pooled client make.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use http_body_util::{Either, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HOST};
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

type Upstream = Client<HttpConnector, Incoming>;
type Body = Either<Incoming, Empty<Bytes>>;

/// Serves on `listener` until the process ends, relaying every request to `upstream`.
pub(crate) async fn serve(listener: TcpListener, upstream: SocketAddr) -> io::Result<()> {
    let authority: Authority = upstream.to_string().parse().map_err(io::Error::other)?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Upstream = Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, authority) = (client.clone(), authority.clone());
        let service = service_fn(move |request| relay(client.clone(), authority.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn relay(
    client: Upstream,
    authority: Authority,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = Some(authority);
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request.headers_mut().remove(HOST);
    request.headers_mut().remove(CONNECTION);
    Ok(match client.request(request).await {
        Ok(answer) => answer.map(Either::Left),
        Err(_) => {
            let mut answer = Response::new(Either::Right(Empty::new()));
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
            answer
        }
    })
}
