//! Lines with their bands, dots, and points with their intervals.

use maud::{Markup, html};

use super::layout::Rows;
use super::scale::Placed;
use crate::chart::Point;
use crate::chart::bands::Band;
use bakeoff_analysis::data::number::count;

/// The number of colours in `chart.css`.
const COLOURS: usize = 8;
/// Beyond the number of colours, dashes distinguish the rounds.
const DASHES: [&str; 3] = ["", "5 3", "2 2"];
/// A line of more points than this has marks only at numbers that are not fair.
const MARKS_MAX: usize = 40;

/// The class that gives a case its colour.
pub(super) fn colour(case: usize) -> String {
    format!("c{}", case % COLOURS)
}

/// How a line is dashed; what others published is dashed widely.
fn dash(case: usize, published: bool) -> Option<&'static str> {
    let dash = match published {
        true => "6 5",
        false => DASHES[case / COLOURS % DASHES.len()],
    };
    Some(dash).filter(|dash| !dash.is_empty())
}

/// A piece of a line with its mark, as in a legend.
pub(super) fn sample(case: usize, published: bool, (x, y): (f64, f64)) -> Markup {
    html! {
        g class=(colour(case)) {
            path.line d=(format!("M{x} {y}h26")) stroke-dasharray=[dash(case, published)] {}
            path.mark d=(mark(case, published, (x + 13.0, y))) {}
        }
    }
}

/// The outline of a mark that differs from those of other cases without colour. What others
/// published is a cross, which none of ours is.
fn mark(case: usize, published: bool, (x, y): (f64, f64)) -> String {
    let at = |left: f64, up: f64| format!("M{} {}", tenth(x - left), tenth(y - up));
    match (published, case % 4) {
        (true, _) => at(1.0, 4.0) + "h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
        (_, 0) => at(4.0, 0.0) + "a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        (_, 1) => at(3.5, 3.5) + "h7v7h-7z",
        (_, 2) => at(0.0, 5.0) + "l4.5 8h-9z",
        _ => at(0.0, 5.0) + "l5 5l-5 5l-5-5z",
    }
}

/// A tenth of a pixel is more than can be seen.
fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn at(x: &Placed, y: &Placed, point: &Point) -> Option<(f64, f64)> {
    Some((tenth(x.place(point.x)?), tenth(y.place(point.y?)?)))
}

/// Bands, and lines above them. `runs` are the lines that a band was made of, if it was; the page
/// shows them instead of it when the reader wants.
pub(super) fn lines(lines: &[Band], runs: &[Band], (x, y): (&Placed, &Placed)) -> Markup {
    html! {
        @for line in lines {
            @let d = around(line, x, y);
            @let is_of_runs = !runs_of(line, runs).is_empty();
            @if !d.is_empty() {
                path.band.middle[is_of_runs].(colour(line.case)) data-name=(line.name) d=(d) {}
            }
        }
        @for line in lines {
            @let own = runs_of(line, runs);
            g class=(colour(line.case)) data-name=(line.name) {
                g class=[own.first().map(|_| "middle")] { (line_with_marks(line, MARKS_MAX, x, y)) }
                @for run in own { g.run { (line_with_marks(run, 0, x, y)) } }
            }
        }
    }
}

/// The runs of a line; empty if it is a single run.
fn runs_of<'r>(line: &Band, runs: &'r [Band]) -> Vec<&'r Band> {
    let own: Vec<&Band> = runs.iter().filter(|run| run.is_of(line)).collect();
    if own.len() > 1 { own } else { Vec::new() }
}

/// A line without its gaps, with a mark at each point if they are few, else only at unfair ones.
fn line_with_marks(line: &Band, marks_max: usize, x: &Placed, y: &Placed) -> Markup {
    let is_short = line.points.len() <= marks_max;
    let marks = |fair: bool| -> String {
        let points = line.points.iter().filter(|point| point.fair == fair);
        let places = points.filter_map(|point| at(x, y, point));
        places
            .map(|place| mark(line.case, line.published, place))
            .collect()
    };
    let (filled, hollow) = (marks(true), marks(false));
    html! {
        path.line d=(through(line, x, y)) stroke-dasharray=[dash(line.case, line.published)] {}
        @if is_short && !filled.is_empty() { path.mark d=(filled) {} }
        @if !hollow.is_empty() { path.mark.hollow d=(hollow) {} }
    }
}

/// A line without its gaps. Others have no gaps, but steps that they did not measure.
fn pieces<'l>(line: &'l Band, x: &Placed, y: &Placed) -> Vec<Vec<&'l Point>> {
    let is_there = |point: &&Point| at(x, y, point).is_some();
    if line.published {
        return vec![line.points.iter().filter(is_there).collect()];
    }
    let pieces = line.points.split(|point| !is_there(&point));
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.iter().collect()).collect()
}

fn through(line: &Band, x: &Placed, y: &Placed) -> String {
    let pieces = pieces(line, x, y).into_iter();
    let piece = |piece: Vec<&Point>| joined(piece.iter().filter_map(|point| at(x, y, point)));
    pieces.map(piece).collect()
}

/// Along the upper ends of each piece of a band, and back along the lower ones; empty if it has
/// none.
fn around(line: &Band, x: &Placed, y: &Placed) -> String {
    let end = |point: &Point, of: fn((f64, f64)) -> f64| {
        let value = point.interval.map(of).or(point.y)?;
        Some((tenth(x.place(point.x)?), tenth(y.place(value)?)))
    };
    let pieces = pieces(line, x, y).into_iter();
    let wide = pieces.filter(|piece| piece.iter().any(|point| point.interval.is_some()));
    let outlines = wide.map(|piece| {
        let upper = piece.iter().filter_map(|point| end(point, |ends| ends.1));
        let lower = piece.iter().rev();
        let lower = lower.filter_map(|point| end(point, |ends| ends.0));
        joined(upper.chain(lower)) + "Z"
    });
    outlines.collect()
}

fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let texts: Vec<String> = places.map(|(x, y)| format!("{x},{y}")).collect();
    format!("M{}", texts.join(" "))
}

/// Marks in rows with their intervals, apart if several stand in one row. Each names its line
/// and point, by which the page finds its values.
pub(super) fn in_rows(lines: &[Band], (x, y): (&Placed, &Placed), rows: &Rows) -> Markup {
    let middle = (count(lines.len()) - 1.0) / 2.0;
    let aside = |line: usize| {
        rows.besides
            .map_or(0.0, |apart| (count(line) - middle) * apart)
    };
    html! {
        @for (number, line) in lines.iter().enumerate() {
            @for (place, point) in line.points.iter().enumerate() {
                @if let Some((at_x, at_y)) = at(x, y, point) {
                    @let at_y = tenth(at_y + rows.down() + aside(number));
                    g class=(colour(line.case)) data-name=(line.name)
                        data-row=(point.y.unwrap_or_default()) data-point={ (number) " " (place) } {
                        @if let Some((low, high)) = point.interval {
                            (whisker(at_y, x.place(low), x.place(high)))
                        }
                        path.mark.hollow[!point.fair]
                            d=(mark(line.case, line.published, (at_x, at_y))) {}
                    }
                }
            }
        }
    }
}

fn whisker(y: f64, low: Option<f64>, high: Option<f64>) -> Markup {
    html! {
        @if let (Some(low), Some(high)) = (low, high) {
            @let (low, high) = (tenth(low), tenth(high));
            path.line d=(format!("M{low} {y}H{high}M{low} {}v8M{high} {}v8", y - 4.0, y - 4.0)) {}
        }
    }
}
