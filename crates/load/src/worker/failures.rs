//! What failed is counted, and tried again after a pause.

use std::cmp::Reverse;

use bakeoff_model::load::ErrorClass;

use super::Worker;
use super::window::Window;
use crate::clock::now_ns;
use crate::connection::State;
use crate::link::Stage;
use crate::reactor::Reactor;

impl<R: Reactor> Worker<'_, R> {
    /// A link failed, with every request on it: count them and try again after a pause.
    pub(super) fn fail_link(
        &mut self,
        slot: usize,
        class: ErrorClass,
        example: impl FnOnce() -> String,
    ) {
        let now = now_ns();
        let in_window = self.in_window(now);
        let link = &mut self.links[slot];
        link.failures += 1;
        if in_window && link.is_opening() {
            self.fail_wanted(slot, now, class, example);
        } else if in_window {
            let example = example();
            for index in self.connections_of(slot) {
                if self.connections[index].state == State::Busy {
                    self.count_failure(index, now, class, || example.clone());
                }
            }
        }
        self.drop_socket(slot);
        let link = &self.links[slot];
        if in_window || link.failures < super::ATTEMPTS_MAX {
            let at = now + link.backoff_ns();
            self.retries.push(Reverse((at, slot * self.width)));
        }
    }

    /// A link could not be made: that fails the requests that it was wanted for. A bounded step
    /// ends by that too.
    fn fail_wanted(
        &mut self,
        slot: usize,
        now: u64,
        class: ErrorClass,
        example: impl FnOnce() -> String,
    ) {
        let age_ns = now.saturating_sub(self.links[slot].since_ns);
        let Some(window) = &mut self.window else {
            return;
        };
        if window.is_scheduled() {
            // The one that has waited longest; without any the attempt was for nobody yet.
            let Some(due_ns) = self.waiting.pop_front() else {
                return;
            };
            self.tally.fail(class, now.saturating_sub(due_ns), example);
            let mut asked = self.connections_of(slot).filter_map(|index| {
                let request = self.wanted_request(index)?;
                Some((index, request))
            });
            if let Some((index, request)) = asked.next() {
                self.tally.fail_request(request);
                self.user_goes_on(index, false, now);
            }
        } else if self.users.is_some() {
            let example = example();
            for index in self.connections_of(slot) {
                let Some(request) = self.wanted_request(index) else {
                    continue;
                };
                if self.window.as_mut().is_some_and(Window::take_request) {
                    self.tally.fail(class, age_ns, || example.clone());
                    self.tally.fail_request(request);
                    self.user_goes_on(index, false, now);
                }
            }
        } else if window.take_request() {
            self.tally.fail(class, age_ns, example);
        }
    }

    /// A request failed and its link goes on: count it and send another one after a pause.
    pub(super) fn fail_request(
        &mut self,
        index: usize,
        class: ErrorClass,
        example: impl FnOnce() -> String,
    ) {
        let now = now_ns();
        let in_window = self.in_window(now);
        if self.connections[index].state != State::Busy {
            return;
        }
        self.connections[index].state = State::Idle;
        self.busy -= 1;
        if in_window {
            self.count_failure(index, now, class, example);
            let (slot, _) = self.link_of(index);
            let link = &mut self.links[slot];
            link.failures += 1;
            let at = now + link.backoff_ns();
            self.retries.push(Reverse((at, index)));
        }
    }

    /// Counts the failure of a request that was sent.
    fn count_failure(
        &mut self,
        index: usize,
        now: u64,
        class: ErrorClass,
        example: impl FnOnce() -> String,
    ) {
        let connection = &self.connections[index];
        let age_ns = now.saturating_sub(connection.since_ns);
        let from_intended_ns = now.saturating_sub(connection.intended_ns);
        let asked = connection.request;
        self.tally.fail(class, age_ns, example);
        self.tally.fail_request(asked);
        if matches!(class, ErrorClass::HeaderTimeout | ErrorClass::BodyTimeout) {
            self.tally.censored.record(from_intended_ns);
        }
        self.user_goes_on(index, false, now);
    }

    /// Closes a connection that did nothing wrong and opens another one: at once if it carried a
    /// request, otherwise after a pause, so that a service that closes what it accepts is not
    /// stormed.
    pub(super) fn reopen(&mut self, slot: usize) {
        self.drop_socket(slot);
        let link = &mut self.links[slot];
        link.failures += u32::from(!link.used);
        let at = now_ns() + link.backoff_ns();
        self.retries.push(Reverse((at, slot * self.width)));
    }

    /// Replaces a link that takes no further requests once it carries none.
    pub(super) fn let_go(&mut self, slot: usize) {
        if self.links[slot].stage != Stage::Retiring || self.is_busy(slot) {
            return;
        }
        if self.links[slot].used {
            self.reopen(slot);
        } else {
            // It was of no use to anybody: as good as a connection that could not be made.
            self.links[slot].stage = Stage::Greeting;
            self.open -= 1;
            let message = || "the service took leave before a request could be sent".to_owned();
            self.fail_link(slot, ErrorClass::EarlyClose, message);
        }
    }
}
