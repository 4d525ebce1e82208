//! The numbers of a drawing, for the script of the page: it finds with them what is near the
//! pointer, and makes a table of them.

use serde_json::{Value, json};

use super::scale::Placed;
use super::{Drawing, has_any};
use crate::chart::bands::{self, Band};
use crate::chart::{Axis, Point, Scale, Series, Shape};

impl Drawing<'_> {
    /// The data as `{id, title, shape, byPlace, x, y, series, lines}`: every run in `series`, and
    /// in `lines` what is drawn, if that differs.
    pub(crate) fn data(&self) -> Value {
        let chart = self.chart;
        let is_by_place = matches!(chart.x.scale, Scale::Categories(_));
        let series = chart.series.iter().filter(|one| has_any(&one.points));
        let of_series = |one: &Series| {
            json!({
                "name": one.name,
                "run": one.run,
                "published": one.published,
                "points": points(&one.points, is_by_place),
            })
        };
        let of_line =
            |one: &Band| json!({ "name": one.name, "points": points(&one.points, is_by_place) });
        let mut data = json!({
            "id": chart.id,
            "title": chart.title,
            "shape": shape_name(chart.shape),
            "byPlace": chart.has_common_places(),
            "x": axis(&chart.x, &self.x),
            "y": axis(&chart.y, &self.y),
            "series": series.map(of_series).collect::<Vec<_>>(),
        });
        if bands::is_merged(chart) {
            data["lines"] = self.lines.iter().map(of_line).collect();
        }
        data
    }
}

fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Lines => "lines",
        Shape::Dots => "dots",
        Shape::Estimates => "estimates",
    }
}

/// The name of an axis, its kind, and what it takes to find the place of a number on it.
fn axis(axis: &Axis, placed: &Placed<'_>) -> Value {
    let (values, places) = placed.ends();
    let mut data = json!({ "name": axis.name, "values": values, "places": places });
    match &axis.scale {
        Scale::Linear | Scale::Whole => {}
        Scale::Log => data["log"] = json!(true),
        Scale::Quantile => {
            data["log"] = json!(true);
            data["quantile"] = json!(true);
        }
        Scale::Categories(names) => data["names"] = json!(names),
    }
    data
}

fn points(points: &[Point], is_by_place: bool) -> Vec<Value> {
    points.iter().map(|one| point(one, is_by_place)).collect()
}

/// `[x, y]`, with `low, high` of an interval and then a label if there are any; `y` alone where
/// the place among the points is `x`.
fn point(point: &Point, is_by_place: bool) -> Value {
    let (x, y) = (json!(rounded(point.x)), json!(point.y.map(rounded)));
    let ends = point
        .interval
        .map(|(low, high)| [rounded(low), rounded(high)]);
    match (&point.label, ends) {
        (None, None) if is_by_place => y,
        (None, None) => json!([x, y]),
        (None, Some([low, high])) => json!([x, y, low, high]),
        (Some(label), ends) => {
            let [low, high] = ends.map_or([None, None], |ends| ends.map(Some));
            json!([x, y, low, high, label])
        }
    }
}

/// Six significant digits: more than can be drawn, and half of the page's size.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
