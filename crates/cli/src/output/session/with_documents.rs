//! The documents of a session at its end, before their places are shown.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_store::event::{Event, Observer};

use crate::output::documents::{self, sources, title, write_documents};

/// Observes a session whose end is analysed once for all outputs.
pub(crate) trait Watcher: Observer {
    /// Shows the end of a session, `event`.
    ///
    /// # Errors
    /// It could not be shown.
    fn ended(&mut self, event: &Event, analysis: &Analysis<'_>) -> anyhow::Result<()>;
}

/// Writes the documents when a session has ended, before their places are shown.
pub(crate) struct WithDocuments<W>(pub(crate) W);

impl<W: Watcher> Observer for WithDocuments<W> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        let Event::SessionEnded {
            results, recorded, ..
        } = event
        else {
            return self.0.observe(event);
        };
        let (title, rounds) = (title(recorded), documents::beside(results, recorded)?);
        let analysis = Analysis::of(&AnalysisInput {
            results: recorded,
            title: &title,
            rounds: &rounds,
        });
        write_documents(results, &analysis)?;
        // A measurement must not fail by it.
        if let Err(error) = add_to_job(&analysis) {
            let mut stderr = std::io::stderr();
            let _ = writeln!(
                stderr,
                "note: the summary of the job is not written: {error:#}"
            );
        }
        for verdict in bakeoff_analysis::verdicts(&analysis) {
            self.0.observe(&Event::Verdict {
                results: results.clone(),
                verdict: Box::new(verdict),
            })?;
        }
        self.0.ended(event, &analysis)
    }

    fn time_passes(&mut self) {
        self.0.time_passes();
    }
}

/// The file to which the steps of a job of GitHub Actions add their summaries.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Adds the summary to the job's summary, if there is one.
fn add_to_job(analysis: &Analysis<'_>) -> anyhow::Result<()> {
    let file = env::var_os(STEP_SUMMARY).filter(|file| !file.is_empty());
    let Some(file) = file.map(PathBuf::from) else {
        return Ok(());
    };
    let summary = bakeoff_report::summary_of_job(analysis, sources().as_deref());
    let opened = OpenOptions::new().append(true).create(true).open(&file);
    let written = opened.and_then(|mut opened| writeln!(opened, "{summary}"));
    written.with_context(|| format!("{} ({STEP_SUMMARY})", file.display()))
}
