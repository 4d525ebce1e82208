//! The users of a scenario: each has a separate connection, or a share of one if the protocol has
//! several requests in flight, makes one request after the other, and has think times in between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bakeoff_model::load::{ErrorClass, LoadPart, Pace};

use crate::prepare::request::RenderedRequest;
use crate::prepare::scenario::{Script, UserState};
use crate::protocol::response::{Capture, Response};
use crate::shared::Allowance;
use crate::tally::Tally;

/// The activity of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// The user has not arrived yet, or thinks.
    Thinking,
    /// The user has a request to send and waits for its connection.
    Ready,
    /// The user waits for a response.
    Waiting,
    /// The user has finished all its passes through the scenario.
    Gone,
}

#[derive(Debug)]
struct User {
    activity: Activity,
    /// Index of the user's current request.
    request: usize,
    /// When the current request should have been sent, monotonic ns.
    intended_ns: u64,
    /// Number of remaining passes through the scenario.
    times_left: u64,
    state: UserState,
}

/// The users of a thread.
#[derive(Debug)]
pub(crate) struct Users {
    script: Script,
    users: Vec<User>,
    /// When thinking users continue, earliest first.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// Number of users that are not gone.
    present: usize,
}

impl Users {
    /// No users yet.
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            users: Vec::new(),
            due: BinaryHeap::new(),
            present: 0,
        }
    }

    /// Whether all users have finished their passes through the scenario.
    pub(crate) fn all_gone(&self) -> bool {
        self.present == 0
    }

    /// Returns the request that a user makes now, and how much of its response to capture.
    pub(crate) fn request_of(&self, index: usize) -> (usize, Capture) {
        let request = self.users[index].request;
        (request, self.script.capture_of(request))
    }

    /// Renders the user's current request.
    pub(crate) fn render(&self, index: usize) -> RenderedRequest {
        let user = &self.users[index];
        self.script.render(user.request, &user.state)
    }

    /// Takes the values that later requests of a user need from a right response.
    ///
    /// # Errors
    /// If a value is missing: the class of the failure, the value and the request.
    pub(crate) fn learn(
        &mut self,
        index: usize,
        response: &mut Response,
        request: &str,
    ) -> Result<(), (ErrorClass, String)> {
        let user = &mut self.users[index];
        let learned = match response.captured() {
            Some(Ok(response)) => self.script.learn(user.request, &mut user.state, response),
            Some(Err(message)) => Err(message),
            None => Ok(()),
        };
        learned.map_err(|message| (ErrorClass::WrongBody, format!("{request}: {message}")))
    }

    /// Returns how long users with a request to send have been waiting for a connection at
    /// `end_ns`.
    pub(crate) fn ready_ns(&self, end_ns: u64) -> impl Iterator<Item = u64> + '_ {
        let ready = self
            .users
            .iter()
            .filter(|user| user.activity == Activity::Ready);
        ready.map(move |user| end_ns.saturating_sub(user.intended_ns))
    }

    /// Ends the request of the user with this index and starts the next one. Returns `true` if the
    /// scenario ended, so that the slot continues as another user.
    pub(crate) fn go_on(&mut self, index: usize, good: bool, now: u64, tally: &mut Tally) -> bool {
        let Some(user) = self.users.get_mut(index) else {
            return false;
        };
        if !matches!(user.activity, Activity::Ready | Activity::Waiting) {
            return false;
        }
        let pause_ns = self.script.pause_ns(user.request);
        user.request += 1;
        let through = user.request == self.script.len();
        let lost = !good && !self.script.goes_on()
            || !through && !self.script.can_ask(user.request, &user.state);
        if through || lost {
            tally.users_finished += u64::from(!lost);
            tally.users_gave_up += u64::from(lost);
            user.times_left -= 1;
            user.request = 0;
            if user.times_left == 0 {
                user.activity = Activity::Gone;
                self.present -= 1;
                return true;
            }
            self.script.begin(&mut user.state);
        }
        user.intended_ns = now + pause_ns;
        if pause_ns == 0 {
            user.activity = Activity::Ready;
        } else {
            user.activity = Activity::Thinking;
            self.due.push(Reverse((user.intended_ns, index)));
        }
        through || lost
    }

    /// Lets the users of a step arrive from `start_ns` on, within the time that the pace states.
    /// With `open_load` the arrivals determine when, and a slot is a different user each time.
    pub(crate) fn arrive(&mut self, pace: Pace, start_ns: u64, open_load: bool, slots: SlotShare) {
        let (arrive_ns, times) = match pace {
            Pace::Users { arrive_ns, times } => (arrive_ns, times),
            _ => (0, 0),
        };
        self.due.clear();
        self.users.clear();
        for index in 0..slots.own {
            let number = slots.share.number(index as u64);
            // Uses 128 bits, so that a million users over a week fit.
            let offset = u128::from(arrive_ns) * u128::from(number);
            let offset = offset / u128::from(slots.of_all.max(1));
            let at_ns = start_ns + u64::try_from(offset).unwrap_or(arrive_ns);
            let mut state = UserState::default();
            self.script.begin(&mut state);
            self.users.push(User {
                activity: if open_load {
                    Activity::Ready
                } else {
                    Activity::Thinking
                },
                request: 0,
                intended_ns: at_ns,
                times_left: if times == 0 { u64::MAX } else { times },
                state,
            });
            if !open_load {
                self.due.push(Reverse((at_ns, index)));
            }
        }
        self.present = self.users.len();
    }

    /// Lets users send the request that they held because their service had no turn.
    pub(crate) fn go_on_at(&mut self, now: u64) {
        let ready = |user: &&mut User| user.activity == Activity::Ready;
        for user in self.users.iter_mut().filter(ready) {
            user.intended_ns = now;
        }
    }

    /// Returns when the user of this slot should have sent its request, if it has one and it may be
    /// sent.
    pub(crate) fn claim(&mut self, index: usize, allowance: &Allowance) -> Option<u64> {
        let user = self.users.get_mut(index)?;
        if user.activity != Activity::Ready || !allowance.take() {
            return None;
        }
        user.activity = Activity::Waiting;
        Some(user.intended_ns)
    }

    /// Returns the index of the next user whose think time is over at `now`.
    pub(crate) fn wake(&mut self, now: u64) -> Option<usize> {
        let &Reverse((at_ns, index)) = self.due.peek()?;
        if at_ns > now {
            return None;
        }
        self.due.pop();
        self.users.get_mut(index)?.activity = Activity::Ready;
        Some(index)
    }

    /// Returns when the next think time is over.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Returns the request that a user has to send while its connection cannot be made.
    pub(crate) fn ready_request(&self, index: usize) -> Option<usize> {
        let user = self.users.get(index)?;
        (user.activity == Activity::Ready).then_some(user.request)
    }

    /// Returns when the user should have sent its request, monotonic ns.
    pub(crate) fn intended_ns(&self, index: usize) -> Option<u64> {
        Some(self.users.get(index)?.intended_ns)
    }
}

/// The slots of a thread among those of the whole load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotShare {
    /// Number of slots of the thread.
    pub(crate) own: usize,
    /// Number of slots of the whole load.
    pub(crate) of_all: u64,
    /// Share of the thread.
    pub(crate) share: LoadPart,
}
