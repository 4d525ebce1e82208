//! Arguments about other hosts, which are reached by SSH.

use bakeoff_model::suite::far_hosts::FarHosts;
use bakeoff_model::text::ssh_address::SshAddress;
use clap::Args;

/// Heading of these options in the help.
const HEADING: &str = "On other machines";

/// Which parts run on other hosts.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HostArgs {
    /// Start contenders as processes on this host: `ssh://[USER@]HOST[:PORT]`.
    ///
    /// Their files are copied there, and removed in the end. They must listen on 0.0.0.0.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "SSH")]
    pub(crate) contender_host: Option<SshAddress>,
    /// Send the load from this host: `ssh://[USER@]HOST[:PORT]`.
    ///
    /// Contenders run on another one: by --contender-host, by DOCKER_HOST, or at their URLs.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "SSH")]
    pub(crate) load_host: Option<SshAddress>,
}

impl HostArgs {
    /// Returns the hosts in the session's type.
    pub(crate) fn hosts(&self) -> FarHosts {
        FarHosts {
            contender: self.contender_host.clone(),
            load: self.load_host.clone(),
        }
    }
}
