//! Records the counts of a thread, slice by slice.

use std::sync::mpsc::{Receiver, Sender};

use bakeoff_model::load::CpuTime;

use super::channels::Report;
use crate::clock::{cpu_between, thread_cpu};
use crate::tally::Tally;

/// The tally of the running slice, and its destination at the end.
#[derive(Debug)]
pub(super) struct Recorder {
    /// The counts of the running slice.
    pub(super) tally: Box<Tally>,
    /// Empty tallies.
    spares: Receiver<Box<Tally>>,
    reports: Sender<(usize, Report)>,
    thread: usize,
    /// Index of the target.
    side: u32,
    /// Number of requests that are counted separately.
    parts: usize,
    /// Readings at the start of the slice.
    cpu: CpuTime,
    bytes: (u64, u64),
}

impl Recorder {
    /// A recorder before the first step.
    pub(super) fn new(
        thread: usize,
        side: u32,
        parts: usize,
        reports: Sender<(usize, Report)>,
        spares: Receiver<Box<Tally>>,
    ) -> Self {
        Self {
            tally: Tally::boxed(parts),
            spares,
            reports,
            thread,
            side,
            parts,
            cpu: CpuTime::default(),
            bytes: (0, 0),
        }
    }

    /// Sends to the coordinator.
    pub(super) fn report(&self, report: Report) {
        // A coordinator that is gone is noticed at the next command.
        let _ = self.reports.send((self.thread, report));
    }

    /// Starts a step; `bytes` were sent and received so far.
    pub(super) fn begin(&mut self, bytes: (u64, u64)) {
        self.tally.clear();
        self.cpu = thread_cpu();
        self.bytes = bytes;
    }

    /// Charges the CPU that the thread used since the last look to the slice.
    pub(super) fn charge(&mut self) {
        let cpu = thread_cpu();
        self.tally.cpu += cpu_between(self.cpu, cpu);
        self.cpu = cpu;
    }

    /// Skips the CPU that the thread used since the last look: it was not for this target.
    pub(super) fn leave_out(&mut self) {
        self.cpu = thread_cpu();
    }

    /// Starts a slice, with these connections and requests that they may have in flight.
    pub(super) fn begin_slice(
        &mut self,
        slice: u32,
        start_ns: u64,
        established: u32,
        in_flight_max: u32,
    ) {
        self.tally.side = self.side;
        self.tally.slice = slice;
        self.tally.start_ns = start_ns;
        self.tally.established = established;
        self.tally.in_flight_max = in_flight_max;
    }

    /// Passes the tally of the slice that ends to the coordinator and takes an empty one.
    pub(super) fn end_slice(&mut self, end_ns: u64, last: bool, bytes: (u64, u64)) {
        self.charge();
        self.tally.sent_bytes = bytes.0 - self.bytes.0;
        self.tally.received_bytes = bytes.1 - self.bytes.1;
        self.bytes = bytes;
        self.tally.end_ns = end_ns;
        self.tally.last = last;
        // The coordinator lays out more spares than it keeps tallies; should it fall behind, one
        // allocation is better than a lost slice.
        let spare = self.spares.try_recv();
        let spare = spare.unwrap_or_else(|_| Tally::boxed(self.parts));
        let tally = std::mem::replace(&mut self.tally, spare);
        self.report(Report::Slice(tally));
    }
}
