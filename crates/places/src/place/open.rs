//! Places, opened: the one that a runtime and the hosts of a user name.

use bakeoff_model::conditions::RuntimeKind;
use bakeoff_model::plan::Plan;

use crate::far_hosts::FarHosts;
use crate::images::{engine_is_elsewhere, find_engine};
use crate::kubernetes::ClusterSettings;
use crate::place::cluster::{self, ClusterPlatform};
use crate::place::docker::DockerPlatform;
use crate::place::external::ExternalPlatform;
use crate::place::far_docker::{self, FarDockerPlatform};
use crate::place::far_processes::{self, FarProcessPlatform};
use crate::place::load_host::LoadHostPlatform;
use crate::place::local::ProcessPlatform;
use crate::place::{Elsewhere, Platform, WantedPlatform, far};

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
    let (load, backend) = (load.as_deref(), plan.backend);
    Ok(match (plan.runtime, &hosts.contender) {
        (RuntimeKind::Kubernetes, _) => {
            let connected = cluster::connect(cluster, backend).await?;
            Some(Elsewhere {
                notes: connected.notes(),
                memory_bytes: connected.nodes.contender.allocatable_memory_bytes,
                node: connected.nodes.contender.name,
            })
        }
        (RuntimeKind::Docker, _) if engine_is_elsewhere() => {
            Some(far_docker::describe(load, backend).await?)
        }
        (RuntimeKind::Process, Some(address)) => {
            Some(far_processes::describe(address, load, backend).await?)
        }
        (_, _) => load.map(|load| Elsewhere {
            node: String::new(),
            memory_bytes: None,
            notes: vec![format!("load from {} ({})", load.name(), load.address())],
        }),
    })
}

/// Connects to the platform of this kind.
pub async fn connect(wanted: WantedPlatform<'_>) -> anyhow::Result<Box<dyn Platform>> {
    let hosts = wanted.hosts;
    hosts.check(wanted.kind, engine_is_elsewhere())?;
    let contenders: Box<dyn Platform> = match wanted.kind {
        RuntimeKind::Process => match &hosts.contender {
            Some(address) => Box::new(FarProcessPlatform::new(address, wanted.backend).await?),
            None => Box::new(ProcessPlatform::new(wanted.side_by_side)?),
        },
        RuntimeKind::Docker => {
            let engine = find_engine().await?;
            let far = engine.far_host().cloned();
            let containers = Box::new(DockerPlatform::new(engine)?);
            match far {
                None => containers,
                Some(far) => Box::new(FarDockerPlatform::new(containers, far, wanted.backend)),
            }
        }
        RuntimeKind::Kubernetes => Box::new(
            ClusterPlatform::begin(wanted.cluster, wanted.backend, wanted.recordings).await?,
        ),
        RuntimeKind::External => Box::new(ExternalPlatform::new(&wanted)?),
    };
    Ok(match &hosts.load {
        Some(address) => Box::new(LoadHostPlatform::new(contenders, address).await?),
        None => contenders,
    })
}
