//! Numbers that other tools measured, read from the files that they write: tables of values, and
//! the exports of hyperfine, Go, criterion and k6.

mod criterion;
mod go;
mod hyperfine;
mod k6;
mod table;

use bakeoff_base::problem::Problem;
use serde_json::Value;

/// Values out of one file, in the order in which they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// The tool that wrote the file, as people write it.
    pub tool: &'static str,
    /// The unit of the values: `s`, `ns/op`; empty if the file does not say it.
    pub unit: String,
    /// Whether a lower value is the better one; `None` if the file does not say it.
    pub lower_is_better: Option<bool>,
    /// The values.
    pub values: Vec<Measured>,
}

/// A value of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The benchmark; empty if the file has only one.
    pub subject: String,
    /// The program or version that was measured.
    pub side: String,
    /// The set of fresh processes, counted from 0; `None` if the file has no sets.
    pub set: Option<u32>,
    /// The block in which all sides were measured, one after the other, counted from 0; `None` if
    /// the file has no blocks.
    pub block: Option<u32>,
    /// The value.
    pub value: f64,
}

/// Reads the values of a file. `side` is the name of the side that the file is about, for tools
/// that write a file for each; `metric` chooses one of several (`ns/op`,
/// `http_req_duration.med`).
///
/// # Errors
/// If the text is none of the known formats, if it has no value, or if the side is not known.
pub fn read(text: &str, side: Option<&str>, metric: Option<&str>) -> Result<Export, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let export = match serde_json::from_str::<Value>(text) {
        Ok(json) if json.get("results").is_some() => hyperfine::read(&json)?,
        Ok(json) if json.get("metrics").is_some() => k6::read(&json, named(side)?, metric)?,
        Ok(json) if json.get("iters").is_some() => criterion::read(&json, named(side)?)?,
        Ok(json) if json.get("value").is_none() => return Err(unknown()),
        _ if go::is_go(text) => go::read(text, named(side)?, metric)?,
        _ => table::read(text)?,
    };
    match export.values.iter().find(|one| !one.value.is_finite()) {
        _ if export.values.is_empty() => Err("it has no value".into()),
        Some(one) => Err(format!("{} is no value of {}", one.value, one.side).into()),
        None => Ok(export),
    }
}

fn named(side: Option<&str>) -> Result<&str, Problem> {
    side.ok_or_else(|| {
        let message = "it does not say which side was measured";
        Problem::new(message).with_hint("name it, as in `old=FILE new=FILE`")
    })
}

fn unknown() -> Problem {
    Problem::new("it is no table of values, and none of the exports that are known").with_hint(
        "a table has the columns block, side and value; exports are those of hyperfine \
         (--export-json), Go (go test -bench), criterion (sample.json) and k6 (--summary-export)",
    )
}
