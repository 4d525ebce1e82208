//! Reads the files of a suite folder and hands them to the parser; nothing is interpreted here.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::request::scenario::{self, Feed};
use bakeoff_model::suite::{Contender, Suite};
use bakeoff_model::text::diagnostic::{self, Diagnostic, SourceFile};

use crate::grpc;

/// A parsed suite and its folder.
#[derive(Debug, Clone)]
pub struct SuiteFolder {
    /// The folder.
    pub path: PathBuf,
    /// The suite.
    pub suite: Suite,
    /// The folder as it was, of a session with a baseline: some contenders are of that one.
    pub base: Option<PathBuf>,
}

impl SuiteFolder {
    /// Folder of a contender's sources.
    #[must_use]
    pub fn contender_folder(&self, contender: &Contender) -> PathBuf {
        let base = self.base.as_ref().filter(|_| contender.is_base);
        let path = base.unwrap_or(&self.path);
        path.join(CONTENDERS).join(&contender.folder)
    }
}

/// Where a suite keeps its contenders.
const CONTENDERS: &str = "contenders";

/// Reads and parses a suite; every mistake of every file is in the error.
///
/// # Errors
/// No suite is there, or it has mistakes.
pub fn read(path: &Path) -> anyhow::Result<SuiteFolder> {
    let sources = read_sources(path)?;
    match parse::suite(&sources) {
        Ok(mut suite) => {
            let path = path.canonicalize()?;
            fill_feeds(&path, &mut suite)?;
            grpc::read(&path, &mut suite)?;
            Ok(SuiteFolder {
                path,
                suite,
                base: None,
            })
        }
        Err(diagnostics) => bail!(render(path, &sources.files(), &diagnostics)),
    }
}

/// The contenders of a suite's folder alone, whatever its other files say.
///
/// # Errors
/// Files of the suite have mistakes.
pub fn read_contenders(path: &Path) -> anyhow::Result<Vec<Contender>> {
    let sources = contender_sources(path)?;
    parse::contenders_alone(&sources).map_err(|diagnostics| {
        let files: Vec<&SourceFile> = sources.iter().map(|(_, file)| file).collect();
        anyhow!(render(path, &files, &diagnostics))
    })
}

/// The way from a results folder to a suite or to other results, so that both can be kept and moved
/// together. Both exist.
///
/// # Errors
/// One of them does not exist.
pub fn seen_from(results: &Path, other: &Path) -> anyhow::Result<PathBuf> {
    let other = other.canonicalize()?;
    // None only between a relative and an absolute path, and both are absolute here.
    Ok(pathdiff::diff_paths(&other, results.canonicalize()?).unwrap_or(other))
}

/// The way back from a results folder to the suite that [`seen_from`] found.
#[must_use]
pub fn found_from(results: &Path, suite: &Path) -> PathBuf {
    let path = results.join(suite);
    path.canonicalize().unwrap_or(path)
}

/// Reads the tables of the scenarios' feeds, which become part of the digest; all that cannot be
/// read are in the error.
fn fill_feeds(path: &Path, suite: &mut Suite) -> anyhow::Result<()> {
    let mut mistakes = Vec::new();
    let digest = &mut suite.digest;
    for benchmark in &mut suite.benchmarks {
        let feeds = benchmark.scenario.iter_mut().flat_map(|one| &mut one.feeds);
        for feed in feeds {
            let Feed::Csv {
                file,
                variables,
                rows,
                ..
            } = feed
            else {
                continue;
            };
            let text = fs::read_to_string(path.join(&*file)).map_err(Problem::new);
            let found = text.and_then(|text| {
                *digest = parse::digest_with(digest, file, text.as_bytes());
                scenario::read_csv(&text, variables)
            });
            match found {
                Ok(found) => *rows = found,
                Err(why) => {
                    let name = &benchmark.name;
                    mistakes.push(format!("{file}: {why}, a feed of the benchmark {name}"));
                }
            }
        }
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    bail!(mistakes.join("\n"))
}

fn read_sources(path: &Path) -> anyhow::Result<SuiteSources> {
    let file = path.join("suite.toml");
    if !file.is_file() {
        return Err(hinted(
            format_args!("{}: unknown suite: no suite.toml there", path.display()),
            known_suites(),
        ));
    }
    let mut checks = Vec::new();
    for file in sorted(&path.join("checks"))? {
        if file
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            checks.push(read_file(&file)?);
        }
    }
    let published = path.join("published.toml");
    let published = match published.is_file() {
        true => Some(read_file(&published)?),
        false => None,
    };
    Ok(SuiteSources {
        suite: read_file(&file)?,
        checks,
        contenders: contender_sources(path)?,
        published,
    })
}

/// Each `contender.toml` with the name of its folder.
fn contender_sources(path: &Path) -> anyhow::Result<Vec<(String, SourceFile)>> {
    let mut contenders = Vec::new();
    for folder in sorted(&path.join(CONTENDERS))? {
        let file = folder.join("contender.toml");
        if let (true, Some(name)) = (file.is_file(), folder.file_name()) {
            contenders.push((name.to_string_lossy().into_owned(), read_file(&file)?));
        }
    }
    Ok(contenders)
}

fn read_file(path: &Path) -> anyhow::Result<SourceFile> {
    let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    Ok(SourceFile {
        path: path.display().to_string(),
        text,
    })
}

/// Entries of a folder in name order; a missing folder has none.
fn sorted(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        entries.push(entry?.path());
    }
    entries.sort();
    Ok(entries)
}

/// The suites of the checkout that the user stands in, for the error about an unknown one.
fn known_suites() -> String {
    let known: Vec<String> = sorted(Path::new("suites"))
        .unwrap_or_default()
        .into_iter()
        .filter(|folder| folder.join("suite.toml").is_file())
        .map(|folder| folder.display().to_string())
        .collect();
    if known.is_empty() {
        return "name the folder of a suite".to_owned();
    }
    format!("known suites: {}", known.join(", "))
}

/// All diagnostics, each with the lines it is about.
fn render(path: &Path, files: &[&SourceFile], diagnostics: &[Diagnostic]) -> String {
    let mistakes = counted(diagnostics.len() as u64, "mistake");
    let rendered = diagnostic::render(files, diagnostics);
    format!(
        "{}: {mistakes} in the suite's files\n\n{rendered}",
        path.display()
    )
}

/// Writes the files of a suite, each by its path in the folder; `private` ones for the user alone.
/// On Windows, these have the rights of the folder.
///
/// # Errors
/// A file cannot be written, with a hint.
pub fn write(
    folder: &Path,
    files: &[(String, impl AsRef<[u8]>)],
    private: &BTreeSet<String>,
) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        if private.contains(name) {
            for_user_alone(&mut options);
        }
        fs::create_dir_all(parent)
            .and_then(|()| options.open(&path)?.write_all(text.as_ref()))
            .map_err(|error| {
                hinted(
                    format_args!("{}: cannot write the suite: {error}", path.display()),
                    "name a folder that can be written, for a duel with --out",
                )
            })?;
    }
    Ok(())
}

#[cfg(unix)]
fn for_user_alone(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// A file of Windows has the rights of its folder.
#[cfg(not(unix))]
fn for_user_alone(_: &mut OpenOptions) {}
