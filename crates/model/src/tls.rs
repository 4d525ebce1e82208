//! How services are reached over TLS.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The client side of TLS. The host's own root certificates are trusted unless others are named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The name that certificates must have; that of the `Host` header when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A file of certificates that are trusted, PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// A file with the certificate that is presented, PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// A file with its key, PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// Any certificate is accepted.
    #[serde(default)]
    pub insecure: bool,
    /// Later connections resume the session of an earlier one.
    #[serde(default)]
    pub resume: bool,
}

impl Tls {
    /// The same with files relative to this folder.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        let join = |path: &Option<PathBuf>| path.as_ref().map(|path| folder.join(path));
        Self {
            ca: join(&self.ca),
            certificate: join(&self.certificate),
            key: join(&self.key),
            ..self.clone()
        }
    }
}
