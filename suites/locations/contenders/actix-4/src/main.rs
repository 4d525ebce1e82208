//! The locations service on Actix Web 4: starts, serves, stops.

mod api;
mod config;
mod documents;
mod domain;
mod queries;
mod store;

use actix_web::{App, HttpServer, middleware::Logger};
use anyhow::Context;
use env_logger::{Env, Target};

use crate::{config::Config, domain::Locations, store::Store};

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

    let (host, port) = ADDRESS;
    let server = HttpServer::new(move || {
        // A connection is driven by the runtime that opened it, and a worker's runtime ends with
        // the worker. With a client shared by all, those that end first would cut off the others'
        // last requests.
        let store = Store::new(config.elastic.clone()).expect("the first client could be made");
        App::new()
            .wrap(Logger::default())
            .configure(api::configure(Locations::new(store)))
    })
    .shutdown_timeout(SHUTDOWN_SECONDS)
    .bind(ADDRESS)
    .with_context(|| format!("cannot listen on {host}:{port}"))?;
    log::info!("listening on {host}:{port}");
    server.run().await.context("the server failed")
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("actix-web ", env!("ACTIX_WEB_VERSION")),
        concat!("elasticsearch ", env!("ELASTICSEARCH_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
