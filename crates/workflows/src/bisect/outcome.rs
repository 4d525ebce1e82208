//! The outcome of a search for a commit, as an object for programs and a sentence for the user.

use bakeoff_analysis::{WithInterval, changed};
use bakeoff_base::text::counted;
use bakeoff_model::plan::baseline::{Condition, ConditionMetric};
use bakeoff_session::event::bisection::{BisectionOutcome, Candidate};
use bakeoff_stats::{BoundSide, Estimate};

/// The ratio of two commits, the later over the earlier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) ratio: Estimate,
    /// Where that is by the bound of the condition.
    pub(super) side: BoundSide,
}

impl Change {
    pub(super) fn with_interval(&self) -> WithInterval {
        WithInterval::from(&self.ratio)
    }
}

/// The parts of the sentence of an outcome.
pub(super) struct OutcomeFacts<'a> {
    pub(super) condition: Condition,
    pub(super) change: &'a Change,
    pub(super) of_commit: Option<&'a Change>,
    pub(super) candidates: &'a [Candidate],
    pub(super) commits: usize,
    pub(super) time_is_over: bool,
}

impl OutcomeFacts<'_> {
    pub(super) fn outcome(&self) -> BisectionOutcome {
        match (self.change.side, self.candidates) {
            (BoundSide::Below, _) => BisectionOutcome::NotWorse,
            (BoundSide::Undecided, _) => BisectionOutcome::Undecided,
            (BoundSide::Above, [_]) => BisectionOutcome::Found,
            (BoundSide::Above, _) => BisectionOutcome::Several,
        }
    }

    pub(super) fn sentence(&self) -> String {
        let condition = &self.condition;
        let whole = format!(
            "bad {}",
            changed_than(condition.figure, self.change, "good")
        );
        match self.outcome() {
            BisectionOutcome::NotWorse => {
                format!("{whole}: significantly not {condition}, so no commit is looked for.")
            }
            BisectionOutcome::Undecided => format!(
                "{whole}: whether that is {condition} is undecided; give it more time (--within), \
                 or a smaller bound."
            ),
            BisectionOutcome::Found => format!("{whole}. {}", self.found()),
            BisectionOutcome::Several => format!("{whole}. {}", self.several()),
        }
    }

    fn found(&self) -> String {
        let Candidate {
            commit,
            probability,
        } = &self.candidates[0];
        let first = format!(
            "The change is in {} \"{}\" with a probability of {}.",
            commit.short(),
            commit.title,
            percent(*probability)
        );
        match self.of_commit {
            None => first,
            Some(own) => {
                let figure = self.condition.figure;
                let mut text = format!(
                    "{first} It {}.",
                    changed_than(figure, own, "the commit before it")
                );
                if self.explains_part_only(own) {
                    text.push_str(
                        " That is significantly less than the whole change: search before and \
                         after it for the rest.",
                    );
                }
                text
            }
        }
    }

    /// Whether the commit's own change is significantly smaller than that from good to bad.
    fn explains_part_only(&self, own: &Change) -> bool {
        let ends = self.change.ratio.interval.zip(own.ratio.interval);
        ends.is_some_and(|(whole, own)| match self.condition.figure {
            ConditionMetric::Slower => own.low > whole.high,
            _ => own.high < whole.low,
        })
    }

    fn several(&self) -> String {
        let why = match self.time_is_over {
            true => "the time is over; --within gives it more",
            false => "no other commit between them can be measured",
        };
        let number = counted(self.candidates.len() as u64, "commit");
        let all = self.commits;
        format!("The change is in one of {number} of {all} with a probability of 95 %: {why}.")
    }
}

fn changed_than(figure: ConditionMetric, change: &Change, than: &str) -> String {
    let words = changed(figure, &change.ratio, than);
    words.unwrap_or_else(|| format!("cannot be compared with {than}, for lack of sets that agree"))
}

/// `97 %`; never 100 %.
fn percent(probability: f64) -> String {
    match probability {
        share if share > 0.999 => "more than 99.9 %".to_owned(),
        share => format!("{:.1} %", 100.0 * share),
    }
}
