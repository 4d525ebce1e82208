//! The folder of a capture: a suite of its requests, and the times at which they were sent.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_import::captured::Captured;
use bakeoff_import::{Described, Operation, RequestSource, may_change_data};
use bakeoff_model::load::{Protocol, RequestSpec};
use bakeoff_model::suite::{Benchmark, Suite};
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_store::suite_folder;

use crate::init::{self, Init, Origin};
use crate::service::{DuelService, ServiceSource};

/// The name of the service that was captured.
const SERVICE: &str = "captured";

/// The file of times.
const TIMES: &str = "arrivals.csv";

/// The columns of the file.
const COLUMNS: [&str; 2] = ["seconds", "request"];

/// A capture that was read.
#[derive(Debug)]
pub struct CaptureFolder {
    /// The suite of the requests.
    pub suite: Suite,
    /// The times from the first request, in order, each with the name of its request.
    pub arrivals: Vec<(Duration, String)>,
}

/// Refuses a folder in which no capture can be written.
///
/// # Errors
/// It holds a suite.
pub fn check(folder: &Path) -> anyhow::Result<()> {
    match folder.join("suite.toml").exists() {
        true => Err(hinted(
            format_args!("{}: holds a suite already", folder.display()),
            "name another folder with --out",
        )),
        false => Ok(()),
    }
}

/// Writes a capture of a service into a folder. With `secrets` only the user can read its requests.
///
/// # Errors
/// The folder cannot be written, or nothing was captured.
pub fn write(
    captured: &Captured,
    to: &ServiceUrl,
    secrets: bool,
    folder: &Path,
) -> anyhow::Result<()> {
    let init = Init {
        sides: vec![DuelService {
            name: SERVICE.to_owned(),
            text: to.to_string(),
            service: ServiceSource::Url(to.clone()),
            workdir: None,
        }],
        dependencies: Vec::new(),
        origin: Origin::Described(captured.described.clone()),
        port: to.port(),
        ready_path: "/".to_owned(),
        is_private: secrets,
    };
    init::write(&init, folder)?;
    let mut times = csv::Writer::from_writer(Vec::new());
    times.write_record(COLUMNS)?;
    for arrival in &captured.arrivals {
        let seconds = format!("{:.6}", arrival.at.as_secs_f64());
        let operation = &captured.described.operations[arrival.operation];
        times.write_record([&seconds, &operation.name])?;
    }
    let path = folder.join(TIMES);
    fs::write(&path, times.into_inner()?).with_context(|| path.display().to_string())
}

/// Reads the capture of a folder.
///
/// # Errors
/// It is not one, or its times name a request that the suite does not have.
pub fn read(folder: &Path) -> anyhow::Result<CaptureFolder> {
    let path = folder.join(TIMES);
    if !path.is_file() {
        return Err(hinted(
            format_args!("{}: no capture: {TIMES} is not there", folder.display()),
            "`bakeoff capture` makes one",
        ));
    }
    let suite = suite_folder::read(folder)?.suite;
    let mut rows = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
    let mut arrivals = Vec::new();
    for row in rows.deserialize() {
        let (seconds, name): (f64, String) = row.with_context(|| path.display().to_string())?;
        let at = Duration::try_from_secs_f64(seconds);
        arrivals.push((at.with_context(|| path.display().to_string())?, name));
    }
    arrivals.sort_by_key(|(at, _)| *at);
    Ok(CaptureFolder { suite, arrivals })
}

impl CaptureFolder {
    /// Returns the requests, for a duel or another suite.
    #[must_use]
    pub fn described(&self, writes: bool) -> Described {
        let mut described = Described {
            source: RequestSource::Capture,
            ..Described::default()
        };
        for benchmark in &self.suite.benchmarks {
            let is_http2 = benchmark.transport.protocol == Protocol::Http2;
            for request in &benchmark.requests {
                let operation = Operation {
                    name: request.label(),
                    method: request.method.clone(),
                    path: request.path.clone(),
                    headers: request.headers.clone(),
                    body: request.body.as_bytes().to_vec(),
                    weight: request.weight,
                    statuses: { request.expect.iter() }
                        .flat_map(|expect| expect.status.clone())
                        .collect(),
                    is_json: request.expect.as_ref().is_some_and(|expect| expect.json),
                    keys: Vec::new(),
                    is_http2,
                };
                match operation.refusal(writes) {
                    Some(why) => described
                        .left_out
                        .push(format!("{}: {why}", operation.name)),
                    None => described.operations.push(operation),
                }
            }
        }
        described
    }

    /// Returns the requests that travel like most of them, with the times of those that are played.
    ///
    /// # Errors
    /// The times name a request that the suite does not have, or none is played.
    pub fn timed(&self, writes: bool) -> anyhow::Result<Timed> {
        let mut benchmarks = self.suite.benchmarks.iter();
        let benchmark = benchmarks.next().context("the capture has no requests")?;
        let labels = |one: &Benchmark| one.requests.iter().map(RequestSpec::label).collect();
        let names: Vec<String> = labels(benchmark);
        let indices: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let others: HashSet<String> = benchmarks
            .flat_map(|one| -> Vec<_> { labels(one) })
            .collect();
        let mut timed = Timed {
            protocol: benchmark.transport.protocol,
            requests: Vec::new(),
            arrivals: Vec::new(),
            writes: 0,
            others: 0,
        };
        // Requests that are not played would be counted all the same.
        let mut played = HashMap::new();
        for (at, name) in &self.arrivals {
            let Some(&index) = indices.get(name.as_str()) else {
                if !others.contains(name) {
                    return Err(hinted(
                        format_args!("{TIMES}: the suite has no request {name:?}"),
                        "remove its lines, or write the request again",
                    ));
                }
                timed.others += 1;
                continue;
            };
            let request = &benchmark.requests[index];
            if may_change_data(&request.method) && !writes {
                timed.writes += 1;
                continue;
            }
            let next = timed.requests.len();
            let played = *played.entry(index).or_insert(next);
            if played == next {
                timed.requests.push(request.clone());
            }
            timed.arrivals.push((*at, played));
        }
        match timed.arrivals.is_empty() {
            true => Err(hinted(
                "all requests of the capture may change data",
                "--writes plays them",
            )),
            false => Ok(timed),
        }
    }
}

/// Requests of a capture with their times.
#[derive(Debug)]
pub struct Timed {
    /// How the requests travel.
    pub protocol: Protocol,
    /// The requests.
    pub requests: Vec<RequestSpec>,
    /// The times from the first request, in order, each with the index of its request.
    pub arrivals: Vec<(Duration, usize)>,
    /// How often requests were sent that are left out because they may change data.
    pub writes: usize,
    /// How often requests were sent that travel otherwise.
    pub others: usize,
}
