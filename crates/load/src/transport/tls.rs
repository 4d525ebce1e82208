//! TLS on top of a reactor: rustls takes bytes and gives bytes, and never sees a socket.
//!
//! Every connection makes a full handshake: resumed sessions would make reconnects look cheaper
//! than they are for new clients.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use bakeoff_model::load::{Protocol, Target};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::error::LoadError;

/// The settings that all connections of a spec share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// The protocol that the other side has to choose (ALPN, RFC 7301).
    required: Option<&'static [u8]>,
}

impl Settings {
    /// Reads the host's root certificates, unless any certificate will do. `None` without TLS.
    ///
    /// # Errors
    /// [`LoadError::Spec`] when the host name cannot be one, [`LoadError::System`] when the host
    /// has no usable root certificates.
    pub(crate) fn of(target: &Target) -> Result<Option<Self>, LoadError> {
        if !target.tls {
            return Ok(None);
        }
        let host = target.host.as_deref().unwrap_or(&target.address);
        let name =
            ServerName::try_from(without_port(host).to_owned()).map_err(|_| LoadError::Spec {
                message: format!("host {host:?} is no name that a certificate could have"),
            })?;
        let system = |source| LoadError::System {
            what: "TLS cannot be set up".into(),
            source,
        };
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| system(std::io::Error::other(error)))?;
        let mut config = if target.insecure {
            let verifier = Arc::new(AnyCertificate(provider));
            let builder = builder
                .dangerous()
                .with_custom_certificate_verifier(verifier);
            builder.with_no_client_auth()
        } else {
            let mut roots = RootCertStore::empty();
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let why = "the host has no root certificates";
                return Err(system(std::io::Error::new(
                    std::io::ErrorKind::NotFound,
                    why,
                )));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        };
        config.resumption = Resumption::disabled();
        let protocol: &'static [u8] = match target.protocol {
            Protocol::Http1 | Protocol::Websocket(_) => b"http/1.1",
            Protocol::Http2 => b"h2",
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(Some(Self {
            config: Arc::new(config),
            name,
            required: (target.protocol == Protocol::Http2).then_some(protocol),
        }))
    }

    /// Begins a session.
    ///
    /// # Errors
    /// A message, when the settings do not allow one.
    pub(crate) fn session(&self) -> Result<Session, String> {
        let mut client = ClientConnection::new(self.config.clone(), self.name.clone())
            .map_err(|error| error.to_string())?;
        client.set_buffer_limit(None);
        Ok(Session {
            client,
            required: self.required,
            is_closed: false,
        })
    }
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

/// The TLS side of one connection.
#[derive(Debug)]
pub(crate) struct Session {
    client: ClientConnection,
    required: Option<&'static [u8]>,
    is_closed: bool,
}

impl Session {
    /// Whether requests cannot be sent yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.client.is_handshaking()
    }

    /// Whether the other side chose the protocol that is needed, once the handshake is over.
    ///
    /// # Errors
    /// A message, when it did not.
    pub(crate) fn check_protocol(&self) -> Result<(), String> {
        let chosen = self.client.alpn_protocol();
        let Some(required) = self.required.filter(|required| chosen != Some(*required)) else {
            return Ok(());
        };
        let name = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Err(format!(
            "the service chose {} instead of {} (ALPN)",
            chosen.map_or_else(|| "no protocol".to_owned(), name),
            name(required)
        ))
    }

    /// Whether the other side sent close_notify: it sends nothing more. The end of the connection
    /// alone proves nothing, anybody on the way can bring it about (RFC 9112, 9.8).
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Takes bytes of the connection and appends what they mean to `plain`. The other side's
    /// close_notify is answered at once: some services wait for that before they close.
    ///
    /// # Errors
    /// A message, when TLS fails. What [`Session::output`] then gives is the alert.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<(), String> {
        while !bytes.is_empty() {
            let read = self.client.read_tls(&mut bytes);
            let state = self.client.process_new_packets();
            let state = state.map_err(|error| error.to_string())?;
            let before = plain.len();
            plain.resize(before + state.plaintext_bytes_to_read(), 0);
            if plain.len() > before {
                let result = self.client.reader().read_exact(&mut plain[before..]);
                result.map_err(|error| error.to_string())?;
            }
            if state.peer_has_closed() && !self.is_closed {
                self.is_closed = true;
                self.client.send_close_notify();
            }
            match read {
                // After the other side's close_notify nothing more is read.
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Encrypts what will be sent.
    pub(crate) fn write(&mut self, plain: &[u8]) {
        // There is no limit of the buffer, so that there is nothing to fail.
        let _ = self.client.writer().write_all(plain);
    }

    /// The bytes that the connection has to carry now; empty = none.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.client.wants_write() {
            // A vector takes everything.
            if self.client.write_tls(&mut bytes).is_err() {
                break;
            }
        }
        bytes
    }
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
