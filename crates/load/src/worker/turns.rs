//! The turns of a thread on one of several targets.

use rustix::io::Errno;

use super::connection::ConnectionStage;
use super::{WAIT_NS_MAX, Worker};
use crate::clock::now_ns;
use crate::tally::TurnTally;
use crate::transport::reactor::Reactor;
use crate::turns::gate::{Turn, TurnCpu};

impl<R: Reactor> Worker<'_, R> {
    /// Starts a step in turns, without a request.
    pub(crate) fn begin_turns(&mut self, step: usize, start_ns: u64) {
        self.set_up_window(step, start_ns, u64::MAX);
        self.schedule.send_until(0);
        self.connections.clear_postponed();
    }

    /// Plays a turn of a step: closed load for its length, then waits for requests in flight and
    /// for connections that are being reopened. Returns how long the requests in flight took, ns: 0
    /// without a successful one, so that a dead target does not affect the length of turns.
    pub(crate) fn play_turn(&mut self, turn: &Turn) -> Result<u64, Errno> {
        self.recorder.leave_out();
        let tally = &self.recorder.tally;
        let (requests, failed) = (tally.requests, tally.failed());
        // A service may have closed connections, or sent something, while it idled.
        self.turn(0)?;
        self.schedule.send_until(turn.until_ns);
        for slot in self.connections.all_slots() {
            slot.received_ns = 0;
        }
        if let Some(users) = &mut self.schedule.users {
            users.go_on_at(turn.start_ns);
        }
        self.send_first(turn.start_ns);
        // How long to wait for connections that are being reopened.
        let patience_ns = turn.until_ns + (turn.until_ns - turn.start_ns);
        let mut drained_ns = None;
        let end_ns = loop {
            let now = now_ns();
            if self.is_stopped() {
                break now;
            }
            if now >= turn.until_ns && self.connections.in_flight() == 0 {
                drained_ns.get_or_insert(now);
                let is_open = self.connections.opening() == 0 && !self.connections.has_unfinished();
                let is_settled = now >= patience_ns || is_open;
                if is_settled {
                    break now;
                }
            }
            let end_ns = match now < turn.until_ns {
                true => turn.until_ns,
                false => now + WAIT_NS_MAX,
            };
            let until_ns = self.send_due(now).map_or(end_ns, |due| due.min(end_ns));
            self.wait_until(until_ns)?;
        };
        self.schedule.send_until(0);
        self.recorder.charge();
        let tally = &mut self.recorder.tally;
        let (requests, failed) = (tally.requests - requests, tally.failed() - failed);
        tally.turns.push(TurnTally {
            block: turn.block,
            start_ns: turn.start_ns,
            until_ns: turn.until_ns,
            end_ns,
            requests,
            failed,
            own_cpu_ns: 0,
            others_cpu_ns: 0,
        });
        Ok(match requests {
            0 => 0,
            _ => drained_ns.unwrap_or(end_ns).saturating_sub(turn.until_ns),
        })
    }

    /// Notes the CPU time of the last turn.
    pub(crate) fn note_cpu(&mut self, cpu: &TurnCpu) {
        if let Some(turn) = self.recorder.tally.turns.last_mut() {
            (turn.own_cpu_ns, turn.others_cpu_ns) = (cpu.own_ns, cpu.others_ns);
        }
    }

    /// Ends the slice between two turns and starts the next one.
    pub(crate) fn end_slice_of_turns(&mut self, end_ns: u64) {
        let slice = self.recorder.tally.slice;
        let bytes = self.connections.bytes();
        self.recorder.leave_out();
        self.recorder.end_slice(end_ns, false, bytes);
        self.begin_slice(slice + 1, end_ns, 0);
    }

    /// Ends the step after its last turn.
    pub(crate) fn end_turns(&mut self, end_ns: u64) {
        self.recorder.leave_out();
        self.close_window(end_ns);
        self.schedule.end();
    }

    /// Sends the first requests of a window or turn, and opens the connections that are closed.
    pub(super) fn send_first(&mut self, start_ns: u64) {
        self.connections.clear_retries();
        self.connections.forgive();
        for connection in 0..self.connections.len() {
            match self.connections.get(connection).stage {
                ConnectionStage::Established => self.send_all(connection),
                ConnectionStage::Closed => self.connections.retry_connection(connection, start_ns),
                _ => {}
            }
        }
    }
}
