//! The signals that stop a command.

use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C or a termination signal.
pub(crate) async fn interrupted() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
