//! The suites as continuous integration checks them: all contenders are built and verified against
//! the suite's real backend, some in containers too, and a short session makes a report.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::chores::{Chores, command};

/// Contenders are built without optimisation: what they answer is checked here, not how fast, and
/// compiling them is most of the time. Builds for sessions that measure are kept apart from these,
/// because what compilers read of the environment is part of what tells builds apart.
///
/// Maven and the compilers in it run for a minute: the second tier of the JVM's compiler would cost
/// them more than it brings (http4k-3 took 50 CPU seconds with it and 24 without).
const BUILD_ENV: [(&str, &str); 2] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
];

/// The profile of the short session, which every suite has.
const PROFILE: &str = "smoke";
/// The round whose contenders are verified in containers as well.
const MAIN_ROUND: &str = "main";
/// Not a real backend: it answers from recordings.
const REPLAY: &str = "replay";

/// A suite, as far as it matters here.
pub(crate) struct Suite {
    /// `suites/NAME`.
    folder: String,
    /// The real backend, if contenders need one.
    backend: Option<String>,
    /// One contender of each folder: what bears the folder's own name.
    contenders: Vec<String>,
    /// Those of the main round that stand there by name.
    main: Vec<String>,
}

/// The parts of `suite.toml` that are read here; `bakeoff` itself checks all of it.
#[derive(Debug, Deserialize)]
struct SuiteFile {
    #[serde(default)]
    backend: Vec<Named>,
    #[serde(default)]
    round: Vec<Round>,
    #[serde(default)]
    profile: toml::Table,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Round {
    name: String,
    #[serde(default)]
    contenders: Vec<String>,
}

/// The suites of the repository in the order of their names.
pub(crate) fn suites(root: &Path) -> anyhow::Result<Vec<Suite>> {
    let mut suites = Vec::new();
    for name in folders(&root.join("suites"), "suite.toml")? {
        let folder = format!("suites/{name}");
        let file = root.join(&folder).join("suite.toml");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let parsed: SuiteFile =
            toml::from_str(&text).with_context(|| file.display().to_string())?;
        let contenders = folders(&root.join(&folder).join("contenders"), "contender.toml")?;
        suites.push(suite(folder, parsed, contenders)?);
    }
    Ok(suites)
}

fn suite(folder: String, file: SuiteFile, contenders: Vec<String>) -> anyhow::Result<Suite> {
    if !file.profile.contains_key(PROFILE) {
        bail!("{folder}: no profile {PROFILE:?}, with which its report is tried");
    }
    let named = |name: &String| !name.contains(['*', '?']);
    let main = file
        .round
        .into_iter()
        .find(|round| round.name == MAIN_ROUND);
    let main: Vec<String> = main.map(|round| round.contenders).unwrap_or_default();
    let mut backends = file.backend.into_iter().map(|backend| backend.name);
    Ok(Suite {
        folder,
        backend: backends.find(|name| name != REPLAY),
        main: main.into_iter().filter(named).collect(),
        contenders,
    })
}

/// The folders in one that hold a certain file, sorted.
fn folders(folder: &Path, with: &str) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let found = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(with).is_file());
    let mut names: Vec<String> = found
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

impl Suite {
    /// What is about to be built and started, in a few words.
    pub(crate) fn describe(&self) -> String {
        let backend = self.backend.as_deref().unwrap_or("no backend");
        format!(
            "{}: {} contenders, {backend}",
            self.folder,
            self.contenders.len()
        )
    }

    /// Builds all contenders, verifies them, those of the main round in containers too, and makes a
    /// short session.
    pub(crate) fn check(&self, chores: &mut Chores<'_>, docker: bool) -> anyhow::Result<()> {
        let folder = &self.folder;
        let all = chosen(&self.contenders);
        self.bakeoff(chores, "contenders built", &format!("build {folder}{all}"))?;
        let backend = match &self.backend {
            Some(name) => format!(" --backend {name}"),
            None => String::new(),
        };
        let verify = |runtime: &str, chosen: &str| {
            format!("verify {folder} --runtime {runtime}{backend}{chosen}")
        };
        self.bakeoff(chores, "verified as processes", &verify("process", &all))?;
        if docker && !self.main.is_empty() {
            let line = verify("docker", &chosen(&self.main));
            self.bakeoff(chores, "verified in containers", &line)?;
        }
        let results = tempfile::tempdir().context("no folder for temporary files")?;
        let results = results.path().join(PROFILE).display().to_string();
        let line = format!("run {folder} --profile {PROFILE}{backend} --out {results}");
        self.bakeoff(chores, "short session and report", &line)
    }

    /// The program that the tests have built: it stands beside this one.
    fn bakeoff(&self, chores: &mut Chores<'_>, what: &str, line: &str) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("this program is nowhere")?;
        let bakeoff = own.with_file_name("bakeoff");
        let name = format!("{}: {what}", self.folder);
        chores.step(&name, |chores| {
            command(
                chores.root(),
                &format!("{} {line}", bakeoff.display()),
                &BUILD_ENV,
            )
        })
    }
}

fn chosen(contenders: &[String]) -> String {
    contenders
        .iter()
        .map(|name| format!(" --contender {name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{SuiteFile, suite, suites};

    #[test]
    fn the_suites_of_this_repository_are_found() {
        let suites = suites(&crate::workspace::root()).unwrap();
        let locations = suites.iter().find(|one| one.folder == "suites/locations");
        let locations = locations.unwrap();
        assert_eq!(locations.backend.as_deref(), Some("elasticsearch"));
        assert!(locations.contenders.contains(&"axum".to_owned()));
        assert!(locations.main.contains(&"axum".to_owned()));
    }

    #[test]
    fn a_suite_may_do_without_a_backend_but_not_without_a_short_profile() {
        let parse = |text: &str| toml::from_str::<SuiteFile>(text).unwrap();
        let one = parse("[profile.smoke]\n[[round]]\nname = 'main'\ncontenders = ['a', 'b*']");
        let one = suite("suites/x".to_owned(), one, vec!["a".to_owned()]).unwrap();
        assert_eq!(
            (one.backend.as_deref(), one.main.as_slice()),
            (None, &["a".to_owned()][..])
        );
        assert!(suite("suites/x".to_owned(), parse(""), Vec::new()).is_err());
    }
}
