//! The little state that the threads of a run share, each a word of memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bakeoff_model::load::{LoadPart, StepSpec};

/// Ends a run early, or its load on one target, from any thread: the running step is cut short, and
/// none follows.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Ends>);

#[derive(Debug, Default)]
struct Ends {
    run: AtomicBool,
    /// A bit for each target.
    sides: [AtomicU64; SIDES_MAX / 64],
}

/// More targets than one load can have: a session has addresses for 253 contenders.
const SIDES_MAX: usize = 256;

impl Stop {
    /// Ends the run. This takes some tens of milliseconds, and up to a second more for responses
    /// that are in progress.
    pub fn stop(&self) {
        self.0.run.store(true, Ordering::Relaxed);
    }

    /// Whether the run has to end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.run.load(Ordering::Relaxed)
    }

    /// Ends the load on a target, from 0; the others continue.
    pub fn stop_side(&self, side: u32) {
        if let Some(word) = self.0.sides.get(side as usize / 64) {
            word.fetch_or(1 << (side % 64), Ordering::Relaxed);
        }
    }

    /// Whether a target may not be loaded any more.
    #[inline]
    pub(crate) fn is_side_stopped(&self, side: usize) -> bool {
        let word = self.0.sides.get(side / 64);
        let has_left =
            word.is_some_and(|word| word.load(Ordering::Relaxed) & (1 << (side % 64)) != 0);
        has_left || self.is_stopped()
    }
}

/// The next action of a stepwise run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// The next step of the spec.
    On,
    /// The last step, once more; the same as [`Go::On`] if there is none.
    Again,
    /// The window of the step that is ready, at this instant of the wall clock, ns since the Unix
    /// epoch, or immediately if it has passed; between steps the same as [`Go::On`].
    At(u64),
    /// The end of the run.
    End,
}

/// Requests of a step that may still be started, by any thread.
#[derive(Debug, Default)]
pub(crate) struct Allowance(AtomicU64);

impl Allowance {
    const UNBOUNDED: u64 = u64::MAX;

    /// Gives a part its share of a step's requests; if the step has no bound, only time limits it.
    pub(crate) fn set(&self, step: &StepSpec, part: LoadPart) {
        let requests = match step.requests_max {
            0 => Self::UNBOUNDED,
            bound => part.requests_of(bound, u64::from(step.connections)),
        };
        self.0.store(requests, Ordering::Relaxed);
    }

    /// Takes a request; `false` if there is none left.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Without a bound no thread writes what the others read.
        self.0.load(Ordering::Relaxed) == Self::UNBOUNDED
            || self
                .0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(1)
                })
                .is_ok()
    }

    /// Whether no request is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
