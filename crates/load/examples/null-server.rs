//! The fastest server that is still a server: one thread, epoll, the same answer to every request
//! without a body. It is what generators are compared against, so that their own cost shows.
//!
//! `null-server ADDRESS [BODY_BYTES]`

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

const LISTENER: u64 = u64::MAX;

/// A connection and the end of an unfinished request head.
struct Client {
    stream: TcpStream,
    /// How many bytes of the empty line that ends a head have come: 0 to 3.
    matched: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let body: usize = arguments.next().map_or(Ok(13), |text| text.parse())?;
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nServer: null\r\nContent-Type: text/plain\r\n\
         Content-Length: {body}\r\n\r\n"
    )
    .into_bytes();
    answer.resize(answer.len() + body, b'x');
    let listener = TcpListener::bind(address)?;
    // The standard library's queue of 128 would make thousands of connections wait.
    rustix::net::listen(&listener, 4096)?;
    listener.set_nonblocking(true)?;
    serve(&listener, &answer)
}

fn serve(listener: &TcpListener, answer: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let poller = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(
        &poller,
        listener,
        EventData::new_u64(LISTENER),
        EventFlags::IN,
    )?;
    let mut clients: Vec<Option<Client>> = Vec::new();
    let none = Event {
        flags: EventFlags::empty(),
        data: EventData::new_u64(0),
    };
    let mut events = vec![none; 1024];
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let found = match epoll::wait(&poller, &mut events[..], None) {
            Err(rustix::io::Errno::INTR) => continue,
            found => found?,
        };
        for event in &events[..found] {
            let data = event.data;
            if data.u64() == LISTENER {
                accept(listener, &poller, &mut clients)?;
                continue;
            }
            let slot = usize::try_from(data.u64())?;
            let open = clients[slot].as_mut();
            if open.is_some_and(|client| !client.answer(answer, &mut buffer)) {
                clients[slot] = None;
            }
        }
    }
}

fn accept(
    listener: &TcpListener,
    poller: &impl std::os::fd::AsFd,
    clients: &mut Vec<Option<Client>>,
) -> Result<(), Box<dyn std::error::Error>> {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let free = clients.iter().position(Option::is_none);
        let slot = free.unwrap_or(clients.len());
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(poller, &stream, EventData::new_u64(slot as u64), flags)?;
        let client = Some(Client { stream, matched: 0 });
        if slot == clients.len() {
            clients.push(client);
        } else {
            clients[slot] = client;
        }
    }
    Ok(())
}

impl Client {
    /// Answers all requests that have come; `false` when the connection is over.
    fn answer(&mut self, answer: &[u8], buffer: &mut [u8]) -> bool {
        loop {
            let bytes = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(bytes) => bytes,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            };
            for _ in 0..self.requests(&buffer[..bytes]) {
                if !send(&mut self.stream, answer) {
                    return false;
                }
            }
            if bytes < buffer.len() {
                return true;
            }
        }
    }

    /// How many heads end in these bytes.
    fn requests(&mut self, bytes: &[u8]) -> usize {
        const END: &[u8; 4] = b"\r\n\r\n";
        if self.matched == 0 && bytes.ends_with(END) && bytes.len() < 1024 {
            // One whole request at a time is the common case.
            let inner = &bytes[..bytes.len() - 2];
            return 1 + inner.windows(4).filter(|window| window == END).count();
        }
        let mut requests = 0;
        for &byte in bytes {
            self.matched = match (byte == END[self.matched], byte) {
                (true, _) => self.matched + 1,
                (false, b'\r') => 1,
                (false, _) => 0,
            };
            if self.matched == END.len() {
                self.matched = 0;
                requests += 1;
            }
        }
        requests
    }
}

/// Sends everything; a client that does not read is waited for, busily.
fn send(stream: &mut TcpStream, mut answer: &[u8]) -> bool {
    while !answer.is_empty() {
        match stream.write(answer) {
            Ok(bytes) => answer = &answer[bytes..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(_) => return false,
        }
    }
    true
}
