//! The published JSON Schemas, made from the very types that read the files.

use schemars::JsonSchema;

use crate::load::{LoadEvent, LoadSpec};
use crate::parse::{raw, raw_checks, raw_contender, raw_published, shape};
use crate::plan::Plan;
use crate::record::Record;

/// Every schema as (file name in `docs/schema/`, text).
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("suite.schema.json", text::<raw::SuiteFile>()),
        (
            "published.schema.json",
            text::<raw_published::PublishedFile>(),
        ),
        ("checks.schema.json", text::<raw_checks::ChecksFile>()),
        (
            "contender.schema.json",
            text::<raw_contender::ContenderFile>(),
        ),
        ("plan.schema.json", text::<Plan>()),
        ("load-spec.schema.json", text::<LoadSpec>()),
        ("load-event.schema.json", text::<LoadEvent>()),
        ("record.schema.json", text::<Record>()),
    ]
}

fn text<T: JsonSchema>() -> String {
    let mut text = format!("{:#}", shape::schema::<T>());
    text.push('\n');
    text
}
