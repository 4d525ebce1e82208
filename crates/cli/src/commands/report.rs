//! `bakeoff report` and `bakeoff rank`: documents and the ranked table of a results folder.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_model::record::{Qualification, Results};
use bakeoff_report::{ReportInput, RoundResults};

use super::rounds;
use crate::args::ReportArgs;
use crate::recorder::{self, SessionFile, write_whole};
use crate::{exit, suite_folder};

/// Width of the table where the output is no terminal.
const WIDTH: usize = 80;

/// Renders all documents again.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<u8> {
    for folder in folders(&args.results)? {
        let results = read(&folder)?;
        write(&folder, &results)?;
        let path = folder.join("report").join("index.html");
        writeln!(std::io::stdout(), "{}", path.display())?;
    }
    Ok(exit::DONE)
}

/// The folder, or those of its rounds, the main one last.
fn folders(top: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folders = rounds::folders(top)?;
    Ok(folders.unwrap_or_else(|| vec![top.to_owned()]))
}

/// Prints the ranked table.
pub(crate) fn rank(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut output = std::io::stdout().lock();
    for (index, folder) in folders(&args.results)?.iter().enumerate() {
        let results = read(folder)?;
        let gap = if index == 0 { "" } else { "\n" };
        write!(output, "{gap}{}", table(&results))?;
        for qualification in &results.qualifications {
            writeln!(output, "\n{}", rounds::winner_line(qualification))?;
        }
    }
    Ok(exit::DONE)
}

/// The ranked table as text.
pub(crate) fn table(results: &Results) -> String {
    let input = ReportInput {
        results,
        title: &title(results),
        rounds: &[],
    };
    bakeoff_report::terminal_table(&bakeoff_report::summary(&input), WIDTH)
}

/// Reads a results folder, with the suite's analysis when the suite is still there.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Results> {
    let mut results = recorder::read_results(folder)?;
    let session = fs::read_to_string(folder.join("session.json")).ok();
    let session = session.and_then(|text| serde_json::from_str::<SessionFile>(&text).ok());
    let Some(session) = session else {
        return Ok(results);
    };
    results.skipped = session.skipped;
    results.qualifications = session.qualified;
    if let Some(round) = session.round {
        if let Some((benchmark, winner)) = round.decides {
            let found = bakeoff_report::qualification(&results, &round.name, &benchmark, winner);
            results.qualifications.push(found);
        }
        results.round = Some(round.name);
    }
    let suite = suite_folder::found_from(folder, &session.suite_folder);
    if let Ok(suite) = suite_folder::read(&suite) {
        results.analysis = Some(suite.suite.analysis);
        results.published = suite.suite.published;
    }
    Ok(results)
}

/// Writes `report/index.html`, `results.csv` and `results.md`.
pub(crate) fn write(folder: &Path, results: &Results) -> anyhow::Result<()> {
    let title = title(results);
    let rounds = beside(folder, results)?;
    let input = ReportInput {
        results,
        title: &title,
        rounds: &rounds,
    };
    let report = folder.join("report");
    fs::create_dir_all(&report).with_context(|| format!("{}", report.display()))?;
    write_whole(
        &report.join("index.html"),
        bakeoff_report::html(&input).as_bytes(),
    )?;
    write_whole(
        &folder.join("results.csv"),
        bakeoff_report::csv(&input).as_bytes(),
    )?;
    write_whole(
        &folder.join("results.md"),
        bakeoff_report::markdown(&input).as_bytes(),
    )
}

/// The qualification rounds beside a round that nobody wins: claims about their contenders are
/// shown there.
fn beside(folder: &Path, results: &Results) -> anyhow::Result<Vec<RoundResults>> {
    let own = |one: &Qualification| Some(&one.round) == results.round.as_ref();
    let qualifies = results.qualifications.iter().any(own);
    let (Some(top), Some(name), false) = (folder.parent(), folder.file_name(), qualifies) else {
        return Ok(Vec::new());
    };
    let mut rounds = Vec::new();
    for other in rounds::folders(top)?.unwrap_or_default() {
        let Some(other_name) = other.file_name().filter(|other| *other != name) else {
            continue;
        };
        rounds.push(RoundResults {
            folder: format!("../{}", other_name.to_string_lossy()),
            results: recorder::read_results(&other)?,
        });
    }
    Ok(rounds)
}

/// What was measured, with the backend in it.
fn title(results: &Results) -> String {
    let Some(run) = results.runs.first() else {
        return "bakeoff: no runs".to_owned();
    };
    let begin = &run.begin;
    let round = results.round.as_ref();
    let round = round.map_or_else(String::new, |round| format!(", round {round}"));
    format!(
        "{}{round}, profile {}, backend {}",
        begin.suite, begin.profile, begin.backend
    )
}
