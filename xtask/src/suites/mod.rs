//! The suites as continuous integration checks them: contenders are built and verified against the
//! suite's real backend, some in containers too, and a short session makes a report. Which ones,
//! the ledger says.

mod ledger;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::browser;
use crate::chores::{Chores, Variables, command_with_reason};
use crate::workspace::built;

pub(crate) use self::ledger::{Ledger, findings};

/// Contenders are built without optimisation: their responses are checked here, not how fast, and
/// compiling them is most of the time. Builds for sessions that measure are kept apart from these,
/// because what compilers read of the environment is part of what distinguishes builds.
///
/// Maven and the compilers in it run for a minute: the second tier of the JVM's compiler would cost
/// them more than it brings (http4k-3 took 50 CPU seconds with it and 24 without).
const BUILD_ENV: [(&str, &str); 2] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
];

/// The profile of the short session, which every suite has; its start timeout is long enough for
/// busy hosts, so that contenders are verified with it too. A suite whose benchmarks take long has
/// a round of this name as well, and the session has the benchmarks of that round.
const PROFILE: &str = "smoke";
/// The round whose contenders are preferred in containers, as far as they are named.
const MAIN_ROUND: &str = "main";
/// How many contenders of each suite are verified although nothing changed.
const SAMPLE: usize = 1;
/// Not a real backend: it responds from recordings.
const REPLAY: &str = "replay";

/// A suite, as far as it matters here.
pub(crate) struct Suite {
    /// `suites/NAME`.
    pub(crate) folder: String,
    /// The real backend, if contenders need one.
    backend: Option<String>,
    contenders: Vec<Contender>,
    /// Names of the main round's contenders, which are preferred if one represents several.
    main: Vec<String>,
    /// Benchmarks of the short session; all when empty.
    short_benchmarks: Vec<String>,
}

/// One contender of a folder: what bears the folder's own name, else its first variant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Contender {
    name: String,
    /// The image that its containers are made on; `None` if it says nothing.
    base: Option<String>,
}

/// The parts of `contender.toml` that are read here.
#[derive(Debug, Deserialize)]
struct ContenderFile {
    contender: ContenderTable,
    #[serde(default)]
    image: ImageTable,
    #[serde(default)]
    variant: BTreeMap<String, toml::Table>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ContenderTable {
    #[serde(default)]
    only_variants: bool,
}

#[derive(Debug, Default, Deserialize)]
struct ImageTable {
    base: Option<String>,
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
    #[serde(default)]
    benchmarks: Vec<String>,
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
        let contenders = contenders(&root.join(&folder).join("contenders"))?;
        suites.push(suite(folder, parsed, contenders)?);
    }
    Ok(suites)
}

fn suite(folder: String, file: SuiteFile, contenders: Vec<Contender>) -> anyhow::Result<Suite> {
    if !file.profile.contains_key(PROFILE) {
        bail!("{folder}: no profile {PROFILE:?}, with which its report is tried");
    }
    let short_round = file.round.iter().find(|round| round.name == PROFILE);
    let short_benchmarks = short_round.map(|round| round.benchmarks.clone());
    let main = file
        .round
        .into_iter()
        .find(|round| round.name == MAIN_ROUND);
    let main: Vec<String> = main.map(|round| round.contenders).unwrap_or_default();
    let mut backends = file.backend.into_iter().map(|backend| backend.name);
    Ok(Suite {
        folder,
        backend: backends.find(|name| name != REPLAY),
        main,
        contenders,
        short_benchmarks: short_benchmarks.unwrap_or_default(),
    })
}

impl Contender {
    /// The folder below `contenders`.
    fn folder(&self) -> &str {
        ledger::folder_of(&self.name)
    }
}

/// The first contender on each base image, those of some names before the others: containers differ
/// by their base, hardly by contender.
fn one_of_each_base(contenders: &[Contender], preferred: &[String]) -> Vec<Contender> {
    let (first, last): (Vec<&Contender>, Vec<&Contender>) = contenders
        .iter()
        .partition(|contender| preferred.contains(&contender.name));
    let mut chosen: Vec<Contender> = Vec::new();
    for contender in first.into_iter().chain(last) {
        if chosen.iter().all(|one| one.base != contender.base) {
            chosen.push(contender.clone());
        }
    }
    chosen
}

/// One contender of each folder.
fn contenders(folder: &Path) -> anyhow::Result<Vec<Contender>> {
    let mut contenders = Vec::new();
    for name in folders(folder, "contender.toml")? {
        let file = folder.join(&name).join("contender.toml");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let parsed: ContenderFile =
            toml::from_str(&text).with_context(|| file.display().to_string())?;
        let name = match parsed.variant.keys().next() {
            Some(variant) if parsed.contender.only_variants => format!("{name}/{variant}"),
            _ => name,
        };
        contenders.push(Contender {
            name,
            base: parsed.image.base,
        });
    }
    Ok(contenders)
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
    /// Returns a few words on what is about to be built and started.
    pub(crate) fn describe(&self) -> String {
        let backend = self.backend.as_deref().unwrap_or("no backend");
        let names: Vec<&str> = self.contenders.iter().map(Contender::folder).collect();
        format!("{}: {}, {backend}", self.folder, names.join(", "))
    }

    /// Leaves out the contenders of some folders.
    pub(crate) fn without(&mut self, folders: &[String]) {
        let folder = format!("{}/contenders", self.folder);
        self.contenders
            .retain(|contender| !folders.contains(&format!("{folder}/{}", contender.folder())));
    }

    /// Keeps the contenders that changed lately, or a sample.
    pub(crate) fn sampled(&mut self, root: &Path) -> anyhow::Result<()> {
        let chosen = ledger::chosen(root, self, SAMPLE)?;
        self.contenders
            .retain(|contender| chosen.contains(contender.folder()));
        Ok(())
    }

    /// Keeps the contenders with the given names; all if there are none.
    ///
    /// # Errors
    /// There is none of a name.
    pub(crate) fn only(&mut self, names: &[String]) -> anyhow::Result<()> {
        let folders: Vec<&str> = names.iter().map(|name| ledger::folder_of(name)).collect();
        for folder in &folders {
            if !self.contenders.iter().any(|one| one.folder() == *folder) {
                bail!("{}/contenders/{folder}: no such contender", self.folder);
            }
        }
        self.contenders
            .retain(|one| folders.is_empty() || folders.contains(&one.folder()));
        Ok(())
    }

    /// Builds the contenders and verifies them as processes, one on each base image in a container
    /// too.
    pub(crate) fn verify(&self, chores: &mut Chores<'_>, docker: bool) -> anyhow::Result<()> {
        let folder = &self.folder;
        let all = chosen(&self.contenders);
        self.bakeoff(chores, "contenders built", &self.build())?;
        let backend = self.backend_option();
        let verify = |runtime: &str, chosen: &str| {
            format!("verify {folder} --profile {PROFILE} --runtime {runtime}{backend}{chosen}")
        };
        self.bakeoff(chores, "verified as processes", &verify("process", &all))?;
        if docker {
            let some = one_of_each_base(&self.contenders, &self.main);
            let line = verify("docker", &chosen(&some));
            self.bakeoff(chores, "verified in containers", &line)?;
        }
        Ok(())
    }

    /// Enters the contenders into the ledger.
    pub(crate) fn enter(&self, root: &Path) -> anyhow::Result<()> {
        let names = self.contenders.iter().map(|one| one.name.clone());
        let whole = suites(root)?.into_iter();
        let whole = whole.filter(|suite| suite.folder == self.folder);
        for suite in whole {
            let names: Vec<String> = names.clone().collect();
            Ledger::read(root, &suite)?.enter(root, &suite, &names)?;
        }
        Ok(())
    }

    /// Verifies the contenders, makes a short session of them, and opens its report.
    pub(crate) fn check(&self, chores: &mut Chores<'_>, docker: bool) -> anyhow::Result<()> {
        self.verify(chores, docker)?;
        let (folder, backend) = (&self.folder, self.backend_option());
        let results = tempfile::tempdir().context("no folder for temporary files")?;
        let results = results.path().join(PROFILE).display().to_string();
        let benchmarks = self.short_benchmarks.iter();
        let benchmarks: String = benchmarks
            .map(|name| format!(" --benchmark {name}"))
            .collect();
        let chosen = chosen(&self.contenders) + &benchmarks;
        let line = format!("run {folder} --profile {PROFILE}{backend}{chosen} --out {results}");
        self.bakeoff(chores, "short session and report", &line)?;
        let pages = browser::reports(Path::new(&results))?;
        browser::open(chores, &format!("{folder}: report in a browser"), &pages)
    }

    /// The command that builds the contenders, with its variables.
    pub(crate) fn building(&self) -> anyhow::Result<(String, Variables)> {
        Ok((
            format!("{} {}", built("bakeoff")?.display(), self.build()),
            &BUILD_ENV,
        ))
    }

    fn build(&self) -> String {
        format!("build {}{}", self.folder, chosen(&self.contenders))
    }

    fn backend_option(&self) -> String {
        let name = self.backend.as_deref();
        name.map_or_else(String::new, |name| format!(" --backend {name}"))
    }

    fn bakeoff(&self, chores: &mut Chores<'_>, what: &str, line: &str) -> anyhow::Result<()> {
        let name = format!("{}: {what}", self.folder);
        let line = format!("{} {line}", built("bakeoff")?.display());
        chores.step(&name, |chores| {
            command_with_reason(chores.root(), &line, &BUILD_ENV)
        })
    }
}

fn chosen(contenders: &[Contender]) -> String {
    contenders
        .iter()
        .map(|contender| format!(" --contender {}", contender.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Contender, SuiteFile, contenders, one_of_each_base, suite, suites};

    fn contender(name: &str, base: Option<&str>) -> Contender {
        Contender {
            name: name.to_owned(),
            base: base.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn the_suites_of_this_repository_are_found() {
        let suites = suites(&crate::workspace::root()).unwrap();
        let locations = suites.iter().find(|one| one.folder == "suites/locations");
        let locations = locations.unwrap();
        assert_eq!(locations.backend.as_deref(), Some("elasticsearch"));
        let names = |of: &[Contender]| -> Vec<String> {
            of.iter().map(|contender| contender.name.clone()).collect()
        };
        assert!(names(&locations.contenders).contains(&"axum".to_owned()));
        let in_containers = one_of_each_base(&locations.contenders, &locations.main);
        assert_eq!(names(&in_containers), ["actix-4", "http4k-3", "ktor-3"]);
    }

    #[test]
    fn a_suite_may_do_without_a_backend_but_not_without_a_short_profile() {
        let parse = |text: &str| toml::from_str::<SuiteFile>(text).unwrap();
        let all = vec![
            contender("a/x", Some("debian")),
            contender("b", Some("debian")),
            contender("c", None),
        ];
        let file = parse("[profile.smoke]\n[[round]]\nname = 'main'\ncontenders = ['b', 'c*']");
        let named = suite("suites/x".to_owned(), file, all.clone()).unwrap();
        assert!(named.short_benchmarks.is_empty());
        assert_eq!(named.backend, None);
        let in_containers = one_of_each_base(&named.contenders, &named.main);
        assert_eq!(in_containers, [all[1].clone(), all[2].clone()]);
        let text = "[profile.smoke]\n[[round]]\nname = 'smoke'\nbenchmarks = ['one']";
        let mut one = suite("suites/x".to_owned(), parse(text), all.clone()).unwrap();
        assert_eq!(one.short_benchmarks, ["one"]);
        one.without(&["suites/y/contenders/a".to_owned()]);
        assert_eq!(one.contenders, all);
        one.without(&["suites/x/contenders/a".to_owned()]);
        assert_eq!(one.contenders, all[1..]);
        one.only(&["c".to_owned()]).unwrap();
        assert_eq!(one.contenders, all[2..]);
        assert!(one.only(&["b".to_owned()]).is_err());
        assert!(suite("suites/x".to_owned(), parse(""), Vec::new()).is_err());
    }

    #[test]
    fn each_folder_is_stood_for_by_one_contender() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("contender.toml"), text).unwrap();
        };
        write("b", "[contender]\n[image]\nbase = 'debian'\n[variant.x]");
        write(
            "a",
            "[contender]\nonly-variants = true\n[variant.x]\n[variant.y]",
        );
        fs::create_dir(folder.path().join("no-contender")).unwrap();
        assert_eq!(
            contenders(folder.path()).unwrap(),
            [contender("a/x", None), contender("b", Some("debian"))]
        );
    }
}
