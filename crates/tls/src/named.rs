//! The trust in certificates that the user names: authorities, and certificates of services
//! themselves.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::reason::is_authority_itself;

/// Trusts what the named certificates sign, and the named certificates themselves if a service
/// presents them. `openssl req -x509` makes the latter as authorities, which the usual rules refuse
/// as certificates of services.
#[derive(Debug)]
pub(crate) struct NamedCertificates {
    named: Vec<CertificateDer<'static>>,
    usual: Arc<WebPkiServerVerifier>,
}

impl NamedCertificates {
    /// # Errors
    /// One of them is not a certificate.
    pub(crate) fn new(
        named: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in &named {
            let added = roots.add(certificate.clone());
            added.map_err(io::Error::other)?;
        }
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let usual = usual.build().map_err(io::Error::other)?;
        Ok(Self { named, usual })
    }
}

impl ServerCertVerifier for NamedCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .usual
            .verify_server_cert(end_entity, intermediates, name, ocsp, now);
        match verified {
            // Its dates are looked at before that.
            Err(error)
                if is_authority_itself(&error)
                    && self.named.iter().any(|one| one == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}
