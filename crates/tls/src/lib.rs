//! The client side of TLS, as described by a suite or a command line: the trusted certificates, the
//! certificate to present, and the protocol to request. Shared by the load engine, checks and
//! readiness.

mod named;
mod reason;

use std::borrow::Cow;
use std::sync::Arc;
use std::{fs, io};

use bakeoff_model::load::tls::{Pem, Tls};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use named::NamedCertificates;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

pub use reason::{hint, reason, reason_of};

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
    /// `protocol` is requested by ALPN (RFC 7301).
    ///
    /// # Errors
    /// The host is not a valid name for a certificate, a file cannot be read, or the host of this
    /// program has no root certificates and none are named.
    pub fn new(tls: &Tls, host: &str, protocol: &[u8]) -> io::Result<Self> {
        let host = tls.name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(without_port(host).to_owned()).map_err(|_| {
            let message = format!("host {host:?} is not a name that a certificate could have");
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
    } else if let Some(ca) = &tls.ca {
        let verifier = NamedCertificates::new(certificates(ca)?, provider);
        let verifier = verifier.map_err(|error| unreadable(ca, &error))?;
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted_here()?);
        builder.with_root_certificates(roots)
    };
    let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_slice(&content(key)?);
    let private = private.map_err(|error| unreadable(key, &error))?;
    builder
        .with_client_auth_cert(chain, private)
        .map_err(|error| unreadable(key, &error))
}

/// Returns the certificates that the host trusts.
fn trusted_here() -> io::Result<Vec<CertificateDer<'static>>> {
    let found = rustls_native_certs::load_native_certs().certs;
    match found.is_empty() {
        true => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the host has no root certificates",
        )),
        false => Ok(found),
    }
}

fn certificates(pem: &Pem) -> io::Result<Vec<CertificateDer<'static>>> {
    let content = content(pem)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&content).collect();
    let found = found.map_err(|error| unreadable(pem, &error))?;
    match found.is_empty() {
        true => Err(unreadable(pem, &"it holds no certificate")),
        false => Ok(found),
    }
}

fn content(pem: &Pem) -> io::Result<Cow<'_, [u8]>> {
    match pem {
        Pem::File(path) => match fs::read(path) {
            Ok(read) => Ok(Cow::Owned(read)),
            Err(error) => Err(unreadable(pem, &error)),
        },
        Pem::Text { pem } => Ok(Cow::Borrowed(pem.as_bytes())),
    }
}

fn unreadable(pem: &Pem, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{pem}: {error}"))
}

/// Returns the settings with the texts of all files that they name, for a program on another host.
/// If no CA is named and one is needed, they contain the certificates that this host trusts.
///
/// # Errors
/// A file cannot be read, or this host has no root certificates.
pub fn inlined(tls: &Tls) -> io::Result<Tls> {
    let text = |pem: &Pem| {
        let text = String::from_utf8(content(pem)?.into_owned());
        let pem = text.map_err(|error| unreadable(pem, &error))?;
        Ok::<_, io::Error>(Pem::Text { pem })
    };
    let ca = match &tls.ca {
        Some(ca) => Some(text(ca)?),
        None if tls.insecure => None,
        None => Some(Pem::Text {
            pem: trusted_here()?.iter().map(armored).collect(),
        }),
    };
    Ok(Tls {
        ca,
        certificate: tls.certificate.as_ref().map(text).transpose()?,
        key: tls.key.as_ref().map(text).transpose()?,
        ..tls.clone()
    })
}

/// Encodes a certificate as PEM (RFC 7468), with its base64 in one line.
fn armored(certificate: &CertificateDer<'_>) -> String {
    let body = STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
}

fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    // A bare IPv6 address contains colons.
    let name = if name.contains(':') && !name.starts_with('[') {
        host
    } else {
        name
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

/// A verifier that accepts every certificate, for services under test that sign their own.
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
    use bakeoff_model::load::tls::{Pem, Tls};
    use rcgen::{CertificateParams, KeyPair};

    use super::{Client, armored, certificates, inlined, without_port};

    #[test]
    fn inlined_settings_need_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Some(Pem::File(path))
        };
        let tls = Tls {
            ca: file("ca.pem", &certificate),
            certificate: file("client.pem", &certificate),
            key: file("key.pem", &key.serialize_pem()),
            ..Tls::default()
        };
        let there = inlined(&tls).unwrap();
        folder.close().unwrap();
        let here = inlined(&tls).unwrap_err().to_string();
        assert!(here.contains("ca.pem"), "{here}");
        let sent = serde_json::to_string(&there).unwrap();
        let there = serde_json::from_str(&sent).unwrap();
        Client::new(&there, "localhost", b"h2").unwrap();
        assert!(!format!("{there:?}").contains("PRIVATE"), "a key is shown");
    }

    #[test]
    fn certificates_of_the_host_are_sent_as_texts() {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let pem = armored(certificate.der()).repeat(2);
        let read = certificates(&Pem::Text { pem }).unwrap();
        assert_eq!(read, [certificate.der().clone(), certificate.der().clone()]);
        let any = Tls {
            insecure: true,
            ..Tls::default()
        };
        assert_eq!(inlined(&any).unwrap(), any);
    }

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
