//! The environment, read once at the start.

use std::{env, time::Duration};

use anyhow::{Context, anyhow, ensure};
use sqlx::postgres::PgConnectOptions;

/// Where the service finds its database, and how it shares it.
pub struct Config {
    /// From `DATABASE_URL`.
    pub database: PgConnectOptions,
    /// The most connections that are open at once.
    pub connections_max: u32,
    /// How long a request waits for a connection.
    pub wait: Duration,
}

impl Config {
    /// Reads the process's environment.
    pub fn from_env() -> anyhow::Result<Self> {
        let url = env::var("DATABASE_URL").map_err(|_| anyhow!("DATABASE_URL is not set"))?;
        let expected = "DATABASE_URL is not postgres://user:password@host:port/database";
        ensure!(url.starts_with("postgres://"), expected);
        Ok(Self {
            database: url.parse().context(expected)?,
            connections_max: number("POOL_SIZE", 16)?,
            wait: Duration::from_millis(number("POOL_WAIT_MS", 30_000)?.into()),
        })
    }
}

fn number(name: &str, default: u32) -> anyhow::Result<u32> {
    match env::var(name) {
        Ok(text) => text
            .parse()
            .map_err(|_| anyhow!("{name} is not a number: {text}")),
        Err(_) => Ok(default),
    }
}
