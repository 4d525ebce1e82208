//! The messages of suites whose contenders speak gRPC: read with the suite, and checked against its
//! requests.

use std::path::{Path, PathBuf};

use anyhow::bail;
use bakeoff_grpc::Schema;
use bakeoff_model::parse;
use bakeoff_model::request::Body;
use bakeoff_model::suite::Suite;

/// Returns the messages of a suite that was read; `None` if its contenders speak plain HTTP.
///
/// # Errors
/// The suite has no descriptors of messages.
pub fn schema(suite: &Suite) -> anyhow::Result<Option<Schema>> {
    let descriptors = suite.grpc.as_ref().map(|grpc| grpc.descriptors.as_bytes());
    Ok(descriptors.map(Schema::from_descriptors).transpose()?)
}

/// Reads the files that describe a suite's messages.
pub(crate) fn read(folder: &Path, suite: &mut Suite) -> anyhow::Result<()> {
    let Some(grpc) = &suite.grpc else {
        return Ok(());
    };
    let files: Vec<PathBuf> = grpc.files.iter().map(|file| folder.join(file)).collect();
    let schema = Schema::from_files(&files)?;
    fill(suite, &schema)
}

/// Gives a suite the messages that its files describe. They become part of its digest.
///
/// # Errors
/// A request or a check calls a method that is not there, or with another message; all of them are
/// in the error.
pub fn fill(suite: &mut Suite, schema: &Schema) -> anyhow::Result<()> {
    let descriptors = schema.descriptors();
    suite.digest = parse::digest_with(&suite.digest, "grpc", &descriptors);
    if let Some(grpc) = &mut suite.grpc {
        grpc.descriptors = Body::from(descriptors);
    }
    let requests = suite.benchmarks.iter().flat_map(|benchmark| {
        let requests = benchmark.requests.iter();
        requests.map(|request| {
            let body = request.body.as_text().unwrap_or_default();
            (format!("benchmark {}", benchmark.name), &request.path, body)
        })
    });
    let checks = suite.checks.iter().map(|check| {
        let place = format!("check {}: {}", check.group, check.name);
        (place, &check.path, check.body.as_text().unwrap_or_default())
    });
    let mistakes = requests.chain(checks).filter_map(|(place, path, body)| {
        let why = schema.encode(path, body).err()?;
        Some(format!("{place}: {why}"))
    });
    let mistakes: Vec<String> = mistakes.collect();
    if mistakes.is_empty() {
        return Ok(());
    }
    bail!(mistakes.join("\n"))
}
