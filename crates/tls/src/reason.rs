//! Why a handshake failed, for people.

use std::io;
use std::time::Duration;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};

const UNTRUSTED: &str = "the service's certificate is signed by no trusted authority: it is \
                         self-signed, or its chain is incomplete";
const OTHER_NAME: &str = "the service's certificate is for another name";
const DATES: &str = "the service's certificate is not valid today";
const REQUIRED: &str = "the service requires a client certificate";

/// Returns why TLS failed, without a period at the end.
#[must_use]
pub fn reason(error: &Error) -> String {
    match error {
        // A bad signature: one that is trusted has only the name of the issuer.
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => UNTRUSTED.to_owned(),
        Error::InvalidCertificate(_) if is_authority_itself(error) => UNTRUSTED.to_owned(),
        Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => {
            format!("{DATES}: it expired {} ago", days(*not_after, *time))
        }
        Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            format!("{DATES}: it is valid in {}", days(*time, *not_before))
        }
        Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected,
            presented,
        }) => {
            let expected = expected.to_str();
            let presented: Vec<&str> = presented.iter().map(|name| plain(name)).collect();
            match presented.is_empty() {
                true => format!("{OTHER_NAME} than {expected}: it has none"),
                false => format!("{OTHER_NAME} than {expected}: {}", presented.join(", ")),
            }
        }
        // TLS 1.2 has no separate alert for that.
        Error::AlertReceived(
            alert @ (AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure),
        ) => match alert {
            AlertDescription::CertificateRequired => REQUIRED.to_owned(),
            _ => format!("{error}; perhaps {REQUIRED}"),
        },
        other => other.to_string(),
    }
}

/// Returns why TLS over a blocking or an async stream failed.
#[must_use]
pub fn reason_of(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    inner.map_or_else(|| error.to_string(), reason)
}

/// Returns the options that help against a reason of [`reason()`], if it has one.
#[must_use]
pub fn hint(reason: &str) -> Option<&'static str> {
    let hints = [
        (
            UNTRUSTED,
            "--cacert FILE trusts the certificates of a file, --insecure any certificate",
        ),
        (OTHER_NAME, "--insecure accepts any certificate"),
        (DATES, "--insecure accepts any certificate"),
        (REQUIRED, "--cert FILE and --key FILE present one"),
    ];
    let mut hints = hints.into_iter();
    hints.find_map(|(what, hint)| reason.contains(what).then_some(hint))
}

/// Whether a service presents the certificate of an authority as its own. The type of this error is
/// hidden in the one of rustls.
pub(crate) fn is_authority_itself(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other))
        if other.to_string().contains("CaUsedAsEndEntity"))
}

fn days(from: UnixTime, to: UnixTime) -> String {
    let passed = Duration::from_secs(to.as_secs().saturating_sub(from.as_secs()));
    match passed.as_secs() / (24 * 3600) {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// Takes the name out of `DnsName("localhost")`.
fn plain(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bakeoff_model::load::tls::{Pem, Tls};
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ClientConnection, ServerConfig, ServerConnection};

    use super::{hint, reason};
    use crate::Client;

    /// Shakes hands with a service whose certificate is `change` of what `openssl req -x509` makes,
    /// and returns the reason if that fails; `named` trusts this certificate.
    fn shaken(change: impl FnOnce(&mut CertificateParams), named: bool) -> Result<(), String> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        let certificate = params.self_signed(&key).unwrap();
        let other = CertificateParams::new(Vec::new()).unwrap();
        let other = other.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let ca = if named { &certificate } else { &other };
        let tls = Tls {
            ca: Some(Pem::Text { pem: ca.pem() }),
            ..Tls::default()
        };
        let client = Client::new(&tls, "localhost", b"http/1.1").unwrap();
        let mut client = ClientConnection::new(client.config, client.name).unwrap();
        let server = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut server = server
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut server = ServerConnection::new(Arc::new(server)).unwrap();
        while client.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets().unwrap();
            bytes.clear();
            while server.wants_write() {
                server.write_tls(&mut bytes).unwrap();
            }
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client
                .process_new_packets()
                .map_err(|error| reason(&error))?;
        }
        Ok(())
    }

    #[test]
    fn a_named_certificate_is_trusted_as_that_of_the_service() {
        assert_eq!(shaken(|_| {}, true), Ok(()));
        assert_eq!(shaken(|one| one.is_ca = IsCa::NoCa, true), Ok(()));
    }

    #[test]
    fn reasons_are_sentences_with_the_option_that_helps() {
        let check = |refused: Result<(), String>, expect: &str, option: &str| {
            let refused = refused.unwrap_err();
            assert!(refused.starts_with(expect), "{refused}");
            assert!(hint(&refused).unwrap().starts_with(option), "{refused}");
        };
        let untrusted = "the service's certificate is signed by no trusted authority";
        check(shaken(|_| {}, false), untrusted, "--cacert");
        let not_ca = shaken(|one| one.is_ca = IsCa::NoCa, false);
        check(not_ca, untrusted, "--cacert");
        let expired = shaken(|one| one.not_after = date_time_ymd(2020, 1, 1), true);
        let expect = "the service's certificate is not valid today: it expired ";
        check(expired, expect, "--insecure");
        let named = |one: &mut CertificateParams| {
            one.subject_alt_names = vec![rcgen::SanType::DnsName("shop".try_into().unwrap())];
        };
        let expect = "the service's certificate is for another name than localhost: shop";
        check(shaken(named, true), expect, "--insecure");
    }
}
