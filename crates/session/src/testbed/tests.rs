use std::collections::BTreeMap;
use std::fs;

use bakeoff_model::record::Cores;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_places::place::{Place, Ports};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder;
use tempfile::TempDir;

use super::{Testbed, TestbedOptions};
use crate::tests::fakes::{GOOD, Journal, place};

/// Events of a test bed that is prepared.
#[derive(Default)]
struct Said(Vec<String>);

impl Observer for Said {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.0.extend(match event {
            Event::Swept { removed } => Some(format!("swept {removed}")),
            Event::LimitsUnenforced { why } => Some(format!("no limits: {why}")),
            Event::BackendStarting { name } => Some(format!("starting {name}")),
            Event::BackendReady { name, address } => Some(format!("{name} at {address}")),
            Event::Built { contender, .. } => Some(format!("built {contender}")),
            _ => None,
        });
        Ok(())
    }
}

/// A suite with one contender and these dependencies.
fn folder(dependencies: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let suite = format!(
        r#"
[suite]
name = "fake"
port = 4000
ready-path = "/"

[env]
CACHE = "{{dependency.cache.host}}:{{dependency.cache.port}}"

{dependencies}

[profile.tiny]
describe = "For tests."
runs = 1
limits = {{ cpus = 1.0, memory = "64MiB" }}

[[profile.tiny.step]]
connections = 1
duration = "1s"

[[benchmark]]
name = "item"

[[benchmark.request]]
name = "one"
path = "/"
expect = {{ status = [200] }}
"#
    );
    write("suite.toml", &suite);
    let contender =
        "[contender]\nname = \"one\"\ndescribe = \"One.\"\nlanguage = \"sh\"\nrun = [\"one\"]\n";
    write("contenders/one/contender.toml", contender);
    folder
}

async fn prepared(
    place: Place,
    folder: &TempDir,
    backend: BackendName,
) -> (anyhow::Result<Testbed>, Vec<String>) {
    let options = TestbedOptions {
        runtime: RuntimeKind::Process,
        backend,
        profile: "tiny".to_owned(),
        contenders: vec!["one".to_owned()],
        side_by_side: false,
        cores: Cores::default(),
        seed: 1,
        session: SessionOptions::default(),
        logs: folder.path().join("logs"),
    };
    let suite = suite_folder::read(folder.path()).unwrap();
    let mut said = Said::default();
    let testbed = Testbed::at(place, suite, options, &mut said).await;
    (testbed, said.0)
}

const CACHE: &str = "[[dependency]]\nname = \"cache\"\ncommand = [\"cache\"]\n";

#[tokio::test]
async fn contenders_are_told_where_their_dependencies_are() {
    let folder = folder(CACHE);
    let mut place = place(GOOD, &Journal::default());
    place.unlimited_because = Some("no root".to_owned());
    let (testbed, said) = prepared(place, &folder, BackendName::Dependencies).await;
    let testbed = testbed.unwrap();
    assert_eq!(
        said,
        [
            "no limits: no root",
            "starting cache",
            "cache at 127.0.0.1:5432"
        ]
    );
    let one = testbed.contender("one").unwrap();
    let spec = testbed.start_spec(one, &BTreeMap::new(), Limits::default(), "one");
    let spec = spec.unwrap();
    assert_eq!(spec.env["CACHE"], "127.0.0.1:5432");
    assert_eq!(spec.command, ["one"]);
    let deps = testbed.deps();
    assert_eq!(deps.services.dependencies().len(), 1);
    assert_eq!(deps.services.backend(), None);
    assert!(deps.services.sample().await.is_some());
    testbed.close().await;
}

#[tokio::test]
async fn without_a_backend_nothing_is_started() {
    let folder = folder(CACHE);
    let place = place(GOOD, &Journal::default());
    let (testbed, said) = prepared(place, &folder, BackendName::None).await;
    assert_eq!(said, Vec::<String>::new());
    assert!(testbed.unwrap().deps().services.sample().await.is_none());
}

#[tokio::test]
async fn a_dependency_that_cannot_run_there_is_refused_before_anything_starts() {
    let image = "[[dependency]]\nname = \"store\"\nimage = \"store:1\"\nport = 1\n";
    let folder = folder(&format!("{CACHE}\n{image}"));
    let place = place(GOOD, &Journal::default());
    let (testbed, said) = prepared(place, &folder, BackendName::Dependencies).await;
    let error = testbed.err().unwrap();
    assert_eq!(error.to_string(), "store:1 cannot be started here");
    assert_eq!(said, Vec::<String>::new());
}

#[tokio::test]
async fn a_dependency_that_fails_is_named_and_ends_the_others() {
    let broken = "[[dependency]]\nname = \"broken\"\ncommand = [\"broken\"]\n";
    let folder = folder(&format!("{CACHE}\n{broken}"));
    let journal = Journal::default();
    let (testbed, said) = prepared(place(GOOD, &journal), &folder, BackendName::Dependencies).await;
    let error = format!("{:#}", testbed.err().unwrap());
    assert_eq!(error, "dependency broken does not start: it is broken");
    assert_eq!(said.last().unwrap(), "starting broken");
    assert_eq!(*journal.lock().unwrap(), ["stop backend"]);
}

#[tokio::test]
async fn a_port_of_this_host_that_is_taken_is_found_before_anything_starts() {
    let folder = folder(CACHE);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let file = folder.path().join("suite.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("4000", &port.to_string())).unwrap();
    let mut shared = place(GOOD, &Journal::default());
    shared.ports = Ports::OfThisHost;
    let (testbed, _) = prepared(shared, &folder, BackendName::None).await;
    let error = testbed.err().unwrap().to_string();
    assert!(
        error.contains(&format!("port {port} is already in use")),
        "{error}"
    );
    let apart = place(GOOD, &Journal::default());
    prepared(apart, &folder, BackendName::None).await.0.unwrap();
}
