//! Contenders as processes of another host, each in a separate group if permitted there. They share
//! that host's network.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bakeoff_base::problem::Problem;
use bakeoff_build::log::Log;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};

use crate::api::{BoxFuture, Instance, Runtime, StartError, StartSpec, SweepError};
use crate::remote::client::strange;
use crate::remote::protocol::{
    ProcessReply, ProcessRequest, RemoteReply, RemoteRequest, RemoteStart,
};
use crate::round_trip::Distance;
use crate::ssh::host::SshHost;
use crate::ssh::instance::{RemoteProcess, SshInstance};

/// Starts processes of another host. Make one a session.
#[derive(Debug)]
pub struct SshRuntime {
    host: Arc<SshHost>,
    distance: Distance,
    enforcement: Enforcement,
    /// The things that were removed there, until they are asked for.
    swept: Mutex<Vec<String>>,
}

impl SshRuntime {
    /// Removes what dead sessions left on a host, and finds out whether limits can be enforced
    /// there.
    ///
    /// # Errors
    /// There is no way, something cannot be removed, or no folder be made.
    pub async fn begin(host: Arc<SshHost>) -> Result<Self, Problem> {
        let distance = host.distance().await?;
        let reply = host
            .ask(&RemoteRequest::Process(ProcessRequest::Sweep))
            .await?;
        let RemoteReply::Process(ProcessReply::Swept {
            enforcement,
            removed,
        }) = reply
        else {
            return Err(strange(reply).context(host.name()));
        };
        let of_host = |line: String| format!("{line} of {}", host.name());
        let swept = removed.into_iter().map(of_host).collect();
        Ok(Self {
            swept: Mutex::new(swept),
            host,
            distance,
            enforcement,
        })
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &SshHost {
        &self.host
    }

    /// Returns where the host was connected to: contenders are reached at the same address.
    #[must_use]
    pub fn reached(&self) -> SocketAddr {
        self.distance.there
    }

    /// Returns where contenders reach this host: backends listen there.
    #[must_use]
    pub fn gateway(&self) -> IpAddr {
        self.distance.here
    }

    /// Returns the median round trip from here, ns.
    #[must_use]
    pub fn round_trip_ns(&self) -> u64 {
        self.distance.round_trip_ns
    }

    async fn start_there(&self, spec: &StartSpec) -> Result<SshInstance, StartError> {
        let failed = |why: Problem| StartError::failed(&spec.label, why);
        // Its output comes with its end; whether there is a place for it must show before.
        Log::create(&spec.log_path).map_err(|error| {
            let path = spec.log_path.display();
            failed(format!("cannot write the log {path}: {error}").into())
        })?;
        let order = order(spec).map_err(failed)?;
        let mut answers = self.host.answers().map_err(failed)?;
        let asked = answers
            .ask(&RemoteRequest::Process(ProcessRequest::Start(Box::new(
                order,
            ))))
            .await;
        match asked.map_err(failed)? {
            RemoteReply::Process(ProcessReply::Started) => Ok(SshInstance::new(RemoteProcess {
                label: spec.label.clone(),
                host: self.host.name().to_owned(),
                address: SocketAddr::new(self.distance.there.ip(), spec.port),
                answers,
                wire: spec.wire.clone(),
                log_path: spec.log_path.clone(),
            })),
            RemoteReply::Process(ProcessReply::NotStarted(error)) => {
                Err(there(error, self.host.name()))
            }
            other => Err(failed(strange(other))),
        }
    }
}

fn order(spec: &StartSpec) -> Result<RemoteStart, Problem> {
    let tls = spec.wire.tls.as_ref().map(bakeoff_tls::inlined);
    let grpc = spec.wire.grpc.as_ref();
    Ok(RemoteStart {
        label: spec.label.clone(),
        command: spec.command.clone(),
        env: spec.env.clone(),
        workdir: spec.workdir.display().to_string(),
        limits: spec.limits,
        port: spec.port,
        ready_path: spec.ready_path.clone(),
        tls: tls.transpose().map_err(Problem::new)?,
        grpc: grpc.map(|schema| schema.descriptors().into()),
    })
}

/// The error with the name of the host of which it is true.
fn there(error: StartError, host: &str) -> StartError {
    match error {
        StartError::PortInUse {
            label,
            port,
            listener,
        } => {
            let listener = listener.unwrap_or_else(|| "another process".to_owned());
            StartError::PortInUse {
                label,
                port,
                listener: Some(format!("{listener} of {host}")),
            }
        }
        StartError::NoProgram { label, program } => StartError::NoProgram {
            label,
            program: format!("{program} on {host}"),
        },
        StartError::Failed(problem) => StartError::Failed(problem.context(host)),
        StartError::Host(problem) => StartError::Host(problem.context(host)),
    }
}

impl Runtime for SshRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        Box::pin(async move {
            let instance = self.start_there(spec).await?;
            Ok(Box::new(instance) as Box<dyn Instance>)
        })
    }

    fn enforcement(&self) -> Enforcement {
        self.enforcement.clone()
    }

    fn traffic_path(&self) -> TrafficPath {
        TrafficPath::HostNetwork
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        let swept = self.swept.lock();
        let swept = std::mem::take(&mut *swept.unwrap_or_else(PoisonError::into_inner));
        Box::pin(async move { Ok(swept) })
    }
}
