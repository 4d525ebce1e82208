//! `bakeoff plan`: what `run` would do, in which order, where, and for how long.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_model::load::LoadSpec;
use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::record::Cores;
use bakeoff_model::suite::capacity::Capacity;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::{Round, Suite};
use bakeoff_model::text::duration_ns;
use bakeoff_model::text::ssh_address::SshAddress;
use bakeoff_places::abilities::{Abilities, abilities};
use bakeoff_places::place::cluster;
use bakeoff_session::placement::Placement;
use bakeoff_session::stages::load_spec::{Loaded, SpecInput, load_spec, played_steps};
use bakeoff_session::{selection, turn_requirements};
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder::{self, SuiteFolder};
use clap::Args;

use crate::args::linux::MeasuredArgs;
use crate::exit;
use crate::output::text::{self, between, human, wrapped};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) measured: MeasuredArgs,
    /// Only this round of the suite; `all` for a line about each.
    #[arg(long, value_name = "NAME", conflicts_with = "contender")]
    pub(crate) round: Option<String>,
    /// Seed of the order of runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the plan as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the load spec of the first run of this contender, for `bakeoff load -`.
    #[arg(long, value_name = "CONTENDER")]
    pub(crate) case: Option<String>,
}

/// Runs the command.
pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.measured.selection.suite)?;
    let suite = &folder.suite;
    let mut output = std::io::stdout().lock();
    let selection = &args.measured.selection;
    let asked = options(args);
    let host = abilities(selection.runtime.into(), &asked.hosts, &asked.cluster);
    let named = args.round.as_deref();
    let several = named.map_or_else(Vec::new, |name| selection::several_rounds(suite, name));
    let round = match named {
        Some(_) if !several.is_empty() => {
            return several_rounds(&mut output, suite, args, &host, &several);
        }
        Some(name) => Some(selection::round(suite, name)?),
        None => selection::main_round(suite),
    };
    let plan = planned(suite, args, round, &host)?;
    let placement = selection::placement(&plan, &selection.hosts.hosts());
    if let Some(contender) = &args.case {
        let spec = spec_of(&folder, &plan, contender, &placement.cores)?;
        writeln!(output, "{}", serde_json::to_string(&spec)?)?;
    } else if args.json {
        writeln!(output, "{}", serde_json::to_string_pretty(&plan)?)?;
    } else {
        let mut settings = suite.backend_settings(plan.backend);
        settings.delay = plan.backend_delay.unwrap_or(settings.delay);
        let together = turn_requirements::note(&plan, host.memory_bytes);
        let places = places(&plan, &placement, args)?;
        write_text(&mut output, &plan, &places, &settings.describe())?;
        for line in together.iter().flat_map(|note| wrapped(note, 78)) {
            writeln!(output, "{line}")?;
        }
    }
    Ok(exit::DONE)
}

/// The options of a session of these arguments.
fn options(args: &PlanArgs) -> SessionOptions {
    let selection = &args.measured.selection;
    SessionOptions {
        cluster: selection.cluster.settings(),
        hosts: selection.hosts.hosts(),
        ..SessionOptions::default()
    }
}

/// The plan of these arguments on a host of these abilities.
pub(crate) fn planned(
    suite: &Suite,
    args: &PlanArgs,
    round: Option<&Round>,
    host: &Abilities,
) -> anyhow::Result<Plan> {
    let selection = args.measured.selection(args.seed);
    let options = selection.plan_options(suite, round);
    let (plan, _) = turn_requirements::planned(suite, &options, host, |_| Vec::new())?;
    Ok(plan)
}

/// A line for each round; which contenders win and so join a later one is not known before.
fn several_rounds(
    output: &mut impl std::io::Write,
    suite: &Suite,
    args: &PlanArgs,
    host: &Abilities,
    rounds: &[&Round],
) -> anyhow::Result<u8> {
    if args.json || args.case.is_some() {
        bail!("--json and --case are about the plan of one round: name one with --round");
    }
    let (mut fewest, mut most) = (0, 0);
    let (mut shortest, mut longest) = (Duration::ZERO, Duration::ZERO);
    for round in rounds {
        let plan = planned(suite, args, Some(round), host)?;
        let time = between(plan.shortest(), plan.expected());
        let certain = plan.certain().count();
        let words = text::runs(certain, plan.runs.len());
        writeln!(output, "{:<20} {words:>9}, {time}", round.name)?;
        if !round.winners_of.is_empty() {
            let joining = format!("and the winners of {}", round.winners_of.join(", "));
            for line in wrapped(&joining, 76) {
                writeln!(output, "  {line}")?;
            }
        }
        fewest += certain;
        most += plan.runs.len();
        shortest += plan.shortest();
        longest += plan.expected();
    }
    let time = between(shortest, longest);
    let words = text::runs(fewest, most);
    writeln!(output, "{:<20} {words:>9}, {time}", "all")?;
    Ok(exit::DONE)
}

/// Which part runs where, and what should be known about it, a line each.
fn places(plan: &Plan, placement: &Placement, args: &PlanArgs) -> anyhow::Result<Vec<String>> {
    if plan.runtime == RuntimeKind::Kubernetes {
        let settings = args.measured.selection.cluster.settings();
        let connecting = cluster::connect(&settings, plan.backend != BackendName::None);
        let connected = tokio::runtime::Runtime::new()?.block_on(connecting)?;
        return Ok(connected.notes());
    }
    let cores = |list: &[usize]| match list {
        [] => "all cores".to_owned(),
        _ => format!(
            "cores {}",
            list.iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(",")
        ),
    };
    let hosts = args.measured.selection.hosts.hosts();
    let place = |host: &Option<SshAddress>, list: &[usize]| match host {
        Some(address) => address.to_string(),
        None => cores(list),
    };
    let backend = match plan.backend != BackendName::None {
        true => format!(", backend on {}", cores(&placement.cores.backend)),
        false => String::new(),
    };
    let parts = format!(
        "contender on {}, load generator on {}{backend}",
        place(&hosts.contender, &placement.cores.contender),
        place(&hosts.load, &placement.cores.generator),
    );
    let warnings = placement.warnings.iter();
    let warnings = warnings.map(|warning| format!("note: {warning}"));
    Ok(std::iter::once(parts).chain(warnings).collect())
}

fn write_text(
    output: &mut impl std::io::Write,
    plan: &Plan,
    places: &[String],
    backend_settings: &str,
) -> anyhow::Result<()> {
    let has_backend = plan.backend != BackendName::None;
    let backend = match (has_backend, backend_settings) {
        (false, _) => "no backend".to_owned(),
        (true, "") => format!("backend {}", plan.backend),
        (true, settings) => format!("backend {} with {settings}", plan.backend),
    };
    writeln!(
        output,
        "{} · profile {} · runtime {} · {backend} · seed {}",
        plan.suite, plan.profile, plan.runtime, plan.seed
    )?;
    writeln!(
        output,
        "{}, {} without builds",
        text::runs(plan.certain().count(), plan.runs.len()),
        between(plan.shortest(), plan.expected())
    )?;
    if let Some(until) = &plan.runs_until {
        for line in wrapped(&until.sentence(), 78) {
            writeln!(output, "{line}")?;
        }
    }
    for place in places {
        writeln!(output, "{place}")?;
    }
    plan.runs.iter().try_for_each(|run| write_run(output, run))
}

fn write_run(output: &mut impl std::io::Write, run: &PlannedRun) -> anyhow::Result<()> {
    let expected = match run.shortest() == run.expected {
        true => human(run.expected),
        false => between(run.shortest(), run.expected),
    };
    let (order, label) = (run.order + 1, run.process_label());
    let connections: Vec<_> = run
        .steps
        .iter()
        .map(|step| step.connections.to_string())
        .collect();
    writeln!(
        output,
        "{order:>4}  {label}  {}  run {}  {expected}",
        run.benchmark,
        run.repetition_text()
    )?;
    let in_turns = match (run.in_turns, run.turn_ns) {
        (false, _) => String::new(),
        (true, None) => ", in turns".to_owned(),
        (true, Some(ns)) => format!(", in turns of {:?}", Duration::from_nanos(ns)),
    };
    let load = match connections.as_slice() {
        [] => "cold start".to_owned(),
        list => format!("connections {}{in_turns}", list.join(" ")),
    };
    writeln!(output, "      {load}")?;
    for step in run.steps.iter().filter(|step| step.at_least.is_some()) {
        let (connections, time) = (step.connections, between(step.shortest(), step.duration));
        writeln!(
            output,
            "      warm-up at {connections} until steady, {time}"
        )?;
    }
    write_search(output, run.capacity.as_ref())
}

/// Writes the capacity that is searched for after the warm-up, if there is one.
fn write_search(
    output: &mut impl std::io::Write,
    capacity: Option<&Capacity>,
) -> anyhow::Result<()> {
    let Some(capacity) = capacity else {
        return Ok(());
    };
    let slos: Vec<String> = capacity.slos.iter().map(ToString::to_string).collect();
    let text = format!(
        "then the capacity by {}: at most {} trials of {:?} over {} connections",
        slos.join("; "),
        capacity.trials_at_most,
        capacity.trial,
        capacity.connections
    );
    for line in wrapped(&text, 72) {
        writeln!(output, "      {line}")?;
    }
    Ok(())
}

/// The load spec of the first run of a contender, as if it listened on loopback.
fn spec_of(
    folder: &SuiteFolder,
    plan: &Plan,
    contender: &str,
    cores: &Cores,
) -> anyhow::Result<LoadSpec> {
    let suite = &folder.suite;
    let mut loads = plan.runs.iter().filter(|run| run.kind.is_load());
    let Some(run) = loads.find(|run| run.contender == contender) else {
        return Err(hinted(
            format_args!("no load of {contender} in the plan"),
            "`bakeoff list` names the contenders",
        ));
    };
    let benchmark = suite
        .benchmarks
        .iter()
        .find(|benchmark| benchmark.name == run.benchmark);
    let requests = benchmark
        .map(|benchmark| benchmark.requests.as_slice())
        .unwrap_or_default();
    let slice = suite
        .profiles
        .get(&plan.profile)
        .map(|profile| profile.slice)
        .unwrap_or_default();
    let steps = played_steps(run);
    let mut spec = load_spec(&SpecInput {
        loaded: vec![Loaded {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, suite.port)),
            device: None,
            host: None,
            cpu_counter: None,
            tls: None,
        }],
        requests,
        scenario: benchmark.and_then(|benchmark| benchmark.scenario.as_ref()),
        grpc: suite.grpc.as_ref(),
        run,
        steps: &steps,
        cores,
        slice,
        response_timeout: suite.response_timeout,
        seed: plan.seed,
    });
    // By hand nothing sends the lines that a session sends, so warm-up takes its longest time.
    spec.stepwise = false;
    for (step, played) in spec.steps.iter_mut().zip(&steps) {
        step.duration_ns = duration_ns::whole(played.duration);
    }
    Ok(spec)
}
