//! A session in a terminal: progress on standard error, results on standard output, so that the
//! results alone can be kept.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use bakeoff_base::text::counted;
use bakeoff_session::duel;
use bakeoff_session::event::{Event, Observer};
use bakeoff_session::store::results;
use bakeoff_session::words;

use super::progress::Progress;
use super::{documents, text};

/// Shows a session to a person.
pub(crate) struct Terminal {
    pub(crate) progress: Progress<std::io::Stderr>,
}

impl Observer for Terminal {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.progress.observe(event)?;
        let mut output = std::io::stdout().lock();
        match event {
            Event::RoundBegan { round, describe } => {
                let colon = if describe.is_empty() { "" } else { ": " };
                writeln!(output, "\nround {round}{colon}{describe}")?;
            }
            Event::WinnerPicked { qualification } => {
                writeln!(output, "{}", text::winner(qualification))?;
            }
            Event::Interrupted { suite, resume } => writeln!(
                output,
                "\ninterrupted; go on with: bakeoff run {} --resume {}",
                words::of_shell(suite),
                words::of_shell(resume)
            )?,
            Event::SittingEnded {
                suite,
                resume,
                runs,
                expected_ns,
                shortest_ns,
            } => {
                let [longest, shortest] =
                    [expected_ns, shortest_ns].map(|ns| Duration::from_nanos(*ns));
                writeln!(
                    output,
                    "\nthe time is over; left: {}, {}; go on with: bakeoff run {} --resume {}",
                    counted(*runs as u64, "run"),
                    text::between(shortest, longest),
                    words::of_shell(suite),
                    words::of_shell(resume)
                )?;
            }
            Event::SessionEnded {
                results,
                runs,
                failed,
                made,
            } => {
                if *made == 0 {
                    writeln!(output, "{}: nothing is left to run", results.display())?;
                }
                end(&mut output, results, *runs, *failed)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn time_passes(&mut self) {
        self.progress.time_passes();
    }
}

/// The table, what it comes to, where the report is, and whether all is well.
fn end(
    output: &mut impl std::io::Write,
    folder: &Path,
    runs: usize,
    failed: usize,
) -> anyhow::Result<()> {
    let results = results::read(folder)?;
    let analysis = documents::analysis(&results);
    writeln!(output, "\n{}", documents::table(&analysis))?;
    // Of a suite there may be much to say; a duel is one question.
    let suite = results.runs.first().map(|run| run.begin.suite.as_str());
    if suite == Some(duel::NAME) {
        let sentence = bakeoff_report::sentence(&analysis);
        for line in text::wrapped(&sentence, text::columns()) {
            writeln!(output, "{line}")?;
        }
    }
    let against = bakeoff_report::terminal_baseline(&analysis, text::columns());
    if !against.is_empty() {
        writeln!(output, "{against}")?;
        let summary = folder.join("ci").join("summary.md");
        writeln!(output, "for the pull request: {}", summary.display())?;
    }
    writeln!(output, "report: {}", documents::page(folder).display())?;
    if failed > 0 {
        writeln!(
            output,
            "{failed} of {runs} runs failed; the report says why"
        )?;
    }
    Ok(())
}
