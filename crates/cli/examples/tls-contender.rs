//! A contender for the tests of the command line that speaks TLS: one item, a thread for each
//! connection. Its certificate and key are in the files that `CERTIFICATE` and `KEY` name; with
//! `CLIENT_CA` clients must present a certificate that one of that file signed. SIGTERM ends it,
//! also as the first process of a container.

#![expect(clippy::print_stdout, reason = "it logs like a service")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut terminated = signal(SignalKind::terminate())?;
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is missing"));
    let certificates = certificates(&variable("CERTIFICATE")?)?;
    let key = PrivateKeyDer::from_pem_file(variable("KEY")?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions()?;
    let builder = match std::env::var("CLIENT_CA") {
        Ok(path) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(self::certificates(&path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build()?)
        }
        Err(_) => builder.with_no_client_auth(),
    };
    let config = Arc::new(builder.with_single_cert(certificates, key)?);
    let listener = TcpListener::bind(format!("0.0.0.0:{}", variable("PORT")?))?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || serve(stream, config));
        }
    });
    terminated.recv().await;
    Ok(())
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, Box<dyn Error>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)?.collect();
    Ok(found?)
}

/// Responds to requests on one connection until it closes.
fn serve(stream: TcpStream, config: Arc<ServerConfig>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let connection = ServerConnection::new(config).ok()?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request).ok()? == 0 {
            return None;
        }
        let mut header = request.clone();
        while !header.trim().is_empty() {
            header.clear();
            reader.read_line(&mut header).ok()?;
        }
        let path = request.split(' ').nth(1)?;
        println!("{path}");
        let (status, body) = match path {
            "/item" => ("200 OK", "{\"name\":\"Plze\u{148}\"}"),
            "/item?id=" => ("400 Bad Request", "{\"message\":\"no id\"}"),
            _ => ("404 Not Found", "{\"message\":\"not found\"}"),
        };
        let length = body.len();
        let kind = "content-type: application/json";
        let head = format!("HTTP/1.1 {status}\r\n{kind}\r\ncontent-length: {length}\r\n");
        let response = format!("{head}\r\n{body}");
        let stream = reader.get_mut();
        stream.write_all(response.as_bytes()).ok()?;
        stream.flush().ok()?;
    }
}
