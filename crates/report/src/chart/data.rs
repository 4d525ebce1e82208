//! Charts as data: what is drawn, not how.
//!
//! A chart never averages: each run is a separate series, and runs of one contender share its
//! colour. A step that a run did not reach is a gap. How runs are summarised is a matter of drawing
//! ([`super::bands`]).

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// Unique in its benchmark, usable in an address.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// How to read it, in a sentence or two.
    pub(crate) note: &'static str,
    pub(crate) shape: Shape,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

impl Chart {
    /// Whether the values of all series at one place of the horizontal axis say something
    /// together, as those at one step do.
    pub(crate) fn has_common_places(&self) -> bool {
        const APART: [&str; 3] = ["throughput-latency", "cumulative", "startup-share"];
        self.shape == Shape::Lines && !APART.contains(&self.id)
    }
}

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Lines,
    /// Points in rows, one row for each case.
    Dots,
    /// One estimate for each case, with its interval.
    Estimates,
}

/// An axis with its unit in the name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) scale: Scale,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Linear, with whole numbers only.
    Whole,
    /// Powers of ten.
    Log,
    /// `1 / (1 - quantile)` on powers of ten, written as percentiles.
    Quantile,
    Categories(Vec<String>),
}

/// The points of one run, or of one case when runs are merged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Index of the case in the benchmark: its colour.
    pub(crate) case: usize,
    /// Contender and parameters.
    pub(crate) name: String,
    /// Repetition; `None` when runs are merged.
    pub(crate) run: Option<u32>,
    /// Not ours, but published by others.
    pub(crate) published: bool,
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// Value, or index of the category.
    pub(crate) x: f64,
    /// `None` is a gap.
    pub(crate) y: Option<f64>,
    /// Ends of the interval, if there is one.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether the number is fair; others are drawn hollow.
    pub(crate) fair: bool,
    /// Text of the tooltip next to the numbers.
    pub(crate) label: Option<String>,
}

impl Point {
    pub(crate) fn new(x: f64, y: Option<f64>) -> Self {
        let y = y.filter(|y| y.is_finite());
        Self {
            x,
            y,
            interval: None,
            fair: true,
            label: None,
        }
    }
}
