//! A session in a terminal: progress on standard error, results on standard output, so that the
//! results alone can be kept.

use std::io::Write as _;
use std::path::Path;

use bakeoff_session::event::{Event, Observer};
use bakeoff_session::store::results;

use super::progress::Progress;
use super::{documents, text};

/// Shows a session to a person.
pub(crate) struct Terminal(pub(crate) Progress<std::io::Stderr>);

impl Observer for Terminal {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.0.observe(event)?;
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
                suite.display(),
                resume.display()
            )?,
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
}

/// The table, where the report is, and whether all is well.
fn end(
    output: &mut impl std::io::Write,
    folder: &Path,
    runs: usize,
    failed: usize,
) -> anyhow::Result<()> {
    let results = results::read(folder)?;
    let table = documents::table(&documents::analysis(&results));
    let page = documents::page(folder);
    writeln!(output, "\n{table}\nreport: {}", page.display())?;
    if failed > 0 {
        writeln!(
            output,
            "{failed} of {runs} runs failed; the report says why"
        )?;
    }
    Ok(())
}
