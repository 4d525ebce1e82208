//! Contenders as containers of a Docker engine, here or on another host.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bakeoff_build::Built;
use bakeoff_model::suite::Contender;

use crate::contender::Ready;
use crate::contracts::Installer;
use crate::docker::{DockerRuntime, Engine};
use crate::images::{find_engine, in_image};
use crate::place::services_here::{Containers, Reach, ServicesHere};
use crate::place::{GC_LOG_IN_CONTAINERS, Place, far_docker, without_volumes};
use crate::this_host::process_runtime;

/// Opens the engine that the environment names, or the one of this host.
pub(super) async fn open(has_services: bool) -> anyhow::Result<Place> {
    let engine = find_engine().await?;
    let far = engine.far_host().cloned();
    let versions = BTreeMap::from([("docker".to_owned(), engine.version().to_owned())]);
    let installer = InImages {
        engine: engine.clone(),
        far: far.as_ref().map(|far| far.name.clone()),
    };
    let docker = Arc::new(DockerRuntime::new(engine));
    let here = Arc::new(process_runtime()?);
    let services = ServicesHere {
        process: Arc::clone(&here),
        reach: Reach::Bridge(Arc::clone(&docker)),
        containers: match &far {
            None => Containers::Of(Arc::clone(&docker)),
            Some(far) => far_docker::no_containers(far),
        },
    };
    let place = Place {
        versions,
        pins_cores: true,
        gc_log: Some(Path::new(GC_LOG_IN_CONTAINERS)),
        ..Place::from_here(docker, installer, services, here)?
    };
    Ok(match far {
        None => place,
        Some(far) => far_docker::of(place, &far, has_services),
    })
}

/// Brings contenders into images.
struct InImages {
    engine: Engine,
    /// The host of the engine, if that is another one.
    far: Option<String>,
}

#[async_trait(?Send)]
impl Installer for InImages {
    async fn install(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        if let Some(far) = &self.far {
            without_volumes(contender, format_args!("{far} does not"))?;
        }
        in_image(&self.engine, suite, contender, built, jvm_options).await
    }
}
