//! TLS on top of a reactor: rustls takes bytes and returns bytes, and never sees a socket.
//!
//! Every connection makes a full handshake unless resumption is requested: resumed sessions make
//! reconnects look cheaper than they are for new clients.

use std::io::{Read as _, Write as _};

use bakeoff_base::problem::Problem;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::load::{Protocol, Target};
use bakeoff_tls::Client;
use rustls::ClientConnection;

use crate::error::LoadError;

/// The settings that all connections of a spec share.
#[derive(Debug, Clone)]
pub(crate) struct TlsSettings {
    client: Client,
    /// The protocol that the other side has to choose (ALPN, RFC 7301).
    required: Option<&'static [u8]>,
}

impl TlsSettings {
    /// Reads the trusted certificates. `None` without TLS.
    ///
    /// # Errors
    /// [`LoadError::System`] when the host name cannot be one of a certificate, the host has no
    /// usable root certificates, or a file that is named cannot be read.
    pub(crate) fn of(target: &Target) -> Result<Option<Self>, LoadError> {
        if !target.tls {
            return Ok(None);
        }
        let host = target.host.as_deref().unwrap_or(&target.address);
        let protocol: &'static [u8] = match target.protocol {
            Protocol::Http1 | Protocol::Websocket(_) => b"http/1.1",
            Protocol::Http2 => b"h2",
        };
        let tls = Tls {
            insecure: target.insecure,
            ..target.trust.clone().unwrap_or_default()
        };
        let client = Client::new(&tls, host, protocol).map_err(|source| LoadError::System {
            what: "TLS cannot be set up".into(),
            source,
        })?;
        Ok(Some(Self {
            client,
            required: (target.protocol == Protocol::Http2).then_some(protocol),
        }))
    }

    /// Starts a session.
    ///
    /// # Errors
    /// A message, when the settings do not allow one.
    pub(crate) fn session(&self) -> Result<TlsSession, Problem> {
        let mut client =
            ClientConnection::new(self.client.config.clone(), self.client.name.clone())
                .map_err(Problem::new)?;
        client.set_buffer_limit(None);
        Ok(TlsSession {
            client,
            required: self.required,
            is_closed: false,
        })
    }
}

/// The TLS side of one connection.
#[derive(Debug)]
pub(crate) struct TlsSession {
    client: ClientConnection,
    required: Option<&'static [u8]>,
    is_closed: bool,
}

impl TlsSession {
    /// Whether requests cannot be sent yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.client.is_handshaking()
    }

    /// Checks that the other side chose the required protocol, once the handshake is over.
    ///
    /// # Errors
    /// A message, when it did not.
    pub(crate) fn check_protocol(&self) -> Result<(), Problem> {
        let chosen = self.client.alpn_protocol();
        let Some(required) = self.required.filter(|required| chosen != Some(*required)) else {
            return Ok(());
        };
        let name = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Err(format!(
            "the service chose {} instead of {} (ALPN)",
            chosen.map_or_else(|| "no protocol".to_owned(), name),
            name(required)
        )
        .into())
    }

    /// Whether the other side sent close_notify: it sends nothing more. The end of the connection
    /// alone proves nothing, any host on the way can cause it (RFC 9112, 9.8).
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Takes bytes of the connection and appends the decrypted ones to `plain`. The other side's
    /// close_notify gets a reply immediately: some services wait for that before they close.
    ///
    /// # Errors
    /// A message, when TLS fails. What [`TlsSession::output`] then gives is the alert.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<(), Problem> {
        while !bytes.is_empty() {
            let read = self.client.read_tls(&mut bytes);
            let state = self.client.process_new_packets();
            let state = state.map_err(|error| Problem::new(bakeoff_tls::reason(&error)))?;
            let before = plain.len();
            plain.resize(before + state.plaintext_bytes_to_read(), 0);
            if plain.len() > before {
                let result = self.client.reader().read_exact(&mut plain[before..]);
                result.map_err(Problem::new)?;
            }
            if state.peer_has_closed() && !self.is_closed {
                self.is_closed = true;
                self.client.send_close_notify();
            }
            match read {
                // After the other side's close_notify nothing more is read.
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(Problem::new(error)),
            }
        }
        Ok(())
    }

    /// Encrypts what will be sent.
    pub(crate) fn write(&mut self, plain: &[u8]) {
        // There is no limit of the buffer, so that there is nothing to fail.
        let _ = self.client.writer().write_all(plain);
    }

    /// Returns the bytes for the connection to send now; empty = none.
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
