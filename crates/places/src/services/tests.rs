//! Recording and replay against each other: an upstream of this process, the proxy in between,
//! then the replay in the upstream's place.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::suite::ReplaySettings;
use bakeoff_model::suite::delay::Delay;
use bakeoff_replay::{Recorded, Recording, RecordingProxy, Replay, ReplayOptions, RequestKey};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::http::ask;
use crate::services::request_count::Counter;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

type Question = (&'static str, &'static str, &'static [u8]);

const QUESTIONS: [Question; 6] = [
    ("GET", "/", b""),
    ("HEAD", "/", b""),
    (
        "GET",
        "/city/_doc/1?_source_excludes=geometry%2Cpopulation&x=1",
        b"",
    ),
    ("GET", "/missing", b""),
    (
        "POST",
        "/city/_search",
        br#"{"query": {"match_all": {}}, "size": 1}"#,
    ),
    ("GET", "/binary", b""),
];

/// Responds by path and body, and counts its requests.
async fn upstream() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    count.fetch_add(1, Ordering::Relaxed);
                    upstream_answer(request)
                });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    (address, asked)
}

async fn upstream_answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let head = request.method() == "HEAD";
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let mut answer = Response::builder().header("content-type", "application/json; charset=UTF-8");
    answer = answer.header("x-other", "is not kept");
    let text = match path.as_str() {
        "/missing" => {
            answer = answer.status(404);
            Bytes::from_static(b"{\"found\":false}")
        }
        "/binary" => Bytes::from_static(&[0xff, 0x00, 0xfe]),
        "/large" => Bytes::from(vec![b'x'; 300_000]),
        _ if head => {
            answer = answer.header("content-length", "345");
            Bytes::new()
        }
        _ => Bytes::from(format!("{{\"path\":\"{path}\",\"bytes\":{}}}", body.len())),
    };
    Ok(answer.body(Full::new(text)).unwrap())
}

async fn put(to: SocketAddr, (method, path, body): Question) -> ReceivedResponse {
    let headers = [("accept-encoding".to_owned(), "gzip".to_owned())];
    let mut answer = ask(to, method, path, &headers, body, Duration::from_secs(10))
        .await
        .unwrap();
    let kept = ["content-type", "content-length"];
    answer
        .headers
        .retain(|(name, _)| kept.contains(&name.as_str()));
    answer.headers.sort();
    answer
}

/// Records the requests into a file; returns the responses and the summary of the session.
async fn record(
    to: SocketAddr,
    out: &Path,
    questions: &[Question],
) -> (Vec<ReceivedResponse>, bakeoff_replay::RecordSummary) {
    let proxy = RecordingProxy::bind(to, ANY, out).await.unwrap();
    let address = proxy.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let recording = tokio::spawn(proxy.record(async move {
        let _ = stopped.await;
    }));
    let mut answers = Vec::new();
    for question in questions {
        answers.push(put(address, *question).await);
    }
    stop.send(()).unwrap();
    (answers, recording.await.unwrap().unwrap())
}

async fn replay(recording: &Recording, options: &ReplayOptions) -> SocketAddr {
    let replay = Replay::bind(recording, ANY, options).await.unwrap();
    let address = replay.address();
    tokio::spawn(replay.serve());
    address
}

#[tokio::test]
async fn what_was_recorded_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("recordings/exchanges.jsonl");
    let (real, asked) = upstream().await;
    let (recorded, summary) = record(real, &out, &QUESTIONS).await;
    assert_eq!(
        (summary.exchanges, summary.new, summary.notes.len()),
        (6, 6, 0)
    );
    let asked_before = asked.load(Ordering::Relaxed);

    let recording = Recording::read(out.parent().unwrap()).unwrap();
    let address = replay(&recording, &ReplayOptions::default()).await;
    for (question, expect) in QUESTIONS.iter().zip(&recorded) {
        assert_eq!(put(address, *question).await, *expect, "{question:?}");
    }
    // The same questions, written otherwise.
    let other = "/city/_doc/1?x=1&_source_excludes=geometry,population";
    assert_eq!(put(address, ("GET", other, b"")).await, recorded[2]);
    let other = br#"{"size":1,"query":{"match_all":{}}}"#;
    assert_eq!(
        put(address, ("POST", "/city/_search", other)).await,
        recorded[4]
    );
    assert_eq!(
        asked.load(Ordering::Relaxed),
        asked_before,
        "the real one was asked"
    );
}

#[tokio::test]
async fn recordings_grow_and_stay_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("exchanges.jsonl");
    let (real, _) = upstream().await;
    record(real, &out, &QUESTIONS[..2]).await;
    let before = fs::read_to_string(&out).unwrap();
    let (_, summary) = record(real, &out, &[("GET", "/large", b""), ("GET", "/a", b"")]).await;
    assert_eq!((summary.exchanges, summary.new), (4, 2));
    assert_eq!(summary.notes, ["GET /large: a response of 300 kB"]);
    let after = fs::read_to_string(&out).unwrap();
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    assert_eq!(new[..2], old[..]);
    assert!(new[2].contains("\"/a\"") && new[3].contains("\"/large\""));
}

#[tokio::test]
async fn a_dead_backend_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("exchanges.jsonl");
    let dead = TcpListener::bind(ANY).await.unwrap().local_addr().unwrap();
    let (answers, summary) = record(dead, &out, &QUESTIONS[..1]).await;
    assert_eq!(answers[0].status, 502);
    assert_eq!(summary.exchanges, 0);
    assert!(summary.notes[0].starts_with("GET /: the server cannot be reached: "));
    assert!(!out.exists());
}

fn recorded(target: &str, body: &str) -> Recording {
    let mut recording = Recording::default();
    let recorded = Recorded {
        status: 200,
        body: body.as_bytes().to_vec(),
        ..Recorded::default()
    };
    recording.add(RequestKey::of("GET", target, b""), recorded);
    recording
}

fn one(target: &str, durations_us: &[u64]) -> Recording {
    let mut recording = Recording::default();
    let recorded = Recorded {
        status: 200,
        body: b"{}".to_vec(),
        durations_us: durations_us.to_vec(),
        ..Recorded::default()
    };
    recording.add(RequestKey::of("GET", target, b""), recorded);
    recording
}

#[tokio::test]
async fn unknown_requests_are_refused_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = folder.path().join("unknown");
    let options = ReplayOptions {
        unknown: Some(unknown.clone()),
        ..ReplayOptions::default()
    };
    let address = replay(&one("/", &[]), &options).await;
    assert_eq!(put(address, ("GET", "/", b"")).await.status, 200);
    let asked: [Question; 4] = [
        ("GET", "/no?b=1&a=2", b""),
        ("GET", "/no?a=2&b=1", b""),
        ("HEAD", "/", b""),
        ("POST", "/", br#"{"b":1,"a":"x"}"#),
    ];
    for question in asked {
        assert_eq!(put(address, question).await.status, 501, "{question:?}");
    }
    let answer = put(address, asked[3]).await;
    let expect = r#"{"error":"not recorded","request":"POST / {\"a\":\"x\",\"b\":1}"}"#;
    assert_eq!(String::from_utf8(answer.body).unwrap(), expect);
    let noted: std::collections::BTreeSet<String> = fs::read_to_string(&unknown)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expect = ["GET /no?a=2&b=1", "HEAD /", r#"POST / {"a":"x","b":1}"#];
    assert!(noted.iter().eq(expect), "{noted:?}");
}

#[tokio::test]
async fn answers_are_held_back_as_asked() {
    for (delay, at_least) in [
        (Delay::Constant(Duration::from_millis(30)), 30),
        (Delay::Recorded, 20),
    ] {
        let options = with(ReplaySettings {
            delay,
            ..ReplaySettings::default()
        });
        let address = replay(&one("/", &[20_000]), &options).await;
        let began = Instant::now();
        assert_eq!(put(address, ("GET", "/", b"")).await.status, 200);
        assert!(
            began.elapsed() >= Duration::from_millis(at_least),
            "{delay}"
        );
    }
}

fn with(settings: ReplaySettings) -> ReplayOptions {
    ReplayOptions {
        settings,
        ..ReplayOptions::default()
    }
}

#[tokio::test]
async fn whoever_takes_gzip_is_given_it_where_the_backend_does_so() {
    let body = r#"{"found":true,"name":"Plzen","names":["Plzen","Plzen","Plzen","Plzen"]}"#;
    let recording = recorded("/", body);
    let check = async |gzip: bool, accepted: &str, compressed: bool| {
        let settings = ReplaySettings {
            gzip,
            ..ReplaySettings::default()
        };
        let address = replay(&recording, &with(settings)).await;
        let headers = [("accept-encoding".to_owned(), accepted.to_owned())];
        let answer = ask(address, "GET", "/", &headers, b"", Duration::from_secs(5)).await;
        let answer = answer.unwrap();
        let is_gzip =
            |(name, value): &(String, String)| name == "content-encoding" && value == "gzip";
        assert_eq!(answer.headers.iter().any(is_gzip), compressed, "{accepted}");
        assert_eq!(answer.body, body.as_bytes());
    };
    check(true, "gzip", true).await;
    check(true, "br, gzip;q=0.5", true).await;
    check(true, "gzip;q=0, identity", false).await;
    check(true, "identity", false).await;
    check(false, "gzip", false).await;
}

#[tokio::test]
async fn who_finds_the_queue_full_is_refused_and_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let options = ReplayOptions {
        count: Some(count.clone()),
        ..with(ReplaySettings {
            delay: Delay::Constant(Duration::from_millis(300)),
            queue: Some(2),
            ..ReplaySettings::default()
        })
    };
    let address = replay(&one("/", &[]), &options).await;
    let asked = || put(address, ("GET", "/", b""));
    let answers = tokio::join!(asked(), asked(), asked());
    let mut statuses = [answers.0.status, answers.1.status, answers.2.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(Counter::Socket(count).read().await, Some(2));
}
