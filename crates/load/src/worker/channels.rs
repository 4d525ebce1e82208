//! Messages between the coordinator and its threads, and the threads' identities.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use rustix::io::Errno;

use crate::shared::{Allowance, Stop};
use crate::tally::Tally;

/// A command of the coordinator to a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Command {
    /// Open the connections of this step.
    Prepare(usize),
    /// Open the window of the prepared step at this time, monotonic ns.
    Open(u64),
}

/// A report of a thread to the coordinator.
#[derive(Debug)]
pub(crate) enum Report {
    /// The connections of the step to the target of this index are open, except failed ones.
    Ready(usize, Ready),
    /// The window opened at this time, monotonic ns.
    Opened(u64),
    /// A slice ended.
    Slice(Box<Tally>),
    /// The step ended and nothing is in flight.
    Drained,
    /// The thread cannot go on.
    Failed(Errno),
}

/// The connections with which a thread starts a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready {
    /// Number of established connections.
    pub(crate) established: u32,
    /// Requests that these connections may have in flight together.
    pub(crate) in_flight_max: u32,
    /// The fewest streams that one of them may have; `None` without streams.
    pub(crate) streams: Option<u32>,
    /// Why the last attempt to open a connection failed.
    pub(crate) failure: Option<String>,
}

/// A worker's ends of the channels to the coordinator, and what it shares with all threads.
#[derive(Debug)]
pub(crate) struct WorkerChannels {
    /// Index of the target.
    pub(crate) side: u32,
    /// The result, with the index of the thread.
    pub(crate) reports: Sender<(usize, Report)>,
    /// Empty tallies.
    pub(crate) spares: Receiver<Box<Tally>>,
    /// The requests that the threads may still start in this step of closed load.
    pub(crate) allowance: Arc<Allowance>,
    /// Whether the run has to end.
    pub(crate) stop: Stop,
}
