//! The locations service on Tide: starts, serves, stops.

mod api;
mod config;
mod documents;
mod domain;
mod queries;
mod shutdown;
mod store;

use std::io;

use anyhow::Context;
use async_std::{net::TcpListener, prelude::FutureExt};
use socket2::SockRef;
use tide::{listener::Listener, log::LevelFilter};

use crate::{config::Config, domain::Locations, shutdown::UnderWay, store::Store};

const ADDRESS: (&str, u16) = ("0.0.0.0", 8080);

#[async_std::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args()
        .skip(1)
        .any(|argument| argument == "--version")
    {
        println!("{}", receipt());
        return Ok(());
    }
    tide::log::with_level(LevelFilter::Info);

    let config = Config::from_env()?;
    let store = Store::new(config.elastic.clone()).context("cannot make the HTTP client")?;
    store
        .ping()
        .await
        .with_context(|| format!("cannot reach Elasticsearch at {}", config.elastic))?;

    let under_way = UnderWay::default();
    let mut app = api::app(Locations::new(store));
    app.with(under_way.clone());
    serve(app).await?;
    under_way.end().await;
    Ok(())
}

/// Serves until told to stop, and then accepts no more connections.
async fn serve<State>(app: tide::Server<State>) -> anyhow::Result<()>
where
    State: Clone + Send + Sync + 'static,
{
    let told_to_stop = shutdown::told_to_stop().context("cannot listen to signals")?;
    let (host, port) = ADDRESS;
    let socket = listen().with_context(|| format!("cannot listen on {host}:{port}"))?;
    let mut listener = app.bind(socket).await?;
    tide::log::info!("listening on {}:{}", host, port);
    let accepting = async { listener.accept().await.context("the server failed") };
    let stopping = async {
        told_to_stop.await;
        Ok(())
    };
    accepting.race(stopping).await
}

/// An answer's head and body are written apart. With Nagle's algorithm, which Tide leaves on, the
/// body would wait for the client to confirm the head. On Linux, connections inherit this from
/// their listener.
fn listen() -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind(ADDRESS)?;
    SockRef::from(&listener).set_tcp_nodelay(true)?;
    Ok(listener.into())
}

/// What was built, of what, by what.
fn receipt() -> String {
    [
        concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")),
        concat!("tide ", env!("TIDE_VERSION")),
        concat!("async-std ", env!("ASYNC_STD_VERSION")),
        concat!("surf ", env!("SURF_VERSION")),
        env!("RUSTC_VERSION"),
        env!("BUILD"),
    ]
    .join("\n")
}
