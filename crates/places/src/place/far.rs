//! Other hosts, which are reached by SSH, as places know them.

use std::sync::Arc;

use anyhow::Context as _;
use bakeoff_base::hint::with_hints;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::text::ssh_address::SshAddress;

use crate::ssh::SshHost;

/// Copies this program to a host, if it is not there.
pub(crate) async fn open(address: &SshAddress) -> anyhow::Result<Arc<SshHost>> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    SshHost::open(address, &program).await.map_err(with_hints)
}

/// Returns the map of the parts with the load generator on another host.
pub(crate) fn with_load(nodes: Nodes, load: &SshHost) -> Nodes {
    let name = load.name().to_owned();
    let mut nodes = Nodes {
        generators: vec![name.clone()],
        ..nodes
    };
    nodes.cores.insert(name, load.host().cores);
    nodes
}
