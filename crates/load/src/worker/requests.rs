//! Sends requests and takes responses.

use super::Worker;
use super::connection::ConnectionStage;
use crate::clock::now_ns;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::protocol::response::Capture;
use crate::tally::Failure;
use crate::transport::reactor::Reactor;

impl<R: Reactor> Worker<'_, R> {
    /// Handles all events of the last wait, then sends the next requests: one kind of work after
    /// the other finds its code in the cache.
    pub(super) fn handle_events(&mut self) {
        while let Some(connection) = self.connections.next(&mut self.events) {
            let mut events = std::mem::take(&mut self.events);
            for event in events.drain(..) {
                self.handle(connection, event);
            }
            self.events = events;
            self.settle(connection);
            if self.connections.has_unread() {
                self.send_next();
            }
        }
        self.send_next();
    }

    #[inline]
    fn handle(&mut self, connection: usize, event: ProtocolEvent) {
        let first = self.connections.slots_of(connection).start;
        match event {
            ProtocolEvent::Response { slot, received_ns } => {
                self.take_response(connection, slot, received_ns);
            }
            ProtocolEvent::Established => self.established(connection),
            ProtocolEvent::RequestFailed {
                slot,
                class,
                message,
            } => self.fail_request(first + slot, class, &message),
            ProtocolEvent::Unprocessed { slot, message } => {
                self.send_again(first + slot, &message);
            }
            ProtocolEvent::CapacityGrew => self.send_all(connection),
            ProtocolEvent::Draining => self.begin_draining(connection),
            ProtocolEvent::Failed { class, message } => self.failed(connection, class, message),
        }
    }

    /// Sends, after the events of a connection, the bytes of its protocol, unless requests will be
    /// sent with them.
    #[inline]
    fn settle(&mut self, connection: usize) {
        let last = self.responded.last();
        let responded = last.is_some_and(|index| self.connections.slot_of(*index).0 == connection);
        if self.connections.get(connection).stage == ConnectionStage::Draining {
            self.connections.flush(connection);
            self.end_draining(connection);
        } else if !responded {
            self.connections.flush(connection);
        }
    }

    /// Handles a connection on which requests may be sent.
    fn established(&mut self, connection: usize) {
        // It may have failed because of earlier bytes.
        if !self.connections.get(connection).is_opening() {
            return;
        }
        self.connections.establish(connection);
        let now = now_ns();
        if self.in_window(now) {
            let since_ns = self.connections.get(connection).since_ns;
            self.recorder.tally.reconnects += u64::from(!self.is_arrival(connection));
            self.recorder.tally.connecting_ns += now.saturating_sub(since_ns);
        }
        self.send_all(connection);
    }

    /// Judges and counts a complete response.
    #[inline]
    fn take_response(&mut self, connection: usize, slot: usize, received_ns: u64) {
        // Checked first: a response that arrives too late is still in flight when the window
        // closes.
        let in_window = self.in_window(received_ns);
        let index = self.connections.slots_of(connection).start + slot;
        if !self.connections.end_request(index) {
            return;
        }
        self.connections.slot_mut(index).received_ns = received_ns;
        let is_sending = self.connections.is_sending(connection);
        let one = self.connections.get_mut(connection);
        one.failures = 0;
        one.answered = true;
        if is_sending && one.protocol.needs_complete_requests() {
            one.stage = ConnectionStage::Draining;
        }
        if in_window {
            self.count_response(connection, slot, received_ns);
        }
        if self.connections.get(connection).protocol.has_refused() {
            // Immediately: slots whose response arrives in the same batch must not have their turn
            // before those that wait.
            self.pass_on(index, now_ns());
        }
        self.responded.push(index);
    }

    #[inline]
    fn count_response(&mut self, connection: usize, slot: usize, received_ns: u64) {
        let index = self.connections.slots_of(connection).start + slot;
        let state = self.connections.slot(index);
        let mut service_ns = received_ns.saturating_sub(state.sent_ns);
        let response_ns = received_ns.saturating_sub(state.intended_ns);
        let request_index = state.request;
        let request = self.requests.get(request_index);
        let protocol = &mut self.connections.get_mut(connection).protocol;
        let response = protocol.response(slot);
        let mut verdict = self.checks.verdict(request, response);
        if let (Ok(()), Some(users)) = (&verdict, &mut self.schedule.users) {
            verdict = users.learn(index, response, &request.name);
        }
        match self.checks.age_ns(response, received_ns) {
            Ok(None) => {}
            Ok(Some(age_ns)) => service_ns = age_ns,
            Err(wrong) => verdict = Err(wrong),
        }
        let (first_byte_ns, is_redirect) = (response.first_byte_ns, response.status / 100 == 3);
        let tally = &mut self.recorder.tally;
        let is_right = verdict.is_ok();
        match verdict {
            Ok(()) => {
                tally.redirects += u64::from(is_redirect);
                let response_ns = self.schedule.has_intended_times().then_some(response_ns);
                tally.succeed(request_index, service_ns, response_ns);
                if first_byte_ns > 0 && first_byte_ns < received_ns {
                    tally.come_in_parts(service_ns, received_ns - first_byte_ns);
                }
                self.connections.slot_mut(index).responses += 1;
            }
            Err((class, message)) => tally.fail(&Failure {
                class,
                message: &message,
                request: Some(request_index),
                age_ns: service_ns,
                response_ns: match self.schedule.has_intended_times() {
                    true => response_ns,
                    false => service_ns,
                },
            }),
        }
        self.go_on(index, is_right, received_ns);
    }

    /// Sends the next requests of the slots whose response arrived. Those on one connection are
    /// sent together.
    #[inline]
    fn send_next(&mut self) {
        let mut responded = std::mem::take(&mut self.responded);
        for (at, &index) in responded.iter().enumerate() {
            self.pass_on(index, now_ns());
            let (connection, _) = self.connections.slot_of(index);
            let next = responded.get(at + 1);
            if next.is_none_or(|next| self.connections.slot_of(*next).0 != connection) {
                self.connections.flush(connection);
            }
        }
        responded.clear();
        self.responded = responded;
    }

    /// Sends a request from each free slot of a connection if there is one to send.
    pub(super) fn send_all(&mut self, connection: usize) {
        for index in self.connections.slots_of(connection) {
            self.offer(index, now_ns());
        }
        self.connections.flush(connection);
    }

    /// Continues with the connections and slots whose pause after a failure is over.
    pub(super) fn retry(&mut self, now: u64) {
        while let Some(index) = self.connections.take_retry(now) {
            let (connection, _) = self.connections.slot_of(index);
            if connection >= self.connections.len() {
                continue;
            }
            match self.connections.get(connection).stage {
                ConnectionStage::Closed if self.is_wanted(connection) => {
                    self.connections.connect(connection, now);
                }
                ConnectionStage::Established => {
                    self.pass_on(index, now);
                    self.connections.flush(connection);
                }
                _ => {}
            }
        }
    }

    /// Whether a closed connection has to be opened: never to a target that may not be loaded any
    /// more, and if users open their connections, only one that a user waits for.
    fn is_wanted(&self, connection: usize) -> bool {
        if self.is_stopped() {
            return false;
        }
        let first = self.connections.slots_of(connection).start;
        !self.spec.connects_on_arrival() || self.schedule.wanted(first).is_some()
    }

    /// Whether a connection is the first one of its user, opened to send its first request.
    fn is_arrival(&self, connection: usize) -> bool {
        let first = self.connections.slots_of(connection).start;
        self.spec.connects_on_arrival() && self.schedule.wanted(first) == Some(0)
    }

    /// Sends due requests in open load and for users, drops those that have waited too long, and
    /// returns when the next request is due.
    pub(super) fn send_due(&mut self, now: u64) -> Option<u64> {
        if !self.schedule.is_open_load() {
            return self.wake_users(now);
        }
        let tally = &mut self.recorder.tally;
        self.schedule.collect_due(now, tally);
        let bound_ns = self.spec.timeout_answer_ns;
        self.schedule.drop_overdue(now, bound_ns, tally);
        while let Some(index) = self.schedule.take_free() {
            self.send_from(index, now_ns());
        }
        self.schedule.next_due_ns()
    }

    /// Lets users whose think time is over continue; returns when the next one is over.
    fn wake_users(&mut self, now: u64) -> Option<u64> {
        while let Some(index) = self.schedule.users.as_mut()?.wake(now) {
            let (connection, _) = self.connections.slot_of(index);
            match self.connections.get(connection).stage {
                ConnectionStage::Established => self.send_from(index, now_ns()),
                ConnectionStage::Closed if self.spec.connects_on_arrival() => {
                    self.connections.connect(connection, now_ns());
                }
                _ => {}
            }
        }
        self.schedule.users.as_ref()?.next_due_ns()
    }

    /// Sends a request from one slot, if there is one to send.
    fn send_from(&mut self, index: usize, now: u64) {
        self.offer(index, now);
        let (connection, _) = self.connections.slot_of(index);
        self.connections.flush(connection);
    }

    /// Ends a request, or the pause after it, so that another one may be sent. If the service
    /// allows fewer at a time than there are slots, those that wait have their turn first. At most
    /// one request is sent, so that the pauses after failures remain.
    #[inline]
    fn pass_on(&mut self, index: usize, now: u64) {
        let (connection, slot) = self.connections.slot_of(index);
        if self.connections.get(connection).protocol.has_refused() {
            self.pass_around(connection, slot, now);
        } else {
            self.offer(index, now);
        }
    }

    /// Sends a request from the first slot of a connection, after the one given, that has one to
    /// send.
    fn pass_around(&mut self, connection: usize, slot: usize, now: u64) {
        if !self.connections.has_capacity(connection) {
            return;
        }
        let (in_flight, slots) = (
            self.connections.in_flight(),
            self.connections.slots_of(connection),
        );
        for step in 1..=slots.len() {
            self.offer(slots.start + (slot + step) % slots.len(), now);
            if self.connections.in_flight() > in_flight {
                return;
            }
        }
        let one = self.connections.get_mut(connection);
        one.protocol.forget_refused();
    }

    /// Offers a slot the next request, which is taken if the slot is free, its connection has the
    /// capacity, and there is one to send. It is sent with the next flush of the connection.
    #[inline]
    fn offer(&mut self, index: usize, now: u64) {
        let (connection, _) = self.connections.slot_of(index);
        if self.connections.slot(index).in_flight || !self.connections.has_capacity(connection) {
            return;
        }
        if self.connections.take_postponed(index) {
            return self.resend(index);
        }
        let freed_ns = self.connections.slot(index).received_ns;
        let tally = &mut self.recorder.tally;
        if let Some(intended_ns) = self.schedule.claim(index, (now, freed_ns), tally) {
            self.send(index, intended_ns, now);
        }
    }

    /// Passes the next request of a free slot to the protocol.
    #[inline]
    fn send(&mut self, index: usize, intended_ns: u64, now: u64) {
        let state = self.connections.begin_request(index);
        let users = self.schedule.users.as_ref();
        let (request_index, capture) = match users {
            None => {
                let of_turn = || self.requests.index_at(state.turn - 1);
                let request = self.schedule.recorded().unwrap_or_else(of_turn);
                (request, Capture::Nothing)
            }
            Some(users) => users.request_of(index),
        };
        state.request = request_index;
        state.sent_ns = now;
        state.intended_ns = intended_ns;
        if state.received_ns > 0 {
            self.recorder.tally.turnaround_ns += now.saturating_sub(state.received_ns);
            state.received_ns = 0;
        }
        self.hand_over(index, request_index, capture);
    }

    /// Sends the request of a slot once more. Its times are still those of the first attempt.
    fn resend(&mut self, index: usize) {
        self.connections.resume_request(index);
        let request_index = self.connections.slot(index).request;
        let users = self.schedule.users.as_ref();
        let capture = users.map_or(Capture::Nothing, |users| users.request_of(index).1);
        self.hand_over(index, request_index, capture);
    }

    /// Passes a request to the protocol.
    #[inline]
    fn hand_over(&mut self, index: usize, request_index: usize, capture: Capture) {
        let (connection, slot) = self.connections.slot_of(index);
        let users = self.schedule.users.as_ref();
        let request = self.requests.get(request_index);
        let capture = self.checks.capture(request, capture);
        let one = self.connections.get_mut(connection);
        one.used = true;
        match users {
            None => one.protocol.send(slot, request.outgoing(), capture),
            Some(users) => {
                let mut rendered = users.render(index);
                let request = request.with(&mut rendered);
                one.protocol.send(slot, request, capture);
            }
        }
    }
}
