//! `bakeoff load URL --capacity SLO`: the highest rate at which any URL meets objectives.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{anyhow, bail};
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::step::Step;
use bakeoff_model::load::{LoadEvent, LoadInterval, LoadSpec, StepSpec};
use bakeoff_model::record::totals::Totals;
use bakeoff_model::suite::capacity::{Arrivals, Capacity, Purpose};
use bakeoff_model::text::duration_ns;
use bakeoff_session::capacity::{CapacitySearch, Measured};
use bakeoff_validity::{Evidence, JudgedSlice, Setting, Slice};
use serde::Serialize;

use super::args::LoadArgs;
use super::summary::Summary;
use super::{page, spec, stop_on_signal};
use crate::exit;
use crate::output::session::capacity as words;
use crate::output::text;

/// Searches for the capacity, and prints each trial when it is over.
pub(super) fn search(args: &LoadArgs) -> anyhow::Result<u8> {
    let (spec, capacity) = (spec::spec(args)?, wanted(args)?);
    let stop = Stop::default();
    stop_on_signal(&stop);
    let closed = play(&spec, &capacity.closed_step(), &stop)?;
    let totals: Totals = closed.iter().collect();
    if totals.requests == 0 && !stop.is_stopped() {
        exit::show(&nothing_served(args, &spec, &closed));
        return Ok(exit::CHECK_FAILED);
    }
    let closed_per_s = totals.requests_per_s();
    if !args.json && !stop.is_stopped() {
        let longest = capacity.trial * (1 + capacity.trials_at_most);
        say(&[format!(
            "closed load: {closed_per_s:.0}/s over {} connections; from there trials of open load \
             look for the capacity, up to {} of {:?}: at most {}",
            capacity.connections,
            capacity.trials_at_most,
            capacity.trial,
            text::human(longest)
        )])?;
    }
    let search = CapacitySearch::new(&capacity, 1, closed_per_s, &[]);
    let mut search = search.map_err(|why| why.context(&args.url))?;
    while let Some(rate_per_s) = search.next_rate().filter(|_| !stop.is_stopped()) {
        let step = capacity.step(rate_per_s, Purpose::Search);
        let loads = play(&spec, &step, &stop)?;
        if stop.is_stopped() {
            break;
        }
        let judged = judged(&spec, &step, &loads);
        let record = search.take(rate_per_s, &Measured::of(&judged));
        match args.json {
            true => say_json(&record)?,
            false => say(&words::trial(&record, capacity.slos.len() > 1))?,
        }
    }
    if stop.is_stopped() {
        writeln!(std::io::stderr(), "interrupted: the search was not over")?;
        return Ok(exit::INTERRUPTED);
    }
    let mut status = exit::DONE;
    for found in search.found() {
        if found.capacity.is_none() {
            status = exit::CHECK_FAILED;
        }
        match args.json {
            true => say_json(&found)?,
            false => say(&[words::found(&found)])?,
        }
    }
    Ok(status)
}

/// Why there is no initial rate.
fn nothing_served(args: &LoadArgs, spec: &LoadSpec, closed: &[LoadInterval]) -> anyhow::Error {
    let mut summary = Summary::new(spec);
    for interval in closed {
        summary.add(interval, None);
    }
    let errors = page::errors(&summary);
    anyhow!(
        "{}: no request of the closed load before the search succeeded: {errors}",
        args.url
    )
}

/// Returns the search that the flags ask for.
pub(crate) fn wanted(args: &LoadArgs) -> anyhow::Result<Capacity> {
    let [connections] = args.connections.as_slice() else {
        bail!("--capacity: trials have one number of connections, --connections 64");
    };
    Ok(Capacity {
        slos: args.capacity.clone(),
        rates: None,
        arrivals: match args.poisson {
            true => Arrivals::Poisson,
            false => Arrivals::Constant,
        },
        connections: *connections,
        trial: args
            .duration
            .map_or(Capacity::TRIAL, |time| Duration::from_nanos(time.as_ns())),
        trials_at_most: args.trials,
        within: args.within.0,
    })
}

fn spec_of(spec: &LoadSpec, step: &Step) -> LoadSpec {
    LoadSpec {
        steps: vec![StepSpec {
            connections: step.connections,
            duration_ns: duration_ns::whole(step.duration),
            pace: step.pace,
            warm_up: step.warm_up,
            requests_max: 0,
            close_after: false,
            ..StepSpec::default()
        }],
        ..spec.clone()
    }
}

/// The slices of one step.
fn play(spec: &LoadSpec, step: &Step, stop: &Stop) -> anyhow::Result<Vec<LoadInterval>> {
    let mut slices = Vec::new();
    let mut failure = None;
    let mut observe = |event| match event {
        LoadEvent::Interval(interval) => slices.push(*interval),
        LoadEvent::Failed { message } => failure = Some(message),
        LoadEvent::Ready { .. }
        | LoadEvent::Began { .. }
        | LoadEvent::StepDone { .. }
        | LoadEvent::Done => {}
    };
    bakeoff_load::run(&spec_of(spec, step), stop, &mut |_| Go::On, &mut observe)?;
    match failure {
        Some(message) => bail!("{}: {message}", spec.target.address),
        None => Ok(slices),
    }
}

/// The slices with their verdicts: of a service that is not metered.
fn judged<'l>(
    spec: &LoadSpec,
    step: &Step,
    loads: &'l [LoadInterval],
) -> Vec<(JudgedSlice, &'l LoadInterval)> {
    let setting = Setting::of_load(&spec_of(spec, step), 0);
    let judge = |load: &'l LoadInterval| {
        let slice = Slice {
            load,
            contender: None,
            backend: None,
            host: None,
            tcp: None,
            others: None,
            unloaded: None,
        };
        (JudgedSlice::new(Evidence::of(&setting, &slice)), load)
    };
    loads.iter().map(judge).collect()
}

/// Lines that fit the terminal.
fn say(sentences: &[String]) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    for sentence in sentences {
        for (index, line) in text::wrapped(sentence, 76).iter().enumerate() {
            let indent = if index == 0 { "" } else { "    " };
            writeln!(output, "{indent}{line}")?;
        }
    }
    Ok(output.flush()?)
}

fn say_json(record: &impl Serialize) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", serde_json::to_string(record)?)?;
    Ok(output.flush()?)
}
