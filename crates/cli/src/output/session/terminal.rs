//! A session in a terminal: progress on standard error, results on standard output, so that the
//! results alone can be kept.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use bakeoff_analysis::Analysis;
use bakeoff_base::text::counted;
use bakeoff_model::record::Purpose;
use bakeoff_store::event::bisection::{Bisection, Commit};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::shell_text;

use super::progress::Progress;
use super::shown::Shown;
use super::sizing;
use super::with_documents::Watcher;
use crate::output::{documents, text};

/// Shows a session to a person.
pub(crate) struct Terminal {
    pub(crate) progress: Progress<std::io::Stderr>,
    shown: Shown,
}

impl Terminal {
    pub(crate) fn new(progress: Progress<std::io::Stderr>, shown: Shown) -> Self {
        Self { progress, shown }
    }
}

impl Observer for Terminal {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.progress.observe(event)?;
        let mut output = std::io::stdout().lock();
        match event {
            Event::BisectionBegan { good, bad, commits } => {
                let (good, bad) = (commit(good), commit(bad));
                writeln!(output, "good: {good}\nbad: {bad}, {commits} commits later")?;
            }
            Event::BisectionNarrows {
                measuring,
                candidates,
            } => {
                let between = counted(candidates.len() as u64, "commit");
                writeln!(output, "\none of {between} holds the change; measuring:")?;
                for one in measuring {
                    writeln!(output, "  {}", commit(one))?;
                }
            }
            Event::BisectionConfirms { commit, before } => {
                writeln!(output, "\nmeasuring it against the commit before it:")?;
                let (found, before) = (self::commit(commit), self::commit(before));
                writeln!(output, "  {before}\n  {found}")?;
            }
            Event::BisectionEnded { bisection } => end_of_bisection(&mut output, bisection)?,
            Event::SizingMeasures { cpus, memory_bytes } => {
                sizing::measures(&mut output, *cpus, *memory_bytes)?;
            }
            Event::SizingEnded { sizing } => sizing::end(&mut output, sizing)?,
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
                shell_text::of_shell(suite),
                shell_text::of_shell(resume)
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
                    shell_text::of_shell(suite),
                    shell_text::of_shell(resume)
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    fn time_passes(&mut self) {
        self.progress.time_passes();
    }
}

impl Watcher for Terminal {
    fn ended(&mut self, event: &Event, analysis: &Analysis<'_>) -> anyhow::Result<()> {
        self.progress.observe(event)?;
        let Event::SessionEnded {
            results,
            runs,
            failed,
            made,
            recorded,
        } = event
        else {
            return Ok(());
        };
        let mut output = std::io::stdout().lock();
        if recorded.purpose.is_search() {
            writeln!(output, "report: {}", documents::page(results).display())?;
            return Ok(());
        }
        if *made == 0 {
            writeln!(output, "{}: nothing is left to run", results.display())?;
        }
        show(&mut output, results, analysis, self.shown)?;
        if *failed > 0 {
            writeln!(
                output,
                "{failed} of {runs} runs failed; the report says why"
            )?;
        }
        Ok(())
    }
}

/// `1a2b3c4d5 The first line of its message`.
fn commit(commit: &Commit) -> String {
    format!("{} {}", commit.short(), commit.title)
}

fn end_of_bisection(output: &mut impl std::io::Write, bisection: &Bisection) -> anyhow::Result<()> {
    writeln!(output)?;
    for line in text::wrapped(&bisection.sentence, text::columns()) {
        writeln!(output, "{line}")?;
    }
    if bisection.candidates.len() > 1 {
        for one in &bisection.candidates {
            let share = 100.0 * one.probability;
            writeln!(output, "  {share:5.1} %  {}", commit(&one.commit))?;
        }
    }
    for one in &bisection.skipped {
        writeln!(output, "skipped: {}: {}", commit(&one.commit), one.why)?;
    }
    let (measured, sessions) = (bisection.measured, bisection.sessions as u64);
    writeln!(
        output,
        "measured: {measured} of {} commits, in {}, {}",
        bisection.commits + 1,
        counted(sessions, "session"),
        text::human(Duration::from_secs_f64(bisection.took_s))
    )?;
    Ok(())
}

/// Writes the answer for a duel or two contenders, the table for others or if everything is shown,
/// and the paths of the documents.
fn show(
    output: &mut impl std::io::Write,
    folder: &Path,
    analysis: &Analysis<'_>,
    shown: Shown,
) -> anyhow::Result<()> {
    let columns = text::columns();
    let is_of_two = is_of_two(analysis);
    if shown == Shown::Everything {
        writeln!(output, "\n{}", documents::table(analysis))?;
    }
    if is_of_two {
        write!(
            output,
            "{}",
            bakeoff_report::terminal_answer(analysis, columns)
        )?;
    } else if analysis.results.purpose == Purpose::Duel {
        // Of a suite there may be much to say; a duel is one question.
        let sentence = bakeoff_report::sentence(analysis);
        writeln!(output, "{}", text::wrapped(&sentence, columns).join("\n"))?;
    }
    if shown != Shown::Everything && !is_of_two {
        writeln!(
            output,
            "\n{}",
            bakeoff_report::terminal_ranks(analysis, columns)
        )?;
    }
    let against = bakeoff_report::terminal_baseline(analysis, columns);
    if !against.is_empty() {
        writeln!(output, "{against}")?;
        let summary = folder.join("ci").join("summary.md");
        writeln!(output, "for the pull request: {}", summary.display())?;
    }
    writeln!(output, "report: {}", documents::page(folder).display())?;
    Ok(())
}

/// Whether a session is one benchmark of two contenders.
fn is_of_two(analysis: &Analysis<'_>) -> bool {
    let [load] = analysis.loads.as_slice() else {
        return false;
    };
    let tables = load.summary.tables.iter();
    let ranked: usize = tables.map(|table| table.rows.len()).sum();
    ranked + load.summary.unranked.len() == 2
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use bakeoff_analysis::{Analysis, AnalysisInput};
    use bakeoff_store::results;

    #[test]
    fn the_readme_shows_the_end_of_a_committed_session() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let results = results::read(&root.join("records/duels/hello")).unwrap();
        let analysis = Analysis::of(&AnalysisInput {
            results: &results,
            title: "",
            rounds: &[],
        });
        let answer = bakeoff_report::terminal_answer(&analysis, 80);
        let readme = fs::read_to_string(root.join("README.md")).unwrap();
        assert!(
            readme.contains(&format!("```text\n{answer}```")),
            "{answer}"
        );
    }
}
