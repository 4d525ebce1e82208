//! Charts as options of Apache ECharts. Colours, fonts and tooltips depend on the reader's theme
//! and are added by the page.

use serde_json::{Value, json};

use crate::chart::{Axis, Chart, Point, Scale, Series, Shape};

/// A chart with its options: `{id, title, note, shape, cases, runs, published, option}`, where
/// `cases`, `runs` and `published` go with `option.series`.
pub(crate) fn chart_json(chart: &Chart) -> Value {
    let mut x = axis_json(&chart.x);
    let mut y = axis_json(&chart.y);
    // The name of the horizontal axis goes below it, that of the vertical one above.
    x["nameLocation"] = json!("middle");
    x["nameGap"] = json!(32);
    y["nameLocation"] = json!("end");
    let drawn = |series: &&Series| series.points.iter().any(|point| point.y.is_some());
    let series: Vec<&Series> = chart.series.iter().filter(drawn).collect();
    json!({
        "id": chart.id,
        "title": chart.title,
        "note": chart.note,
        "shape": shape_name(chart.shape),
        "cases": series.iter().map(|series| series.case).collect::<Vec<_>>(),
        "runs": series.iter().map(|series| series.run).collect::<Vec<_>>(),
        "published": series.iter().map(|series| series.published).collect::<Vec<_>>(),
        "option": {
            "aria": { "enabled": true, "label": { "description": chart.title } },
            "animation": false,
            "grid": {
                "left": 12, "right": 24, "top": 8, "bottom": 12,
                "outerBoundsMode": "same", "outerBoundsContain": "all",
            },
            "legend": { "show": false },
            "xAxis": x,
            "yAxis": y,
            "series": series.iter().map(|series| series_json(chart, series)).collect::<Vec<_>>(),
        },
    })
}

fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Lines => "lines",
        Shape::Dots => "dots",
        Shape::Estimates => "estimates",
    }
}

fn axis_json(axis: &Axis) -> Value {
    match &axis.scale {
        Scale::Linear => json!({ "type": "value", "name": axis.name }),
        Scale::Log => json!({ "type": "log", "name": axis.name, "logBase": 10 }),
        Scale::Quantile => {
            json!({ "type": "log", "name": axis.name, "logBase": 10, "min": 1, "quantile": true })
        }
        Scale::Categories(names) => {
            json!({ "type": "category", "name": axis.name, "data": names })
        }
    }
}

fn series_json(chart: &Chart, series: &Series) -> Value {
    let kind = match chart.shape {
        Shape::Lines => "line",
        Shape::Dots => "scatter",
        Shape::Estimates => "custom",
    };
    let category = matches!(chart.x.scale, Scale::Categories(_));
    let positive = |value: f64, axis: &Axis| axis.scale != Scale::Log || value > 0.0;
    let data: Vec<Value> = series
        .points
        .iter()
        .map(|point| {
            let y = point
                .y
                .filter(|y| positive(*y, &chart.y) && positive(point.x, &chart.x));
            point_json(point, y, category)
        })
        .collect();
    let mut made = json!({
        "type": kind,
        "name": series.name,
        "data": data,
    });
    if chart.shape == Shape::Lines {
        // Our gaps are steps that failed; theirs are steps that we have and they have not.
        made["connectNulls"] = json!(series.published);
    }
    made
}

/// A bare value where it can be: `12.5`, or `[x, y]`; an object when it is hollow or has a label.
fn point_json(point: &Point, y: Option<f64>, category: bool) -> Value {
    let rounded = |value: f64| json!(round(value));
    let y = y.map_or(Value::Null, rounded);
    let value = match (category, point.interval) {
        (true, _) => y,
        (false, None) => json!([rounded(point.x), y]),
        (false, Some((low, high))) => json!([rounded(point.x), y, rounded(low), rounded(high)]),
    };
    if point.fair && point.label.is_none() {
        return value;
    }
    let mut item = json!({ "value": value });
    if let Some(label) = &point.label {
        item["label_text"] = json!(label);
    }
    if !point.fair {
        item["hollow"] = json!(true);
    }
    item
}

/// Six significant digits: more than can be drawn, and half of the page's size.
fn round(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
