//! The search itself: builds commits, plays duels of them, and chooses the next ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_base::hint::hinted;
use bakeoff_build::{BUILD_LIMIT, LoggedCommand};
use bakeoff_model::plan::baseline::ConditionMetric;
use bakeoff_model::record::Purpose;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::text::duration_ns;
use bakeoff_places::sweep::{RunFolder, trees_folder};
use bakeoff_session::revision::Tree;
use bakeoff_session::session::Audience;
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_stats::{
    self as stats, Better, Budget, Criteria, LevelShift, Sample, against_bounds, compare,
};
use bakeoff_store::event::Event;
use bakeoff_store::event::bisection::{Bisection, Candidate, SkippedCommit};
use bakeoff_store::file::make_inside;
use bakeoff_store::options::Revisions;
use bakeoff_store::options::SessionOptions;

use crate::bisect::Bisect;
use crate::bisect::line::Line;
use crate::bisect::outcome::{Change, OutcomeFacts};
use crate::duel::{self, Duel, DuelRuns, SuitePlace, Unprepared};
use crate::series::{self, Stopped};
use crate::service::{DuelService, ServiceSource};

/// The commit is one of those that hold the change with this probability.
const PROBABILITY: f64 = 0.95;

/// Sets of a session in which a shift is looked for: few, because the next session measures again
/// what is still in question.
const SETS: u32 = 3;

/// The longest that good and bad, or a commit and the one before it, are measured, if the whole
/// search may take as long.
const DUEL_WITHIN: Duration = Duration::from_secs(120);

/// The most sessions of good and bad, until it is decided whether the condition holds.
const SESSIONS_OF_ENDS: usize = 4;

/// The sample of each commit in a session, by its name there.
type Samples = BTreeMap<String, Sample>;

/// The state of a search.
pub(super) struct Search<'a, 'w> {
    order: &'a Bisect,
    line: Line,
    audience: &'a mut Audience<'w>,
    began: Instant,
    trees: BTreeMap<usize, Tree>,
    /// Why a position cannot be measured.
    unusable: BTreeMap<usize, String>,
    measured: BTreeSet<usize>,
    shift: LevelShift,
    sessions: usize,
    /// The results folder of the last session.
    last_session: PathBuf,
    /// The folder that all builds with Cargo share; made with the first build.
    shared: Option<RunFolder>,
}

impl<'a, 'w> Search<'a, 'w> {
    pub(super) fn new(order: &'a Bisect, line: Line, audience: &'a mut Audience<'w>) -> Self {
        Self {
            shift: LevelShift::new(line.last()),
            order,
            line,
            audience,
            began: Instant::now(),
            trees: BTreeMap::new(),
            unusable: BTreeMap::new(),
            measured: BTreeSet::new(),
            sessions: 0,
            last_session: order.results.clone(),
            shared: None,
        }
    }

    pub(super) fn tell(&mut self, event: &Event) -> anyhow::Result<()> {
        self.audience.watcher.observe(event)
    }

    /// Searches until one commit is found, or it is known that none will be.
    pub(super) async fn run(&mut self) -> anyhow::Result<Bisection> {
        let last = self.line.last();
        for end in [0, last] {
            if !self.build(end).await? {
                return Err(self.end_unusable(end));
            }
        }
        let change = self.pair(0, last, SESSIONS_OF_ENDS).await?;
        let is_worse = change.side == stats::BoundSide::Above;
        let mut time_is_over = false;
        while is_worse && self.shift.credible(PROBABILITY).len() > 1 {
            time_is_over = self.began.elapsed() >= self.order.within;
            if time_is_over {
                break;
            }
            let next = self.next().await?;
            if next.is_empty() {
                break;
            }
            self.narrow(&next).await?;
        }
        let candidates = match is_worse {
            true => self.candidates(),
            false => Vec::new(),
        };
        let of_commit = match self.shift.credible(PROBABILITY)[..] {
            [found] if is_worse && last > 1 => self.confirmed(found).await?,
            _ => None,
        };
        let found = OutcomeFacts {
            condition: self.order.condition,
            change: &change,
            of_commit: of_commit.as_ref(),
            candidates: &candidates,
            commits: last,
            time_is_over,
        };
        let (outcome, sentence) = (found.outcome(), found.sentence());
        Ok(Bisection {
            outcome,
            sentence,
            condition: self.order.condition.to_string(),
            change: change.with_interval(),
            of_commit: of_commit.map(|own| own.with_interval()),
            candidates,
            skipped: self.skipped(),
            commits: last,
            measured: self.measured.len(),
            sessions: self.sessions,
            took_s: self.began.elapsed().as_secs_f64(),
            results: self.last_session.clone(),
        })
    }

    /// Measures one commit against an earlier one: in another session as long as the condition is
    /// undecided, up to this number of them. A session ends when the throughput is decided, which
    /// may be before the condition is.
    async fn pair(
        &mut self,
        earlier: usize,
        later: usize,
        sessions_max: usize,
    ) -> anyhow::Result<Change> {
        let (mut before, mut after) = self.duel_of(earlier, later).await?;
        let mut session = 1;
        loop {
            let is_last = session == sessions_max || self.began.elapsed() >= self.order.within;
            let change = self.change(&before, &after, is_last);
            if is_last || change.side != stats::BoundSide::Undecided {
                return Ok(change);
            }
            let more = self.duel_of(earlier, later).await?;
            before = before.followed_by(&more.0);
            after = after.followed_by(&more.1);
            session += 1;
        }
    }

    /// Plays a duel of two commits. Returns the sample of each.
    async fn duel_of(&mut self, earlier: usize, later: usize) -> anyhow::Result<(Sample, Sample)> {
        let runs = DuelRuns::Within(DUEL_WITHIN.min(self.order.within));
        let mut samples = match self.play(&[earlier, later], runs, Purpose::Duel).await {
            Ok(samples) => samples,
            Err(Unprepared::Order(error) | Unprepared::Services(error)) => return Err(error),
        };
        let (figure, folder) = (self.figure(), self.last_session.display());
        let mut sample = |position| {
            let name = self.line.name(position);
            samples
                .remove(&name)
                .with_context(|| format!("{name} has no {figure} that counts; see {folder}"))
        };
        Ok((sample(earlier)?, sample(later)?))
    }

    /// Compares two commits. Each session is a look, so that intervals hold at any of them.
    fn change(&self, before: &Sample, after: &Sample, is_last: bool) -> Change {
        let budget = match is_last {
            true => Budget::Spent,
            false => Budget::Left,
        };
        let [before, after] = [before, after].map(|sample| sample.clone().looked_at(budget));
        let bound = self.order.condition.bound();
        let bounded = match self.figure() {
            ConditionMetric::Slower => against_bounds(&[(&before, &after, bound)]),
            _ => against_bounds(&[(&after, &before, bound)]),
        };
        // Only the ratio is wanted, which is the same whichever is better.
        let found = compare(&after, &before, &Criteria::new(Better::Lower));
        Change {
            ratio: found.ratio,
            side: bounded[0].side,
        }
    }

    fn figure(&self) -> ConditionMetric {
        self.order.condition.figure
    }

    /// The commit that was found against the nearest one before it that can be measured.
    async fn confirmed(&mut self, found: usize) -> anyhow::Result<Option<Change>> {
        if self.began.elapsed() >= self.order.within {
            return Ok(None);
        }
        for position in [found - 1, found] {
            if !self.build(position).await? {
                return Ok(None);
            }
        }
        self.tell(&Event::BisectionConfirms {
            commit: self.line.commit(found),
            before: self.line.commit(found - 1),
        })?;
        self.pair(found - 1, found, 1).await.map(Some)
    }

    /// Positions to measure next, built.
    async fn next(&mut self) -> anyhow::Result<Vec<usize>> {
        loop {
            let unusable = &self.unusable;
            let can_be_measured = |position: usize| !unusable.contains_key(&position);
            let next = self.shift.next(self.order.at_once, can_be_measured);
            let mut all_built = true;
            for position in &next {
                all_built &= self.build(*position).await?;
            }
            if all_built {
                return Ok(next);
            }
        }
    }

    /// Measures commits together with good and bad, and learns from it.
    async fn narrow(&mut self, next: &[usize]) -> anyhow::Result<()> {
        let last = self.line.last();
        let positions: Vec<usize> = [0].iter().chain(next).chain([&last]).copied().collect();
        self.tell(&Event::BisectionNarrows {
            measuring: next.iter().map(|one| self.line.commit(*one)).collect(),
            candidates: self.candidates(),
        })?;
        let samples = match self
            .play(&positions, DuelRuns::Fixed(SETS), Purpose::Bisect)
            .await
        {
            Ok(samples) => samples,
            Err(Unprepared::Order(error)) => return Err(error),
            Err(Unprepared::Services(error)) => return self.rehearse(next, error).await,
        };
        let of = |position: &usize| {
            let sample = samples.get(&self.line.name(*position))?;
            Some((*position, sample))
        };
        let measured: BTreeMap<usize, &Sample> = positions.iter().filter_map(of).collect();
        let has_ends = measured.contains_key(&0) && measured.contains_key(&last);
        let learned = has_ends && self.shift.observe(&measured);
        let without = next.iter().filter(|one| !measured.contains_key(one));
        let without: Vec<usize> = without.copied().collect();
        if !learned && without.is_empty() {
            let folder = self.last_session.display();
            return Err(hinted(
                format_args!("{folder}: too few sets count for anything to be learned"),
                "its report says why",
            ));
        }
        for position in without {
            let why = "it was not measured; the report of its session says why";
            self.skip(position, why.to_owned())?;
        }
        Ok(())
    }

    /// Skips the commits that do not start, or whose responses differ from the good commit's.
    async fn rehearse(&mut self, next: &[usize], error: anyhow::Error) -> anyhow::Result<()> {
        let before = self.unusable.len();
        for position in next {
            let duel = self.duel(&[0, *position], DuelRuns::Fixed(SETS));
            let tried = tokio::select! {
                tried = duel::ask(&duel) => tried,
                () = (self.audience.interruption)() => return Err(Stopped.into()),
            };
            match tried {
                Ok(_) => {}
                Err(Unprepared::Order(error)) => return Err(error),
                Err(Unprepared::Services(error)) => self.skip(*position, format!("{error:#}"))?,
            }
        }
        match self.unusable.len() > before {
            true => Ok(()),
            false => Err(error),
        }
    }

    /// Plays a session of these positions. Returns what each shows, by its name.
    async fn play(
        &mut self,
        positions: &[usize],
        runs: DuelRuns,
        purpose: Purpose,
    ) -> Result<Samples, Unprepared> {
        self.sessions += 1;
        let folder = self.order.results.join(format!("{:02}", self.sessions));
        let locked = LockedFolder::make(&folder)?;
        let suite = folder.join("suite");
        let duel = self.duel(positions, runs);
        let prepared = tokio::select! {
            prepared = duel::prepare(&duel, SuitePlace::InResults(&suite)) => prepared?,
            () = (self.audience.interruption)() => return Err(anyhow::Error::from(Stopped).into()),
        };
        let revisions = self.sampled_change(positions);
        let options = SessionOptions {
            purpose,
            flame_graphs: revisions.is_some(),
            revisions,
            ..duel.options()
        };
        let open = prepared.open(locked, options, self.order.seed)?;
        let recorded = series::play(open, &folder, self.audience).await?;
        self.measured.extend(positions);
        self.last_session = folder;
        let analysis = Analysis::of(&AnalysisInput::new(&recorded, ""));
        let samples = analysis.samples(self.figure()).into_iter();
        Ok(samples
            .map(|(label, sample)| (label.to_owned(), sample))
            .collect())
    }

    /// The change between a commit and the one before it, if stacks are wanted; `None` for others.
    fn sampled_change(&self, positions: &[usize]) -> Option<Revisions> {
        match *positions {
            [before, found] if self.order.profile_cpu && before + 1 == found => {
                Some(self.line.change(before, found))
            }
            _ => None,
        }
    }

    fn duel(&self, positions: &[usize], runs: DuelRuns) -> Duel {
        let sides = positions.iter().map(|position| DuelService {
            name: self.line.name(*position),
            text: self.line.commit(*position).title,
            service: ServiceSource::Command(self.order.command.clone()),
            workdir: self.trees.get(position).map(Tree::inside),
        });
        Duel {
            sides: sides.collect(),
            runs,
            // Good and bad are the controls of a session in which a shift is looked for.
            control: positions.len() == 2,
            latency: matches!(self.figure(), ConditionMetric::P50 | ConditionMetric::P99),
            ..self.order.duel.clone()
        }
    }

    /// Builds a commit unless it is built. Returns whether it can be measured.
    async fn build(&mut self, position: usize) -> anyhow::Result<bool> {
        if self.unusable.contains_key(&position) {
            return Ok(false);
        }
        if self.trees.contains_key(&position) {
            return Ok(true);
        }
        let tree = self.line.tree(position)?;
        let Some(build) = &self.order.build else {
            self.trees.insert(position, tree);
            return Ok(true);
        };
        let name = self.line.name(position);
        let logs = make_inside(&self.order.results, "builds")?;
        if self.shared.is_none() {
            self.shared = Some(RunFolder::make(&trees_folder())?);
        }
        let shared = self
            .shared
            .as_ref()
            .map(|folder| folder.path().join("cargo"));
        let shared = shared.map(|path| ("CARGO_BUILD_BUILD_DIR".to_owned(), text(&path)));
        let (words, env) = (
            ["sh", "-c", build].map(str::to_owned),
            shared.into_iter().collect(),
        );
        let command = LoggedCommand {
            words: &words,
            env: &env,
            folder: &tree.inside(),
            log: &logs.join(format!("{name}.log")),
            limit: BUILD_LIMIT,
        };
        let (index, contenders) = (self.trees.len(), self.line.last() + 1);
        self.audience.watcher.observe(&Event::Building {
            contender: name.clone(),
            index,
            contenders,
        })?;
        let began = Instant::now();
        let built = tokio::select! {
            built = command.run() => built,
            () = (self.audience.interruption)() => return Err(Stopped.into()),
        };
        let took_ns = duration_ns::whole(began.elapsed());
        let Err(message) = built else {
            self.audience.watcher.observe(&Event::Built {
                contender: name,
                index,
                contenders,
                took_ns,
                fresh: true,
                version: Some(self.line.commit(position).title),
            })?;
            self.trees.insert(position, tree);
            return Ok(true);
        };
        let message = format!("{name}: the build {message}");
        self.audience.watcher.observe(&Event::BuildFailed {
            failure: failure(&message, build, &command),
            contender: name,
            index,
            contenders,
            took_ns,
        })?;
        self.unusable.insert(position, message);
        Ok(false)
    }

    fn end_unusable(&self, end: usize) -> anyhow::Error {
        let why = self.unusable.get(&end).map_or("", String::as_str);
        let logs = self.order.results.join("builds");
        hinted(
            why,
            format_args!(
                "both ends of the line must build; the logs are in {}",
                logs.display()
            ),
        )
    }

    fn skip(&mut self, position: usize, why: String) -> anyhow::Result<()> {
        self.tell(&Event::Skipped {
            contender: self.line.name(position),
            why: why.clone(),
        })?;
        self.unusable.insert(position, why);
        Ok(())
    }

    fn skipped(&self) -> Vec<SkippedCommit> {
        let unusable = self.unusable.iter();
        let skipped = unusable.map(|(position, why)| SkippedCommit {
            commit: self.line.commit(*position),
            why: why.clone(),
        });
        skipped.collect()
    }

    fn candidates(&self) -> Vec<Candidate> {
        let probabilities = self.shift.probabilities();
        let credible = self.shift.credible(PROBABILITY).into_iter();
        let candidates = credible.map(|position| Candidate {
            commit: self.line.commit(position),
            probability: probabilities[position - 1],
        });
        candidates.collect()
    }
}

fn failure(message: &str, build: &str, command: &LoggedCommand<'_>) -> Failure {
    let hint = format!("the whole log is {}", command.log.display());
    Failure::new(Stage::Build, message)
        .with_evidence(format!("{build}\n{}", command.last_lines()))
        .with_hints(Some(hint))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
