//! A certificate authority that lives as long as its proxy. Its key is never written.

use std::net::IpAddr;
use std::sync::Arc;

use bakeoff_base::problem::Problem;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// The name of the issuer, as clients see it.
const NAME: &str = "bakeoff capture";

/// An authority with the certificate of one server.
pub struct Authority {
    pem: String,
    config: Arc<ServerConfig>,
}

impl Authority {
    /// Makes an authority, and a certificate of it for these addresses and names.
    ///
    /// # Errors
    /// A name cannot be in a certificate.
    pub fn new(addresses: &[IpAddr], names: &[&str]) -> Result<Self, Problem> {
        let key = KeyPair::generate().map_err(Problem::new)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, NAME);
        let pem = params.self_signed(&key).map_err(Problem::new)?.pem();
        let issuer = Issuer::new(params, key);
        let addresses = addresses.iter().map(ToString::to_string);
        let names = names.iter().map(|name| (*name).to_owned());
        let names: Vec<String> = addresses.chain(names).collect();
        let key = KeyPair::generate().map_err(Problem::new)?;
        let params = CertificateParams::new(names).map_err(Problem::new)?;
        let certificate = params.signed_by(&key, &issuer).map_err(Problem::new)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(Problem::new)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(Problem::new)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(Problem::new)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            pem,
            config: Arc::new(config),
        })
    }

    /// Returns the certificate that clients must trust, as PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}
