//! The published JSON Schemas, made from the very types that read the files.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::load::{LoadEvent, LoadSpec};
use crate::parse::{raw, raw_published};
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
        ("checks.schema.json", text::<raw::ChecksFile>()),
        ("contender.schema.json", text::<raw::ContenderFile>()),
        ("plan.schema.json", text::<Plan>()),
        ("load-spec.schema.json", text::<LoadSpec>()),
        ("load-event.schema.json", text::<LoadEvent>()),
        ("record.schema.json", text::<Record>()),
    ]
}

/// The schema of a type as JSON.
pub(crate) fn of<T: JsonSchema>() -> Value {
    SchemaGenerator::default()
        .into_root_schema_for::<T>()
        .to_value()
}

fn text<T: JsonSchema>() -> String {
    let mut text = format!("{:#}", of::<T>());
    text.push('\n');
    text
}
