//! Figures of starts: of the runs of a load, or of cold starts alone.

use crate::figure::curves::{axis, labels};
use crate::figure::steps::over_runs;
use crate::figure::{Figure, Point, Scale, Series, Shape};
use crate::measure::{BenchmarkFigures, RunFigures};
use crate::number::{count, figures, seconds};

/// Start-up times, a dot for each run.
pub(crate) fn startup(benchmark: &BenchmarkFigures<'_>) -> Figure {
    let series = dots(benchmark, |run| {
        let startup = run.records.startup.as_ref()?;
        let cpu = startup.resources.cpu;
        let label = cpu.map(|cpu| format!("{} CPU s", figures(seconds(cpu.total_ns()))));
        Some((seconds(startup.startup_ns), label))
    });
    Figure {
        id: "startup",
        title: "Start-up".to_owned(),
        note: "From the beginning of the program to its first valid answer, one dot for each run. \
               Each line of the grid is a factor of ten.",
        shape: Shape::Dots,
        x: axis("s", Scale::Log),
        y: axis("", Scale::Categories(rows(benchmark))),
        series,
    }
}

/// What a start costs, a dot for each.
pub(crate) fn startup_cpu(benchmark: &BenchmarkFigures<'_>) -> Figure {
    let series = dots(benchmark, |run| {
        let startup = run.records.startup.as_ref()?;
        let cpu = startup.resources.cpu?;
        let label = format!("{} s", figures(seconds(startup.startup_ns)));
        Some((seconds(cpu.total_ns()), Some(label)))
    });
    Figure {
        id: "startup-cpu",
        title: "CPU time of a start".to_owned(),
        note: "User and system time until the first valid answer, one dot for each start. Each \
               line of the grid is a factor of ten.",
        shape: Shape::Dots,
        x: axis("CPU s", Scale::Log),
        y: axis("", Scale::Categories(rows(benchmark))),
        series,
    }
}

/// The share of starts that was done after a time: the whole distribution.
pub(crate) fn startup_share(benchmark: &BenchmarkFigures<'_>) -> Figure {
    let mut series = Vec::new();
    for (case, figures) in benchmark.cases.iter().enumerate() {
        let mut times: Vec<f64> = figures
            .completed()
            .filter_map(RunFigures::startup_s)
            .collect();
        times.sort_by(f64::total_cmp);
        let all = count(times.len());
        let points = times.iter().enumerate().map(|(place, time)| {
            let share = count(place + 1) / all * 100.0;
            Point::new(*time, Some(share))
        });
        series.push(Series {
            case,
            name: figures.label.clone(),
            run: None,
            published: false,
            points: points.collect(),
        });
    }
    Figure {
        id: "startup-share",
        title: "Share of starts that answer within a time".to_owned(),
        note: "A steep line starts as fast each time; a long foot to the right is a start that \
               somebody waits for.",
        shape: Shape::Lines,
        x: axis("s", Scale::Log),
        y: axis("% of starts", Scale::Linear),
        series,
    }
}

/// Names of the rows from below, so that the first case is on top.
fn rows(benchmark: &BenchmarkFigures<'_>) -> Vec<String> {
    labels(benchmark).into_iter().rev().collect()
}

/// One dot for each run that has a value, with its label.
fn dots<'a>(
    benchmark: &BenchmarkFigures<'a>,
    value: impl Fn(&RunFigures<'a>) -> Option<(f64, Option<String>)>,
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
