//! The results folder: the plan, and one append-only file of JSON Lines per attempt at a run.
//!
//! Every line is synced before the session goes on, so a killed session loses at most the line
//! that was being written, and readers drop such a torn line.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_model::record::{self, EndRecord, Outcome, Record};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::file::{explain, is_plain_name, make_inside, write_whole};
use bakeoff_store::session_file::SessionFile;
use bakeoff_store::shell_text;
use bakeoff_store::suite_folder;

use super::locked_folder::LockedFolder;

/// A results folder, open for writing.
#[derive(Debug)]
pub struct Recorder {
    folder: LockedFolder,
    /// The files of runs that have started and not ended, by run: several in a set.
    open: BTreeMap<String, (PathBuf, File)>,
    /// The session begins here, and does not go on.
    is_new: bool,
}

impl Recorder {
    /// Writes the plan into a folder; refuses one that already holds a session.
    ///
    /// # Errors
    /// The file system's error, or there is a session already.
    pub fn create(locked: LockedFolder, session: &SessionFile) -> anyhow::Result<Self> {
        let folder = locked.path();
        refuse_session(folder)?;
        let path = folder.join(SessionFile::NAME);
        make_inside(folder, "records")?;
        let mut stored = SessionFile {
            suite_folder: suite_folder::seen_from(folder, &session.suite_folder)?,
            ..session.clone()
        };
        let base = stored.baseline.iter_mut();
        for base in base.filter_map(|baseline| baseline.folder.as_mut()) {
            *base = suite_folder::seen_from(folder, base)?;
        }
        let text = serde_json::to_string_pretty(&stored)?;
        write_whole(&path, text.as_bytes())?;
        Ok(Self {
            folder: locked,
            open: BTreeMap::new(),
            is_new: true,
        })
    }

    /// Takes a new folder back in which nothing was recorded.
    pub(crate) fn withdraw(&self) {
        if self.is_new {
            self.folder.withdraw(SessionFile::NAME);
        }
    }

    /// Opens a folder that holds a session.
    ///
    /// # Errors
    /// There is no session that can be read, or it is still going on.
    pub fn open(folder: &Path) -> anyhow::Result<(Self, SessionFile)> {
        let path = folder.join(SessionFile::NAME);
        if !path.exists() {
            return Err(hinted(
                format_args!("{}: no session to resume here", folder.display()),
                "name the results folder, which has a session.json in it",
            ));
        }
        let locked = LockedFolder::make(folder)?;
        let mut session = SessionFile::read(&path)?;
        let mut runs = session.plan.runs.iter();
        if let Some(run) = runs.find(|run| !is_plain_name(&run.id)) {
            return Err(hinted(
                format_args!("{}: {:?} is not the name of a run", path.display(), run.id),
                "files of a run have its name; start a new session",
            ));
        }
        make_inside(folder, "records")?;
        session.suite_folder = suite_folder::found_from(folder, &session.suite_folder);
        let base = session.baseline.iter_mut();
        for base in base.filter_map(|baseline| baseline.folder.as_mut()) {
            *base = suite_folder::found_from(folder, base);
        }
        Ok((
            Self {
                folder: locked,
                open: BTreeMap::new(),
                is_new: false,
            },
            session,
        ))
    }

    /// The results folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates the file of an attempt at a run.
    fn begin(&mut self, run_id: &str, attempt: u32) -> anyhow::Result<()> {
        let records = self.folder.path().join("records");
        let path = records.join(format!("{run_id}.a{attempt}.jsonl"));
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&path)
            .map_err(|error| explain(&path, &error))?;
        sync_folder(&records);
        self.open.insert(run_id.to_owned(), (path, file));
        Ok(())
    }

    /// Appends one line to the file of a run and waits until it is on the disk.
    fn append(&mut self, run: &str, record: &Record) -> anyhow::Result<()> {
        let Some((path, file)) = self.open.get_mut(run) else {
            bail!("a record of {run}, which has not started or has ended");
        };
        let line = record::write_line(record);
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_data())
            .map_err(|error| explain(path, &error))?;
        if matches!(record, Record::End(_)) {
            self.open.remove(run);
        }
        Ok(())
    }

    /// Keeps which runs are made: in the file either before or after it, so that a session that is
    /// killed here decides again by the same records, or has decided.
    fn change(&self, change: impl FnOnce(&mut SessionFile)) -> anyhow::Result<()> {
        let path = self.folder.path().join(SessionFile::NAME);
        let mut session = SessionFile::read(&path)?;
        change(&mut session);
        let text = serde_json::to_string_pretty(&session)?;
        write_whole(&path, text.as_bytes())
    }

    /// Ends the files of all runs that have not ended, as interrupted; each run with its record.
    pub(crate) fn interrupt(&mut self, at: &str) -> anyhow::Result<Vec<(String, Record)>> {
        let mut ended = Vec::new();
        for run in self.open.keys().cloned().collect::<Vec<String>>() {
            let end = Record::End(EndRecord {
                at: at.to_owned(),
                outcome: Outcome::Interrupted,
                last_connections: None,
                notes: Vec::new(),
            });
            self.append(&run, &end)?;
            ended.push((run, end));
        }
        Ok(ended)
    }
}

impl Observer for Recorder {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::RunBegan { run, attempt, .. } => self.begin(&run.id, *attempt),
            Event::Recorded { run, record } => self.append(run, record),
            Event::RunsDecided { decision, .. } => self.change(|session| session.decide(decision)),
            Event::Skipped { contender, why } => {
                self.change(|session| session.leave_out(contender, why))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a results folder that holds a session.
///
/// # Errors
/// The folder holds one.
pub fn refuse_session(folder: &Path) -> anyhow::Result<()> {
    if !folder.join(SessionFile::NAME).exists() {
        return Ok(());
    }
    let again = shell_text::of_shell(folder);
    Err(hinted(
        format_args!("{}: holds a session already", folder.display()),
        format_args!(
            "finish it with `bakeoff run SUITE --resume {again}`, or name another with --out"
        ),
    ))
}

/// Makes a new file's name durable; a file system that cannot do so loses nothing we promised.
fn sync_folder(folder: &Path) {
    if let Ok(handle) = File::open(folder) {
        let _ = handle.sync_all();
    }
}
