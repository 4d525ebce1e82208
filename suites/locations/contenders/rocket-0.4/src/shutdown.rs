//! Ends the process on SIGTERM and SIGINT, after the requests under way: Rocket 0.4 serves until it
//! is killed.

use std::{
    io, process,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        Arc,
    },
    thread,
    time::{Duration, Instant},
};

use rocket::{
    fairing::{Fairing, Info, Kind},
    http::hyper::header::Connection,
    Data, Request, Response,
};
use signal_hook::{consts::TERM_SIGNALS, iterator::Signals};

/// How long requests under way may take to end.
const LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// An answer is counted as given before it is written, because nothing tells when it is.
const WRITING: Duration = Duration::from_millis(100);

/// Counts the requests under way. Clones share the count.
#[derive(Clone, Default)]
pub struct Shutdown {
    under_way: Arc<AtomicUsize>,
    begun: Arc<AtomicBool>,
}

impl Shutdown {
    /// Waits for a signal on a thread of its own.
    pub fn on_signal(&self) -> io::Result<()> {
        let mut signals = Signals::new(TERM_SIGNALS)?;
        let shutdown = self.clone();
        thread::Builder::new()
            .name("shutdown".to_owned())
            .spawn(move || {
                if signals.forever().next().is_some() {
                    shutdown.stop();
                }
            })?;
        Ok(())
    }

    /// New requests are taken until the end, because the listener cannot be closed.
    fn stop(&self) -> ! {
        self.begun.store(true, Ordering::SeqCst);
        let limit = Instant::now() + LIMIT;
        while self.under_way.load(Ordering::SeqCst) > 0 && Instant::now() < limit {
            thread::sleep(POLL);
        }
        thread::sleep(WRITING);
        match self.under_way.load(Ordering::SeqCst) {
            0 => log::info!("stopped"),
            some => log::warn!("stopped with {some} requests under way"),
        }
        process::exit(0)
    }
}

impl Fairing for Shutdown {
    fn info(&self) -> Info {
        Info {
            name: "Shutdown",
            kind: Kind::Request | Kind::Response,
        }
    }

    fn on_request(&self, _: &mut Request<'_>, _: &Data) {
        self.under_way.fetch_add(1, Ordering::SeqCst);
    }

    fn on_response(&self, _: &Request<'_>, response: &mut Response<'_>) {
        if self.begun.load(Ordering::SeqCst) {
            response.set_header(Connection::close());
        }
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}
