//! A first suite: from a commented template, after another suite's example, or from a description
//! or a recording of a service.

pub mod like;
#[cfg(target_os = "linux")]
pub mod outside;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_import::{Described, Operation, RequestSource};
use bakeoff_model::parse::files::{
    self, BenchmarkTable, CheckTable, DependencyTable, ProtocolName, RequestTable, TransportTable,
};
use bakeoff_model::request::check::Expect;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_store::suite_folder;
use serde_json::json;

use crate::service::DuelService;
use crate::service::near_paths::near;
use crate::service::tables::{check, contender, dependency, request};

const SUITE: &str = include_str!("template/suite.toml");
const CONTENDER: &str = include_str!("template/contender.toml");
const SERVER: &str = include_str!("template/server.py");

/// The files that have requests.
const SUITE_FILE: &str = "suite.toml";
const CHECKS_FILE: &str = "checks/all.toml";
/// The method that is not written down.
const GET: &str = "GET";

/// The two services of the template: name and mode, and what they are.
const EXAMPLES: [(&str, &str); 2] = [
    (
        "threads",
        "Python's http.server, a thread for each connection",
    ),
    (
        "asyncio",
        "Python's asyncio, one thread for all connections",
    ),
];

/// The parts of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Init {
    /// The services; the examples of the template without any.
    pub sides: Vec<DuelService>,
    /// The services that contenders depend on.
    pub dependencies: Vec<Dependency>,
    /// Where the rest comes from.
    pub origin: Origin,
    /// The port on which all contenders listen.
    pub port: u16,
    /// The path asked until the first valid response (200, 404 or a redirect).
    pub ready_path: String,
    /// Whether requests have credentials, so that only the user may read them.
    pub is_private: bool,
}

/// The origin of a suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// A request that the examples respond to.
    Template,
    /// A description or a recording.
    Described(Described),
    /// The suite `locations`.
    Locations,
}

/// Writes the files of a suite into a folder that has none, and reads them as any suite is read.
///
/// # Errors
/// The folder holds a suite already, cannot be written, or there is nothing to ask.
pub fn write(init: &Init, folder: &Path) -> anyhow::Result<()> {
    if folder.join(SUITE_FILE).exists() {
        return Err(hinted(
            format_args!("{}: holds a suite already", folder.display()),
            "name another folder",
        ));
    }
    let workdir = std::env::current_dir().context("this folder is gone")?;
    let (sides, dependencies) = near(folder, &workdir, &init.sides, &init.dependencies);
    let init = &Init {
        sides,
        dependencies,
        ..init.clone()
    };
    let files = match &init.origin {
        Origin::Template => template_files(init, folder),
        Origin::Described(described) => described_files(init, described, folder, &workdir)?,
        Origin::Locations => like::files(folder, &init.sides, &workdir),
    };
    // What is refused leaves nothing behind, so that the next try finds no suite there.
    let made = Made::of(folder, &files);
    let private = match init.is_private {
        true => [SUITE_FILE, CHECKS_FILE].map(str::to_owned).into(),
        false => BTreeSet::new(),
    };
    let read =
        suite_folder::write(folder, &files, &private).and_then(|()| suite_folder::read(folder));
    read.map(drop).inspect_err(|_| made.remove())
}

/// The files and folders that a suite adds to what is there already.
struct Made {
    files: Vec<PathBuf>,
    /// Folders, each after those in which it is.
    folders: Vec<PathBuf>,
}

impl Made {
    fn of(folder: &Path, files: &[(String, Vec<u8>)]) -> Self {
        let files: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        let parents = files.iter().flat_map(|file| file.ancestors().skip(1));
        let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let folders: BTreeSet<PathBuf> = parents.filter(is_new).map(Path::to_owned).collect();
        Self {
            files: files.into_iter().filter(|file| !file.exists()).collect(),
            folders: folders.into_iter().collect(),
        }
    }

    /// Removes them as far as possible: the reason for it is more important than what remains.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The services of the template, and the one thing that they are asked.
fn template_files(init: &Init, folder: &Path) -> Vec<(String, Vec<u8>)> {
    let hello = Operation {
        name: "GET /hello".to_owned(),
        method: GET.to_owned(),
        path: "/hello".to_owned(),
        weight: 1,
        statuses: vec![200],
        is_json: true,
        keys: vec!["message".to_owned()],
        ..Operation::default()
    };
    let analysis = "Two ways to serve connections in Python. Replace them by services of your own.";
    let asked = from_ref(&hello);
    let mut files = vec![
        suite_file(
            init,
            asked,
            folder,
            [analysis, "Every request, equally often."],
        ),
        checks_file(asked, ""),
    ];
    for (name, describe) in EXAMPLES {
        let text = CONTENDER
            .replace("@NAME@", name)
            .replace("@MODE@", name)
            .replace("@DESCRIBE@", describe);
        files.push((
            format!("contenders/{name}/contender.toml"),
            text.into_bytes(),
        ));
        files.push((format!("contenders/{name}/server.py"), SERVER.into()));
    }
    files
}

/// The user's services, and the requests that are known for them.
fn described_files(
    init: &Init,
    described: &Described,
    folder: &Path,
    workdir: &Path,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let (noun, asked) = (described.source.noun(), &described.operations);
    let (texts, hint) = match described.source {
        RequestSource::Description => (
            [
                "Requests by the examples of the service's own description, all equally often.",
                "Every request, equally often.",
            ],
            "give its parameters examples",
        ),
        RequestSource::Recording => (
            [
                "Requests of recorded traffic, as often as they were recorded.",
                "Every recorded request, as often as it was recorded.",
            ],
            "record requests to the service itself, and responses without errors",
        ),
        RequestSource::Requests => (
            [
                "Requests of a file, all equally often.",
                "Every request, equally often.",
            ],
            "write `GET /path` into it",
        ),
        RequestSource::Capture => (
            [
                "Requests that clients sent, as often as they sent them.",
                "Every captured request, as often as it was sent.",
            ],
            "send requests to the address of the capture",
        ),
    };
    if asked.is_empty() {
        let list = described.left_out_in_short().join("\n  ");
        return Err(hinted(
            format_args!("no request can be made of the {noun}:\n  {list}"),
            described.remedy().unwrap_or(hint),
        ));
    }
    let mut files = vec![
        suite_file(init, asked, folder, texts),
        checks_file(asked, &remarks(described)),
    ];
    for side in &init.sides {
        let path = format!("contenders/{}/contender.toml", side.name);
        files.push((path, files::text(&contender(side, workdir)).into_bytes()));
    }
    Ok(files)
}

/// The suite's own file; `texts` are its analysis and what its benchmark is.
fn suite_file(
    init: &Init,
    asked: &[Operation],
    folder: &Path,
    texts: [&str; 2],
) -> (String, Vec<u8>) {
    let [analysis, describe] = texts;
    let is_titled = matches!(&init.origin, Origin::Described(described)
        if described.source == RequestSource::Requests);
    let (http2, http1): (Vec<_>, Vec<_>) = asked.iter().partition(|one| one.is_http2);
    let benchmark = |name: &str, asked: &[&Operation], protocol| BenchmarkTable {
        name: name.to_owned(),
        describe: describe.to_owned(),
        transport: (protocol != ProtocolName::Http1).then(|| TransportTable {
            protocol,
            ..TransportTable::default()
        }),
        request: { asked.iter() }
            .map(|operation| benchmark_request(operation, is_titled))
            .collect(),
        ..BenchmarkTable::default()
    };
    let mut benchmarks = vec![benchmark("all", &http1, ProtocolName::Http1)];
    if !http2.is_empty() {
        benchmarks.push(benchmark("http2", &http2, ProtocolName::Http2));
    }
    benchmarks.retain(|benchmark| !benchmark.request.is_empty());
    benchmarks.sort_by_key(|benchmark| std::cmp::Reverse(benchmark.request.len()));
    let dependencies = init.dependencies.iter().map(dependency);
    let dependencies: Vec<DependencyTable> = dependencies.collect();
    let tables = [
        files::list("dependency", &dependencies),
        files::list("benchmark", &benchmarks),
    ];
    let benchmark = tables.concat();
    let text = SUITE
        .replace("@FOLDER@", &title(folder))
        .replace("@NAME@", &suite_name(folder))
        .replace("@ANALYSIS@", analysis)
        .replace("@PORT@", &init.port.to_string())
        .replace("@READY@", &init.ready_path)
        .replace("@BENCHMARK@", benchmark.trim_end());
    (SUITE_FILE.to_owned(), text.into_bytes())
}

/// The folder as it is called in comments.
fn title(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The folder's name with what a name may not have replaced.
fn suite_name(folder: &Path) -> String {
    let name: String = title(folder)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => "services".to_owned(),
        name => name.to_lowercase(),
    }
}

/// A request with its share and the name that reports call it, if the path alone is not enough or
/// the source gives it a title.
fn benchmark_request(operation: &Operation, is_titled: bool) -> RequestTable {
    let usual = format!("{} {}", operation.method, operation.path);
    let is_named = is_titled && operation.name != usual || operation.name.ends_with(')');
    RequestTable {
        name: is_named.then(|| operation.name.clone()),
        ..request(&operation.clone().into(), expectation(operation))
    }
}

fn expectation(operation: &Operation) -> Expect {
    let keys = operation.keys.iter();
    Expect {
        status: operation.statuses.clone(),
        json: operation.is_json,
        has: keys.map(|key| format!("$[{}]", json!(key))).collect(),
        ..Expect::default()
    }
}

/// The notes about requests that were taken, and the list of those that were not.
fn remarks(described: &Described) -> String {
    let notes = described.notes.iter().map(|note| format!("# - {note}\n"));
    let notes: String = notes.collect();
    let left_out = described
        .left_out
        .iter()
        .map(|line| format!("#   {line}\n"));
    let left_out: String = left_out.collect();
    match left_out.as_str() {
        "" => notes,
        list => format!(
            "{notes}# Left out of the {}:\n{list}",
            described.source.noun()
        ),
    }
}

fn checks_file(asked: &[Operation], remarks: &str) -> (String, Vec<u8>) {
    // A check asks without messages of gRPC.
    let asked = asked.iter().filter(|operation| !operation.is_grpc());
    let checks = asked.map(|operation| {
        let group = operation.method.to_lowercase();
        check(&group, &operation.clone().into(), expectation(operation))
    });
    let checks: Vec<CheckTable> = checks.collect();
    let text = format!(
        "# The responses that every contender must give. One that fails a check is neither loaded\n\
         # nor ranked.\n\
         {remarks}\n{}",
        files::list("check", &checks)
    );
    (CHECKS_FILE.to_owned(), text.into_bytes())
}
