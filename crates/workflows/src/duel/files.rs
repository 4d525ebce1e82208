//! The suite of a duel as files, so that it can be read, kept, changed and run again.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use bakeoff_grpc::Schema;
use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::suite::volume::Volume;
use bakeoff_model::text::diagnostic::SourceFile;
use bakeoff_session::grpc;
use bakeoff_session::store::suite_folder::{self, SuiteFolder};
use serde_json::{Map, Value, json};

use crate::duel::definition::{
    Duel, DuelRequest, DuelRuns, DuelService, DuelWarmUp, NAME, ServiceSource,
};

/// Where a suite keeps its checks.
const CHECKS: &str = "checks/duel.toml";

/// Where a suite keeps the descriptors of its messages.
const MESSAGES: &str = "messages.binpb";

/// The files of a suite.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SuiteText {
    pub(crate) suite: String,
    checks: String,
    /// Name of each contender with its file.
    contenders: Vec<(String, String)>,
    /// The messages of calls of gRPC.
    grpc: Option<Schema>,
}

/// The suite of a duel whose sides must all respond to each request like this. `no_turns` says why
/// they are measured in whole runs, where they are.
pub(super) fn suite(
    duel: &Duel,
    runtime: RuntimeKind,
    expect: &[Value],
    no_turns: Option<&str>,
) -> SuiteText {
    let contenders = duel.sides.iter();
    SuiteText {
        suite: suite_file(duel, runtime, expect, no_turns),
        checks: checks_file(duel, expect),
        contenders: contenders
            .map(|side| (side.name.clone(), contender_file(side, &duel.workdir)))
            .collect(),
        grpc: duel.grpc.clone(),
    }
}

/// The suite as it is understood. `path` stands for its folder, of which nothing is read.
pub(super) fn parsed(text: &SuiteText, path: &Path) -> anyhow::Result<SuiteFolder> {
    let file = |path: String, text: &String| SourceFile {
        path,
        text: text.clone(),
    };
    let contenders = text.contenders.iter();
    let sources = SuiteSources {
        suite: file("suite.toml".to_owned(), &text.suite),
        checks: vec![file(CHECKS.to_owned(), &text.checks)],
        contenders: contenders
            .map(|(name, text)| (name.clone(), file(contender_path(name), text)))
            .collect(),
        published: None,
    };
    match parse::suite(&sources) {
        Ok(mut suite) => {
            if let Some(schema) = &text.grpc {
                grpc::fill(&mut suite, schema)?;
            }
            Ok(SuiteFolder {
                path: path.to_owned(),
                suite,
                base: None,
            })
        }
        Err(mistakes) => {
            let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            bail!("no suite can be made of this:\n{}", mistakes.join("\n"))
        }
    }
}

/// Writes the files.
pub(crate) fn write(text: &SuiteText, folder: &Path) -> anyhow::Result<()> {
    let contenders = text.contenders.iter();
    let descriptors = text.grpc.as_ref().map(Schema::descriptors);
    let mut files: Vec<(String, &[u8])> = contenders
        .map(|(name, text)| (contender_path(name), text.as_bytes()))
        .collect();
    files.push((CHECKS.to_owned(), text.checks.as_bytes()));
    files.push(("suite.toml".to_owned(), text.suite.as_bytes()));
    if let Some(descriptors) = &descriptors {
        files.push((MESSAGES.to_owned(), descriptors));
    }
    suite_folder::write(folder, &files)
}

fn contender_path(name: &str) -> String {
    format!("contenders/{name}/contender.toml")
}

fn suite_file(
    duel: &Duel,
    runtime: RuntimeKind,
    expect: &[Value],
    no_turns: Option<&str>,
) -> String {
    let words = duel.asked();
    let names: Vec<String> = duel
        .sides
        .iter()
        .map(|side| format!("`{}`", side.name))
        .collect();
    let no_turns_text = no_turns.map(|why| format!(" {why}.")).unwrap_or_default();
    let analysis = format!(
        "Written by `bakeoff duel`: {} are asked `{words}` over {} connections.{no_turns_text}",
        names.join(", "),
        duel.connections
    );
    let requests = requests(duel, expect).map(|(request, mut table)| {
        if request.weight != 1 {
            table.insert("weight".to_owned(), json!(request.weight));
        }
        if request.name != format!("{} {}", request.method, request.path) {
            table.insert("name".to_owned(), json!(request.name));
        }
        table
    });
    let requests: Vec<Map<String, Value>> = requests.collect();
    let mut env = duel.env.clone();
    if runtime != RuntimeKind::External {
        env.entry("PORT".to_owned())
            .or_insert_with(|| duel.port().to_string());
    }
    let dependencies = duel.dependencies.iter().map(dependency_table);
    let dependencies: Vec<Value> = dependencies.collect();
    let mut file = json!({
        "suite": {
            "name": NAME,
            "analysis": analysis,
            "port": duel.port(),
            "ready-path": duel.ready_path,
            "logs-requests": false,
            "lifecycle": false,
        },
        "env": env,
        "profile": {
            NAME: profile(duel, no_turns.is_some()),
        },
        "benchmark": [{
            "name": NAME,
            "describe": words,
            "request": requests,
        }],
    });
    if duel.grpc.is_some() {
        file["suite"]["grpc"] = json!({ "files": [MESSAGES] });
    }
    if let Some(path) = &duel.scrape {
        file["metrics"] = json!({ "scrape": path });
    }
    if !dependencies.is_empty() {
        file["dependency"] = json!(dependencies);
    }
    let text = toml_text(&file);
    let again = match runtime {
        RuntimeKind::Process => String::new(),
        other => format!(" --runtime {other}"),
    };
    format!("# Run it again: bakeoff run FOLDER --profile {NAME}{again}\n\n{text}")
}

/// The table of a dependency of a compose file.
pub(crate) fn dependency_table(dependency: &Dependency) -> Value {
    let mut table = Map::new();
    let mut insert = |key: &str, value: Value| {
        table.insert(key.to_owned(), value);
    };
    insert("name", json!(dependency.name));
    if let Some(image) = &dependency.image {
        insert("image", json!(image));
    }
    if !dependency.command.is_empty() {
        insert("command", json!(dependency.command));
    }
    if let Some(port) = dependency.port {
        insert("port", json!(port));
    }
    if !dependency.volumes.is_empty() {
        insert("volumes", json!(texts(&dependency.volumes)));
    }
    if !dependency.env.is_empty() {
        insert("env", json!(dependency.env));
    }
    Value::Object(table)
}

fn texts(volumes: &[Volume]) -> Vec<String> {
    volumes.iter().map(ToString::to_string).collect()
}

/// The profile: a warm-up and a measured step.
fn profile(duel: &Duel, in_whole_runs: bool) -> Value {
    let step = |duration: Duration, warm_up: bool| {
        json!({
            "connections": duel.connections,
            "duration": duration_text(duration),
            "warm-up": warm_up,
        })
    };
    let warm_up = match duel.warm_up {
        DuelWarmUp::Skipped => None,
        DuelWarmUp::For(time) => Some(time),
        DuelWarmUp::UntilWarm => Some(WARM_AT_MOST),
    };
    let mut steps: Vec<Value> = warm_up.map(|time| step(time, true)).into_iter().collect();
    steps.push(step(duel.duration, false));
    let mut profile = json!({
        "describe": "One number of connections after a warm-up.",
        "whole-runs": in_whole_runs,
        "limits": limits(duel),
        "slice": "500ms",
        "runs": runs(duel.runs),
        "control": duel.control,
        "step": steps,
    });
    if !duel.latency {
        profile["latency"] = json!(false);
    }
    if duel.warm_up == DuelWarmUp::UntilWarm {
        profile["warm-up"] = json!({
            "until": "steady",
            "at-least": duration_text(WARM_AT_LEAST),
            "at-most": duration_text(WARM_AT_MOST),
        });
    }
    profile
}

/// A warm-up until every service is warm takes this long at least and at most.
const WARM_AT_LEAST: Duration = Duration::from_millis(500);
const WARM_AT_MOST: Duration = Duration::from_secs(10);

/// More sets than this are not made, however short they are.
const SETS_MAX: u32 = 60;

fn runs(runs: DuelRuns) -> Value {
    match runs {
        DuelRuns::Fixed(runs) => json!(runs),
        DuelRuns::Within(within) => json!({
            "until": "sure",
            "within": duration_text(within),
            "at-most": SETS_MAX,
        }),
    }
}

fn limits(duel: &Duel) -> Value {
    let mut limits = Map::new();
    if let Some(cpus) = duel.limits.cpus {
        limits.insert("cpus".to_owned(), json!(cpus));
    }
    if let Some(bytes) = duel.limits.memory_bytes {
        limits.insert("memory".to_owned(), json!(size_text(bytes)));
    }
    Value::Object(limits)
}

/// Each request with its table, in which stands what must come back.
fn requests<'d>(
    duel: &'d Duel,
    expect: &'d [Value],
) -> impl Iterator<Item = (&'d DuelRequest, Map<String, Value>)> {
    let both = duel.requests.iter().zip(expect);
    both.map(|(request, expect)| {
        let mut table = table(request);
        table.insert("expect".to_owned(), expect.clone());
        (request, table)
    })
}

fn table(request: &DuelRequest) -> Map<String, Value> {
    let headers = request.headers.iter();
    let headers: Map<String, Value> = headers
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let mut table = Map::new();
    table.insert("method".to_owned(), json!(request.method));
    table.insert("path".to_owned(), json!(request.path));
    if !request.body.is_empty() {
        table.insert("body".to_owned(), json!(request.body));
    }
    if !headers.is_empty() {
        table.insert("headers".to_owned(), Value::Object(headers));
    }
    table
}

fn checks_file(duel: &Duel, expect: &[Value]) -> String {
    let checks = requests(duel, expect).map(|(request, mut check)| {
        check.insert("group".to_owned(), json!(NAME));
        check.insert("name".to_owned(), json!(request.name));
        check
    });
    toml_text(&json!({ "check": checks.collect::<Vec<_>>() }))
}

pub(crate) fn contender_file(side: &DuelService, workdir: &Path) -> String {
    let mut contender = Map::new();
    contender.insert("name".to_owned(), json!(side.name));
    contender.insert("describe".to_owned(), json!(side.text));
    let mut file = Map::new();
    match &side.service {
        ServiceSource::Command(words) => {
            contender.insert("run".to_owned(), json!(words));
            let workdir = side.workdir.as_deref().unwrap_or(workdir);
            contender.insert("workdir".to_owned(), json!(workdir));
        }
        ServiceSource::Image(image) => {
            let mut table = json!({ "name": image.reference });
            if !image.entrypoint.is_empty() {
                table["entrypoint"] = json!(image.entrypoint);
            }
            if !image.arguments.is_empty() {
                table["arguments"] = json!(image.arguments);
            }
            if !image.volumes.is_empty() {
                table["volumes"] = json!(texts(&image.volumes));
            }
            file.insert("image".to_owned(), table);
            if !image.env.is_empty() {
                file.insert("env".to_owned(), json!(image.env));
            }
        }
        // One that was not looked up is nothing that can be started, and the parser says so.
        ServiceSource::Compose(_) | ServiceSource::Deployment(_) => {}
        ServiceSource::Url(url) => {
            contender.insert("url".to_owned(), json!(url.to_string()));
        }
    }
    file.insert("contender".to_owned(), Value::Object(contender));
    toml_text(&Value::Object(file))
}

pub(crate) fn toml_text(value: &Value) -> String {
    toml::to_string(value).expect("tables of texts and numbers without null are TOML")
}

/// A duration as suite files write it.
pub(crate) fn duration_text(duration: Duration) -> String {
    let ns = duration.as_nanos();
    match (ns % 1_000_000_000, ns % 1_000_000) {
        (0, _) => format!("{}s", ns / 1_000_000_000),
        (_, 0) => format!("{}ms", ns / 1_000_000),
        _ => format!("{ns}ns"),
    }
}

/// A size as suite files write it.
fn size_text(bytes: u64) -> String {
    match bytes % (1 << 20) {
        0 => format!("{}MiB", bytes >> 20),
        _ => format!("{bytes}B"),
    }
}
