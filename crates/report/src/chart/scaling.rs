//! Charts along a parameter with numbers: a line for each run of a contender through its cases.

use std::collections::BTreeSet;

use crate::chart::curves::axis;
use crate::chart::{Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::benchmarks::scaling::{Line, Scaling};
use bakeoff_analysis::data::benchmark::{BenchmarkData, RunData};
use bakeoff_analysis::data::metric::Quantity;
use bakeoff_analysis::data::stated_step::StatedStep;

const NOTE: &str = "Each line goes through the runs of one repetition, a run for each value. \
    Hollow: not a fair number.";

/// Throughput at the steps that are shown, then CPU per request and memory at the stated one.
pub(crate) fn of_scaling(benchmark: &BenchmarkData<'_>, scaling: &Scaling) -> Vec<Chart> {
    const AT_STEPS: [&str; 3] = ["scaling-1", "scaling-2", "scaling-3"];
    let throughput = AT_STEPS.into_iter().zip(&scaling.steps);
    let throughput = throughput.map(|(id, step)| (id, Quantity::Throughput, step));
    let stated = scaling.stated.and_then(|index| scaling.steps.get(index));
    let stated = stated.into_iter().flat_map(|step| {
        [
            ("scaling-cpu", Quantity::Cpu, step),
            ("scaling-memory", Quantity::Memory, step),
        ]
    });
    let charts = throughput
        .chain(stated)
        .map(|(id, quantity, step)| chart(benchmark, scaling, id, quantity, step));
    charts.filter(|chart| !chart.series.is_empty()).collect()
}

fn chart(
    benchmark: &BenchmarkData<'_>,
    scaling: &Scaling,
    id: &'static str,
    quantity: Quantity,
    step: &StatedStep,
) -> Chart {
    let (parameter, backend) = (&scaling.parameter, &benchmark.backend);
    let (name, at) = (quantity.name(), step.describe());
    let series = scaling.lines.iter().enumerate();
    let series = series.flat_map(|(index, line)| of_line(benchmark, line, index, quantity, step));
    Chart {
        id,
        title: format!("By {parameter}: {name} {at}, backend {backend}"),
        note: NOTE,
        shape: Shape::Lines,
        x: axis(parameter, Scale::Linear),
        y: axis(quantity.unit(), Scale::Linear),
        series: series.collect(),
    }
}

/// One series for each repetition in which a case of the line was completed.
fn of_line(
    benchmark: &BenchmarkData<'_>,
    line: &Line,
    index: usize,
    quantity: Quantity,
    step: &StatedStep,
) -> Vec<Series> {
    let runs = |case: usize| benchmark.cases[case].completed();
    let all = line.places.iter().flat_map(|place| runs(place.case));
    let repetitions: BTreeSet<u32> = all.map(RunData::repetition).collect();
    let point = |repetition: u32, number: f64, case: usize| {
        let run = runs(case).find(|run| run.repetition() == repetition)?;
        let step = run.step(&step.label)?;
        let mut point = Point::new(number, quantity.of(step));
        point.fair = step.validity.is_fair();
        if !point.fair {
            point.label = Some(step.validity.name().to_owned());
        }
        Some(point)
    };
    let series = repetitions.into_iter().map(|repetition| {
        let places = line.places.iter();
        let points = places.map(|place| {
            let gap = || Point::new(place.number, None);
            point(repetition, place.number, place.case).unwrap_or_else(gap)
        });
        Series {
            case: index,
            name: line.label.clone(),
            run: Some(repetition),
            published: false,
            points: points.collect(),
        }
    });
    let has_any = |series: &Series| series.points.iter().any(|point| point.y.is_some());
    series.filter(has_any).collect()
}
