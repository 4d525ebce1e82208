//! Every chart of a report as a separate drawing.

use super::html::panels::{self, BEST, Panel};
use crate::chart::{Chart, Shape, svg};
use bakeoff_analysis::Analysis;

/// A chart with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartFile {
    /// `city-get-throughput.svg`: letters, digits, dots and dashes; unique in the report.
    pub file: String,
    /// Title of the chart.
    pub title: String,
    /// The document.
    pub svg: String,
}

/// Returns all charts in the report's order.
#[must_use]
pub fn figures(analysis: &Analysis<'_>) -> Vec<ChartFile> {
    let mut figures: Vec<ChartFile> = Vec::new();
    for panel in &panels::of(analysis) {
        for chart in &panel.charts {
            let name = name(&panel.name, chart.id);
            let same = |figure: &&ChartFile| figure.file.starts_with(&format!("{name}."));
            let number = figures.iter().filter(same).count();
            let file = match number {
                0 => format!("{name}.svg"),
                _ => format!("{name}.{}.svg", number + 1),
            };
            figures.push(ChartFile {
                file,
                title: chart.title.clone(),
                svg: drawn(panel, chart, &analysis.title),
            });
        }
    }
    figures
}

fn name(panel: &str, id: &str) -> String {
    let safe = |letter: char| match letter {
        letter if letter.is_alphanumeric() => letter,
        _ => '-',
    };
    format!("{}-{id}", panel.chars().map(safe).collect::<String>())
}

/// Lines of too many contenders are unreadable, rows are not.
fn drawn(panel: &Panel<'_>, chart: &Chart, title: &str) -> String {
    let under = format!("{}: {}; {title}", panel.name, panel.conditions);
    let best = panel.best();
    if chart.shape != Shape::Lines || best.is_empty() {
        return svg::document(chart, &under);
    }
    let is_best = |case: usize| best.contains(&case);
    let series = chart.series.iter().filter(|one| is_best(one.case));
    let chart = Chart {
        title: format!("{} (the {BEST} with the highest peaks)", chart.title),
        series: series.cloned().collect(),
        ..chart.clone()
    };
    svg::document(&chart, &under)
}
