//! A carousel: all contenders of a benchmark are started, checked and warmed one after the other
//! and frozen; then one at a time is thawed for a short slice, in an order that is drawn for each
//! cycle. So all of them meet the same host within seconds. Each stays a run with records of its
//! own, and one that fails takes only itself out.

use bakeoff_base::random::Random;
use bakeoff_model::failure::{Failure, Stage};
use bakeoff_runtime::Instance;

use super::{Driver, Place};
use crate::case::Case;
use crate::contracts::{Halt, LoadGenerator, Parts, PendingRun};
use crate::event::{Event, Observer};
use crate::stages::measure::{Loading, On};
use crate::stages::rows::{self, Counted};
use crate::stages::run;
use crate::stages::start::stage;

/// Sets the order within cycles apart from other draws of the same seed.
const ORDER: u64 = 0x6361_726f_7573_656c;

/// One contender of a carousel.
struct Member<'a, G> {
    case: Case,
    notes: Vec<String>,
    /// `None` when it is out.
    alive: Option<Alive<'a, G>>,
}

struct Alive<'a, G> {
    instance: Box<dyn Instance>,
    loading: Loading<G>,
    counted: Option<Counted<'a>>,
}

/// Plays one carousel; `place` is that of each of its runs.
pub(super) async fn play<L: LoadGenerator>(
    driver: &Driver<'_, L>,
    pending: &[PendingRun],
    place: impl Fn(usize) -> Place,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let mut members = Vec::new();
    for (offset, one) in pending.iter().enumerate() {
        let mut member = Member {
            case: driver.begin(one, place(offset), observer)?,
            notes: Vec::new(),
            alive: None,
        };
        let mounted = member.mount(&driver.parts, observer).await;
        member.settle(driver, mounted, observer).await?;
        members.push(member);
    }
    let Some(first) = members.first() else {
        return Ok(());
    };
    let run = &first.case.begin.run;
    let cycles = run.carousel.map_or(0, |carousel| carousel.cycles);
    let mut random = Random::new(first.case.seed ^ ORDER ^ u64::from(run.repetition));
    for _ in 0..cycles {
        let alive = members.iter_mut().filter(|member| member.alive.is_some());
        let mut order: Vec<&mut Member<'_, L::Load>> = alive.collect();
        random.shuffle(&mut order);
        for (position, member) in (0..).zip(order) {
            member.goes_on(observer)?;
            let turned = member.turn(&driver.parts, position, observer).await;
            member.settle(driver, turned, observer).await?;
        }
    }
    for member in members.iter_mut().filter(|member| member.alive.is_some()) {
        member.goes_on(observer)?;
        member.leave(driver, Ok(()), observer).await?;
    }
    Ok(())
}

impl<'a, G: crate::contracts::RunningLoad> Member<'a, G> {
    fn goes_on(&self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        observer.observe(&Event::RunGoesOn {
            run: self.case.begin.run.id.clone(),
        })
    }

    /// Starts, checks and warms the contender, and freezes it until its first turn.
    async fn mount<L: LoadGenerator<Load = G>>(
        &mut self,
        parts: &Parts<'a, L>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let mut instance = run::verified(parts, &self.case, observer).await?;
        let counted = rows::before(parts, &self.case).await?;
        stage(observer, &self.case, Stage::Load)?;
        let on = On {
            parts,
            case: &self.case,
            instance: instance.as_mut(),
        };
        let loading = Loading::begin(&on).await?;
        self.alive = Some(Alive {
            instance,
            loading,
            counted,
        });
        self.play_cycle(parts, None, 0, observer).await?;
        self.freeze().await
    }

    /// One turn: thawed, loaded for what is discarded and for a slice, frozen again.
    async fn turn<L>(
        &mut self,
        parts: &Parts<'_, L>,
        position: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        self.thaw().await?;
        let next = self.alive.as_ref().and_then(|alive| alive.loading.next());
        let cycle = next.and_then(|played| played.cycle);
        self.play_cycle(parts, cycle, position, observer).await?;
        self.freeze().await
    }

    /// Plays all steps of a cycle, or all those before the first one.
    async fn play_cycle<L>(
        &mut self,
        parts: &Parts<'_, L>,
        cycle: Option<u32>,
        position: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let Some(alive) = &mut self.alive else {
            return Ok(());
        };
        let mut on = On {
            parts,
            case: &self.case,
            instance: alive.instance.as_mut(),
        };
        let loading = &mut alive.loading;
        while loading.next().is_some_and(|played| played.cycle == cycle) {
            loading.play(&mut on, position, observer).await?;
        }
        Ok(())
    }

    async fn freeze(&mut self) -> Result<(), Halt> {
        match &mut self.alive {
            Some(alive) => alive.instance.freeze().await.map_err(halted),
            None => Ok(()),
        }
    }

    async fn thaw(&mut self) -> Result<(), Halt> {
        match &mut self.alive {
            Some(alive) => alive.instance.thaw().await.map_err(halted),
            None => Ok(()),
        }
    }

    /// Goes on with a member after something was done with it, or takes it out if that failed.
    async fn settle<L>(
        &mut self,
        driver: &Driver<'_, L>,
        done: Result<(), Halt>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()>
    where
        L: LoadGenerator<Load = G>,
    {
        self.notes.extend(driver.unknown_requests().await);
        match done {
            Ok(()) => Ok(()),
            failed => self.leave(driver, failed, observer).await,
        }
    }

    /// Ends the run: the contender is thawed, looked at and stopped, if it came so far.
    async fn leave<L>(
        &mut self,
        driver: &Driver<'_, L>,
        loaded: Result<(), Halt>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()>
    where
        L: LoadGenerator<Load = G>,
    {
        let thawed = self.thaw().await;
        let loaded = loaded.and(thawed);
        let made = match self.alive.take() {
            None => loaded.map(|()| None),
            Some(Alive {
                mut instance,
                mut loading,
                counted,
            }) => {
                let loaded = match loaded {
                    Ok(()) => loading.end().await,
                    failed => failed,
                };
                let mut on = On {
                    parts: &driver.parts,
                    case: &self.case,
                    instance: instance.as_mut(),
                };
                run::finish(&mut on, loading, counted, loaded, &mut self.notes, observer).await
            }
        };
        if !matches!(made, Err(Halt::Fatal(_))) {
            run::checked_apart(&driver.parts, &self.case, observer).await?;
        }
        driver.conclude(made, std::mem::take(&mut self.notes), observer)
    }
}

fn halted(message: String) -> Halt {
    Failure::new(Stage::Load, message).into()
}
