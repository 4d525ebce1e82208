//! WebSocket: right messages of a server that is not ours, and every wrong one in its class.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use bakeoff_model::load::{ErrorClass, LoadSpec, Pace, Protocol, TimeUnit, WebSocket};
use bakeoff_model::request::Body;
use bakeoff_model::request::check::Expect;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::Message;

use crate::server::{Act, perform};
use crate::{MILLISECOND, SECOND, answer_limit_ns, load_spec, run, try_run};

fn websocket_spec(address: &str, connections: u32, requests: u64) -> LoadSpec {
    let mut spec = load_spec(address, connections, requests);
    spec.target.protocol = Protocol::Websocket(WebSocket::default());
    spec.timeout_answer_ns = 2 * SECOND;
    spec
}

/// Counts of a foreign server.
#[derive(Debug, Default)]
struct Seen {
    connections: AtomicU64,
    messages: AtomicU64,
    closes: AtomicU64,
}

/// The behaviour of a foreign server on each connection.
#[derive(Debug, Clone, Copy)]
enum Manner {
    /// Sends every text back.
    Echo,
    /// Sends the time every few milliseconds, with a ping between.
    Time,
}

fn foreign_server(manner: Manner) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    let seen = Arc::new(Seen::default());
    let counted = seen.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner, counted.clone()));
            }
        });
    });
    (address, seen)
}

async fn serve(stream: tokio::net::TcpStream, manner: Manner, seen: Arc<Seen>) {
    let Ok(mut stream) = tokio_tungstenite::accept_async(stream).await else {
        return;
    };
    seen.connections.fetch_add(1, Ordering::SeqCst);
    match manner {
        Manner::Echo => {
            while let Some(Ok(message)) = stream.next().await {
                if message.is_close() {
                    seen.closes.fetch_add(1, Ordering::SeqCst);
                } else if message.is_text() {
                    seen.messages.fetch_add(1, Ordering::SeqCst);
                    if stream.send(message).await.is_err() {
                        return;
                    }
                }
            }
        }
        Manner::Time => loop {
            tokio::time::sleep(Duration::from_millis(3)).await;
            let text = Message::text(a_minute_ago().as_millis().to_string());
            let ping = Message::Ping(vec![1, 2, 3].into());
            if stream.feed(ping).await.is_err() || stream.send(text).await.is_err() {
                return;
            }
        },
    }
}

/// How long ago the foreign server's messages were sent, as they say.
const AGE: Duration = Duration::from_secs(60);

#[expect(clippy::disallowed_methods, reason = "a service writes timestamps")]
fn a_minute_ago() -> Duration {
    let now = std::time::SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap() - AGE
}

on_each_reactor!(a_foreign_server_sends_back_what_it_gets);

fn a_foreign_server_sends_back_what_it_gets() {
    for length in [1, 125, 126, 70_000] {
        let (address, seen) = foreign_server(Manner::Echo);
        let mut spec = websocket_spec(&address, 3, 60);
        let text = "ř".repeat(length);
        spec.requests[0].body = text.as_str().into();
        spec.requests[0].headers = vec![("Origin".to_owned(), "http://here".to_owned())];
        spec.check_body_every = 2;
        spec.requests[0].expect = Some(Expect {
            body: Some(text),
            ..Expect::default()
        });
        let total = run(&spec);
        assert!(total.errors.is_empty(), "{:?}", total.errors);
        assert_eq!((total.requests, total.established[0]), (60, 3));
        assert_eq!(seen.messages.load(Ordering::SeqCst), 60);
        assert_eq!(seen.connections.load(Ordering::SeqCst), 3);
    }
}

on_each_reactor!(messages_are_timed_by_their_timestamps_and_connections_end_after_their_share);

fn messages_are_timed_by_their_timestamps_and_connections_end_after_their_share() {
    let (address, seen) = foreign_server(Manner::Time);
    let mut spec = websocket_spec(&address, 4, 80);
    spec.target.protocol = Protocol::Websocket(WebSocket {
        messages: 10,
        timestamp: Some(TimeUnit::Milliseconds),
    });
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, total.service.count()), (80, 80));
    // Each of the four has been reconnected at least once, and none twice more than it had to.
    let connections = seen.connections.load(Ordering::SeqCst);
    assert!((8..=12).contains(&connections), "{connections}");
    // The window is too short for any other time to be that long.
    let least_ns = total.service.quantile_ns(0.0).unwrap();
    let (half_ns, window_ns) = (30 * SECOND, spec.steps[0].duration_ns);
    assert!(least_ns > half_ns && window_ns < half_ns, "{least_ns}");
    // So they make up no cycle with what we need for the next one.
    assert!(total.intervals.iter().all(|i| i.turnaround_ns.is_none()));
}

on_each_reactor!(messages_can_be_paced_when_they_are_asked_for);

fn messages_can_be_paced_when_they_are_asked_for() {
    let (address, _) = foreign_server(Manner::Echo);
    let mut spec = websocket_spec(&address, 4, 0);
    spec.requests[0].body = "hello".into();
    spec.steps[0].duration_ns = SECOND / 2;
    spec.steps[0].pace = Pace::Constant { rate_per_s: 400.0 };
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.offered, total.requests + total.censored), (200, 200));
    spec.requests[0].body = Body::default();
    let message = try_run(&spec).unwrap_err().to_string();
    assert!(message.contains("cannot be paced"), "{message}");
    spec.requests[0].body = b"\xff".as_slice().into();
    let message = try_run(&spec).unwrap_err().to_string();
    assert!(message.contains("not UTF-8"), "{message}");
}

/// A server that responds the upgrade by itself and then performs these acts.
fn scripted(response: Option<&'static str>, acts: Vec<Act>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let acts = acts.clone();
            std::thread::spawn(move || {
                if upgrade(&mut stream, response) {
                    perform(&mut stream, &acts);
                }
            });
        }
    });
    address
}

fn upgrade(stream: &mut TcpStream, response: Option<&str>) -> bool {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => text.push(byte[0]),
            _ => return false,
        }
    }
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("GET / HTTP/1.1\r\n"), "{text}");
    let key = text
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let accepted = format!("{}258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key.unwrap());
    let digest = &ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
    let accept = STANDARD.encode(ring::digest::digest(digest, accepted.as_bytes()));
    let granted = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream
        .write_all(response.unwrap_or(&granted).as_bytes())
        .is_ok()
}

const REQUESTS: u64 = 4;

/// Messages of a service before the window, while connections are opened, do not count: only a
/// pause makes it wait, long enough for a busy host.
const UNTIL_THE_WINDOW_NS: u64 = 400 * MILLISECOND;

fn until_the_window() -> Act {
    Act::Pause(Duration::from_nanos(UNTIL_THE_WINDOW_NS))
}

fn check(name: &str, address: &str, class: ErrorClass, change: fn(&mut LoadSpec)) {
    let mut spec = websocket_spec(address, 2, REQUESTS);
    // What must not come in time must still come after the pause, if it comes at all.
    spec.timeout_answer_ns = answer_limit_ns(Some(class)) + 2 * UNTIL_THE_WINDOW_NS;
    change(&mut spec);
    let total = run(&spec);
    assert_eq!(total.count(class), REQUESTS, "{name}: {:?}", total.errors);
    assert_eq!(
        (total.errors.len(), total.requests),
        (1, 0),
        "{name}: {:?}",
        total.errors
    );
}

on_each_reactor!(upgrades_that_are_not_granted_have_their_class);

fn upgrades_that_are_not_granted_have_their_class() {
    let bad = ErrorClass::BadFraming;
    for (response, class) in [
        (
            "HTTP/1.1 404 Not Found\r\n\r\n",
            ErrorClass::UnexpectedStatus,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            ErrorClass::UnexpectedStatus,
        ),
        ("nonsense\r\n\r\n", bad),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", bad),
        (
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Accept: nothing\r\n\r\n",
            bad,
        ),
    ] {
        let address = scripted(Some(response), vec![Act::Hold]);
        check(response, &address, class, |_| ());
    }
    let silent = scripted(Some(""), vec![Act::Hold]);
    check("silence", &silent, ErrorClass::ConnectTimeout, |spec| {
        spec.timeout_connect_ns = 100 * MILLISECOND;
    });
    let closing = scripted(Some("HTTP/1.1 101"), vec![Act::Close]);
    check("half a response", &closing, ErrorClass::EarlyClose, |_| ());
}

on_each_reactor!(what_is_no_websocket_has_its_class);

fn what_is_no_websocket_has_its_class() {
    let send = |bytes: &[u8]| vec![Act::Send(bytes.to_vec()), Act::Hold];
    let bad = ErrorClass::BadFraming;
    let cases: Vec<(&str, Vec<Act>, ErrorClass)> = vec![
        ("HTTP", send(b"HTTP/1.1 200 OK\r\n\r\n"), bad),
        ("garbage", send(&[0xFF; 64]), bad),
        ("masked", send(b"\x81\x85abcdhello"), bad),
        ("no UTF-8", send(b"\x81\x01\xff"), bad),
        ("a lone end", send(b"\x80\x01a"), bad),
        (
            "endless pings",
            vec![Act::Flood(b"\x89\x02hi".to_vec())],
            bad,
        ),
        (
            "an endless message of nothing",
            vec![
                Act::Send(b"\x01\x00".to_vec()),
                Act::Flood(b"\x00\x00".to_vec()),
            ],
            bad,
        ),
        (
            "a Close frame",
            send(b"\x88\x02\x03\xe8"),
            ErrorClass::EarlyClose,
        ),
        ("a close", vec![Act::Close], ErrorClass::EarlyClose),
        ("a reset", vec![Act::Reset], ErrorClass::Reset),
        ("nothing", vec![Act::Hold], ErrorClass::HeaderTimeout),
        (
            "half a message",
            send(b"\x81\x05he"),
            ErrorClass::BodyTimeout,
        ),
        (
            "endless text",
            vec![
                Act::Send(b"\x81\x7f\0\0\0\x7f\0\0\0\0".to_vec()),
                Act::Flood(b"x".to_vec()),
            ],
            ErrorClass::BodyTimeout,
        ),
    ];
    for (name, acts, class) in cases {
        let acts = [vec![until_the_window()], acts].concat();
        check(name, &scripted(None, acts), class, |_| ());
    }
}

on_each_reactor!(wrong_messages_have_their_class);

fn wrong_messages_have_their_class() {
    let texts: Vec<u8> = b"\x81\x05hello".repeat(50);
    let acts = vec![until_the_window(), Act::Send(texts), Act::Hold];
    let address = scripted(None, acts);
    check("another length", &address, ErrorClass::WrongBody, |spec| {
        spec.requests[0].expect = Some(Expect {
            body_bytes: Some(6),
            ..Expect::default()
        });
    });
    check("no timestamp", &address, ErrorClass::WrongBody, |spec| {
        spec.target.protocol = Protocol::Websocket(WebSocket {
            messages: 0,
            timestamp: Some(TimeUnit::Nanoseconds),
        });
    });
}
