//! The services of a session: started one after the other, metered as one, brought back to their
//! first state before each start of a contender.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::Context as _;
use bakeoff_base::problem::Problem;
use bakeoff_model::measure::resource::{Memory, ResourceSample};

use crate::services::Databases;
use crate::services::service::{Service, ServiceHost, Setting, WantedService};

/// The running services of a session.
#[derive(Default)]
pub struct Services {
    /// Name and service, in the order of their starts.
    dependencies: Vec<(String, Box<dyn Service>)>,
    /// The chosen backend.
    backend: Option<Box<dyn Service>>,
}

impl Services {
    /// Returns a list with nothing but a backend.
    #[must_use]
    pub fn of_backend(backend: Box<dyn Service>) -> Self {
        Self {
            backend: Some(backend),
            ..Self::default()
        }
    }

    /// Starts one more service, and returns where contenders reach it. A dependency is known to
    /// those that are started after it. If it fails, all services have been stopped.
    ///
    /// # Errors
    /// It does not start, or refuses its data.
    pub async fn start(
        &mut self,
        host: &dyn ServiceHost,
        wanted: &WantedService<'_>,
        setting: &Setting<'_>,
    ) -> anyhow::Result<SocketAddr> {
        let started = host.start(wanted, setting, &self.dependencies()).await;
        let started = started.with_context(|| match wanted {
            WantedService::Backend(one) if one.server.is_some() => {
                format!("{} cannot be used", wanted.title())
            }
            _ => format!("{} does not start", wanted.title()),
        });
        let service = match started {
            Ok(service) => service,
            Err(error) => {
                self.stop().await;
                return Err(error);
            }
        };
        let address = service.address();
        match wanted {
            WantedService::Backend(_) => self.backend = Some(service),
            WantedService::Dependency(one) => self.dependencies.push((one.name.clone(), service)),
        }
        Ok(address)
    }

    /// Where contenders reach the backend; `None` without one.
    #[must_use]
    pub fn backend(&self) -> Option<SocketAddr> {
        self.backend.as_ref().map(|backend| backend.address())
    }

    /// Where contenders reach the dependencies, by their names.
    #[must_use]
    pub fn dependencies(&self) -> BTreeMap<String, SocketAddr> {
        let each = self.dependencies.iter();
        each.map(|(name, one)| (name.clone(), one.address()))
            .collect()
    }

    /// The databases of contenders, if one of the services holds databases.
    #[must_use]
    pub fn databases(&self) -> Option<&Databases> {
        self.all().find_map(Service::databases)
    }

    /// Returns the cost of all so far, and what only the backend counts; `None` without services.
    /// Those that have done their work cost nothing any more, and are left out.
    pub async fn sample(&self) -> Option<ResourceSample> {
        let mut sum: Option<ResourceSample> = None;
        for one in self.all().filter(|one| !one.is_done()) {
            let own = one.sample().await;
            sum = Some(match sum {
                Some(sum) => added(sum, own),
                None => own,
            });
        }
        sum
    }

    /// Why one of them responds no more; `None` while all are alive.
    pub async fn ended(&self) -> Option<Problem> {
        for one in self.all() {
            if let Some(why) = one.ended().await {
                return Some(why);
            }
        }
        None
    }

    /// Requests that a replay had no recording of since the last call.
    pub async fn unknown_requests(&self) -> Vec<String> {
        let mut unknown = Vec::new();
        for one in self.all() {
            unknown.extend(one.unknown_requests().await);
        }
        unknown
    }

    /// Restores the data of all for the start of a contender.
    ///
    /// # Errors
    /// The error message.
    pub async fn reset(&self, contender: &str) -> Result<(), Problem> {
        for one in self.all() {
            one.reset(contender).await?;
        }
        Ok(())
    }

    /// Returns the result of a query in the contender's database of the backend.
    ///
    /// # Errors
    /// There are no databases, or the query fails.
    pub async fn query(&self, contender: &str, query: &str) -> Result<String, Problem> {
        let backend = self.backend.as_ref().ok_or("there is no backend")?;
        backend.query(contender, query).await
    }

    /// Stops all, the last one first.
    pub async fn stop(&mut self) {
        if let Some(mut backend) = self.backend.take() {
            backend.stop().await;
        }
        while let Some((_, mut one)) = self.dependencies.pop() {
            one.stop().await;
        }
    }

    fn all(&self) -> impl Iterator<Item = &dyn Service> {
        let dependencies = self.dependencies.iter().map(|(_, one)| &**one);
        self.backend.as_deref().into_iter().chain(dependencies)
    }
}

/// CPU time and memory of both; a value that one of them does not report is absent.
fn added(sum: ResourceSample, own: ResourceSample) -> ResourceSample {
    let cpu = sum.cpu.zip(own.cpu);
    let memory = sum.memory.zip(own.memory);
    ResourceSample {
        cpu: cpu.map(|(mut sum, own)| {
            sum += own;
            sum
        }),
        memory: memory.map(|(a, b)| Memory {
            now_bytes: a.now_bytes + b.now_bytes,
            peak_bytes: a.peak_bytes + b.peak_bytes,
            ..Memory::default()
        }),
        ..sum
    }
}
