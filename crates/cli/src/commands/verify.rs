//! `bakeoff verify`: lifecycle and functional checks, without load.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use bakeoff_model::check::CheckOutcome;
use bakeoff_model::plan;
use bakeoff_model::record::{CheckRecord, Cores};
use bakeoff_model::suite::{Contender, Limits, Suite};
use bakeoff_runtime::external::External;
use bakeoff_runtime::{Runtime as _, StartSpec};
use serde_json::json;

use super::bench::{Bench, BenchOptions, HttpClient};
use super::builds;
use crate::args::VerifyArgs;
use crate::loader::ProcessLoader;
use crate::progress::Progress;
use crate::session::event::{Event, Observer};
use crate::session::lifecycle::{self, Figures};
use crate::session::run::{START_LIMIT, STOP_GRACE, await_ready, describe, start};
use crate::session::{Halt, Parts, verify};
use crate::{exit, suite_folder};

/// Which checks were asked for.
struct Wanted {
    /// Functional groups.
    groups: Vec<String>,
    lifecycle: bool,
}

/// What came of one contender.
struct Verified {
    contender: String,
    checks: Vec<CheckRecord>,
    /// Why not all checks could be made.
    failure: Option<String>,
}

/// Runs the command.
pub(crate) fn verify(args: &VerifyArgs) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        tokio::select! {
            status = verify_all(args) => status,
            () = super::interrupted() => {
                Ok(exit::INTERRUPTED)
            }
        }
    })
}

async fn verify_all(args: &VerifyArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.selection.suite)?;
    let wanted = wanted(&folder.suite, &args.group)?;
    if let Some(url) = &args.url {
        let verified = external(&folder.suite, &wanted, url).await?;
        print(&verified, args.json)?;
        return Ok(status(&[verified]));
    }
    let limits = limits(&folder.suite, &args.profile)?;
    let suite = &folder.suite;
    let names: Vec<String> = suite
        .contenders
        .iter()
        .map(|one| one.name.clone())
        .collect();
    let chosen =
        plan::select("contender", &names, &args.selection.contender).map_err(super::unknown)?;
    let (chosen, skipped) = builds::buildable(suite, &chosen);
    let mut progress = Progress::stderr(args.json);
    for (contender, why) in &skipped {
        let (contender, why) = (contender.clone(), why.clone());
        progress.observe(&Event::Skipped { contender, why })?;
    }
    if chosen.is_empty() {
        let why: Vec<String> = skipped.into_iter().map(|(_, why)| why).collect();
        anyhow::bail!(
            "no contender can be built on this machine\n  hint: {}",
            why.join("; ")
        );
    }
    let logs = tempfile::Builder::new()
        .prefix("bakeoff-verify-")
        .tempdir()?;
    let options = bench_options(args, suite, chosen, logs.path().to_owned())?;
    let bench = Bench::prepare(folder.clone(), options.clone(), &mut progress).await?;
    let mut all = Vec::new();
    for name in &options.contenders {
        let Some(contender) = bench.contender(name) else {
            continue;
        };
        let verified = one(&bench, contender, &wanted, limits).await;
        print(&verified, args.json)?;
        all.push(verified);
    }
    bench.close().await;
    Ok(status(&all))
}

fn bench_options(
    args: &VerifyArgs,
    suite: &Suite,
    contenders: Vec<String>,
    logs: PathBuf,
) -> anyhow::Result<BenchOptions> {
    let backend = args
        .selection
        .backend
        .clone()
        .unwrap_or_else(|| suite.default_backend.clone());
    super::known_backend(suite, &backend)?;
    Ok(BenchOptions {
        runtime: args.selection.runtime.name().to_owned(),
        backend,
        profile: args.profile.clone(),
        contenders,
        cores: Cores::default(),
        seed: 0,
        slice: None,
        logs,
    })
}

fn wanted(suite: &Suite, groups: &[String]) -> anyhow::Result<Wanted> {
    let mut known: Vec<String> = Vec::new();
    for check in &suite.checks {
        if !known.contains(&check.group) {
            known.push(check.group.clone());
        }
    }
    known.push(lifecycle::GROUP.to_owned());
    let groups = plan::select("group", &known, groups).map_err(super::unknown)?;
    let lifecycle = groups.iter().any(|group| group == lifecycle::GROUP);
    Ok(Wanted { groups, lifecycle })
}

fn limits(suite: &Suite, profile: &str) -> anyhow::Result<Limits> {
    if let Some(profile) = suite.profiles.get(profile) {
        return Ok(profile.limits);
    }
    let known: Vec<String> = suite.profiles.keys().cloned().collect();
    plan::select("profile", &known, &[profile.to_owned()]).map_err(super::unknown)?;
    Ok(Limits::default())
}

/// Checks a service that somebody else started; its life is not ours to check.
async fn external(suite: &Suite, wanted: &Wanted, url: &str) -> anyhow::Result<Verified> {
    let service = External::new(url)?;
    let client = HttpClient {
        prefix: service.prefix().to_owned(),
    };
    let spec = external_spec(suite, url);
    let mut instance = service.start(&spec).await?;
    instance.await_ready(START_LIMIT).await?;
    let address = instance.address();
    let mut checks = Vec::new();
    for check in suite
        .checks
        .iter()
        .filter(|check| wanted.groups.contains(&check.group))
    {
        checks.push(verify::check(&client, address, check).await);
    }
    Ok(Verified {
        contender: url.to_owned(),
        checks,
        failure: None,
    })
}

/// A start of something that runs already: only its label and its ready path matter.
fn external_spec(suite: &Suite, url: &str) -> StartSpec {
    StartSpec {
        label: url.to_owned(),
        command: Vec::new(),
        env: BTreeMap::new(),
        workdir: PathBuf::new(),
        limits: Limits::default(),
        cores: Vec::new(),
        port: suite.port,
        ready_path: suite.ready_path.clone(),
        image: None,
        log_path: PathBuf::new(),
    }
}

/// All wanted checks of one contender.
async fn one(bench: &Bench, contender: &Contender, wanted: &Wanted, limits: Limits) -> Verified {
    let mut verified = Verified {
        contender: contender.name.clone(),
        checks: Vec::new(),
        failure: None,
    };
    let log_name = contender.name.replace('/', "_");
    let spec = bench.start_spec(contender, &first_parameters(contender), limits, &log_name);
    let outcome = match spec {
        Ok(spec) => check_one(bench, &spec, wanted, &mut verified.checks).await,
        Err(why) => Err(Halt::Failed {
            stage: "build",
            message: why.message,
            evidence: why.evidence,
        }),
    };
    verified.failure = outcome.err().map(|halt| match halt {
        Halt::Failed {
            stage,
            message,
            evidence,
        } => format!("{stage}: {message}\n{evidence}"),
        Halt::Fatal(error) => format!("{error:#}"),
    });
    let unknown = bench
        .backend()
        .map(|backend| backend.unknown_requests())
        .unwrap_or_default();
    if !unknown.is_empty() {
        let list = unknown.join("\n");
        let text = format!("the replay backend had no recording of:\n{list}");
        verified.failure = Some(
            verified
                .failure
                .map_or(text.clone(), |f| format!("{f}\n{text}")),
        );
    }
    verified
}

/// The first value of each parameter.
fn first_parameters(contender: &Contender) -> BTreeMap<String, String> {
    let first = |(name, values): (&String, &Vec<String>)| {
        values.first().map(|value| (name.clone(), value.clone()))
    };
    contender.matrix.iter().filter_map(first).collect()
}

async fn check_one(
    bench: &Bench,
    spec: &StartSpec,
    wanted: &Wanted,
    checks: &mut Vec<CheckRecord>,
) -> Result<(), Halt> {
    let client = HttpClient {
        prefix: String::new(),
    };
    let parts = Parts {
        suite: bench.suite(),
        runtime: bench.runtime(),
        loader: &ProcessLoader {
            program: PathBuf::new(),
        },
        client: &client,
        backend: bench.backend(),
        host_cores: super::host_cores(),
        host_time: || None,
    };
    if wanted.lifecycle {
        lifecycle::before(&parts, spec, &mut Collect(checks)).await?;
    }
    let mut instance = start(&parts, spec).await?;
    let startup = await_ready(instance.as_mut()).await?;
    for check in parts
        .suite
        .checks
        .iter()
        .filter(|one| wanted.groups.contains(&one.group))
    {
        checks.push(verify::check(&client, instance.address(), check).await);
    }
    if wanted.lifecycle {
        let artifact_bytes = bench.artifact_bytes(&spec.label);
        let figures = Figures {
            startup_ns: startup.startup_ns,
            artifact_bytes,
        };
        checks.extend(lifecycle::observed(&parts, instance.as_ref(), figures).await);
        if let Some(check) = parts.suite.checks.last() {
            checks.push(verify::alive(&client, instance.address(), check).await);
        }
    }
    let died = instance.exited().await.is_some();
    let report = instance.stop(STOP_GRACE).await;
    if wanted.lifecycle {
        checks.push(lifecycle::stopped(&report, died, 0));
    }
    Ok(())
}

/// Keeps the checks of the lifecycle.
struct Collect<'a>(&'a mut Vec<CheckRecord>);

impl Observer for Collect<'_> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        if let Event::Recorded { record } = event
            && let bakeoff_model::record::Record::Check(check) = record.as_ref()
        {
            self.0.push(check.clone());
        }
        Ok(())
    }
}

fn is_bad(check: &CheckRecord) -> bool {
    !matches!(
        check.outcome,
        CheckOutcome::Good | CheckOutcome::NotApplicable { .. }
    )
}

fn status(all: &[Verified]) -> u8 {
    let failed = |one: &Verified| one.failure.is_some() || one.checks.iter().any(is_bad);
    // Nothing checked is nothing shown: a machine without any toolchain does not pass.
    if all.is_empty() || all.iter().any(failed) {
        exit::CHECK_FAILED
    } else {
        exit::DONE
    }
}

fn print(verified: &Verified, as_json: bool) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    if as_json {
        let object = json!({
            "contender": verified.contender,
            "checks": verified.checks,
            "failure": verified.failure,
        });
        writeln!(output, "{object}")?;
        return Ok(());
    }
    let good = |lifecycle: bool| {
        let of_kind = verified
            .checks
            .iter()
            .filter(|check| (check.group == lifecycle::GROUP) == lifecycle)
            .filter(|check| !matches!(check.outcome, CheckOutcome::NotApplicable { .. }));
        let (good, all) = of_kind.fold((0, 0), |(good, all), check| {
            (good + usize::from(!is_bad(check)), all + 1)
        });
        format!("{good}/{all}")
    };
    writeln!(
        output,
        "{}: functional {}, lifecycle {}",
        verified.contender,
        good(false),
        good(true)
    )?;
    for check in verified.checks.iter().filter(|check| is_bad(check)) {
        writeln!(output, "  FAILED {}", describe(check))?;
    }
    for check in verified.checks.iter().filter(|check| !is_bad(check)) {
        if let Some(value) = &check.value {
            writeln!(output, "  {}: {value}", check.name)?;
        }
    }
    if let Some(failure) = &verified.failure {
        writeln!(
            output,
            "  FAILED {}",
            failure.trim_end().replace('\n', "\n    ")
        )?;
    }
    Ok(())
}
