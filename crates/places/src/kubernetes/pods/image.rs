//! Images on their way to the nodes. This program's own image needs no engine: it is one layer with
//! the program, its libraries and the recordings, written as an OCI archive.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::dynamic_libraries::libraries;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::pods::node_image::NodeImage;
use crate::remote::{PROGRAM, RECORDINGS};

/// An image in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodImage {
    /// The name of the image for Pods.
    pub reference: String,
    /// The archive.
    pub archive: PathBuf,
}

impl PodImage {
    /// Writes the image of this program with its libraries and recordings into a folder.
    ///
    /// # Errors
    /// A library is missing, or a file cannot be read or written.
    pub fn of_program(
        program: &Path,
        recordings: Option<&Path>,
        folder: &Path,
    ) -> Result<Self, ClusterError> {
        let failed = |error: io::Error| {
            ClusterError::new(format!(
                "cannot make an image of {}: {error}",
                program.display()
            ))
        };
        let layer = layer(program, recordings).map_err(failed)?;
        let digest = digest(&layer);
        let reference = format!("bakeoff.local/bakeoff:{}", &digest[..12]);
        let archive = folder.join(format!("bakeoff-{}.tar", &digest[..12]));
        std::fs::write(&archive, oci(&layer, &reference).map_err(failed)?).map_err(failed)?;
        Ok(Self { reference, archive })
    }

    /// Loads it into the nodes by a command of the user's, in which `{}` stands for the archive.
    /// Blocks.
    ///
    /// # Errors
    /// The command cannot be run, or fails.
    pub fn load(&self, command: &str) -> Result<NodeImage, ClusterError> {
        let archive = self.archive.to_string_lossy();
        let filled = match command.contains("{}") {
            true => command.replace("{}", &archive),
            false => format!("{command} {archive}"),
        };
        let failed = |why: String| {
            ClusterError::new(format!("`{filled}` did not load {}: {why}", self.reference))
                .with_hint("--image-loader names the command; `{}` is the archive")
        };
        let output = std::process::Command::new("sh")
            .args(["-c", &filled])
            .output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(NodeImage::loaded(self.reference.clone()));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(failed(format!("{}: {}", output.status, said.trim())))
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The one layer: the program and its libraries, a folder for temporary files, the recordings.
fn layer(program: &Path, recordings: Option<&Path>) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    folder(&mut tar, "tmp/", 0o1777)?;
    file(&mut tar, PROGRAM, &std::fs::read(program)?, 0o755)?;
    for library in libraries(program)? {
        let content = std::fs::read(&library)?;
        file(&mut tar, &library.to_string_lossy(), &content, 0o755)?;
    }
    folder(&mut tar, &format!("{RECORDINGS}/"), 0o755)?;
    let Some(recordings) = recordings else {
        return tar.into_inner();
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(recordings)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    found.sort();
    for path in found.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        file(
            &mut tar,
            &format!("{RECORDINGS}/{name}"),
            &std::fs::read(path)?,
            0o644,
        )?;
    }
    tar.into_inner()
}

fn file(tar: &mut tar::Builder<Vec<u8>>, path: &str, content: &[u8], mode: u32) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(mode);
    tar.append_data(&mut header, path.trim_start_matches('/'), content)
}

fn folder(tar: &mut tar::Builder<Vec<u8>>, path: &str, mode: u32) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mode(mode);
    tar.append_data(&mut header, path.trim_start_matches('/'), io::empty())
}

/// An archive as the OCI image layout describes it, with this one image.
fn oci(layer: &[u8], reference: &str) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut blob = |media: &str, content: &[u8]| -> io::Result<Value> {
        let digest = digest(content);
        file(&mut tar, &format!("blobs/sha256/{digest}"), content, 0o644)?;
        Ok(json!({
            "mediaType": format!("application/vnd.oci.image.{media}"),
            "digest": format!("sha256:{digest}"),
            "size": content.len(),
        }))
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let config = json!({
        "architecture": architecture,
        "os": "linux",
        "config": {"Entrypoint": [PROGRAM]},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", digest(layer))]},
    });
    let layer = blob("layer.v1.tar", layer)?;
    let config = blob("config.v1+json", config.to_string().as_bytes())?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
    });
    let mut manifest = blob("manifest.v1+json", manifest.to_string().as_bytes())?;
    let tag = reference.rsplit(':').next();
    manifest["annotations"] = json!({
        "io.containerd.image.name": reference,
        "org.opencontainers.image.ref.name": tag,
    });
    let index = json!({"schemaVersion": 2, "manifests": [manifest]});
    file(&mut tar, "index.json", index.to_string().as_bytes(), 0o644)?;
    file(
        &mut tar,
        "oci-layout",
        br#"{"imageLayoutVersion":"1.0.0"}"#,
        0o644,
    )?;
    tar.into_inner()
}
