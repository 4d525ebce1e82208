//! The options of a session besides its plan: stated once, and the same in commands, in the files
//! of a results folder and in the test bed.

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_model::record::Purpose;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::text::database_url::DatabaseUrl;
use bakeoff_model::text::duration_ns;
use serde::{Deserialize, Serialize};

/// The options for a session, each round of several, or a test bed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionOptions {
    /// The purpose of the session; absent in files if it is the suite.
    #[serde(default, skip_serializing_if = "Purpose::is_suite")]
    pub purpose: Purpose,
    /// Length of a slice when it is not the profile's; in files ns.
    #[serde(default, rename = "slice_ns", with = "duration_ns::option")]
    pub slice: Option<Duration>,
    /// Flame graphs are wanted after the measured runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flame_graphs: bool,
    /// The revisions that contenders were built from, whose changes are looked for in their stack
    /// samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<Revisions>,
    /// The database server of the user's own that is the backend; in files without its password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_url: Option<DatabaseUrl>,
    /// The user's settings of the cluster, if contenders run in one.
    #[serde(default, skip_serializing_if = "ClusterSettings::is_default")]
    pub cluster: ClusterSettings,
    /// Other hosts on which parts of the session run.
    #[serde(default, skip_serializing_if = "FarHosts::is_default")]
    pub hosts: FarHosts,
}

/// Two revisions of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revisions {
    /// Top of the repository.
    pub repository: PathBuf,
    /// The commit before the change.
    pub from: String,
    /// The commit after it; absent if it is the files as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}
