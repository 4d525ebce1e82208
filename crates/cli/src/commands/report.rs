//! `bakeoff report`: renders the documents of a results folder again, and its figures as files.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use bakeoff_session::store::file::write_whole;
use bakeoff_session::store::results;

use super::rank::folders;
use crate::args::DocumentsArgs;
use crate::exit;
use crate::output::documents;

/// Runs the command.
pub(crate) fn report(args: &DocumentsArgs) -> anyhow::Result<u8> {
    let folders = folders(&args.results)?;
    for folder in &folders {
        let results = results::read(folder)?;
        documents::write(folder, &results)?;
        writeln!(std::io::stdout(), "{}", documents::page(folder).display())?;
        if let Some(drawings) = &args.svg {
            let drawings = match (folders.len(), folder.file_name()) {
                (2.., Some(round)) => drawings.join(round),
                _ => drawings.clone(),
            };
            let analysis = documents::analysis(&results);
            figures(&drawings, &bakeoff_report::figures(&analysis))?;
        }
    }
    if let (Some(pages), Some(folder)) = (&args.articles, folders.last()) {
        articles(pages, folder)?;
    }
    Ok(exit::DONE)
}

fn articles(pages: &Path, folder: &Path) -> anyhow::Result<()> {
    let results = results::read(folder)?;
    for article in documents::articles(folder, &results)? {
        figures(&pages.join(&article.name), &article.figures)?;
        let page = pages.join(format!("{}.md", article.name));
        write_whole(&page, article.markdown.as_bytes())?;
    }
    Ok(())
}

fn figures(folder: &Path, figures: &[bakeoff_report::Figure]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for figure in figures {
        write_whole(&folder.join(&figure.file), figure.svg.as_bytes())?;
    }
    let (count, folder) = (figures.len(), folder.display());
    writeln!(std::io::stdout(), "{count} figures in {folder}")?;
    Ok(())
}
