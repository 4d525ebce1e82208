//! Contenders as processes of another host, which is reached by SSH. They share that host's
//! network; services are of this host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_build::Built;
use bakeoff_model::record::Host;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::Contender;
use bakeoff_model::text::ssh_address::SshAddress;

use crate::contender::{Ready, has_command, resolve, size_bytes};
use crate::contracts::Installer;
use crate::place::far::{self, with_load};
use crate::place::services_here::{Containers, Reach, ServicesHere};
use crate::place::{Elsewhere, Place, Ports, Reached};
use crate::ssh::{SshHost, SshRuntime};
use crate::this_host::process_runtime;
use crate::{Runtime as _, host};

/// Opens the host at this address.
pub(super) async fn open(address: &SshAddress, has_services: bool) -> anyhow::Result<Place> {
    let far = far::open(address).await?;
    let clock = far.clock().await.map_err(with_hints)?;
    let runtime = SshRuntime::begin(Arc::clone(&far)).await;
    let runtime = runtime.map_err(with_hints)?;
    let here = Arc::new(process_runtime()?);
    let services = ServicesHere {
        process: Arc::clone(&here),
        reach: Reach::Address(runtime.gateway()),
        containers: Containers::of_processes(),
    };
    let enforcement = runtime.enforcement();
    let unlimited = enforcement.unlimited_because();
    Ok(Place {
        host: Host {
            round_trip_ns: Some(runtime.round_trip_ns()),
            ..far.host().clone()
        },
        host_cores: far.host().cores,
        nodes: Some(Nodes {
            clocks: BTreeMap::from([(far.name().to_owned(), clock.wall)]),
            ..nodes(&far, has_services)
        }),
        unlimited_because: unlimited.map(|why| format!("on {}: {why}", far.name())),
        ports: Ports::OfAnotherHost,
        reached: Some(Reached {
            address: runtime.reached(),
            is_ssh: true,
        }),
        ..Place::from_here(Arc::new(runtime), OnThatHost(far), services, here)?
    })
}

/// Returns the host of contenders; `load` is the load generator's host, if it is another one.
///
/// # Errors
/// It cannot be reached.
pub(crate) async fn describe(
    address: &SshAddress,
    load: Option<&SshHost>,
    has_services: bool,
) -> anyhow::Result<Elsewhere> {
    let far = far::open(address).await?;
    let nodes = nodes(&far, has_services);
    let nodes = match load {
        Some(load) => with_load(nodes, load),
        None => nodes,
    };
    let mut notes = vec![format!("processes of {address}: {}", nodes.describe())];
    notes.extend(nodes.sharing());
    Ok(Elsewhere {
        node: far.name().to_owned(),
        memory_bytes: Some(far.host().memory_bytes),
        notes,
    })
}

/// Which part is on which host, with load from here.
fn nodes(far: &SshHost, has_services: bool) -> Nodes {
    let here = host::name();
    Nodes {
        contender: far.name().to_owned(),
        generators: vec![here.clone()],
        backend: has_services.then(|| here.clone()),
        cores: BTreeMap::from([
            (here, host::host_cores()),
            (far.name().to_owned(), far.host().cores),
        ]),
        clocks: BTreeMap::default(),
    }
}

/// Sends contenders to another host.
struct OnThatHost(Arc<SshHost>);

#[async_trait(?Send)]
impl Installer for OnThatHost {
    async fn install(
        &self,
        _suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        has_command(contender)?;
        if let Some(major) = contender.jdk {
            return Err(hinted(
                format_args!(
                    "it runs on JDK {major} of this host, which {} lacks",
                    self.0.name()
                ),
                "name the `java` of that host in `run` and leave `jdk` out, or use --runtime \
                 docker with DOCKER_HOST",
            ));
        }
        let far = &self.0;
        let artifact = built.artifact.as_ref().map(|one| one.path.as_path());
        let path = match artifact {
            Some(path) => far.send_file(path).await.map_err(with_hints)?,
            None => String::new(),
        };
        let (command, probes) = resolve(contender, path, None, jvm_options)?;
        let sending = far.send_command(&built.workdir, &command);
        let (workdir, command) = sending.await.map_err(with_hints)?;
        Ok(Ready {
            command,
            probes,
            workdir: PathBuf::from(workdir),
            artifact_bytes: artifact.and_then(size_bytes),
            built,
            image: None,
            image_digest: None,
        })
    }
}
