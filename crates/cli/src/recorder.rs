//! The results folder: the plan, and one append-only file of JSON Lines per attempt at a run.
//!
//! Every line is synced before the session goes on, so a killed session loses at most the line
//! that was being written, and readers drop such a torn line.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{self, Qualification, Record, Results, RunRecords};
use serde::{Deserialize, Serialize};

use crate::commands::rounds::RoundFile;
use crate::suite_folder;

/// What `--resume` needs to go on: the plan and where the suite was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SessionFile {
    /// Folder of the suite; in the file as seen from the results folder.
    pub(crate) suite_folder: PathBuf,
    /// Contenders that take no part, each with the line that says why.
    pub(crate) skipped: Vec<String>,
    /// Length of a slice when it is not the profile's.
    pub(crate) slice: Option<Duration>,
    /// The runs in their order.
    pub(crate) plan: Plan,
    /// The round, if it is one.
    #[serde(default)]
    pub(crate) round: Option<RoundFile>,
    /// Winners of earlier rounds that take part, as they were picked.
    #[serde(default)]
    pub(crate) qualified: Vec<Qualification>,
}

/// A results folder, open for writing.
#[derive(Debug)]
pub(crate) struct Recorder {
    folder: PathBuf,
    current: Option<(PathBuf, File)>,
}

impl Recorder {
    /// Makes the folder and writes the plan; refuses a folder that already holds a session.
    pub(crate) fn create(folder: &Path, session: &SessionFile) -> anyhow::Result<Self> {
        let path = folder.join("session.json");
        if path.exists() {
            bail!(
                "{}: holds a session already\n  hint: finish it with --resume {0}, or name \
                 another folder with --out",
                folder.display()
            );
        }
        fs::create_dir_all(folder.join("records"))
            .with_context(|| format!("{}: cannot make the results folder", folder.display()))?;
        let stored = SessionFile {
            suite_folder: suite_folder::seen_from(folder, &session.suite_folder)?,
            ..session.clone()
        };
        let text = serde_json::to_string_pretty(&stored)?;
        write_whole(&path, text.as_bytes())?;
        Ok(Self {
            folder: folder.to_owned(),
            current: None,
        })
    }

    /// Opens a folder that holds a session.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<(Self, SessionFile)> {
        let path = folder.join("session.json");
        let text = fs::read_to_string(&path).with_context(|| {
            format!(
                "{}: no session to resume here (session.json)",
                folder.display()
            )
        })?;
        let mut session: SessionFile = serde_json::from_str(&text)
            .with_context(|| format!("{}: not a session file", path.display()))?;
        session.suite_folder = suite_folder::found_from(folder, &session.suite_folder);
        Ok((
            Self {
                folder: folder.to_owned(),
                current: None,
            },
            session,
        ))
    }

    /// Begins the file of an attempt at a run.
    pub(crate) fn begin(&mut self, run_id: &str, attempt: u32) -> anyhow::Result<()> {
        let path = self
            .folder
            .join("records")
            .join(format!("{run_id}.a{attempt}.jsonl"));
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&path)
            .map_err(|error| explain(&path, &error))?;
        sync_folder(&self.folder.join("records"));
        self.current = Some((path, file));
        Ok(())
    }

    /// Appends one line to the current file and waits until it is on the disk.
    pub(crate) fn append(&mut self, record: &Record) -> anyhow::Result<()> {
        let Some((path, file)) = &mut self.current else {
            bail!("a record came before its run began");
        };
        let line = record::write_line(record);
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_data())
            .map_err(|error| explain(path, &error))
    }
}

/// Turns an error of the file system into a sentence that says what to do.
fn explain(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, then go on with --resume; every finished line is kept"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a writable folder with --out"
        }
        _ => "every line written before is kept; go on with --resume",
    };
    anyhow::anyhow!(
        "{}: cannot write results: {error}\n  hint: {hint}",
        path.display()
    )
}

/// Writes a file so that a reader sees either nothing or all of it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let temporary = path.with_extension("partial");
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        // What could not be finished is not left behind; the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        explain(path, &error)
    })
}

/// Makes a new file's name durable; a file system that cannot do so loses nothing we promised.
fn sync_folder(folder: &Path) {
    if let Ok(handle) = File::open(folder) {
        let _ = handle.sync_all();
    }
}

/// Whether a folder is a results folder, begun at least.
pub(crate) fn has_records(folder: &Path) -> bool {
    folder.join("records").is_dir()
}

/// All attempts of all runs in a results folder, in the order in which they began.
pub(crate) fn read_results(folder: &Path) -> anyhow::Result<Results> {
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
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            runs.extend(read_file(&path)?);
        }
    }
    runs.sort_by(|a, b| {
        (a.begin.run.order, a.begin.attempt).cmp(&(b.begin.run.order, b.begin.attempt))
    });
    let notes = fs::read_to_string(folder.join("notes.md")).ok();
    Ok(Results {
        runs,
        notes,
        ..Results::default()
    })
}

/// One attempt; a file whose first line never reached the disk holds nothing and is skipped.
fn read_file(path: &Path) -> anyhow::Result<Option<RunRecords>> {
    let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    if !text.contains('\n') {
        return Ok(None);
    }
    let run = record::read_run(&text)
        .map_err(|message| anyhow::anyhow!("{}: {message}", path.display()))?;
    Ok(Some(run))
}

/// How far each run of a results folder came: run id -> (attempts begun, finished).
pub(crate) fn progress(folder: &Path) -> anyhow::Result<BTreeMap<String, (u32, bool)>> {
    let mut progress: BTreeMap<String, (u32, bool)> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("records"))
        .with_context(|| format!("{}: no records to resume from", folder.display()))?
    {
        let path = entry?.path();
        let Some((id, attempt)) = attempt_of(&path) else {
            continue;
        };
        let finished = read_file(&path)?.is_some_and(|run| is_finished(&run));
        let known = progress.entry(id).or_default();
        known.0 = known.0.max(attempt);
        known.1 |= finished;
    }
    Ok(progress)
}

/// Splits `RUN.aN.jsonl`.
fn attempt_of(path: &Path) -> Option<(String, u32)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let (id, attempt) = stem.rsplit_once(".a")?;
    Some((id.to_owned(), attempt.parse().ok()?))
}

/// Whether a run came to an end of its own: completed or failed, not interrupted.
pub(crate) fn is_finished(run: &RunRecords) -> bool {
    run.end
        .as_ref()
        .is_some_and(|end| end.outcome != record::Outcome::Interrupted)
}
