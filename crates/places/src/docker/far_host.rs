//! Another host, whose engine runs the containers: its description and the round trip to it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use bakeoff_base::problem::Problem;
use bakeoff_model::record::Host;
use bakeoff_model::text::ssh_address::SshAddress;
use bollard::models::SystemInfo;
use tokio::sync::Mutex;
use url::Url;

use crate::round_trip::{CONNECTIONS, CONNECTIONS_SSH, Distance};
use crate::ssh::host_and_port;

/// The usual port of an engine.
const ENGINE_PORT: u16 = 2375;

/// Another host, whose engine runs the containers.
#[derive(Debug, Clone)]
pub struct FarHost {
    /// The name that the host gives itself.
    pub name: String,
    /// Description of the host, as far as its engine gives one.
    pub host: Host,
    /// The address of the connection to the host: its containers are reached at the same address.
    pub reached: SocketAddr,
    /// This host's address, as the other host reaches it.
    pub(super) here: IpAddr,
}

impl FarHost {
    /// Describes the host of an engine, and says how far away it is, which is measured once.
    ///
    /// # Errors
    /// It has no address, or cannot be connected to from here: then no load would reach it.
    pub(super) async fn of(url: &Url, info: &SystemInfo) -> Result<Self, Problem> {
        // A session connects to its engine several times.
        static MEASURED: Mutex<BTreeMap<String, (String, Distance)>> =
            Mutex::const_new(BTreeMap::new());
        let mut measured = MEASURED.lock().await;
        let (name, distance) = match measured.get(url.as_str()) {
            Some(known) => known.clone(),
            None => {
                let found = distance(url).await?;
                measured.insert(url.to_string(), found.clone());
                found
            }
        };
        Ok(Self {
            name: info.name.clone().unwrap_or(name),
            host: Host {
                round_trip_ns: Some(distance.round_trip_ns),
                ..described(info)
            },
            reached: distance.there,
            here: distance.here,
        })
    }
}

/// Returns the name of an engine's host, and measures how far away it is.
async fn distance(url: &Url) -> Result<(String, Distance), Problem> {
    let ((name, port), connections) = match url.scheme() {
        "ssh" => {
            let found = host_and_port(&SshAddress::of(url)?).await?;
            (found, CONNECTIONS_SSH)
        }
        _ => {
            let host = url.host_str().unwrap_or_default();
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let port = url.port().unwrap_or(ENGINE_PORT);
            ((host.to_owned(), port), CONNECTIONS)
        }
    };
    let distance = Distance::to(&name, port, connections).await?;
    Ok((name, distance))
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
        // The measured value holds as long as this process lives.
        let again = FarHost::of(&url, &info).await.unwrap();
        assert_eq!(again.host.round_trip_ns, Some(round_trip_ns));
        let refused = url.as_str().replace("127.0.0.2", "127.0.0.3");
        let error = FarHost::of(&Url::parse(&refused).unwrap(), &info).await;
        let error = error.unwrap_err();
        assert!(
            error.message().starts_with("load from here cannot reach"),
            "{error}"
        );
    }
}
