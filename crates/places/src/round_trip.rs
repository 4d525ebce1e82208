//! The round trip to another host, and this host's address as seen from there.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::time::timeout;

/// Connections by which the distance to a service is measured; their median counts.
pub(crate) const CONNECTIONS: usize = 11;

/// Connections to a server of SSH: it drops logins while ten connections have not logged in
/// (`MaxStartups`), and refuses hosts whose connections often do not (`PerSourcePenalties`).
pub(crate) const CONNECTIONS_SSH: usize = 3;

/// How long one of them may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The way between this host and another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distance {
    /// Where the other host was connected to.
    pub(crate) there: SocketAddr,
    /// This host's address, as the other host reaches it.
    pub(crate) here: IpAddr,
    /// The median round trip, ns.
    pub(crate) round_trip_ns: u64,
}

impl Distance {
    /// Measures the way to a port of a host, by this many connections.
    ///
    /// # Errors
    /// It has no address, or cannot be connected to from here: then no load would reach it.
    pub(crate) async fn to(name: &str, port: u16, connections: usize) -> Result<Self, Problem> {
        let mut found = lookup_host((name, port))
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
            there,
            here,
            round_trip_ns: u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX),
        })
    }
}

/// Returns the address from which this host speaks to another one. Nothing is sent.
async fn towards(there: SocketAddr) -> io::Result<IpAddr> {
    let any: SocketAddr = match there {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(there).await?;
    Ok(socket.local_addr()?.ip())
}

/// Returns the median time of some TCP handshakes, each of which takes one round trip.
pub(crate) async fn round_trip(there: SocketAddr, connections: usize) -> io::Result<Duration> {
    let mut times = Vec::with_capacity(connections);
    for _ in 0..connections.max(1) {
        let began = Instant::now();
        timeout(PATIENCE, TcpStream::connect(there)).await??;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}
