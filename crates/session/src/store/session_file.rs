//! `session.json`: what a session is about, so that it can be resumed and read.

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_model::baseline::Baseline;
use bakeoff_model::database_url::DatabaseUrl;
use bakeoff_model::duration_ns;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Qualification;
use bakeoff_model::runs::RunsDecision;
use bakeoff_runtime::kubernetes::ClusterSettings;
use serde::{Deserialize, Serialize};

use super::round_file::RoundFile;

/// The session to go on with by `--resume`: the plan and where the suite was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionFile {
    /// Folder of the suite; in the file as seen from the results folder.
    pub suite_folder: PathBuf,
    /// Contenders that take no part, each with the line that says why.
    pub skipped: Vec<String>,
    /// Length of a slice when it is not the profile's, ns.
    #[serde(
        default,
        rename = "slice_ns",
        alias = "slice",
        with = "duration_ns::option"
    )]
    pub slice: Option<Duration>,
    /// The runs in their order.
    pub plan: Plan,
    /// The round, if it is one.
    #[serde(default)]
    pub round: Option<RoundFile>,
    /// Flame graphs are wanted after the measured runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flame_graphs: bool,
    /// The database server of the user's own that is the backend, without its password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_url: Option<DatabaseUrl>,
    /// Winners of earlier rounds that take part, as they were picked.
    #[serde(default)]
    pub qualified: Vec<Qualification>,
    /// The baseline of the contenders, where there is one; its folder in the file as seen from the
    /// results folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// How many runs a pilot found necessary, once that is decided; the plan has no others then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_decision: Option<RunsDecision>,
    /// The user's settings of the cluster, where contenders run in one.
    #[serde(default, skip_serializing_if = "ClusterSettings::is_default")]
    pub cluster: ClusterSettings,
}

impl SessionFile {
    /// The file's name in a results folder.
    pub const NAME: &str = "session.json";

    /// Takes a decision: the runs that it leaves are the plan, and nothing is decided any
    /// more.
    pub(crate) fn decide(&mut self, decision: &RunsDecision) {
        self.plan.runs.retain(|run| run.is_in(decision));
        self.plan.runs_until = None;
        self.runs_decision = Some(decision.clone());
    }
}
