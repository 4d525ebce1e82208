//! Suites that are made by a program and not written by a person: the types of the files, and the
//! texts of the files. A suite that is made passes the same checks as one that is read.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::source::Reading;
use super::{Checked, Files, SuiteSources, shape};
use crate::suite::Suite;
use crate::text::diagnostic::{Diagnostic, SourceFile};

pub use super::grpc::GrpcTable;
pub use super::metrics::MetricsTable;
pub use super::raw::{
    BackendName, BackendSettings, BackendTable, BenchmarkTable, KindName, LadderTable, LimitsTable,
    PaceName, ProbedTable, ProfileTable, Quota, RequestTable, RoundTable, RowsTable, StepTable,
    SuiteFile, SuiteTable,
};
pub use super::raw_checks::{CheckExpect, CheckTable, ChecksFile};
pub use super::raw_contender::{
    ContenderFile, ContenderTable, ImageTable, MatrixValues, ProbeTable, VariantTable,
};
pub use super::raw_dependency::DependencyTable;
pub use super::raw_request::{BodyValue, HeadersTable};
pub use super::raw_scenario::{ExtractTable, FeedKind, FeedTable, ScenarioTable};
pub use super::runs::{RunsTable, RunsValue};
pub use super::tls::TlsTable;
pub use super::transport::{ProtocolName, TransportTable};
pub use super::warm_up::{UntilName, WarmUpTable};

/// The content of a suite's files.
#[derive(Debug)]
pub struct SuiteFiles {
    /// Comments at the head of `suite.toml`, each line with its `#`.
    pub head: String,
    /// `suite.toml`.
    pub suite: SuiteFile,
    /// The file of `checks/`, with its name.
    pub checks: (&'static str, ChecksFile),
    /// The files `contender.toml`.
    pub contenders: Vec<ContenderFile>,
}

impl SuiteFiles {
    /// Returns the suite, and its files as texts, each by its path in the suite's folder. The suite
    /// is the one that [`super::suite`] reads from them.
    ///
    /// # Errors
    /// Every mistake, without a place in a text.
    pub fn make(self) -> Result<(Suite, SuiteSources), Vec<Diagnostic>> {
        let file = |path: String, text: String| SourceFile { path, text };
        let (checks_path, checks) = self.checks;
        let suite = format!("{}\n{}", self.head, text(&self.suite));
        let contender = |one: &ContenderFile| {
            let name = &one.contender.name;
            let path = format!("contenders/{name}/contender.toml");
            (name.clone(), file(path, text(one)))
        };
        let sources = SuiteSources {
            suite: file("suite.toml".to_owned(), suite),
            checks: vec![file(format!("checks/{checks_path}"), text(&checks))],
            contenders: self.contenders.iter().map(contender).collect(),
            published: None,
        };
        let contenders = sources.contenders.iter().zip(self.contenders);
        let files = Files {
            suite: made(&sources.suite, self.suite),
            checks: vec![made(&sources.checks[0], checks)],
            contenders: contenders
                .map(|((name, source), file)| (name.as_str(), made(source, file)))
                .collect(),
            published: None,
        };
        let suite = files.suite(sources.digest())?;
        Ok((suite, sources))
    }
}

/// Returns a file's text. It lacks keys with the value that they have unless another is given.
pub fn text<T: Serialize + JsonSchema>(file: &T) -> String {
    toml(&shape::without_defaults(&shape::schema::<T>(), value(file)))
}

/// Returns the text of the tables of a list: `[[key]]`; nothing if there are none.
pub fn list<T: Serialize + JsonSchema>(key: &str, tables: &[T]) -> String {
    let schema = shape::schema::<T>();
    let tables = tables.iter();
    let tables: Vec<Value> = tables
        .map(|table| shape::without_defaults(&schema, value(table)))
        .collect();
    match tables.is_empty() {
        true => String::new(),
        false => toml(&json!({ key: tables })) + "\n",
    }
}

/// Checks the shape of a file that was made.
fn made<T: Serialize + JsonSchema>(source: &SourceFile, file: T) -> Checked<'_, T> {
    let schema = shape::schema::<T>();
    let written = shape::without_defaults(&schema, value(&file));
    let mut reading = Reading::of_value(source, &written);
    shape::check(&schema, &mut reading);
    (reading, Some(file))
}

fn toml(value: &Value) -> String {
    toml::to_string(value).expect("tables of texts and numbers without null are TOML")
}

fn value<T: Serialize>(file: &T) -> Value {
    serde_json::to_value(file).expect("tables with names as keys are JSON")
}
