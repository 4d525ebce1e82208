//! Places, opened: the one that a runtime and the hosts of a user name.

use bakeoff_model::plan::Plan;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::far_hosts::FarHosts;

use crate::images::engine_is_elsewhere;
use crate::place::load_host::with_load_from;
use crate::place::{
    Elsewhere, Place, WantedPlace, cluster, docker, external, far, far_docker, far_processes, local,
};

/// Returns where the contenders of a plan run, if that is not this host.
///
/// # Errors
/// It does not respond, or cannot run them.
pub async fn elsewhere(
    plan: &Plan,
    hosts: &FarHosts,
    cluster: &ClusterSettings,
) -> anyhow::Result<Option<Elsewhere>> {
    hosts.check(plan.runtime, engine_is_elsewhere())?;
    let load = match &hosts.load {
        Some(address) => Some(far::open(address).await?),
        None => None,
    };
    let (load, has_services) = (load.as_deref(), plan.backend != BackendName::None);
    Ok(match (plan.runtime, &hosts.contender) {
        (RuntimeKind::Kubernetes, _) => {
            let connected = cluster::connect(cluster, has_services).await?;
            Some(Elsewhere {
                notes: connected.notes(),
                memory_bytes: connected.nodes.contender.allocatable_memory_bytes,
                node: connected.nodes.contender.name,
            })
        }
        (RuntimeKind::Docker, _) if engine_is_elsewhere() => {
            Some(far_docker::describe(load, has_services).await?)
        }
        (RuntimeKind::Process, Some(address)) => {
            Some(far_processes::describe(address, load, has_services).await?)
        }
        (_, _) => load.map(|load| Elsewhere {
            node: String::new(),
            memory_bytes: None,
            notes: vec![format!("load from {} ({})", load.name(), load.address())],
        }),
    })
}

/// Opens the place of this kind.
///
/// # Errors
/// It does not respond, or cannot run what is wanted.
pub async fn open(wanted: WantedPlace<'_>) -> anyhow::Result<Place> {
    let hosts = wanted.hosts;
    hosts.check(wanted.kind, engine_is_elsewhere())?;
    let place = match (wanted.kind, &hosts.contender) {
        (RuntimeKind::Process, Some(address)) => {
            far_processes::open(address, wanted.has_services).await?
        }
        (RuntimeKind::Process, None) => local::open(wanted.side_by_side)?,
        (RuntimeKind::Docker, _) => docker::open(wanted.has_services).await?,
        (RuntimeKind::Kubernetes, _) => cluster::open(&wanted).await?,
        (RuntimeKind::External, _) => external::open(&wanted).await?,
    };
    Ok(match &hosts.load {
        Some(address) => with_load_from(place, address).await?,
        None => place,
    })
}
