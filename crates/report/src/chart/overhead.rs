//! The headline chart: contenders as a share of their baselines.

use crate::chart::curves::axis;
use crate::chart::{Chart, Point, Scale, Series, Shape, name_backend};
use bakeoff_analysis::benchmarks::overhead::{BaselineShare, Overhead};
use bakeoff_analysis::data::metric::Quantity;
use bakeoff_analysis::data::number::{count, significant};
use bakeoff_analysis::data::stated_step::StatedStep;

const NOTE: &str = "The ratio of each contender to its baseline with the 95 % interval; a mark for \
    each benchmark, the line is at 100 %. Hollow: one of the two is not a fair number.";

/// Beyond this share, percent, a linear axis would leave no room for the others.
const LINEAR_MAX: f64 = 400.0;

/// Throughput at the steps that are shown, then CPU per request and memory at the stated one.
pub(crate) fn of_overhead(overhead: &Overhead) -> Vec<Chart> {
    const AT_STEPS: [&str; 3] = ["overhead-1", "overhead-2", "overhead-3"];
    let mut steps: Vec<&StatedStep> = Vec::new();
    for share in overhead.shares.iter().filter(|share| share.is_shown) {
        if !steps.contains(&&share.step) {
            steps.push(&share.step);
        }
    }
    let at_steps = AT_STEPS.into_iter().zip(steps).map(|(id, step)| {
        let title = format!("Percent of the baseline: requests/s {}", step.describe());
        chart(overhead, id, title, Quantity::Throughput, |share| {
            share.step == *step
        })
    });
    let stated = [
        ("overhead-cpu", Quantity::Cpu),
        ("overhead-memory", Quantity::Memory),
    ];
    let stated = stated.map(|(id, quantity)| {
        let name = quantity.name();
        let title = format!("Percent of the baseline: {name} at the stated step");
        chart(overhead, id, title, quantity, |share| share.is_stated)
    });
    let mut charts: Vec<Chart> = at_steps.chain(stated).collect();
    charts.retain(|chart| !chart.series.is_empty());
    for chart in &mut charts {
        name_backend(chart, &overhead.backend);
    }
    charts
}

fn chart(
    overhead: &Overhead,
    id: &'static str,
    title: String,
    quantity: Quantity,
    is_wanted: impl Fn(&BaselineShare) -> bool,
) -> Chart {
    let wanted: Vec<(&BaselineShare, Point)> = overhead
        .shares
        .iter()
        .filter(|share| is_wanted(share))
        .filter_map(|share| Some((share, point(share, quantity)?)))
        .collect();
    // The first contender is on top.
    let mut rows: Vec<&str> = Vec::new();
    for line in overhead.lines().iter().rev() {
        let drawn = wanted.iter().any(|(share, _)| share.label == line.label);
        if drawn && !rows.contains(&line.label) {
            rows.push(line.label);
        }
    }
    let benchmarks = overhead.benchmarks();
    let series = benchmarks.iter().enumerate().map(|(case, name)| {
        let of_it = wanted.iter().filter(|(share, _)| share.benchmark == *name);
        let points = of_it.filter_map(|(share, point)| {
            let row = rows.iter().position(|row| *row == share.label)?;
            let mut point = point.clone();
            point.y = Some(count(row));
            Some(point)
        });
        Series {
            case,
            name: (*name).to_owned(),
            run: None,
            published: false,
            points: points.collect(),
        }
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let all = series.iter().flat_map(|series| &series.points);
    let scale = match all.map(|point| point.x).fold(0.0, f64::max) {
        largest if largest > LINEAR_MAX => Scale::Log,
        _ => Scale::Linear,
    };
    Chart {
        id,
        title,
        note: NOTE,
        shape: Shape::Estimates,
        x: axis("% of the baseline", scale),
        y: axis(
            "",
            Scale::Categories(rows.into_iter().map(str::to_owned).collect()),
        ),
        series,
    }
}

/// The share of a quantity, its row still to be found.
fn point(share: &BaselineShare, quantity: Quantity) -> Option<Point> {
    let place = Quantity::ALL.iter().position(|one| *one == quantity)?;
    let ratio = share.ratios[place].as_ref()?;
    let mut point = Point::new(ratio.ratio.point * 100.0, Some(0.0));
    let interval = ratio.ratio.interval;
    point.interval = interval.map(|ends| (ends.low * 100.0, ends.high * 100.0));
    point.fair = ratio.validity.is_fair();
    let (own, other) = (significant(ratio.contender), significant(ratio.baseline));
    let (label, baseline, unit) = (&share.label, &share.baseline, quantity.unit());
    let (at, verdict) = (share.step.describe(), ratio.validity.name());
    let label = format!("{label} of {baseline}, {own} of {other} {unit} {at}, {verdict}");
    point.label = Some(label);
    Some(point)
}
