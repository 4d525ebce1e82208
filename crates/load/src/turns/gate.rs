//! The barrier of the threads of a step between two turns: the last one that arrives reads the
//! clock and the CPU counters and decides what all of them do next.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bakeoff_base::random::Random;
use bakeoff_model::load::Turns;

use super::counters::Counter;
use super::length::Length;
use crate::clock::now_ns;
use crate::shared::Stop;

/// How often a waiting thread checks whether the run has to end.
const LOOK: Duration = Duration::from_millis(20);

/// One turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The side that is loaded.
    pub(crate) side: usize,
    /// The block of the turn.
    pub(crate) block: u64,
    /// Start of the turn, monotonic ns.
    pub(crate) start_ns: u64,
    /// When the last request may be sent, monotonic ns.
    pub(crate) until_ns: u64,
}

/// The next action of all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Play this turn.
    Turn(Turn),
    /// End the slice of every side at this time, monotonic ns.
    EndSlice(u64),
    /// End the step at this time, monotonic ns.
    EndStep(u64),
}

/// CPU time of the sides in the turn that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnCpu {
    /// Side of the turn.
    pub(crate) side: usize,
    /// CPU time of that side, ns.
    pub(crate) own_ns: u64,
    /// CPU time of all other sides, ns.
    pub(crate) others_ns: u64,
}

/// The progress of a step in turns.
#[derive(Debug)]
pub(crate) struct Rotation {
    end_ns: u64,
    slice_ns: u64,
    slice_end_ns: u64,
    random: Random,
    length: Length,
    /// The length of the turns of the running block.
    turn_ns: u64,
    /// The order of the running block, without sides that may not be loaded any more.
    order: Vec<usize>,
    /// Number of turns of the running block that have started.
    started: usize,
    block: u64,
    /// CPU time of each side at the start of the turn that is being played, ns.
    readings_ns: Vec<Option<u64>>,
    /// The side of the turn that is being played.
    playing: Option<usize>,
}

/// The parameters of a step in turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepOfTurns {
    /// Bounds of the length of a turn.
    pub(crate) turns: Turns,
    /// Start of the step, monotonic ns.
    pub(crate) start_ns: u64,
    /// Length of the step, ns.
    pub(crate) duration_ns: u64,
    /// Length of a slice, ns; 0 = all of the step.
    pub(crate) slice_ns: u64,
    /// Seed of the orders.
    pub(crate) seed: u64,
}

impl Rotation {
    /// Returns the state before the first turn of this number of sides.
    pub(crate) fn new(step: &StepOfTurns, sides: usize) -> Self {
        let slice_ns = match step.slice_ns {
            0 => u64::MAX,
            slice_ns => slice_ns,
        };
        Self {
            end_ns: step.start_ns.saturating_add(step.duration_ns),
            slice_ns,
            slice_end_ns: step.start_ns.saturating_add(slice_ns),
            random: Random::new(step.seed),
            length: Length::new(step.turns, sides),
            turn_ns: 0,
            order: (0..sides).collect(),
            started: sides,
            block: 0,
            readings_ns: vec![None; sides],
            playing: None,
        }
    }

    /// Ends the turn that was played, whose drain took the slowest thread this long, and returns
    /// the next action.
    fn go_on(
        &mut self,
        drain_ns: u64,
        counters: &[Counter],
        stop: &Stop,
    ) -> (Next, Option<TurnCpu>) {
        let cpu = self.read(drain_ns, counters);
        let now = now_ns();
        let is_stopped = |side: &usize| stop.is_side_stopped(*side);
        while self.order.get(self.started).is_some_and(is_stopped) {
            self.started += 1;
        }
        if self.started == self.order.len() {
            self.order.retain(|side| !is_stopped(side));
            if self.order.is_empty() || now >= self.end_ns {
                return (Next::EndStep(now), cpu);
            }
            self.started = self.order.len();
            if now >= self.slice_end_ns {
                self.slice_end_ns = now.saturating_add(self.slice_ns);
                return (Next::EndSlice(now), cpu);
            }
            self.block += u64::from(self.turn_ns > 0);
            self.random.shuffle(&mut self.order);
            self.started = 0;
            self.turn_ns = self.length.next(&self.order);
        }
        let side = self.order[self.started];
        self.started += 1;
        self.playing = Some(side);
        let turn = Turn {
            side,
            block: self.block,
            start_ns: now,
            until_ns: now + self.turn_ns,
        };
        (Next::Turn(turn), cpu)
    }

    /// Reads the counters and returns their growth in the turn that was played.
    fn read(&mut self, drain_ns: u64, counters: &[Counter]) -> Option<TurnCpu> {
        let mut grew = vec![0; self.readings_ns.len()];
        for (side, counter) in counters.iter().enumerate() {
            let reading = counter.read_ns();
            let before = std::mem::replace(&mut self.readings_ns[side], reading);
            let between = before.zip(reading);
            grew[side] = between.map_or(0, |(before, now)| now.saturating_sub(before));
        }
        let side = self.playing.take()?;
        self.length.add(side, drain_ns);
        let own_ns = grew[side];
        Some(TurnCpu {
            side,
            own_ns,
            others_ns: grew.iter().sum::<u64>() - own_ns,
        })
    }
}

/// The barrier of the threads.
#[derive(Debug)]
pub(crate) struct Gate {
    threads: usize,
    stop: Stop,
    state: Mutex<State>,
    passed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rotation: Option<Rotation>,
    /// Number of threads that wait for the others.
    arrived: usize,
    /// Number of times that all threads have passed.
    passes: u64,
    /// The longest drain of the threads that have arrived.
    drain_ns: u64,
    next: Option<Next>,
    /// Whether a thread has exited and will not arrive any more.
    is_abandoned: bool,
}

impl Gate {
    /// A gate for this number of threads.
    pub(crate) fn new(threads: usize, stop: Stop) -> Self {
        Self {
            threads,
            stop,
            state: Mutex::default(),
            passed: Condvar::new(),
        }
    }

    /// Starts a step; no thread has arrived.
    pub(crate) fn begin(&self, rotation: Rotation) {
        self.state().rotation = Some(rotation);
    }

    /// Notes that a thread cannot continue: the others end their step.
    pub(crate) fn abandon(&self) {
        self.state().is_abandoned = true;
        self.passed.notify_all();
    }

    /// Waits for all threads, and returns what they do next; one of them gets the CPU time of the
    /// turn that ended. `drain_ns` is how long this thread waited for what was in flight;
    /// `counters` are those of the sides, opened by this thread, which has separate files.
    pub(crate) fn pass(&self, drain_ns: u64, counters: &[Counter]) -> (Next, Option<TurnCpu>) {
        let mut state = self.state();
        state.drain_ns = state.drain_ns.max(drain_ns);
        state.arrived += 1;
        if state.arrived == self.threads && !state.is_abandoned {
            let drain_ns = std::mem::take(&mut state.drain_ns);
            let (next, cpu) = match &mut state.rotation {
                Some(rotation) => rotation.go_on(drain_ns, counters, &self.stop),
                None => (Next::EndStep(now_ns()), None),
            };
            state.next = Some(next);
            state.arrived = 0;
            state.passes += 1;
            self.passed.notify_all();
            return (next, cpu);
        }
        let passes = state.passes;
        while state.passes == passes && !state.is_abandoned {
            let waited = self.passed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let next = state.next.filter(|_| !state.is_abandoned);
        (next.unwrap_or_else(|| Next::EndStep(now_ns())), None)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_model::load::Turns;

    use super::{Gate, Next, Rotation, StepOfTurns};
    use crate::clock::now_ns;
    use crate::shared::Stop;

    fn rotation(sides: usize, duration_ns: u64) -> Rotation {
        let step = StepOfTurns {
            turns: Turns {
                shortest_ns: 1000,
                longest_ns: 1000,
            },
            start_ns: now_ns(),
            duration_ns,
            slice_ns: 200_000,
            seed: 3,
        };
        Rotation::new(&step, sides)
    }

    #[test]
    fn every_side_has_one_turn_in_each_block() {
        let gate = Gate::new(1, Stop::default());
        // Long enough to go on after a pause by the kernel.
        gate.begin(rotation(3, 100_000_000));
        let (mut blocks, mut slices) = (BTreeMap::<u64, Vec<usize>>::new(), 0);
        loop {
            match gate.pass(0, &[]).0 {
                Next::Turn(turn) => blocks.entry(turn.block).or_default().push(turn.side),
                Next::EndSlice(_) => slices += 1,
                Next::EndStep(_) => break,
            }
        }
        assert!(slices > 0);
        assert!(blocks.len() > 9);
        let orders: Vec<Vec<usize>> = blocks.into_values().collect();
        assert!(orders.iter().any(|order| *order != orders[0]));
        for mut order in orders {
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2]);
        }
    }

    #[test]
    fn threads_play_the_same_turns() {
        let gate = Gate::new(3, Stop::default());
        gate.begin(rotation(2, 5_000_000));
        let play = || {
            let mut played = Vec::new();
            loop {
                let next = gate.pass(1, &[]).0;
                played.push(next);
                if matches!(next, Next::EndStep(_)) {
                    return played;
                }
            }
        };
        let all: Vec<Vec<Next>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(play)).collect();
            let played = threads.into_iter().map(|one| one.join().unwrap());
            played.collect()
        });
        assert!(all[0].len() > 2);
        assert!(all.iter().all(|one| *one == all[0]));
    }

    #[test]
    fn a_thread_that_is_gone_ends_the_step_of_the_others() {
        let gate = Gate::new(2, Stop::default());
        gate.begin(rotation(2, u64::MAX));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.pass(0, &[]).0);
            gate.abandon();
            assert!(matches!(waiting.join().unwrap(), Next::EndStep(_)));
        });
    }

    #[test]
    fn a_side_that_left_has_no_turn_and_the_others_go_on() {
        let stop = Stop::default();
        let gate = Gate::new(1, stop.clone());
        gate.begin(rotation(3, u64::MAX / 2));
        let turns = |count: usize| -> Vec<usize> {
            let played = (0..count).map(|_| gate.pass(0, &[]).0);
            let sides = played.filter_map(|next| match next {
                Next::Turn(turn) => Some(turn.side),
                _ => None,
            });
            sides.collect()
        };
        assert!(turns(30).contains(&1));
        stop.stop_side(1);
        let left = turns(30);
        assert!(!left.contains(&1) && left.contains(&0) && left.contains(&2));
        stop.stop_side(0);
        stop.stop_side(2);
        assert!(matches!(gate.pass(0, &[]).0, Next::EndStep(_)));
    }

    #[test]
    fn a_stopped_run_ends_in_the_middle_of_a_block() {
        let stop = Stop::default();
        let gate = Gate::new(1, stop.clone());
        gate.begin(rotation(5, u64::MAX));
        assert!(matches!(gate.pass(0, &[]).0, Next::Turn(_)));
        stop.stop();
        assert!(matches!(gate.pass(0, &[]).0, Next::EndStep(_)));
    }
}
