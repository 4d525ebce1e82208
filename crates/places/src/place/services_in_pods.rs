//! Services in Pods of a cluster.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use async_trait::async_trait;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::suite::dependency::{Dependency, Ready};

use crate::StartSpec;
use crate::docker::{ImageSpec, artifact_in_image, base_hint, base_reference, java_in_image};
use crate::kubernetes::{BackendPod, KubernetesRuntime, NodeImage};
use crate::place::launch::{filled, spec};
use crate::place::node_images::NodeImages;
use crate::place::services_here::{ServicesHere, kind};
use crate::services::dependency::{Launched, fill};
use crate::services::{
    BackendKind, Elasticsearch, Service, ServiceHost, Setting, WantedService, elasticsearch,
};

/// Starts services as Pods.
pub(super) struct ServicesInPods {
    pub(super) runtime: Arc<KubernetesRuntime>,
    pub(super) images: Arc<NodeImages>,
    /// For a database server of the user's own, which is asked from here.
    pub(super) here: ServicesHere,
}

#[async_trait(?Send)]
impl ServiceHost for ServicesInPods {
    fn check(&self, wanted: &Dependency) -> anyhow::Result<()> {
        let refused = |why: &str, hint: &str| {
            Err(hinted(
                format_args!("dependency {}: {why}", wanted.name),
                hint,
            ))
        };
        let is_usual = wanted.container.is_empty()
            && wanted.entrypoint.is_empty()
            && wanted.ready == Ready::Connected;
        match (&wanted.image, wanted.port, wanted.volumes.is_empty()) {
            (None, _, _) => refused(
                "a program of this host cannot be a Pod",
                "give it an `image` that the nodes pull",
            ),
            (_, None, _) => refused(
                "in a cluster its `port` must be known",
                "name the `port` on which it listens",
            ),
            (_, _, false) => refused(
                "its volumes are of this host, which the nodes do not see",
                "put the files into its image",
            ),
            _ if !is_usual => refused(
                "its `container`, `entrypoint` and `ready` are for an engine, and Pods do not get \
                 them",
                "use --runtime docker",
            ),
            _ => Ok(()),
        }
    }

    async fn start(
        &self,
        wanted: &WantedService<'_>,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Box<dyn Service>> {
        let one = match wanted {
            WantedService::Backend(one) if one.server.is_none() => one,
            WantedService::Backend(_) => return self.here.start(wanted, setting, known).await,
            WantedService::Dependency(one) => {
                return fill(self.launch(one, setting, known).await?, one, setting).await;
            }
        };
        let data = one.data.clone().unwrap_or_default();
        Ok(Box::new(match kind(one, setting.suite)? {
            BackendKind::Replay(own) => {
                let started = self.runtime.replay(&own.settings).await;
                started.map_err(with_hints)?
            }
            BackendKind::Elasticsearch(own) => self.elasticsearch(&own).await?,
            BackendKind::Postgres => self.postgres(&data).await?,
            BackendKind::PostgresServer(url) => bail!("{url} cannot be started"),
        }))
    }
}

impl ServicesInPods {
    async fn launch(
        &self,
        wanted: &Dependency,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Launched> {
        let port = wanted.port.unwrap_or_default();
        let own = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
        let image = wanted.image.clone().unwrap_or_default();
        let spec = StartSpec {
            image: Some(NodeImage::of_registry(image).in_spec()),
            arguments: filled(&wanted.command, own, known),
            ..spec(wanted, setting, own, known)?
        };
        self.runtime.dependency(&spec).await.map_err(with_hints)
    }

    async fn postgres(&self, data: &Path) -> anyhow::Result<BackendPod> {
        let reference = base_reference("postgresql");
        let found = self.images.engine().await?.image(&reference).await?;
        let image = found.ok_or_else(|| {
            hinted(
                format_args!("the image {reference} of the backend postgres is missing"),
                format!(
                    "{}; or name a server by --backend-url",
                    base_hint(&reference)
                ),
            )
        })?;
        let image = self.images.deliver(&image.reference).await?;
        let started = self.runtime.postgres(&image, data);
        started.await.map_err(with_hints)
    }

    async fn elasticsearch(&self, own: &Elasticsearch) -> anyhow::Result<BackendPod> {
        let artifact = elasticsearch::artifact(own).await?;
        let folder = artifact_in_image(&artifact);
        let spec = ImageSpec {
            suite: "backends".to_owned(),
            contender: "elasticsearch".to_owned(),
            base: "jre-17-locales".to_owned(),
            artifact,
        };
        let image = self.images.engine().await?.assemble(&spec).await?;
        let image = self.images.deliver(&image.reference).await?;
        let port = KubernetesRuntime::BACKEND_PORT;
        let java = java_in_image();
        let command = elasticsearch::command_in_image(&java, &folder, own.heap_mib, port);
        let started = self.runtime.elasticsearch(&image, &command, own.warm_up);
        started.await.map_err(with_hints)
    }
}
