//! Stops on SIGTERM and SIGINT, after the requests under way: Tide itself serves until it is
//! killed.

use std::{
    future::Future,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_std::{stream::StreamExt, task};
use signal_hook::consts::TERM_SIGNALS;
use signal_hook_async_std::Signals;
use tide::{Middleware, Next, Request};

/// How long requests under way may take to end.
const LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// An answer is counted as given before it is written, because nothing tells when it is.
const WRITING: Duration = Duration::from_millis(100);

/// Signals are caught from now on; the future waits for the first.
pub fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new(TERM_SIGNALS)?;
    Ok(async move {
        signals.next().await;
    })
}

/// Counts the requests under way. Clones share the count.
#[derive(Clone, Default)]
pub struct UnderWay(Arc<AtomicUsize>);

/// Counts down even when a request is dropped half-way.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl UnderWay {
    /// Waits until there are none, though not for ever. Open connections may bring new ones.
    pub async fn end(self) {
        let limit = Instant::now() + LIMIT;
        while self.count() > 0 && Instant::now() < limit {
            task::sleep(POLL).await;
        }
        task::sleep(WRITING).await;
        match self.count() {
            0 => tide::log::info!("stopped"),
            some => tide::log::warn!("stopped with {} requests under way", some),
        }
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[tide::utils::async_trait]
impl<State: Clone + Send + Sync + 'static> Middleware<State> for UnderWay {
    async fn handle(&self, request: Request<State>, next: Next<'_, State>) -> tide::Result {
        self.0.fetch_add(1, Ordering::SeqCst);
        let _counted = Counted(&self.0);
        Ok(next.run(request).await)
    }
}
