//! Images: a built artifact on a base, assembled by the engine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use bollard::body_full;
use bollard::query_parameters::{BuildImageOptions, CreateImageOptions};
use futures_util::StreamExt as _;
use tokio::io::AsyncWriteExt as _;

use crate::docker::context::Context;
use crate::docker::engine::{Engine, is_missing, plain};
use crate::dynamic_libraries::{interpreter, libraries};
use crate::remote::{PROGRAM, RECORDINGS};

/// Where artifacts are in images.
const APP: &str = "/app";

/// The empty base image.
const EMPTY: &str = "scratch";

/// Digits of the digest in a tag.
const TAG_DIGITS: usize = 12;

/// The parts of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSpec {
    /// The suite.
    pub suite: String,
    /// The contender.
    pub contender: String,
    /// `debian`, `scratch`, `jre-17`, `jre-25`, or an image of a registry.
    pub base: String,
    /// The artifact on this host: a file or a folder.
    pub artifact: PathBuf,
}

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The name from which containers are started:
    /// `bakeoff/locations/http4k-3/undertow:0123456789ab`.
    pub reference: String,
    /// `sha256:HEX`, by which the engine knows the image.
    pub id: String,
    /// Size with all its layers, bytes.
    pub bytes: u64,
    /// The labels of the image.
    pub labels: HashMap<String, String>,
    /// The first TCP port that the image exposes.
    pub port: Option<u16>,
}

/// Why an image could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The base is not there: the contender must be skipped with this line.
    #[error("{contender}: base image {base} is missing: {message}")]
    NoBase {
        /// The contender.
        contender: String,
        /// The base, as the engine would know it.
        base: String,
        /// The command that provides it, or the message of the registry.
        message: String,
    },
    /// The program is linked dynamically, which an empty image cannot start.
    #[error(
        "{contender}: {program} is linked dynamically: it wants {interpreter}, which `scratch` \
         does not have; link it statically, or say base = \"debian\""
    )]
    NoInterpreter {
        /// The contender.
        contender: String,
        /// The program in the image.
        program: String,
        /// The program's interpreter.
        interpreter: String,
    },
    /// Anything else.
    #[error("{contender}: cannot make its image: {message}")]
    Failed {
        /// The contender.
        contender: String,
        /// The event.
        message: String,
    },
}

/// Where an artifact is in the images that [`Engine::assemble`] makes: `/app/NAME`.
#[must_use]
pub fn artifact_in_image(artifact: &Path) -> String {
    let name = artifact.file_name().unwrap_or_default();
    format!("{APP}/{}", name.to_string_lossy())
}

/// The `java` of the bases `jre-17` and `jre-25`.
#[must_use]
pub fn java_in_image() -> String {
    "/opt/jre/bin/java".to_owned()
}

/// Returns how a base image of ours is made if no registry has it.
#[must_use]
pub fn base_hint(reference: &str) -> String {
    let (base, _) = reference.rsplit_once(':').unwrap_or((reference, ""));
    let content = match base.rsplit_once('/') {
        Some((_, "debian")) => "Debian's libraries",
        Some((_, "postgresql")) => "Debian's PostgreSQL",
        _ => "Java at /opt/jre",
    };
    format!("give an image with {content} this name: `docker tag IMAGE {base}`")
}

/// Our name of a base that `cargo offline base-images` makes, else the name itself.
#[must_use]
pub fn base_reference(base: &str) -> String {
    let jre = base
        .strip_prefix("jre-")
        .map(|version| version.strip_suffix("-locales").unwrap_or(version))
        .is_some_and(|major| major.parse::<u32>().is_ok());
    if ["debian", "postgresql"].contains(&base) || jre {
        format!("bakeoff-base/{base}:latest")
    } else {
        base.to_owned()
    }
}

impl Engine {
    /// Makes the image of a contender: its artifact in `/app` on the base. An image of the same
    /// content is used again.
    ///
    /// # Errors
    /// The base is missing, the artifact cannot be read, or the engine refuses.
    pub async fn assemble(&self, spec: &ImageSpec) -> Result<Image, ImageError> {
        let failed = |why: Problem| ImageError::Failed {
            contender: spec.contender.clone(),
            message: why.to_string(),
        };
        let base = base_reference(&spec.base);
        let base_id = self.base_id(spec, &base).await?;
        if base == EMPTY
            && let Some(interpreter) = interpreter(&spec.artifact)
        {
            return Err(ImageError::NoInterpreter {
                contender: spec.contender.clone(),
                program: artifact_in_image(&spec.artifact),
                interpreter,
            });
        }
        let files = [(spec.artifact.clone(), artifact_in_image(&spec.artifact))];
        let packing = tokio::task::spawn_blocking(move || Context::of_files(&base, &files));
        let context = packing
            .await
            .map_err(|error| failed(Problem::new(error)))?
            .map_err(|error| failed(Problem::new(error)))?;
        let digest = context.digest(&base_id);
        let reference = format!("{}:{}", repository(spec), &digest[..TAG_DIGITS]);
        if let Some(image) = self.image(&reference).await.map_err(failed)? {
            return Ok(image);
        }
        let labels = [
            ("bakeoff.suite", &spec.suite),
            ("bakeoff.contender", &spec.contender),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.clone()));
        self.build(&reference, context, HashMap::from(labels))
            .await
            .map_err(failed)
    }

    /// The image of this name; one of a registry is pulled when it is not here.
    ///
    /// # Errors
    /// It is neither here nor in its registry.
    pub async fn image_or_pull(&self, reference: &str) -> Result<Image, Problem> {
        if let Some(image) = self.image(reference).await? {
            return Ok(image);
        }
        self.pull(reference).await?;
        let image = self.image(reference).await?;
        image.ok_or_else(|| "the engine pulled it and has it not".into())
    }

    /// The id of the base; one of a registry is pulled when it is not here.
    async fn base_id(&self, spec: &ImageSpec, base: &str) -> Result<String, ImageError> {
        let missing = |why: Problem| ImageError::NoBase {
            contender: spec.contender.clone(),
            base: base.to_owned(),
            message: why.to_string(),
        };
        if base == EMPTY {
            return Ok(base.to_owned());
        }
        if base == spec.base {
            let image = self.image_or_pull(base).await.map_err(missing)?;
            return Ok(image.id);
        }
        let image = self.image(base).await.map_err(missing)?;
        image
            .map(|image| image.id)
            .ok_or_else(|| missing(base_hint(base).into()))
    }

    /// Looks an image up.
    ///
    /// # Errors
    /// The engine does not respond.
    pub async fn image(&self, reference: &str) -> Result<Option<Image>, Problem> {
        let found = match self.docker.inspect_image(reference).await {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(plain(error)),
        };
        let config = found.config.unwrap_or_default();
        let exposed = config.exposed_ports.unwrap_or_default();
        let mut ports: Vec<u16> = exposed.iter().filter_map(|port| tcp_port(port)).collect();
        ports.sort_unstable();
        Ok(Some(Image {
            reference: reference.to_owned(),
            id: found.id.unwrap_or_default(),
            bytes: found
                .size
                .and_then(|size| u64::try_from(size).ok())
                .unwrap_or(0),
            labels: config.labels.unwrap_or_default(),
            port: ports.first().copied(),
        }))
    }

    /// Makes an image of a build context under a name.
    ///
    /// # Errors
    /// The engine refuses; the message is its own.
    pub async fn build(
        &self,
        reference: &str,
        context: Context,
        labels: HashMap<String, String>,
    ) -> Result<Image, Problem> {
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(reference.to_owned()),
            labels: Some(labels),
            networkmode: Some("none".to_owned()),
            // The image of a name may have changed since the last build.
            nocache: true,
            rm: true,
            forcerm: true,
            ..BuildImageOptions::default()
        };
        let mut building = std::pin::pin!(self.docker.build_image(
            options,
            None,
            Some(body_full(context.bytes.into()))
        ));
        while let Some(step) = building.next().await {
            let step = step.map_err(plain)?;
            if let Some(message) = step.error_detail.and_then(|detail| detail.message) {
                return Err(message.into());
            }
        }
        let image = self.image(reference).await?;
        image.ok_or_else(|| format!("the engine built {reference} and has it not").into())
    }

    /// Makes the image of this program, with the libraries that it needs and recordings.
    ///
    /// # Errors
    /// A file cannot be read, or the engine refuses.
    pub async fn of_program(
        &self,
        program: &Path,
        recordings: Option<&Path>,
    ) -> Result<Image, Problem> {
        let libraries = libraries(program).map_err(Problem::new)?;
        let mut files = vec![(program.to_owned(), PROGRAM.to_owned())];
        for library in libraries {
            let inside = library.display().to_string();
            // What stands there is mostly a link to a file of another name.
            let file = library
                .canonicalize()
                .map_err(|error| format!("{inside}: {error}"))?;
            files.push((file, inside));
        }
        let folder = recordings.map(|folder| (folder.to_owned(), RECORDINGS.to_owned()));
        files.extend(folder);
        let packing = tokio::task::spawn_blocking(move || Context::of_files(EMPTY, &files));
        let context = packing.await.map_err(Problem::new)?;
        let context = context.map_err(Problem::new)?;
        let digest = context.digest(EMPTY);
        let reference = format!("bakeoff/program:{}", &digest[..TAG_DIGITS]);
        match self.image(&reference).await? {
            Some(image) => Ok(image),
            None => self.build(&reference, context, HashMap::new()).await,
        }
    }

    /// Writes an image into a file, as an archive that engines and nodes can load.
    ///
    /// # Errors
    /// The engine does not have it, or the file cannot be written.
    pub async fn save(&self, reference: &str, archive: &Path) -> Result<(), Problem> {
        let failed = |error: std::io::Error| Problem::new(error).context(archive.display());
        let mut file = tokio::fs::File::create(archive).await.map_err(failed)?;
        let mut saving = std::pin::pin!(self.docker.export_image(reference));
        while let Some(part) = saving.next().await {
            let part = part.map_err(plain)?;
            file.write_all(&part).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)
    }

    async fn pull(&self, reference: &str) -> Result<(), Problem> {
        let options = CreateImageOptions {
            from_image: Some(with_tag(reference)),
            ..CreateImageOptions::default()
        };
        let mut pulling = std::pin::pin!(self.docker.create_image(Some(options), None, None));
        while let Some(step) = pulling.next().await {
            let step = step.map_err(plain)?;
            if let Some(message) = step.error_detail.and_then(|detail| detail.message) {
                return Err(message.into());
            }
        }
        Ok(())
    }
}

/// Without a tag, an engine pulls every tag there is.
fn with_tag(reference: &str) -> String {
    let name = reference.rsplit('/').next().unwrap_or(reference);
    if name.contains([':', '@']) {
        reference.to_owned()
    } else {
        format!("{reference}:latest")
    }
}

/// `bakeoff/SUITE/CONTENDER`, in the few letters that names of images have.
fn repository(spec: &ImageSpec) -> String {
    let whole = format!("bakeoff/{}/{}", spec.suite, spec.contender);
    let parts: Vec<String> = whole.split('/').map(component).collect();
    parts.join("/")
}

/// Lower-case letters and digits, with single separators between them.
fn component(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.to_ascii_lowercase().chars() {
        if letter.is_ascii_alphanumeric() {
            plain.push(letter);
        } else if plain.ends_with(|last: char| last.is_ascii_alphanumeric()) {
            plain.push(if letter == '.' { '.' } else { '-' });
        }
    }
    let plain = plain.trim_end_matches(['.', '-']);
    if plain.is_empty() {
        "x".to_owned()
    } else {
        plain.to_owned()
    }
}

/// The port of `6379/tcp` or `6379`.
fn tcp_port(exposed: &str) -> Option<u16> {
    let (port, protocol) = exposed.split_once('/').unwrap_or((exposed, "tcp"));
    (protocol == "tcp").then(|| port.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ImageSpec, artifact_in_image, base_reference, repository, with_tag};

    #[test]
    fn names_fit_the_engine() {
        for (contender, expect) in [
            ("rocket-0.4", "bakeoff/locations/rocket-0.4"),
            ("http4k-3/Apache 4", "bakeoff/locations/http4k-3/apache-4"),
            ("a[workers=16]", "bakeoff/locations/a-workers-16"),
            ("ä/__", "bakeoff/locations/x/x"),
        ] {
            let spec = ImageSpec {
                suite: "locations".to_owned(),
                contender: contender.to_owned(),
                base: "scratch".to_owned(),
                artifact: "x".into(),
            };
            assert_eq!(repository(&spec), expect);
        }
        assert_eq!(with_tag("host:5000/a"), "host:5000/a:latest");
        assert_eq!(with_tag("debian:12-slim"), "debian:12-slim");
        assert_eq!(base_reference("jre-25"), "bakeoff-base/jre-25:latest");
        assert_eq!(base_reference("jre-x"), "jre-x");
        let with_locales = "bakeoff-base/jre-17-locales:latest";
        assert_eq!(base_reference("jre-17-locales"), with_locales);
        assert_eq!(artifact_in_image(Path::new("/x/y.jar")), "/app/y.jar");
    }
}
