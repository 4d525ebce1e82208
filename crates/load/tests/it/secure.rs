//! TLS: right responses through it, and failures of it in a separate class.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, LoadSpec, Pace, Protocol};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::frames::{Incoming, SETTINGS, frame, hello};
use crate::{load_spec, run};

/// A server with a certificate without a known issuer; responds with bodies of this many bytes.
pub(crate) fn serve(body: usize) -> (String, Arc<AtomicU64>) {
    serve_protocol(&[], move |stream, config, counted| {
        response(stream, config, body, counted);
    })
}

/// A server that chooses among these protocols (ALPN).
fn serve_protocol(
    protocols: &[&[u8]],
    response: impl Fn(TcpStream, Arc<ServerConfig>, &AtomicU64) + Send + Sync + 'static,
) -> (String, Arc<AtomicU64>) {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], key.into())
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let config = Arc::new(config);
    let response = Arc::new(response);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = Arc::new(AtomicU64::new(0));
    let counted = requests.clone();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let (config, counted) = (config.clone(), counted.clone());
            let response = response.clone();
            std::thread::spawn(move || response(stream, config, &counted));
        }
    });
    (address, requests)
}

fn response(stream: TcpStream, config: Arc<ServerConfig>, body: usize, counted: &AtomicU64) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut response = format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n").into_bytes();
    response.resize(response.len() + body, b'x');
    let mut input = [0; 4096];
    // A small request arrives as one record.
    while stream.read(&mut input).is_ok_and(|bytes| bytes > 0) {
        counted.fetch_add(1, Ordering::SeqCst);
        if stream.write_all(&response).is_err() {
            return;
        }
    }
}

fn secure_spec(address: &str, connections: u32, requests: u64) -> LoadSpec {
    let mut spec = load_spec(address, connections, requests);
    spec.target.tls = true;
    spec.target.insecure = true;
    spec.target.host = Some("localhost".to_owned());
    spec.timeout_answer_ns = 5 * crate::SECOND;
    spec
}

on_each_reactor!(responses_come_through_tls);

fn responses_come_through_tls() {
    for body in [5, 200_000] {
        let (address, requests) = serve(body);
        let total = run(&secure_spec(&address, 4, 100));
        assert_eq!(total.requests, 100, "{:?}", total.errors);
        assert_eq!(requests.load(Ordering::SeqCst), 100);
        assert_eq!(total.established, [4]);
        let mut spec = secure_spec(&address, 2, 10);
        spec.keep_alive_off = true;
        assert_eq!(run(&spec).requests, 10);
    }
}

/// Greets and responds in HTTP/2.
fn answer_frames(stream: TcpStream, config: Arc<ServerConfig>, counted: &AtomicU64) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut incoming = Incoming::default();
    let mut input = [0; 4096];
    if stream.write_all(&frame(SETTINGS, 0, 0, &[])).is_err() {
        return;
    }
    while let Ok(bytes @ 1..) = stream.read(&mut input) {
        for number in incoming.take(&input[..bytes]) {
            counted.fetch_add(1, Ordering::SeqCst);
            if stream.write_all(&hello(number)).is_err() {
                return;
            }
        }
    }
}

on_each_reactor!(http2_is_agreed_upon_in_tls);

fn http2_is_agreed_upon_in_tls() {
    for (protocols, class) in [
        (&[&b"h2"[..], b"http/1.1"][..], None),
        (&[b"http/1.1", b"h2"], None),
        // A server that knows no such choice, and one that has no protocol in common.
        (&[], Some(ErrorClass::Tls)),
        (&[b"http/1.1"], Some(ErrorClass::Tls)),
    ] {
        let (address, requests) = serve_protocol(protocols, answer_frames);
        let sent = if class.is_none() { 40 } else { 4 };
        let mut spec = secure_spec(&address, 2, sent);
        spec.target.protocol = Protocol::Http2;
        spec.in_flight = 5;
        let total = run(&spec);
        let responded = if class.is_none() { sent } else { 0 };
        assert_eq!(total.requests, responded, "{:?}", total.errors);
        assert_eq!(requests.load(Ordering::SeqCst), responded);
        if let Some(class) = class {
            assert_eq!(total.count(class), sent, "{:?}", total.errors);
        }
    }
}

on_each_reactor!(failures_of_tls_have_their_class);

fn failures_of_tls_have_their_class() {
    let (address, requests) = serve(5);
    let mut unsigned = secure_spec(&address, 1, 2);
    unsigned.target.insecure = false;
    match crate::try_run(&unsigned) {
        Ok(total) => assert_eq!(total.count(ErrorClass::Tls), 2, "{:?}", total.errors),
        // A host without root certificates says so before it starts.
        Err(error) => assert!(
            error.to_string().contains("TLS cannot be set up"),
            "{error}"
        ),
    }
    assert_eq!(requests.load(Ordering::SeqCst), 0);

    // A server that speaks no TLS, and one that hangs up.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for index in 0.. {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let mut input = [0; 4096];
            let _ = stream.read(&mut input);
            if index % 2 == 0 {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        }
    });
    let total = run(&secure_spec(&address, 1, 4));
    assert_eq!(total.count(ErrorClass::Tls), 4, "{:?}", total.errors);
}

/// How a service ends a connection after its first response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseNotify {
    /// Sends close_notify in the segment of the response, and waits for ours before it closes.
    Together,
    /// Sends close_notify a moment after the response, and waits for ours before it closes.
    Later,
    /// The connection just ends: it is not known whether the response is whole.
    Never,
}

/// A server that starts the protocol and gives one response on each connection, to the first bytes
/// that `response` has one for. It counts the connections on which the other side sent close_notify
/// as well.
fn serve_once(
    close_notify: CloseNotify,
    settings: Vec<u8>,
    response: impl Fn(&mut Incoming, &[u8]) -> Vec<u8> + Send + Sync + 'static,
) -> (String, Arc<AtomicU64>) {
    serve_protocol(&[b"h2", b"http/1.1"], move |stream, config, counted| {
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        let (mut incoming, mut input) = (Incoming::default(), [0; 4096]);
        let mut bytes = Vec::new();
        if stream.write_all(&settings).is_err() {
            return;
        }
        while bytes.is_empty() {
            let Ok(read @ 1..) = stream.read(&mut input) else {
                return;
            };
            bytes = response(&mut incoming, &input[..read]);
        }
        stream.conn.writer().write_all(&bytes).unwrap();
        if close_notify != CloseNotify::Together {
            let _ = stream.flush();
        }
        if close_notify == CloseNotify::Never {
            return;
        }
        if close_notify == CloseNotify::Later {
            std::thread::sleep(Duration::from_millis(20));
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
        // What was sent before is read over; an end without it is an error.
        while let Ok(read) = stream.read(&mut input) {
            if read == 0 {
                counted.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    })
}

const UNTIL_CLOSE: &str = "HTTP/1.1 200 OK\r\n\r\nhello";
const KEEPING: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

on_each_reactor!(a_response_that_ends_with_its_connection_needs_close_notify);

fn a_response_that_ends_with_its_connection_needs_close_notify() {
    for in_flight in [1, 4] {
        let (address, _) = serve_once(CloseNotify::Never, Vec::new(), |_, _| UNTIL_CLOSE.into());
        let mut spec = secure_spec(&address, 2, 8);
        spec.in_flight = in_flight;
        let total = run(&spec);
        assert_eq!(total.requests, 0);
        let early = total.count(ErrorClass::EarlyClose);
        let reset = total.count(ErrorClass::Reset);
        // Requests that the server has not read reset the connection.
        assert!(reset == 0 || in_flight > 1, "{:?}", total.errors);
        assert_eq!(early + reset, 8, "{:?}", total.errors);

        for close_notify in [CloseNotify::Together, CloseNotify::Later] {
            let (address, closed) = serve_once(close_notify, Vec::new(), |_, _| UNTIL_CLOSE.into());
            let mut spec = secure_spec(&address, 2, 8);
            spec.in_flight = in_flight;
            let total = run(&spec);
            if in_flight == 1 {
                assert!(
                    total.errors.is_empty(),
                    "{close_notify:?}: {:?}",
                    total.errors
                );
                assert_eq!(total.requests, 8);
                wait_for(&closed, 8);
            }
            // The requests behind it have no response.
            assert!(total.requests >= 2, "{close_notify:?}: {:?}", total.errors);
            let early = total.count(ErrorClass::EarlyClose);
            assert_eq!(total.requests + early, 8, "{:?}", total.errors);
        }
    }
}

/// Waits until a server has counted up to this number.
fn wait_for(counted: &AtomicU64, count: u64) {
    for _ in 0..500 {
        if counted.load(Ordering::SeqCst) == count {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(counted.load(Ordering::SeqCst), count);
}

on_each_reactor!(a_service_that_sends_close_notify_gets_no_further_request);

fn a_service_that_sends_close_notify_gets_no_further_request() {
    // With the response, or while the connection is idle.
    for close_notify in [CloseNotify::Together, CloseNotify::Later] {
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let (address, closed) = match protocol {
                Protocol::Http2 => {
                    let settings = frame(SETTINGS, 0, 0, &[]);
                    serve_once(close_notify, settings, |incoming, bytes| {
                        incoming.take(bytes).into_iter().flat_map(hello).collect()
                    })
                }
                _ => serve_once(close_notify, Vec::new(), |_, _| KEEPING.into()),
            };
            let mut spec = secure_spec(&address, 1, 4);
            spec.target.protocol = protocol;
            if close_notify == CloseNotify::Later {
                spec.steps[0].pace = Pace::Constant { rate_per_s: 5.0 };
                spec.steps[0].duration_ns = crate::SECOND;
            }
            let total = run(&spec);
            assert!(
                total.errors.is_empty(),
                "{close_notify:?}: {:?}",
                total.errors
            );
            assert!(total.requests >= 4, "{close_notify:?}: {}", total.requests);
            wait_for(&closed, total.requests);
        }
    }
}
