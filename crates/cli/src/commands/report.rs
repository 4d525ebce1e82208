//! `bakeoff report`: renders the documents of a results folder again, and its charts as files.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_analysis::RoundResults;
use bakeoff_base::hint::hinted;
use bakeoff_store::file::write_whole;
use bakeoff_store::{results, suite_folder};
use clap::Args;

use super::rank::folders;
use crate::exit;
use crate::output::documents;

#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    /// Results folders, or folders of several rounds. Claims of others are read over all folders of
    /// one suite that are named together.
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Write also each chart as an SVG file into this folder; of several results into a folder of
    /// each.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Write also a page in Markdown for each source of published results into this folder: their
    /// numbers with ours, and the verdict on each claim. Each is of the results that show it; of
    /// several that do, of the newest.
    #[arg(long, value_name = "DIR")]
    pub(crate) articles: Option<PathBuf>,
    /// Write also files for other tools into this folder; of several results into a folder of each.
    ///
    /// `bencher.json` (Bencher Metric Format), `otava.csv` (a row for Apache Otava), `badge.json`
    /// (an endpoint of shields.io), and response times as HdrHistogram has them: a log of each run
    /// (`.hlog`) and a distribution of each step (`.hgrm`).
    #[arg(long, value_name = "DIR")]
    pub(crate) exchange: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn report(args: &DocumentsArgs) -> anyhow::Result<u8> {
    let mut all: Vec<(String, PathBuf)> = Vec::new();
    for top in &args.results {
        let above = match args.results.len() {
            1 => top.as_path(),
            _ => top.parent().unwrap_or(top),
        };
        let rounds = folders(top)?.into_iter();
        all.extend(rounds.map(|folder| (name(above, &folder), folder)));
    }
    let mut names = BTreeSet::new();
    if (args.svg.is_some() || args.exchange.is_some())
        && let Some((name, _)) = all.iter().find(|(name, _)| !names.insert(name))
    {
        return Err(hinted(
            format_args!("two of these results are called {name}"),
            "each has a folder of its name there: render them one by one",
        ));
    }
    let mut together = together(args, &all)?;
    for (name, folder) in &all {
        let results = results::read(folder)?;
        if together.is_empty() {
            documents::write(folder, &results)?;
        } else {
            for (round, (_, other)) in together.iter_mut().zip(&all) {
                let way = suite_folder::seen_from(folder, other)?;
                round.folder = way.display().to_string();
            }
            documents::write_with(folder, &results, &together)?;
        }
        writeln!(std::io::stdout(), "{}", documents::page(folder).display())?;
        let of_each = |folder: &Path| match all.len() {
            1 => folder.to_owned(),
            _ => folder.join(name),
        };
        if let Some(drawings) = &args.svg {
            let analysis = documents::analysis(&results);
            figures(&of_each(drawings), &bakeoff_report::figures(&analysis))?;
        }
        if let Some(files) = &args.exchange {
            let analysis = documents::analysis(&results);
            exchange(&of_each(files), &bakeoff_report::exchanged(&analysis))?;
        }
    }
    if let Some(pages) = &args.articles {
        articles(pages, &all)?;
    }
    Ok(exit::DONE)
}

/// Returns the records of all folders if several of one suite were named: claims are then read over
/// all of them, as over the rounds of one folder. None otherwise.
fn together(args: &DocumentsArgs, all: &[(String, PathBuf)]) -> anyhow::Result<Vec<RoundResults>> {
    if args.results.len() < 2 {
        return Ok(Vec::new());
    }
    let rounds = documents::rounds(all)?;
    let runs = rounds.iter().flat_map(|round| &round.results.runs);
    let suites: BTreeSet<&str> = runs.map(|run| run.begin.suite.as_str()).collect();
    Ok(if suites.len() == 1 {
        rounds
    } else {
        Vec::new()
    })
}

/// Returns what a results folder is called: its path from the folder above it, `claims/get`, or its
/// own name.
fn name(above: &Path, folder: &Path) -> String {
    let own = folder.file_name().unwrap_or_default();
    let path = folder.strip_prefix(above).ok();
    let path = path.filter(|path| path.file_name().is_some());
    path.unwrap_or(Path::new(own)).display().to_string()
}

fn articles(pages: &Path, folders: &[(String, PathBuf)]) -> anyhow::Result<()> {
    let articles = documents::articles(folders)?;
    anyhow::ensure!(
        !articles.is_empty(),
        "no page for --articles: no suite of these results has published results that they show"
    );
    for article in articles {
        figures(&pages.join(&article.name), &article.figures)?;
        let page = pages.join(format!("{}.md", article.name));
        write_whole(&page, article.markdown.as_bytes())?;
    }
    Ok(())
}

fn exchange(folder: &Path, files: &[bakeoff_report::Exchanged]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for one in files {
        write_whole(&folder.join(&one.file), one.text.as_bytes())?;
    }
    let (count, folder) = (files.len(), folder.display());
    writeln!(std::io::stdout(), "{count} files in {folder}")?;
    Ok(())
}

fn figures(folder: &Path, figures: &[bakeoff_report::ChartFile]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for figure in figures {
        write_whole(&folder.join(&figure.file), figure.svg.as_bytes())?;
    }
    let (count, folder) = (figures.len(), folder.display());
    writeln!(std::io::stdout(), "{count} charts in {folder}")?;
    Ok(())
}
