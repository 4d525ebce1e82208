//! Lines with their bands, dots, and points with their intervals.

use maud::{Markup, html};

use super::scale::Placed;
use crate::chart::Point;
use crate::chart::bands::Band;
use bakeoff_analysis::number::count;

/// Distinguishable with any colour vision on white (after Okabe and Ito), as on the page.
const COLOURS: [&str; 8] = [
    "#0072b2", "#c04f00", "#00795a", "#a3317f", "#6b5b00", "#3d3d3d", "#1b8fd6", "#8a4ae0",
];
/// Beyond the number of colours, dashes distinguish the rounds.
const DASHES: [&str; 3] = ["", "5 3", "2 2"];
/// A line of more points than this has marks only where a number is not fair.
const MARKS_MAX: usize = 40;

pub(super) fn colour(case: usize) -> &'static str {
    COLOURS[case % COLOURS.len()]
}

/// How a line is dashed; what others published is dashed widely.
pub(super) fn dash(line: &Band) -> &'static str {
    match line.published {
        true => "6 5",
        false => DASHES[line.case / COLOURS.len() % DASHES.len()],
    }
}

/// A mark of a case that differs from others without colour.
pub(super) fn mark(case: usize, (x, y): (f64, f64), hollow: bool) -> Markup {
    let colour = colour(case);
    let fill = if hollow { "#ffffff" } else { colour };
    let path = match case % 4 {
        0 => format!("M{} {y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", tenth(x - 4.0)),
        1 => format!("M{} {}h7v7h-7z", tenth(x - 3.5), tenth(y - 3.5)),
        2 => format!("M{x} {}l4.5 8h-9z", tenth(y - 5.0)),
        _ => format!("M{x} {}l5 5l-5 5l-5-5z", tenth(y - 5.0)),
    };
    html! { path d=(path) fill=(fill) stroke=(colour) stroke-width="1.5" {} }
}

/// A tenth of a pixel is more than can be seen.
fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn at(x: &Placed<'_>, y: &Placed<'_>, point: &Point) -> Option<(f64, f64)> {
    Some((tenth(x.place(point.x)?), tenth(y.place(point.y?)?)))
}

pub(super) fn lines(lines: &[Band], x: &Placed<'_>, y: &Placed<'_>) -> Markup {
    html! {
        @for line in lines {
            @for piece in pieces(line, x, y) {
                @if piece.iter().any(|point| point.interval.is_some()) {
                    polygon points=(around(&piece, x, y)) fill=(colour(line.case))
                        fill-opacity="0.18" {}
                }
            }
        }
        @for line in lines {
            @for piece in pieces(line, x, y) {
                polyline points=(through(&piece, x, y)) fill="none" stroke=(colour(line.case))
                    stroke-width="1.8" stroke-dasharray=(dash(line)) {}
            }
            @let is_short = line.points.len() <= MARKS_MAX;
            @for point in line.points.iter().filter(|point| is_short || !point.fair) {
                @if let Some(place) = at(x, y, point) {
                    (mark(line.case, place, !point.fair))
                }
            }
        }
    }
}

/// A line without its gaps. Others have no gaps, but steps that they did not measure.
fn pieces<'l>(line: &'l Band, x: &Placed<'_>, y: &Placed<'_>) -> Vec<Vec<&'l Point>> {
    let is_there = |point: &&Point| at(x, y, point).is_some();
    if line.published {
        return vec![line.points.iter().filter(is_there).collect()];
    }
    let pieces = line.points.split(|point| !is_there(&point));
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.iter().collect()).collect()
}

fn through(piece: &[&Point], x: &Placed<'_>, y: &Placed<'_>) -> String {
    let places = piece.iter().filter_map(|point| at(x, y, point));
    joined(places)
}

/// Along the upper ends of a band, and back along the lower ones.
fn around(piece: &[&Point], x: &Placed<'_>, y: &Placed<'_>) -> String {
    let end = |point: &Point, is_upper: bool| {
        let value = match point.interval {
            Some((low, high)) => {
                if is_upper {
                    high
                } else {
                    low
                }
            }
            None => point.y?,
        };
        Some((tenth(x.place(point.x)?), tenth(y.place(value)?)))
    };
    let upper = piece.iter().filter_map(|point| end(point, true));
    let lower = piece.iter().rev().filter_map(|point| end(point, false));
    joined(upper.chain(lower))
}

fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let texts: Vec<String> = places.map(|(x, y)| format!("{x},{y}")).collect();
    texts.join(" ")
}

pub(super) fn dots(lines: &[Band], x: &Placed<'_>, y: &Placed<'_>) -> Markup {
    html! {
        @for line in lines {
            @for point in &line.points {
                @if let Some(place) = at(x, y, point) { (mark(line.case, place, !point.fair)) }
            }
        }
    }
}

/// Points with their intervals; `besides` apart where several stand in one row.
pub(super) fn estimates(
    lines: &[Band],
    x: &Placed<'_>,
    y: &Placed<'_>,
    besides: Option<f64>,
) -> Markup {
    let middle = (count(lines.len()) - 1.0) / 2.0;
    let down = |place: usize| besides.map_or(0.0, |apart| (count(place) - middle) * apart);
    html! {
        @for (place, line) in lines.iter().enumerate() {
            @for point in &line.points {
                @if let Some((at_x, at_y)) = at(x, y, point) {
                    @let at_y = tenth(at_y + down(place));
                    @if let Some((low, high)) = point.interval {
                        (whisker(line.case, at_y, x.place(low), x.place(high)))
                    }
                    (mark(line.case, (at_x, at_y), !point.fair))
                }
            }
        }
    }
}

fn whisker(case: usize, y: f64, low: Option<f64>, high: Option<f64>) -> Markup {
    html! {
        @if let (Some(low), Some(high)) = (low, high) {
            @let (low, high) = (tenth(low), tenth(high));
            path d=(format!("M{low} {y}H{high}M{low} {}v8M{high} {}v8", y - 4.0, y - 4.0))
                stroke=(colour(case)) stroke-width="1.8" fill="none" {}
        }
    }
}
