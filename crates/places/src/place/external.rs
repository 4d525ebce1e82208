//! Services that run already: nothing is started, limited or metered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_build::Built;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::text::service_url::ServiceUrl;
use tokio::net::lookup_host;

use crate::contender::Ready;
use crate::contracts::Installer;
use crate::external::External;
use crate::host;
use crate::images::elsewhere;
use crate::place::services_here::{Containers, Reach, ServicesHere};
use crate::place::{Place, Reached, WantedPlace};
use crate::services::{Service, ServiceHost, Setting, WantedService};
use crate::this_host::process_runtime;

/// Opens the place of these services.
pub(super) async fn open(wanted: &WantedPlace<'_>) -> anyhow::Result<Place> {
    let load_is_far = wanted.hosts.load.is_some();
    let here = Arc::new(process_runtime()?);
    let backends = Backends(ServicesHere {
        process: Arc::clone(&here),
        reach: Reach::Loopback,
        containers: Containers::of_processes(),
    });
    Ok(Place {
        reached: match load_is_far {
            true => reached(&wanted.services).await?,
            false => None,
        },
        nodes: load_is_far.then(|| nodes(&wanted.services, wanted.has_services)),
        ..Place::from_here(Arc::new(External), RunAlready, backends, here)?
    })
}

/// Which part is on which host: services by their names in URLs.
fn nodes(services: &[ServiceUrl], has_services: bool) -> Nodes {
    let names: BTreeSet<&str> = services.iter().map(ServiceUrl::name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let here = host::name();
    Nodes {
        contender: names.join(", "),
        generators: vec![here.clone()],
        backend: has_services.then(|| here.clone()),
        cores: BTreeMap::from([(here, host::host_cores())]),
        clocks: BTreeMap::default(),
    }
}

/// Returns the address of a service.
async fn address(service: &ServiceUrl) -> anyhow::Result<SocketAddr> {
    let name = service.name();
    let found = lookup_host((name, service.port())).await;
    let first = found.ok().and_then(|mut found| found.next());
    first.with_context(|| format!("{name} has no address"))
}

/// Returns where the first of the services accepts connections.
///
/// # Errors
/// One of them has no address that another host reaches.
async fn reached(services: &[ServiceUrl]) -> anyhow::Result<Option<Reached>> {
    let mut reached = None;
    for service in services {
        let address = address(service).await?;
        if address.ip().is_loopback() {
            return Err(hinted(
                format_args!("{service} is an address of this host that only it reaches"),
                "name an address that the host of the load generator reaches, too",
            ));
        }
        reached.get_or_insert(Reached {
            address,
            is_ssh: false,
        });
    }
    Ok(reached)
}

/// Leaves services as they are.
struct RunAlready;

#[async_trait(?Send)]
impl Installer for RunAlready {
    async fn install(
        &self,
        _suite: &str,
        _contender: &Contender,
        built: Built,
        _jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        Ok(elsewhere(built))
    }
}

/// Starts backends. Services that run already cannot be told where a dependency is.
struct Backends(ServicesHere);

#[async_trait(?Send)]
impl ServiceHost for Backends {
    fn check(&self, wanted: &Dependency) -> anyhow::Result<()> {
        Err(hinted(
            format_args!(
                "dependency {}: services that run already have theirs",
                wanted.name
            ),
            "use --backend none, or --runtime docker or process",
        ))
    }

    async fn start(
        &self,
        wanted: &WantedService<'_>,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Box<dyn Service>> {
        self.0.start(wanted, setting, known).await
    }
}
