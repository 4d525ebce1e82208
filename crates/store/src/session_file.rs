//! `session.json`: the description of a session, by which it can be resumed and read.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_model::plan::baseline::{Baseline, base_name};
use bakeoff_model::plan::{FORMAT, Plan};
use bakeoff_model::record::Qualification;
use bakeoff_model::suite::run_count::RunsDecision;
use serde::{Deserialize, Serialize};

use crate::file::read_regular;
use crate::options::SessionOptions;
use crate::round_file::RoundFile;

/// The session to go on with by `--resume`: the plan and where the suite was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionFile {
    /// Folder of the suite; in the file as seen from the results folder.
    pub suite_folder: PathBuf,
    /// Contenders that take no part, each with the line that says why.
    pub skipped: Vec<String>,
    /// The runs in their order.
    pub plan: Plan,
    /// The round, if the session is one.
    #[serde(default)]
    pub round: Option<RoundFile>,
    /// Winners of earlier rounds that take part, as they were picked.
    #[serde(default)]
    pub qualified: Vec<Qualification>,
    /// The baseline of the contenders, if there is one; in the file, its folder is relative to the
    /// results folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// How many runs a pilot found necessary, once that is decided; the plan has no others then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_decision: Option<RunsDecision>,
    /// The options of the session.
    #[serde(flatten)]
    pub options: SessionOptions,
}

impl SessionFile {
    /// The file's name in a results folder.
    pub const NAME: &str = "session.json";

    /// Reads the file at a path.
    ///
    /// # Errors
    /// It cannot be read or understood, or is of a later version.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let text = read_regular(path).with_context(|| name.to_string())?;
        let session: Self =
            serde_json::from_str(&text).with_context(|| format!("{name}: not a session file"))?;
        let format = session.plan.format;
        if format > FORMAT {
            return Err(hinted(
                format_args!("{name}: is of format {format}, and this version knows {FORMAT}"),
                "use the version of bakeoff that wrote it",
            ));
        }
        Ok(session)
    }

    /// Takes head and base of a contender out, of which there is nothing to compare.
    pub fn leave_out(&mut self, contender: &str, why: &str) {
        let base = base_name(contender);
        let is_other = |name: &String| name != contender && *name != base;
        self.plan.runs.retain(|run| is_other(&run.contender));
        self.skipped.push(format!("{contender}: {why}"));
    }

    /// Takes a decision: the runs that it leaves are the plan, and nothing is decided any
    /// more.
    pub fn decide(&mut self, decision: &RunsDecision) {
        self.plan.runs.retain(|run| run.is_in(decision));
        self.plan.runs_until = None;
        self.runs_decision = Some(decision.clone());
    }
}
