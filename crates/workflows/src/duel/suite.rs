//! The suite of a duel: what its files say, and the suite that they are. It goes into a session as
//! it is; its files are written so that it can be resumed, kept, changed and run again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use bakeoff_grpc::Schema;
use bakeoff_model::parse::files::{
    BenchmarkTable, ChecksFile, GrpcTable, LimitsTable, MetricsTable, PaceName, ProfileTable,
    RequestTable, RunsTable, RunsValue, StepTable, SuiteFile, SuiteFiles, SuiteTable, UntilName,
    WarmUpTable,
};
use bakeoff_model::parse::{DurationText, SizeText};
use bakeoff_model::request::check::Expect;
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_store::grpc;
use bakeoff_store::suite_folder::{self, SuiteFolder};

use crate::duel::definition::{Duel, DuelRuns, DuelWarmUp, NAME};
use crate::service::tables::{check, contender, dependency, request as table_of};

/// The file of a suite's checks.
pub(super) const CHECKS: &str = "duel.toml";

/// Where a suite keeps the descriptors of its messages.
const MESSAGES: &str = "messages.binpb";

/// A suite that was made, with its files.
pub(crate) struct MadeSuite {
    suite: Suite,
    files: Vec<(String, Vec<u8>)>,
}

impl MadeSuite {
    /// Makes the suite of which the files say this.
    ///
    /// # Errors
    /// No suite can say it, or a request calls a method that the messages do not have.
    pub(crate) fn new(files: SuiteFiles, messages: Option<&Schema>) -> anyhow::Result<Self> {
        let (mut suite, sources) = match files.make() {
            Ok(made) => made,
            Err(mistakes) => {
                let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
                bail!("no suite can be made of this:\n{}", mistakes.join("\n"))
            }
        };
        let texts = sources.files().into_iter();
        let mut files: Vec<(String, Vec<u8>)> = texts
            .map(|file| (file.path.clone(), file.text.clone().into_bytes()))
            .collect();
        if let Some(schema) = messages {
            grpc::fill(&mut suite, schema)?;
            files.push((MESSAGES.to_owned(), schema.descriptors()));
        }
        Ok(Self { suite, files })
    }

    /// Returns the suite as one of this folder, in which nothing is written or read.
    pub(crate) fn unwritten(self, folder: &Path) -> SuiteFolder {
        SuiteFolder {
            path: folder.to_owned(),
            suite: self.suite,
            base: None,
        }
    }

    /// Writes the files into a folder, the `private` ones for the user alone. Returns the suite as
    /// one of that folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn written(
        self,
        folder: &Path,
        private: &BTreeSet<String>,
    ) -> anyhow::Result<SuiteFolder> {
        suite_folder::write(folder, &self.files, private)?;
        Ok(self.unwritten(&folder.canonicalize()?))
    }
}

/// The files of the suite of a duel whose sides must all respond to each request like this.
/// `no_turns` is why they are measured in whole runs; `None` if they take turns.
pub(super) fn files(
    duel: &Duel,
    runtime: RuntimeKind,
    expect: &[Expect],
    no_turns: Option<&str>,
) -> SuiteFiles {
    let again = match runtime {
        RuntimeKind::Process => String::new(),
        other => format!(" --runtime {other}"),
    };
    let sides = duel.sides.iter();
    let requests = || duel.requests.iter().zip(expect);
    let checks = requests().map(|(request, expect)| check(NAME, request, expect.clone()));
    let requests = requests().map(|(request, expect)| {
        let usual = format!("{} {}", request.method, request.path);
        RequestTable {
            name: (request.name != usual).then(|| request.name.clone()),
            ..table_of(request, expect.clone())
        }
    });
    SuiteFiles {
        head: format!("# Run it again: bakeoff run FOLDER --profile {NAME}{again}\n"),
        suite: SuiteFile {
            suite: suite_table(duel, no_turns),
            env: environment(duel, runtime),
            env_unreachable: BTreeMap::new(),
            metrics: duel
                .scrape
                .clone()
                .map(|scrape| MetricsTable { scrape, keep: None }),
            backend: Vec::new(),
            dependency: duel.dependencies.iter().map(dependency).collect(),
            profile: [(NAME.to_owned(), profile(duel, no_turns.is_some()))].into(),
            benchmark: vec![BenchmarkTable {
                name: NAME.to_owned(),
                describe: duel.asked(),
                request: requests.collect(),
                ..BenchmarkTable::default()
            }],
            round: Vec::new(),
        },
        checks: (
            CHECKS,
            ChecksFile {
                check: checks.collect(),
                ..ChecksFile::default()
            },
        ),
        contenders: sides.map(|side| contender(side, &duel.workdir)).collect(),
    }
}

fn suite_table(duel: &Duel, no_turns: Option<&str>) -> SuiteTable {
    let sides = duel.sides.iter();
    let names: Vec<String> = sides.map(|side| format!("`{}`", side.name)).collect();
    let no_turns = no_turns.map(|why| format!(" {why}.")).unwrap_or_default();
    SuiteTable {
        name: NAME.to_owned(),
        analysis: format!(
            "Written by `bakeoff duel`: {} are asked `{}` over {} connections.{no_turns}",
            names.join(", "),
            duel.asked(),
            duel.connections
        ),
        port: duel.port(),
        ready_path: duel.ready_path.clone(),
        grpc: duel.grpc.as_ref().map(|_| GrpcTable {
            files: vec![MESSAGES.to_owned()],
        }),
        tls: None,
        response_timeout: None,
        logs_requests: false,
        log_lines_min: None,
        lifecycle: false,
        default_backend: None,
    }
}

fn environment(duel: &Duel, runtime: RuntimeKind) -> BTreeMap<String, String> {
    let mut env = duel.env.clone();
    if runtime != RuntimeKind::External {
        env.entry("PORT".to_owned())
            .or_insert_with(|| duel.port().to_string());
    }
    env
}

/// A warm-up until every service is warm takes this long at least and at most.
const WARM_AT_LEAST: Duration = Duration::from_millis(500);
const WARM_AT_MOST: Duration = Duration::from_secs(10);

/// The profile: a warm-up and a measured step.
fn profile(duel: &Duel, in_whole_runs: bool) -> ProfileTable {
    let step = |duration: Duration, warm_up: bool| StepTable {
        connections: duel.connections,
        duration: DurationText(duration),
        pace: PaceName::Closed,
        rate: None,
        rate_end: None,
        arrive: None,
        times: None,
        warm_up,
    };
    let warm_up = match duel.warm_up {
        DuelWarmUp::Skipped => None,
        DuelWarmUp::For(time) => Some(time),
        DuelWarmUp::UntilWarm => Some(WARM_AT_MOST),
    };
    let warm_up = warm_up.map(|time| step(time, true)).into_iter();
    let until_warm = || WarmUpTable {
        until: UntilName::Steady,
        at_least: Some(DurationText(WARM_AT_LEAST)),
        at_most: DurationText(WARM_AT_MOST),
    };
    ProfileTable {
        describe: "One number of connections after a warm-up.".to_owned(),
        whole_runs: in_whole_runs,
        limits: LimitsTable {
            cpus: duel.limits.cpus,
            memory: duel.limits.memory_bytes.map(SizeText),
        },
        slice: Some(DurationText(Duration::from_millis(500))),
        start_timeout: duel.start_timeout.map(DurationText),
        runs: runs(duel.runs),
        control: Some(duel.control),
        latency: (!duel.latency).then_some(false),
        step: warm_up.chain([step(duel.duration, false)]).collect(),
        warm_up: (duel.warm_up == DuelWarmUp::UntilWarm).then(until_warm),
        ..ProfileTable::default()
    }
}

/// More sets than this are not made, however short they are.
const SETS_MAX: u32 = 60;

fn runs(runs: DuelRuns) -> RunsValue {
    match runs {
        DuelRuns::Fixed(runs) => RunsValue::Number(runs),
        DuelRuns::Within(within) => RunsValue::Until(RunsTable {
            until: "sure".to_owned(),
            at_most: SETS_MAX,
            within: Some(DurationText(within)),
            within_each: None,
        }),
    }
}
