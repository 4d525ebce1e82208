//! Behaviour that all reactors share, against a real socket.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;

use super::epoll::Epoll;
use super::uring::Uring;
use super::{Event, Reactor};
use crate::clock::now_ns;
use crate::payload::Payload;
use crate::transport::socket::Endpoint;

/// Makes a reactor; `None` on a host that is said to have no io_uring.
type Make<R> = fn(Endpoint) -> Option<R>;

fn epoll<const RX_TIMESTAMPS: bool>(endpoint: Endpoint) -> Option<Epoll<RX_TIMESTAMPS>> {
    Some(Epoll::new(endpoint).unwrap())
}

fn uring<const RX_TIMESTAMPS: bool>(endpoint: Endpoint) -> Option<Uring<RX_TIMESTAMPS>> {
    if std::env::var_os("BAKEOFF_TEST_WITHOUT_URING").is_some() {
        #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
        {
            eprintln!("SKIPPED: BAKEOFF_TEST_WITHOUT_URING is set");
        }
        return None;
    }
    Some(Uring::new(endpoint).unwrap())
}

/// A reactor with one connection, and the other end of that.
fn connected<R: Reactor>(make: Make<R>) -> Option<(R, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut reactor = make(Endpoint::Inet {
        address: listener.local_addr().unwrap(),
        device: None,
    })?;
    reactor.resize(1);
    reactor.open(0);
    reactor.wait(1_000_000_000).unwrap();
    assert!(matches!(reactor.next(), Some((0, Event::Connected))));
    Some((reactor, listener.accept().unwrap().0))
}

/// Bytes that lie there for a while before the reactor looks arrived when they arrived: their time
/// is of before the look started, however long the host kept this thread from its core.
fn bytes_have_the_time_of_their_arrival<R: Reactor>(make: Make<R>) {
    let Some((mut reactor, mut server)) = connected(make) else {
        return;
    };
    // The kernel starts with timestamps a moment after it was asked to.
    for _ in 0..100 {
        // A reactor may look at most once before it finds something.
        while reactor.next().is_some() {}
        server.write_all(b"response").unwrap();
        sleep(Duration::from_millis(20));
        let looked_ns = now_ns();
        reactor.wait(1_000_000_000).unwrap();
        let Some((
            0,
            Event::Data {
                bytes, received_ns, ..
            },
        )) = reactor.next()
        else {
            continue;
        };
        assert_eq!(bytes, b"response");
        if received_ns < looked_ns {
            return;
        }
    }
    panic!("no arrival had a timestamp");
}

/// A service may respond, close and so reset the connection before it has read the request: the
/// response comes before the error, whether the first send fails (`bytes` fit at once), or what is
/// left of it.
fn responses_come_before_errors_of_sending<R: Reactor>(make: Make<R>, bytes: usize) {
    let Some((mut reactor, mut server)) = connected(make) else {
        return;
    };
    let request = || Payload::Owned(vec![b'x'; bytes]);
    reactor.send(0, request());
    server.read_exact(&mut [0]).unwrap();
    server.write_all(b"response").unwrap();
    drop(server);
    sleep(Duration::from_millis(20));
    reactor.send(0, request());
    assert!(reactor.is_sending(0));
    reactor.send(0, request());
    let mut response = Vec::new();
    for _ in 0..100 {
        reactor.wait(100_000_000).unwrap();
        while let Some((0, event)) = reactor.next() {
            match event {
                Event::Data { bytes, .. } => response.extend_from_slice(bytes),
                Event::Broken(Errno::PIPE | Errno::CONNRESET) => {
                    assert_eq!(response, b"response");
                    assert!(reactor.is_sending(0));
                    reactor.close(0);
                    assert!(reactor.next().is_none());
                    return;
                }
                event => panic!("{event:?}"),
            }
        }
    }
    panic!("there was no error");
}

/// The tests for reactors, each with a separate name.
macro_rules! on_reactor {
    ($($reactor:ident = $make:expr;)*) => {
        $(mod $reactor {
            use super::*;

            #[test]
            fn reads_the_response_before_the_error_of_a_send_that_fits() {
                responses_come_before_errors_of_sending($make, 100);
            }

            #[test]
            fn reads_the_response_before_the_error_of_what_is_left_of_a_send() {
                responses_come_before_errors_of_sending($make, 20 << 20);
            }
        })*
    };
}

on_reactor! {
    on_epoll = epoll::<false>;
    on_epoll_rx_timestamps = epoll::<true>;
    on_uring = uring::<false>;
    on_uring_rx_timestamps = uring::<true>;
}

#[test]
fn epoll_takes_the_kernels_receive_timestamps() {
    bytes_have_the_time_of_their_arrival(epoll::<true>);
}

#[test]
fn io_uring_takes_the_kernels_receive_timestamps() {
    bytes_have_the_time_of_their_arrival(uring::<true>);
}
