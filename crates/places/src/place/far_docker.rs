//! Containers of an engine on another host. They share that host's network; load and services are
//! of this host.

use std::collections::BTreeMap;

use anyhow::Context as _;
use bakeoff_model::record::nodes::Nodes;

use crate::docker::FarHost;
use crate::host;
use crate::images::find_engine;
use crate::place::far::with_load;
use crate::place::services_here::Containers;
use crate::place::{Elsewhere, Place, Ports, Reached};
use crate::ssh::SshHost;

/// Returns the place of containers with an engine that is on another host.
pub(super) fn of(place: Place, far: &FarHost, has_services: bool) -> Place {
    Place {
        host: far.host.clone(),
        host_cores: far.host.cores,
        nodes: Some(nodes(far, has_services)),
        ports: Ports::OfAnotherHost,
        pins_cores: false,
        reached: Some(Reached {
            address: far.reached,
            is_ssh: true,
        }),
        ..place
    }
}

/// The refusal of containers as services.
pub(super) fn no_containers(far: &FarHost) -> Containers {
    Containers::Refused(
        format!(
            "containers of {} share its network, in which it would have no name",
            far.name
        ),
        "run bakeoff on that host, with its own engine",
    )
}

/// Returns the host of an engine that is on another host; `load` is the load generator's host, if
/// it is a third.
///
/// # Errors
/// It does not respond, or is on this host after all.
pub(crate) async fn describe(
    load: Option<&SshHost>,
    has_services: bool,
) -> anyhow::Result<Elsewhere> {
    let engine = find_engine().await?;
    let far = engine.far_host().context("the engine is on this host")?;
    let nodes = nodes(far, has_services);
    let nodes = match load {
        Some(load) => with_load(nodes, load),
        None => nodes,
    };
    let mut notes = vec![format!(
        "containers of {}: {}",
        engine.host(),
        nodes.describe()
    )];
    notes.extend(nodes.sharing());
    Ok(Elsewhere {
        node: far.name.clone(),
        memory_bytes: Some(far.host.memory_bytes),
        notes,
    })
}

/// Which part is on which host.
fn nodes(far: &FarHost, has_services: bool) -> Nodes {
    let here = host::name();
    Nodes {
        contender: far.name.clone(),
        generators: vec![here.clone()],
        backend: has_services.then(|| here.clone()),
        cores: BTreeMap::from([
            (here, host::host_cores()),
            (far.name.clone(), far.host.cores),
        ]),
        clocks: BTreeMap::default(),
    }
}
