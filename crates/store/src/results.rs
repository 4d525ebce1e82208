//! Reads a results folder back: records of all attempts, how far each run got, and the results with
//! everything else that a report shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::record::unmade::UnmadeRuns;
use bakeoff_model::record::{self, Outcome, Results, RunRecords};
use bakeoff_model::suite::capacity::CapacityRecord;
use bakeoff_validity::count_warm_ends;
use flate2::read::MultiGzDecoder;

use crate::file::{open_regular, read_regular};
use crate::flame_file;
use crate::round_file::RoundsFile;
use crate::session_file::SessionFile;
use crate::suite_folder::{self, SuiteFolder};

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
///
/// # Errors
/// The folder is not a results folder, or its records cannot be read.
pub fn read_session(folder: &Path) -> anyhow::Result<(Results, Option<PathBuf>)> {
    let mut results = read_records(folder)?;
    results.flame_graphs = flame_file::read(folder);
    let path = folder.join(SessionFile::NAME);
    if !path.exists() {
        return Ok((results, None));
    }
    let session = match SessionFile::read(&path) {
        Ok(session) => session,
        Err(why) => {
            results.session_missing = Some(format!(
                "the description of the session cannot be read, so it is not known what was \
                 planned and skipped: {why:#}"
            ));
            return Ok((results, None));
        }
    };
    results.unmade = unmade(&session.plan, &results);
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

/// Returns the runs of a plan that were not made; `None` if all were.
fn unmade(plan: &Plan, results: &Results) -> Option<UnmadeRuns> {
    let finished = results.runs.iter().filter(|run| is_finished(run));
    let finished: BTreeSet<&String> = finished.map(|run| &run.begin.run.id).collect();
    let made = plan.runs.iter().filter(|run| finished.contains(&run.id));
    let (made, planned) = (made.count(), plan.certain().count());
    let is_decided = plan.runs_until.is_none();
    let is_left = made < planned || !is_decided && made < plan.runs.len();
    is_left.then_some(UnmadeRuns {
        made,
        planned,
        is_decided,
    })
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
/// warm-up by which a set was found warm is in the step that follows, and runs without the key
/// `sitting` have the one that their hosts and times show.
///
/// # Errors
/// The folder is not a results folder, or a file in it cannot be read.
pub fn read_records(folder: &Path) -> anyhow::Result<Results> {
    let files = attempts(folder, "not a results folder (no records/ in it)")?;
    let mut runs = Vec::new();
    for file in &files {
        runs.extend(file.read()?);
    }
    runs.sort_by(|a, b| {
        (a.begin.run.order, a.begin.attempt).cmp(&(b.begin.run.order, b.begin.attempt))
    });
    count_warm_ends(&mut runs);
    record::sittings::fill_in(&mut runs);
    let notes = read_regular(&folder.join("notes.md")).ok();
    Ok(Results {
        runs,
        notes,
        ..Results::default()
    })
}

/// The file of one attempt of a run.
struct Attempt {
    id: String,
    number: u32,
    path: PathBuf,
}

/// Returns the files of all attempts in a results folder, in the order of their names.
///
/// # Errors
/// The folder has no records, which the error calls `missing`, or two files of one attempt.
fn attempts(folder: &Path, missing: &str) -> anyhow::Result<Vec<Attempt>> {
    let mut found: BTreeMap<(String, u32), PathBuf> = BTreeMap::new();
    let entries = fs::read_dir(folder.join("records"));
    for entry in entries.with_context(|| format!("{}: {missing}", folder.display()))? {
        let path = entry?.path();
        let Some(attempt) = attempt_of(&path) else {
            continue;
        };
        if let Some(other) = found.insert(attempt, path.clone()) {
            return Err(hinted(
                format_args!("{} and {} are one run", other.display(), path.display()),
                "remove one of them: both would count",
            ));
        }
    }
    let each = found.into_iter();
    let each = each.map(|((id, number), path)| Attempt { id, number, path });
    Ok(each.collect())
}

impl Attempt {
    /// Reads the records; a file whose first line never reached the disk contains nothing.
    fn read(&self) -> anyhow::Result<Option<RunRecords>> {
        let path = self.path.display();
        let again = "remove the file, and `--resume` makes the run again";
        let text = read_text(&self.path)
            .map_err(|error| hinted(format_args!("{path}: {error}"), again))?;
        if text.is_empty() {
            return Ok(None);
        }
        let run = record::read_run(&text)
            .map_err(|problem| with_hints(problem.context(&path).with_hint(again)))?;
        let begin = &run.begin;
        if (begin.run.id.as_str(), begin.attempt) != (&self.id, self.number) {
            return Err(hinted(
                format_args!(
                    "{path}: has the records of {}, attempt {}",
                    begin.run.id, begin.attempt
                ),
                "give the file the name of that run, or remove it",
            ));
        }
        let slices = run
            .intervals
            .iter()
            .map(|one| (one.load.step, one.load.slice));
        if slices.collect::<BTreeSet<_>>().len() < run.intervals.len() {
            return Err(hinted(
                format_args!("{path}: a slice is in it twice"),
                again,
            ));
        }
        Ok(Some(run))
    }
}

/// Reads the whole lines of a file: a last line that is torn, perhaps in the middle of a letter, is
/// left out. Records that are kept for long may be compressed by gzip.
fn read_text(path: &Path) -> std::io::Result<String> {
    let mut file = open_regular(path)?;
    let mut bytes = Vec::new();
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => MultiGzDecoder::new(file).read_to_end(&mut bytes)?,
        false => file.read_to_end(&mut bytes)?,
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(whole.map_or(0, |last| last + 1));
    String::from_utf8(bytes).map_err(std::io::Error::other)
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
    let files = attempts(folder, "no records to resume from")?;
    for file in files {
        let finished = file.read()?.is_some_and(|run| is_finished(&run));
        let known = progress.entry(file.id).or_default();
        known.attempts = known.attempts.max(file.number);
        if finished {
            known.finished = known.finished.max(Some(file.number));
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
    for file in attempts(folder, "no records/ in it")? {
        if case(&file.id) != case(&run.id) {
            continue;
        }
        let other = file.read()?;
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
#[must_use]
pub fn is_finished(run: &RunRecords) -> bool {
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
    let started = folders.filter(|folder| has_records(folder));
    Ok(Some(started.collect()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::path::Path;

    use bakeoff_base::problem::Problem;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{progress, read_records, read_text, record};

    #[test]
    fn one_file_holds_a_run_and_its_torn_line_is_left_out() {
        let committed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/locations/start-up/records");
        let entry = fs::read_dir(committed).unwrap().next().unwrap().unwrap();
        let mut bytes = read_text(&entry.path()).unwrap().into_bytes();
        // Inside of a letter.
        bytes.extend_from_slice("{\"name\": \"Plze\u{148}".as_bytes());
        bytes.pop();
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("records");
        fs::create_dir(&records).unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = name.trim_end_matches(".gz");
        fs::write(records.join(name), &bytes).unwrap();
        assert_eq!(read_records(folder.path()).unwrap().runs.len(), 1);
        let fails = |file: &str, expect: &str| {
            fs::write(records.join(file), &bytes).unwrap();
            let error = read_records(folder.path()).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
            fs::remove_file(records.join(file)).unwrap();
        };
        let read = || read_records(folder.path()).unwrap_err();
        let unreadable = [b"{}\n", bytes.as_slice()].concat();
        fs::write(records.join(name), unreadable).unwrap();
        let problem = read().downcast::<Problem>().unwrap();
        assert!(problem.message().contains(name), "{problem}");
        assert!(problem.hints()[0].contains("--resume"), "{problem:?}");
        fs::write(records.join(name), &bytes).unwrap();
        fails(&format!("{name}.gz"), "are one run");
        fails("other.r1.a1.jsonl", "has the records of ");
    }

    #[test]
    fn a_slice_counts_once() {
        let turns = include_str!("../../model/tests/it/fixtures/turns.jsonl");
        let slice = turns
            .lines()
            .find(|line| line.contains("\"record\":\"interval\""));
        let begin = turns.lines().next().unwrap();
        let id = record::read_run(turns).unwrap().begin.run.id;
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("records");
        fs::create_dir(&records).unwrap();
        let file = records.join(format!("{id}.a1.jsonl"));
        let lines = [begin, slice.unwrap(), slice.unwrap(), ""];
        fs::write(&file, lines[..2].join("\n") + "\n").unwrap();
        assert_eq!(read_records(folder.path()).unwrap().runs.len(), 1);
        fs::write(&file, lines.join("\n")).unwrap();
        let error = read_records(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("a slice is in it twice"), "{error}");
    }

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
