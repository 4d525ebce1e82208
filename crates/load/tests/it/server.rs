//! A server that follows a script: after each request it reads, it does what the script says.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One act of a script.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Send these bytes at once.
    Send(Vec<u8>),
    /// Send these bytes one at a time.
    Trickle(Vec<u8>),
    /// Send this byte, again and again, until the other side is gone.
    Flood(Vec<u8>),
    /// Wait.
    Pause(Duration),
    /// Wait until the other side closes.
    Hold,
    /// Close.
    Close,
    /// Close with a reset.
    Reset,
}

/// Sends text at once.
pub(crate) fn say(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

/// A port that is bound and not listened on, so that no other process gets it and every connection
/// to it is refused.
#[derive(Debug)]
pub(crate) struct RefusedPort {
    pub(crate) address: String,
    _socket: OwnedFd,
}

impl RefusedPort {
    pub(crate) fn reserve() -> Self {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
        Self {
            address: address.to_string(),
            _socket: socket,
        }
    }
}

/// A port whose queue of connections is full, so that every further connection to it hangs.
#[derive(Debug)]
pub(crate) struct FullPort {
    pub(crate) address: String,
    _listener: TcpListener,
    _queued: Vec<TcpStream>,
}

impl FullPort {
    pub(crate) fn fill() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
        let queued: Vec<TcpStream> = std::iter::from_fn(connect).collect();
        Self {
            address: address.to_string(),
            _listener: listener,
            _queued: queued,
        }
    }
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Serves the same script after every request.
    pub(crate) fn script(acts: Vec<Act>) -> Self {
        Self::start("127.0.0.1:0", move |stream, _| perform(stream, &acts))
    }

    /// Serves `response(stream, n)` after the n-th request (from 0) of the server; `false` ends the
    /// connection.
    pub(crate) fn start(
        bind: &str,
        response: impl Fn(&mut TcpStream, u64) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::serve(bind, move |stream, index, _| response(stream, index))
    }

    /// Serves `response(stream, request)` after each request, with its bytes.
    pub(crate) fn start_showing(
        bind: &str,
        response: impl Fn(&mut TcpStream, &[u8]) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::serve(bind, move |stream, _, request| response(stream, request))
    }

    fn serve(
        bind: &str,
        response: impl Fn(&mut TcpStream, u64, &[u8]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(bind).unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            requests: Arc::default(),
            connections: Arc::default(),
            stop: Arc::default(),
        };
        let (requests, connections) = (server.requests.clone(), server.connections.clone());
        let stop = server.stop.clone();
        let response = Arc::new(response);
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                stream.set_nodelay(true).unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                let (requests, response) = (requests.clone(), response.clone());
                std::thread::spawn(move || {
                    let mut input = Vec::new();
                    while let Some(request) = read_request(&mut stream, &mut input) {
                        let index = requests.fetch_add(1, Ordering::SeqCst);
                        if !response(&mut stream, index, &request) {
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    /// Requests read so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    /// Returns the requests read, once there are `sent` of them or ten seconds have passed: what
    /// was in flight when a load ended may be read after its end.
    pub(crate) fn requests_of(&self, sent: u64) -> u64 {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.requests() < sent && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.requests()
    }

    /// Connections accepted so far.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accept up.
        drop(TcpStream::connect(&self.address));
    }
}

/// Performs a script; `false` when the connection is over.
pub(crate) fn perform(stream: &mut TcpStream, acts: &[Act]) -> bool {
    for act in acts {
        let result = match act {
            Act::Send(bytes) => stream.write_all(bytes),
            Act::Trickle(bytes) => bytes.iter().try_for_each(|byte| {
                std::thread::sleep(Duration::from_micros(200));
                stream.write_all(&[*byte])
            }),
            Act::Flood(bytes) => {
                let many = bytes.repeat(1 + 4096 / bytes.len());
                while stream.write_all(&many).is_ok() {}
                return false;
            }
            Act::Pause(time) => {
                std::thread::sleep(*time);
                Ok(())
            }
            Act::Hold => {
                let mut rest = [0; 1024];
                while stream.read(&mut rest).is_ok_and(|bytes| bytes > 0) {}
                return false;
            }
            Act::Close => return false,
            Act::Reset => {
                let linger = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(stream.as_fd(), linger).unwrap();
                return false;
            }
        };
        if result.is_err() {
            return false;
        }
    }
    true
}

/// Reads one request with its body; `None` at the end of the connection.
fn read_request(stream: &mut TcpStream, input: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut chunk = [0; 64 * 1024];
    loop {
        if let Some(length) = whole_request(input) {
            return Some(input.drain(..length).collect());
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(bytes) => input.extend_from_slice(&chunk[..bytes]),
        }
    }
}

fn whole_request(input: &[u8]) -> Option<usize> {
    let head = input.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&input[..head]).unwrap();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap());
    (input.len() >= head + body).then_some(head + body)
}
