//! What a load asked of a contender, and how that went.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::load::Connections;
use bakeoff_model::record::Unloaded;
use bakeoff_model::record::failure::Failure;
use bakeoff_model::record::totals::Totals;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_validity::{StepJudge, WarmUp};

use crate::ready_case::Case;
use crate::stages::log_growth::Logged;
use crate::stages::row_count::Requests;
use crate::stages::slices::{at, notes_of};

/// The account of a load on one contender.
#[derive(Default)]
pub(crate) struct Account {
    /// Connections of the current step, at which a failure is said to have happened.
    pub(crate) last: Connections,
    /// The requests so far, and how long the log was before them.
    pub(crate) logged: Logged,
    /// The outcomes of the requests.
    pub(crate) requests: Requests,
    /// The verdicts, by planned step.
    pub(super) judged: BTreeMap<usize, StepJudge>,
    /// The totals, by planned step.
    pub(super) loaded: BTreeMap<usize, Totals>,
    /// How warm the contender was at the end of a warm-up that lasted until it was.
    pub(super) warmth: Option<Warmth>,
    /// Cost of the contender in others' slices of the open load, since its last own slice.
    pub(super) unloaded: Option<Unloaded>,
    /// Slices of a warm-up that is played until the contender is warm; `None` outside of one.
    pub(super) warm_up: Option<WarmUp>,
    /// Further notes for the reader.
    pub(super) noted: BTreeSet<String>,
    /// The reason why the contender takes no part any more.
    pub(super) lost: Option<Failure>,
    /// Whether the contender ended within a slice that has still to be recorded.
    pub(super) has_open_slice: bool,
}

impl Account {
    /// Why the contender takes no part any more; `None` while it does.
    pub(crate) fn lost(&self) -> Option<&Failure> {
        self.lost.as_ref()
    }

    /// Adds what another load asked of the same contender, once that has ended.
    pub(super) fn absorb(&mut self, other: Self) {
        self.last = other.last;
        self.logged.requests += other.logged.requests;
        self.requests.add_all(&other.requests);
        self.judged.extend(other.judged);
        self.lost = other.lost;
    }

    /// The account without verdicts on its steps: trials of a capacity record their own.
    pub(crate) fn without_verdicts(self) -> Self {
        Self {
            judged: BTreeMap::new(),
            ..self
        }
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
