//! `bakeoff rank`: the ranked table of a results folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bakeoff_store::results;
use clap::Args;

use crate::exit;
use crate::output::{documents, text};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results folder.
    pub(crate) results: PathBuf,
}

/// Runs the command.
pub(crate) fn rank(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut output = std::io::stdout().lock();
    let mut status = exit::DONE;
    for (index, folder) in folders(&args.results)?.iter().enumerate() {
        let results = results::read(folder)?;
        let analysis = documents::analysis(&results);
        let gap = if index == 0 { "" } else { "\n" };
        write!(output, "{gap}{}", documents::table(&analysis))?;
        for qualification in &analysis.qualifications {
            writeln!(output, "\n{}", text::winner(qualification))?;
        }
        if !analysis.is_answered() {
            status = exit::CHECK_FAILED;
        }
    }
    Ok(status)
}

/// The folder, or those of its rounds, the main one last.
pub(super) fn folders(top: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folders = results::folders(top)?;
    Ok(folders.unwrap_or_else(|| vec![top.to_owned()]))
}
