//! The settings of TLS to services.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The client side of TLS. The host's own root certificates are trusted unless others are named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The name that certificates must have [default: that of the `Host` header].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Certificates that are trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<Pem>,
    /// The certificate that is presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Pem>,
    /// The key of `certificate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Pem>,
    /// Any certificate is accepted.
    #[serde(default)]
    pub insecure: bool,
    /// Later connections resume the session of an earlier one.
    #[serde(default)]
    pub resume: bool,
}

/// Certificates or a key in PEM: a file, or the text itself for programs that do not see the file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pem {
    /// The path of a file.
    File(PathBuf),
    /// The text.
    Text {
        /// The content of such a file.
        pem: String,
    },
}

impl From<PathBuf> for Pem {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Text { .. } => f.write_str("a text in PEM"),
        }
    }
}

/// The text may be a private key, which no message shows.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Tls {
    /// Returns the settings with the paths of files joined to `folder`.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        let join = |pem: &Option<Pem>| {
            pem.clone().map(|pem| match pem {
                Pem::File(path) => Pem::File(folder.join(path)),
                text @ Pem::Text { .. } => text,
            })
        };
        Self {
            ca: join(&self.ca),
            certificate: join(&self.certificate),
            key: join(&self.key),
            ..self.clone()
        }
    }
}
