//! The load of one run, or of a set of runs whose contenders take turns: drives the load generator
//! step by step and meters every slice.

mod costs;
mod deaths;
mod exposition;
mod open_load;
mod scrape;
mod until_warm;

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::failure::{Failure, Stage};
use bakeoff_model::load::{Connections, LoadEvent, LoadInterval, LoadSpec, StepCommand};
use bakeoff_model::record::{Others, Record, Unloaded};
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_model::totals::Totals;
use bakeoff_model::warmth::Warmth;
use bakeoff_runtime::Instance;
use bakeoff_validity::{JudgedSlice, StepJudge, WarmUp, evidence_of};

use super::load_spec::{self, Loaded, SpecInput};
use super::log_growth::Logged;
use super::row_count::Requests;
use super::slices::{Reading, at, interval_record, notes_of, record_fleet};
use crate::contracts::{Halt, RunningLoad, SessionDeps};
use crate::event::{self, Event, Observer};
use crate::ready_case::Case;
use costs::{Slices, read_all};

/// A note on load that only routes keep on this host.
const UNBOUND: &str = "this kernel lets the load generator bind no socket to a network device, so \
    only an unreachable route keeps the load on this host if the contender ends";

/// A contender under load: it is alive, in its session.
pub(crate) struct RunContext<'a> {
    pub(crate) parts: &'a SessionDeps<'a>,
    pub(crate) case: &'a Case,
    pub(crate) instance: &'a mut dyn Instance,
}

/// The account of a load on one contender.
#[derive(Default)]
pub(crate) struct Account {
    /// Connections of the current step, so that a failure can say where it happened.
    pub(crate) last: Connections,
    /// The requests so far, and how long the log was before them.
    pub(crate) logged: Logged,
    /// The outcomes of the requests.
    pub(crate) requests: Requests,
    /// The verdicts, by planned step.
    judged: BTreeMap<usize, StepJudge>,
    /// The totals, by planned step.
    loaded: BTreeMap<usize, Totals>,
    /// How warm the contender was at the end of a warm-up that lasted until it was.
    warmth: Option<Warmth>,
    /// Its cost in slices of the open load of others, since its own last one.
    unloaded: Option<Unloaded>,
    /// Further notes for the reader.
    noted: BTreeSet<String>,
    /// The reason why it takes no part any more.
    lost: Option<Failure>,
    /// It ended within a slice, which has still to be recorded.
    has_open_slice: bool,
}

impl Account {
    /// Why the contender takes no part any more; `None` while it does.
    pub(crate) fn lost(&self) -> Option<&Failure> {
        self.lost.as_ref()
    }

    /// Returns notes for the reader about the steps that were played.
    pub(crate) fn notes(self, case: &Case) -> Vec<String> {
        let steps = &case.begin.run.steps;
        let notes = self.judged.into_iter().flat_map(|(step, judged)| {
            let at = steps.get(step).map_or_else(|| "open load".to_owned(), at);
            notes_of(&judged.validity(), &at)
        });
        notes.chain(self.noted).collect()
    }
}

/// A load, played step by step. Dropping it ends its load generator.
pub(crate) struct LoadDriver {
    generator: Box<dyn RunningLoad>,
    played: Vec<usize>,
    /// How many of them have been played.
    done: usize,
    /// The number of steps of the load generator that have started.
    begun: usize,
    /// Slices of the current step so far.
    slices: u32,
    /// Each contender of the load.
    accounts: Vec<Account>,
}

/// The part that the load generator plays at a time: the whole step, but for warm-up that ends when
/// the contenders are warm.
struct Block<'w> {
    /// Its number among all steps of the run.
    step: usize,
    planned: Option<PlannedStep>,
    /// The step of the load generator once more.
    is_again: bool,
    /// The step starts for observers: its number, and how many there are.
    announced: Option<(usize, usize)>,
    /// How many contenders have a slice of the same time: all that take turns, otherwise one.
    at_once: usize,
    /// Requests per second, where response times are compared in it.
    latency_rate_per_s: Option<f64>,
    /// Take the slices of a warm-up, one for each contender; none otherwise.
    warm_ups: &'w mut [WarmUp],
}

impl LoadDriver {
    /// Starts the load generator, which opens the first step's connections to all contenders.
    pub(crate) async fn begin(on: &[RunContext<'_>]) -> Result<Self, Halt> {
        Self::begin_with(on, load_spec::load_spec).await
    }

    /// Starts the load generator with another load spec.
    async fn begin_with(
        on: &[RunContext<'_>],
        spec: impl Fn(&SpecInput<'_>) -> LoadSpec,
    ) -> Result<Self, Halt> {
        let Some(first) = on.first() else {
            return Err(failed("there is nothing to load"));
        };
        let may_bind = bakeoff_load::may_bind_to_device();
        let loaded = on.iter().map(|one| Loaded {
            address: one.instance.address(),
            device: one.instance.device().filter(|_| may_bind),
            host: one.instance.host(),
            cpu_counter: one.instance.cpu_counter(),
            tls: one.instance.wire().tls,
        });
        let spec = spec(&SpecInput {
            loaded: loaded.collect(),
            requests: &first.case.requests,
            scenario: first.case.scenario.as_ref(),
            grpc: first.parts.suite.grpc.as_ref(),
            run: &first.case.begin.run,
            cores: &first.case.begin.cores,
            slice: first.case.slice,
            response_timeout: first.parts.suite.response_timeout,
            seed: first.case.seed,
        });
        let mut accounts = Vec::new();
        for one in on {
            let before = one.instance.sample().await.resources.log_lines;
            let is_unbound = !may_bind && one.instance.device().is_some();
            accounts.push(Account {
                logged: Logged {
                    requests: 0,
                    before,
                },
                noted: is_unbound.then(|| UNBOUND.to_owned()).into_iter().collect(),
                ..Account::default()
            });
        }
        Ok(Self {
            generator: first.parts.generator.start(&spec).await?,
            played: first.case.begin.run.played(),
            done: 0,
            begun: 0,
            slices: 0,
            accounts,
        })
    }

    /// Whether there is a step to play.
    pub(crate) fn has_next(&self) -> bool {
        self.done < self.played.len()
    }

    /// Why a contender takes no part any more; `None` while it does.
    pub(crate) fn lost(&self, index: usize) -> Option<&Failure> {
        self.accounts.get(index)?.lost.as_ref()
    }

    /// Ends the account of a contender. One that is lost stays so: steps to come are not its own.
    pub(crate) fn close(&mut self, index: usize) -> Account {
        let Some(account) = self.accounts.get_mut(index) else {
            return Account::default();
        };
        let open = Account {
            lost: account.lost.clone(),
            ..Account::default()
        };
        std::mem::replace(account, open)
    }

    /// Plays the next step on a contender alone.
    pub(crate) async fn play_alone(
        &mut self,
        on: &mut RunContext<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        self.play(std::slice::from_mut(on), observer).await?;
        match self.lost(0) {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(()),
        }
    }

    /// Plays the next step on all contenders with which the load started.
    pub(crate) async fn play(
        &mut self,
        on: &mut [RunContext<'_>],
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let (Some(step), Some(first)) = (self.played.get(self.done).copied(), on.first()) else {
            return Ok(());
        };
        self.slices = 0;
        let planned = first.case.begin.run.steps.get(step).copied();
        match planned.filter(|planned| planned.at_least.is_some()) {
            Some(planned) => self.until_warm(on, step, &planned, observer).await?,
            None => {
                let block = Block {
                    step,
                    planned,
                    is_again: false,
                    announced: Some((self.done, self.played.len())),
                    at_once: on.len(),
                    latency_rate_per_s: None,
                    warm_ups: &mut [],
                };
                let before = self.scrape(on, step).await;
                self.block(on, block, observer).await?;
                self.record_metrics(on, step, before, observer).await?;
            }
        }
        self.done += 1;
        Ok(())
    }

    /// Plays what the load generator plays at a time.
    async fn block(
        &mut self,
        on: &mut [RunContext<'_>],
        mut block: Block<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        // The last slice has been read: what opening connections costs is not its own.
        match (block.is_again, self.begun) {
            (true, _) => self.tell(StepCommand::Again).await?,
            (false, 0) => {}
            (false, _) => self.tell(StepCommand::Go).await?,
        }
        self.begun += usize::from(!block.is_again);
        let Some(mut before) = self.ready(on, block.announced, observer).await? else {
            return Ok(());
        };
        let first = self.slices;
        let mut ended: Vec<LoadInterval> = Vec::new();
        loop {
            let Some(event) = self.event_or_death(on).await? else {
                return Ok(());
            };
            match event {
                LoadEvent::Interval(mut interval) => {
                    interval.slice += first;
                    self.slices = interval.slice + 1;
                    ended.push(*interval);
                    if ended.len() < block.at_once {
                        continue;
                    }
                    let after = read_all(on).await;
                    let slices = Slices {
                        ended: std::mem::take(&mut ended),
                        before: &before,
                        after: &after,
                    };
                    self.record(on, slices, &mut block, observer).await?;
                    before = after;
                    if self.all_lost() {
                        return Ok(());
                    }
                }
                LoadEvent::StepDone { fleet, .. } => {
                    if let (Some(receipt), Some(one)) = (fleet, on.first()) {
                        record_fleet(one.case, block.step, *receipt, observer)?;
                    }
                    return Ok(());
                }
                other => return Err(unexpected(other)),
            }
        }
    }

    /// Records the slices of all contenders that take part, and looks whether these still live.
    async fn record(
        &mut self,
        on: &mut [RunContext<'_>],
        slices: Slices<'_>,
        block: &mut Block<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let all: Vec<Others> = slices.costs();
        let is_set = on.len() > 1;
        if block.latency_rate_per_s.is_some() {
            self.add_unloaded(&slices, block);
        }
        for load in slices.ended {
            let side = load.side as usize;
            let (Some(one), Some(account)) = (on.get_mut(side), self.accounts.get_mut(side)) else {
                return Err(failed("it counted for a target that it does not have"));
            };
            if account.lost.is_some() && !std::mem::take(&mut account.has_open_slice) {
                continue;
            }
            account.logged.requests += load.requests;
            account.requests.add(&one.case.requests, &load);
            account.loaded.entry(block.step).or_default().add(&load);
            let readings = [&slices.before[side], &slices.after[side]];
            let mut record = interval_record(block.step, block.planned.as_ref(), load, readings);
            record.latency_rate_per_s = block.latency_rate_per_s;
            record.unloaded = account.unloaded.take();
            record.warmth = account.warmth.filter(|_| !record.warm_up);
            record.others = is_set.then(|| {
                let mut others = Others::default();
                let beside = all.iter().enumerate().filter(|(other, _)| *other != side);
                beside.for_each(|(_, cost)| others += *cost);
                others
            });
            if let Some(warm_up) = block.warm_ups.get_mut(side) {
                warm_up.add(&record);
            }
            let judged = JudgedSlice::new(evidence_of(&one.case.begin, &record));
            record.validity = judged.validity.clone();
            account.judged.entry(block.step).or_default().add(&judged);
            goes_on(one.case, observer)?;
            event::record(observer, Record::Interval(Box::new(record)))?;
        }
        self.look_for_deaths(on).await?;
        Ok(())
    }

    /// Adds what a slice of the open load cost contenders that have no load in it. In the warm-up
    /// they may still have work of the turns before.
    fn add_unloaded(&mut self, slices: &Slices<'_>, block: &Block<'_>) {
        if block.planned.is_some_and(|planned| planned.warm_up) {
            return;
        }
        for (side, account) in self.accounts.iter_mut().enumerate() {
            let is_loaded = slices.ended.iter().any(|load| load.side as usize == side);
            if let Some(used) = slices.used(side).filter(|_| !is_loaded) {
                *account.unloaded.get_or_insert_default() += used;
            }
        }
    }

    /// Waits for the step's connections, reads the counters and opens the window; `None` if no
    /// contender lives.
    async fn ready(
        &mut self,
        on: &mut [RunContext<'_>],
        announced: Option<(usize, usize)>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<Reading>>, Halt> {
        let connections = match self.event_or_death(on).await? {
            Some(LoadEvent::Ready {
                connections,
                further,
                ..
            }) => std::iter::once(connections).chain(further),
            Some(other) => return Err(unexpected(other)),
            None => return Ok(None),
        };
        let all = on.iter_mut().zip(&mut self.accounts).zip(connections);
        for ((one, account), connections) in all {
            if account.lost.is_some() {
                continue;
            }
            account.last = connections;
            if let Some((step, steps)) = announced {
                goes_on(one.case, observer)?;
                observer.observe(&Event::StepBegan {
                    run: one.case.begin.run.id.clone(),
                    step,
                    steps,
                    connections: connections.asked,
                    established: connections.asked - connections.missing(),
                })?;
            }
        }
        self.look_for_deaths(on).await?;
        if self.all_lost() {
            return Ok(None);
        }
        // One that ended while connections were opened has no slice in this step.
        for account in &mut self.accounts {
            account.has_open_slice = false;
        }
        let before = read_all(on).await;
        self.tell(StepCommand::Go).await?;
        Ok(Some(before))
    }

    async fn event(&mut self) -> Result<LoadEvent, Halt> {
        let event = self.generator.next().await;
        let event = event.map_err(|error| failed(&error.to_string()))?;
        Ok(event.unwrap_or(LoadEvent::Done))
    }

    async fn tell(&mut self, command: StepCommand) -> Result<(), Halt> {
        let told = self.generator.tell(command).await;
        told.map_err(|error| failed(&error.to_string()))
    }

    /// Waits until the load generator has ended.
    pub(crate) async fn end(&mut self) -> Result<(), Halt> {
        match self.event().await? {
            LoadEvent::Done => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Takes over what another load of the same contender asked for, once that has ended.
    pub(crate) fn take_over(&mut self, mut other: Self) {
        let other = other.close(0);
        if let Some(own) = self.accounts.first_mut() {
            own.last = other.last;
            own.logged.requests += other.logged.requests;
            own.requests.add_all(&other.requests);
        }
    }
}

/// Has the records that follow go to the run of a contender of a set, also where it is the only
/// remaining one: another one's may have started last.
fn goes_on(case: &Case, observer: &mut dyn Observer) -> anyhow::Result<()> {
    if !case.begin.run.in_turns {
        return Ok(());
    }
    observer.observe(&Event::RunGoesOn {
        run: case.begin.run.id.clone(),
    })
}

fn unexpected(event: LoadEvent) -> Halt {
    match event {
        LoadEvent::Failed { message } => failed(&message),
        LoadEvent::Done => failed("it ended before its load did"),
        LoadEvent::Ready { .. }
        | LoadEvent::Began { .. }
        | LoadEvent::Interval(_)
        | LoadEvent::StepDone { .. } => failed("its events are out of order"),
    }
}

fn failed(message: &str) -> Halt {
    Failure::new(Stage::Load, format!("the load generator failed: {message}")).into()
}
