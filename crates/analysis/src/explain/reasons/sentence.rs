//! Reasons in words and numbers: the sentence, and the cells of a table.

use std::iter;

use bakeoff_stats::Estimate;

use super::{Reason, Reasons};
use crate::data::number::{counted, enumerated, range, significant};
use crate::explain::sampled_pair::SampledChanges;

/// Minimum share of the difference for a part, or difference of a count, to be in a sentence.
const RELEVANT: f64 = 0.03;

/// Minimum share of the total for a part to be in a sentence, if the total is not significant.
const RELEVANT_OF_TOTAL: f64 = 0.005;

/// Maximum number of changed places in a sentence.
const CHANGES_MAX: usize = 3;

/// Maximum number of counts in a sentence.
const COUNTS_MAX: usize = 3;

impl Reason {
    /// Returns the difference as a share of the level.
    pub(super) fn relative(&self) -> f64 {
        let level = f64::midpoint(self.dearer, self.cheaper);
        self.difference.estimate.point.abs() / level
    }

    /// Returns the difference with its sign: `+4.1` or `−4.1`.
    pub fn signed(&self) -> String {
        signed(self.difference.estimate.point)
    }

    /// Returns the interval of the difference, with signs; empty without one.
    pub fn interval(&self) -> String {
        let interval = self.difference.estimate.interval;
        interval.map_or_else(String::new, |ends| {
            format!("{} to {}", signed(ends.low), signed(ends.high))
        })
    }
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", significant(value.abs()))
}

impl Reasons {
    /// Returns all reasons; `None` if neither CPU per request nor any other quantity differs
    /// significantly.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let (who, counts) = self.counted();
        let counts = match enumerated(&counts) {
            counts if counts.is_empty() => counts,
            counts => format!(" For each request {who} has {counts}."),
        };
        if !self.total.difference.is_significant() {
            return self.without_total(&counts);
        }
        Some(format!("{}{counts}", self.of_total()))
    }

    /// Says where the CPU per request goes, without other quantities; `None` if it does not differ
    /// significantly and no changes of the sources were compared.
    #[must_use]
    pub fn cpu_sentence(&self) -> Option<String> {
        match self.total.difference.is_significant() {
            true => Some(self.of_total()),
            false if self.changes().is_empty() => None,
            false => self.without_total(""),
        }
    }

    fn of_total(&self) -> String {
        let needs = self.total.difference.estimate;
        let about = format!(
            "{} needs {} µs more CPU per request than {} ({}) {}",
            self.dearer,
            significant(needs.point),
            self.cheaper,
            self.worth(&needs),
            self.at,
        );
        let by_layer = self.by_layer();
        let (source, why) = match by_layer.is_empty() {
            true => (": ", self.by_part()),
            false => (": by samples of stacks ", by_layer),
        };
        let why = match enumerated(&why) {
            why if why.is_empty() => why,
            why => format!("{source}{why}"),
        };
        let more = match self.has_guilty_lines() {
            true => self.changes(),
            false => self.changes() + &self.grown(),
        };
        format!("{about}{why}.{more}")
    }

    /// Returns the sentence if only parts of the CPU per request differ significantly, or counts.
    fn without_total(&self, counts: &str) -> Option<String> {
        let (who, hidden) = self.hidden();
        let hidden = enumerated(&hidden);
        let changes = self.changes();
        let but = match (hidden.is_empty(), counts.is_empty()) {
            (true, true) if changes.is_empty() => return None,
            (true, true) => String::new(),
            (true, false) => ", but other things do".to_owned(),
            (false, _) => format!(", but parts of it do: {who} needs {hidden}"),
        };
        let Self {
            dearer,
            cheaper,
            at,
            ..
        } = self;
        Some(format!(
            "The CPU per request of {dearer} and {cheaper} does not differ significantly \
             {at}{but}.{changes}{counts}"
        ))
    }

    /// Returns the significant parts of a difference that is not significant itself, and their
    /// contender: `1.8 µs more collecting garbage (95 %: 1.5–2.2, 5 sets)`.
    fn hidden(&self) -> (&str, Vec<String>) {
        let least = RELEVANT_OF_TOTAL * self.total.cheaper;
        let differ = self.parts.iter().filter(|part| {
            part.difference.is_significant() && part.difference.estimate.point.abs() >= least
        });
        let (who, differ) = self.told(differ);
        let texts = differ.iter().map(|part| {
            let estimate = part.difference.estimate;
            let more = if estimate.point < 0.0 { "less" } else { "more" };
            let size = significant(estimate.point.abs());
            let interval = self.worth(&estimate);
            format!("{size} µs {more} {} ({interval})", part.words)
        });
        (who, texts.collect())
    }

    /// Returns differences from the side of one contender, with its name: the more expensive one,
    /// or, if the total does not differ significantly, the one that has more of the first quantity.
    fn told<'r>(&self, differ: impl Iterator<Item = &'r Reason>) -> (&str, Vec<Reason>) {
        let differ: Vec<Reason> = differ.cloned().collect();
        let has_less = |first: &Reason| first.difference.estimate.point < 0.0;
        let is_dearer = self.total.difference.is_significant();
        match !is_dearer && differ.first().is_some_and(has_less) {
            true => (
                &self.cheaper,
                differ.into_iter().map(Reason::inverse).collect(),
            ),
            false => (&self.dearer, differ),
        }
    }

    /// Returns the interval and its basis: `95 %: 28–34, 5 sets`.
    fn worth(&self, estimate: &Estimate) -> String {
        let runs = counted(estimate.runs, self.unit);
        match range(estimate) {
            range if range.is_empty() => runs,
            range => format!("95 %: {range}, {runs}"),
        }
    }

    /// Returns the parts of the difference that come from counters.
    fn by_part(&self) -> Vec<String> {
        let parts = self.parts.iter();
        let differ = parts.filter(|part| part.difference.is_significant());
        let sizes = differ.map(|part| (part.difference.estimate.point, part.words.to_owned()));
        self.divided(sizes)
    }

    /// Returns the parts of the difference that come from stack samples; none without samples.
    fn by_layer(&self) -> Vec<String> {
        let layers = self.sampled.iter().flat_map(|pair| &pair.layers);
        self.divided(layers.map(|layer| (layer.difference_us(), format!("in {}", layer.name))))
    }

    /// Whether a change of the sources differs significantly.
    fn has_guilty_lines(&self) -> bool {
        let changes = self.compared_changes();
        changes.is_some_and(|changes| !changes.significant.is_empty())
    }

    fn compared_changes(&self) -> Option<&SampledChanges> {
        self.sampled.as_ref()?.changes.as_ref()
    }

    /// Returns what the changes of the sources cost, as a sentence; empty if these were not
    /// compared.
    fn changes(&self) -> String {
        let Some(changes) = self.compared_changes() else {
            return String::new();
        };
        let costs = changes.significant.iter().take(CHANGES_MAX).map(|one| {
            let (size, half) = (one.difference_us(), one.half_us);
            let more = if size < 0.0 { "less" } else { "more" };
            let size = size.abs();
            let [point, low, high] = [size, (size - half).max(0.0), size + half].map(significant);
            format!("{point} µs {more} in {} (95 %: {low}–{high})", one.name)
        });
        let costs: Vec<String> = costs.collect();
        let compared = counted(changes.compared, "changed place");
        match (costs.is_empty(), changes.compared) {
            (false, _) => format!(
                " Of the changed lines {} takes {}, of {} µs.",
                self.dearer,
                enumerated(&costs),
                significant(self.total.dearer)
            ),
            (true, 0) => " The changed functions are in too few samples to tell: they take next \
                          to no CPU, or a compiler inlined them."
                .to_owned(),
            (true, 1) => {
                " The changed place takes no other CPU, as far as samples tell.".to_owned()
            }
            (true, _) => format!(" None of {compared} takes significantly more or less CPU."),
        }
    }

    /// Returns the function that grew most, as a sentence; empty if none is large enough.
    fn grown(&self) -> String {
        let needs = self.total.difference.estimate.point;
        let grown = self.sampled.as_ref().and_then(|pair| pair.grown.as_ref());
        match grown {
            Some(one) if one.difference_us() >= RELEVANT * needs => format!(
                " {} grew most, by {} µs with all that it calls.",
                one.name,
                significant(one.difference_us())
            ),
            _ => String::new(),
        }
    }

    /// Returns the parts of the difference that are large enough, by their sizes, µs, with the
    /// unexplained rest; none without such a part.
    fn divided(&self, parts: impl Iterator<Item = (f64, String)>) -> Vec<String> {
        let needs = self.total.difference.estimate.point;
        let is_worth = |size: f64| size.abs() >= RELEVANT * needs;
        let mut explained = 0.0;
        let mut why = Vec::new();
        let text = |size: f64, words: &str| {
            let less = if size < 0.0 { " less" } else { "" };
            format!("{} µs{less} {words}", significant(size.abs()))
        };
        for (size, words) in parts.filter(|(size, _)| is_worth(*size)) {
            explained += size;
            why.push(text(size, &words));
        }
        let rest = needs - explained;
        if is_worth(rest) && !why.is_empty() {
            why.push(text(rest, "not explained"));
        }
        why
    }

    /// Returns other differences in words, and their contender: `2 more TCP segments sent (3
    /// against 1)`.
    fn counted(&self) -> (&str, Vec<String>) {
        let differ = self.counts.iter().filter(|one| {
            let size = one.difference.estimate.point.abs();
            one.difference.is_significant() && size >= one.floor && one.relative() >= RELEVANT
        });
        let (who, differ) = self.told(differ.take(COUNTS_MAX));
        let texts = differ.iter().map(|one| {
            let size = one.difference.estimate.point;
            let direction = if size < 0.0 { "fewer" } else { "more" };
            format!(
                "{} {direction} {} ({} against {})",
                significant(size.abs()),
                one.words,
                significant(one.dearer),
                significant(one.cheaper)
            )
        });
        (who, texts.collect())
    }

    /// Returns all reasons in the order of tables: the total, its parts, then the counts.
    pub fn all(&self) -> impl Iterator<Item = &Reason> {
        let rest = self.parts.iter().chain(&self.counts);
        iter::once(&self.total).chain(rest)
    }
}
