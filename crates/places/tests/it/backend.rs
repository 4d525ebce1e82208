//! A real Elasticsearch with the documents of the suite `locations`: built, started, filled,
//! recorded, replayed and stopped. Switched on by `BAKEOFF_TEST_ELASTICSEARCH=1`, because it wants
//! Maven, a JDK 17 and half a minute.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_build::cache_dir;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::suite::{Limits, ReplaySettings};
use bakeoff_places::http::ask;
use bakeoff_places::services::{
    Backend, BackendKind, BackendOptions, Elasticsearch, ReplayProcess, Service as _, start,
};
use bakeoff_replay::{Recording, RecordingProxy, Replay, ReplayOptions};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::support::{Bench, LIMIT, announce};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A place, and the cities whose outlines hold it, and the nearest centroid: what the functional
/// checks of the suite rest on.
const PLACES: [(f64, f64, &[u64], u64); 3] = [
    (50.107, 14.574, &[101_748_113], 101_758_551),
    (49.84, 12.92, &[], 1_125_935_959),
    (49.915, 17.870, &[101_825_503], 101_825_503),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn options(bench: &Bench, kind: BackendKind, data: PathBuf) -> BackendOptions {
    BackendOptions {
        kind,
        listen: LOOPBACK,
        port: None,
        cores: Vec::new(),
        limits: Limits::default(),
        data,
        log_path: bench.base.path().join("backend.log"),
    }
}

fn elasticsearch() -> BackendKind {
    BackendKind::Elasticsearch(Elasticsearch {
        sources: repository().join("backends/elasticsearch"),
        cache: cache_dir(),
        heap_mib: 512,
        warm_up: Duration::from_secs(1),
    })
}

async fn get(to: SocketAddr, path: &str) -> ReceivedResponse {
    ask(to, "GET", path, &[], b"", LIMIT).await.unwrap()
}

async fn search(to: SocketAddr, body: &str) -> ReceivedResponse {
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    ask(
        to,
        "POST",
        "/city/_search",
        &headers,
        body.as_bytes(),
        LIMIT,
    )
    .await
    .unwrap()
}

fn hits(answer: &ReceivedResponse) -> Vec<u64> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    let hits = body["hits"]["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["_source"]["id"].as_u64().unwrap())
        .collect()
}

fn within(lat: f64, lon: f64) -> String {
    format!(
        r#"{{"_source":["id"],"query":{{"geo_shape":{{"geometry":{{"relation":"intersects",
        "shape":{{"type":"Point","coordinates":[{lon},{lat}]}}}}}}}}}}"#
    )
}

fn nearest(lat: f64, lon: f64) -> String {
    format!(
        r#"{{"_source":["id"],"size":1,"sort":[{{"_geo_distance":{{"centroid":
        {{"lat":{lat},"lon":{lon}}}}}}}]}}"#
    )
}

#[tokio::test]
async fn a_real_elasticsearch_is_filled_recorded_and_replayed() {
    if std::env::var_os("BAKEOFF_TEST_ELASTICSEARCH").is_none() {
        announce("a real Elasticsearch: set BAKEOFF_TEST_ELASTICSEARCH=1");
        return;
    }
    let bench = Bench::new();
    let data = repository().join("suites/locations/data");
    let options = options(&bench, elasticsearch(), data);
    let mut backend = start(&bench.runtime, &options).await.unwrap();
    let out = bench.base.path().join("recordings/exchanges.jsonl");
    let recorded = record(&backend, &out).await;
    let usage = backend.sample().await;
    assert!(usage.jvm.is_some(), "the counters of its JVM are not read");
    let node = backend.address();
    let stopped = backend.stop().await;
    assert!(stopped.graceful && !stopped.killed, "{stopped:?}");
    assert!(TcpListener::bind(node).is_ok(), "something still listens");
    let left: Vec<_> = std::fs::read_dir(bench.runtime.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("elasticsearch"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    replayed(&out, &recorded).await;
}

/// Asks the documents and places through a proxy; the requests with their responses.
async fn record(backend: &Backend, out: &Path) -> Vec<(Option<String>, ReceivedResponse)> {
    let listen = SocketAddr::new(LOOPBACK, 0);
    let proxy = RecordingProxy::bind(backend.address(), listen, out)
        .await
        .unwrap();
    let address = proxy.address();
    let (stop, stopped) = oneshot::channel::<()>();
    let recording = tokio::spawn(proxy.record(async move {
        let _ = stopped.await;
    }));
    let city = get(address, "/city/_doc/101748111?_source_excludes=geometry").await;
    let document: Value = serde_json::from_slice(&city.body).unwrap();
    assert_eq!(document["_source"]["name.cs"], "Plzeň");
    let mut answers = vec![(None, city)];
    for (lat, lon, outlines, nearest_id) in PLACES {
        for (body, expect) in [
            (within(lat, lon), outlines),
            (nearest(lat, lon), &[nearest_id][..]),
        ] {
            let answer = search(address, &body).await;
            assert_eq!(hits(&answer), expect, "{body}");
            answers.push((Some(body), answer));
        }
    }
    drop(stop);
    let summary = recording.await.unwrap().unwrap();
    assert_eq!((summary.exchanges, summary.notes.len()), (7, 0));
    answers
}

async fn replayed(recordings: &Path, answers: &[(Option<String>, ReceivedResponse)]) {
    let recording = Recording::read(recordings).unwrap();
    let replay = Replay::bind(
        &recording,
        SocketAddr::new(LOOPBACK, 0),
        &ReplayOptions::default(),
    )
    .await
    .unwrap();
    let address = replay.address();
    let serving = tokio::spawn(replay.serve());
    for (body, expect) in answers {
        let answer = match body {
            Some(body) => search(address, body).await,
            None => get(address, "/city/_doc/101748111?_source_excludes=geometry").await,
        };
        assert_eq!(
            (answer.status, &answer.body),
            (expect.status, &expect.body),
            "{body:?}"
        );
    }
    serving.abort();
}

#[tokio::test]
async fn a_replay_without_recordings_says_what_to_do() {
    let bench = Bench::unlimited();
    let kind = BackendKind::Replay(ReplayProcess {
        program: "unused".into(),
        args: Vec::new(),
        settings: ReplaySettings::default(),
    });
    let empty = bench.base.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let error = start(&bench.runtime, &options(&bench, kind, empty))
        .await
        .unwrap_err();
    assert!(error.to_string().ends_with("empty: no recordings"));
    assert_eq!(error.hints(), ["make them with `bakeoff record`"]);
}

#[tokio::test]
async fn a_backend_that_ends_shows_its_log() {
    let bench = Bench::unlimited();
    let recordings = bench.base.path().join("a.jsonl");
    std::fs::write(
        &recordings,
        "{\"method\":\"GET\",\"target\":\"/\",\"status\":200}\n",
    )
    .unwrap();
    let kind = BackendKind::Replay(ReplayProcess {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "echo no luck; exit 3".into()],
        settings: ReplaySettings::default(),
    });
    let error = start(&bench.runtime, &options(&bench, kind, recordings))
        .await
        .unwrap_err();
    let expect = "backend replay: it exited with code 3 before it was ready";
    assert_eq!(error.to_string(), expect);
    assert_eq!(error.hints(), ["last lines of its log:\nno luck"]);
}
