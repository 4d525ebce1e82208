//! A warm-up that lasts until every contender is warm.

use std::time::Duration;

use bakeoff_store::event::Observer;
use bakeoff_validity::{WarmUp, is_warm};

use super::{Block, LoadDriver, RunContext};
use crate::contracts::Halt;

impl LoadDriver {
    /// Plays a warm-up block by block, until every contender is warm or its time is over.
    pub(super) async fn until_warm(
        &mut self,
        on: &mut [RunContext<'_>],
        first: Block,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let planned = first.planned;
        let length = on
            .first()
            .map_or(Duration::ZERO, |one| planned.block(one.case.slice));
        self.set_warm_ups(Some(WarmUp::default()));
        let mut block = first;
        let mut loaded = Duration::ZERO;
        loop {
            self.block(on, block, observer).await?;
            loaded += length;
            let all_warm = self.are_warm();
            let is_over = loaded + length > planned.duration || self.all_lost();
            if is_over || (all_warm && loaded >= planned.shortest()) {
                self.set_warm_ups(None);
                return Ok(());
            }
            block = Block {
                is_again: true,
                announced: None,
                ..first
            };
        }
    }

    fn set_warm_ups(&mut self, warm_up: Option<WarmUp>) {
        for account in &mut self.accounts {
            account.warm_up.clone_from(&warm_up);
        }
    }

    /// Whether all contenders that take part are warm by now, each next to the others.
    fn are_warm(&mut self) -> bool {
        let mut all_warm = true;
        for side in 0..self.accounts.len() {
            let Some(own) = self.warm_up(side) else {
                continue;
            };
            let others = (0..self.accounts.len()).filter(|other| *other != side);
            let others: Vec<&WarmUp> = others.filter_map(|other| self.warm_up(other)).collect();
            let warmth = own.warmth_beside(&others);
            all_warm &= warmth.as_ref().is_some_and(is_warm);
            self.accounts[side].warmth = warmth;
        }
        all_warm
    }

    /// The warm-up of a contender that takes part.
    fn warm_up(&self, side: usize) -> Option<&WarmUp> {
        let account = self.accounts.get(side).filter(|one| one.lost.is_none())?;
        account.warm_up.as_ref()
    }
}
