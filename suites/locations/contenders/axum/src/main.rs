//! The locations service on axum: starts, serves, stops.

mod api;
mod config;
mod documents;
mod domain;
mod queries;
mod store;

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

use crate::{config::Config, domain::Locations, store::Store};

const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 8080);
/// How long requests under way may take to end after SIGTERM.
const SHUTDOWN: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args()
        .skip(1)
        .any(|argument| argument == "--version")
    {
        println!("{}", receipt());
        return Ok(());
    }
    log_to_stdout();

    let config = Config::from_env()?;
    let store = Store::new(config.elastic.clone(), config.closest_by)
        .context("cannot make the HTTP client")?;
    store
        .ping()
        .await
        .with_context(|| format!("cannot reach Elasticsearch at {}", config.elastic))?;

    let (host, port) = ADDRESS;
    let listener = TcpListener::bind(ADDRESS)
        .await
        .with_context(|| format!("cannot listen on {host}:{port}"))?;
    tracing::info!("listening on {host}:{port}");
    serve(listener, api::router(Locations::new(store))).await
}

/// Serves until told to stop, then finishes the requests under way, though not for ever.
async fn serve(listener: TcpListener, router: axum::Router) -> anyhow::Result<()> {
    let server = axum::serve(listener, router).with_graceful_shutdown(told_to_stop());
    let patience = async {
        told_to_stop().await;
        tokio::time::sleep(SHUTDOWN).await;
    };
    tokio::select! {
        result = server => result.context("the server failed"),
        () = patience => {
            tracing::warn!("stopped with requests under way");
            Ok(())
        }
    }
}

async fn told_to_stop() {
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
        concat!("elasticsearch ", env!("ELASTICSEARCH_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
