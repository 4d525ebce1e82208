//! The client side of TLS, as a suite or a command line describes it: which certificates are
//! trusted, which one is presented, which protocol is asked for. The load engine, checks and
//! readiness use the same.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bakeoff_model::tls::Tls;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// The settings of connections to one service.
#[derive(Debug, Clone)]
pub struct Client {
    /// The settings of rustls.
    pub config: Arc<ClientConfig>,
    /// The name that the certificate must have.
    pub name: ServerName<'static>,
}

impl Client {
    /// Returns the settings for a service whose requests name this host, with or without a port.
    /// `protocol` is asked for by ALPN (RFC 7301).
    ///
    /// # Errors
    /// The host is no name of a certificate, a file cannot be read, or the host of this program has
    /// no root certificates and none are named.
    pub fn new(tls: &Tls, host: &str, protocol: &[u8]) -> io::Result<Self> {
        let host = tls.name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(without_port(host).to_owned()).map_err(|_| {
            let message = format!("host {host:?} is no name that a certificate could have");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let mut config = config(tls)?;
        config.alpn_protocols = vec![protocol.to_vec()];
        if !tls.resume {
            config.resumption = Resumption::disabled();
        }
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }
}

fn config(tls: &Tls) -> io::Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = if tls.insecure {
        let verifier = Arc::new(AnyCertificate(provider));
        builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
    } else {
        builder.with_root_certificates(roots(tls.ca.as_deref())?)
    };
    let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    builder
        .with_client_auth_cert(chain, private)
        .map_err(|error| unreadable(key, &error))
}

/// The certificates of this file, or those that the host trusts.
fn roots(ca: Option<&Path>) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        return match roots.is_empty() {
            true => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the host has no root certificates",
            )),
            false => Ok(roots),
        };
    };
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|error| unreadable(path, &error))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(path, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| unreadable(path, &error))?;
    match found.is_empty() {
        true => Err(unreadable(path, &"it holds no certificate")),
        false => Ok(found),
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{}: {error}", path.display()),
    )
}

fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    // A bare IPv6 address has colons of its own.
    let name = if name.contains(':') && !name.starts_with('[') {
        host
    } else {
        name
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

/// Accepts every certificate, for services under test that sign their own.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::without_port;

    #[test]
    fn names_lose_their_port() {
        for (host, name) in [
            ("example.org:443", "example.org"),
            ("example.org", "example.org"),
            ("127.0.0.1:8443", "127.0.0.1"),
            ("[::1]:8443", "::1"),
            ("::1", "::1"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }
}
