//! What carries the bytes: one trait, one implementation per kernel interface.
//!
//! A reactor owns the sockets of one thread, named by slots, and knows nothing of HTTP, pacing or
//! time. It reports what was received in pieces that borrow its buffer, so that bodies are never
//! stored, and finishes sends by itself. Errors of a slot are always events, never results, so
//! that they are handled in one place.

mod arrivals;
mod buffers;
mod completion;
pub(crate) mod epoll;
pub(crate) mod uring;

use std::rc::Rc;

use rustix::io::Errno;

use crate::clock::now_ns;

/// Bytes to send. Requests are shared between all connections of a thread.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// Prepared before the window.
    Shared(Rc<[u8]>),
    /// Made for one send, as TLS has to.
    Owned(Vec<u8>),
}

impl Payload {
    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// What happened to a slot.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// Its connection is established.
    Connected,
    /// Its connection could not be established; the slot is to be closed.
    Refused(Errno),
    /// Bytes came.
    Data {
        /// The bytes, valid until the reactor is used again.
        bytes: &'a [u8],
        /// The other side is known to send nothing after what was received.
        ending: bool,
    },
    /// The other side closed its direction; the slot is to be closed.
    End,
    /// The connection broke, after what had been received; the slot is to be closed.
    Broken(Errno),
}

/// The sockets of one thread.
pub(crate) trait Reactor: Sized {
    /// The name that records show.
    const NAME: &'static str;

    /// Makes sure that slots `0..count` exist; slots beyond must be closed already.
    fn resize(&mut self, count: usize);

    /// Begins to connect a closed slot.
    fn open(&mut self, slot: usize);

    /// Sends all of `payload` on an open slot, after everything that was sent before.
    fn send(&mut self, slot: usize, payload: Payload);

    /// Whether the kernel has not taken all that was sent, or never will.
    fn is_sending(&self, slot: usize) -> bool;

    /// Closes a slot, whatever state it is in. No event of the old connection follows.
    fn close(&mut self, slot: usize);

    /// Waits until there is an event, at most this long; 0 only looks.
    ///
    /// # Errors
    /// When the kernel refuses to wait, which no retry would mend.
    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno>;

    /// The next event of the last [`Reactor::wait`]. All of them must be taken before the next.
    fn next(&mut self) -> Option<(usize, Event<'_>)>;

    /// An instant by which what the last event tells had come, monotonic ns: the time that was
    /// spent on the events before it is not the service's.
    fn came_ns(&self) -> u64 {
        now_ns()
    }

    /// Bytes that the kernel has taken so far.
    fn sent_bytes(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::io::Errno;

    use super::epoll::Epoll;
    use super::uring::Uring;
    use super::{Event, Payload, Reactor};
    use crate::clock::now_ns;
    use crate::socket::Endpoint;

    /// A reactor with one connection, and the other end of that.
    fn connected<R: Reactor>(make: impl FnOnce(Endpoint) -> R) -> (R, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut reactor = make(Endpoint::Inet(listener.local_addr().unwrap()));
        reactor.resize(1);
        reactor.open(0);
        reactor.wait(1_000_000_000).unwrap();
        assert!(matches!(reactor.next(), Some((0, Event::Connected))));
        (reactor, listener.accept().unwrap().0)
    }

    /// Answers that lie there for 20 ms before they are looked for have come when they came.
    fn answers_come_when_they_arrive<R: Reactor>(make: impl FnOnce(Endpoint) -> R) {
        let (mut reactor, mut server) = connected(make);
        // The kernel begins to take notes a moment after it was asked to.
        for _ in 0..100 {
            // A reactor may look at most once before it finds something.
            while reactor.next().is_some() {}
            server.write_all(b"answer").unwrap();
            sleep(Duration::from_millis(20));
            reactor.wait(1_000_000_000).unwrap();
            let Some((0, Event::Data { bytes, .. })) = reactor.next() else {
                continue;
            };
            assert_eq!(bytes, b"answer");
            if now_ns() - reactor.came_ns() > 15_000_000 {
                return;
            }
        }
        panic!("no arrival was noted");
    }

    /// A service may answer, close and so reset the connection before it has read the request:
    /// the answer comes before the error, whether the first send fails (`bytes` fit at once), or
    /// what is left of it.
    fn answers_come_before_errors_of_sending<R: Reactor>(
        bytes: usize,
        make: impl FnOnce(Endpoint) -> R,
    ) {
        let (mut reactor, mut server) = connected(make);
        let request = || Payload::Owned(vec![b'x'; bytes]);
        reactor.send(0, request());
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"answer").unwrap();
        drop(server);
        sleep(Duration::from_millis(20));
        reactor.send(0, request());
        assert!(reactor.is_sending(0));
        reactor.send(0, request());
        let mut answer = Vec::new();
        for _ in 0..100 {
            reactor.wait(100_000_000).unwrap();
            while let Some((0, event)) = reactor.next() {
                match event {
                    Event::Data { bytes, .. } => answer.extend_from_slice(bytes),
                    Event::Broken(Errno::PIPE | Errno::CONNRESET) => {
                        assert_eq!(answer, b"answer");
                        assert!(reactor.is_sending(0));
                        reactor.close(0);
                        assert!(reactor.next().is_none());
                        return;
                    }
                    event => panic!("{event:?}"),
                }
            }
        }
        panic!("the error was not told");
    }

    #[test]
    fn epoll_reads_the_answer_before_an_error_of_sending() {
        for bytes in [100, 20 << 20] {
            answers_come_before_errors_of_sending(bytes, |endpoint| {
                Epoll::<false>::new(endpoint).unwrap()
            });
        }
    }

    #[test]
    fn io_uring_reads_the_answer_before_an_error_of_sending() {
        if without_uring() {
            return;
        }
        for bytes in [100, 20 << 20] {
            answers_come_before_errors_of_sending(bytes, |endpoint| {
                Uring::<true>::new(endpoint).unwrap()
            });
        }
    }

    /// Whether the host is said to have no io_uring.
    fn without_uring() -> bool {
        let without = std::env::var_os("BAKEOFF_TEST_WITHOUT_URING").is_some();
        if without {
            #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
            {
                eprintln!("SKIPPED on io_uring: BAKEOFF_TEST_WITHOUT_URING is set");
            }
        }
        without
    }

    #[test]
    fn epoll_takes_the_kernels_instants() {
        answers_come_when_they_arrive(|endpoint| Epoll::<true>::new(endpoint).unwrap());
    }

    #[test]
    fn io_uring_takes_the_kernels_instants() {
        if without_uring() {
            return;
        }
        answers_come_when_they_arrive(|endpoint| Uring::<true>::new(endpoint).unwrap());
    }
}
