//! A way from this host to a port of a Pod, through the API server: addresses of Pods need not be
//! reachable from where the session is.

use std::net::{Ipv4Addr, SocketAddr};

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// An address of this host's loopback that leads to a port of a Pod, until it is dropped.
pub(crate) struct Forward {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Forward {
    /// Opens a way. The Pod is asked only for a connection.
    ///
    /// # Errors
    /// This host has no free port.
    pub(crate) async fn to(pods: &Api<Pod>, name: &str, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (pods, name) = (pods.clone(), name.to_owned());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(carry(pods.clone(), name.clone(), port, stream));
            }
        });
        Ok(Self { address, accepting })
    }

    /// Returns the address of the forward's end on this host.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Copies both directions of a connection. If the Pod cannot be reached, the client sees its
/// connection closed, which is what a service that is not there looks like.
async fn carry(pods: Api<Pod>, name: String, port: u16, mut stream: TcpStream) {
    let Ok(mut forwarder) = pods.portforward(&name, &[port]).await else {
        return;
    };
    if let Some(mut there) = forwarder.take_stream(port) {
        let _ = copy_bidirectional(&mut stream, &mut there).await;
    }
}
