//! The locations service on Rocket 0.5: starts, serves, stops.

mod access_log;
mod api;
mod config;
mod documents;
mod domain;
mod queries;
mod store;

use std::net::Ipv4Addr;

use anyhow::Context;
use env_logger::{Env, Target};
use rocket::{Build, Rocket, config::Shutdown};

use crate::{access_log::AccessLog, config::Config, domain::Locations, store::Store};

const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 8080);
/// How long requests under way may take to end after SIGTERM, in seconds.
const SHUTDOWN_SECONDS: u32 = 10;
/// Rocket writes five lines for each request at the level of information; ours is one.
const LOGGED: &str = concat!("warn,", env!("CARGO_CRATE_NAME"), "=info");

#[rocket::main]
async fn main() -> anyhow::Result<()> {
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
    let store = Store::new(config.elastic.clone()).context("cannot make the HTTP client")?;
    store
        .ping()
        .await
        .with_context(|| format!("cannot reach Elasticsearch at {}", config.elastic))?;

    rocket(Locations::new(store))
        .launch()
        .await
        .context("the server failed")?;
    Ok(())
}

fn rocket(locations: Locations) -> Rocket<Build> {
    let (address, port) = ADDRESS;
    let config = rocket::Config {
        address: address.into(),
        port,
        shutdown: Shutdown {
            grace: SHUTDOWN_SECONDS,
            ..Shutdown::default()
        },
        ..rocket::Config::release_default()
    };
    rocket::custom(config)
        .attach(AccessLog)
        .attach(api::stage(locations))
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("rocket ", env!("ROCKET_VERSION")),
        concat!("elasticsearch ", env!("ELASTICSEARCH_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
