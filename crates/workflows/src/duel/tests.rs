//! What is kept of a duel is read as the suite that was measured, whatever its services and
//! requests are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bakeoff_grpc::Schema;
use bakeoff_import::openapi::Selected;
use bakeoff_import::{Choice, Operation, Outside, curl, har, http_file, openapi};
use bakeoff_model::parse::SizeText;
use bakeoff_model::request::Body;
use bakeoff_model::request::check::Expect;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::container::{ContainerSettings, Ulimit};
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::suite::volume::Volume;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_store::suite_folder;
use tempfile::TempDir;

use super::suite::{MadeSuite, files};
use super::{Asked, Duel, DuelRuns, DuelWarmUp, USUAL_LIMITS, compose};
use crate::service::{DuelRequest, DuelService, ServiceImage, ServiceSource};

fn side(name: &str, service: ServiceSource) -> DuelService {
    DuelService {
        name: name.to_owned(),
        text: format!("the \"{name}\""),
        service,
        workdir: None,
    }
}

fn command(words: &[&str]) -> ServiceSource {
    ServiceSource::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

fn image(reference: &str) -> ServiceImage {
    ServiceImage {
        reference: reference.to_owned(),
        ..ServiceImage::default()
    }
}

fn programs() -> Vec<DuelService> {
    vec![
        side("go", command(&["./server", "--name", "a b"])),
        side("node", command(&["node", "server.js"])),
    ]
}

fn get(path: &str) -> DuelRequest {
    DuelRequest {
        name: format!("GET {path}"),
        weight: 1,
        method: "GET".to_owned(),
        path: path.to_owned(),
        headers: vec![("Accept".to_owned(), "text/plain".to_owned())],
        body: Body::default(),
    }
}

fn duel(workdir: &Path, sides: Vec<DuelService>) -> Duel {
    Duel {
        sides,
        requests: vec![get("/")],
        grpc: None,
        notes: Vec::new(),
        scrape: None,
        ignored: Vec::new(),
        port: None,
        ready_path: "/".to_owned(),
        env: [("MODE".to_owned(), "fast".to_owned())].into(),
        dependencies: Vec::new(),
        limits: USUAL_LIMITS,
        workdir: workdir.to_owned(),
        cluster: None,
        hosts: FarHosts::default(),
        compose_file: None,
        connections: 64,
        warm_up: DuelWarmUp::UntilWarm,
        duration: Duration::from_secs(5),
        runs: DuelRuns::Within(Duration::from_secs(120)),
        may_differ: false,
        start_timeout: None,
        control: true,
        latency: true,
    }
}

/// Keeps the suite of a duel in a folder next to the services, and among results, and reads both.
/// Returns the text of the kept `suite.toml`.
#[track_caller]
fn check(duel: &Duel, runtime: RuntimeKind) -> String {
    let expect = Expect {
        status: vec![200],
        body: Some("'\"\n\\".to_owned()),
        ..Expect::default()
    };
    let asked = Asked {
        duel: duel.clone(),
        runtime,
        notes: Vec::new(),
        agreed: Vec::new(),
        no_turns: None,
    };
    let folder = duel.workdir.join("kept");
    let mut text = String::new();
    for (duel, no_turns) in [(duel, Some("no root")), (&asked.kept(&folder), None)] {
        let expect = vec![expect.clone(); duel.requests.len()];
        let files = files(duel, runtime, &expect, no_turns);
        let made = MadeSuite::new(files, duel.grpc.as_ref()).unwrap();
        let made = made.written(&folder, &BTreeSet::new()).unwrap();
        let read = suite_folder::read(&folder).unwrap();
        text = fs::read_to_string(folder.join("suite.toml")).unwrap();
        // The next suite has other contenders.
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(made.suite, read.suite);
        assert_eq!((made.path, made.base), (read.path, read.base));
    }
    text
}

#[test]
fn services_are_read_as_they_were_measured() {
    let top = TempDir::new().unwrap();
    let workdir = top.path();
    fs::write(workdir.join("init.sql"), "").unwrap();
    check(&duel(workdir, programs()), RuntimeKind::Process);
    let mut in_folders = programs();
    in_folders[1].workdir = Some(workdir.join("next"));
    check(&duel(workdir, in_folders), RuntimeKind::Process);
    let full = ServiceImage {
        entrypoint: vec!["/shop".to_owned()],
        arguments: vec!["--port".to_owned(), "80".to_owned()],
        env: [("A".to_owned(), "{}".to_owned())].into(),
        volumes: vec![Volume {
            source: workdir.join("init.sql").display().to_string(),
            target: "/init".to_owned(),
        }],
        container: Box::new(ContainerSettings {
            user: Some("1000".to_owned()),
            read_only: true,
            tmpfs: vec!["/tmp".to_owned()],
            ulimits: [("nofile".to_owned(), Ulimit { soft: 1, hard: 2 })].into(),
            shm_size: Some(SizeText(64 << 20)),
            ..ContainerSettings::default()
        }),
        ..image("registry:5000/shop:1.5")
    };
    let images = [("plain", image("shop")), ("full", full)];
    let images = images.map(|(name, image)| side(name, ServiceSource::Image(image)));
    let images = duel(workdir, images.into());
    check(&images, RuntimeKind::Docker);
    check(&images, RuntimeKind::Kubernetes);
    let urls = [("a", "http://10.0.0.7"), ("b", "http://10.0.0.8:81")];
    let url = |text: &str| ServiceSource::Url(ServiceUrl::new(text).unwrap());
    let urls = urls.map(|(name, text)| side(name, url(text)));
    let urls = Duel {
        limits: Limits::default(),
        env: [].into(),
        ..duel(workdir, urls.into())
    };
    let text = check(&urls, RuntimeKind::External);
    assert!(text.starts_with("# Run it again: bakeoff run FOLDER --profile duel --runtime"));
}

#[tokio::test]
async fn services_of_a_compose_file_are_read_with_what_they_depend_on() {
    let top = TempDir::new().unwrap();
    let file = "services:\n  web: { image: a, depends_on: { job: { condition: \
                service_completed_successfully } }, ports: [\"80:9000\"] }\n  \
                db: { image: b, command: [x, y], volumes: [\"./init.sql:/init\"], \
                environment: { A: b }, user: 999, healthcheck: { test: ready, retries: 2 } }\n  \
                job: { image: c, entrypoint: [go], depends_on: { db: { condition: \
                service_healthy } } }\n";
    fs::write(top.path().join("compose.yaml"), file).unwrap();
    fs::write(top.path().join("init.sql"), "").unwrap();
    // Paths inside of a repository are kept as relative ones.
    fs::create_dir(top.path().join(".git")).unwrap();
    let sides = [
        side("web", ServiceSource::Compose("web".to_owned())),
        side("next", ServiceSource::Image(image("next"))),
    ];
    let found = compose::look_up(&sides, None, top.path(), None).await;
    let found = found.unwrap();
    let duel = Duel {
        sides: found.sides,
        dependencies: found.dependencies,
        port: found.port,
        ..duel(top.path(), Vec::new())
    };
    let text = check(&duel, RuntimeKind::Docker);
    assert!(text.contains("[[dependency]]") && text.contains("port = 9000"));
    assert!(text.contains("ready = \"healthy\"") && text.contains("ready = \"completed\""));
    assert!(
        text.contains("user = \"999\"") && text.contains("retries = 2"),
        "{text}"
    );
    assert!(text.contains("volumes = [\"../init.sql:/init\"]"), "{text}");
}

const HTTP_FILE: &str = "### put
PUT http://shop/item?a=1
X-Unit: km

{ \"a\": 'b' }
";

const OPENAPI: &str = "openapi: 3.0.0
info: { title: Shop, version: '1' }
paths:
  /items:
    get:
      responses:
        '200': { description: All. }
";

const HAR: &str = r#"{ "log": { "version": "1.2", "entries": [{
  "request": { "method": "GET", "url": "http://shop/x?q=a%20b", "cookies": [],
               "headers": [{ "name": "X-Unit", "value": "km" }] },
  "response": { "status": 200, "content": { "mimeType": "text/plain", "text": "" } }
}] } }"#;

const PROTO: &str = "syntax = \"proto3\";
package hello;
service Greeter { rpc Say(Name) returns (Name); }
message Name { string name = 1; }
";

/// Requests of every source, each read as bakeoff reads it.
fn imported() -> Vec<Operation> {
    let writes = Choice {
        writes: true,
        ..Choice::default()
    };
    let described = [
        http_file::read(HTTP_FILE, &writes, Outside::none()).unwrap(),
        openapi::read(OPENAPI, &Selected::default()).unwrap(),
        har::read(HAR, &Choice::default()).unwrap(),
    ];
    let curl = "curl -d 'a=1&b=2' -H 'X-Tag: a' -H 'Host: shop' -H 'X-Tag: b' http://shop/form";
    let curl = curl::read(curl, Outside::none()).unwrap().operation;
    let described = described.into_iter().flat_map(|one| one.operations);
    described.chain([curl]).collect()
}

#[test]
fn requests_are_read_as_they_were_sent() {
    let top = TempDir::new().unwrap();
    let requests: Vec<DuelRequest> = imported().into_iter().map(DuelRequest::from).collect();
    assert_eq!(requests.len(), 4);
    let weighed = DuelRequest {
        name: "often".to_owned(),
        weight: 3,
        ..get("/often")
    };
    let duel = Duel {
        requests: requests.into_iter().chain([weighed]).collect(),
        scrape: Some("/metrics".to_owned()),
        warm_up: DuelWarmUp::For(Duration::from_micros(1_500_001)),
        runs: DuelRuns::Fixed(4),
        control: false,
        latency: false,
        ..duel(top.path(), programs())
    };
    let text = check(&duel, RuntimeKind::Process);
    assert_eq!(text.matches("[[benchmark.request]]").count(), 5, "{text}");
    for words in ["weight = 3", "name = \"often\"", "latency = false"] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    check(
        &Duel {
            warm_up: DuelWarmUp::Skipped,
            ..duel
        },
        RuntimeKind::Process,
    );
}

#[test]
fn calls_are_read_with_their_messages() {
    let top = TempDir::new().unwrap();
    let proto = top.path().join("hello.proto");
    fs::write(&proto, PROTO).unwrap();
    let call = DuelRequest {
        name: "hello.Greeter/Say".to_owned(),
        method: "POST".to_owned(),
        path: "/hello.Greeter/Say".to_owned(),
        headers: Vec::new(),
        body: "{\"name\": \"Ann\"}".into(),
        ..get("/")
    };
    let duel = Duel {
        grpc: Some(Schema::from_files(&[proto]).unwrap()),
        ready_path: call.path.clone(),
        requests: vec![call],
        ..duel(top.path(), programs())
    };
    check(&duel, RuntimeKind::Process);
}

#[test]
fn a_request_that_no_suite_can_have_is_refused() {
    let mut duel = duel(Path::new("/"), programs());
    duel.requests[0].method = "GET IT".to_owned();
    duel.requests[0].headers = vec![("Content-Length".to_owned(), "1".to_owned())];
    let files = files(&duel, RuntimeKind::Process, &[Expect::default()], None);
    let refused = MadeSuite::new(files, None).err().unwrap().to_string();
    let expect = "no suite can be made of this:
suite.toml: `benchmark[0].request[0].method`: \"GET IT\" is not a method
  hint: write it in upper case: \"GET\"
suite.toml: `benchmark[0].request[0].headers.Content-Length`: this header is made by bakeoff itself
  hint: leave it out
checks/duel.toml: `check[0].method`: \"GET IT\" is not a method
  hint: write it in upper case: \"GET\"
checks/duel.toml: `check[0].headers.Content-Length`: this header is made by bakeoff itself
  hint: leave it out";
    assert_eq!(refused, expect);
}
