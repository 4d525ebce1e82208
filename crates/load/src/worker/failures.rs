//! Counts failures, and retries after a pause.

use bakeoff_model::load::ErrorClass;

use super::Worker;
use super::connection::ConnectionStage;
use crate::clock::now_ns;
use crate::protocol::interface::Protocol as _;
use crate::tally::Failure;
use crate::transport::reactor::Reactor;

/// Failed attempts after which a connection is given up until the window opens.
const ATTEMPTS_MAX: u32 = 3;

/// Attempts at a request that connections ended, which the service had not processed.
const UNPROCESSED_MAX: u8 = 3;

/// Attempts at an idempotent request on a connection that the service closed between two responses.
const CLOSED_MAX: u8 = 1;

/// Distances between two looks for timeouts, ns.
const SCAN_NS_MIN: u64 = 1_000_000;
const SCAN_NS_MAX: u64 = 50_000_000;

impl<R: Reactor> Worker<'_, R> {
    /// Handles a connection that cannot continue. An idle one that ends, or sends something
    /// unsolicited (such as a timeout response before it closes), costs no request: another one is
    /// opened.
    pub(super) fn failed(&mut self, connection: usize, class: ErrorClass, message: String) {
        let one = self.connections.get(connection);
        if one.stage == ConnectionStage::Closed {
            return;
        }
        // The reason that the protocol gives the other side.
        self.connections.flush(connection);
        if self.connections.get(connection).is_opening() || self.connections.is_busy(connection) {
            if self.postpone_unanswered(connection, class) {
                return self.reopen(connection);
            }
            self.fail_connection(connection, class, &message);
        } else {
            self.reopen(connection);
        }
    }

    /// Notes that a request has to be sent once more because the service closed its connection
    /// between two responses without announcing it; `false` if that is not what happened.
    fn postpone_unanswered(&mut self, connection: usize, class: ErrorClass) -> bool {
        let slots = self.connections.slots_of(connection);
        let one = self.connections.get_mut(connection);
        let between = matches!(class, ErrorClass::EarlyClose | ErrorClass::Reset)
            && one.answered
            && slots.len() == 1
            && !one.protocol.response(0).begun;
        let request = self
            .requests
            .get(self.connections.slot(slots.start).request);
        between && request.is_idempotent && self.connections.postpone(slots.start, CLOSED_MAX)
    }

    /// Has a request sent once more that the service did not process, unless that was done often.
    pub(super) fn send_again(&mut self, index: usize, message: &str) {
        if !self.connections.postpone(index, UNPROCESSED_MAX) {
            self.fail_request(index, ErrorClass::EarlyClose, message);
        }
    }

    /// Counts the requests of a connection that cannot be sent once more; `false` without one.
    fn fail_postponed(
        &mut self,
        connection: usize,
        now: u64,
        class: ErrorClass,
        message: &str,
    ) -> bool {
        let mut any = false;
        for index in self.connections.slots_of(connection) {
            if self.connections.take_postponed(index) {
                self.count_failure(index, now, class, message);
                any = true;
            }
        }
        any
    }

    /// Handles a failed connection, with every request on it: counts them and retries after a
    /// pause.
    fn fail_connection(&mut self, connection: usize, class: ErrorClass, message: &str) {
        let now = now_ns();
        let in_window = self.in_window(now);
        let one = self.connections.get_mut(connection);
        one.failures += 1;
        if in_window && one.is_opening() {
            if !self.fail_postponed(connection, now, class, message) {
                self.fail_waiting(connection, now, class, message);
            }
        } else if !in_window {
            self.opening_failure = Some(message.to_owned());
        } else {
            for index in self.connections.slots_of(connection) {
                if self.connections.slot(index).in_flight {
                    self.count_failure(index, now, class, message);
                }
            }
        }
        self.connections.close(connection);
        if in_window || self.connections.get(connection).failures < ATTEMPTS_MAX {
            self.connections.retry_connection(connection, now);
        }
    }

    /// Handles a connection that could not be made, which fails the requests that wait for it. A
    /// bounded step ends by that too.
    fn fail_waiting(&mut self, connection: usize, now: u64, class: ErrorClass, message: &str) {
        let since_ns = self.connections.get(connection).since_ns;
        let age_ns = now.saturating_sub(since_ns);
        let slots = self.connections.slots_of(connection);
        let tally = &mut self.recorder.tally;
        let failure = Failure {
            class,
            message,
            request: None,
            age_ns,
            response_ns: age_ns,
        };
        if self.schedule.is_open_load() {
            // The one that has waited longest; without any the attempt was for no request yet.
            let Some(due) = self.schedule.take_waiting() else {
                return;
            };
            let waited_ns = now.saturating_sub(due.at_ns);
            let users = self.schedule.users.as_ref();
            let ready = users.and_then(|users| {
                let mut slots = slots.clone();
                slots.find_map(|index| Some((index, users.ready_request(index)?)))
            });
            tally.fail(&Failure {
                request: ready.map(|(_, request)| request),
                age_ns: waited_ns,
                response_ns: waited_ns,
                ..failure
            });
            if let (Some((index, _)), Some(users)) = (ready, &mut self.schedule.users) {
                users.go_on(index, false, now, tally);
            }
            return;
        }
        if self.schedule.users.is_none() {
            if self.schedule.take_request() {
                tally.fail(&failure);
            }
            return;
        }
        for index in slots {
            let users = self.schedule.users.as_ref();
            let ready = users.and_then(|users| {
                let request = users.ready_request(index)?;
                Some((request, users.intended_ns(index)?))
            });
            let Some((request, intended_ns)) = ready else {
                continue;
            };
            if self.schedule.take_request() {
                tally.fail(&Failure {
                    request: Some(request),
                    response_ns: now.saturating_sub(intended_ns),
                    ..failure
                });
                if let Some(users) = &mut self.schedule.users {
                    users.go_on(index, false, now, tally);
                }
            }
        }
    }

    /// Handles a failed request whose connection continues: counts it and sends another one after a
    /// pause.
    pub(super) fn fail_request(&mut self, index: usize, class: ErrorClass, message: &str) {
        let now = now_ns();
        let in_window = self.in_window(now);
        if !self.connections.end_request(index) {
            return;
        }
        if in_window {
            self.count_failure(index, now, class, message);
            let (connection, _) = self.connections.slot_of(index);
            let one = self.connections.get_mut(connection);
            one.failures += 1;
            let at_ns = now + one.backoff_ns();
            self.connections.retry_at(at_ns, index);
        }
    }

    /// Counts the failure of a request that was sent and whose response did not arrive, or not
    /// completely.
    fn count_failure(&mut self, index: usize, now: u64, class: ErrorClass, message: &str) {
        let slot = self.connections.slot(index);
        let age_ns = now.saturating_sub(slot.sent_ns);
        let from_intended_ns = now.saturating_sub(slot.intended_ns);
        let request = slot.request;
        let tally = &mut self.recorder.tally;
        tally.fail(&Failure {
            class,
            message,
            request: Some(request),
            age_ns,
            response_ns: match self.schedule.has_intended_times() {
                true => from_intended_ns,
                false => age_ns,
            },
        });
        tally.leave_unanswered(request);
        if matches!(class, ErrorClass::HeaderTimeout | ErrorClass::BodyTimeout) {
            tally.censored.record(from_intended_ns);
        }
        self.go_on(index, false, now);
    }

    /// Lets the user of a slot, if it has one, continue after its request. A user that is done and
    /// opened its connection itself closes it.
    #[inline]
    pub(super) fn go_on(&mut self, index: usize, is_right: bool, now: u64) {
        let Some(users) = &mut self.schedule.users else {
            return;
        };
        let is_done = users.go_on(index, is_right, now, &mut self.recorder.tally);
        if is_done && self.spec.connects_on_arrival() {
            let (connection, _) = self.connections.slot_of(index);
            self.begin_draining(connection);
        }
    }

    /// Fails requests that have waited too long. Checked now and then: a timeout may be noticed
    /// late by a fiftieth of itself.
    pub(super) fn expire(&mut self, now: u64) {
        if now < self.scan_ns {
            return;
        }
        let (connect_ns, response_ns) = (self.spec.timeout_connect_ns, self.spec.timeout_answer_ns);
        let every_ns = connect_ns.min(response_ns) / 50;
        self.scan_ns = now + every_ns.clamp(SCAN_NS_MIN, SCAN_NS_MAX);
        // The limit and not the age, so that all have one message.
        let late = |limit_ns: u64| format!("not complete within {} ms", limit_ns / 1_000_000);
        for connection in 0..self.connections.len() {
            let sending = self.connections.is_sending(connection);
            let one = self.connections.get_mut(connection);
            one.look_at_sending(sending);
            let age_ns = now.saturating_sub(one.since_ns);
            if one.is_opening() && age_ns > connect_ns {
                self.fail_connection(connection, ErrorClass::ConnectTimeout, &late(connect_ns));
            } else if one.is_up() && !sending {
                // Bytes that were held back while the kernel accepted nothing more.
                self.connections.flush(connection);
            }
        }
        for index in 0..self.connections.slot_count() {
            let slot = self.connections.slot(index);
            let age_ns = now.saturating_sub(slot.sent_ns);
            if slot.in_flight && age_ns > response_ns {
                self.time_out(index, &late(response_ns));
            }
        }
    }

    /// Fails a request whose response did not come in time.
    fn time_out(&mut self, index: usize, message: &str) {
        let (connection, slot) = self.connections.slot_of(index);
        let one = self.connections.get_mut(connection);
        let class = if one.protocol.response(slot).begun {
            ErrorClass::BodyTimeout
        } else {
            ErrorClass::HeaderTimeout
        };
        let message = match one.protocol.ends_with_connection(slot) {
            true => &format!("{message}: the response has neither a length nor an end"),
            false => message,
        };
        // A dead connection accepts no cancellation either.
        if one.is_dead(slot) || !one.protocol.cancel(slot) {
            self.fail_connection(connection, class, message);
        } else {
            self.fail_request(index, class, message);
            self.connections.flush(connection);
            self.end_draining(connection);
        }
    }

    /// Notes that no more requests may be sent on a connection.
    pub(super) fn begin_draining(&mut self, connection: usize) {
        let one = self.connections.get_mut(connection);
        match one.stage {
            ConnectionStage::Established => one.stage = ConnectionStage::Draining,
            ConnectionStage::Handshake => {
                let message = "closed right after connecting";
                self.fail_connection(connection, ErrorClass::EarlyClose, message);
            }
            _ => {}
        }
    }

    /// Replaces a draining connection once no request is in flight on it.
    pub(super) fn end_draining(&mut self, connection: usize) {
        let one = self.connections.get(connection);
        if one.stage != ConnectionStage::Draining || self.connections.is_busy(connection) {
            return;
        }
        if one.used {
            self.reopen(connection);
        } else {
            // The connection was useless: it counts as one that could not be made.
            self.connections.disestablish(connection);
            let message = "closed before a request could be sent";
            self.fail_connection(connection, ErrorClass::EarlyClose, message);
        }
    }

    /// Closes a connection that did nothing wrong and opens another one: immediately if it carried
    /// a request, otherwise after a pause, so that a service that closes what it accepts is not
    /// flooded with connections.
    fn reopen(&mut self, connection: usize) {
        self.connections.close(connection);
        let one = self.connections.get_mut(connection);
        one.failures += u32::from(!one.used);
        self.connections.retry_connection(connection, now_ns());
    }
}
