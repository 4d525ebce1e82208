//! From Rocket's synchronous handlers to the asynchronous Elasticsearch client, in three ways. Not
//! for what is asked.

use std::{cell::RefCell, future::Future, io, sync::Arc};

use anyhow::Context;
use elasticsearch::http::Url;
use tokio::runtime::{Builder, Runtime};

use crate::{
    config::{Config, RuntimeScope},
    domain::Locations,
    store::Store,
};

thread_local! {
    /// Of this thread, made when it is first needed.
    static WORKER: RefCell<Option<Worker>> = RefCell::new(None);
}

/// Answers questions on the thread that asks, which waits.
pub enum Bridge {
    /// A single runtime, whose own threads drive the connections of a single client.
    Global {
        runtime: Runtime,
        locations: Arc<Locations>,
    },
    /// A runtime for each thread that asks. It drives its connections only while a question is
    /// asked; a client used from another thread would wait for them in vain, so each has its own.
    PerWorker { elastic: Url },
    /// A runtime for each question. The client is shared, but no connection outlives its runtime.
    PerRequest { locations: Arc<Locations> },
}

struct Worker {
    runtime: Runtime,
    locations: Arc<Locations>,
}

impl Bridge {
    pub fn new(config: &Config) -> anyhow::Result<Self> {
        let elastic = config.elastic.clone();
        Ok(match config.runtime_scope {
            RuntimeScope::Global => Self::Global {
                runtime: threaded_runtime().context("cannot make the asynchronous runtime")?,
                locations: locations(elastic)?,
            },
            RuntimeScope::PerWorker => Self::PerWorker { elastic },
            RuntimeScope::PerRequest => Self::PerRequest {
                locations: locations(elastic)?,
            },
        })
    }

    /// Asks and waits for the answer.
    pub fn ask<F: Future>(&self, question: impl FnOnce(Arc<Locations>) -> F) -> F::Output {
        match self {
            Self::Global { runtime, locations } => {
                runtime.handle().block_on(question(Arc::clone(locations)))
            }
            Self::PerWorker { elastic } => WORKER.with(|worker| {
                let mut worker = worker.borrow_mut();
                let worker = worker.get_or_insert_with(|| Worker::new(elastic.clone()));
                let locations = Arc::clone(&worker.locations);
                worker.runtime.block_on(question(locations))
            }),
            Self::PerRequest { locations } => basic_runtime()
                .expect("one more runtime can be made")
                .block_on(question(Arc::clone(locations))),
        }
    }
}

impl Worker {
    fn new(elastic: Url) -> Self {
        Self {
            runtime: basic_runtime().expect("one more runtime can be made"),
            locations: locations(elastic).expect("the first client could be made"),
        }
    }
}

/// A runtime that does everything on the thread that waits.
pub fn basic_runtime() -> io::Result<Runtime> {
    Builder::new().basic_scheduler().enable_all().build()
}

/// A runtime with as many threads as there are CPUs.
fn threaded_runtime() -> io::Result<Runtime> {
    Builder::new().threaded_scheduler().enable_all().build()
}

fn locations(elastic: Url) -> anyhow::Result<Arc<Locations>> {
    let store = Store::new(elastic).context("cannot make the HTTP client")?;
    Ok(Arc::new(Locations::new(store)))
}
