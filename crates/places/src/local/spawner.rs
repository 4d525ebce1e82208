//! A thread that starts all processes. The signal that kills a child when its parent ends is
//! sent when the parent *thread* ends, so children must not come from a thread of a pool.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

type SpawnRequest = (Command, Sender<io::Result<Child>>);

/// Starts a process from the thread that lives as long as this process.
///
/// # Errors
/// As [`Command::spawn`].
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    static ORDERS: OnceLock<Mutex<Sender<SpawnRequest>>> = OnceLock::new();
    let orders = ORDERS.get_or_init(|| {
        let (sender, receiver) = channel::<SpawnRequest>();
        thread::spawn(move || {
            for (mut command, reply) in receiver {
                // The asker waits for the reply, so it is there to take it.
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let (reply, answer) = channel();
    let sent = orders
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, reply));
    let gone = || io::Error::other("the thread that starts processes has ended");
    sent.map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}
