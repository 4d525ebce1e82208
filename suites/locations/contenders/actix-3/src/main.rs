//! The locations service on Actix Web 3: starts, serves, stops.

mod api;
mod config;
mod documents;
mod domain;
mod queries;
mod store;

use actix_web::{HttpServer, middleware::Logger, web};
use anyhow::Context;
use env_logger::{Env, Target};

// By which the shared `store.rs` limits how long it waits.
use actix_web::rt::time::timeout;

use crate::{
    config::{ClientScope, Config},
    domain::Locations,
    store::Store,
};

const ADDRESS: (&str, u16) = ("0.0.0.0", 8080);
/// How long requests under way may take to end after SIGTERM, in seconds.
const SHUTDOWN_SECONDS: u64 = 10;

#[actix_web::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args()
        .skip(1)
        .any(|argument| argument == "--version")
    {
        println!("{}", receipt());
        return Ok(());
    }
    env_logger::Builder::from_env(Env::default().default_filter_or("info"))
        .target(Target::Stdout)
        .init();

    let config = Config::from_env()?;
    let store = Store::new(config.elastic.clone()).context("cannot make the HTTP client")?;
    store
        .ping()
        .await
        .with_context(|| format!("cannot reach Elasticsearch at {}", config.elastic))?;

    let shared = match config.client_scope {
        ClientScope::Global => Some(web::Data::new(Locations::new(store))),
        ClientScope::PerWorker => None,
    };

    let (host, port) = ADDRESS;
    let workers = config.workers;
    let mut server = HttpServer::new(move || {
        let locations = shared.clone().unwrap_or_else(|| own(&config));
        api::app(locations).wrap(Logger::default())
    })
    .shutdown_timeout(SHUTDOWN_SECONDS)
    .bind(ADDRESS)
    .with_context(|| format!("cannot listen on {host}:{port}"))?;
    if let Some(workers) = workers {
        server = server.workers(workers);
    }
    log::info!("listening on {host}:{port}");
    server.run().await.context("the server failed")
}

/// With a client of its own, whose connections are driven by the worker's own runtime.
fn own(config: &Config) -> web::Data<Locations> {
    let store = Store::new(config.elastic.clone()).expect("the first client could be made");
    web::Data::new(Locations::new(store))
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("actix-web ", env!("ACTIX_WEB_VERSION")),
        #[cfg(feature = "openapi")]
        concat!("paperclip ", env!("PAPERCLIP_VERSION")),
        concat!("elasticsearch ", env!("ELASTICSEARCH_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
