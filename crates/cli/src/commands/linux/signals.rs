//! The signals that stop a command.

use std::process::exit;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::exit::INTERRUPTED;

/// One person or program that wants an end often sends several signals: `timeout` signals its child
/// and then the whole group.
const SAME: Duration = Duration::from_secs(1);

/// Waits for Ctrl-C, a termination signal, or the end of the terminal, as long as the future lives,
/// polled or not. From the first call on, another that comes a second later or more ends the
/// process, whatever it does; so does the first, while no such future lives.
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    static FIRST: OnceLock<Option<watch::Sender<bool>>> = OnceLock::new();
    let first = FIRST.get_or_init(watched).as_ref();
    let first = first.map(watch::Sender::subscribe);
    async move {
        match first {
            // The other end lives as long as the process.
            Some(mut first) => drop(first.wait_for(|is_there| *is_there).await),
            None => std::future::pending().await,
        }
    }
}

/// Watches the signals on a thread; whether the first was there. `None` if they cannot be watched.
fn watched() -> Option<watch::Sender<bool>> {
    let first = watch::Sender::new(false);
    let sender = first.clone();
    let (ready, is_ready) = channel();
    let watching = async move {
        let Some(mut ends) = Ends::watch() else {
            return;
        };
        let _ = ready.send(());
        ends.next().await;
        if sender.receiver_count() == 0 {
            end();
        }
        sender.send_replace(true);
        let at = Instant::now();
        loop {
            ends.next().await;
            if at.elapsed() >= SAME {
                end();
            }
        }
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let run = move || {
        runtime
            .enable_all()
            .build()
            .map(|runtime| runtime.block_on(watching))
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(run).ok()?;
    is_ready.recv().ok()?;
    Some(first)
}

/// Ends the process, whatever it does: its main function is at work or waits, and does not return.
#[expect(clippy::disallowed_methods, reason = "main cannot return")]
fn end() -> ! {
    exit(INTERRUPTED.into())
}

/// Waits for an interruption, calls `first`, and waits for another that comes a second later or
/// more.
pub(crate) async fn interrupted_twice(first: impl FnOnce()) {
    let Some(mut ends) = Ends::watch() else {
        return std::future::pending().await;
    };
    ends.next().await;
    first();
    let at = Instant::now();
    loop {
        ends.next().await;
        if at.elapsed() >= SAME {
            return;
        }
    }
}

struct Ends {
    interrupt: Signal,
    terminate: Signal,
    /// `None` under `nohup`.
    hangup: Option<Signal>,
}

impl Ends {
    fn watch() -> Option<Self> {
        let hangup = SignalKind::hangup();
        Some(Self {
            interrupt: signal(SignalKind::interrupt()).ok()?,
            terminate: signal(SignalKind::terminate()).ok()?,
            hangup: match is_ignored(hangup) {
                true => None,
                false => signal(hangup).ok(),
            },
        })
    }

    async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hangup => {}
        }
    }
}

/// Whether this process ignores a signal.
fn is_ignored(signal: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default();
    mask >> (signal.as_raw_value() - 1) & 1 == 1
}
