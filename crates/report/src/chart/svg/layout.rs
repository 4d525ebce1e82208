//! Where the parts of a drawing are: in a file, or on the page, which scales it.

use crate::chart::bands::Band;
use crate::chart::{Chart, Scale, Shape, parts};
use bakeoff_analysis::data::number::count;

/// How far apart marks of one row are.
const BESIDES: f64 = 11.0;
/// Height of a row, and of a name above it.
const ROW: f64 = 28.0;
const NAME: f64 = 18.0;
/// More of the width than this share is not given to the names of rows; these then stand above.
const NAMES_MAX: f64 = 0.3;
/// More letters than this are not written next to something.
pub(super) const LETTERS_MAX: usize = 38;

/// The size of a drawing, in units that are pixels at 100 %.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(super) width: f64,
    /// Height of the plot of lines.
    plot: f64,
    /// Room for a letter of an axis; an estimate, because fonts differ.
    pub(super) letter: f64,
    /// Height above the plot, for a title, or the name of the vertical axis at most.
    head: f64,
}

/// A file, with a title and a legend.
pub(crate) const FILE: Size = Size {
    width: 880.0,
    plot: 340.0,
    letter: 6.9,
    head: 84.0,
};

/// A chart of the page. Its letters are larger on a narrow one (`report.css`), and there is room
/// for the largest.
pub(crate) const PAGE: Size = Size {
    width: 640.0,
    plot: 300.0,
    letter: 10.3,
    head: 38.0,
};

/// A rectangle in the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plot {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Rows of the plot, if it has any.
    pub(super) rows: Option<Rows>,
}

impl Plot {
    /// The number of letters that fit above a row, capitals among them.
    pub(super) fn letters(&self, size: Size) -> usize {
        const CAPITALS: f64 = 1.25;
        let most = (self.right - self.left) / (size.letter * CAPITALS);
        (1..).take_while(|letters| count(*letters) <= most).count()
    }
}

/// The rows of a plot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    /// Height of each row.
    pub(super) height: f64,
    /// Names stand above their rows, because they are too long to stand next to them.
    pub(super) above: bool,
    /// How far apart marks of one row are drawn, if several series share rows.
    pub(super) besides: Option<f64>,
}

impl Rows {
    /// How far below the middle of a row its marks are.
    pub(super) fn down(&self) -> f64 {
        if self.above { NAME / 2.0 } else { 0.0 }
    }
}

/// Where the plot of a chart is.
pub(super) fn plot(chart: &Chart, lines: &[Band], size: Size) -> Plot {
    let named = |left: f64, top: f64, height: f64, rows: Option<Rows>| Plot {
        left,
        right: size.width - 30.0,
        top,
        bottom: top + height,
        rows,
    };
    let Scale::Categories(names) = &chart.y.scale else {
        return named(66.0, size.head, size.plot, None);
    };
    let letters = names
        .iter()
        .map(|name| cut(name, LETTERS_MAX).chars().count())
        .max();
    let names_width = size.letter * count(letters.unwrap_or(0));
    let above = names_width > size.width * NAMES_MAX;
    let besides = besides(chart);
    let marks = besides.map_or(ROW, |apart| ROW.max(12.0 + apart * count(lines.len())));
    let height = if above { marks + NAME } else { marks };
    let left = if above { 16.0 } else { 28.0 + names_width };
    let rows = Rows {
        height,
        above,
        besides,
    };
    let has_title = size.head > PAGE.head;
    let top = if has_title { size.head } else { 8.0 };
    named(left, top, height * count(names.len()), Some(rows))
}

/// Shares of baselines have a mark for each benchmark in a contender's row, and parts of CPU time
/// one for each contender.
fn besides(chart: &Chart) -> Option<f64> {
    (is_of_baselines(chart) || chart.id == parts::ID).then_some(BESIDES)
}

fn is_of_baselines(chart: &Chart) -> bool {
    chart.id.starts_with("overhead")
}

/// Whether names of contenders stand next to what is drawn, so that it needs no legend.
pub(super) fn is_named(chart: &Chart) -> bool {
    chart.shape != Shape::Lines && besides(chart).is_none()
}

/// Where two that do not differ are on the horizontal axis.
pub(super) fn reference(chart: &Chart) -> Option<f64> {
    match chart.id {
        "ratios" => Some(0.0),
        "comparison" => Some(100.0),
        _ => is_of_baselines(chart).then_some(100.0),
    }
}

/// The beginning of a name that is too long.
pub(super) fn cut(name: &str, letters_max: usize) -> String {
    if name.chars().count() <= letters_max {
        return name.to_owned();
    }
    let begin = name.chars().take(letters_max.saturating_sub(1));
    format!("{}…", begin.collect::<String>())
}
