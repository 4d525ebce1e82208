//! The outcome of a search for a commit, as an object for programs and a sentence for the user.

use bakeoff_analysis::{WithInterval, changed};
use bakeoff_base::text::counted;
use bakeoff_model::plan::baseline::{Condition, ConditionMetric};
use bakeoff_stats::{BoundSide, Estimate};
use bakeoff_store::event::bisection::{BisectionOutcome, Candidate};

/// The ratio of two commits, the later over the earlier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) ratio: Estimate,
    /// The side of the condition's bound on which the ratio is.
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

#[cfg(test)]
mod tests {
    use bakeoff_stats::{BoundSide, Estimate, Interval};
    use bakeoff_store::event::bisection::{BisectionOutcome, Candidate, Commit};
    use insta::assert_snapshot;

    use super::{Change, OutcomeFacts};

    fn change(side: BoundSide, [low, point, high]: [f64; 3]) -> Change {
        Change {
            ratio: Estimate {
                point,
                interval: Some(Interval { low, high }),
                runs: 6,
            },
            side,
        }
    }

    fn candidate(title: &str, probability: f64) -> Candidate {
        Candidate {
            commit: Commit {
                commit: "0123456789abcdef".to_owned(),
                title: title.to_owned(),
            },
            probability,
        }
    }

    /// Bad takes a third more CPU than good.
    const WORSE: [f64; 3] = [1.28, 1.33, 1.38];

    /// The outcome for `change` from good to bad, with the sentences on a line each.
    fn outcome(
        change: &Change,
        candidates: &[Candidate],
        of_commit: Option<&Change>,
        time_is_over: bool,
    ) -> (BisectionOutcome, String) {
        let facts = OutcomeFacts {
            condition: "cpu>3%".parse().unwrap(),
            change,
            of_commit,
            candidates,
            commits: 9,
            time_is_over,
        };
        let lines = facts.sentence().replace(". ", ".\n").replace(": ", ":\n");
        (facts.outcome(), lines)
    }

    #[test]
    fn without_a_change_no_commit_is_named() {
        let alike = change(BoundSide::Below, [0.98, 1.01, 1.02]);
        let (kind, sentence) = outcome(&alike, &[], None, false);
        assert_eq!(kind, BisectionOutcome::NotWorse);
        assert_snapshot!(sentence, @r"
        bad takes 1.0 % more CPU per request than good (95 %:
        2.0 % less CPU per request to 2.0 % more CPU per request, 6 sets):
        significantly not cpu>3%, so no commit is looked for.
        ");
        let unclear = change(BoundSide::Undecided, [0.9, 1.02, 1.15]);
        let (kind, sentence) = outcome(&unclear, &[], None, true);
        assert_eq!(kind, BisectionOutcome::Undecided);
        assert_snapshot!(sentence, @r"
        bad takes 2.0 % more CPU per request than good (95 %:
        10.0 % less CPU per request to 15.0 % more CPU per request, 6 sets):
        whether that is cpu>3% is undecided; give it more time (--within), or a smaller bound.
        ");
    }

    #[test]
    fn one_commit_is_named_and_what_it_explains() {
        let whole = change(BoundSide::Above, WORSE);
        let found = [candidate("Cache less", 0.9995)];
        let said = |of_commit: Option<&Change>| {
            let (kind, sentence) = outcome(&whole, &found, of_commit, false);
            assert_eq!(kind, BisectionOutcome::Found);
            sentence
        };
        assert_snapshot!(said(None), @r#"
        bad takes 33.0 % more CPU per request than good (95 %:
        28.0 to 38.0 % more CPU per request, 6 sets).
        The change is in 012345678 "Cache less" with a probability of more than 99.9 %.
        "#);
        let all = change(BoundSide::Above, [1.27, 1.32, 1.37]);
        assert_snapshot!(said(Some(&all)), @r#"
        bad takes 33.0 % more CPU per request than good (95 %:
        28.0 to 38.0 % more CPU per request, 6 sets).
        The change is in 012345678 "Cache less" with a probability of more than 99.9 %.
        It takes 32.0 % more CPU per request than the commit before it (95 %:
        27.0 to 37.0 % more CPU per request, 6 sets).
        "#);
        let part = change(BoundSide::Above, [1.08, 1.1, 1.12]);
        assert_snapshot!(said(Some(&part)), @r#"
        bad takes 33.0 % more CPU per request than good (95 %:
        28.0 to 38.0 % more CPU per request, 6 sets).
        The change is in 012345678 "Cache less" with a probability of more than 99.9 %.
        It takes 10.0 % more CPU per request than the commit before it (95 %:
        8.0 to 12.0 % more CPU per request, 6 sets).
        That is significantly less than the whole change:
        search before and after it for the rest.
        "#);
    }

    #[test]
    fn several_commits_are_counted_and_why_no_fewer() {
        let whole = change(BoundSide::Above, WORSE);
        let two = [candidate("One", 0.5), candidate("Other", 0.48)];
        for time_is_over in [true, false] {
            let (kind, _) = outcome(&whole, &two, None, time_is_over);
            assert_eq!(kind, BisectionOutcome::Several);
        }
        assert_snapshot!(outcome(&whole, &two, None, true).1, @r"
        bad takes 33.0 % more CPU per request than good (95 %:
        28.0 to 38.0 % more CPU per request, 6 sets).
        The change is in one of 2 commits of 9 with a probability of 95 %:
        the time is over; --within gives it more.
        ");
        assert_snapshot!(outcome(&whole, &two, None, false).1, @r"
        bad takes 33.0 % more CPU per request than good (95 %:
        28.0 to 38.0 % more CPU per request, 6 sets).
        The change is in one of 2 commits of 9 with a probability of 95 %:
        no other commit between them can be measured.
        ");
    }
}
