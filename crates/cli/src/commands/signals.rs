//! The signals that stop a command.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// One person or program that wants an end often sends several signals: `timeout` signals its child
/// and then the whole group.
const SAME: Duration = Duration::from_secs(1);

/// Waits for Ctrl-C, a termination signal, or the end of the terminal.
pub(crate) async fn interrupted() {
    match Ends::watch() {
        Some(mut ends) => ends.next().await,
        None => std::future::pending().await,
    }
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
