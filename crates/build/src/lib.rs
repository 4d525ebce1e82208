//! Builds contenders: in a copy of their folder in the cache, and only when something changed.
//!
//! A change is detected by a receipt: the digest of sources, command, environment and toolchain
//! versions of the last build that succeeded. Images are the Docker part's business.

mod command;
pub mod log;
mod logged_command;
mod receipt;
mod sources;
mod toolchain;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::Contender;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::log::{last_lines, tail};
use crate::receipt::{nothing_of_its_folder, receipts, unbuilt, version, workdir};

pub use crate::command::{PlaceholderError, Placeholders, resolve};
pub use crate::logged_command::LoggedCommand;
pub use crate::toolchain::{MissingToolchain, Toolchain, java, toolchain};

/// How long a build may take before it counts as hanging: many times what the slowest one needs.
pub const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Variables of our own environment that change what Cargo makes.
const INHERITED: [&str; 3] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "RUSTFLAGS",
];
/// The prefix of more such variables.
const INHERITED_PREFIX: &str = "CARGO_PROFILE_";

/// Where Cargo keeps what it compiles on the way to an artifact, for all contenders alike: most of
/// them are made of the same packages. Older Cargos do not know it and use the artifact's folder.
const CARGO_BUILD_DIR: &str = "CARGO_BUILD_BUILD_DIR";

/// Where contenders are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOptions {
    /// The cache; see [`cache_dir`].
    pub cache: PathBuf,
    /// Name of the suite.
    pub suite: String,
    /// A build that takes longer is ended; [`BUILD_LIMIT`] unless a test is at work.
    pub limit: Duration,
}

/// A contender that is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Digest of everything that went into the build; `None` if nothing in the contender's folder
    /// is used.
    pub input: Option<String>,
    /// The artifact; `None` if there is nothing to build.
    pub artifact: Option<Artifact>,
    /// The folder in which it runs: the copy of the contender's folder, in which it was built,
    /// unless it names another.
    pub workdir: PathBuf,
    /// The output of the version command.
    pub version: Option<String>,
    /// The toolchains that the contender needs: name -> version.
    pub toolchains: BTreeMap<String, String>,
    /// Log of the last build.
    pub log_path: PathBuf,
    /// Whether it was built now; `false` when the last build was still good.
    pub fresh: bool,
}

impl Built {
    /// Whether nothing was built or looked up, because the contender is there already.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.artifact.is_none() && self.version.is_none() && !self.fresh
    }
}

/// The artifact of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// A file or a folder, absolute.
    pub path: PathBuf,
    /// Digest of the artifact, `sha256:HEX`.
    pub digest: String,
}

/// Why a contender is not built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A toolchain is missing: the contender must be skipped with this one line.
    #[error("{contender}: {missing}: {}", .missing.how)]
    Missing {
        /// The contender.
        contender: String,
        /// The toolchain.
        missing: MissingToolchain,
    },
    /// The build failed. The evidence is the command as one would type it, if one was run, and the
    /// last lines of its log.
    #[error("{0}")]
    Failed(Problem),
    /// The cache cannot be used or is full: that says nothing about the contender.
    #[error("{0}")]
    Cache(Problem),
}

impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Missing { .. } => Self::new(error),
            BuildError::Failed(problem) | BuildError::Cache(problem) => problem,
        }
    }
}

/// The receipt that a successful build leaves next to its copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Receipt {
    /// Digest of everything that went into the build.
    input: String,
    /// Digest of the output.
    artifact: String,
}

/// The cache: `$BAKEOFF_CACHE`, else `$XDG_CACHE_HOME/bakeoff`, else `~/.cache/bakeoff`.
#[must_use]
pub fn cache_dir() -> PathBuf {
    let path = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    path("BAKEOFF_CACHE")
        .or_else(|| path("XDG_CACHE_HOME").map(|cache| cache.join("bakeoff")))
        .or_else(|| path("HOME").map(|home| home.join(".cache/bakeoff")))
        .unwrap_or_else(|| env::temp_dir().join("bakeoff-cache"))
}

/// The toolchains of a contender: those it needs, and the JDK it runs on.
///
/// # Errors
/// The first one that is missing.
pub fn toolchains(contender: &Contender) -> Result<BTreeMap<String, Toolchain>, MissingToolchain> {
    let jdk = contender.jdk.map(|major| format!("jdk-{major}"));
    let names: BTreeSet<&String> = contender.needs.iter().chain(jdk.as_ref()).collect();
    names
        .into_iter()
        .map(|name| Ok((name.clone(), toolchain(name)?)))
        .collect()
}

/// Builds a contender unless its last build is still good. Variants with the same folder, command
/// and build environment share one build.
///
/// # Errors
/// A toolchain is missing, or the build failed.
pub async fn build(
    contender: &Contender,
    contender_folder: &Path,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    build_and_tell(contender, contender_folder, options, &|| ()).await
}

/// Builds a contender; `begun` is called when the last build turns out not to be good and the
/// command starts.
///
/// # Errors
/// A toolchain is missing, or the build failed.
pub async fn build_and_tell(
    contender: &Contender,
    contender_folder: &Path,
    options: &BuildOptions,
    begun: &(dyn Fn() + Sync),
) -> Result<Built, BuildError> {
    let tools = toolchains(contender).map_err(|missing| BuildError::Missing {
        contender: contender.name.clone(),
        missing,
    })?;
    if nothing_of_its_folder(contender) {
        return Ok(unbuilt(contender, contender_folder, &tools).await);
    }
    let job = Job::new(contender, contender_folder, options, &tools);
    job.run(&tools, begun).await
}

/// One build with its places.
struct Job<'a> {
    contender: &'a Contender,
    source: &'a Path,
    /// Copy, receipt, list of sources and log are below this.
    place: PathBuf,
    env: BTreeMap<String, String>,
    limit: Duration,
}

impl<'a> Job<'a> {
    fn new(
        contender: &'a Contender,
        source: &'a Path,
        options: &BuildOptions,
        tools: &BTreeMap<String, Toolchain>,
    ) -> Self {
        let mut env = build_env(contender, tools, &inherited());
        let mut build: Vec<&str> = contender.build.iter().map(String::as_str).collect();
        // The contender as it was has a separate place, whose path is as long: the length of paths
        // moves code and stacks about.
        build.extend(contender.is_base.then_some("base"));
        let key = sources::digest_of(&build, &without_path(&env));
        if env::var_os(CARGO_BUILD_DIR).is_none() {
            let shared = options.cache.join("build").join("cargo");
            env.insert(CARGO_BUILD_DIR.to_owned(), shared.display().to_string());
        }
        let short = key.get(7..15).unwrap_or_default();
        let name = format!("{}-{short}", contender.folder.replace('/', "_"));
        let place = options.cache.join("build").join(&options.suite).join(name);
        Self {
            contender,
            source,
            place,
            env,
            limit: options.limit,
        }
    }

    async fn run(
        &self,
        tools: &BTreeMap<String, Toolchain>,
        begun: &(dyn Fn() + Sync),
    ) -> Result<Built, BuildError> {
        fs::create_dir_all(self.tree()).map_err(|error| self.broken(&self.place, &error))?;
        // Two sessions may build the same contender; the second waits and finds it built.
        let lock = self.place.join("lock");
        let file = File::create(&lock).map_err(|error| self.broken(&lock, &error))?;
        let locking = tokio::task::spawn_blocking(move || {
            flock(&file, FlockOperation::LockExclusive).map(|()| file)
        });
        let _locked = match locking.await {
            Ok(Ok(file)) => file,
            Ok(Err(error)) => return Err(self.broken(&lock, &error)),
            Err(error) => return Err(self.broken(&lock, &error)),
        };
        let input = self
            .prepare(tools)
            .map_err(|error| self.not_copied(&error))?;
        let last: Receipt = self.read("receipt.json");
        let good = last.input == input
            && self.artifact().is_ok_and(|artifact| {
                artifact.is_none_or(|artifact| artifact.digest == last.artifact)
            });
        if !good {
            // A build that fails must not leave the receipt of an earlier one behind.
            let _ = fs::remove_file(self.place.join("receipt.json"));
            begun();
            self.execute().await?;
        }
        let artifact = self.artifact()?;
        let digest = artifact.as_ref().map(|artifact| artifact.digest.clone());
        let receipt = Receipt {
            input: input.clone(),
            artifact: digest.unwrap_or_default(),
        };
        self.write("receipt.json", &receipt)
            .map_err(|error| self.broken(&self.place, &error))?;
        Ok(Built {
            input: Some(input),
            version: version(self.contender, &self.tree(), artifact.as_ref(), tools).await,
            artifact,
            workdir: workdir(self.contender, self.source).unwrap_or_else(|| self.tree()),
            toolchains: receipts(tools),
            log_path: self.log_path(),
            fresh: !good,
        })
    }

    /// Returns the artifact of the build, if the contender names one.
    fn artifact(&self) -> Result<Option<Artifact>, BuildError> {
        let Some(artifact) = &self.contender.artifact else {
            return Ok(None);
        };
        let path = self.tree().join(artifact);
        if !path.exists() {
            let message = format!("its build made no {artifact}");
            return Err(self.failed(&message, Some("is `artifact` right?".to_owned())));
        }
        let digest = sources::artifact_digest(&path).map_err(|error| self.broken(&path, &error))?;
        Ok(Some(Artifact { path, digest }))
    }

    /// Brings the copy up to date; the digest of everything that goes into the build.
    fn prepare(&self, tools: &BTreeMap<String, Toolchain>) -> io::Result<String> {
        let sources = sources::files(self.source)?;
        let before: BTreeSet<PathBuf> = self.read("sources.json");
        // Written first, and with the old names: a copy that is interrupted is cleaned up too.
        self.write("sources.json", &sources.union(&before).collect::<Vec<_>>())?;
        sources::copy(self.source, &self.tree(), &sources, &before)?;
        self.write("sources.json", &sources)?;
        let digest = sources::digest(self.source, &sources)?;
        let mut table = without_path(&self.env);
        // The JDK that a variant merely runs on makes no other artifact.
        let builds = |name: &String, tool: &Toolchain| {
            let home = self.env.get("JAVA_HOME").map(Path::new);
            self.contender.needs.contains(name) || home == Some(tool.path.as_path())
        };
        table.extend(
            tools
                .iter()
                .filter(|(name, tool)| builds(name, tool))
                .map(|(name, tool)| (name.clone(), tool.version.clone().unwrap_or_default())),
        );
        let mut texts: Vec<&str> = vec![&digest];
        texts.extend(self.contender.build.iter().map(String::as_str));
        Ok(sources::digest_of(&texts, &table))
    }

    async fn execute(&self) -> Result<(), BuildError> {
        if self.contender.build.is_empty() {
            return Ok(());
        }
        let command = LoggedCommand {
            words: &self.contender.build,
            env: &self.env,
            folder: &self.tree(),
            log: &self.log_path(),
            limit: self.limit,
        };
        command.run().await.map_err(|message| {
            if self.is_full() {
                return self.broken(&self.place, &format_args!("no space is left ({message})"));
            }
            let hint = format!("the whole log is {}", self.log_path().display());
            self.failed(&format!("its build {message}"), Some(hint))
        })
    }

    fn tree(&self) -> PathBuf {
        self.place.join("tree")
    }

    fn log_path(&self) -> PathBuf {
        self.place.join("build.log")
    }

    /// A file of our own that is not there or not readable is one of an earlier version: start
    /// anew.
    fn read<T: Default + for<'de> Deserialize<'de>>(&self, name: &str) -> T {
        let text = fs::read(self.place.join(name)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        fs::write(self.place.join(name), serde_json::to_vec_pretty(value)?)
    }

    /// Something of the cache cannot be read or written.
    fn broken(&self, path: &Path, error: &dyn std::fmt::Display) -> BuildError {
        let (name, path) = (&self.contender.name, path.display());
        let problem = format!("{name}: cannot prepare its build: {path}: {error}");
        let hint = "end the cause, or name another folder for builds in BAKEOFF_CACHE";
        BuildError::Cache(Problem::from(problem).with_hint(hint))
    }

    /// Sources cannot be copied: the cache or this process has no room for them, or they cannot be
    /// read.
    fn not_copied(&self, error: &io::Error) -> BuildError {
        let is_of_host = matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::DQUOT | Errno::ROFS)
        );
        if is_of_host || self.is_full() {
            return self.broken(&self.place, error);
        }
        let (name, source) = (&self.contender.name, self.source.display());
        BuildError::Failed(format!("{name}: cannot copy its sources: {source}: {error}").into())
    }

    /// Whether the file system of the cache has no room left for files.
    fn is_full(&self) -> bool {
        let room = rustix::fs::statvfs(&self.place);
        room.is_ok_and(|room| room.f_bavail == 0 || (room.f_files > 0 && room.f_favail == 0))
    }

    fn failed(&self, message: &str, hint: Option<String>) -> BuildError {
        let command = self.contender.build.join(" ");
        let log = last_lines(&tail(&self.log_path()));
        BuildError::Failed(
            Problem::new(message)
                .context(&self.contender.name)
                .with_evidence(format!("{command}\n{log}"))
                .with_hints(hint),
        )
    }
}

/// The environment as far as it makes a difference: what the search path leads to is in the
/// versions of the toolchains, and a new folder in it does not cause a build.
fn without_path(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let kept = env
        .iter()
        .filter(|(name, _)| *name != "PATH" && *name != CARGO_BUILD_DIR);
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns the variables of our own environment that change a build: such a build is another one.
fn inherited() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| changes_builds(name))
        .collect()
}

fn changes_builds(name: &str) -> bool {
    name.starts_with(INHERITED_PREFIX) || INHERITED.contains(&name)
}

/// Returns the environment of a build besides our own, and of that what changes it. The JDK that
/// builds is the first one in `needs`, so that a contender can be built by one and run on another;
/// without one there, or without a compiler in it, it is the one that the contender runs on.
fn build_env(
    contender: &Contender,
    tools: &BTreeMap<String, Toolchain>,
    inherited: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = inherited.clone();
    let needed = contender
        .needs
        .iter()
        .filter(|name| name.starts_with("jdk-"))
        .cloned();
    let own = contender.jdk.map(|major| format!("jdk-{major}"));
    let jdks: Vec<&Toolchain> = needed
        .chain(own)
        .filter_map(|name| tools.get(&name))
        .collect();
    let complete = jdks.iter().find(|jdk| toolchain::has_compiler(&jdk.path));
    if let Some(jdk) = complete.or(jdks.first()) {
        env.insert("JAVA_HOME".to_owned(), jdk.path.display().to_string());
        let own_path = env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(jdk.path.join("bin")).chain(env::split_paths(&own_path));
        if let Ok(path) = env::join_paths(folders) {
            env.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
        }
    }
    env.extend(contender.build_env.clone());
    env
}

#[cfg(test)]
mod tests {
    use super::changes_builds;

    #[test]
    fn only_what_compilers_read_makes_another_build() {
        for name in ["CARGO_PROFILE_RELEASE_OPT_LEVEL", "RUSTFLAGS"] {
            assert!(changes_builds(name), "{name}");
        }
        for name in ["PATH", "CARGO_MANIFEST_DIR", "CARGO_BUILD_BUILD_DIR"] {
            assert!(!changes_builds(name), "{name}");
        }
    }
}
