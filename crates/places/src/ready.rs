//! Awaits the first valid response of a service, and times the steps to it.
//!
//! The client is its own few lines of HTTP/1.1 over a blocking socket: what it adds to the time
//! that it takes is a few microseconds, and nothing has to be warmed up. Checks use
//! [`crate::http::ask`].

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use bakeoff_tls::Client;
use rustls::{ClientConnection, StreamOwned};

use crate::{Spoken, first_call};

/// Pause between two attempts to connect. With the timer's slack the distance stays below the
/// half millisecond that start-up times are resolved to.
const POLL: Duration = Duration::from_micros(350);

/// Pause after a response that is not valid: a service with status 503 is not asked 2000 times a
/// second.
const POLL_ANSWERED: Duration = Duration::from_millis(5);

/// How long a read waits before `ended` is asked again.
const READ_SLICE: Duration = Duration::from_millis(20);

/// First patience with an accepted connection; doubled each time. A service may accept before it
/// can respond, and lose the connections of that time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest response that is read.
const ANSWER_MAX: usize = 16 << 20;

/// The moments that were reached, in monotonic ns as [`monotonic_ns`] gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// When the first connection was accepted.
    pub listened_ns: u64,
    /// When the first valid response (200, 404 or a redirect) was complete.
    pub answered_ns: u64,
}

/// Why nothing valid came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The caller's `ended` said so.
    Ended,
    /// No connection was accepted within the limit.
    NoListener,
    /// Connections were accepted; the last response that was not valid.
    NoAnswer(String),
}

/// The host's monotonic clock, ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The host's wall clock, ns since the Unix epoch.
#[must_use]
pub(crate) fn wall_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Asks `path` of `address`, by its protocol, every 0.5 ms at least until a valid response: 200,
/// 404 or a redirect, or any response to a call of gRPC. With an empty path a connection suffices.
/// `ended` is asked between the attempts and must not block. Blocking: run it on a thread for
/// blocking work.
///
/// # Errors
/// No valid response came within the limit, or `ended` said that none will.
pub fn await_answer(
    address: SocketAddr,
    path: &str,
    spoken: &Spoken,
    limit: Duration,
    ended: &mut dyn FnMut() -> bool,
) -> Result<Answered, Unanswered> {
    let deadline = Instant::now() + limit;
    let host = address.to_string();
    let client = spoken.tls.as_ref();
    let client = client.map(|tls| Client::new(tls, &host, spoken.alpn()));
    let client = client.transpose();
    let client = client.map_err(|error| Unanswered::NoAnswer(format!("no TLS: {error}")))?;
    let mut listened_ns = None;
    let mut found = None;
    let mut patience = PATIENCE;
    loop {
        if ended() {
            return Err(Unanswered::Ended);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(found.map_or(Unanswered::NoListener, Unanswered::NoAnswer));
        }
        let Ok(stream) = TcpStream::connect_timeout(&address, left.min(PATIENCE)) else {
            thread::sleep(POLL);
            continue;
        };
        let listened_ns = *listened_ns.get_or_insert_with(monotonic_ns);
        if path.is_empty() {
            return Ok(Answered {
                listened_ns,
                answered_ns: listened_ns,
            });
        }
        let until = deadline.min(Instant::now() + patience);
        let opened = Stream::open(stream, client.as_ref());
        let asked = Asked {
            host: &host,
            path,
            is_call: spoken.is_grpc,
        };
        match opened.and_then(|stream| one_answer(stream, &asked, until, ended)) {
            Ok(()) => {
                return Ok(Answered {
                    listened_ns,
                    answered_ns: monotonic_ns(),
                });
            }
            Err(Wrong::Ended) => return Err(Unanswered::Ended),
            // Cut short by the limit, it says less than what was found before.
            Err(_) if found.is_some() && Instant::now() >= deadline => {}
            Err(Wrong::Silent) => {
                patience *= 2;
                found = Some("nothing".to_owned());
            }
            Err(Wrong::Found(what)) => found = Some(what),
        }
        thread::sleep(POLL_ANSWERED);
    }
}

/// A connection, over TLS or not.
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Makes the handshake if there is one.
    fn open(mut stream: TcpStream, client: Option<&Client>) -> Result<Self, Wrong> {
        stream.set_nodelay(true).map_err(broken)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(broken)?;
        let session = client.map(|client| {
            ClientConnection::new(client.config.clone(), client.name.clone())
                .map_err(|error| Wrong::Found(format!("no TLS: {error}")))
        });
        let Some(mut session) = session.transpose()? else {
            stream.set_read_timeout(Some(READ_SLICE)).map_err(broken)?;
            return Ok(Self::Plain(stream));
        };
        stream.set_read_timeout(Some(PATIENCE)).map_err(broken)?;
        while session.is_handshaking() {
            let shaken = session.complete_io(&mut stream);
            shaken.map_err(|error| {
                let reason = bakeoff_tls::reason_of(&error);
                Wrong::Found(format!("a TLS handshake that fails: {reason}"))
            })?;
        }
        stream.set_read_timeout(Some(READ_SLICE)).map_err(broken)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, stream))))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

fn broken(error: io::Error) -> Wrong {
    Wrong::Found(format!("a connection that fails: {error}"))
}

enum Wrong {
    Ended,
    Silent,
    Found(String),
}

/// The request of a readiness.
struct Asked<'a> {
    host: &'a str,
    path: &'a str,
    /// Whether it is a call of gRPC.
    is_call: bool,
}

impl Asked<'_> {
    fn bytes(&self) -> Vec<u8> {
        let Self {
            host,
            path,
            is_call,
        } = self;
        if *is_call {
            return first_call::request(host, path);
        }
        let lines = "Accept: */*\r\nConnection: close\r\n\r\n";
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{lines}").into_bytes()
    }

    /// Returns the error for a response that is not whole.
    fn garbage(&self, answer: &[u8]) -> Wrong {
        match self.is_call && !answer.is_empty() {
            true => Wrong::Found("HTTP/2, and no response to the call".to_owned()),
            false => garbage(answer),
        }
    }

    /// The status when the response is whole, an error when it is not one, `None` while it grows.
    fn whole(&self, answer: &[u8], closed: bool) -> Option<Result<u16, Wrong>> {
        match self.is_call {
            true => match first_call::response(answer) {
                Ok(true) => Some(Ok(200)),
                Ok(false) => None,
                Err(found) => Some(Err(Wrong::Found(found.to_string()))),
            },
            false => whole(answer, closed),
        }
    }
}

/// Sends the request and reads one whole response, which is valid: 200, 404 or a redirect.
fn one_answer(
    mut stream: Stream,
    asked: &Asked<'_>,
    until: Instant,
    ended: &mut dyn FnMut() -> bool,
) -> Result<(), Wrong> {
    stream.write_all(&asked.bytes()).map_err(broken)?;
    let mut answer = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => {
                let status = asked.whole(&answer, true);
                let status = status.unwrap_or_else(|| Err(asked.garbage(&answer)))?;
                return valid(status, &answer);
            }
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
                io::ErrorKind::Interrupted => continue,
                _ => return Err(broken(error)),
            },
        }
        if let Some(status) = asked.whole(&answer, false) {
            return valid(status?, &answer);
        }
        if answer.len() > ANSWER_MAX {
            return Err(Wrong::Found("a response without an end".to_owned()));
        }
        if ended() {
            return Err(Wrong::Ended);
        }
        if Instant::now() >= until {
            return Err(if answer.is_empty() {
                Wrong::Silent
            } else {
                asked.garbage(&answer)
            });
        }
    }
}

/// Refuses other statuses than 200, 404 and 3xx, with what the service says to them.
fn valid(status: u16, answer: &[u8]) -> Result<(), Wrong> {
    /// Longest part of a body that is shown.
    const SHOWN: usize = 200;
    if matches!(status, 200 | 300..400 | 404) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(answer);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let words: Vec<&str> = body.split_whitespace().collect();
    let shown: String = words.join(" ").chars().take(SHOWN).collect();
    Err(Wrong::Found(match shown.as_str() {
        "" => format!("status {status}"),
        shown => format!("status {status}: {shown}"),
    }))
}

fn garbage(answer: &[u8]) -> Wrong {
    if answer.is_empty() {
        return Wrong::Found("a connection closed without a byte".to_owned());
    }
    if answer.starts_with(b"HTTP/1.") {
        return Wrong::Found("a response that is cut short".to_owned());
    }
    let begin = String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned();
    Wrong::Found(format!(
        "a response that is not HTTP, starting with {begin:?}"
    ))
}

/// The status when the response is whole, an error when it is not HTTP, `None` while it grows.
fn whole(answer: &[u8], closed: bool) -> Option<Result<u16, Wrong>> {
    const START: &[u8] = b"HTTP/1.";
    let common = answer.len().min(START.len());
    if answer[..common] != START[..common] {
        return Some(Err(garbage(answer)));
    }
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse::<u16>().ok());
    let Some(status) = status.filter(|status| (100..1000).contains(status)) else {
        return Some(Err(Wrong::Found("a response without a status".to_owned())));
    };
    let body = &answer[end + 4..];
    let header = |name: &str| {
        let mut lines = head
            .split("\r\n")
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        lines
            .find(|(have, _)| *have == name)
            .map(|(_, value)| value.trim().to_owned())
    };
    let complete = if let Some(length) = header("content-length") {
        length
            .parse::<usize>()
            .is_ok_and(|length| body.len() >= length)
    } else if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        body.ends_with(b"0\r\n\r\n")
    } else {
        closed || status == 204 || status == 304
    };
    complete.then_some(Ok(status))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::{Unanswered, await_answer};
    use crate::Spoken;

    /// Awaits a server that gives these responses to its first connections, then stays silent.
    fn check(answers: &'static [&'static str]) -> Result<(), Unanswered> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let mut silent = Vec::new();
            for (index, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 1024]);
                match answers.get(index) {
                    Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                    None => silent.push(stream),
                }
            }
        });
        await_answer(
            address,
            "/",
            &Spoken::default(),
            Duration::from_millis(700),
            &mut || false,
        )
        .map(|_| ())
    }

    #[test]
    fn valid_answers_end_the_wait() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nuntil the end",
        ] {
            assert_eq!(check(vec![answer].leak()), Ok(()));
        }
        assert_eq!(
            check(&["HTTP/1.1 503 No\r\n\r\n", "", "HTTP/1.1 200 \r\n\r\n"]),
            Ok(())
        );
    }

    #[test]
    fn other_answers_are_named() {
        let no = |text: &str| Err(Unanswered::NoAnswer(text.to_owned()));
        assert_eq!(check(&[]), no("nothing"));
        let found = "a response that is not HTTP, starting with \"220 smtp\\r\\n\"";
        assert_eq!(check(&["220 smtp\r\n"; 1000]), no(found));
        assert_eq!(check(&["HTTP/1.1 503 No\r\n\r\n"; 1000]), no("status 503"));
        assert_eq!(
            check(&["HTTP/1.1 503 No\r\n\r\nno database\n"; 1000]),
            no("status 503: no database")
        );
        assert_eq!(check(&[""; 1000]), no("a connection closed without a byte"));
    }

    #[test]
    fn an_end_is_noticed() {
        let address = "127.0.0.1:9".parse().unwrap();
        let outcome = await_answer(
            address,
            "/",
            &Spoken::default(),
            Duration::from_secs(60),
            &mut || true,
        );
        assert_eq!(outcome, Err(Unanswered::Ended));
    }
}
