//! Sessions in a real cluster: `run --runtime kubernetes` from outside, and what goes wrong there.
//! Switched on by `BAKEOFF_TEST_KUBERNETES=1`; `cargo offline cluster start` provides a cluster and
//! prints the variables that name it. One test, because sessions share the nodes' memory and cores,
//! and a drain concerns all of them.

mod protocols;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bakeoff_places::kubernetes::{
    Cluster, ClusterRequest, KubernetesRuntime, NodeImage, Nodes, PodImage,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::contract::{Contract, contender};
use crate::flame;
use crate::world::{Ran, World};

const SWITCH: &str = "BAKEOFF_TEST_KUBERNETES";
/// An engine has the image of PostgreSQL.
const WITH_DOCKER: &str = "BAKEOFF_TEST_DOCKER";
/// How long the cluster may take for anything.
const PATIENCE: Duration = Duration::from_secs(120);

const SUITE: &str = r#"
[suite]
name = "null"
analysis = "Nothing."
port = 8080
ready-path = "/"
lifecycle = false

[profile.tiny]
describe = "As short as it gets."
limits = { cpus = 0.5, memory = "64MiB" }
runs = 1
slice = "500ms"
start-timeout = "30s"
ladder = { warm-up = [2], connections = [3, 8], step = "2s" }

[profile.long]
describe = "Long enough to be disturbed; whole runs, one after the other."
whole-runs = true
limits = { cpus = 0.5, memory = "64MiB" }
runs = 1
slice = "500ms"
start-timeout = "30s"
ladder = { warm-up = [4], connections = [4], step = "6s" }

[[benchmark]]
name = "get"
describe = "Whatever."

[[benchmark.request]]
path = "/"
expect = { status = [200] }
"#;

const CHECKS: &str = "
[[check]]
group = \"get\"
name = \"something\"
path = \"/\"
expect = { status = [200] }
";

/// The name of kubectl here.
fn kubectl(arguments: &str) -> String {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output();
    let output = output.expect("kubectl can be run, or KUBECTL names it");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "kubectl {arguments}: {output:?}");
    said
}

/// Runs `kubectl` until its output is as wanted: the object may not exist yet.
fn await_kubectl(arguments: &str, wanted: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let said = kubectl(arguments);
        if wanted(&said) {
            return said;
        }
        assert!(begun.elapsed() < PATIENCE, "kubectl {arguments}: {said}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// Namespaces of sessions.
fn namespaces() -> Vec<String> {
    let names = kubectl("get namespaces -l bakeoff.session -o name");
    let plain = names
        .lines()
        .map(|name| name.trim_start_matches("namespace/").to_owned());
    plain.collect()
}

/// The namespace of the session that runs, without that of its meters.
fn session() -> String {
    let mut found = namespaces()
        .into_iter()
        .filter(|name| !name.ends_with("-meter"));
    found.next().expect("a session runs")
}

/// Pods of a part, by name.
fn pods(part: &str) -> Vec<String> {
    let namespace = session();
    let names = kubectl(&format!(
        "-n {namespace} get pods -l bakeoff.part={part} -o name"
    ));
    names.lines().map(str::to_owned).collect()
}

/// A suite of servers that do nothing; its image is loaded into the nodes.
fn world(names: &[&str]) -> World {
    let world = World::new(&[]);
    world.write("suite.toml", SUITE);
    world.write("checks/all.toml", CHECKS);
    let image = bakeoff_image();
    for name in names {
        let text = format!(
            "[contender]\nname = \"{name}\"\ndescribe = \"Does nothing.\"\nlanguage = \"rust\"\n\
             [image]\nname = \"{image}\"\n\
             arguments = [\"null-server\", \"--listen\", \"0.0.0.0:8080\"]\n"
        );
        world.write(&format!("contenders/{name}/contender.toml"), &text);
    }
    world
}

/// The program for Pods: the user's, or that of the tests without its symbols. These are two
/// thirds of its bytes, and each session loads it into the nodes.
fn pod_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(own) = std::env::var_os("BAKEOFF_POD_PROGRAM") {
            return own.into();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_bakeoff"));
        let stripped = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bakeoff");
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(&stripped).arg(program);
        match strip.status() {
            Ok(status) if status.success() => stripped,
            _ => program.to_owned(),
        }
    })
}

/// The name of bakeoff's image, which is loaded once.
fn bakeoff_image() -> &'static str {
    static IMAGE: OnceLock<String> = OnceLock::new();
    IMAGE.get_or_init(|| image(pod_program(), None, TempDir::new().unwrap().path()))
}

/// Loads a program as a separate image, with the files of a folder in `/recordings`, and returns
/// the image's name.
fn image(program: &Path, files: Option<&Path>, folder: &Path) -> String {
    let loader = std::env::var("BAKEOFF_IMAGE_LOADER");
    let loader = loader.expect("BAKEOFF_IMAGE_LOADER loads an archive into the nodes");
    let image = PodImage::of_program(program, files, folder).unwrap();
    image.load(&loader).unwrap();
    fs::remove_file(&image.archive).unwrap();
    image.reference
}

fn in_cluster(arguments: &str) -> String {
    let program = pod_program().display();
    format!("run SUITE --runtime kubernetes --pod-program {program} {arguments}")
}

fn run(world: &World, arguments: &str) -> Ran {
    world.run(&in_cluster(arguments))
}

/// Starts a session and lets it go on until a step of load is under way.
fn until_loaded(world: &World, arguments: &str) -> Child {
    let mut command = world.command(&in_cluster(&format!("--json {arguments}")));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let came = lines.any(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        event["event"] == "step-began"
    });
    assert!(came, "the session ended before it loaded anything");
    std::thread::spawn(move || lines.for_each(drop));
    std::thread::sleep(Duration::from_secs(1));
    child
}

/// The records of the runs in a results folder, one run after the other.
fn records(world: &World, out: &str) -> Vec<Value> {
    let folder = world.out().parent().unwrap().join(out).join("records");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let text: String = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn of_kind<'r>(records: &'r [Value], kind: &'r str) -> impl Iterator<Item = &'r Value> {
    records
        .iter()
        .filter(move |record| record["record"] == kind)
}

/// All texts of what ended runs.
fn ends(records: &[Value]) -> String {
    of_kind(records, "end")
        .map(|end| format!("{end}\n"))
        .collect()
}

fn sum(values: impl Iterator<Item = Option<u64>>) -> u64 {
    values.map(|value| value.unwrap_or(0)).sum()
}

/// Requests that had a response, well or not, and those that never had a whole one.
fn sent(records: &[Value]) -> u64 {
    let number = |slice: &Value, path: &str| slice.pointer(path).and_then(Value::as_u64);
    let failed = |slice: &Value| {
        let classes = slice["load"]["errors"].as_object();
        sum(classes
            .into_iter()
            .flatten()
            .map(|(_, class)| class["count"].as_u64()))
    };
    let slices = || of_kind(records, "interval");
    let unanswered = |slice: &Value| {
        let names = slice["load"]["unanswered"].as_object();
        sum(names
            .into_iter()
            .flatten()
            .map(|(_, one)| one["count"].as_u64().or(one.as_u64())))
    };
    sum(slices().map(|slice| number(slice, "/load/requests")))
        + sum(slices().map(|slice| Some(failed(slice) + unanswered(slice))))
}

/// The contender's output when it was stopped.
fn counted(world: &World, out: &str) -> u64 {
    let folder = world.out().parent().unwrap().join(out).join("logs");
    let mut files = fs::read_dir(folder).unwrap();
    let text = fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
    let line = text.lines().find_map(|line| line.strip_suffix(" requests"));
    line.unwrap_or_else(|| panic!("no count in {text:?}"))
        .parse()
        .unwrap()
}

#[test]
fn sessions_in_a_cluster() {
    if std::env::var_os(SWITCH).is_none() {
        #[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
        {
            eprintln!("SKIPPED sessions in a Kubernetes cluster: set {SWITCH}=1");
        }
        return;
    }
    pods_keep_the_contract();
    two_load_generators_send_what_the_service_counts();
    a_lost_load_generator_is_named_and_the_next_run_has_another();
    a_contender_that_is_deleted_fails_its_run_alone();
    a_killed_session_is_swept_and_resumed();
    what_cannot_start_is_a_sentence();
    a_quota_that_refuses_is_a_sentence();
    without_meters_on_the_nodes_one_is_in_each_pod();
    a_pod_of_this_host_is_sampled();
    a_deployment_is_compared_with_an_image();
    protocols::contenders_speak_tls();
    protocols::contenders_speak_grpc();
    pods_take_turns();
    a_drained_node_is_a_sentence();
    a_postgresql_in_a_pod_has_a_database_of_each_contender();
    a_dependency_in_a_pod_is_filled_through_the_api_server();
    assert_eq!(namespaces(), Vec::<String>::new());
}

fn pods_keep_the_contract() {
    let folder = TempDir::new().unwrap();
    let image = NodeImage::loaded(image(&contender(), None, folder.path()));
    let executor = tokio::runtime::Runtime::new().unwrap();
    executor.block_on(async {
        let cluster = Cluster::find(None).await.unwrap();
        let nodes = Nodes::spread(&cluster.nodes().await.unwrap()).unwrap();
        let runtime = KubernetesRuntime::begin(ClusterRequest {
            cluster,
            namespace: None,
            nodes,
            load_pods: 1,
            image: NodeImage::loaded(bakeoff_image().to_owned()),
        });
        let contract = Contract {
            runtime: Arc::new(runtime.await.unwrap()),
            image: Some(image.in_spec()),
            program: None,
            port: 8080,
            folder,
        };
        contract.holds().await;
    });
    assert_eq!(namespaces(), Vec::<String>::new());
}

fn two_load_generators_send_what_the_service_counts() {
    let world = world(&["null"]);
    let ran = run(&world, "--profile tiny --load-pods 2 --out out");
    ran.check(0, &["in the cluster", "checks 1/1", "report: "]);
    let records = records(&world, "out");
    let begin = of_kind(&records, "begin").next().unwrap();
    assert_eq!(begin["nodes"]["generators"].as_array().unwrap().len(), 2);
    assert_eq!(begin["enforcement"], "kubernetes");
    for fleet in of_kind(&records, "fleet") {
        let skew_ns = fleet["start_skew_ns"].as_u64().unwrap();
        assert!(skew_ns < 50_000_000, "{fleet}");
        let parts = fleet["parts"].as_array().unwrap();
        let of_parts = sum(parts.iter().map(|part| part["requests"].as_u64()));
        let of_step =
            of_kind(&records, "interval").filter(|slice| slice["load"]["step"] == fleet["step"]);
        let of_step = sum(of_step.map(|slice| slice["load"]["requests"].as_u64()));
        assert_eq!(of_parts, of_step, "{fleet}");
    }
    // In addition to the load: the response that says it is ready, the check, and the same after
    // the load.
    assert_eq!(counted(&world, "out"), sent(&records) + 3);
    assert_eq!(namespaces(), Vec::<String>::new());
}

fn a_lost_load_generator_is_named_and_the_next_run_has_another() {
    lost_under_load(
        "generator",
        "--grace-period=1 --wait=false",
        "the way to it was cut",
    );
}

fn a_contender_that_is_deleted_fails_its_run_alone() {
    lost_under_load("contender", "--grace-period=0 --force", "it was deleted");
}

/// The run whose Pod is deleted fails with a sentence, and the next one is made.
fn lost_under_load(part: &str, how: &str, sentence: &str) {
    let world = world(&["first", "second"]);
    let mut child = until_loaded(&world, "--profile long --out out");
    let pod = pods(part).pop().unwrap();
    kubectl(&format!("-n {} delete {how} {pod}", session()));
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let ends = ends(&records(&world, "out"));
    assert!(ends.contains(sentence), "{ends}");
    assert_eq!(ends.matches("completed").count(), 1, "{ends}");
}

fn a_killed_session_is_swept_and_resumed() {
    let world = world(&["null"]);
    let mut child = until_loaded(&world, "--profile long --out out");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(namespaces().len(), 2);
    let resumed = run(&world, "--resume out");
    resumed.check(0, &["swept: namespace bakeoff-", "attempt 2", "report: "]);
    assert_eq!(namespaces(), Vec::<String>::new());
}

fn what_cannot_start_is_a_sentence() {
    let world = world(&["null"]);
    let text = "[contender]\nname = \"absent\"\ndescribe = \"Is not there.\"\nlanguage = \"none\"\n\
                [image]\nname = \"bakeoff.local/absent:1\"\n";
    world.write("contenders/absent/contender.toml", text);
    let ran = run(&world, "--profile tiny --out out");
    ran.check(2, &["ErrImagePull"]);
    let ends = ends(&records(&world, "out"));
    assert_eq!(ends.matches("completed").count(), 1, "{ends}");
}

fn a_pod_of_this_host_is_sampled() {
    let world = world(&["null"]);
    let run = in_cluster("--profile tiny --profile-cpu --out OUT");
    let ran = Ran::from(flame::command(&world, flame::PERF, &run).output().unwrap());
    ran.check(0, &["flame/get.null.flame.svg: 3 samples by perf"]);
}

fn pods_take_turns() {
    let world = world(&["first", "second", "third"]);
    let ran = run(&world, "--profile tiny --out out");
    ran.check(
        0,
        &[
            "turns: 3 contenders alive concurrently on one node",
            "report: ",
        ],
    );
    let records = records(&world, "out");
    let mut measured = 0;
    for slice in of_kind(&records, "interval").filter(|slice| slice["warm_up"] != true) {
        let number = |path: &str| slice.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let used = |moment: &str| {
            let of_kind = |kind: &str| number(&format!("/contender_{moment}/cpu/{kind}_ns"));
            of_kind("user") + of_kind("system")
        };
        if slice.get("latency_rate_per_s").is_none() {
            assert!(
                !slice["load"]["turns"].as_array().unwrap().is_empty(),
                "{slice}"
            );
            assert!(used("after") > used("before"), "{slice}");
            measured += 1;
        }
    }
    assert!(measured >= 3, "{measured}");
    let results = fs::read_to_string(world.out().with_file_name("out").join("results.csv"));
    let results = results.unwrap();
    let mut rows = results
        .lines()
        .map(|row| row.split(',').collect::<Vec<&str>>());
    let columns = rows.next().unwrap();
    let column = columns
        .iter()
        .position(|name| *name == "cpu_us_per_request");
    let column = column.unwrap_or_else(|| panic!("{columns:?}"));
    for row in rows {
        assert_ne!(row[column], "", "{row:?}");
    }
    let text = world.read("out/results.md");
    assert!(text.contains("While others had the open load"), "{text}");
    assert_eq!(namespaces(), Vec::<String>::new());
}

/// A Deployment without Pods, in a namespace that it shares with its settings.
fn deployment(image: &str) -> String {
    let container = format!(
        r#"{{"name": "app", "image": "{image}", "command": ["/bakeoff"],
             "args": ["null-server", "--listen", "0.0.0.0:$(WEB_PORT)"],
             "envFrom": [{{"configMapRef": {{"name": "settings"}}, "prefix": "WEB_"}}],
             "env": [{{"name": "KEY", "valueFrom":
                 {{"secretKeyRef": {{"name": "keys", "key": "key"}}}}}}],
             "ports": [{{"containerPort": 8090}}],
             "resources": {{"limits": {{"cpu": "500m", "memory": "64Mi"}}}}}}"#
    );
    format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [
            {{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "settings"}},
              "data": {{"PORT": "8090"}}}},
            {{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "web"}},
              "spec": {{"replicas": 0, "selector": {{"matchLabels": {{"app": "web"}}}},
                "template": {{"metadata": {{"labels": {{"app": "web"}}}},
                  "spec": {{"containers": [{container}]}}}}}}}}]}}"#
    )
}

fn a_deployment_is_compared_with_an_image() {
    let world = World::new(&[]);
    let image = bakeoff_image();
    let manifest = world.path().join("deployment.json");
    fs::write(&manifest, deployment(image)).unwrap();
    kubectl("create namespace bakeoff-shop");
    kubectl(&format!("-n bakeoff-shop apply -f {}", manifest.display()));
    let saved = world.out().with_file_name("saved");
    let duel = format!(
        "duel live=deployment:bakeoff-shop/web next=image:{image} --get / --runs 2 --duration 1s \
         --warm-up 1s --connections 4 --pod-program {} --out OUT --save {}",
        pod_program().display(),
        saved.display()
    );
    world.run(&duel).check(
        1,
        &["the Secret keys has the value of KEY", "--env KEY=VALUE"],
    );
    world.run(&format!("{duel} --env KEY=test")).check(
        0,
        &[
            "note: next gets the environment and the arguments of live",
            "report: ",
        ],
    );
    let suite = fs::read_to_string(saved.join("suite.toml")).unwrap();
    assert!(suite.contains("port = 8090"), "{suite}");
    assert!(suite.contains("cpus = 0.5"), "{suite}");
    for name in ["live", "next"] {
        let path = saved.join(format!("contenders/{name}/contender.toml"));
        let contender = fs::read_to_string(path).unwrap();
        assert!(
            contender.contains("entrypoint = [\"/bakeoff\"]"),
            "{contender}"
        );
        assert!(contender.contains("WEB_PORT = \"8090\""), "{contender}");
    }
    let generation = "-n bakeoff-shop get deployment web -o jsonpath={.metadata.generation}";
    assert_eq!(kubectl(generation), "1");
    kubectl("delete namespace bakeoff-shop");
    assert_eq!(namespaces(), Vec::<String>::new());
}

fn a_quota_that_refuses_is_a_sentence() {
    let world = world(&["null"]);
    let manifest = world.run("kubernetes manifest --namespace bakeoff-test");
    let file = world.path().join("manifest.yaml");
    fs::write(&file, &manifest.stdout).unwrap();
    kubectl(&format!("apply -f {}", file.display()));
    // The load generator and a backend that this suite does not have, and no contender.
    kubectl("-n bakeoff-test create quota small --hard=pods=1");
    let ran = run(
        &world,
        "--profile tiny --cluster-namespace bakeoff-test --out out",
    );
    ran.check(2, &["exceeded quota: small"]);
    kubectl("-n bakeoff-test delete quota small");
    let again = run(
        &world,
        "--profile tiny --cluster-namespace bakeoff-test --out again",
    );
    again.check(0, &["report: "]);
    let left = kubectl("-n bakeoff-test get pods,jobs -o name");
    assert_eq!(left, "");
    kubectl(&format!("delete -f {}", file.display()));
}

fn without_meters_on_the_nodes_one_is_in_each_pod() {
    let world = world(&["null"]);
    let namespace = "bakeoff-restricted";
    kubectl(&format!("create namespace {namespace}"));
    kubectl(&format!(
        "label namespace {namespace} pod-security.kubernetes.io/enforce=restricted"
    ));
    let ran = run(
        &world,
        &format!("--profile tiny --cluster-namespace {namespace} --out out"),
    );
    ran.check(0, &["checks 1/1", "report: "]);
    let records = records(&world, "out");
    let begin = of_kind(&records, "begin").next().unwrap();
    let meter = begin["host"]["versions"]["meter"].as_str().unwrap();
    assert_eq!(meter, "sidecar");
    for slice in of_kind(&records, "interval") {
        let number = |path: &str| slice.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let spent = |moment: &str| {
            let of_kind = |kind: &str| number(&format!("/contender_{moment}/cpu/{kind}_ns"));
            of_kind("user") + of_kind("system")
        };
        let wall = number("/contender_after/at_ns") - number("/contender_before/at_ns");
        // The limit is half of a core; a period more fits into any moment.
        let share = (spent("after") - spent("before")) * 100 / wall;
        assert!((1..=70).contains(&share), "{slice}");
        let memory = number("/contender_after/memory/now_bytes");
        assert!((1 << 16..1 << 26).contains(&memory), "{slice}");
    }
    let left = kubectl(&format!("-n {namespace} get pods,jobs -o name"));
    assert_eq!(left, "");
    kubectl(&format!("delete namespace {namespace}"));
}

fn a_drained_node_is_a_sentence() {
    let world = world(&["first", "second"]);
    let mut child = until_loaded(&world, "--profile long --out out");
    let records_before = records(&world, "out");
    let begin = of_kind(&records_before, "begin").next().unwrap();
    let node = begin["nodes"]["contender"].as_str().unwrap().to_owned();
    kubectl(&format!(
        "drain {node} --force --ignore-daemonsets --delete-emptydir-data"
    ));
    let status = child.wait().unwrap().code();
    kubectl(&format!("uncordon {node}"));
    assert_eq!(status, Some(2));
    let ends = ends(&records(&world, "out"));
    assert!(ends.contains(&format!("on node {node}")), "{ends}");
    assert!(ends.contains("no node takes the Pod"), "{ends}");
    await_kubectl("get nodes", |nodes| !nodes.contains("SchedulingDisabled"));
}

fn a_postgresql_in_a_pod_has_a_database_of_each_contender() {
    if std::env::var_os(WITH_DOCKER).is_none() {
        #[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
        {
            eprintln!("SKIPPED PostgreSQL as a Pod: set {WITH_DOCKER}=1");
        }
        return;
    }
    let world = world(&["null"]);
    let backend = "default-backend = \"postgres\"\n\n[[backend]]\nname = \"postgres\"\n\
                   data = \"data\"\n\n[profile.tiny]";
    world.write("suite.toml", &SUITE.replacen("[profile.tiny]", backend, 1));
    // A contender with the wrong database, or none, would not find this.
    let schema = "CREATE TABLE named AS SELECT current_user AS owner;";
    world.write("data/schema.sql", schema);
    let mut child = until_loaded(&world, "--profile long --out out");
    let namespace = session();
    let postgres = pods("backend").pop().unwrap();
    let query = "SELECT/**/owner/**/FROM/**/named";
    let owner = kubectl(&format!(
        "-n {namespace} exec {postgres} -- psql -h /tmp -U postgres -d bakeoff_null -tAc {query}"
    ));
    assert_eq!(owner.trim(), "bakeoff");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let records = records(&world, "out");
    let begin = of_kind(&records, "begin").next().unwrap();
    let version = begin["host"]["versions"]["postgres"].as_str();
    assert!(version.is_some(), "{begin}");
    assert_eq!(namespaces(), Vec::<String>::new());
}

/// The setup is a program of this host, which need not reach addresses of Pods.
fn a_dependency_in_a_pod_is_filled_through_the_api_server() {
    let world = world(&["null"]);
    let asking = "exec 3<>/dev/tcp/$DEPENDENCY_HOST/$DEPENDENCY_PORT; \
                  printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; head -1 <&3 >>notes";
    let dependency = format!(
        "[env]\nCACHE = \"{{dependency.cache.host}}:{{dependency.cache.port}}\"\n\n\
         [[dependency]]\nname = \"cache\"\nimage = \"{}\"\nport = 4000\n\
         command = [\"null-server\", \"--listen\", \"0.0.0.0:4000\"]\n\
         setup = [\"bash\", \"-c\", \"\"\"{asking}\"\"\"]\n\
         reset = [\"sh\", \"-c\", \"echo reset >>notes\"]\n\n[profile.tiny]",
        bakeoff_image()
    );
    world.write(
        "suite.toml",
        &SUITE.replacen("[profile.tiny]", &dependency, 1),
    );
    let mut child = until_loaded(&world, "--profile long --out out");
    let namespace = session();
    let (cache, null) = (pods("dependency").pop(), pods("contender").pop());
    let of = |pod: Option<String>, path: &str| {
        let pod = pod.unwrap();
        kubectl(&format!("-n {namespace} get {pod} -o jsonpath={{{path}}}"))
    };
    let address = of(cache, ".status.podIP");
    let told = of(null, ".spec.containers[0].env[?(@.name==\"CACHE\")].value");
    assert_eq!(told, format!("{address}:4000"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let notes = world.read("suite/notes");
    assert!(notes.starts_with("HTTP/1.1 200 OK"), "{notes}");
    assert!(notes.contains("reset"), "{notes}");
    let records = records(&world, "out");
    let begin = of_kind(&records, "begin").next().unwrap();
    assert!(begin["nodes"]["backend"].is_string(), "{begin}");
    let cpu = of_kind(&records, "interval").map(|slice| &slice["backend_after"]["cpu"]);
    assert!(cpu.last().unwrap().is_object(), "{records:?}");
    assert_eq!(namespaces(), Vec::<String>::new());
}
