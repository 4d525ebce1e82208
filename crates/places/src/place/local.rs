//! Contenders as processes of this host.

use std::sync::Arc;

use async_trait::async_trait;
use bakeoff_build::Built;
use bakeoff_model::suite::Contender;

use crate::Runtime as _;
use crate::contender::{Ready, has_command, resolve, size_bytes};
use crate::contracts::Installer;
use crate::local::ProcessRuntime;
use crate::place::services_here::{Containers, Reach, ServicesHere};
use crate::place::{Place, Ports};
use crate::this_host::{process_options, process_runtime};

/// Opens this host. Contenders that are alive concurrently get a network each; without root there
/// are no networks.
pub(super) fn open(side_by_side: bool) -> anyhow::Result<Place> {
    let here = Arc::new(process_runtime()?);
    let apart = match side_by_side {
        true => ProcessRuntime::side_by_side(process_options()?).ok(),
        false => None,
    };
    let ports = match apart {
        Some(_) => Ports::OfEach,
        None => Ports::OfThisHost,
    };
    let services = ServicesHere {
        process: Arc::clone(&here),
        // Contenders in separate networks cannot reach this host's loopback.
        reach: match apart.as_ref().and_then(ProcessRuntime::gateway) {
            Some(gateway) => Reach::Address(gateway),
            None => Reach::Loopback,
        },
        containers: Containers::of_processes(),
    };
    let runtime = apart.map_or_else(|| Arc::clone(&here), Arc::new);
    let enforcement = runtime.enforcement();
    Ok(Place {
        unlimited_because: enforcement.unlimited_because().map(str::to_owned),
        pins_cores: true,
        ports,
        ..Place::from_here(runtime, OnThisHost, services, here)?
    })
}

/// Installs nothing: contenders start from the folder of their build.
struct OnThisHost;

#[async_trait(?Send)]
impl Installer for OnThisHost {
    async fn install(
        &self,
        _suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        has_command(contender)?;
        let java = match contender.jdk {
            Some(major) => Some(bakeoff_build::java(major)?.display().to_string()),
            None => None,
        };
        let artifact = built.artifact.as_ref().map(|one| one.path.as_path());
        let path = artifact.map(|path| path.display().to_string());
        let (command, probes) = resolve(contender, path.unwrap_or_default(), java, jvm_options)?;
        let artifact_bytes = artifact.and_then(size_bytes);
        Ok(Ready {
            command,
            probes,
            workdir: built.workdir.clone(),
            built,
            image: None,
            image_digest: None,
            artifact_bytes,
        })
    }
}
