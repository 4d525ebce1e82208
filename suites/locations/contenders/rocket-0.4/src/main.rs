//! The locations service on Rocket 0.4: starts, serves, stops.

#![feature(decl_macro, proc_macro_hygiene)]
#![forbid(unsafe_code)]

mod access_log;
mod api;
mod bridge;
mod config;
mod documents;
mod domain;
mod queries;
mod shutdown;
mod store;

use anyhow::Context;
use elasticsearch::http::Url;
use env_logger::{Env, Target};
use rocket::{
    config::{Environment, LoggingLevel},
    Rocket,
};

// By which the shared `store.rs` limits how long it waits.
use tokio::time::timeout;

use crate::{
    access_log::AccessLog, bridge::Bridge, config::Config, shutdown::Shutdown, store::Store,
};

const ADDRESS: (&str, u16) = ("0.0.0.0", 8080);
/// Rocket writes several lines for its start and for each request; ours is one.
const LOGGED: &str = concat!(
    "warn,launch=off,launch_=off,",
    env!("CARGO_CRATE_NAME"),
    "=info"
);

fn main() -> anyhow::Result<()> {
    if std::env::args()
        .skip(1)
        .any(|argument| argument == "--version")
    {
        println!("{}", receipt());
        return Ok(());
    }
    env_logger::Builder::from_env(Env::default().default_filter_or(LOGGED))
        .target(Target::Stdout)
        .init();

    let config = Config::from_env()?;
    ping(&config.elastic)
        .with_context(|| format!("cannot reach Elasticsearch at {}", config.elastic))?;
    let shutdown = Shutdown::default();
    shutdown.on_signal().context("cannot listen to signals")?;
    let rocket = rocket(&config, shutdown)?;
    Err(anyhow::anyhow!("{}", rocket.launch()).context("the server failed"))
}

/// With a client of its own: whoever asks later has another runtime.
fn ping(elastic: &Url) -> anyhow::Result<()> {
    let store = Store::new(elastic.clone()).context("cannot make the HTTP client")?;
    bridge::basic_runtime()?.block_on(store.ping())?;
    Ok(())
}

fn rocket(config: &Config, shutdown: Shutdown) -> anyhow::Result<Rocket> {
    let (host, port) = ADDRESS;
    let mut settings = rocket::Config::build(Environment::Production)
        .address(host)
        .port(port)
        .keep_alive(config.keep_alive)
        // The log is ours already.
        .log_level(LoggingLevel::Off);
    if let Some(workers) = config.workers {
        settings = settings.workers(workers);
    }
    Ok(rocket::custom(settings.finalize()?)
        .attach(AccessLog)
        .attach(shutdown)
        .attach(api::stage(Bridge::new(config)?)))
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("rocket ", env!("ROCKET_VERSION")),
        concat!("hyper ", env!("HYPER_VERSION")),
        concat!("elasticsearch ", env!("ELASTICSEARCH_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
