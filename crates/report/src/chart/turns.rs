//! Charts of sets: every slice in its turn over time, and the ratios of contenders.

use bakeoff_stats::{Better, Criteria, Estimate, compare};

use crate::chart::curves::axis;
use crate::chart::{Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::data::benchmark::BenchmarkData;
use bakeoff_analysis::data::number::{count, ratio_text, significant};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::tables::summary::BenchmarkSummary;
use bakeoff_analysis::turns::{self, PlayedSet, SetRatio, TurnSlice};

/// More points than this of a contender are not seen one by one: slices that follow each other are
/// merged, with a band from the lowest to the highest.
const POINTS_MAX: usize = 120;

/// The space between two sets, as a share of all of them.
const GAP: f64 = 0.02;

/// More rows than this are not read: those of single sets are left out.
const ROWS_MAX: usize = 40;

/// Throughput of every measured slice of every contender. Empty without a set.
pub(crate) fn slices(benchmark: &BenchmarkData<'_>) -> Chart {
    let sets = turns::played(benchmark);
    let series = benchmark
        .cases
        .iter()
        .enumerate()
        .map(|(case, data)| Series {
            case,
            name: data.label.clone(),
            run: None,
            published: false,
            points: points(&sets, case),
        });
    Chart {
        id: "turns",
        title: "Throughput in turn".to_owned(),
        note: "Each point is a slice of a contender in its turn, one set after the other; \
               where there are many slices, the mean of some that follow each other, with a band \
               from the lowest to the highest. What moves all lines is the host and is in no \
               ratio. Hollow: the block does not count.",
        shape: Shape::Lines,
        x: axis("s in sets", Scale::Linear),
        y: axis("requests/s", Scale::Linear),
        series: series.collect(),
    }
}

/// The slices of a case in all sets, a gap between these.
fn points(sets: &[PlayedSet], case: usize) -> Vec<Point> {
    let of_case = |set: &PlayedSet| {
        let found = set.slices.iter().find(|(index, _)| *index == case);
        found.map_or_else(Vec::new, |(_, slices)| slices.clone())
    };
    let all: usize = sets.iter().map(|one| of_case(one).len()).sum();
    let length_s: f64 = sets.iter().map(|one| one.length_s).sum();
    let merged = all.div_ceil(POINTS_MAX).max(1);
    let mut points = Vec::new();
    let mut begin_s = 0.0;
    for set in sets {
        if !points.is_empty() {
            points.push(Point::new(begin_s, None));
        }
        let chunks = of_case(set);
        let chunks = chunks.chunks(merged);
        points.extend(chunks.map(|slices| point(slices, begin_s, set.repetition)));
        begin_s += set.length_s + GAP * length_s;
    }
    points
}

/// Slices that follow each other as a point.
fn point(slices: &[TurnSlice], begin_s: f64, repetition: u32) -> Point {
    let sum = |value: fn(&TurnSlice) -> f64| slices.iter().map(value).sum::<f64>();
    let at_s = begin_s + sum(|slice| slice.at_s) / count(slices.len());
    let rate = sum(|slice| slice.requests) / sum(|slice| slice.length_s);
    let mut point = Point::new(at_s, Some(rate));
    point.fair = slices.iter().all(|slice| slice.counts);
    let mut label = format!("set {repetition}");
    if slices.len() > 1 {
        let rates = slices.iter().map(|slice| slice.requests / slice.length_s);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = rates.fold(ends, |(low, high), rate| (low.min(rate), high.max(rate)));
        point.interval = Some((low, high)).filter(|_| low.is_finite() && high.is_finite());
        let (low, high) = (significant(low), significant(high));
        label.push_str(&format!(", {} slices of {low} to {high}", slices.len()));
    }
    if !point.fair {
        label.push_str(", does not count");
    }
    point.label = Some(label);
    point
}

/// Requests per second of each contender against the best, in each set and in all. Empty
/// without a set, and with a single contender.
pub(crate) fn ratios(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Chart {
    let ranked: Vec<&Row> = summary
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .collect();
    let best = ranked.first().map_or("", |row| row.label.as_str());
    let mut rows = rows(summary, &ranked);
    if rows.len() > ROWS_MAX {
        rows.retain(|row| row.is_of_all);
    }
    // From below, so that the first one is on top.
    rows.reverse();
    let series = benchmark.cases.iter().enumerate().map(|(case, data)| {
        let own = rows.iter().enumerate();
        let own = own.filter(|(_, row)| row.label == data.label);
        Series {
            case,
            name: data.label.clone(),
            run: None,
            published: false,
            points: own.map(|(place, row)| row.point(place)).collect(),
        }
    });
    let series = series.filter(|series| !series.points.is_empty()).collect();
    Chart {
        id: "ratios",
        title: format!("Requests/s against {best}"),
        note: "The difference to the first contender of the ranks with its 95 % interval. Next to \
               a name: in all sets, by their spread, on which ranks rest. Below it: in each, by \
               the spread of its blocks, for its processes only. Hollow: one of the two is not a \
               fair number.",
        shape: Shape::Estimates,
        x: axis("% difference in requests/s", Scale::Linear),
        y: axis(
            "",
            Scale::Categories(rows.into_iter().map(|row| row.name).collect()),
        ),
        series,
    }
}

/// How the ratio of each contender to the best settled, set by set. Empty without three sets.
pub(crate) fn settling(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Chart {
    let mut ranked = summary.tables.iter().flat_map(|table| &table.rows);
    let best = ranked.next();
    let sets = summary.sets.iter().flat_map(|sets| &sets.each);
    let mut sets: Vec<u32> = sets.map(|set| set.repetition).collect();
    sets.dedup();
    let settled = |row: &Row| -> Vec<Point> {
        let points = sets.iter().filter_map(|set| {
            // The last look, which has the rest of the error, is at all sets.
            let seen = |row: &Row| match Some(set) == sets.last() {
                true => Some(row.peak.throughput.sample.clone()),
                false => row.peak.throughput.sample.up_to(*set),
            };
            let (own, other) = (seen(row)?, seen(best?)?);
            let ratio = compare(&own, &other, &Criteria::new(Better::Higher)).ratio;
            let percent = |ratio: f64| 100.0 * (ratio - 1.0);
            let ends = ratio.interval;
            let mut point = Point::new(f64::from(*set), Some(percent(ratio.point)));
            point.interval = ends.map(|ends| (percent(ends.low), percent(ends.high)));
            Some(point)
        });
        points.collect()
    };
    let series = ranked.filter_map(|row| {
        let case = benchmark
            .cases
            .iter()
            .position(|data| data.label == row.label)?;
        Some(Series {
            case,
            name: row.label.clone(),
            run: None,
            published: false,
            points: settled(row),
        })
    });
    let series = series.filter(|series| sets.len() > 2 && !series.points.is_empty());
    let best = best.map_or("", |row| row.label.as_str());
    Chart {
        id: "settling",
        title: format!("Requests/s against {best}, set by set"),
        note: "The difference to the first contender of the ranks in all sets up to each, with its \
               95 % interval as a band; before the fifth set there is none where sets are \
               looked at one by one.",
        shape: Shape::Lines,
        series: series.collect(),
        x: axis("sets", Scale::Whole),
        y: axis("% difference in requests/s", Scale::Linear),
    }
}

/// A row of the chart of ratios.
struct RatioRow<'r> {
    label: &'r str,
    name: String,
    ratio: Estimate,
    fair: bool,
    is_of_all: bool,
}

impl RatioRow<'_> {
    fn point(&self, place: usize) -> Point {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let ratio = &self.ratio;
        let mut point = Point::new(percent(ratio.point), Some(count(place)));
        let ends = ratio
            .interval
            .map(|ends| (percent(ends.low), percent(ends.high)));
        point.interval = ends;
        point.fair = self.fair;
        let times = ratio_text(ratio.point);
        point.label = Some(match self.is_of_all {
            true => format!("{times} times, in all sets"),
            false => format!("{times} times, in {}", self.name),
        });
        point
    }
}

/// Each of the ranked contenders against the first of them: in all sets under its name, then
/// in each. A single set is all of them, and there is no interval beyond its processes.
fn rows<'r>(summary: &BenchmarkSummary, ranked: &[&'r Row]) -> Vec<RatioRow<'r>> {
    let Some((sets, (best, others))) = summary.sets.as_ref().zip(ranked.split_first()) else {
        return Vec::new();
    };
    let higher = Criteria::new(Better::Higher);
    let mut rows = Vec::new();
    for row in others {
        let made = |name: String, ratio: Estimate, is_of_all: bool| RatioRow {
            label: &row.label,
            name,
            ratio,
            fair: row.validity().is_fair() && best.validity().is_fair(),
            is_of_all,
        };
        let all = compare(
            &row.peak.throughput.sample,
            &best.peak.throughput.sample,
            &higher,
        )
        .ratio;
        if all.point.is_finite() {
            rows.push(made(row.label.clone(), all, true));
        }
        let mut pairs = sets.pairs.iter();
        let each = pairs.find_map(|pair| pair.of(&row.label, &best.label));
        let each: Vec<SetRatio> = each.unwrap_or_default();
        rows.extend(each.iter().map(|one| {
            let name = format!("set {}", one.repetition);
            made(name, one.ratio, false)
        }));
    }
    rows
}
