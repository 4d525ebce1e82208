//! Runs of one contender as one line, their median, with a band from the lowest to the highest run.

use std::collections::BTreeSet;

use crate::chart::{Chart, Point, Series, Shape};
use bakeoff_analysis::tables::profile::Middle;

/// Points of these have no common place: each run is drawn.
const APART: [&str; 2] = ["gc-pauses", "heap-after-gc"];

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Band {
    pub(crate) case: usize,
    pub(crate) name: String,
    pub(crate) published: bool,
    /// Medians; with several runs, their interval reaches from the lowest to the highest run.
    pub(crate) points: Vec<Point>,
}

impl Band {
    /// Whether this is a run of a line.
    pub(crate) fn is_of(&self, line: &Self) -> bool {
        self.name == line.name && self.published == line.published
    }
}

/// The lines of a chart: one for each contender if its runs have common places.
pub(crate) fn of(chart: &Chart) -> Vec<Band> {
    groups(chart)
        .iter()
        .filter_map(|group| band(group))
        .collect()
}

/// Whether lines of a chart are those of several runs.
pub(crate) fn is_merged(chart: &Chart) -> bool {
    groups(chart).iter().any(|group| group.len() > 1)
}

/// Each run as a line; none if the lines are not those of several runs.
pub(crate) fn runs(chart: &Chart) -> Vec<Band> {
    if !is_merged(chart) {
        return Vec::new();
    }
    let runs = chart.series.iter();
    runs.filter_map(|run| band(&[run])).collect()
}

/// The series of each line.
fn groups(chart: &Chart) -> Vec<Vec<&Series>> {
    let alone = chart.shape != Shape::Lines || APART.contains(&chart.id);
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for series in &chart.series {
        let same = |group: &&mut Vec<&Series>| {
            let first = group.first();
            !alone && first.is_some_and(|first| is_same(first, series))
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(series),
            None => groups.push(vec![series]),
        }
    }
    groups
}

fn is_same(one: &Series, other: &Series) -> bool {
    one.name == other.name && one.published == other.published
}

fn band(group: &[&Series]) -> Option<Band> {
    let first = group.first()?;
    let length = group.iter().map(|series| series.points.len()).max()?;
    let points = match group {
        [one] => one.points.clone(),
        _ => (0..length).map(|place| merged(group, place)).collect(),
    };
    Some(Band {
        case: first.case,
        name: first.name.clone(),
        published: first.published,
        points,
    })
}

/// The points of all runs at a place as one; a gap if no run has a value.
fn merged(group: &[&Series], place: usize) -> Point {
    let points = || group.iter().filter_map(|series| series.points.get(place));
    let there: Vec<&Point> = points().filter(|point| point.y.is_some()).collect();
    let xs = match there.is_empty() {
        true => points().map(|point| point.x).collect(),
        false => there.iter().map(|point| point.x).collect(),
    };
    let x = Middle::of(xs).map_or(0.0, |x| x.middle);
    let y = Middle::of(there.iter().filter_map(|point| point.y).collect());
    let mut point = Point::new(x, y.map(|y| y.middle));
    point.interval = y.map(|y| (y.low, y.high));
    point.fair = there.iter().all(|point| point.fair);
    let labels: BTreeSet<&str> = there
        .iter()
        .filter_map(|one| one.label.as_deref())
        .collect();
    let labels: Vec<&str> = labels.into_iter().collect();
    point.label = Some(labels.join(", ")).filter(|label| !label.is_empty());
    point
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};

    fn chart(id: &'static str, runs: &[&[Option<f64>]]) -> Chart {
        let axis = |name: &str| Axis {
            name: name.to_owned(),
            scale: Scale::Linear,
        };
        let series = |ys: &&[Option<f64>]| Series {
            case: 0,
            name: "a".to_owned(),
            run: Some(1),
            published: false,
            points: ys.iter().map(|y| Point::new(1.0, *y)).collect(),
        };
        Chart {
            id,
            title: String::new(),
            note: "",
            shape: Shape::Lines,
            x: axis("x"),
            y: axis("y"),
            series: runs.iter().map(series).collect(),
        }
    }

    #[test]
    fn a_line_is_the_median_and_its_band_the_extremes() {
        let bands = of(&chart(
            "throughput",
            &[
                &[Some(3.0), Some(5.0), None],
                &[Some(1.0), Some(7.0), None],
                &[Some(2.0), None],
            ],
        ));
        assert_eq!(bands.len(), 1);
        let points = &bands[0].points;
        let found: Vec<_> = points
            .iter()
            .map(|point| (point.y, point.interval))
            .collect();
        let expected = [
            (Some(2.0), Some((1.0, 3.0))),
            (Some(6.0), Some((5.0, 7.0))),
            (None, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn one_run_has_no_band_and_pauses_have_no_median() {
        let one = of(&chart("throughput", &[&[Some(3.0)]]));
        assert_eq!(one[0].points[0].interval, None);
        let two = of(&chart("gc-pauses", &[&[Some(3.0)], &[Some(4.0)]]));
        assert_eq!(two.len(), 2);
    }
}
