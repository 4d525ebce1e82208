//! TLS: right answers through it, and failures of it in a class of their own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::frames::{Incoming, SETTINGS, frame, hello};
use crate::{on_each_reactor, order, run};

/// A server with a certificate that nobody has signed; answers with bodies of this many bytes.
fn serve(body: usize) -> (String, Arc<AtomicU64>) {
    serve_protocol(&[], move |stream, config, counted| {
        answer(stream, config, body, counted);
    })
}

/// A server that chooses among these protocols (ALPN).
fn serve_protocol(
    protocols: &[&[u8]],
    answer: impl Fn(TcpStream, Arc<ServerConfig>, &AtomicU64) + Send + Sync + 'static,
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
    let answer = Arc::new(answer);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = Arc::new(AtomicU64::new(0));
    let counted = requests.clone();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let (config, counted) = (config.clone(), counted.clone());
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream, config, &counted));
        }
    });
    (address, requests)
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>, body: usize, counted: &AtomicU64) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + body, b'x');
    let mut input = [0; 4096];
    // A small request arrives as one record.
    while stream.read(&mut input).is_ok_and(|bytes| bytes > 0) {
        counted.fetch_add(1, Ordering::SeqCst);
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

fn secure_order(address: &str, connections: u32, requests: u64) -> LoadSpec {
    let mut spec = order(address, connections, requests);
    spec.target.tls = true;
    spec.target.insecure = true;
    spec.target.host = Some("localhost".to_owned());
    spec.timeout_answer_ns = 5 * crate::SECOND;
    spec
}

#[test]
fn answers_come_through_tls() {
    on_each_reactor(|| {
        for body in [5, 200_000] {
            let (address, requests) = serve(body);
            let total = run(&secure_order(&address, 4, 100));
            assert_eq!(total.requests, 100, "{:?}", total.errors);
            assert_eq!(requests.load(Ordering::SeqCst), 100);
            assert_eq!(total.established, [4]);
            let mut spec = secure_order(&address, 2, 10);
            spec.keep_alive_off = true;
            assert_eq!(run(&spec).requests, 10);
        }
    });
}

/// Greets and answers in HTTP/2.
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

#[test]
fn http2_is_agreed_upon_in_tls() {
    on_each_reactor(|| {
        for (protocols, class) in [
            (&[&b"h2"[..], b"http/1.1"][..], None),
            (&[b"http/1.1", b"h2"], None),
            // A server that knows no such choice, and one that has no protocol in common.
            (&[], Some(ErrorClass::Tls)),
            (&[b"http/1.1"], Some(ErrorClass::Tls)),
        ] {
            let (address, requests) = serve_protocol(protocols, answer_frames);
            let asked = if class.is_none() { 40 } else { 4 };
            let mut spec = secure_order(&address, 2, asked);
            spec.target.protocol = Protocol::Http2;
            spec.in_flight = 5;
            let total = run(&spec);
            let answered = if class.is_none() { asked } else { 0 };
            assert_eq!(total.requests, answered, "{:?}", total.errors);
            assert_eq!(requests.load(Ordering::SeqCst), answered);
            if let Some(class) = class {
                assert_eq!(total.count(class), asked, "{:?}", total.errors);
            }
        }
    });
}

#[test]
fn failures_of_tls_have_their_class() {
    on_each_reactor(|| {
        let (address, requests) = serve(5);
        let mut unsigned = secure_order(&address, 1, 2);
        unsigned.target.insecure = false;
        match crate::try_run(&unsigned) {
            Ok(total) => assert_eq!(total.count(ErrorClass::Tls), 2, "{:?}", total.errors),
            // A host without root certificates says so before it begins.
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
        let total = run(&secure_order(&address, 1, 4));
        assert_eq!(total.count(ErrorClass::Tls), 4, "{:?}", total.errors);
    });
}
