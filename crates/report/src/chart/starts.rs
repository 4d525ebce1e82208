//! Charts of starts: those in the runs of a load, or cold starts alone.

use crate::chart::curves::{axis, labels};
use crate::chart::steps::over_runs;
use crate::chart::{Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::data::benchmark::{BenchmarkData, RunData};
use bakeoff_analysis::data::number::{count, seconds, significant};

/// Start-up times, a dot for each run.
pub(crate) fn startup(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = dots(benchmark, |run| {
        let startup = run.records.startup.as_ref()?;
        let cpu = startup.resources.cpu;
        let label = cpu.map(|cpu| format!("{} CPU s", significant(seconds(cpu.total_ns()))));
        Some((seconds(startup.startup_ns), label))
    });
    Chart {
        id: "startup",
        title: "Start-up".to_owned(),
        note: "From the start of the program to its first valid response, one dot for each \
               run. Each line of the grid is a factor of ten.",
        shape: Shape::Dots,
        x: axis("s", Scale::Log),
        y: axis("", Scale::Categories(rows(benchmark))),
        series,
    }
}

/// Returns the chart of the cost of starts, a dot for each.
pub(crate) fn startup_cpu(benchmark: &BenchmarkData<'_>) -> Chart {
    let series = dots(benchmark, |run| {
        let startup = run.records.startup.as_ref()?;
        let cpu = startup.resources.cpu?;
        let label = format!("{} s", significant(seconds(startup.startup_ns)));
        Some((seconds(cpu.total_ns()), Some(label)))
    });
    Chart {
        id: "startup-cpu",
        title: "CPU time of a start".to_owned(),
        note: "User and system time until the first valid response, one dot for each start. Each \
               line of the grid is a factor of ten.",
        shape: Shape::Dots,
        x: axis("CPU s", Scale::Log),
        y: axis("", Scale::Categories(rows(benchmark))),
        series,
    }
}

/// The share of starts that was done after a time: the whole distribution.
pub(crate) fn startup_share(benchmark: &BenchmarkData<'_>) -> Chart {
    let mut series = Vec::new();
    for (case, data) in benchmark.cases.iter().enumerate() {
        let mut times: Vec<f64> = data.completed().filter_map(RunData::startup_s).collect();
        times.sort_by(f64::total_cmp);
        let all = count(times.len());
        let points = times.iter().enumerate().map(|(place, time)| {
            let share = count(place + 1) / all * 100.0;
            Point::new(*time, Some(share))
        });
        series.push(Series {
            case,
            name: data.label.clone(),
            run: None,
            published: false,
            points: points.collect(),
        });
    }
    Chart {
        id: "startup-share",
        title: "Share of starts that respond within a time".to_owned(),
        note: "A steep line starts as fast each time; a long tail to the right is a slow start.",
        shape: Shape::Lines,
        x: axis("s", Scale::Log),
        y: axis("% of starts", Scale::Linear),
        series,
    }
}

/// Names of the rows from below, so that the first case is on top.
fn rows(benchmark: &BenchmarkData<'_>) -> Vec<String> {
    labels(benchmark).into_iter().rev().collect()
}

/// One dot for each run that has a value, with its label.
fn dots<'a>(
    benchmark: &BenchmarkData<'a>,
    value: impl Fn(&RunData<'a>) -> Option<(f64, Option<String>)>,
) -> Vec<Series> {
    let mut series = over_runs(benchmark, |run| {
        let Some((x, label)) = value(run) else {
            return Vec::new();
        };
        let mut point = Point::new(x, Some(0.0));
        point.label = label;
        vec![point]
    });
    for one in &mut series {
        let row = count(benchmark.cases.len() - 1 - one.case);
        one.points.iter_mut().for_each(|point| point.y = Some(row));
    }
    series
}
