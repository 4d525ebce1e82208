//! Live metrics: a collector gets the numbers of each slice, in both encodings of OTLP; the
//! dashboard asks for these numbers. With `BAKEOFF_TEST_PROMETHEUS=1` a real Prometheus, a program
//! on the PATH, takes them and serves the dashboard.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{DataPointFlags, Metric, NumberDataPoint};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use prost::Message as _;
use serde_json::{Value, json};

use crate::interruption::{send, until};
use crate::world::{Ran, Service, World, reserved, skipped};

const SWITCH: &str = "BAKEOFF_TEST_PROMETHEUS";
const DASHBOARD: &str = include_str!("../../../../packaging/grafana/bakeoff.json");
/// How long Prometheus may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request as it was received.
#[derive(Debug)]
struct Request {
    path: String,
    /// By their names in lower case.
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Request {
    fn read(stream: TcpStream) -> (Self, TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let path = lines[0].strip_prefix("POST ").unwrap();
        let headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
        let headers: BTreeMap<String, String> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut body = vec![0; headers["content-length"].parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let request = Self {
            path: path.split(' ').next().unwrap().to_owned(),
            headers,
            body,
        };
        (request, reader.into_inner())
    }

    fn protobuf(&self) -> ExportMetricsServiceRequest {
        assert_eq!(self.headers["content-type"], "application/x-protobuf");
        ExportMetricsServiceRequest::decode(self.body.as_slice()).unwrap()
    }
}

/// A collector that gives every request this response. Returns its port and the requests.
fn collector(media: &'static str, answer: Vec<u8>) -> (u16, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (request, mut stream) = Request::read(stream.unwrap());
            let length = answer.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&answer).unwrap();
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

/// A session of a ladder, in whole runs, that sends to this URL.
fn ladder(world: &World, url: &str, environment: &[(&str, &str)]) -> Ran {
    let line = format!("run SUITE --profile tiny --out OUT --otlp {url}");
    let mut command = world.command(&line);
    for variable in [
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
        "OTEL_RESOURCE_ATTRIBUTES",
    ] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied());
    Ran::from(command.output().unwrap())
}

/// Attributes as texts, sorted.
fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let pairs = attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().unwrap().value.as_ref();
        let value = match value.unwrap() {
            Any::StringValue(text) => text.clone(),
            Any::IntValue(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        (attribute.key.clone(), value)
    });
    pairs.collect()
}

/// Every metric of a request with its only point.
fn points(export: &ExportMetricsServiceRequest) -> Vec<(Metric, NumberDataPoint)> {
    let scope = &export.resource_metrics[0].scope_metrics[0];
    assert_eq!(scope.scope.as_ref().unwrap().name, "bakeoff");
    let metrics = scope.metrics.iter().map(|metric| {
        let Some(Data::Gauge(gauge)) = &metric.data else {
            panic!("{metric:?}");
        };
        assert!(!metric.description.is_empty(), "{metric:?}");
        let [point] = gauge.data_points.as_slice() else {
            panic!("{metric:?}");
        };
        (metric.clone(), point.clone())
    });
    metrics.collect()
}

/// The name that Prometheus gives a metric, by its rules for units.
fn in_prometheus(metric: &Metric) -> String {
    let suffix = match metric.unit.as_str() {
        "{request}/s" => "_per_second",
        "s" => "_seconds",
        "By" => "_bytes",
        "{cpu}" => "",
        other => panic!("{other} of {}", metric.name),
    };
    metric.name.replace('.', "_") + suffix
}

/// The queries of all panels.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    queries.collect()
}

/// The questions of all variables that are asked for: metric, selector and label.
fn variables() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let list = dashboard["templating"]["list"].as_array().unwrap().iter();
    let asked = list.filter(|variable| variable["type"] == "query");
    let questions = asked.map(|variable| {
        let query = variable["query"]["query"].as_str().unwrap();
        let question = query.strip_prefix("label_values(").unwrap();
        let (series, label) = question
            .strip_suffix(')')
            .unwrap()
            .rsplit_once(", ")
            .unwrap();
        (series.to_owned(), label.to_owned())
    });
    questions.collect()
}

/// A query with every variable at "All".
fn of_all(query: &str) -> String {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let list = dashboard["templating"]["list"].as_array().unwrap().iter();
    let filled = list.fold(query.to_owned(), |query, variable| {
        query.replace(&format!("${}", variable["name"].as_str().unwrap()), ".*")
    });
    assert!(!filled.contains('$'), "{filled}");
    filled
}

/// The words of a query that start as names of ours do.
fn own_words(query: &str) -> BTreeSet<String> {
    let words = query.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let own = words.filter(|word| word.starts_with("bakeoff_"));
    own.map(str::to_owned).collect()
}

#[test]
fn a_collector_gets_the_numbers_of_each_slice() {
    let world = World::new(&["good"]);
    let (port, requests) = collector("application/x-protobuf", Vec::new());
    let ran = ladder(&world, &format!("http://127.0.0.1:{port}/some/where/"), &[]);
    ran.check(0, &[]);
    assert!(!ran.stderr.contains("metrics do not reach"), "{ran:#?}");
    let requests: Vec<Request> = requests.try_iter().collect();
    assert!(requests.len() >= 4, "{requests:?}");
    let mut names = BTreeSet::new();
    let mut resources = BTreeSet::new();
    for request in &requests {
        assert_eq!(request.path, "/some/where/v1/metrics");
        let export = request.protobuf();
        let resource = export.resource_metrics[0].resource.as_ref().unwrap();
        resources.insert(texts(&resource.attributes));
        for (metric, point) in points(&export) {
            assert!(
                point.time_unix_nano > 1_700_000_000_000_000_000,
                "{point:?}"
            );
            let attributes = texts(&point.attributes);
            assert_eq!(attributes["bakeoff.suite"], "world");
            assert_eq!(attributes["bakeoff.benchmark"], "item");
            assert_eq!(attributes["bakeoff.contender"], "good");
            assert_eq!(attributes["bakeoff.load"], "closed");
            names.insert(metric.name);
        }
    }
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "bakeoff.contender.cpu",
            "bakeoff.contender.memory",
            "bakeoff.errors.rate",
            "bakeoff.requests.rate",
            "bakeoff.response.time.p50",
            "bakeoff.response.time.p99",
        ]
    );
    // One session is one instance of the service.
    let [resource] = Vec::from_iter(&resources)[..] else {
        panic!("{resources:?}");
    };
    assert_eq!(resource["service.name"], "bakeoff");
    assert!(resource["service.instance.id"].contains(&resource["host.name"]));
}

#[test]
fn every_time_series_ends_after_its_last_number() {
    let world = World::new(&["good"]);
    let (port, requests) = collector("application/x-protobuf", Vec::new());
    ladder(&world, &format!("http://127.0.0.1:{port}"), &[]).check(0, &[]);
    let mut steps = BTreeSet::new();
    let mut live = BTreeSet::new();
    for request in requests.try_iter() {
        for (metric, point) in points(&request.protobuf()) {
            let attributes = texts(&point.attributes);
            let step = ["bakeoff.phase", "bakeoff.connections"].map(|key| attributes[key].clone());
            steps.insert(step.clone());
            let series = (metric.name, step);
            match point.value {
                Some(Number::AsDouble(_)) => {
                    assert_eq!(point.flags, 0);
                    live.insert(series);
                }
                None => {
                    assert_eq!(point.flags, DataPointFlags::NoRecordedValueMask as u32);
                    assert!(live.remove(&series), "{series:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        // Of one contender, which is in one step at a time.
        let steps: BTreeSet<_> = live.iter().map(|(_, step)| step).collect();
        assert!(steps.len() <= 1, "{live:?}");
    }
    assert_eq!(live, BTreeSet::new());
    assert_eq!(steps.len(), 3, "{steps:?}");
}

#[test]
fn the_environment_says_how_requests_are_written() {
    let world = World::new(&["good"]);
    let (port, requests) = collector("application/json", b"{\"partialSuccess\":{}}".to_vec());
    let environment = [
        // What concerns all signals gives way to what concerns metrics.
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YTpi"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=lab,team=web"),
    ];
    let ran = ladder(&world, &format!("http://127.0.0.1:{port}"), &environment);
    ran.check(0, &[]);
    assert!(!ran.stderr.contains("metrics do not reach"), "{ran:#?}");
    let requests: Vec<Request> = requests.try_iter().collect();
    assert!(requests.len() >= 4, "{requests:?}");
    for request in &requests {
        assert_eq!(request.path, "/v1/metrics");
        assert_eq!(request.headers["content-type"], "application/json");
        assert_eq!(request.headers["authorization"], "Basic YTpi");
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let one = &body["resourceMetrics"][0];
        let attributes = one["resource"]["attributes"].as_array().unwrap();
        let names = attributes.iter().filter(|one| one["key"] == "service.name");
        let names: Vec<&Value> = names.map(|one| &one["value"]["stringValue"]).collect();
        assert_eq!(names, ["lab"]);
        let team = json!({ "key": "team", "value": { "stringValue": "web" } });
        assert!(attributes.contains(&team), "{attributes:?}");
        for metric in one["scopeMetrics"][0]["metrics"].as_array().unwrap() {
            let point = &metric["gauge"]["dataPoints"][0];
            // Numbers of 64 bits are texts in the JSON form of protocol buffers.
            assert!(
                point["timeUnixNano"].as_str().unwrap().len() > 18,
                "{point}"
            );
            let has_value = point["asDouble"].is_f64();
            assert_eq!(has_value, point["flags"] == 0, "{point}");
        }
    }
}

#[test]
fn an_encoding_that_is_not_spoken_is_refused_before_anything_starts() {
    let world = World::new(&["good"]);
    let environment = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    let ran = ladder(&world, "http://127.0.0.1:9", &environment).unwrapped();
    ran.check(
        1,
        &[
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "http/protobuf and http/json, not grpc",
        ],
    );
    assert!(!world.out().exists(), "{ran:#?}");
}

#[test]
fn a_collector_that_rejects_numbers_costs_a_note() {
    let world = World::new(&["good"]);
    let answer = ExportMetricsServiceResponse {
        partial_success: Some(ExportMetricsPartialSuccess {
            rejected_data_points: 3,
            error_message: "too old".to_owned(),
        }),
    };
    let (port, _requests) = collector("application/x-protobuf", answer.encode_to_vec());
    let ran = ladder(&world, &format!("http://127.0.0.1:{port}"), &[]);
    ran.check(0, &["it rejected 3 of the numbers: too old"]);
    assert_eq!(
        ran.stderr.matches("metrics do not reach").count(),
        1,
        "{ran:#?}"
    );
}

#[test]
fn a_collector_that_is_not_there_costs_a_note() {
    let world = World::new(&["good"]);
    let (port, _held) = reserved(0).unwrap();
    let ran = ladder(&world, &format!("http://127.0.0.1:{port}"), &[]);
    ran.check(0, &["metrics do not reach", "the measurement goes on"]);
    assert_eq!(
        ran.stderr.matches("metrics do not reach").count(),
        1,
        "{ran:#?}"
    );
}

#[test]
fn a_collector_that_never_responds_holds_no_end() {
    let world = World::new(&["good"]);
    // The kernel accepts for it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let note = "did not take the last metrics within 5 s";
    ladder(&world, &url, &[]).check(0, &["metrics do not reach", note]);
    std::fs::remove_dir_all(world.out()).unwrap();

    // A signal need not wait even for that, although nothing listens to it any more.
    let line = format!("run SUITE --profile tiny --out out --otlp {url}");
    let session = until(&world, &line, |event| event["event"] == "session-ended");
    send("-TERM", session.id());
    let ended = Ran::from(session.wait_with_output().unwrap());
    assert_eq!(ended.status, 130, "{ended:#?}");
    assert!(!ended.stderr.contains(note), "{ended:#?}");
}

#[test]
fn the_dashboard_asks_for_what_is_sent() {
    let world = World::new(&["good"]);
    let (port, requests) = collector("application/x-protobuf", Vec::new());
    ladder(&world, &format!("http://127.0.0.1:{port}"), &[]).check(0, &[]);
    let (mut names, mut labels) = (BTreeSet::new(), BTreeSet::new());
    for request in requests.try_iter() {
        for (metric, point) in points(&request.protobuf()) {
            names.insert(in_prometheus(&metric));
            let keys = point.attributes.iter();
            labels.extend(keys.map(|attribute| attribute.key.replace('.', "_")));
        }
    }
    let queries = queries();
    let asked = queries.iter().flat_map(|query| own_words(query));
    let asked: BTreeSet<String> = asked.collect();
    let known: BTreeSet<String> = names.union(&labels).cloned().collect();
    let unknown: Vec<&String> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?} are not sent: {known:?}");
    // Each number that is sent is drawn.
    let undrawn: Vec<&String> = names.difference(&asked).collect();
    assert!(undrawn.is_empty(), "{undrawn:?}");
    for (series, label) in variables() {
        let is_known = own_words(&series).is_subset(&known);
        assert!(is_known, "{series}");
        assert!(labels.contains(&label) || label == "instance", "{label}");
    }
}

/// A Prometheus of this test's own, with its receiver of OTLP.
struct Prometheus {
    _process: Service,
    port: u16,
}

impl Prometheus {
    fn start(world: &World) -> Self {
        let (port, held) = reserved(0).unwrap();
        world.write("prometheus.yml", "global: { scrape_interval: 1h }\n");
        let flags = [
            format!(
                "--config.file={}",
                world.path().join("prometheus.yml").display()
            ),
            format!(
                "--storage.tsdb.path={}",
                world.path().join("tsdb").display()
            ),
            format!("--web.listen-address=127.0.0.1:{port}"),
            "--web.enable-otlp-receiver".to_owned(),
            "--log.level=warn".to_owned(),
        ];
        // It does not reuse addresses.
        drop(held);
        let started = Command::new("prometheus")
            .args(flags)
            .stdin(Stdio::null())
            .spawn();
        let prometheus = Self {
            _process: Service(started.expect("`prometheus` is on the PATH")),
            port,
        };
        let began = Instant::now();
        while !matches!(prometheus.get("/-/ready"), Some((200, _))) {
            assert!(began.elapsed() < PATIENCE, "it is not ready");
            std::thread::sleep(Duration::from_millis(100));
        }
        prometheus
    }

    /// Status and body; `None` while it does not listen.
    fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        // HTTP/1.0 has no chunks, and its connection ends with the response.
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, body.to_owned()))
    }

    /// The data of a response of Prometheus's API.
    #[track_caller]
    fn ask(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(key, value)| format!("{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        let path = format!("/api/v1/{path}?{}", parameters.join("&"));
        let (status, body) = self.get(&path).unwrap();
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str::<Value>(&body).unwrap()["data"].take()
    }

    /// The lines that a panel draws of a query.
    #[track_caller]
    fn range(&self, query: &str, since: &str) -> Vec<Value> {
        let end = unix_now();
        let parameters = [
            ("query", query),
            ("start", since),
            ("end", &end),
            ("step", "0.2"),
        ];
        let data = self.ask("query_range", &parameters);
        data["result"].as_array().unwrap().clone()
    }
}

/// Seconds of the wall clock.
fn unix_now() -> String {
    #[expect(clippy::disallowed_methods, reason = "Prometheus is asked by it")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs_f64().to_string()
}

#[test]
fn a_real_prometheus_answers_the_dashboard() {
    if std::env::var_os(SWITCH).is_none() {
        skipped(&format!(
            "a real Prometheus: set {SWITCH}=1 with `prometheus` on the PATH"
        ));
        return;
    }
    for protocol in ["http/protobuf", "http/json"] {
        let world = World::new(&["good", "counts"]);
        let prometheus = Prometheus::start(&world);
        let since = unix_now();
        let url = format!("http://127.0.0.1:{}/api/v1/otlp", prometheus.port);
        let environment = [("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)];
        let ran = ladder(&world, &url, &environment);
        ran.check(0, &[]);
        assert!(!ran.stderr.contains("metrics do not reach"), "{ran:#?}");
        for query in queries() {
            let query = of_all(&query);
            let drawn = prometheus.range(&query, &since);
            // A line for each contender, and for each kind of load.
            let names = drawn
                .iter()
                .map(|line| &line["metric"]["bakeoff_contender"]);
            let names: BTreeSet<&str> = names.filter_map(Value::as_str).collect();
            assert_eq!(
                names,
                BTreeSet::from(["counts", "good"]),
                "{query}: {drawn:#?}"
            );
            for line in &drawn {
                let values = line["values"].as_array().unwrap();
                let numbers = values.iter().map(|value| value[1].as_str().unwrap());
                let mut numbers = numbers.map(|number| number.parse::<f64>().unwrap());
                assert!(numbers.all(f64::is_finite), "{query}: {line}");
            }
            // They have ended with the session, and are not drawn for five minutes more.
            let now = prometheus.ask("query", &[("query", &query)]);
            assert_eq!(now["result"], json!([]), "{query}");
        }
        for (series, label) in variables() {
            let series = of_all(&series);
            let path = format!("label/{label}/values");
            let values = prometheus.ask(&path, &[("match[]", &series), ("start", &since)]);
            assert!(!values.as_array().unwrap().is_empty(), "{series} {label}");
        }
        let about = prometheus.range("target_info", &since);
        assert_eq!(about.len(), 1, "{about:?}");
        assert_eq!(about[0]["metric"]["job"], "bakeoff");
    }
}
