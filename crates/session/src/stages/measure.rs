//! The load of one run, or of a set whose contenders take turns: drives the load generator step by
//! step and meters every slice.

mod account;
mod costs;
mod deaths;
mod exposition;
mod open_load;
mod scrape;
mod until_warm;

use bakeoff_base::problem::Problem;
use bakeoff_model::load::{LoadEvent, LoadInterval, LoadSpec, StepCommand};
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Others, Record};
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_places::Instance;
use bakeoff_places::contracts::RunningLoad;
use bakeoff_store::event::{self, Event, Observer};
use bakeoff_validity::{JudgedSlice, evidence_of};

use super::load_spec::{self, Loaded, SpecInput};
use super::log_growth::Logged;
use super::slices::{Reading, interval_record, record_fleet};
use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;
use costs::{Slices, read_all};

pub(crate) use account::Account;

/// A note on load that only routes keep on this host.
const UNBOUND: &str = "this kernel lets the load generator bind no socket to a network device, so \
    only an unreachable route keeps the load on this host if the contender ends";

/// A contender under load: it is alive, in its session.
pub(crate) struct RunContext<'a> {
    pub(crate) parts: &'a SessionDeps<'a>,
    pub(crate) case: &'a Case,
    pub(crate) instance: &'a mut dyn Instance,
}

/// A slice that was recorded, with its verdict.
pub(crate) struct RecordedSlice {
    pub(crate) load: LoadInterval,
    pub(crate) judged: JudgedSlice,
}

/// The start of a sentence.
const FAILED: &str = "the load generator failed";

/// A load, played step by step. Dropping it ends its load generator.
pub(crate) struct LoadDriver {
    generator: Box<dyn RunningLoad>,
    /// Whether it runs in Pods, which a cluster may end: the next run has another then.
    in_pods: bool,
    /// The steps in the order in which they are played.
    steps: Vec<PlannedStep>,
    /// The numbers of these steps in the run.
    numbers: Vec<usize>,
    /// How many steps have been played.
    done: usize,
    /// How many steps of the run other load generators have played.
    before: usize,
    /// The number of steps of the load generator that have started.
    started: usize,
    /// Slices of the current step so far.
    slices: u32,
    /// Each contender of the load.
    accounts: Vec<Account>,
    /// Takes the slices of a step that is played on a contender alone.
    alone: Option<Vec<RecordedSlice>>,
}

/// The part that the load generator plays at a time: the whole step, but for warm-up that ends when
/// the contenders are warm.
#[derive(Clone, Copy)]
struct Block {
    /// Number of the step in the run.
    step: usize,
    planned: PlannedStep,
    /// The step of the load generator once more.
    is_again: bool,
    /// The step starts for observers: its number, and how many there are.
    announced: Option<(usize, usize)>,
    /// How many contenders have a slice of the same time: all that take turns, otherwise one.
    at_once: usize,
    /// Requests per second, if response times are compared in it.
    latency_rate_per_s: Option<f64>,
}

impl LoadDriver {
    /// Starts the load generator, which opens the first step's connections to all contenders.
    pub(crate) async fn begin(on: &[RunContext<'_>]) -> Result<Self, Halt> {
        let run = on.first().map(|one| &one.case.begin.run);
        let numbers = run.map(PlannedRun::played).unwrap_or_default();
        let steps = run.map(load_spec::played_steps).unwrap_or_default();
        let own = Self::begin_with(on, steps, load_spec::load_spec).await?;
        Ok(Self { numbers, ..own })
    }

    /// Starts a load generator for one more step, which follows all others of the run: the
    /// `number`-th, from 0.
    pub(crate) async fn begin_step(
        on: &RunContext<'_>,
        step: PlannedStep,
        number: usize,
    ) -> Result<Self, Halt> {
        let on = std::slice::from_ref(on);
        let own = Self::begin_with(on, vec![step], load_spec::load_spec).await?;
        Ok(Self {
            numbers: vec![number],
            before: number,
            ..own
        })
    }

    /// Starts the load generator with a load spec.
    async fn begin_with(
        on: &[RunContext<'_>],
        steps: Vec<PlannedStep>,
        spec: impl Fn(&SpecInput<'_>) -> LoadSpec,
    ) -> Result<Self, Halt> {
        let Some(first) = on.first() else {
            return Err(Halt::of_tool(Problem::new("there is nothing to load")));
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
            steps: &steps,
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
            generator: first.parts.place.generator.start(&spec).await?,
            in_pods: first.case.begin.runtime == RuntimeKind::Kubernetes,
            steps,
            numbers: Vec::new(),
            done: 0,
            before: 0,
            started: 0,
            slices: 0,
            accounts,
            alone: None,
        })
    }

    /// Whether there is a step to play.
    pub(crate) fn has_next(&self) -> bool {
        self.done < self.steps.len()
    }

    /// Adds what another load asked of a contender, once that has ended.
    pub(crate) fn absorb(&mut self, index: usize, other: Account) {
        if let Some(account) = self.accounts.get_mut(index) {
            account.absorb(other);
        }
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

    /// Plays the next step on a contender alone; returns its slices.
    pub(crate) async fn play_alone(
        &mut self,
        on: &mut RunContext<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RecordedSlice>, Halt> {
        self.alone = Some(Vec::new());
        self.play(std::slice::from_mut(on), observer).await?;
        match self.lost(0) {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(self.alone.take().unwrap_or_default()),
        }
    }

    /// Plays the next step on all contenders with which the load started.
    pub(crate) async fn play(
        &mut self,
        on: &mut [RunContext<'_>],
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let next = self.steps.get(self.done).zip(self.numbers.get(self.done));
        let Some((planned, step)) = next.map(|(planned, step)| (*planned, *step)) else {
            return Ok(());
        };
        self.slices = 0;
        let block = Block {
            step,
            planned,
            is_again: false,
            announced: Some((self.before + self.done, self.before + self.steps.len())),
            at_once: on.len(),
            latency_rate_per_s: None,
        };
        if planned.at_least.is_some() {
            self.until_warm(on, block, observer).await?;
        } else {
            let before = self.scrape(on, step).await;
            self.block(on, block, observer).await?;
            self.record_metrics(on, step, before, observer).await?;
        }
        self.done += 1;
        Ok(())
    }

    /// Plays what the load generator plays at a time.
    async fn block(
        &mut self,
        on: &mut [RunContext<'_>],
        block: Block,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        // The last slice has been read: what opening connections costs is not its own.
        match (block.is_again, self.started) {
            (true, _) => self.tell(StepCommand::Again).await?,
            (false, 0) => {}
            (false, _) => self.tell(StepCommand::Go).await?,
        }
        self.started += usize::from(!block.is_again);
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
                    self.record(on, slices, &block, observer).await?;
                    before = after;
                    if self.all_lost() {
                        return Ok(());
                    }
                }
                LoadEvent::StepDone { fleet, .. } => {
                    if let (Some(receipt), Some(one)) = (fleet, on.first()) {
                        let planned = &block.planned;
                        record_fleet(one.case, block.step, planned, *receipt, observer)?;
                    }
                    return Ok(());
                }
                other => return Err(self.unexpected(other)),
            }
        }
    }

    /// Records the slices of all contenders that take part, and looks whether these still live.
    async fn record(
        &mut self,
        on: &mut [RunContext<'_>],
        slices: Slices<'_>,
        block: &Block,
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
                return Err(self.failed("it counted for a target that it does not have"));
            };
            if account.lost.is_some() && !std::mem::take(&mut account.has_open_slice) {
                continue;
            }
            account.logged.requests += load.requests;
            account.requests.add(&one.case.requests, &load);
            account.loaded.entry(block.step).or_default().add(&load);
            let readings = [&slices.before[side], &slices.after[side]];
            let mut record = interval_record(block.step, &block.planned, load, readings);
            record.latency_rate_per_s = block.latency_rate_per_s;
            record.unloaded = account.unloaded.take();
            record.warmth = account.warmth.filter(|_| !record.warm_up);
            record.others = is_set.then(|| {
                let mut others = Others::default();
                let beside = all.iter().enumerate().filter(|(other, _)| *other != side);
                beside.for_each(|(_, cost)| others += *cost);
                others
            });
            if let Some(warm_up) = &mut account.warm_up {
                warm_up.add(&record);
            }
            let judged = JudgedSlice::new(evidence_of(&one.case.begin, &record));
            record.validity = judged.validity.clone();
            account.judged.entry(block.step).or_default().add(&judged);
            if let Some(alone) = &mut self.alone {
                let load = record.load.clone();
                alone.push(RecordedSlice { load, judged });
            }
            let record = Record::Interval(Box::new(record));
            event::record(observer, one.case.run_id(), record)?;
        }
        self.look_for_deaths(on).await?;
        Ok(())
    }

    /// Adds what a slice of the open load cost contenders that have no load in it. In the warm-up
    /// they may still have work of the turns before.
    fn add_unloaded(&mut self, slices: &Slices<'_>, block: &Block) {
        if block.planned.warm_up {
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
            Some(other) => return Err(self.unexpected(other)),
            None => return Ok(None),
        };
        let all = on.iter_mut().zip(&mut self.accounts).zip(connections);
        for ((one, account), connections) in all {
            if account.lost.is_some() {
                continue;
            }
            account.last = connections;
            if let Some((step, steps)) = announced {
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
        let event = event.map_err(|error| self.failed(&error.to_string()))?;
        Ok(event.unwrap_or(LoadEvent::Done))
    }

    async fn tell(&mut self, command: StepCommand) -> Result<(), Halt> {
        let told = self.generator.tell(command).await;
        told.map_err(|error| self.failed(&error.to_string()))
    }

    /// Waits until the load generator has ended.
    pub(crate) async fn end(&mut self) -> Result<(), Halt> {
        match self.event().await? {
            LoadEvent::Done => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    fn unexpected(&self, event: LoadEvent) -> Halt {
        match event {
            LoadEvent::Failed { message } => self.failed(&message),
            LoadEvent::Done => self.failed("it ended before its load did"),
            LoadEvent::Ready { .. }
            | LoadEvent::Began { .. }
            | LoadEvent::Interval(_)
            | LoadEvent::StepDone { .. } => self.failed("its events are out of order"),
        }
    }

    /// The load generator failed. Failures of a service are never among these: the load generator
    /// counts them.
    fn failed(&self, message: &str) -> Halt {
        let problem = Problem::new(message).context(FAILED);
        match self.in_pods {
            true => Failure::of(Stage::Load, problem).into(),
            false => Halt::of_tool(problem),
        }
    }
}
