//! `bakeoff up`: one contender with its backend under a profile's limits, for the user's own tools.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::pin::pin;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use bakeoff_base::hint::hinted;
use bakeoff_base::number::as_f64;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_places::flame::Sampling;
use bakeoff_places::sweep::RunFolder;
use bakeoff_session::testbed::{Testbed, TestbedOptions, builds};
use bakeoff_session::{flame, selection};
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder;
use bakeoff_workflows::up::Standing;
use clap::Args;

use super::signals::interrupted;
use super::verify::limits;
use crate::args::linux::{ServerArgs, backend};
use crate::exit;
use crate::output::session::progress::Progress;
use crate::output::session::shown::Shown;
use crate::output::text::last_lines;
use crate::values::{RuntimeKind, Time};

/// Examples below the help of `up`.
const UP_HELP: &str = "\
Examples:
  bakeoff up suites/locations --contender actix-4
  bakeoff up suites/locations --contender actix-4 --profile-cpu
  bakeoff up suites/locations --contender http4k-3 --profile-cpu=2m";

#[derive(Debug, Args)]
#[command(after_long_help = UP_HELP)]
pub(crate) struct UpArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// The contender.
    #[arg(long, value_name = "NAME")]
    pub(crate) contender: String,
    /// How the contender runs.
    #[arg(long, value_enum, default_value_t = RuntimeKind::Process)]
    pub(crate) runtime: RuntimeKind,
    /// The backend [default: the suite's].
    #[arg(long, value_name = "NAME", value_parser = backend())]
    pub(crate) backend: Option<BackendName>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Profile whose limits hold.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// How long the contender may take to its first response [default: the profile's].
    #[arg(long, value_name = "TIME")]
    pub(crate) start_timeout: Option<Time>,
    /// Draw a flame graph of the contender's CPU time.
    ///
    /// Into `flame-NAME.svg`, from its first response on for this long, or until Ctrl-C if that is
    /// earlier.
    #[arg(
        long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "30s"
    )]
    pub(crate) profile_cpu: Option<Time>,
}

/// How often new lines of the log are shown.
const FOLLOW_EVERY: Duration = Duration::from_millis(100);
/// Lines of the log of a contender that did not start.
const LOG_LINES: usize = 20;

/// Fewer samples show no part that takes less than a tenth of the time.
const SAMPLES_MIN: u64 = 200;

/// Runs the command.
pub(crate) fn up(args: &UpArgs) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let ready = tokio::select! {
            ready = ready(args) => ready?,
            () = interrupted() => return Ok(exit::INTERRUPTED),
        };
        let ended = follow(ready.standing, &ready.name, ready.limits, args.profile_cpu).await;
        ready.testbed.close().await;
        ended
    })
}

/// A contender that listens, and what it stands on.
struct Ready {
    name: String,
    standing: Standing,
    limits: Limits,
    testbed: Testbed,
    /// Removed in the end.
    _logs: RunFolder,
}

/// Builds and starts what the arguments ask for.
async fn ready(args: &UpArgs) -> anyhow::Result<Ready> {
    if args.profile_cpu.is_some() {
        flame::check(args.runtime.into(), &FarHosts::default())?;
    }
    if matches!(args.runtime, RuntimeKind::Kubernetes) {
        return Err(hinted(
            "up leaves a contender to you on this machine, and a Pod is not reached from here",
            "`bakeoff verify` and `bakeoff run` take --runtime kubernetes",
        ));
    }
    let mut folder = suite_folder::read(&args.suite)?;
    if let Some(timeout) = args.start_timeout {
        for profile in folder.suite.profiles.values_mut() {
            profile.start_timeout = timeout.0;
        }
    }
    let suite = &folder.suite;
    let limits = limits(suite, &args.profile)?;
    let name = one(selection::contenders(suite, from_ref(&args.contender))?)?;
    let (_, skipped) = builds::buildable(suite, from_ref(&name));
    if !skipped.is_empty() {
        let why: Vec<String> = skipped.into_iter().map(|(_, why)| why).collect();
        return Err(builds::none_here(&why));
    }
    let backend = selection::backend(suite, args.backend)?;
    let backend_url = args.server.backend_url.clone();
    selection::backend_can_be_at(backend, backend_url.as_ref())?;
    let logs = RunFolder::temporary()?;
    let options = TestbedOptions {
        runtime: args.runtime.into(),
        side_by_side: false,
        backend,
        profile: args.profile.clone(),
        contenders: vec![name.clone()],
        cores: Cores::default(),
        seed: 0,
        session: SessionOptions {
            backend_url,
            ..SessionOptions::default()
        },
        logs: logs.path().to_owned(),
    };
    let testbed = Testbed::prepare(folder, options, &mut Progress::stderr(Shown::Sets)).await?;
    let contender = testbed
        .contender(&name)
        .with_context(|| format!("{name}: the suite no longer has it"))?;
    match Standing::start(&testbed, contender, limits).await {
        Ok(standing) => Ok(Ready {
            name,
            standing,
            limits,
            testbed,
            _logs: logs,
        }),
        Err(failure) => {
            testbed.close().await;
            let details = failure.details();
            let details = last_lines(&details, LOG_LINES).join("\n");
            Err(anyhow!("{name}: {failure}\n{details}"))
        }
    }
}

/// The only contender that is meant.
fn one(names: Vec<String>) -> anyhow::Result<String> {
    match names.as_slice() {
        [name] => Ok(name.clone()),
        names => Err(hinted(
            format_args!("up starts one contender, and {} match", names.len()),
            format_args!("name one of {}", names.join(", ")),
        )),
    }
}

/// Prints the contender's address, and shows its log until it exits or must stop.
async fn follow(
    mut standing: Standing,
    name: &str,
    limits: Limits,
    profile: Option<Time>,
) -> anyhow::Result<u8> {
    let mut interruption = pin!(interrupted());
    let seconds = as_f64(standing.startup().startup_ns) / 1e9;
    say(&format!(
        "{name} listens on http://{} after {seconds:.3} s, {}\nCtrl-C stops it; its log follows\n",
        standing.address(),
        limited(limits)
    ))?;
    let mut log = File::open(standing.log_path())?;
    let mut flame = match profile {
        Some(time) => Flame::begin(&standing, name, time.0).await?,
        None => None,
    };
    let ended = loop {
        tokio::select! {
            exit = standing.ended() => break Some(exit),
            () = &mut interruption => break None,
            () = tokio::time::sleep(FOLLOW_EVERY) => show_new(&mut log)?,
        }
        if let Some(flame) = flame.take_if(|flame| flame.is_over()) {
            flame.end().await?;
        }
    };
    if let Some(flame) = flame {
        flame.end().await?;
    }
    let sample = standing.sample().await;
    let report = standing.stop().await;
    show_new(&mut log)?;
    say(&format!("\n{}", cost(&sample)))?;
    if let Some(exit) = ended {
        anyhow::bail!("{name}: {exit} by itself");
    }
    if report.killed {
        anyhow::bail!(
            "{name} did not stop in {:.0} s and was killed",
            report.took.as_secs_f64()
        );
    }
    let seconds = report.took.as_secs_f64();
    say(&format!("{name} stopped in {seconds:.3} s"))?;
    Ok(exit::DONE)
}

/// Samples of its stacks, until it is time to draw them.
struct Flame<'a> {
    sampling: Sampling,
    name: &'a str,
    until: Instant,
}

impl<'a> Flame<'a> {
    /// Starts sampling, and says so; if that is not possible, says why.
    async fn begin(
        standing: &Standing,
        name: &'a str,
        time: Duration,
    ) -> anyhow::Result<Option<Self>> {
        let begun = Sampling::begin(&standing.processes()).await;
        let sampling = match begun {
            Ok(sampling) => sampling,
            Err(why) => {
                say(&format!("no flame graph: {why}\n"))?;
                return Ok(None);
            }
        };
        let seconds = time.as_secs_f64();
        say(&format!(
            "taking samples for its flame graph for {seconds} s: load it now\n"
        ))?;
        Ok(Some(Self {
            sampling,
            name,
            until: Instant::now() + time,
        }))
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Draws the samples, and names the file.
    async fn end(self) -> io::Result<()> {
        let file = format!("flame-{}.svg", self.name.replace('/', "_"));
        let stacks = self.sampling.end().await;
        let drawn = stacks.and_then(|stacks| Ok((stacks.svg(self.name)?, stacks)));
        match drawn {
            Ok((svg, stacks)) => {
                fs::write(&file, svg)?;
                let (samples, sampler) = (stacks.samples, stacks.sampler);
                let few = match samples {
                    ..SAMPLES_MIN => ", too few: load it meanwhile, or longer, --profile-cpu=1m",
                    _ => "",
                };
                say(&format!(
                    "\nflame graph: {file}, {samples} samples by {sampler}{few}"
                ))
            }
            Err(why) => say(&format!("\nno flame graph: {why}")),
        }
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// The limits in words.
fn limited(limits: Limits) -> String {
    let cpus = limits
        .cpus
        .map_or("no CPU limit".to_owned(), |cpus| format!("{cpus} CPU"));
    let memory = limits
        .memory_bytes
        .map_or("no memory limit".to_owned(), |bytes| {
            format!("{} MiB", bytes >> 20)
        });
    format!("{cpus}, {memory}")
}

/// Copies what was written since the last call.
fn show_new(log: &mut File) -> io::Result<()> {
    let mut output = io::stdout().lock();
    io::copy(log, &mut output)?;
    output.flush()
}

/// CPU time and memory of its whole life.
fn cost(sample: &ResourceSample) -> String {
    let cpu = sample.cpu.map_or("CPU time unknown".to_owned(), |cpu| {
        format!("{:.3} s of CPU time", as_f64(cpu.total_ns()) / 1e9)
    });
    let memory = sample.memory.map_or("memory unknown".to_owned(), |memory| {
        format!("at most {:.1} MiB", as_f64(memory.peak_bytes) / 1_048_576.0)
    });
    format!("used {cpu}, {memory}")
}
