//! `rounds.json`, the file of a folder with rounds, and the description of a session's own round.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_model::plan as planning;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::delay::Delay;
use bakeoff_model::suite::{BenchmarkKind, Round, Suite, Winner};
use serde::{Deserialize, Serialize};

use crate::file::{is_plain_name, read_regular, refuse_link};
use crate::options::SessionOptions;
use crate::suite_folder;

/// The round of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundFile {
    /// The round.
    pub name: String,
    /// The benchmark that decides, and the rule; absent if the round has no winner.
    pub decides: Option<(String, Winner)>,
}

impl RoundFile {
    /// Returns the notes of a session about its round. The first benchmark of the round with load
    /// decides, whatever else was asked for.
    #[must_use]
    pub fn of(suite: &Suite, round: &Round, benchmarks: &[String]) -> Self {
        let chosen = |name: &str| {
            let globs = if benchmarks.is_empty() {
                &round.benchmarks
            } else {
                benchmarks
            };
            globs.iter().any(|glob| planning::matches(glob, name))
        };
        let deciding = suite
            .benchmarks
            .iter()
            .find(|one| one.kind == BenchmarkKind::Load && chosen(&one.name));
        Self {
            name: round.name.clone(),
            decides: deciding
                .zip(round.winner)
                .map(|(one, winner)| (one.name.clone(), winner)),
        }
    }
}

/// The rounds to go on with by `--resume`.
#[derive(Debug, Serialize, Deserialize)]
pub struct RoundsFile {
    /// Folder of the suite; in the file as seen from the folder of the rounds.
    pub suite_folder: PathBuf,
    /// Digest of the suite definition.
    pub suite_digest: String,
    /// The profile, if one was asked for; the rounds' own otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The runtime.
    pub runtime: RuntimeKind,
    /// The backend.
    pub backend: BackendName,
    /// How long the replay backend holds its responses back, if that is not the suite's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_delay: Option<Delay>,
    /// Seed of the order of runs.
    pub seed: u64,
    /// Repetitions instead of the profile's.
    pub runs: Option<u32>,
    /// The options of each session.
    #[serde(flatten)]
    pub options: SessionOptions,
    /// Globs of benchmarks; empty = the rounds' own.
    pub benchmarks: Vec<String>,
    /// The rounds in their order.
    pub rounds: Vec<String>,
}

impl RoundsFile {
    /// The file's name, which makes a folder one of rounds.
    pub const NAME: &str = "rounds.json";

    /// Reads the file of a folder; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be understood, or names something else than folders in this one.
    pub fn read(top: &Path) -> anyhow::Result<Option<Self>> {
        let path = top.join(Self::NAME);
        let Ok(text) = read_regular(&path) else {
            return Ok(None);
        };
        let mut file: Self = serde_json::from_str(&text)
            .with_context(|| format!("{}: not a file of rounds", path.display()))?;
        for name in &file.rounds {
            if !is_plain_name(name) {
                return Err(hinted(
                    format_args!("{}: {name:?} is not the name of a round", path.display()),
                    "the results of a round are in a folder of its name next to this file",
                ));
            }
            refuse_link(&top.join(name))?;
        }
        file.suite_folder = suite_folder::found_from(top, &file.suite_folder);
        Ok(Some(file))
    }
}
