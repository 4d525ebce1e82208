//! Questions over HTTP to servers that behave and to servers that do not, and external services.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_places::Runtime;
use bakeoff_places::external::External;
use bakeoff_places::http::{AskError, ask};

use crate::support::{Bench, LIMIT, free_port};

/// A server that sends these bytes to every connection and then closes it, or keeps it open.
fn server(answer: &'static [u8], close: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
            if !close {
                kept.push(stream);
            }
        }
    });
    address
}

async fn fails(answer: &'static [u8], close: bool) -> String {
    let timeout = Duration::from_millis(400);
    let error = ask(server(answer, close), "GET", "/", &[], b"", timeout)
        .await
        .unwrap_err();
    assert!(matches!(error, AskError::NoAnswer(_)), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn servers_that_misbehave_are_told_apart() {
    assert_eq!(fails(b"", false).await, "no response within 0.4 s");
    assert_eq!(
        fails(b"HTTP/1.1 200 OK\r\nContent-Len", false).await,
        "no response within 0.4 s"
    );
    let check = |error: String, part: &str| assert!(error.contains(part), "{error}");
    check(
        fails(b"", true).await,
        "connection closed before message completed",
    );
    check(fails(b"220 smtp ready\r\n\r\n", true).await, "invalid HTTP");
    check(
        fails(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour", true).await,
        "end of file",
    );
    let nobody = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let error = ask(nobody, "GET", "/", &[], b"", LIMIT)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(&format!("cannot connect to {nobody}: ")),
        "{error}"
    );
    let error = ask(nobody, "NO WAY", "/", &[], b"", LIMIT)
        .await
        .unwrap_err();
    assert!(matches!(error, AskError::BadRequest(_)), "{error:?}");
}

#[tokio::test]
async fn an_answer_comes_whole() {
    let text = b"HTTP/1.1 404 No\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n\
                 3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let headers = [("X-One".to_owned(), "1".to_owned())];
    let answer = ask(
        server(text, false),
        "POST",
        "/?q=ř",
        &headers,
        b"body",
        LIMIT,
    )
    .await
    .unwrap();
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (404, b"abcde".as_slice())
    );
    assert_eq!(
        answer.headers[0],
        ("content-type".to_owned(), "a/b".to_owned())
    );
}

#[tokio::test]
async fn an_external_service_is_awaited_and_left_alone() {
    let address = server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true);
    let host = format!("localhost:{}", address.port());
    let bench = Bench::unlimited();
    let mut spec = bench.spec(address.port(), &[]);
    assert!(External.start(&spec).await.is_err(), "it names no service");
    spec.service = Some(ServiceUrl::new(&format!("http://{host}/api")).unwrap());
    let mut instance = External.start(&spec).await.unwrap();
    assert_eq!(instance.host(), Some(host.as_str()));
    let startup = instance.await_ready(LIMIT).await.unwrap();
    assert_eq!((startup.startup_ns, startup.resources.cpu), (0, None));
    assert_eq!(instance.sample().await.resources.memory, None);
    assert!(instance.stop(LIMIT).await.graceful);
    assert!(
        ask(instance.address(), "GET", "/", &[], b"", LIMIT)
            .await
            .is_ok(),
        "still there"
    );
    assert_eq!(
        External.enforcement().unlimited_because(),
        Some("the service is external")
    );
}
