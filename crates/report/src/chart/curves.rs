//! Charts whose horizontal axis is not the steps.

use bakeoff_model::load::histogram::Histogram;

use crate::chart::steps::{is_ladder, over_runs};
use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::data::benchmark::{BenchmarkData, CaseData, StepData};
use bakeoff_analysis::data::number::{as_f64, count, milliseconds, seconds};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::tables::steady;
use bakeoff_analysis::tables::summary::BenchmarkSummary;

/// Fewer slices than this make no curve.
const SLICES_MIN: usize = 3;

pub(crate) fn axis(name: &str, scale: Scale) -> Axis {
    Axis {
        name: name.to_owned(),
        scale,
    }
}

pub(crate) fn labels(benchmark: &BenchmarkData<'_>) -> Vec<String> {
    benchmark
        .cases
        .iter()
        .map(|case| case.label.clone())
        .collect()
}

/// Peak throughput with its interval.
pub(crate) fn peaks(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Chart {
    let mut ordered: Vec<&Row> = summary.rows().collect();
    ordered.sort_by(|a, b| {
        let point = |row: &Row| row.peak.throughput.estimate.point;
        point(a).total_cmp(&point(b))
    });
    let categories = ordered.iter().map(|row| row.label.clone()).collect();
    let series = ordered.iter().enumerate().filter_map(|(place, row)| {
        let mut point = Point::new(row.peak.throughput.estimate.point, Some(count(place)));
        point.interval = row
            .peak
            .throughput
            .estimate
            .interval
            .map(|interval| (interval.low, interval.high));
        point.fair = row.validity().is_fair();
        point.label = Some(format!("at {}, {}", row.peak.step, row.validity().name()));
        let case = benchmark
            .cases
            .iter()
            .position(|case| case.label == row.label)?;
        Some(Series {
            case,
            name: row.label.clone(),
            run: None,
            published: false,
            points: vec![point],
        })
    });
    Chart {
        id: "peaks",
        title: "Peak throughput".to_owned(),
        note: "Mean over runs at the best step, from four runs on the one that is best in the \
               other runs, with its 95 % interval. Hollow: not a fair number.",
        shape: Shape::Estimates,
        x: axis("requests/s", Scale::Linear),
        y: axis("", Scale::Categories(categories)),
        series: series.collect(),
    }
}

pub(crate) fn throughput_latency(benchmark: &BenchmarkData<'_>) -> Chart {
    let is_ladder = is_ladder(benchmark);
    let series = over_runs(benchmark, |run| {
        let points = run.measured().filter(|_| is_ladder).map(|step| {
            let p99 = step.latency().map(|latency| latency.p99_ms);
            let mut point = Point::new(step.throughput(), p99);
            point.fair = step.validity.is_fair();
            point.label = Some(format!("at {}", step.label));
            point
        });
        points.collect()
    });
    Chart {
        id: "throughput-latency",
        title: "Throughput against p99".to_owned(),
        note: "Each line goes through the measured steps of a contender; further right and lower \
               is better. Where it turns up, more load only means more waiting.",
        shape: Shape::Lines,
        x: axis("requests/s", Scale::Linear),
        y: axis("p99, ms", Scale::Log),
        series,
    }
}

/// Requests and CPU since the start of the load and of the process, step by step. Nothing of
/// sets, where requests between the turns are not counted and their CPU time is.
pub(crate) fn cumulative(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let mut requests = 0;
        let mut points = Vec::new();
        if run.steps.iter().any(StepData::is_in_turns) {
            return points;
        }
        let first = run.records.intervals.first();
        let before = first.and_then(|slice| slice.contender_before.as_ref()?.cpu);
        if let Some(cpu) = before {
            let mut point = Point::new(0.0, Some(seconds(cpu.total_ns())));
            point.label = Some("before the load".to_owned());
            points.push(point);
        }
        for step in &run.steps {
            requests += step.totals.requests;
            let last = step.slices.last();
            let cpu = last.and_then(|slice| slice.contender_after.as_ref()?.cpu);
            let total = cpu.map(|cpu| seconds(cpu.total_ns()));
            let mut point = Point::new(as_f64(requests), total);
            point.label = Some(format!("after {}", step.label));
            points.push(point);
        }
        points
    });
    Chart {
        id: "cumulative",
        title: "All CPU time against all requests".to_owned(),
        note: "CPU time of the contender since it started, start-up and checks included, against \
               successful requests so far. The height at 0 is the price of starting, the slope \
               that of a request.",
        shape: Shape::Lines,
        x: axis("successful requests so far", Scale::Linear),
        y: axis("CPU s so far", Scale::Linear),
        series,
    }
}

/// Throughput of each slice at the start of the load.
pub(crate) fn warm_up(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = over_runs(benchmark, |run| {
        let slices = steady::first_load(run);
        if slices.len() < SLICES_MIN {
            return Vec::new();
        }
        slices
            .iter()
            .map(|(at_s, throughput)| Point::new(*at_s, Some(*throughput)))
            .collect()
    });
    Chart {
        id: "warm-up",
        title: "Warm-up".to_owned(),
        note: "Throughput of each recorded slice since the load started, for as long as the number \
               of connections stays what it was at first; of the warm-up until steady where there \
               is one.",
        shape: Shape::Lines,
        x: axis("s since the load started", Scale::Linear),
        y: axis("requests/s", Scale::Linear),
        series,
    }
}

/// The whole distribution of times at the peak step, all runs merged.
pub(crate) fn distribution(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Chart {
    let mut series = Vec::new();
    for row in summary.rows() {
        let Some(case) = benchmark
            .cases
            .iter()
            .position(|case| case.label == row.label)
        else {
            continue;
        };
        if let Some(whole) = at_step(&benchmark.cases[case], &row.peak.step) {
            let points = quantiles(&whole);
            series.push(Series {
                case,
                name: row.label.clone(),
                run: None,
                published: false,
                points,
            });
        }
    }
    series.sort_by_key(|series| series.case);
    Chart {
        id: "distribution",
        title: "Distribution of times at the peak".to_owned(),
        note: "How long the given share of requests took at most, at the step of each contender's \
               peak, all completed runs merged.",
        shape: Shape::Lines,
        x: axis("share of requests", Scale::Quantile),
        y: axis("ms", Scale::Log),
        series,
    }
}

fn at_step(case: &CaseData<'_>, label: &str) -> Option<Histogram> {
    let steps = case.completed().filter_map(|run| run.step(label));
    Histogram::sum(steps.flat_map(|step| step.histograms()))
}

/// Four points for each halving of the rest, as far as single requests reach.
fn quantiles(whole: &Histogram) -> Vec<Point> {
    let mut points = Vec::new();
    let requests = as_f64(whole.count());
    let mut inverse: f64 = 1.0;
    while inverse <= requests.max(2.0) {
        let quantile = 1.0 - 1.0 / inverse;
        let time = whole.quantile_ns(quantile).map(milliseconds);
        points.push(Point::new(inverse, time));
        inverse *= 2_f64.powf(0.25);
    }
    points
}
