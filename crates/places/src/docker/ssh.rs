//! The way to an engine on another host by SSH: one `ssh` that forwards the engine's socket.

use std::path::PathBuf;

use bakeoff_base::problem::Problem;
use bakeoff_model::text::ssh_address::SshAddress;
use url::Url;

use crate::ssh::{Held, READY};
use crate::sweep::RunFolder;

/// The engine's socket on the other host, unless the URL has a path.
const SOCKET: &str = "/var/run/docker.sock";

/// A forwarded socket. It is there until this is dropped.
#[derive(Debug)]
pub(super) struct Forwarded {
    _ssh: Held,
    folder: RunFolder,
}

impl Forwarded {
    /// Opens the way to `ssh://[USER@]HOST[:PORT][/SOCKET]`.
    ///
    /// # Errors
    /// There is no `ssh`, or its own words.
    pub(super) async fn open(url: &Url) -> Result<Self, Problem> {
        let folder = RunFolder::temporary().map_err(Problem::new)?;
        let theirs = match url.path() {
            "" | "/" => SOCKET,
            path => path,
        };
        let forward = format!("{}:{theirs}", socket_in(&folder).display());
        let options = ["-oExitOnForwardFailure=yes", "-L", &forward];
        let script = format!("echo {READY}; exec cat");
        let ssh = Held::open(&SshAddress::of(url)?, &options, &script).await?;
        Ok(Self { _ssh: ssh, folder })
    }

    /// Returns the address of the socket on this host.
    pub(super) fn address(&self) -> String {
        format!("unix://{}", socket_in(&self.folder).display())
    }
}

fn socket_in(folder: &RunFolder) -> PathBuf {
    folder.path().join("engine.sock")
}
