//! The backends of `suite.toml`: names, data, settings, and what has to be in their databases.

use super::raw::{BackendSettings, BackendTable, RowsTable};
use super::source::{KeyPath, Reading};
use crate::load::RequestSpec;
use crate::suite::conditions::BackendName;
use crate::suite::delay::Delay;
use crate::suite::{BackendSpec, Benchmark, ReplaySettings, Rows};
use crate::text::names;

/// The backends; `benchmarks` send the requests that they are compared with.
pub(super) fn backends(
    reading: &mut Reading<'_>,
    tables: Vec<BackendTable>,
    benchmarks: &[Benchmark],
) -> Vec<BackendSpec> {
    let place = KeyPath::root().key("backend");
    reading.report_duplicates(&place, "backend", names_of(&tables).into_iter());
    let mut specs = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = place.index(index);
        if let Some(data) = &table.data {
            reading.check_inside(&place.key("data"), data, "suite");
        }
        let name = BackendName::from(table.name);
        specs.push(BackendSpec {
            name,
            data: table.data,
            rows: rows(reading, &place, name, &table.rows, benchmarks),
            settings: settings(reading, &place, name, &table.settings),
        });
    }
    specs
}

/// Returns the names of backends.
pub(super) fn names_of(backends: &[BackendTable]) -> Vec<&'static str> {
    let names = backends.iter().map(|backend| backend.name.into());
    names.map(BackendName::name).collect()
}

/// Returns the rows that the databases of the backend at `place` must have.
fn rows(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    backend: BackendName,
    tables: &[RowsTable],
    benchmarks: &[Benchmark],
) -> Vec<Rows> {
    let place = place.key("rows");
    if !tables.is_empty() && backend != BackendName::Postgres {
        let message = format!("`{place}`: {backend} has no databases of contenders");
        let hint = "only `postgres` has `rows`".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
    let requests = benchmarks.iter().flat_map(|one| &one.requests);
    let known: Vec<String> = requests.map(RequestSpec::label).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let is_whole = reading.is_whole(&KeyPath::root().key("benchmark"));
    let mut rows = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        if is_whole && !known.contains(&table.request.as_str()) {
            let message = format!("unknown request `{}`", table.request);
            let hint = names::suggestion(&table.request, &known);
            reading.complain(&place.index(index).key("request"), &message, Some(hint));
        }
        rows.push(Rows {
            request: table.request.clone(),
            query: table.query.clone(),
        });
    }
    rows
}

/// The settings of the backend at `place`.
fn settings(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    backend: BackendName,
    table: &BackendSettings,
) -> ReplaySettings {
    let place = place.key("settings");
    let given = [
        (
            "delay",
            table.delay.is_some(),
            "does not support an artificial delay",
        ),
        ("gzip", table.gzip.is_some(), "compresses as it does"),
        ("queue", table.queue.is_some(), "has the queue that it has"),
    ];
    let not_replay = backend != BackendName::Replay;
    for (key, _, words) in given.iter().filter(|(_, given, _)| *given && not_replay) {
        let place = place.key(key);
        let message = format!("`{place}`: {backend} {words}");
        let hint = format!("only `replay` has a {key}");
        reading.complain(&place, &message, Some(hint));
    }
    let delay: Result<Delay, _> = table.delay.as_deref().unwrap_or("none").parse();
    ReplaySettings {
        delay: delay.unwrap_or_else(|message| {
            let place = place.key("delay");
            reading.complain(&place, &format!("`{place}`: {message}"), None);
            Delay::None
        }),
        gzip: table.gzip.unwrap_or_default(),
        queue: table.queue,
    }
}
