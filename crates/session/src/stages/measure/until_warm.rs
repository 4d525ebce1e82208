//! A warm-up that lasts until every contender is warm.

use std::time::Duration;

use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_validity::{WarmUp, is_warm};

use super::{Block, LoadDriver, RunContext};
use crate::contracts::Halt;
use crate::event::Observer;

impl LoadDriver {
    /// Plays a warm-up block by block, until every contender is warm or its time is over.
    pub(super) async fn until_warm(
        &mut self,
        on: &mut [RunContext<'_>],
        step: usize,
        planned: &PlannedStep,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let length = on
            .first()
            .map_or(Duration::ZERO, |one| planned.block(one.case.slice));
        let mut warm_ups = vec![WarmUp::default(); on.len()];
        let mut loaded = Duration::ZERO;
        loop {
            let is_first = loaded.is_zero();
            let block = Block {
                step,
                planned: Some(*planned),
                is_again: !is_first,
                announced: is_first.then_some((self.done, self.played.len())),
                at_once: on.len(),
                latency_rate_per_s: None,
                warm_ups: &mut warm_ups,
            };
            self.block(on, block, observer).await?;
            loaded += length;
            let all_warm = self.are_warm(&warm_ups);
            let is_over = loaded + length > planned.duration || self.all_lost();
            if is_over || (all_warm && loaded >= planned.shortest()) {
                return Ok(());
            }
        }
    }

    /// Whether all contenders that take part are warm by now, each next to the others.
    fn are_warm(&mut self, warm_ups: &[WarmUp]) -> bool {
        let lives: Vec<bool> = self.accounts.iter().map(|one| one.lost.is_none()).collect();
        let mut all_warm = true;
        for (side, account) in self
            .accounts
            .iter_mut()
            .enumerate()
            .filter(|one| lives[one.0])
        {
            let others = warm_ups.iter().enumerate();
            let others = others.filter(|(other, _)| *other != side && lives[*other]);
            let others: Vec<&WarmUp> = others.map(|(_, warm_up)| warm_up).collect();
            account.warmth = warm_ups[side].warmth_beside(&others);
            all_warm &= account.warmth.as_ref().is_some_and(is_warm);
        }
        all_warm
    }
}
