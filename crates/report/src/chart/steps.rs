//! Charts with the steps of the load on the horizontal axis. A single step makes no axis: where
//! only one was measured there is none of these.

use bakeoff_model::record::Moment;

use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::data::benchmark::{BenchmarkData, RunData, StepData};
use bakeoff_analysis::data::number::{count, mib};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Percentile {
    P50,
    P90,
    P99,
}

/// The chart of one step, and what it looks like.
struct Drawing {
    id: &'static str,
    title: &'static str,
    note: &'static str,
    unit: &'static str,
    scale: Scale,
}

const STEPS: &str = "connections";
/// The axis name if warm-up steps are among the others.
const WARM_UP_STEPS: &str = "connections (w = warm-up step)";

fn draw(
    benchmark: &BenchmarkData<'_>,
    drawing: Drawing,
    value: impl Fn(&StepData<'_>) -> Option<f64>,
) -> Chart {
    let labels = axis_steps(benchmark);
    let series = over_runs(benchmark, |run| {
        let points = labels.iter().enumerate().map(|(index, label)| {
            let step = run.step(label);
            step_point(count(index), step, step.and_then(&value))
        });
        points.collect()
    });
    chart(drawing, labels, series)
}

/// The steps that a line goes through; none if a single one was measured. Warm-up steps are among
/// them if their load is lower than that of every measured one, so that it rises along the axis:
/// others would be a peak at the left of each line.
fn axis_steps(benchmark: &BenchmarkData<'_>) -> Vec<String> {
    let runs = || benchmark.cases.iter().flat_map(|case| &case.runs);
    let found = |label: &String| runs().find_map(|run| run.step(label));
    let steps: Vec<&StepData<'_>> = benchmark.step_labels.iter().filter_map(found).collect();
    let measured = || steps.iter().filter(|step| !step.warm_up);
    let lowest = measured().map(|step| step.connections).min();
    let is_on_axis = |step: &&&StepData<'_>| !step.warm_up || Some(step.connections) < lowest;
    match measured().count() {
        0 | 1 => Vec::new(),
        _ => {
            let on_axis = steps.iter().filter(is_on_axis);
            on_axis.map(|step| step.label.clone()).collect()
        }
    }
}

fn chart(drawing: Drawing, categories: Vec<String>, series: Vec<Series>) -> Chart {
    let name = match categories.iter().any(|label| label.starts_with('w')) {
        true => WARM_UP_STEPS,
        false => STEPS,
    };
    Chart {
        id: drawing.id,
        title: drawing.title.to_owned(),
        note: drawing.note,
        shape: Shape::Lines,
        x: Axis {
            name: name.to_owned(),
            scale: Scale::Categories(categories),
        },
        y: Axis {
            name: drawing.unit.to_owned(),
            scale: drawing.scale,
        },
        series,
    }
}

fn step_point(x: f64, step: Option<&StepData<'_>>, value: Option<f64>) -> Point {
    let mut point = Point::new(x, value);
    if let Some(step) = step {
        point.fair = step.validity.is_fair();
        if !point.fair {
            point.label = Some(step.validity.name().to_owned());
        }
    }
    point
}

/// Whether several steps were measured.
pub(crate) fn is_ladder(benchmark: &BenchmarkData<'_>) -> bool {
    !axis_steps(benchmark).is_empty()
}

/// One series for each run of each case.
pub(crate) fn over_runs<'a>(
    benchmark: &BenchmarkData<'a>,
    points: impl Fn(&RunData<'a>) -> Vec<Point>,
) -> Vec<Series> {
    let mut series = Vec::new();
    for (index, case) in benchmark.cases.iter().enumerate() {
        for run in &case.runs {
            series.push(Series {
                case: index,
                name: case.label.clone(),
                run: Some(run.repetition()),
                published: false,
                points: points(run),
            });
        }
    }
    series
}

pub(crate) fn throughput(benchmark: &BenchmarkData<'_>) -> Chart {
    let drawing = Drawing {
        id: "throughput",
        title: "Throughput",
        note: "Successful requests per second in each step. Higher is better.",
        unit: "requests/s",
        scale: Scale::Linear,
    };
    draw(benchmark, drawing, |step| Some(step.throughput()))
}

pub(crate) fn percentile(benchmark: &BenchmarkData<'_>, which: Percentile) -> Chart {
    let (id, title) = match which {
        Percentile::P50 => ("p50", "Median response time (p50)"),
        Percentile::P90 => ("p90", "90th percentile of response times (p90)"),
        Percentile::P99 => ("p99", "99th percentile of response times (p99)"),
    };
    let note = "Successful requests; from the intended send where there is a schedule, else from \
                the real one. Lower is better; each line of the grid is a factor of ten.";
    let drawing = Drawing {
        id,
        title,
        note,
        unit: "ms",
        scale: Scale::Log,
    };
    draw(benchmark, drawing, move |step| {
        let latency = step.latency()?;
        Some(match which {
            Percentile::P50 => latency.p50_ms,
            Percentile::P90 => latency.p90_ms,
            Percentile::P99 => latency.p99_ms,
        })
    })
}

/// The share of requests that failed; empty if none did.
pub(crate) fn errors(benchmark: &BenchmarkData<'_>) -> Chart {
    let drawing = Drawing {
        id: "errors",
        title: "Failed requests",
        note: "Share of all requests that ended; time-outs, resets, wrong statuses and wrong \
               bodies alike.",
        unit: "%",
        scale: Scale::Linear,
    };
    let mut chart = draw(benchmark, drawing, |step| {
        Some(step.totals.error_share()? * 100.0)
    });
    let mut points = chart.series.iter().flat_map(|series| &series.points);
    if !points.any(|point| point.y > Some(0.0)) {
        chart.series.clear();
    }
    chart
}

pub(crate) fn memory_per_throughput(benchmark: &BenchmarkData<'_>) -> Chart {
    let drawing = Drawing {
        id: "memory-per-throughput",
        title: "Memory for each request per second",
        note: "High-water mark of memory divided by throughput, MiB s/request. Lower is better.",
        unit: "MiB s/request",
        scale: Scale::Log,
    };
    draw(benchmark, drawing, |step| {
        let throughput = step.throughput();
        (throughput > 0.0).then_some(())?;
        Some(mib(step.memory()?.peak_bytes) / throughput)
    })
}

pub(crate) fn cpu(benchmark: &BenchmarkData<'_>) -> Chart {
    let drawing = Drawing {
        id: "cpu",
        title: "CPU used",
        note: "Cores' worth of CPU time, user and system, that the contender used in the step.",
        unit: "cores",
        scale: Scale::Linear,
    };
    draw(benchmark, drawing, |step| step.contender_cores())
}

pub(crate) fn cpu_per_request(benchmark: &BenchmarkData<'_>) -> Chart {
    let drawing = Drawing {
        id: "cpu-per-request",
        title: "CPU time of a request",
        note: "CPU time of the contender in the step divided by its successful requests. Lower is \
               better.",
        unit: "µs",
        scale: Scale::Log,
    };
    draw(benchmark, drawing, |step| step.cpu_us_per_request())
}

/// The high-water mark, with the two readings before the load.
pub(crate) fn memory(benchmark: &BenchmarkData<'_>) -> Chart {
    let mut categories = vec!["up".to_owned(), "idle".to_owned()];
    categories.extend(benchmark.step_labels.iter().cloned());
    let drawing = Drawing {
        id: "memory",
        title: "Memory high-water mark",
        note: "Highest memory of the contender so far: at its first valid response (up), after the \
               checks and before the load (idle), and at the end of each step.",
        unit: "MiB",
        scale: Scale::Linear,
    };
    let labels = &benchmark.step_labels;
    let is_ladder = is_ladder(benchmark);
    let series = over_runs(benchmark, |run| {
        if !is_ladder {
            return Vec::new();
        }
        let started = run
            .records
            .startup
            .as_ref()
            .and_then(|startup| startup.resources.memory);
        let checked = run.idle(Moment::Checked);
        let checked = checked.and_then(|sample| sample.memory);
        let mut points: Vec<Point> = [started, checked]
            .iter()
            .enumerate()
            .map(|(index, memory)| {
                Point::new(count(index), memory.map(|memory| mib(memory.peak_bytes)))
            })
            .collect();
        points.extend(labels.iter().enumerate().map(|(index, label)| {
            let step = run.step(label);
            let memory = step.and_then(StepData::memory);
            step_point(
                count(index + 2),
                step,
                memory.map(|memory| mib(memory.peak_bytes)),
            )
        }));
        points
    });
    chart(drawing, categories, series)
}
