//! The users of a scenario: each has a connection of its own, or a share of one where the protocol
//! has several requests in flight, asks one request after the other, and pauses between them. There
//! is one loop for every pace; this is what it asks when the order has a scenario.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bakeoff_model::load::{ErrorClass, Pace};

use super::Worker;
use super::window::Window;
use crate::clock::now_ns;
use crate::link::Stage;
use crate::reactor::Reactor;
use crate::received::{Keep, Received};
use crate::scenario::{Memory, Rendered, Script};

/// What a user is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// It has not arrived yet, or pauses.
    Waiting,
    /// It wants to ask and waits for its connection.
    Wanting,
    /// It waits for an answer.
    Asking,
    /// It has been through the scenario as often as it should.
    Gone,
}

#[derive(Debug)]
struct User {
    doing: Doing,
    /// Index of the request in hand.
    request: usize,
    /// When that one was to be sent, monotonic ns.
    intended_ns: u64,
    /// How often it still goes through the scenario.
    times_left: u64,
    memory: Memory,
}

/// The users of a thread.
#[derive(Debug)]
pub(super) struct Users {
    script: Script,
    users: Vec<User>,
    /// When waiting users go on, earliest first.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// Users that are not gone.
    present: usize,
}

impl Users {
    /// No users yet.
    pub(super) fn new(script: Script) -> Self {
        Self {
            script,
            users: Vec::new(),
            due: BinaryHeap::new(),
            present: 0,
        }
    }

    /// Whether all have been through the scenario as often as they should.
    pub(super) fn all_gone(&self) -> bool {
        self.present == 0
    }

    /// The request that a user makes now, and what of its answer has to be kept.
    pub(super) fn request_of(&self, index: usize) -> (usize, Keep) {
        let request = self.users[index].request;
        (request, self.script.looks_at(request))
    }

    /// That request as it goes over the wire.
    pub(super) fn render(&self, index: usize) -> Rendered {
        let user = &self.users[index];
        self.script.render(user.request, &user.memory)
    }

    /// A user takes from a right answer what later requests need.
    ///
    /// # Errors
    /// When something is not there: the class of the failure, and what in which request.
    pub(super) fn learn(
        &mut self,
        index: usize,
        received: &mut Received,
        request: &str,
    ) -> Result<(), (ErrorClass, String)> {
        let user = &mut self.users[index];
        let learnt = match received.sample() {
            Some(Ok(answer)) => self.script.learn(user.request, &mut user.memory, answer),
            Some(Err(message)) => Err(message),
            None => Ok(()),
        };
        learnt.map_err(|message| (ErrorClass::WrongBody, format!("{request}: {message}")))
    }

    /// How long users that want to ask have been waiting for a connection at `end_ns`.
    pub(super) fn wanting_ns(&self, end_ns: u64) -> impl Iterator<Item = u64> + '_ {
        let wanting = self
            .users
            .iter()
            .filter(|user| user.doing == Doing::Wanting);
        wanting.map(move |user| end_ns.saturating_sub(user.intended_ns))
    }

    /// The user of this index is done with its request and goes on with the next one, as somebody
    /// else when it has come to the end of the scenario.
    fn go_on(&mut self, index: usize, good: bool, now: u64) -> Ended {
        let mut ended = Ended::default();
        let user = &mut self.users[index];
        let pause_ns = self.script.pause_ns(user.request);
        user.request += 1;
        let through = user.request == self.script.len();
        let lost = !good && !self.script.goes_on()
            || !through && !self.script.can_ask(user.request, &user.memory);
        if through || lost {
            ended.finished += u64::from(!lost);
            ended.gave_up += u64::from(lost);
            user.times_left -= 1;
            user.request = 0;
            if user.times_left == 0 {
                user.doing = Doing::Gone;
                self.present -= 1;
                return ended;
            }
            self.script.begin(&mut user.memory);
        }
        user.intended_ns = now + pause_ns;
        if pause_ns == 0 {
            user.doing = Doing::Wanting;
        } else {
            user.doing = Doing::Waiting;
            self.due.push(Reverse((user.intended_ns, index)));
        }
        ended
    }
}

/// Users that came to an end.
#[derive(Debug, Default)]
struct Ended {
    finished: u64,
    gave_up: u64,
}

impl<R: Reactor> Worker<'_, R> {
    /// Lets the users of a step arrive from `start_ns` on.
    pub(super) fn users_arrive(&mut self, step: usize, start_ns: u64) {
        let Some(users) = &mut self.users else {
            return;
        };
        let order = &self.spec.steps[step];
        let (arrive_ns, times) = match order.pace {
            Pace::Users { arrive_ns, times } => (arrive_ns, times),
            _ => (0, 0),
        };
        let (thread, threads) = (self.place.thread as u64, self.place.threads as u64);
        // With a rate, the schedule says when: a connection is each time another user.
        let scheduled = self.window.as_ref().is_some_and(Window::is_scheduled);
        users.due.clear();
        users.users.clear();
        for index in 0..self.connections.len() {
            let number = index as u64 * threads + thread;
            // In 128 bits, so that a million users over a week fit.
            let offset = u128::from(arrive_ns) * u128::from(number);
            let offset = offset / (u128::from(order.connections.max(1)) * self.width as u128);
            let at_ns = start_ns + u64::try_from(offset).unwrap_or(arrive_ns);
            let mut memory = Memory::default();
            users.script.begin(&mut memory);
            users.users.push(User {
                doing: if scheduled {
                    Doing::Wanting
                } else {
                    Doing::Waiting
                },
                request: 0,
                intended_ns: at_ns,
                times_left: if times == 0 { u64::MAX } else { times },
                memory,
            });
            if !scheduled {
                users.due.push(Reverse((at_ns, index)));
            }
        }
        users.present = users.users.len();
    }

    /// A free connection: its user sends the next request if it wants to.
    pub(super) fn user_turn(&mut self, index: usize, now: u64) {
        let (Some(users), Some(window)) = (&mut self.users, &mut self.window) else {
            return;
        };
        let Some(user) = users.users.get_mut(index) else {
            return;
        };
        if user.doing != Doing::Wanting || !window.take_request() {
            return;
        }
        user.doing = Doing::Asking;
        let intended_ns = user.intended_ns;
        self.start(index, intended_ns, now);
    }

    /// Lets users whose pause is over go on; when the next pause is over.
    pub(super) fn wake_users(&mut self, now: u64) -> Option<u64> {
        loop {
            let users = self.users.as_mut()?;
            let &Reverse((at_ns, index)) = users.due.peek()?;
            if at_ns > now {
                return Some(at_ns);
            }
            users.due.pop();
            let Some(user) = users.users.get_mut(index) else {
                continue;
            };
            user.doing = Doing::Wanting;
            let (slot, _) = self.link_of(index);
            if self.links[slot].stage == Stage::Open {
                let now = now_ns();
                self.tally.send_lag.record(now.saturating_sub(at_ns));
                self.give_work(index, now);
            }
        }
    }

    /// The request of a user has come to its end, good or bad.
    pub(super) fn user_goes_on(&mut self, index: usize, good: bool, now: u64) {
        let Some(users) = &mut self.users else {
            return;
        };
        let concerned = |user: &User| matches!(user.doing, Doing::Wanting | Doing::Asking);
        if users.users.get(index).is_some_and(concerned) {
            let ended = users.go_on(index, good, now);
            self.tally.users_finished += ended.finished;
            self.tally.users_gave_up += ended.gave_up;
        }
    }

    /// The request that a user wants to make while its connection cannot be made.
    pub(super) fn wanted_request(&self, index: usize) -> Option<usize> {
        let user = self.users.as_ref()?.users.get(index)?;
        (user.doing == Doing::Wanting).then_some(user.request)
    }
}
