//! Charts as drawings: in files that stand alone, for slides, walls and pages without scripts, and
//! inside the page. They are drawn by this alone; a script of the page shows numbers at the
//! pointer and hides what is switched off, by the data next to the drawings ([`Drawing::data`]).

mod axes;
mod data;
mod layout;
mod legend;
mod marks;
mod scale;

use maud::{Markup, PreEscaped, html};

use super::bands::{self, Band};
use super::{Chart, Point};
use layout::{FILE, PAGE, Plot, Size, is_named};
use scale::Placed;

/// The look of drawings on white paper.
pub(crate) const STYLE: &str = include_str!("../../../assets/chart.css");

/// A chart with the places of everything in it.
pub(crate) struct Drawing<'c> {
    chart: &'c Chart,
    size: Size,
    lines: Vec<Band>,
    plot: Plot,
    x: Placed<'c>,
    y: Placed<'c>,
}

fn has_any(points: &[Point]) -> bool {
    points.iter().any(|point| point.y.is_some())
}

/// A chart as an SVG document. `under` is a line about its origin, below the title.
pub(crate) fn document(chart: &Chart, under: &str) -> String {
    Drawing::new(chart, FILE).document(under)
}

/// A sample of a case's line, for a legend outside of drawings.
pub(crate) fn sample(case: usize, published: bool) -> Markup {
    html! {
        svg.plot viewBox="0 0 26 12" width="26" height="12" aria-hidden="true" {
            (marks::sample(case, published, (0.0, 6.0)))
        }
    }
}

impl<'c> Drawing<'c> {
    /// The drawing of a chart for the page.
    pub(crate) fn of_page(chart: &'c Chart) -> Self {
        Self::new(chart, PAGE)
    }

    fn new(chart: &'c Chart, size: Size) -> Self {
        let mut lines = bands::of(chart);
        lines.retain(|line| has_any(&line.points));
        let plot = layout::plot(chart, &lines, size);
        let points = || lines.iter().flat_map(|line| &line.points);
        let ends = |point: &Point| {
            let ends = point.interval.map(|(low, high)| [low, high]);
            ends.into_iter().flatten()
        };
        // An interval lies along the axis of numbers: the horizontal one if there are rows.
        let is_rows = plot.rows.is_some();
        let along = points().flat_map(ends).collect::<Vec<f64>>();
        let (x_ends, y_ends) = match is_rows {
            true => (&along[..], &[][..]),
            false => (&[][..], &along[..]),
        };
        let xs = points().map(|point| point.x).chain(x_ends.iter().copied());
        let ys = points().filter_map(|point| point.y);
        let ys = ys.chain(y_ends.iter().copied());
        Self {
            x: Placed::new(&chart.x, xs, (plot.left, plot.right)),
            y: Placed::new(&chart.y, ys, (plot.bottom, plot.top)),
            chart,
            size,
            lines,
            plot,
        }
    }

    fn document(&self, under: &str) -> String {
        let lines = if is_named(self.chart) {
            &[]
        } else {
            &self.lines[..]
        };
        let legend = legend::Legend::new(lines, self.plot.bottom + 56.0, self.size);
        let (width, height) = (self.size.width, legend.bottom + 12.0);
        let title = &self.chart.title;
        let drawing = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img"
                aria-labelledby="title desc" viewBox={ "0 0 " (width) " " (height) }
                width=(width) height=(height) {
                title id="title" { (title) }
                desc id="desc" { (under) ". " (self.chart.note) }
                style { (PreEscaped(STYLE)) }
                rect width=(width) height=(height) fill="#ffffff" {}
                text.title x="16" y="28" { (title) }
                text.soft x="16" y="48" { (under) }
                (self.drawn(&[]))
                (legend.drawn())
            }
        };
        drawing.into_string()
    }

    /// The drawing as a part of the page, whose style it takes.
    pub(crate) fn inline(&self) -> Markup {
        let (width, height) = (self.size.width, self.plot.bottom + 50.0);
        let runs = bands::runs(self.chart);
        html! {
            svg.plot viewBox={ "0 0 " (width) " " (height) } aria-hidden="true"
                data-row-height=[self.plot.rows.map(|rows| rows.height)] {
                (self.drawn(&runs))
            }
        }
    }

    fn drawn(&self, runs: &[Band]) -> Markup {
        let places = (&self.x, &self.y);
        html! {
            (axes::drawn(self.chart, &self.plot, places, self.size))
            @match self.plot.rows {
                Some(rows) => (marks::in_rows(&self.lines, places, &rows)),
                None => (marks::lines(&self.lines, runs, places)),
            }
        }
    }
}
