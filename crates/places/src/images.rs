//! Images of contenders: built by an engine, and delivered to the nodes that run them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_build::Built;
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::cluster_settings::ClusterSettings;

use crate::contender::{Ready, resolve};
use crate::docker::{Engine, Image, ImageSpec, artifact_in_image, is_elsewhere, java_in_image};
use crate::kubernetes::{NodeImage, PodImage};

/// How images come to the nodes of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delivery {
    /// A command loads archives into the nodes.
    Loader(String),
    /// Images are pushed to a registry with this prefix of names.
    Registry(String),
    /// No way is given.
    Nothing,
}

impl Delivery {
    /// Returns the delivery that the user named; otherwise the one of known local clusters.
    pub(super) fn of(settings: &ClusterSettings, context: &str) -> Self {
        match (&settings.registry, settings.loader(context)) {
            (Some(prefix), _) => Self::Registry(prefix.trim_end_matches('/').to_owned()),
            (None, Some(command)) => Self::Loader(command),
            (None, None) => Self::Nothing,
        }
    }

    /// Brings an image that an engine has to the nodes.
    pub(super) async fn deliver(
        &self,
        engine: &Engine,
        reference: &str,
        folder: &Path,
    ) -> anyhow::Result<NodeImage> {
        match self {
            Self::Loader(command) => {
                let name = reference.replace(['/', ':'], "-");
                let archive = folder.join(format!("{name}.tar"));
                let saved = engine.save(reference, &archive).await;
                saved.map_err(|why| {
                    why.context(format_args!("image {reference} cannot be saved"))
                })?;
                let image = PodImage {
                    reference: reference.to_owned(),
                    archive: archive.clone(),
                };
                let command = command.clone();
                let loading = tokio::task::spawn_blocking(move || image.load(&command));
                let loaded = loading.await?.map_err(with_hints);
                // Archives are as large as a JDK; they go one by one.
                let _ = tokio::fs::remove_file(&archive).await;
                loaded
            }
            Self::Registry(prefix) => push(engine, reference, prefix).await,
            Self::Nothing => bail!("no way to load images onto the nodes is configured"),
        }
    }
}

/// Pushes an image, with the credentials that the user's `docker` has.
async fn push(engine: &Engine, reference: &str, prefix: &str) -> anyhow::Result<NodeImage> {
    let target = format!("{prefix}/{reference}");
    docker(engine, &["tag", reference, &target]).await?;
    let said = docker(engine, &["push", &target]).await?;
    // `TAG: digest: sha256:HEX size: BYTES` is the last line.
    let digest = said
        .split_whitespace()
        .find(|word| word.starts_with("sha256:"));
    let digest = digest.with_context(|| format!("`docker push {target}` names no digest"))?;
    let name = target
        .rsplit_once(':')
        .map_or(target.as_str(), |(name, _)| name);
    Ok(NodeImage::of_registry(format!("{name}@{digest}")))
}

async fn docker(engine: &Engine, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new("docker");
    command.args(["--host", engine.host()]).args(arguments);
    let output = command.output().await;
    let output = output.context("cannot run `docker`, which pushes images")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(hinted(
        format_args!("`docker {}`: {}", arguments.join(" "), said.trim()),
        "may you push there? `docker login` keeps credentials",
    ))
}

/// Makes the image of this program with recordings, and pushes it.
pub(super) async fn push_program(
    engine: &Engine,
    program: &Path,
    recordings: Option<PathBuf>,
    prefix: &str,
) -> anyhow::Result<NodeImage> {
    let image = engine.of_program(program, recordings.as_deref()).await;
    let image = image.map_err(|why| why.context("cannot make an image of this program"))?;
    push(engine, &image.reference, prefix).await
}

/// Looks an image up, and pulls it if the engine lacks it.
pub(super) async fn pulled(engine: &Engine, reference: &str) -> anyhow::Result<Image> {
    let found = engine.image_or_pull(reference).await;
    Ok(found.map_err(|why| why.context(format_args!("image {reference} cannot be pulled")))?)
}

/// The image that a contender is, or its artifact put on its base image.
pub(super) async fn in_image(
    engine: &Engine,
    suite: &str,
    contender: &Contender,
    built: Built,
    jvm_options: Vec<String>,
) -> anyhow::Result<Ready> {
    if let Some(reference) = &contender.image {
        let image = pulled(engine, reference).await?;
        return Ok(Ready {
            command: contender.image_entrypoint.clone(),
            image: Some(image.reference),
            image_digest: Some(image.id),
            ..elsewhere(built)
        });
    }
    let Some(artifact) = built
        .artifact
        .as_ref()
        .map(|artifact| artifact.path.clone())
    else {
        bail!("it has neither `artifact` nor `image.name`, so it cannot run in a container");
    };
    let path = artifact_in_image(&artifact);
    let spec = ImageSpec {
        suite: suite.to_owned(),
        contender: contender.name.clone(),
        base: contender.image_base.clone(),
        artifact,
    };
    let image = engine.assemble(&spec).await?;
    let java = contender.jdk.map(|_| java_in_image());
    let (command, probes) = resolve(contender, path, java, jvm_options)?;
    let (image, digest) = (Some(image.reference), Some(image.id));
    Ok(Ready {
        built,
        command,
        probes,
        // Where such images keep the artifact.
        workdir: PathBuf::from("/app"),
        image,
        image_digest: digest,
        artifact_bytes: None,
    })
}

/// Returns a contender of which nothing is made: a service that runs already, an image of a
/// registry.
pub(super) fn elsewhere(built: Built) -> Ready {
    Ready {
        built,
        command: Vec::new(),
        probes: Vec::new(),
        workdir: PathBuf::new(),
        image: None,
        image_digest: None,
        artifact_bytes: None,
    }
}

/// The Docker engine that would be used, in one line.
pub async fn docker_engine() -> anyhow::Result<String> {
    let engine = find_engine().await?;
    Ok(format!("{} at {}", engine.version(), engine.host()))
}

/// Whether the engine that would be used is on another host.
pub fn engine_is_elsewhere() -> bool {
    std::env::var("DOCKER_HOST").is_ok_and(|host| is_elsewhere(&host))
}

/// Finds the engine that the environment names, or the one of this host.
///
/// # Errors
/// There is none, or it does not respond.
pub async fn find_engine() -> anyhow::Result<Engine> {
    let host = std::env::var("DOCKER_HOST").ok();
    Ok(Engine::find(host.as_deref(), &bakeoff_build::cache_dir()).await?)
}
