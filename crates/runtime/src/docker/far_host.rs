//! Another host, whose engine runs the containers: what it is, and how far away.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use bakeoff_model::record::Host;
use bollard::models::SystemInfo;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::time::timeout;
use url::Url;

use super::ssh;

/// Connections by which the distance to an engine's own port is measured; their median counts.
const CONNECTIONS: usize = 11;

/// The same for a server of SSH: it drops logins while ten connections have not logged in
/// (`MaxStartups`), and refuses hosts whose connections often do not (`PerSourcePenalties`).
const CONNECTIONS_SSH: usize = 3;

/// How long one of them may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The usual port of an engine.
const ENGINE_PORT: u16 = 2375;

/// Another host, whose engine runs the containers.
#[derive(Debug, Clone)]
pub struct FarHost {
    /// The name that it gives itself.
    pub name: String,
    /// Its description, as far as its engine gives one.
    pub host: Host,
    /// Where its containers are reached.
    pub(super) address: IpAddr,
    /// This host's address for it.
    pub(super) here: IpAddr,
}

impl FarHost {
    /// Describes the host of an engine, and measures how far away it is.
    ///
    /// # Errors
    /// It has no address, or cannot be connected to from here: then no load would reach it.
    pub(super) async fn of(url: &Url, info: &SystemInfo) -> Result<Self, Problem> {
        let ((name, port), connections) = match url.scheme() {
            "ssh" => (ssh::host_and_port(url).await?, CONNECTIONS_SSH),
            _ => {
                let host = url.host_str().unwrap_or_default();
                let host = host.trim_start_matches('[').trim_end_matches(']');
                let port = url.port().unwrap_or(ENGINE_PORT);
                ((host.to_owned(), port), CONNECTIONS)
            }
        };
        let mut found = lookup_host((name.as_str(), port))
            .await
            .map_err(|error| format!("{name} has no address: {error}"))?;
        let there = found.next();
        let there = there.ok_or_else(|| format!("{name} has no address"))?;
        let here = towards(there)
            .await
            .map_err(|error| format!("there is no route to {name}: {error}"))?;
        let round_trip = round_trip(there, connections)
            .await
            .map_err(|error| format!("load from here cannot reach {there}: {error}"))?;
        Ok(Self {
            name: info.name.clone().unwrap_or_else(|| name.clone()),
            host: Host {
                round_trip_ns: u64::try_from(round_trip.as_nanos()).ok(),
                ..described(info)
            },
            address: there.ip(),
            here,
        })
    }
}

/// Returns the description of a host by its engine.
fn described(info: &SystemInfo) -> Host {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    Host {
        kernel: text(&info.kernel_version),
        cpu_model: text(&info.architecture),
        cores: (info.ncpu)
            .and_then(|cores| usize::try_from(cores).ok())
            .unwrap_or(1),
        memory_bytes: (info.mem_total)
            .and_then(|bytes| u64::try_from(bytes).ok())
            .unwrap_or_default(),
        os: text(&info.operating_system),
        ..Host::default()
    }
}

/// The address from which this host speaks to another one. Nothing is sent.
async fn towards(there: SocketAddr) -> std::io::Result<IpAddr> {
    let any: SocketAddr = match there {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(there).await?;
    Ok(socket.local_addr()?.ip())
}

/// The median time of some TCP handshakes, each of which takes one round trip.
async fn round_trip(there: SocketAddr, connections: usize) -> std::io::Result<Duration> {
    let mut times = Vec::with_capacity(connections);
    for _ in 0..connections {
        let began = Instant::now();
        timeout(PATIENCE, TcpStream::connect(there)).await??;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[connections / 2])
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use bollard::models::SystemInfo;
    use tokio::net::TcpListener;
    use url::Url;

    use super::FarHost;

    #[tokio::test]
    async fn a_host_is_described_and_its_distance_measured() {
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = Url::parse(&format!("tcp://{address}")).unwrap();
        let info = SystemInfo {
            name: Some("bench-2".to_owned()),
            ncpu: Some(8),
            mem_total: Some(1 << 34),
            ..SystemInfo::default()
        };
        let far = FarHost::of(&url, &info).await.unwrap();
        assert_eq!((far.name.as_str(), far.host.cores), ("bench-2", 8));
        assert_eq!(far.here, IpAddr::V4(Ipv4Addr::LOCALHOST));
        let round_trip_ns = far.host.round_trip_ns.unwrap();
        assert!((1..1_000_000_000).contains(&round_trip_ns), "{far:?}");
        drop(listener);
        let error = FarHost::of(&url, &info).await.unwrap_err();
        assert!(
            error.message().starts_with("load from here cannot reach"),
            "{error}"
        );
    }
}
