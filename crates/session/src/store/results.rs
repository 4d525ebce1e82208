//! Reads a results folder back: records of all attempts, how far each run got, and the results with
//! everything else that a report shows.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::{self, Outcome, Results, RunRecords};
use bakeoff_model::suite::capacity::CapacityRecord;
use bakeoff_validity::count_warm_ends;
use flate2::read::MultiGzDecoder;

use super::file::{open_regular, read_regular};
use super::flame_file;
use super::round_file::RoundsFile;
use super::session_file::SessionFile;
use super::suite_folder::{self, SuiteFolder};

/// Reads a results folder, with what reports show of the suite if the suite is still there.
///
/// # Errors
/// The folder is not a results folder, or a file in it cannot be read.
pub fn read(folder: &Path) -> anyhow::Result<Results> {
    let (mut results, suite) = read_session(folder)?;
    match suite.as_deref().map(suite_folder::read) {
        Some(Ok(SuiteFolder { suite, .. })) => {
            results.analysis = Some(suite.analysis);
            results.published = suite.published;
        }
        Some(Err(error)) => results.suite_missing = Some(format!("{error:#}")),
        None => {}
    }
    Ok(results)
}

/// Reads a results folder without what reports show of the suite, and finds the suite's folder.
pub(crate) fn read_session(folder: &Path) -> anyhow::Result<(Results, Option<PathBuf>)> {
    let mut results = read_records(folder)?;
    results.flame_graphs = flame_file::read(folder);
    let session = read_regular(&folder.join(SessionFile::NAME)).ok();
    let session = session.and_then(|text| serde_json::from_str::<SessionFile>(&text).ok());
    let Some(session) = session else {
        return Ok((results, None));
    };
    results.purpose = session.options.purpose;
    results.skipped = session.skipped;
    results.no_turns = session.plan.no_turns;
    results.qualifications = session.qualified;
    results.baseline = session.baseline;
    results.runs_decision = session.runs_decision;
    if let Some(round) = session.round {
        results.decides = round.decides;
        results.round = Some(round.name);
    }
    let suite = suite_folder::found_from(folder, &session.suite_folder);
    Ok((results, Some(suite)))
}

/// Runs whose last attempt failed.
#[must_use]
pub fn failed_runs(results: &Results) -> usize {
    let mut last: BTreeMap<&str, bool> = BTreeMap::new();
    for run in &results.runs {
        let outcome = run.end.as_ref().map(|end| &end.outcome);
        let failed = !matches!(outcome, Some(Outcome::Completed));
        last.insert(&run.begin.run.id, failed);
    }
    last.values().filter(|failed| **failed).count()
}

/// Whether a folder is a results folder, started at least.
#[must_use]
pub fn has_records(folder: &Path) -> bool {
    folder.join("records").is_dir()
}

/// All attempts of all runs in a results folder, in the order in which they started. The end of a
/// warm-up by which a set was found warm is in the step that follows.
///
/// # Errors
/// The folder is not a results folder, or a file in it cannot be read.
pub fn read_records(folder: &Path) -> anyhow::Result<Results> {
    let records = folder.join("records");
    let entries = fs::read_dir(&records).with_context(|| {
        format!(
            "{}: not a results folder (no records/ in it)",
            folder.display()
        )
    })?;
    let mut runs = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if attempt_of(&path).is_some() {
            runs.extend(read_file(&path)?);
        }
    }
    runs.sort_by(|a, b| {
        (a.begin.run.order, a.begin.attempt).cmp(&(b.begin.run.order, b.begin.attempt))
    });
    count_warm_ends(&mut runs);
    let notes = read_regular(&folder.join("notes.md")).ok();
    Ok(Results {
        runs,
        notes,
        ..Results::default()
    })
}

/// One attempt; a file whose first line never reached the disk holds nothing and is skipped.
fn read_file(path: &Path) -> anyhow::Result<Option<RunRecords>> {
    let text = read_text(path).with_context(|| format!("{}", path.display()))?;
    if !text.contains('\n') {
        return Ok(None);
    }
    let run = record::read_run(&text).map_err(|problem| problem.context(path.display()))?;
    Ok(Some(run))
}

/// Records that are kept for long may be compressed by gzip.
fn read_text(path: &Path) -> std::io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return read_regular(path);
    }
    let mut text = String::new();
    MultiGzDecoder::new(open_regular(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// How far a run got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Attempts that were started: the number of the last one.
    pub attempts: u32,
    /// The last attempt that completed or failed.
    pub finished: Option<u32>,
}

/// How far each run of a results folder got, by its id.
///
/// # Errors
/// The folder is not a results folder, or a file in it cannot be read.
pub fn progress(folder: &Path) -> anyhow::Result<BTreeMap<String, Progress>> {
    let mut progress: BTreeMap<String, Progress> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("records"))
        .with_context(|| format!("{}: no records to resume from", folder.display()))?
    {
        let path = entry?.path();
        let Some((id, attempt)) = attempt_of(&path) else {
            continue;
        };
        let finished = read_file(&path)?.is_some_and(|run| is_finished(&run));
        let known = progress.entry(id).or_default();
        known.attempts = known.attempts.max(attempt);
        if finished {
            known.finished = known.finished.max(Some(attempt));
        }
    }
    Ok(progress)
}

/// Returns the capacities that earlier repetitions of a run in this results folder found, in no
/// particular order.
///
/// # Errors
/// The folder is not a results folder, or a file in it cannot be read.
pub fn capacities_before(folder: &Path, run: &PlannedRun) -> anyhow::Result<Vec<CapacityRecord>> {
    let case = |id: &str| id.rsplit_once(".r").map(|(case, _)| case.to_owned());
    let mut found = Vec::new();
    let records = folder.join("records");
    for entry in fs::read_dir(&records).with_context(|| format!("{}", records.display()))? {
        let path = entry?.path();
        let is_beside = attempt_of(&path).is_some_and(|(id, _)| case(&id) == case(&run.id));
        if !is_beside {
            continue;
        }
        let other = read_file(&path)?;
        let completed = |other: &RunRecords| {
            let end = other.end.as_ref();
            other.begin.run.repetition < run.repetition
                && end.is_some_and(|end| end.outcome == Outcome::Completed)
        };
        let other = other.filter(completed);
        found.extend(other.into_iter().flat_map(|other| other.capacities));
    }
    Ok(found)
}

/// Splits `RUN.aN.jsonl` and `RUN.aN.jsonl.gz`.
fn attempt_of(path: &Path) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".jsonl")?;
    let (id, attempt) = stem.rsplit_once(".a")?;
    Some((id.to_owned(), attempt.parse().ok()?))
}

/// Whether a run completed or failed, and was not interrupted.
pub(crate) fn is_finished(run: &RunRecords) -> bool {
    run.end
        .as_ref()
        .is_some_and(|end| end.outcome != Outcome::Interrupted)
}

/// The results folders in a folder of rounds, in the order of the rounds; `None` for any other
/// folder.
///
/// # Errors
/// The file of the rounds cannot be understood.
pub fn folders(top: &Path) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let Some(file) = RoundsFile::read(top)? else {
        return Ok(None);
    };
    let folders = file.rounds.iter().map(|name| top.join(name));
    let begun = folders.filter(|folder| has_records(folder));
    Ok(Some(begun.collect()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::path::Path;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{progress, read_records, read_text};

    #[test]
    fn compressed_records_are_read_like_others() {
        let committed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/locations/start-up/records");
        let (plain, packed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let inside = |folder: &tempfile::TempDir| folder.path().join("records");
        fs::create_dir(inside(&plain)).unwrap();
        fs::create_dir(inside(&packed)).unwrap();
        for entry in fs::read_dir(committed).unwrap() {
            let path = entry.unwrap().path();
            let text = read_text(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = name.strip_suffix(".gz").unwrap_or(name);
            fs::write(inside(&plain).join(name), &text).unwrap();
            let file = File::create(inside(&packed).join(format!("{name}.gz"))).unwrap();
            let mut gz = GzEncoder::new(file, Compression::fast());
            gz.write_all(text.as_bytes()).unwrap();
            gz.finish().unwrap();
        }
        let runs = |folder: &tempfile::TempDir| read_records(folder.path()).unwrap().runs;
        assert!(!runs(&plain).is_empty());
        assert_eq!(runs(&packed), runs(&plain));
        let progress = |folder: &tempfile::TempDir| progress(folder.path()).unwrap();
        assert_eq!(progress(&packed), progress(&plain));
    }
}
