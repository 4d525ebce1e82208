//! The registration service on axum: starts, serves, stops.

mod api;
mod config;
mod probe;
mod user;
mod users;

use std::{
    io::{self, IsTerminal},
    net::Ipv4Addr,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::{config::Config, users::Users};

const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 8080);
/// How long PostgreSQL may take to answer at the start.
const PING: Duration = Duration::from_secs(5);
/// How long requests under way may take to end after SIGTERM.
const SHUTDOWN: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [version] if version == "--version" => {
            println!("{}", receipt());
            return Ok(());
        }
        [probe, operations] if probe == "--hash-probe" => {
            return probe::hash(operations.parse().context("so many hashes, a number")?);
        }
        _ => {}
    }
    log_to_stdout();

    let config = Config::from_env()?;
    let users = Users::new(&config);
    tokio::time::timeout(PING, users.ping())
        .await
        .context("PostgreSQL does not answer")?
        .context("cannot reach PostgreSQL")?;

    let (host, port) = ADDRESS;
    let listener = TcpListener::bind(ADDRESS)
        .await
        .with_context(|| format!("cannot listen on {host}:{port}"))?;
    tracing::info!("listening on {host}:{port}");
    serve(listener, api::router(users)).await
}

/// Serves until SIGTERM, then finishes the requests under way, though not for ever.
async fn serve(listener: TcpListener, router: axum::Router) -> anyhow::Result<()> {
    let server = axum::serve(listener, router).with_graceful_shutdown(asked_to_stop());
    let limit = async {
        asked_to_stop().await;
        tokio::time::sleep(SHUTDOWN).await;
    };
    tokio::select! {
        result = server => result.context("the server failed"),
        () = limit => {
            tracing::warn!("stopped with requests under way");
            Ok(())
        }
    }
}

async fn asked_to_stop() {
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be listened to");
    let mut interrupt = signal(SignalKind::interrupt()).expect("SIGINT can be listened to");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

fn log_to_stdout() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stdout().is_terminal())
        .init();
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("axum ", env!("AXUM_VERSION")),
        concat!("hyper ", env!("HYPER_VERSION")),
        concat!("tokio ", env!("TOKIO_VERSION")),
        concat!("sqlx ", env!("SQLX_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
