//! Starts containers on the session's own network.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};
use bollard::models::NetworkCreateRequest;
use bollard::query_parameters::InspectNetworkOptions;
use procfs::net::RouteEntry;
use tokio::sync::{OnceCell, oneshot, watch};
use tokio::task::JoinHandle;

use crate::api::{BoxFuture, ExitInfo, Instance, Runtime, StartError, StartSpec, SweepError};
use crate::container_start::{Executed, await_execution, is_of};
use crate::docker::container::{
    await_exit, body, copy_output, create, inspect, nofile_choices, refused_nofile, start,
};
use crate::docker::drop_aside;
use crate::docker::engine::{Engine, plain};
use crate::docker::instance::{DockerInstance, StartedContainer};
use crate::docker::session::{remove_container, remove_network, sweep};
use crate::docker::settings::NOFILE_NAME;
use crate::meter::{Stat, TICK_NS};
use crate::ownership::labels;
use crate::ready::monotonic_ns;
use crate::sweep::unique_name;

/// Starts contenders as containers. Make one a session; dropping it removes its network.
///
/// Containers of a local engine have separate addresses on a bridge that only this session uses. On
/// an engine of another host they share that host's network. No port is ever published: that would
/// put a proxy, or rules of the packet filter, into the path.
#[derive(Debug)]
pub struct DockerRuntime {
    engine: Engine,
    network: OnceCell<Bridge>,
    /// Limits of open files, best first, and which of them the engine permits, as far as known.
    nofile: (Vec<Option<i64>>, AtomicUsize),
}

#[derive(Debug)]
struct Bridge {
    name: String,
    gateway: IpAddr,
    /// The bridge's device, if this host sees it: an engine may run in a virtual machine.
    device: Option<String>,
}

impl DockerRuntime {
    /// A runtime on this engine.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            network: OnceCell::new(),
            nofile: (nofile_choices(), AtomicUsize::new(0)),
        }
    }

    /// Returns the engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The address at which containers reach this host: backends listen there. Makes the session's
    /// network when there is none yet.
    ///
    /// # Errors
    /// The network cannot be made.
    pub async fn gateway(&self) -> Result<IpAddr, StartError> {
        match &self.engine.far {
            None => Ok(self.bridge().await?.gateway),
            Some(far) => Ok(far.here),
        }
    }

    async fn bridge(&self) -> Result<&Bridge, StartError> {
        let making = self.network.get_or_try_init(|| make_bridge(&self.engine));
        making.await.map_err(|problem| {
            let problem = problem.context("cannot make a network");
            let hint = "`docker network prune` removes unused networks";
            StartError::failed("network", problem.with_hint(hint))
        })
    }

    async fn start_container(&self, spec: &StartSpec) -> Result<DockerInstance, StartError> {
        let (choices, known) = &self.nofile;
        if spec.container.settings.ulimits.contains_key(NOFILE_NAME) {
            return self.try_start(spec, None).await;
        }
        loop {
            let choice = known.load(Ordering::Relaxed);
            match self.try_start(spec, choices[choice]).await {
                Err(StartError::Failed(problem))
                    if refused_nofile(problem.message()) && choice + 1 < choices.len() =>
                {
                    known.store(choice + 1, Ordering::Relaxed);
                }
                outcome => return outcome,
            }
        }
    }

    async fn try_start(
        &self,
        spec: &StartSpec,
        nofile: Option<i64>,
    ) -> Result<DockerInstance, StartError> {
        let asked_ns = monotonic_ns();
        let failed = |why: Problem| StartError::failed(&spec.label, why);
        let Some(reference) = &spec.image else {
            return Err(failed("it has no image".into()));
        };
        let image = self.engine.image(reference).await.map_err(failed)?;
        let image = image.ok_or_else(|| failed(format!("there is no image {reference}").into()))?;
        let (network, device) = match self.engine.far {
            None => {
                let bridge = self.bridge().await?;
                (bridge.name.as_str(), bridge.device.clone())
            }
            Some(_) => ("host", None),
        };
        let asked = body(spec, reference, network, nofile);
        let id = create(&self.engine, &spec.label, asked)
            .await
            .map_err(failed)?;
        // Whatever fails from here on, the container goes.
        let unfinished = Unfinished(Some((self.engine.clone(), id.clone())));
        let created_ns = monotonic_ns();
        let (log, copying) = copy_output(&self.engine, &id, &spec.log_path)
            .await
            .map_err(failed)?;
        let life = Life::begin(&self.engine, &id);
        let begun = self
            .await_begin(&id, life.started, created_ns)
            .await
            .map_err(failed)?;
        let address = self
            .address(spec, network, &id, &begun)
            .await
            .map_err(failed)?;
        unfinished.keep();
        Ok(DockerInstance::new(StartedContainer {
            engine: self.engine.clone(),
            id,
            label: spec.label.clone(),
            address,
            device,
            ready_path: spec.ready_path.clone(),
            wire: spec.wire.clone(),
            stop_signal: spec.container.settings.stop_signal.clone(),
            log_path: spec.log_path.clone(),
            image_bytes: image.bytes,
            pid: begun.pid,
            asked_ns,
            created_ns,
            executed_ns: begun.at_ns,
            exit: life.exit,
            log,
            copying,
            waiter: life.waiter,
        }))
    }

    /// Waits until the program has started: seen in /proc on this host, else reported by the
    /// engine.
    async fn await_begin(
        &self,
        id: &str,
        mut started: oneshot::Receiver<Result<(), Problem>>,
        created_ns: u64,
    ) -> Result<Begun, Problem> {
        let give_up = GiveUp(Arc::new(AtomicBool::new(self.engine.far.is_some())));
        let (watched, giving_up) = (id.to_owned(), Arc::clone(&give_up.0));
        let mut watching =
            tokio::task::spawn_blocking(move || await_execution(&watched, &giving_up));
        let seen = tokio::select! {
            seen = &mut watching => {
                let seen = seen.ok().flatten();
                if seen.is_none() {
                    told(started.await)?;
                }
                seen
            }
            outcome = &mut started => {
                told(outcome)?;
                drop(give_up);
                watching.await.ok().flatten()
            }
        };
        if let Some(executed) = seen {
            return Ok(Begun::seen(executed));
        }
        let found = inspect(&self.engine, id).await?.unwrap_or_default();
        let pid = found.state.and_then(|state| state.pid);
        let pid = pid
            .and_then(|pid| u32::try_from(pid).ok())
            .filter(|pid| self.engine.far.is_none() && is_of(*pid, id));
        Ok(Begun {
            pid,
            // Too early in both cases, by what the engine does before the program starts: a
            // start-up time may come out long, never short.
            at_ns: pid
                .and_then(started_ns)
                .map_or(created_ns, |at_ns| at_ns.max(created_ns)),
            address: None,
        })
    }

    /// Where the service is reached.
    async fn address(
        &self,
        spec: &StartSpec,
        network: &str,
        id: &str,
        begun: &Begun,
    ) -> Result<SocketAddr, Problem> {
        if let Some(far) = &self.engine.far {
            return Ok(SocketAddr::new(far.reached.ip(), spec.port));
        }
        if let Some(ip) = begun.address {
            return Ok(SocketAddr::new(ip, spec.port));
        }
        let found = inspect(&self.engine, id).await?.unwrap_or_default();
        let mut networks = found
            .network_settings
            .and_then(|settings| settings.networks)
            .unwrap_or_default();
        let ip = networks.remove(network).and_then(|end| end.ip_address);
        let Some(ip) = ip.filter(|ip| !ip.is_empty()) else {
            // A container that has ended has no address any more. Its end is what will be reported;
            // until then nothing can respond at port 0.
            return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        };
        let ip = ip.parse().map_err(|_| format!("{ip} is not an address"))?;
        Ok(SocketAddr::new(ip, spec.port))
    }
}

impl Runtime for DockerRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        Box::pin(async move {
            let instance = self.start_container(spec).await?;
            Ok(Box::new(instance) as Box<dyn Instance>)
        })
    }

    fn enforcement(&self) -> Enforcement {
        self.engine.enforcement()
    }

    fn traffic_path(&self) -> TrafficPath {
        match self.engine.far {
            None => TrafficPath::ContainerAddress,
            Some(_) => TrafficPath::HostNetwork,
        }
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        Box::pin(sweep(&self.engine))
    }
}

impl Drop for DockerRuntime {
    fn drop(&mut self) {
        if let Some(bridge) = self.network.take() {
            drop_aside(&self.engine, |engine| async move {
                // A network that is still in use is left to the next sweep.
                let _ = remove_network(&engine, &bridge.name).await;
            });
        }
    }
}

async fn make_bridge(engine: &Engine) -> Result<Bridge, Problem> {
    let name = unique_name("net");
    let request = NetworkCreateRequest {
        name: name.clone(),
        driver: Some("bridge".to_owned()),
        labels: Some(labels()),
        ..NetworkCreateRequest::default()
    };
    let made = engine.docker.create_network(request).await;
    made.map_err(plain)?;
    let found = engine
        .docker
        .inspect_network(&name, None::<InspectNetworkOptions>)
        .await;
    let found = found.map_err(plain)?;
    let ranges = found.ipam.and_then(|ipam| ipam.config).unwrap_or_default();
    let gateway = ranges
        .into_iter()
        .find_map(|range| range.gateway?.parse().ok());
    let gateway = gateway.ok_or_else(|| format!("{name} has no gateway"))?;
    Ok(Bridge {
        name,
        gateway,
        device: device_to(gateway),
    })
}

/// The device that leads to an address of this host's own networks.
fn device_to(address: IpAddr) -> Option<String> {
    let routes = procfs::net::route().unwrap_or_default();
    closest(routes, address)
}

/// The device of the most specific route to an address that has no gateway.
fn closest(routes: Vec<RouteEntry>, address: IpAddr) -> Option<String> {
    let IpAddr::V4(address) = address else {
        return None;
    };
    let leads = |route: &RouteEntry| {
        let mask = route.mask.to_bits();
        mask != 0
            && route.gateway.is_unspecified()
            && route.destination.to_bits() == address.to_bits() & mask
    };
    let leading = routes.into_iter().filter(leads);
    Some(leading.max_by_key(|route| route.mask)?.iface)
}

/// Returns the engine's response to a start.
fn told(outcome: Result<Result<(), Problem>, oneshot::error::RecvError>) -> Result<(), Problem> {
    outcome.unwrap_or_else(|_| Err("the start was aborted".into()))
}

/// A container whose program has started.
struct Begun {
    /// The container's process, if it is one of this host.
    pid: Option<u32>,
    at_ns: u64,
    address: Option<IpAddr>,
}

impl Begun {
    fn seen(executed: Executed) -> Self {
        Self {
            pid: Some(executed.pid),
            at_ns: executed.at_ns,
            address: executed.address.map(IpAddr::V4),
        }
    }
}

/// Starts a container and waits for its end, concurrently with everything else.
struct Life {
    started: oneshot::Receiver<Result<(), Problem>>,
    exit: watch::Receiver<Option<ExitInfo>>,
    waiter: JoinHandle<()>,
}

impl Life {
    fn begin(engine: &Engine, id: &str) -> Self {
        let (tell_started, started) = oneshot::channel();
        let (tell_exit, exit) = watch::channel(None);
        let (engine, id) = (engine.clone(), id.to_owned());
        let waiter = tokio::spawn(async move {
            let outcome = start(&engine, &id).await;
            let began = outcome.is_ok();
            // Nothing listens any more when the program was seen before the engine reported it.
            let _ = tell_started.send(outcome);
            if began {
                let _ = tell_exit.send(Some(await_exit(&engine, &id).await));
            }
        });
        Self {
            started,
            exit,
            waiter,
        }
    }
}

/// Ends a watch in any case, also when nothing waits for it any more.
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A container that is removed unless its start comes to a good end.
struct Unfinished(Option<(Engine, String)>);

impl Unfinished {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((engine, id)) = self.0.take() {
            drop_aside(&engine, |engine| async move {
                let _ = remove_container(&engine, &id).await;
            });
        }
    }
}

/// When a process started, monotonic ns, rounded down by up to 10 ms.
fn started_ns(pid: u32) -> Option<u64> {
    Some(Stat::of(pid)?.start_ticks.saturating_mul(TICK_NS))
}

#[cfg(test)]
mod tests {
    use procfs::FromBufRead as _;
    use procfs::net::RouteEntries;

    use super::closest;

    /// As the kernel writes them: numbers are in the order of the network.
    const ROUTES: &str = "\
Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
br-494c2bddac01\t0010A8C0\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0
";

    #[test]
    fn the_most_specific_route_without_a_gateway_leads() {
        let check = |address: &str, expect: Option<&str>| {
            let routes = RouteEntries::from_buf_read(ROUTES.as_bytes()).unwrap().0;
            let found = closest(routes, address.parse().unwrap());
            assert_eq!(found.as_deref(), expect, "{address}");
        };
        check("192.168.16.1", Some("br-494c2bddac01"));
        check("192.168.1.1", Some("eth0"));
        check("172.17.0.1", None);
        check("::1", None);
    }
}
