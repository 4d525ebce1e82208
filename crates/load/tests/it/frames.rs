//! A server that speaks HTTP/2 by a script: after each request it reads, it sends the frames that
//! the script gives for its stream.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::server::{Act, perform};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// `END_STREAM`, and `ACK`.
pub(crate) const END: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A header field written out in full.
pub(crate) fn field(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        let length = text.len();
        if length < 127 {
            bytes.push(u8::try_from(length).unwrap());
        } else {
            let (low, high) = ((length - 127) % 128, (length - 127) / 128);
            bytes.extend([127, u8::try_from(low + 128).unwrap()]);
            bytes.push(u8::try_from(high).unwrap());
        }
        bytes.extend(text.bytes());
    }
    bytes
}

/// The head of a right response.
pub(crate) const OK: &[u8] = &[0x88];

/// A right response with the body `hello`.
pub(crate) fn hello(stream: u32) -> Vec<u8> {
    [
        frame(HEADERS, END_HEADERS, stream, OK),
        frame(DATA, END, stream, b"hello"),
    ]
    .concat()
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
    /// Streams that were ever open at the same time.
    most: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Greets with these bytes, then performs `script(stream, n)` after the n-th request (from 0)
    /// of the server.
    pub(crate) fn start(
        settings: Vec<u8>,
        script: impl Fn(u32, u64) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            requests: Arc::default(),
            connections: Arc::default(),
            most: Arc::default(),
            stop: Arc::default(),
        };
        let (requests, connections) = (server.requests.clone(), server.connections.clone());
        let (most, stop) = (server.most.clone(), server.stop.clone());
        let script = Arc::new(script);
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                stream.set_nodelay(true).unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                let (requests, script, most) = (requests.clone(), script.clone(), most.clone());
                let settings = settings.clone();
                std::thread::spawn(move || {
                    if perform(&mut stream, &[Act::Send(settings)]) {
                        serve(&mut stream, &requests, &most, &*script);
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

    /// Connections accepted so far.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    /// The largest number of requests that had come before their responses.
    pub(crate) fn most_at_once(&self) -> u64 {
        self.most.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accept up.
        drop(TcpStream::connect(&self.address));
    }
}

/// Reads frames and responds each request when its headers and body are there. All requests of one
/// read are known before the first response to them.
fn serve(
    stream: &mut TcpStream,
    requests: &AtomicU64,
    most: &AtomicU64,
    script: &dyn Fn(u32, u64) -> Vec<Act>,
) {
    let mut incoming = Incoming::default();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let ended = match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(bytes) => incoming.take(&chunk[..bytes]),
        };
        if stream.write_all(&incoming.updates()).is_err() {
            return;
        }
        most.fetch_max(ended.len() as u64, Ordering::SeqCst);
        for number in ended {
            let index = requests.fetch_add(1, Ordering::SeqCst);
            if !perform(stream, &script(number, index)) {
                return;
            }
        }
    }
}

/// A frame from a client.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    input: Vec<u8>,
    has_preface: bool,
    /// The windows that the data since the last look have to be given back to.
    updates: Vec<u8>,
}

impl Incoming {
    /// Takes bytes and returns the streams whose requests are whole.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<u32> {
        let input = &mut self.input;
        input.extend_from_slice(bytes);
        if !self.has_preface && input.len() >= PREFACE.len() {
            assert_eq!(&input[..PREFACE.len()], PREFACE);
            input.drain(..PREFACE.len());
            self.has_preface = true;
        }
        let mut ended = Vec::new();
        while self.has_preface && input.len() >= 9 {
            let length = usize::from(input[0]) << 16 | usize::from(input[1]) << 8;
            let length = 9 + (length | usize::from(input[2]));
            if input.len() < length {
                break;
            }
            let (kind, flags) = (input[3], input[4]);
            let number = u32::from_be_bytes([input[5], input[6], input[7], input[8]]);
            if matches!(kind, HEADERS | DATA) && flags & END != 0 {
                ended.push(number);
            }
            if kind == DATA && length > 9 {
                let increment = u32::try_from(length - 9).unwrap().to_be_bytes();
                for stream in [0, number] {
                    let update = frame(WINDOW_UPDATE, 0, stream, &increment);
                    self.updates.extend(update);
                }
            }
            input.drain(..length);
        }
        ended
    }

    /// Window updates for the data that came, one for each frame and window.
    pub(crate) fn updates(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.updates)
    }
}
