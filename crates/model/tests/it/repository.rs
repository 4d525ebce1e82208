//! The suites of this repository are without mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_model::parse::files::{self, ChecksFile, ContenderFile, SuiteFile};
use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::plan::{PlanOptions, PlannedRun, plan};
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::published::ClaimTest;
use bakeoff_model::suite::{Round, Step, Suite};
use bakeoff_model::text::diagnostic::SourceFile;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read(path: &Path) -> SourceFile {
    SourceFile {
        path: path.display().to_string(),
        text: fs::read_to_string(path).unwrap(),
    }
}

/// Entries of a folder in name order; none when there is no such folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn sources(suite: &Path) -> SuiteSources {
    let checks = entries(&suite.join("checks"));
    let checks = checks
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let contenders = entries(&suite.join("contenders"))
        .into_iter()
        .filter_map(|folder| {
            let file = folder.join("contender.toml");
            let name = folder.file_name()?.to_str()?.to_owned();
            file.is_file().then(|| (name, read(&file)))
        });
    SuiteSources {
        suite: read(&suite.join("suite.toml")),
        checks: checks.map(|path| read(path)).collect(),
        contenders: contenders.collect(),
        published: Some(suite.join("published.toml"))
            .filter(|path| path.is_file())
            .map(|path| read(&path)),
    }
}

/// The suites of this repository and their folders.
pub(crate) fn suites() -> Vec<(PathBuf, Suite)> {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut complaints = Vec::new();
    let mut found = Vec::new();
    for folder in entries(&suites) {
        if !folder.join("suite.toml").is_file() {
            continue;
        }
        match parse::suite(&sources(&folder)) {
            Ok(suite) => found.push((folder, suite)),
            Err(diagnostics) => complaints.extend(diagnostics.iter().map(ToString::to_string)),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(!found.is_empty(), "no suite below {}", suites.display());
    found
}

#[test]
fn suites_parse() {
    suites();
}

/// A file of this text, written again by a program that has read it.
fn rewritten<T>(source: &mut SourceFile)
where
    T: DeserializeOwned + Serialize + JsonSchema,
{
    let file: T = toml::from_str(&source.text).unwrap();
    source.text = files::text(&file);
}

#[test]
fn suites_that_are_written_again_are_the_same() {
    for (folder, suite) in suites() {
        let mut sources = sources(&folder);
        rewritten::<SuiteFile>(&mut sources.suite);
        sources.checks.iter_mut().for_each(rewritten::<ChecksFile>);
        let contenders = sources.contenders.iter_mut().map(|(_, file)| file);
        contenders.for_each(rewritten::<ContenderFile>);
        let again = parse::suite(&sources).unwrap();
        let digest = again.digest.clone();
        assert_eq!(again, Suite { digest, ..suite });
    }
}

/// The whole labels of contenders that a claim names.
fn named(test: &ClaimTest) -> Vec<&String> {
    match test {
        ClaimTest::Ratio { first, second, .. } => vec![first, second],
        ClaimTest::Value { contender, .. } => vec![contender],
        ClaimTest::Best { best, .. } => vec![best],
        ClaimTest::Order { order } => order.iter().collect(),
        ClaimTest::Happens { contenders, .. } => contenders.iter().collect(),
    }
}

#[test]
fn the_round_of_a_claim_measures_what_it_names() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut looked_at = 0;
    for folder in entries(&suites) {
        if !folder.join("published.toml").is_file() {
            continue;
        }
        let suite = parse::suite(&sources(&folder)).unwrap();
        let published = suite.published.as_ref().unwrap();
        for claim in &published.claims {
            let of_claim = |round: &&Round| Some(&round.name) == claim.round.as_ref();
            let Some(round) = suite.rounds.iter().find(of_claim) else {
                continue;
            };
            let options = PlanOptions {
                profile: round.profile.clone().unwrap_or_else(|| "quick".to_owned()),
                contenders: round.contenders.clone(),
                parameters: round.parameters.clone(),
                cases: Vec::new(),
                benchmarks: round.benchmarks.clone(),
                runs: Some(1),
                seed: 1,
                runtime: RuntimeKind::Process,
                backend: suite.default_backend,
                backend_delay: None,
                no_turns: None,
            };
            let runs = plan(&suite, &options).unwrap().runs;
            for label in named(&claim.test) {
                let is_it = |run: &PlannedRun| {
                    run.case_label() == *label && run.benchmark == claim.benchmark
                };
                let run = runs.iter().find(|run| is_it(run));
                let run = run.unwrap_or_else(|| panic!("{}: no {label}", claim.text));
                for at in claim.at.into_iter().chain(claim.second_at) {
                    let is_at = |step: &Step| step.connections == at && !step.warm_up;
                    assert!(run.steps.iter().any(is_at), "{}: no step {at}", claim.text);
                }
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 0, "no claim names a round");
}
