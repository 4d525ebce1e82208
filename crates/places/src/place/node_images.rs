//! The way of images to the nodes of a cluster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use tokio::sync::OnceCell;

use crate::docker::Engine;
use crate::images::{self, Delivery, find_engine};
use crate::kubernetes::{Cluster, NodeImage, PodImage};
use crate::place::WantedPlace;
use crate::sweep::RunFolder;

/// Images on their way to the nodes.
pub(super) struct NodeImages {
    delivery: Delivery,
    /// Archives on their way.
    folder: RunFolder,
    engine: OnceCell<Engine>,
    /// Images that were delivered: as the engine knows them, as Pods name them.
    delivered: Mutex<BTreeMap<String, NodeImage>>,
}

impl NodeImages {
    pub(super) fn of(delivery: Delivery) -> anyhow::Result<Self> {
        Ok(Self {
            delivery,
            folder: RunFolder::temporary()?,
            engine: OnceCell::new(),
            delivered: Mutex::default(),
        })
    }

    /// Returns the engine that makes images.
    pub(super) async fn engine(&self) -> anyhow::Result<&Engine> {
        self.engine.get_or_try_init(find_engine).await
    }

    /// Brings this program to the nodes, with the recordings of the replay backend if that is
    /// wanted.
    pub(super) async fn program(
        &self,
        settings: &ClusterSettings,
        wanted: &WantedPlace<'_>,
        cluster: &Cluster,
    ) -> anyhow::Result<NodeImage> {
        let (program, recordings) = (pod_program(settings)?, wanted.recordings.clone());
        match &self.delivery {
            Delivery::Loader(command) => {
                load_program(program, recordings, self.folder.path(), command).await
            }
            Delivery::Registry(prefix) => {
                images::push_program(self.engine().await?, &program, recordings, prefix).await
            }
            Delivery::Nothing => Err(no_delivery(cluster.context())),
        }
    }

    /// Brings an image that the engine has to the nodes, once.
    pub(super) async fn deliver(&self, reference: &str) -> anyhow::Result<NodeImage> {
        let known = |delivered: &Mutex<BTreeMap<String, NodeImage>>| {
            let delivered = delivered.lock().unwrap_or_else(PoisonError::into_inner);
            delivered.get(reference).cloned()
        };
        if let Some(image) = known(&self.delivered) {
            return Ok(image);
        }
        let engine = self.engine().await?;
        let delivering = self.delivery.deliver(engine, reference, self.folder.path());
        let image = delivering.await?;
        let delivered = self.delivered.lock();
        let mut delivered = delivered.unwrap_or_else(PoisonError::into_inner);
        delivered.insert(reference.to_owned(), image.clone());
        Ok(image)
    }
}

/// Returns the program that runs in Pods.
///
/// # Errors
/// This program's own file is gone.
pub fn pod_program(settings: &ClusterSettings) -> anyhow::Result<PathBuf> {
    match &settings.program {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe().context("cannot find this program's own file"),
    }
}

async fn load_program(
    program: PathBuf,
    recordings: Option<PathBuf>,
    folder: &Path,
    command: &str,
) -> anyhow::Result<NodeImage> {
    let (folder, command) = (folder.to_owned(), command.to_owned());
    let loading = tokio::task::spawn_blocking(move || {
        let image = PodImage::of_program(&program, recordings.as_deref(), &folder)?;
        image.load(&command)
    });
    loading.await?.map_err(with_hints)
}

fn no_delivery(context: &str) -> anyhow::Error {
    hinted(
        format_args!("no way to load images onto the nodes of the cluster {context} is configured"),
        "--image-registry names a registry that the nodes pull from, or --image-loader a command \
         that loads an archive, `{}`, into them",
    )
}
