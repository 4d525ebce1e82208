//! A proxy in front of one server: whatever a client sends passes on, and requests with their
//! responses are handed to [`Exchanges`].

mod authority;
mod exchange;
mod http1;
mod http2;
#[cfg(test)]
mod tests;

use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_tls::Client;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use self::http1::Conversation;

pub use self::authority::Authority;
pub use self::exchange::{Body, Exchange, Exchanges, SentRequest};

/// Pause after a connection could not be accepted, mostly for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Pause between two looks at the first bytes of a connection.
const PEEK_PAUSE: Duration = Duration::from_millis(1);

/// The first bytes of an HTTP/2 connection (RFC 9113, 3.4), as far as no request begins like them.
const PREFACE: &[u8; 5] = b"PRI *";

/// Bytes that are passed on at a time.
const BUFFER_BYTES: usize = 16 << 10;

/// The server to which everything passes.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// The address.
    pub address: SocketAddr,
    /// The settings of TLS over HTTP/1.1 and over HTTP/2; `None` without TLS.
    pub tls: Option<[Client; 2]>,
}

/// A stream of a client or of the server.
trait Line: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Line for T {}

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    upstream: Upstream,
    acceptor: Option<TlsAcceptor>,
}

impl Proxy {
    /// Listens, over TLS if there is an authority. Port 0 takes any free one; [`Proxy::address`]
    /// returns it.
    ///
    /// # Errors
    /// The address cannot be used.
    pub async fn bind(
        upstream: Upstream,
        listen: SocketAddr,
        authority: Option<&Authority>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            upstream,
            acceptor: authority.map(Authority::acceptor),
        })
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Passes on all connections until `stop` is ready, and then ends those that are still open.
    pub async fn serve(&self, exchanges: Arc<dyn Exchanges>, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let (upstream, acceptor) = (self.upstream.clone(), self.acceptor.clone());
                        let exchanges = Arc::clone(&exchanges);
                        connections.spawn(connection(stream, upstream, acceptor, exchanges));
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                },
            }
        }
        connections.shutdown().await;
    }
}

async fn connection(
    stream: TcpStream,
    upstream: Upstream,
    acceptor: Option<TlsAcceptor>,
    exchanges: Arc<dyn Exchanges>,
) {
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = acceptor else {
        let is_http2 = begins_http2(&stream).await;
        return relay(stream, is_http2, &upstream, exchanges).await;
    };
    match acceptor.accept(stream).await {
        Ok(stream) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            relay(stream, is_http2, &upstream, exchanges).await;
        }
        Err(error) => {
            let why = Problem::new(error);
            exchanges.leave_out("a connection over TLS", why.message());
        }
    }
}

/// Whether the client speaks HTTP/2 by prior knowledge.
async fn begins_http2(stream: &TcpStream) -> bool {
    let mut first = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut first).await {
            Ok(count) if count == PREFACE.len() => return first == *PREFACE,
            Ok(count) if count > 0 && PREFACE.starts_with(&first[..count]) => {
                tokio::time::sleep(PEEK_PAUSE).await;
            }
            Ok(_) | Err(_) => return false,
        }
    }
}

/// Connects a client with the server.
async fn relay(
    client: impl Line,
    is_http2: bool,
    upstream: &Upstream,
    exchanges: Arc<dyn Exchanges>,
) {
    match connect(upstream, is_http2).await {
        Ok(server) if is_http2 => http2::pass(client, server, exchanges).await,
        Ok(server) => pass(client, server, exchanges.as_ref()).await,
        Err(why) => refuse(client, exchanges.as_ref(), &why).await,
    }
}

async fn connect(upstream: &Upstream, is_http2: bool) -> Result<Box<dyn Line>, Problem> {
    let stream = TcpStream::connect(upstream.address).await;
    let stream = stream.map_err(Problem::new)?;
    let _ = stream.set_nodelay(true);
    let Some(tls) = &upstream.tls else {
        return Ok(Box::new(stream));
    };
    let client = &tls[usize::from(is_http2)];
    let connector = TlsConnector::from(Arc::clone(&client.config));
    let stream = connector.connect(client.name.clone(), stream).await;
    let broken = |error| Problem::new(bakeoff_tls::reason_of(&error));
    Ok(Box::new(stream.map_err(broken)?))
}

/// Passes bytes on in both directions, until the server closes its side.
async fn pass(client: impl Line, server: impl Line, exchanges: &dyn Exchanges) {
    let conversation = Mutex::new(Conversation::new(exchanges));
    let locked = || conversation.lock().unwrap_or_else(PoisonError::into_inner);
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    let requests = async {
        forward(from_client, to_server, |bytes| locked().sent(bytes)).await;
        // The server may still respond.
        pending::<()>().await;
    };
    let responses = forward(from_server, to_client, |bytes| locked().received(bytes));
    tokio::select! {
        () = requests => {}
        () = responses => {}
    }
}

/// Passes bytes on, each after a look at it, until there are no more.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut look: impl FnMut(&[u8]),
) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        look(&buffer[..count]);
        if to.write_all(&buffer[..count]).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

/// Responds to the first request of a client that the server cannot be reached.
async fn refuse(mut client: impl Line, exchanges: &dyn Exchanges, why: &Problem) {
    let why = format!("the server cannot be reached: {}", why.message());
    let mut conversation = Conversation::new(exchanges);
    let mut buffer = vec![0; BUFFER_BYTES];
    let count = client.read(&mut buffer).await.unwrap_or_default();
    conversation.sent(&buffer[..count]);
    conversation.fail("a connection", &Problem::from(why.clone()));
    let body = format!("{why}\n");
    let response = format!(
        "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = client.write_all(response.as_bytes()).await;
    let _ = client.shutdown().await;
}
