//! A thread of the load generator, with a worker for each target of the load: executes the commands
//! of the coordinator, step by step.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use bakeoff_model::load::LoadSpec;
use rustix::io::Errno;

use crate::clock::now_ns;
use crate::transport::reactor::Reactor;
use crate::turns::counters::Counter;
use crate::turns::gate::{Gate, Next};
use crate::worker::Worker;
use crate::worker::channels::{Command, Report};

/// How often a waiting thread checks its connections.
const IDLE_LOOK: Duration = Duration::from_millis(2);

/// One thread of the load generator.
#[derive(Debug)]
pub(crate) struct Crew<'a, R> {
    /// The load.
    pub(crate) spec: &'a LoadSpec,
    /// The index of the thread.
    pub(crate) thread: usize,
    /// Commands of the coordinator.
    pub(crate) commands: Receiver<Command>,
    /// Takes reports, with the index of the thread.
    pub(crate) reports: Sender<(usize, Report)>,
    /// The barrier of the threads between turns.
    pub(crate) gate: Arc<Gate>,
    /// The CPU time of each target.
    pub(crate) counters: Vec<Counter>,
    /// A worker for each target.
    pub(crate) sides: Vec<Worker<'a, R>>,
}

impl<R: Reactor> Crew<'_, R> {
    /// Executes the coordinator's commands until there are no more.
    pub(crate) fn run(&mut self) {
        if let Err(errno) = self.handle_commands() {
            self.gate.abandon();
            self.report(Report::Failed(errno));
        }
    }

    fn handle_commands(&mut self) -> Result<(), Errno> {
        let mut step = 0;
        loop {
            match self.next_command() {
                Ok(Command::Prepare(prepared)) => {
                    step = prepared;
                    for side in 0..self.sides.len() {
                        let ready = self.sides[side].prepare(step)?;
                        self.report(Report::Ready(side, ready));
                    }
                }
                Ok(Command::Open(start_ns)) => {
                    self.play(step, start_ns)?;
                    for side in &mut self.sides {
                        side.finish(step)?;
                    }
                    self.report(Report::Drained);
                }
                // A service may close idle connections while the coordinator waits for its caller.
                Err(RecvTimeoutError::Timeout) => self.look()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Returns the next command. With connections the thread waits in short intervals; without any
    /// there is nothing to check meanwhile, and the thread costs nothing.
    fn next_command(&self) -> Result<Command, RecvTimeoutError> {
        if self.sides.iter().any(Worker::has_connections) {
            return self.commands.recv_timeout(IDLE_LOOK);
        }
        let command = self.commands.recv();
        command.map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Loads the targets of a step from `start_ns` on.
    fn play(&mut self, step: usize, start_ns: u64) -> Result<(), Errno> {
        let step_spec = &self.spec.steps[step];
        if step_spec.turns.is_some() {
            return self.play_turns(step, start_ns);
        }
        match self.sides.get_mut(step_spec.side as usize) {
            Some(side) => side.run_window(step, start_ns),
            None => Err(Errno::INVAL),
        }
    }

    fn play_turns(&mut self, step: usize, start_ns: u64) -> Result<(), Errno> {
        while now_ns() < start_ns {
            self.look()?;
        }
        for side in &mut self.sides {
            side.begin_turns(step, start_ns);
        }
        self.report(Report::Opened(now_ns()));
        let mut drain_ns = 0;
        loop {
            let (next, cpu) = self.gate.pass(drain_ns, &self.counters);
            if let Some(cpu) = cpu {
                self.sides[cpu.side].note_cpu(&cpu);
            }
            drain_ns = 0;
            match next {
                Next::Turn(turn) => drain_ns = self.sides[turn.side].play_turn(&turn)?,
                Next::EndSlice(at_ns) => {
                    for side in &mut self.sides {
                        side.end_slice_of_turns(at_ns);
                    }
                }
                Next::EndStep(at_ns) => {
                    for side in &mut self.sides {
                        side.end_turns(at_ns);
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Handles what happened to connections without waiting.
    fn look(&mut self) -> Result<(), Errno> {
        for side in &mut self.sides {
            side.look()?;
        }
        Ok(())
    }

    fn report(&self, report: Report) {
        // A coordinator that is gone is noticed at the next command.
        let _ = self.reports.send((self.thread, report));
    }
}
