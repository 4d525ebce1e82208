//! Charts as drawings that stand alone: for slides, walls and pages without scripts.

mod legend;
mod marks;
mod scale;

use maud::{Markup, PreEscaped, html};

use super::bands::{self, Band};
use super::{Chart, Point, Shape};
use bakeoff_analysis::number::count;
use scale::Placed;

/// All drawings are this wide, in units that are pixels at 100 %.
const WIDTH: f64 = 880.0;
/// Height of the plot of lines.
const PLOT: f64 = 340.0;
/// Height of a row of dots or estimates.
const ROW: f64 = 28.0;
/// How far apart marks of one row are.
const BESIDES: f64 = 11.0;
/// Room for a letter of an axis; an estimate, because fonts differ.
const LETTER: f64 = 6.9;
/// More letters than this of a name are cut.
const LETTERS_MAX: usize = 38;

const STYLE: &str = "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',\
    'DejaVu Sans',sans-serif;fill:#1a1d23}.title{font-size:17px;font-weight:600}\
    .soft{fill:#555d6b;font-size:12px}.grid{stroke:#e3e6eb}.axis{stroke:#555d6b}";

/// A rectangle in the drawing.
#[derive(Debug, Clone, Copy)]
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A chart as an SVG document. `under` says where it is from, below the title.
pub(crate) fn document(chart: &Chart, under: &str) -> String {
    let lines = bands::of(chart);
    let is_rows = chart.shape != Shape::Lines;
    let (plot, legend_top) = layout(chart, &lines);
    let points = || lines.iter().flat_map(|line| &line.points);
    let ends = |point: &Point| {
        point
            .interval
            .map_or([None, None], |(a, b)| [Some(a), Some(b)])
    };
    let xs = points().flat_map(|point| match is_rows {
        true => [Some(point.x)].into_iter().chain(ends(point)),
        false => [Some(point.x)].into_iter().chain([None, None]),
    });
    let ys = points().flat_map(|point| match is_rows {
        true => [point.y].into_iter().chain([None, None]),
        false => [point.y].into_iter().chain(ends(point)),
    });
    let x = Placed::new(&chart.x, xs.flatten(), (plot.left, plot.right));
    let y = Placed::new(&chart.y, ys.flatten(), (plot.bottom, plot.top));
    // Rows have the names of contenders next to them.
    let named = is_rows && besides(chart).is_none();
    let legend = legend::Legend::new(if named { &[] } else { &lines }, legend_top);
    let height = legend.bottom + 12.0;
    let (width, title) = (WIDTH, &chart.title);
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc"
            viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
            title id="title" { (title) }
            desc id="desc" { (under) ". " (chart.note) }
            style { (PreEscaped(STYLE)) }
            rect width=(width) height=(height) fill="#ffffff" {}
            text.title x="16" y="28" { (title) }
            text.soft x="16" y="48" { (under) }
            (axes(chart, &plot, &x, &y))
            @match chart.shape {
                Shape::Lines => (marks::lines(&lines, &x, &y)),
                Shape::Dots => (marks::dots(&lines, &x, &y)),
                Shape::Estimates => {
                    (marks::estimates(&lines, &x, &y, besides(chart)))
                }
            }
            (legend.drawn())
        }
    };
    drawing.into_string()
}

/// Where the plot is, and where the legend starts.
fn layout(chart: &Chart, lines: &[Band]) -> (Plot, f64) {
    let top = 84.0;
    let (left, height) = match &chart.y.scale {
        super::Scale::Categories(names) => {
            let longest = names.iter().map(|name| cut(name).chars().count()).max();
            let row = besides(chart).map_or(ROW, |_| ROW.max(12.0 + BESIDES * count(lines.len())));
            (
                28.0 + LETTER * count(longest.unwrap_or(0)),
                row * count(names.len()),
            )
        }
        _ => (68.0, PLOT),
    };
    let plot = Plot {
        left,
        right: WIDTH - 24.0,
        top,
        bottom: top + height,
    };
    (plot, plot.bottom + 56.0)
}

/// How far apart marks of one row are drawn, where several series share rows.
fn besides(chart: &Chart) -> Option<f64> {
    chart.id.starts_with("overhead").then_some(BESIDES)
}

fn axes(chart: &Chart, plot: &Plot, x: &Placed<'_>, y: &Placed<'_>) -> Markup {
    let middle = f64::midpoint(plot.left, plot.right);
    html! {
        @for (place, text) in x.ticks() {
            line.grid x1=(place) x2=(place) y1=(plot.top) y2=(plot.bottom) {}
            text.soft x=(place) y=(plot.bottom + 18.0) text-anchor="middle" { (cut(&text)) }
        }
        @for (place, text) in y.ticks() {
            line.grid x1=(plot.left) x2=(plot.right) y1=(place) y2=(place) {}
            text.soft x=(plot.left - 8.0) y=(place + 4.0) text-anchor="end" { (cut(&text)) }
        }
        line.axis x1=(plot.left) x2=(plot.right) y1=(plot.bottom) y2=(plot.bottom) {}
        @if let Some(none) = reference(chart).and_then(|value| x.place(value)) {
            line.axis x1=(none) x2=(none) y1=(plot.top) y2=(plot.bottom)
                stroke-dasharray="5 4" {}
        }
        text.soft x=(middle) y=(plot.bottom + 38.0) text-anchor="middle" { (chart.x.name) }
        text.soft x="16" y=(plot.top - 12.0) { (chart.y.name) }
    }
}

/// Where two that do not differ are on the horizontal axis.
fn reference(chart: &Chart) -> Option<f64> {
    match chart.id {
        "ratios" => Some(0.0),
        "comparison" => Some(100.0),
        _ => besides(chart).map(|_| 100.0),
    }
}

/// A name that fits next to a plot.
fn cut(name: &str) -> String {
    if name.chars().count() <= LETTERS_MAX {
        return name.to_owned();
    }
    let begin: String = name.chars().take(LETTERS_MAX - 1).collect();
    format!("{begin}…")
}
