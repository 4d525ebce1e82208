//! The settings of TLS to contenders in `suite.toml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use crate::load::tls::{Pem, Tls};

/// The name in certificates of contenders that are started here, unless another one is given.
const NAME_DEFAULT: &str = "localhost";

/// Contenders speak TLS on their port.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TlsTable {
    /// The name that certificates must have; `localhost` unless given.
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// A file of certificates that are trusted, PEM, relative to the suite; the host's own unless
    /// given.
    pub ca: Option<String>,
    /// A file with the certificate that clients present, PEM, relative to the suite.
    pub certificate: Option<String>,
    /// A file with its key, PEM, relative to the suite.
    pub key: Option<String>,
    /// Any certificate is accepted; `false` unless given.
    #[serde(default)]
    pub insecure: bool,
    /// Later connections resume the session of an earlier one; `false` unless given: each new
    /// connection makes a full handshake.
    #[serde(default)]
    pub resume: bool,
}

fn file(path: String) -> Pem {
    Pem::File(path.into())
}

/// The settings at `suite.tls`.
pub(super) fn tls(reading: &mut Reading<'_>, table: TlsTable) -> Tls {
    let place = KeyPath::root().key("suite").key("tls");
    if table.certificate.is_some() != table.key.is_some() {
        let message = format!("`{place}`: a certificate and its key go together");
        let hint = "name both `certificate` and `key`, or neither".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
    if table.insecure && table.ca.is_some() {
        let message = format!("`{place}`: any certificate is accepted, so `ca` says nothing");
        let hint = "leave `insecure` or `ca` out".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
    let files = [
        ("ca", &table.ca),
        ("certificate", &table.certificate),
        ("key", &table.key),
    ];
    for (key, file) in files {
        if let Some(file) = file {
            reading.check_inside(&place.key(key), file, "suite");
        }
    }
    Tls {
        name: Some(table.name.unwrap_or_else(|| NAME_DEFAULT.to_owned())),
        ca: table.ca.map(file),
        certificate: table.certificate.map(file),
        key: table.key.map(file),
        insecure: table.insecure,
        resume: table.resume,
    }
}
