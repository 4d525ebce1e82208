//! The documents of a results folder: `report/index.html`, `results.csv`, `results.md`; if there is
//! data for them, `benchmarks.csv`, `overhead.csv`, `requests.csv`, `errors.csv`, `capacity.csv`
//! and `trials.csv`; with a baseline, those for continuous integration. Also the ranked table for
//! the terminal.

use std::env;
use std::path::{Path, PathBuf};

use bakeoff_analysis::{Analysis, AnalysisInput, RoundResults};
use bakeoff_base::natural;
use bakeoff_model::plan::baseline;
use bakeoff_model::record::Results;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_store::file::{make_inside, write_whole};
use bakeoff_store::results;

use super::text;

/// More contenders than this are not in the title of a report.
const CONTENDERS_MAX: usize = 3;

/// The address of the sources that a job of GitHub Actions is about, if this is one.
pub(crate) fn sources() -> Option<String> {
    let names = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"];
    let [server, repository, commit] = names.map(|name| env::var(name).ok());
    Some(format!("{}/{}/blob/{}", server?, repository?, commit?))
}

/// The page of a results folder.
pub(crate) fn page(folder: &Path) -> PathBuf {
    folder.join("report").join("index.html")
}

/// The ranked table as text, as wide as the terminal.
pub(crate) fn table(analysis: &Analysis<'_>) -> String {
    bakeoff_report::terminal_table(analysis, text::columns())
}

/// Returns the analysis of results, without other rounds.
pub(crate) fn analysis(results: &Results) -> Analysis<'_> {
    let mut analysis = Analysis::of(&AnalysisInput::new(results, ""));
    analysis.title = title(results);
    analysis
}

/// Returns a page for each source of published results, from the records of these folders, each
/// with its name.
pub(crate) fn articles(
    folders: &[(String, PathBuf)],
) -> anyhow::Result<Vec<bakeoff_report::Article>> {
    let mut rounds = rounds(folders)?;
    // Times in RFC 3339 have the order of their texts.
    let began = |round: &RoundResults| {
        let run = round.results.runs.first();
        run.map(|run| run.begin.at.clone()).unwrap_or_default()
    };
    rounds.sort_by_key(|round| std::cmp::Reverse(began(round)));
    Ok(bakeoff_report::articles(&rounds))
}

/// Returns the records of these folders, each with its name.
pub(crate) fn rounds(folders: &[(String, PathBuf)]) -> anyhow::Result<Vec<RoundResults>> {
    let read = |(name, folder): &(String, PathBuf)| {
        Ok(RoundResults {
            folder: name.clone(),
            results: results::read(folder)?,
        })
    };
    folders.iter().map(read).collect()
}

/// Writes all documents. Claims are read over the sibling rounds, too.
pub(crate) fn write(folder: &Path, results: &Results) -> anyhow::Result<()> {
    write_with(folder, results, &beside(folder, results)?)
}

/// Writes all documents. Claims are read over these rounds, too, whose folders are seen from this.
pub(crate) fn write_with(
    folder: &Path,
    results: &Results,
    rounds: &[RoundResults],
) -> anyhow::Result<()> {
    let title = title(results);
    let analysis = Analysis::of(&AnalysisInput {
        results,
        title: &title,
        rounds,
    });
    write_documents(folder, &analysis)
}

pub(super) fn write_documents(folder: &Path, analysis: &Analysis<'_>) -> anyhow::Result<()> {
    make_inside(folder, "report")?;
    write_whole(&page(folder), bakeoff_report::html(analysis).as_bytes())?;
    write_whole(
        &folder.join("results.csv"),
        bakeoff_report::csv(analysis).as_bytes(),
    )?;
    let more = [
        ("benchmarks.csv", bakeoff_report::benchmarks_csv(analysis)),
        ("overhead.csv", bakeoff_report::overhead_csv(analysis)),
        ("requests.csv", bakeoff_report::requests_csv(analysis)),
        ("errors.csv", bakeoff_report::errors_csv(analysis)),
        ("capacity.csv", bakeoff_report::capacity_csv(analysis)),
        ("trials.csv", bakeoff_report::trials_csv(analysis)),
    ];
    for (name, text) in more {
        if let Some(text) = text {
            write_whole(&folder.join(name), text.as_bytes())?;
        }
    }
    write_whole(
        &folder.join("results.md"),
        bakeoff_report::markdown(analysis).as_bytes(),
    )?;
    if analysis.against_base.is_some() {
        write_for_integration(&make_inside(folder, "ci")?, analysis)?;
    }
    Ok(())
}

/// Writes what continuous integration takes.
fn write_for_integration(folder: &Path, analysis: &Analysis<'_>) -> anyhow::Result<()> {
    let files = [
        (
            "summary.md",
            Some(bakeoff_report::summary_for_pull_request(
                analysis,
                sources().as_deref(),
            )),
        ),
        ("junit.xml", bakeoff_report::junit(analysis)),
        (
            "bigger-is-better.json",
            bakeoff_report::bigger_is_better(analysis),
        ),
        (
            "smaller-is-better.json",
            bakeoff_report::smaller_is_better(analysis),
        ),
    ];
    for (name, text) in files {
        if let Some(text) = text {
            write_whole(&folder.join(name), text.as_bytes())?;
        }
    }
    Ok(())
}

/// The qualification rounds next to a round that has no winner: claims about their contenders are
/// shown there.
pub(super) fn beside(folder: &Path, results: &Results) -> anyhow::Result<Vec<RoundResults>> {
    let decides = results.decides.is_some();
    let (Some(top), Some(name), false) = (folder.parent(), folder.file_name(), decides) else {
        return Ok(Vec::new());
    };
    let mut rounds = Vec::new();
    for other in results::folders(top)?.unwrap_or_default() {
        let Some(other_name) = other.file_name().filter(|other| *other != name) else {
            continue;
        };
        rounds.push(RoundResults {
            folder: format!("../{}", other_name.to_string_lossy()),
            results: results::read(&other)?,
        });
    }
    Ok(rounds)
}

/// Returns the subject of the measurement: the suite, its contenders if they are few, and the
/// conditions that differ from the usual ones.
pub(super) fn title(results: &Results) -> String {
    let Some(run) = results.runs.first() else {
        return "bakeoff: no runs".to_owned();
    };
    let begin = &run.begin;
    let mut title = begin.suite.clone();
    let runs = results.runs.iter().map(|run| &run.begin.run.contender);
    let mut contenders: Vec<&str> = runs.map(String::as_str).collect();
    contenders.retain(|name| baseline::head_name(name).is_none());
    contenders.sort_by(|a, b| natural::compare(a, b));
    contenders.dedup();
    if let [names @ .., last] = contenders.as_slice()
        && names.len() < CONTENDERS_MAX
    {
        title.push_str(": ");
        if !names.is_empty() {
            title.push_str(&format!("{} and ", names.join(", ")));
        }
        title.push_str(last);
    }
    if let Some(round) = &results.round {
        title.push_str(&format!(", round {round}"));
    }
    if results.purpose.is_suite() {
        title.push_str(&format!(", profile {}", begin.profile));
    }
    if begin.backend != BackendName::None {
        title.push_str(&format!(", backend {}", begin.backend));
    }
    title
}
