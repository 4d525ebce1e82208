//! Services that run already: nothing is started, limited or metered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use anyhow::Context as _;
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_build::Built;
use bakeoff_model::conditions::BackendName;
use bakeoff_model::nodes::Nodes;
use bakeoff_model::service_url::ServiceUrl;
use bakeoff_model::suite::Contender;
use tokio::net::lookup_host;

use crate::contender::Ready;
use crate::external::External;
use crate::images::elsewhere;
use crate::local::ProcessRuntime;
use crate::place::backends::{self, RunningBackend, WantedBackend};
use crate::place::{Platform, Reached, WantedPlatform};
use crate::this_host::{process_runtime, swept};
use crate::{Runtime, host};

/// Services elsewhere.
pub(crate) struct ExternalPlatform {
    services: Vec<ServiceUrl>,
    /// The map of the parts, where load comes from another host.
    nodes: Option<Nodes>,
    /// For backends.
    process: ProcessRuntime,
}

impl ExternalPlatform {
    pub(crate) fn new(wanted: &WantedPlatform<'_>) -> anyhow::Result<Self> {
        let load_is_far = wanted.hosts.load.is_some();
        Ok(Self {
            nodes: load_is_far.then(|| nodes(&wanted.services, wanted.backend)),
            services: wanted.services.clone(),
            process: process_runtime()?,
        })
    }
}

/// Which part is on which host: services by their names in URLs.
fn nodes(services: &[ServiceUrl], backend: BackendName) -> Nodes {
    let names: BTreeSet<&str> = services.iter().map(ServiceUrl::name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let here = host::name();
    Nodes {
        contender: names.join(", "),
        generators: vec![here.clone()],
        backend: (backend != BackendName::None).then(|| here.clone()),
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

#[async_trait(?Send)]
impl Platform for ExternalPlatform {
    fn runtime(&self) -> &dyn Runtime {
        &External
    }

    async fn make_ready(
        &self,
        _suite: &str,
        _contender: &Contender,
        built: Built,
        _jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        Ok(elsewhere(built))
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        backends::start_here(&self.process, wanted, None).await
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        swept(&self.process).await
    }

    async fn reached(&self) -> anyhow::Result<Option<Reached>> {
        let mut reached = None;
        for service in &self.services {
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

    fn nodes(&self) -> Option<Nodes> {
        self.nodes.clone()
    }
}
