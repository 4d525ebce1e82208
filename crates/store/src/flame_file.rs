//! `flame/index.json` of a results folder: its flame graphs, and the reasons for missing ones.

use std::path::Path;

use bakeoff_model::measure::flame_graph::FlameGraph;

use crate::file::{make_inside, read_regular, write_whole};

/// The folder of flame graphs in a results folder.
pub const FOLDER: &str = "flame";
const NAME: &str = "index.json";

/// Reads the flame graphs of a results folder; none if the file is missing or another program's.
pub(crate) fn read(results: &Path) -> Vec<FlameGraph> {
    let text = read_regular(&results.join(FOLDER).join(NAME)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Keeps one, in the place of what was there of the same case.
///
/// # Errors
/// There is a link in its place, or the file system's error, each with a hint.
pub fn keep(results: &Path, one: &FlameGraph) -> anyhow::Result<()> {
    let folder = make_inside(results, FOLDER)?;
    let mut all = read(results);
    let key = |graph: &FlameGraph| {
        let (benchmark, contender) = (graph.benchmark.clone(), graph.contender.clone());
        (benchmark, contender, graph.parameters.clone())
    };
    all.retain(|other| key(other) != key(one));
    all.push(one.clone());
    let text = serde_json::to_string_pretty(&all)?;
    write_whole(&folder.join(NAME), text.as_bytes())
}

/// Keeps the picture of one, by its path in the results folder.
///
/// # Errors
/// There is a link in its place, or the file system's error, each with a hint.
pub fn keep_svg(results: &Path, file: &str, svg: &[u8]) -> anyhow::Result<()> {
    make_inside(results, FOLDER)?;
    write_whole(&results.join(file), svg)
}
