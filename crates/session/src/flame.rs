//! Flame graphs of a session. Taking samples costs CPU time, so they are of one more run of each
//! case, after the measured ones: nothing of it is recorded, and nothing that is recorded pays for
//! it.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bakeoff_model::conditions::RuntimeKind;
use bakeoff_model::duration_ns;
use bakeoff_model::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::layers::LayerRules;
use bakeoff_model::load::Pace;
use bakeoff_model::plan::{Plan, PlannedRun, RunKind};
use bakeoff_model::step::{self, Step};
use bakeoff_model::suite::Suite;
use bakeoff_runtime::flame::{Sampling, Stacks, perf_is_missing};

use crate::case::Case;
use crate::contracts::{Halt, LoadGenerator, Parts, PendingRun, STOP_GRACE};
use crate::driver::Driver;
use crate::event::{Event, Observer, Unheard};
use crate::hint::hinted;
use crate::stages::measure::{Loading, On};
use crate::stages::start::{await_ready, start};
use crate::store::flame_file;

/// The file of a suite with rules of its own.
const LAYERS: &str = "layers.toml";

/// The step with the samples is at least so long: a thousand of them and more.
const SAMPLED_MIN: Duration = Duration::from_secs(10);

/// Whether contenders of a runtime can be sampled.
///
/// # Errors
/// They cannot.
pub fn check(runtime: RuntimeKind) -> anyhow::Result<()> {
    match runtime {
        RuntimeKind::Process => Ok(()),
        other => Err(hinted(
            format_args!("flame graphs are of local processes, and --runtime {other} has none"),
            "leave --runtime out: the limits are the same. In a container, take samples by hand: \
             `bakeoff up` with --runtime docker, then perf or jcmd beside it",
        )),
    }
}

/// What the user should know before hours have passed, one sentence each.
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
/// Its file cannot be read, or is none of rules.
pub(crate) fn layer_rules(suite: &Path) -> anyhow::Result<LayerRules> {
    let file = suite.join(LAYERS);
    match fs::read_to_string(&file) {
        Ok(text) => {
            let rules = LayerRules::with(&text);
            rules.map_err(|error| anyhow!("{}: {error}", file.display()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(LayerRules::built_in()),
        Err(error) => Err(error).context(file.display().to_string()),
    }
}

/// The runs to be made for flame graphs: one of each case of these contenders with load.
pub(crate) fn runs(plan: &Plan, contenders: &BTreeSet<&String>) -> Vec<PlannedRun> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    for run in &plan.runs {
        let known = |one: &PlannedRun| {
            one.benchmark == run.benchmark && one.case_label() == run.case_label()
        };
        // The control is a case that is there already.
        if run.kind == RunKind::Load
            && !run.control
            && contenders.contains(&&run.contender)
            && !runs.iter().any(known)
        {
            runs.push(sampled(run));
        }
    }
    runs
}

/// A run with its warm-up and the stated step, which is long enough.
fn sampled(run: &PlannedRun) -> PlannedRun {
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
            // These have a duration of their own.
            Pace::Ramp { .. } | Pace::Users { .. } => step.duration,
            _ => step.duration.max(SAMPLED_MIN),
        },
        ..step
    }));
    PlannedRun {
        id: format!("{id}.flame"),
        expected: steps.iter().map(|step| step.duration).sum(),
        steps,
        step_order: Vec::new(),
        in_turns: false,
        group: None,
        turn_ns: None,
        latency: None,
        lifecycle: false,
        ..run.clone()
    }
}

/// Draws the flame graphs of all runs; one that fails is a sentence and not the end.
///
/// # Errors
/// Only an observer's, and those of the results folder.
pub(crate) async fn draw_all<L: LoadGenerator>(
    driver: &Driver<'_, L>,
    runs: &[PlannedRun],
    rules: &LayerRules,
    results: &Path,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    for (index, run) in runs.iter().enumerate() {
        observer.observe(&Event::FlameGraphBegan {
            index,
            flame_graphs: runs.len(),
            case: run.case_label(),
            benchmark: run.benchmark.clone(),
            expected_ns: duration_ns::whole(run.expected),
        })?;
        let case = driver.cases.case(&PendingRun {
            run: run.clone(),
            attempt: 1,
        });
        let connections = run.steps.last().map_or(0, |step| step.connections);
        let title = format!(
            "{}: {}, {connections} connections",
            run.case_label(),
            run.benchmark
        );
        let drawn = stacks(&driver.parts, &case).await;
        let drawn = drawn.and_then(|stacks| Ok((stacks.svg(&title)?, stacks)));
        let outcome = match drawn {
            Ok((svg, stacks)) => {
                let file = format!("{}/{}.svg", flame_file::FOLDER, run.id);
                flame_file::keep_svg(results, &file, &svg)?;
                FlameOutcome::Drawn {
                    file,
                    sampler: stacks.sampler.to_owned(),
                    samples: stacks.samples,
                    layers: rules.samples(&stacks.folded),
                }
            }
            Err(why) => FlameOutcome::Failed { why },
        };
        let flame_graph = FlameGraph {
            benchmark: run.benchmark.clone(),
            contender: run.contender.clone(),
            parameters: run.parameters.clone(),
            connections,
            outcome,
        };
        flame_file::keep(results, &flame_graph)?;
        observer.observe(&Event::FlameGraphEnded {
            flame_graph: Box::new(flame_graph),
        })?;
    }
    Ok(())
}

/// Starts the contender, loads it and takes samples in the last step.
async fn stacks<L: LoadGenerator>(parts: &Parts<'_, L>, case: &Case) -> Result<Stacks, String> {
    let spec = case.startable().map_err(|failure| failure.to_string())?;
    let started = start(parts.runtime, parts.backend, spec).await;
    let mut instance = started.map_err(|failure| failure.to_string())?;
    let ready = await_ready(instance.as_mut(), spec).await;
    ready.map_err(|failure| failure.to_string())?;
    let mut on = On {
        parts,
        case,
        instance: instance.as_mut(),
    };
    let stacks = loaded(&mut on).await;
    instance.stop(STOP_GRACE).await;
    stacks
}

async fn loaded<L: LoadGenerator>(on: &mut On<'_, L>) -> Result<Stacks, String> {
    let mut loading = Loading::begin(std::slice::from_ref(on))
        .await
        .map_err(said)?;
    for _ in 1..on.case.begin.run.steps.len() {
        loading.play_alone(on, &mut Unheard).await.map_err(said)?;
    }
    let sampling = Sampling::begin(&on.instance.processes()).await?;
    let played = loading.play_alone(on, &mut Unheard).await;
    // A recorder in a JVM has to be stopped while that lives.
    let stacks = sampling.end().await;
    played.map_err(said)?;
    stacks
}

fn said(halt: Halt) -> String {
    match halt {
        Halt::Failed(failure) => failure.to_string(),
        Halt::Fatal(error) => format!("{error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::sampled;
    use crate::tests::fakes::pending;

    #[test]
    fn a_sampled_run_is_the_warm_up_and_the_step_that_tables_are_about() {
        let mut run = pending("city.one_two.r3", true).run;
        let first = run.steps[0];
        run.steps = [(4, true), (1, false), (48, false), (512, false)]
            .map(|(connections, warm_up)| bakeoff_model::step::Step {
                connections,
                warm_up,
                ..first
            })
            .to_vec();
        let sampled = sampled(&run);
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
