//! Carries out a load spec from standard input and prints its events as JSON Lines: the engine
//! alone, for benchmarks and for a look at it by hand. `drive summary` prints one line per step
//! instead, and `drive quantiles` three numbers: requests per second, p50 and p99 of the service
//! time in microseconds.

use std::io::Write as _;

use bakeoff_load::{Go, Stop};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{LoadEvent, LoadInterval, LoadSpec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec: LoadSpec = serde_json::from_reader(std::io::stdin().lock())?;
    let argument = std::env::args().nth(1);
    let summary: Option<fn(&[LoadInterval]) -> String> = match argument.as_deref() {
        None => None,
        Some("summary") => Some(summarise),
        Some("quantiles") => Some(quantiles),
        Some(other) => return Err(format!("unknown form {other}: summary or quantiles").into()),
    };
    let mut out = std::io::stdout().lock();
    let mut written = Ok(());
    let mut slices: Vec<LoadInterval> = Vec::new();
    bakeoff_load::run(&spec, &Stop::default(), &mut |_| Go::On, &mut |event| {
        let line = match event {
            event if summary.is_none() => {
                serde_json::to_string(&event).expect("events are plain data")
            }
            LoadEvent::Interval(slice) => {
                slices.push(*slice);
                return;
            }
            LoadEvent::StepDone { .. } => {
                summary.map_or_else(String::new, |of| of(&std::mem::take(&mut slices)))
            }
            _ => return,
        };
        if written.is_ok() {
            written = writeln!(out, "{line}");
        }
    })?;
    Ok(written?)
}

/// Rate, median and 99th percentile of a step.
fn quantiles(slices: &[LoadInterval]) -> String {
    let mut times = Histogram::new();
    let mut wall_ns = 0;
    for slice in slices {
        times.merge(&slice.service_time);
        wall_ns += slice.end_ns - slice.start_ns;
    }
    let at_us = |share| times.quantile_ns(share).unwrap_or(0) as f64 / 1e3;
    let rate = times.count() as f64 / (wall_ns as f64 / 1e9);
    format!("{rate} {} {}", at_us(0.5), at_us(0.99))
}

/// Rate, CPU time and quantiles of a step in one line.
fn summarise(slices: &[LoadInterval]) -> String {
    let seconds: f64 = slices
        .iter()
        .map(|s| (s.end_ns - s.start_ns) as f64 / 1e9)
        .sum();
    let requests: u64 = slices.iter().map(|s| s.requests).sum();
    let errors: u64 = slices
        .iter()
        .flat_map(|s| s.errors.values())
        .map(|e| e.count)
        .sum();
    let offered: u64 = slices.iter().filter_map(|s| s.offered).sum();
    let censored: u64 = slices.iter().map(|s| s.censored.count()).sum();
    let cpu_ns: u64 = slices.iter().map(|s| s.generator_cpu.total_ns()).sum();
    let quantiles = |name: &str, pick: fn(&LoadInterval) -> Option<&Histogram>| {
        let mut sum = Histogram::new();
        slices
            .iter()
            .filter_map(pick)
            .for_each(|one| sum.merge(one));
        let at = |q| sum.quantile_ns(q).unwrap_or(0) as f64 / 1e3;
        if sum.count() == 0 {
            return String::new();
        }
        format!(
            "; {name} p50 {:.0} p99 {:.0} p99.9 {:.0} us",
            at(0.5),
            at(0.99),
            at(0.999)
        )
    };
    format!(
        "{:.0}/s, {requests} requests, {errors} errors, {offered} offered, {censored} censored, \
         {:.2} us CPU each{}{}{}",
        requests as f64 / seconds,
        cpu_ns as f64 / 1e3 / requests.max(1) as f64,
        quantiles("service", |s| Some(&s.service_time)),
        quantiles("response", |s| s.response_time.as_ref()),
        quantiles("send lag", |s| s.send_lag.as_ref()),
    )
}
