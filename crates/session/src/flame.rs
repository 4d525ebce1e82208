//! Flame graphs of a session. Sampling costs CPU time, so each case gets an additional run after
//! the measured ones, of which nothing is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput, SAMPLED_SETS_MAX};
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::Pace;
use bakeoff_model::load::step::{self, Step};
use bakeoff_model::measure::changed::{self, Change};
use bakeoff_model::measure::flame_graph::{FlameDifference, FlameGraph, FlameOutcome};
use bakeoff_model::measure::layers::{LayerRules, NamedSamples};
use bakeoff_model::plan::{Plan, PlannedRun, RunKind};
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::text::duration_ns;
use bakeoff_places::contracts::STOP_GRACE;
use bakeoff_places::flame::{Sampling, Stacks, perf_is_missing};
use bakeoff_places::{Instance, StartSpec};
use bakeoff_store::event::{Event, NullObserver, Observer};
use bakeoff_store::{flame_file, results};

use crate::contracts::{Halt, PendingRun, SessionDeps};
use crate::driver::Driver;
use crate::ready_case::Case;
use crate::stages::measure::{LoadDriver, RunContext};
use crate::stages::start::{await_ready, start};

/// The file of a suite's own rules.
const LAYERS: &str = "layers.toml";

/// The most functions of a contender that are kept: those that were seen most often.
const FUNCTIONS_MAX: usize = 200;

/// The step with the samples is at least this long: a thousand of them and more.
const SAMPLED_MIN: Duration = Duration::from_secs(10);

/// The step is at least this long if the sources of two contenders are compared: a change that
/// costs one percent is then in some forty of 4000 samples. If no change is significant, another
/// set of samples is added, up to [`SAMPLED_SETS_MAX`].
const COMPARED_MIN: Duration = Duration::from_secs(20);

/// The layers and changes that samples are divided by.
pub(crate) struct Reading<'s> {
    /// The layers that functions belong to.
    pub(crate) rules: &'s LayerRules,
    /// The changes between the sources of two contenders; none if they are not compared.
    pub(crate) changes: &'s [Change],
}

/// Whether contenders of a runtime can be sampled.
///
/// # Errors
/// Contenders of this runtime cannot be sampled.
pub fn check(runtime: RuntimeKind, hosts: &FarHosts) -> anyhow::Result<()> {
    if let Some(address) = &hosts.contender {
        return Err(hinted(
            format_args!("flame graphs need contenders on this host, not on {address}"),
            "omit --profile-cpu, or run bakeoff on that host",
        ));
    }
    match runtime {
        RuntimeKind::Process | RuntimeKind::Docker | RuntimeKind::Kubernetes => Ok(()),
        RuntimeKind::External => Err(hinted(
            format_args!(
                "flame graphs need processes on this host, and --runtime {runtime} has none"
            ),
            "use --runtime process or --runtime docker: the limits are the same",
        )),
    }
}

/// Returns a warning for the user before hours have passed, one sentence each.
pub(crate) fn not_to_be_had(plan: &Plan, suite: &Suite) -> Option<String> {
    let missing = perf_is_missing()?;
    let taking_part = |name: &str| plan.runs.iter().any(|run| run.contender == name);
    let native = suite.contenders.iter();
    let native = native.filter(|one| one.jdk.is_none() && taking_part(&one.name));
    let names: Vec<&str> = native.map(|one| one.name.as_str()).collect();
    let list = names.join(", ");
    (!names.is_empty()).then(|| format!("there will be no flame graph of {list}: {missing}"))
}

/// The rules of layers: those of the suite, if it has a file of them, before those that come with
/// bakeoff.
///
/// # Errors
/// The file of the suite cannot be read, or has no rules.
pub(crate) fn layer_rules(suite: &Path) -> anyhow::Result<LayerRules> {
    let file = suite.join(LAYERS);
    match fs::read_to_string(&file) {
        Ok(text) => {
            let rules = LayerRules::with(&text);
            Ok(rules.map_err(|error| error.context(file.display()))?)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(LayerRules::built_in()),
        Err(error) => Err(error).context(file.display().to_string()),
    }
}

/// The runs to be made for flame graphs: one of each case of these contenders with load. They are
/// longer if sources are compared.
pub(crate) fn runs(
    plan: &Plan,
    contenders: &BTreeSet<&String>,
    changes: &[Change],
) -> Vec<PlannedRun> {
    let at_least = match changes.is_empty() {
        true => SAMPLED_MIN,
        false => COMPARED_MIN,
    };
    let mut runs: Vec<PlannedRun> = Vec::new();
    for run in &plan.runs {
        let known = |one: &PlannedRun| {
            one.benchmark == run.benchmark && one.case_label() == run.case_label()
        };
        // A twin is a case that is there already.
        if run.kind == RunKind::Load
            && !run.twin
            && contenders.contains(&&run.contender)
            && !runs.iter().any(known)
        {
            runs.push(sampled(run, at_least));
        }
    }
    runs
}

/// A run with its warm-up and the stated step, which is long enough.
fn sampled(run: &PlannedRun, at_least: Duration) -> PlannedRun {
    let id = run
        .id
        .rsplit_once(".r")
        .map_or(run.id.as_str(), |(id, _)| id);
    let (warm_up, measured): (Vec<Step>, Vec<Step>) =
        run.steps.iter().copied().partition(|step| step.warm_up);
    let stated = step::stated(&measured).map(|index| measured[index]);
    let mut steps = warm_up;
    steps.extend(stated.map(|step| Step {
        duration: match step.pace {
            // These have their own duration.
            Pace::Ramp { .. } | Pace::Users { .. } => step.duration,
            _ => step.duration.max(at_least),
        },
        ..step
    }));
    PlannedRun {
        id: format!("{id}.flame"),
        expected: steps.iter().map(|step| step.duration).sum(),
        steps,
        step_order: Vec::new(),
        latency: None,
        lifecycle: false,
        ..run.clone()
    }
}

/// Draws the flame graphs of all runs; one that fails is a sentence and not the end.
///
/// # Errors
/// Only an observer's, and those of the results folder.
pub(crate) async fn draw_all(
    driver: &Driver<'_>,
    runs: &[PlannedRun],
    reading: &Reading<'_>,
    results: &Path,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let mut left = runs;
    while let Some(first) = left.first() {
        // Those that take turns are alive concurrently, and sampled at the same time.
        let is_of_set = |one: &&PlannedRun| {
            first.in_turns
                && one.in_turns
                && (&one.benchmark, one.group) == (&first.benchmark, first.group)
        };
        let of_set = left.iter().take_while(is_of_set).count().max(1);
        let (set, rest) = left.split_at(of_set);
        let case = |run: &PlannedRun| {
            driver.cases.case(&PendingRun {
                run: run.clone(),
                attempt: 1,
            })
        };
        let cases: Vec<Case> = set.iter().map(case).collect();
        let mut sampled: Option<Vec<Result<Stacks, Problem>>> = None;
        let mut graphs = Vec::new();
        for _ in 0..SAMPLED_SETS_MAX {
            for (offset, run) in set.iter().enumerate() {
                observer.observe(&Event::FlameGraphBegan {
                    index: runs.len() - left.len() + offset,
                    flame_graphs: runs.len(),
                    case: run.case_label(),
                    benchmark: run.benchmark.clone(),
                    expected_ns: duration_ns::whole(run.expected),
                })?;
            }
            let more = stacks(&driver.parts, &cases).await;
            let all = match sampled.take() {
                Some(before) => before.into_iter().zip(&more).map(joined).collect(),
                None => more,
            };
            graphs = drawn(set, &all, reading, results)?;
            sampled = Some(all);
            if reading.changes.is_empty() || are_found(results, &first.benchmark)? {
                break;
            }
        }
        for flame_graph in graphs {
            observer.observe(&Event::FlameGraphEnded {
                flame_graph: Box::new(flame_graph),
            })?;
        }
        left = rest;
    }
    Ok(())
}

/// The samples of a contender in the sets before and in another one; without it if it failed.
fn joined(
    (before, more): (Result<Stacks, Problem>, &Result<Stacks, Problem>),
) -> Result<Stacks, Problem> {
    match (before, more) {
        (Ok(before), Ok(more)) => Ok(before.and(more)),
        (Ok(before), Err(_)) => Ok(before),
        (Err(_), more) => more.clone(),
    }
}

/// Whether the samples show which changes cost CPU in a benchmark, for each pair of contenders
/// whose sources are compared.
fn are_found(results: &Path, benchmark: &str) -> anyhow::Result<bool> {
    let recorded = results::read(results)?;
    let analysis = Analysis::of(&AnalysisInput::new(&recorded, ""));
    let loads = analysis.loads.iter();
    let of_benchmark = loads.filter(|load| load.summary.name == benchmark);
    let tables = of_benchmark.flat_map(|load| &load.summary.tables);
    let mut reasons = tables.flat_map(|table| &table.reasons);
    Ok(reasons.all(|one| {
        let changes = one.sampled.as_ref().and_then(|pair| pair.changes.as_ref());
        changes.is_none_or(|changes| !changes.significant.is_empty())
    }))
}

/// Draws what was sampled in the runs of a set, and keeps it.
fn drawn(
    set: &[PlannedRun],
    sampled: &[Result<Stacks, Problem>],
    reading: &Reading<'_>,
    results: &Path,
) -> anyhow::Result<Vec<FlameGraph>> {
    let reference = set.iter().zip(sampled).find_map(|(run, sampled)| {
        let stacks = sampled.as_ref().ok()?;
        Some((run.case_label(), stacks))
    });
    let folded = sampled.iter().map(|one| match one {
        Ok(stacks) => stacks.folded.as_str(),
        Err(_) => "",
    });
    let changes = changed::samples(reading.changes, &folded.collect::<Vec<&str>>());
    let mut graphs = Vec::new();
    for ((run, stacks), changes) in set.iter().zip(sampled).zip(changes) {
        let other = reference.as_ref();
        let graph = drawn_run(run, stacks, other, reading.rules, changes, results)?;
        flame_file::keep(results, &graph)?;
        graphs.push(graph);
    }
    Ok(graphs)
}

/// Draws what was sampled in a run, and how it differs from the reference, unless it is that.
fn drawn_run(
    run: &PlannedRun,
    stacks: &Result<Stacks, Problem>,
    reference: Option<&(String, &Stacks)>,
    rules: &LayerRules,
    changes: Vec<NamedSamples>,
    results: &Path,
) -> anyhow::Result<FlameGraph> {
    let connections = run.steps.last().map_or(0, |step| step.connections);
    let label = run.case_label();
    let title = format!("{label}: {}, {connections} connections", run.benchmark);
    let drawn = match stacks {
        Ok(stacks) => stacks.svg(&title).map(|svg| (svg, stacks)),
        Err(why) => Err(why.clone()),
    };
    let outcome = match drawn {
        Ok((svg, stacks)) => {
            let file = format!("{}/{}.svg", flame_file::FOLDER, run.id);
            flame_file::keep_svg(results, &file, &svg)?;
            let other = reference.filter(|(other, _)| *other != label);
            FlameOutcome::Drawn {
                file,
                sampler: stacks.sampler.to_owned(),
                samples: stacks.samples,
                layers: rules.samples(&stacks.folded),
                functions: rules.functions(&stacks.folded, FUNCTIONS_MAX),
                inclusive: rules.inclusive(&stacks.folded, FUNCTIONS_MAX),
                changes,
                difference: match other {
                    Some((other, of_other)) => difference(run, stacks, other, of_other, results)?,
                    None => None,
                },
            }
        }
        Err(why) => FlameOutcome::Failed {
            why: why.to_string(),
        },
    };
    Ok(FlameGraph {
        benchmark: run.benchmark.clone(),
        contender: run.contender.clone(),
        parameters: run.parameters.clone(),
        connections,
        outcome,
    })
}

/// `None` if samplers differ, whose stacks have nothing in common.
fn difference(
    run: &PlannedRun,
    stacks: &Stacks,
    other: &str,
    of_other: &Stacks,
    results: &Path,
) -> anyhow::Result<Option<FlameDifference>> {
    if stacks.sampler != of_other.sampler {
        return Ok(None);
    }
    let title = format!("{}: more CPU (red) or less than {other}", run.case_label());
    let Ok(svg) = stacks.svg_of_difference(of_other, &title) else {
        return Ok(None);
    };
    let file = format!("{}/{}.difference.svg", flame_file::FOLDER, run.id);
    flame_file::keep_svg(results, &file, &svg)?;
    Ok(Some(FlameDifference {
        from: other.to_owned(),
        file,
    }))
}

/// Variables by which Node.js, Python (3.12 and later), .NET and JVMs make the functions that they
/// compile known to `perf`. Others ignore them.
const MAPS: [(&str, &str); 4] = [
    (
        "NODE_OPTIONS",
        "--perf-basic-prof --interpreted-frames-native-stack",
    ),
    ("JAVA_TOOL_OPTIONS", "-XX:+PreserveFramePointer"),
    ("PYTHONPERFSUPPORT", "1"),
    ("DOTNET_PerfMapEnabled", "1"),
];

/// Returns an environment with [`MAPS`]; what it says already comes before.
fn with_maps(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = env.clone();
    for (name, value) in MAPS {
        let whole = match env.get(name) {
            Some(own) if name.ends_with("_OPTIONS") => format!("{own} {value}"),
            Some(own) => own.clone(),
            None => value.to_owned(),
        };
        env.insert(name.to_owned(), whole);
    }
    env
}

/// Removes the files that [`MAPS`] made of these processes.
fn remove_maps(processes: &[u32]) {
    for process in processes {
        for file in [
            format!("perf-{process}.map"),
            format!("perfinfo-{process}.map"),
        ] {
            // Most programs write none.
            let _ = fs::remove_file(Path::new("/tmp").join(file));
        }
    }
}

/// Starts the contenders, loads them and takes samples of all in the last step.
async fn stacks(parts: &SessionDeps<'_>, cases: &[Case]) -> Vec<Result<Stacks, Problem>> {
    let mut instances: Vec<Result<Box<dyn Instance>, Problem>> = Vec::new();
    for case in cases {
        instances.push(alive(parts, case).await);
    }
    let living = cases.iter().zip(&mut instances);
    let mut ons: Vec<RunContext<'_>> = living
        .filter_map(|(case, instance)| {
            let instance = instance.as_mut().ok()?.as_mut();
            Some(RunContext {
                parts,
                case,
                instance,
            })
        })
        .collect();
    let mut sampled = loaded(&mut ons).await.into_iter();
    drop(ons);
    let mut stacks = Vec::new();
    for instance in instances {
        stacks.push(match instance {
            Ok(mut instance) => {
                let processes = instance.processes();
                instance.stop(STOP_GRACE).await;
                remove_maps(&processes);
                let sampled = sampled.next();
                sampled.unwrap_or_else(|| Err("it was not loaded".into()))
            }
            Err(why) => Err(why),
        });
    }
    stacks
}

/// Starts a contender that gives `perf` the names of its functions.
async fn alive(parts: &SessionDeps<'_>, case: &Case) -> Result<Box<dyn Instance>, Problem> {
    let spec = case.startable().map_err(Problem::new)?;
    let spec = StartSpec {
        env: with_maps(&spec.env),
        ..spec.clone()
    };
    let started = start(parts, &spec).await;
    let mut instance = started.map_err(said)?;
    let ready = await_ready(instance.as_mut(), &spec).await;
    ready.map_err(said)?;
    Ok(instance)
}

/// Loads contenders that are alive, and samples all of them in the last step.
async fn loaded(ons: &mut [RunContext<'_>]) -> Vec<Result<Stacks, Problem>> {
    let mut samplings = Vec::new();
    let played = played(ons, &mut samplings).await;
    let mut stacks = Vec::new();
    for sampling in samplings {
        // A recorder in a JVM has to be stopped while that lives.
        stacks.push(match sampling {
            Ok(sampling) => sampling.end().await,
            Err(why) => Err(why),
        });
    }
    match played {
        Ok(()) => stacks,
        Err(why) => ons.iter().map(|_| Err(why.clone())).collect(),
    }
}

async fn played(
    ons: &mut [RunContext<'_>],
    samplings: &mut Vec<Result<Sampling, Problem>>,
) -> Result<(), Problem> {
    let Some(first) = ons.first() else {
        return Ok(());
    };
    let warm_ups = first.case.begin.run.steps.len().saturating_sub(1);
    let mut loading = LoadDriver::begin(ons).await.map_err(said)?;
    for _ in 0..warm_ups {
        loading.play(ons, &mut NullObserver).await.map_err(said)?;
    }
    for on in ons.iter() {
        samplings.push(Sampling::begin(&on.instance.processes()).await);
    }
    loading.play(ons, &mut NullObserver).await.map_err(said)?;
    match (0..ons.len()).find_map(|index| loading.lost(index)) {
        Some(failure) => Err(Problem::new(failure)),
        None => Ok(()),
    }
}

fn said(halt: Halt) -> String {
    match halt {
        Halt::Failed(failure) => failure.to_string(),
        Halt::Fatal(error) => format!("{error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::{sampled, with_maps};
    use crate::tests::fakes::pending;

    #[test]
    fn options_of_a_runtime_that_are_given_stay() {
        let own = [("NODE_OPTIONS", "--no-opt"), ("PYTHONPERFSUPPORT", "0")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env = with_maps(&BTreeMap::from(own));
        assert!(env["NODE_OPTIONS"].starts_with("--no-opt --perf-basic-prof"));
        assert_eq!(env["PYTHONPERFSUPPORT"], "0");
        assert_eq!(env["DOTNET_PerfMapEnabled"], "1");
    }

    #[test]
    fn a_sampled_run_is_the_warm_up_and_the_step_that_tables_are_about() {
        let mut run = pending("city.one_two.r3", true).run;
        let first = run.steps[0];
        run.steps = [(4, true), (1, false), (48, false), (512, false)]
            .map(|(connections, warm_up)| bakeoff_model::load::step::Step {
                connections,
                warm_up,
                ..first
            })
            .to_vec();
        let sampled = sampled(&run, super::SAMPLED_MIN);
        assert_eq!(
            (sampled.id.as_str(), sampled.lifecycle),
            ("city.one_two.flame", false)
        );
        let steps = sampled.steps.iter();
        let steps: Vec<(u32, bool)> = steps.map(|step| (step.connections, step.warm_up)).collect();
        assert_eq!(steps, [(4, true), (48, false)]);
        assert_eq!(sampled.steps[1].duration, Duration::from_secs(10));
        assert_eq!(sampled.steps[0].duration, first.duration);
    }
}
