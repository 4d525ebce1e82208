//! Sets that do not fit into memory as a whole, in groups with a common contender.

use std::collections::BTreeMap;

use bakeoff_base::natural;

use super::baseline::head_name;
use super::{Plan, PlannedRun, steps};

/// How the contenders of a benchmark are divided.
struct Division {
    /// The contender that is in every group.
    common: String,
    /// Group number of each other contender, from 1.
    groups: BTreeMap<String, u32>,
}

impl Plan {
    /// Returns the plan with at most `most` contenders alive concurrently: larger sets are split
    /// into as few groups as possible, filled in the order of names. One contender is in every
    /// group: a base, if there is one; a contender with a twin, if only two are alive concurrently;
    /// else the first. What is compared in particular stays in one group: head and base, and a
    /// contender and its twin. If both of two contenders have twins and these do not fit, the twins
    /// are left out. The groups of a repetition have the order in which the first of their
    /// contenders was drawn. `None` if a group cannot hold what belongs together.
    #[must_use]
    pub fn in_groups(&self, most: usize) -> Option<Self> {
        let mut divisions: BTreeMap<String, Option<Division>> = BTreeMap::new();
        let mut runs = Vec::new();
        for set in self.runs.chunk_by(PlannedRun::is_beside) {
            let [first, ..] = set else { continue };
            if !first.in_turns || set.len() <= most {
                runs.extend_from_slice(set);
                continue;
            }
            if set.iter().filter(|run| run.twin).count() * 2 == set.len() {
                runs.extend(without_twins(set, most)?);
                continue;
            }
            let division = divisions.entry(first.benchmark.clone());
            let division = division.or_insert_with(|| Division::of(set, most));
            runs.extend(division.as_ref()?.split(set));
        }
        for (order, run) in runs.iter_mut().enumerate() {
            run.order = order;
        }
        Some(Self {
            runs,
            ..self.clone()
        })
    }

    /// Returns the largest number of groups into which a set is split, with the label of the
    /// contender that is in each; `None` if no set is split.
    #[must_use]
    pub fn groups(&self) -> Option<(u32, String)> {
        let most = self.runs.iter().filter_map(|run| run.group).max()?;
        let in_groups = self.runs.iter().filter(|run| run.group.is_some());
        let mut places: BTreeMap<(String, &str, u32), usize> = BTreeMap::new();
        for run in in_groups {
            let place = (run.process_label(), run.benchmark.as_str(), run.repetition);
            *places.entry(place).or_default() += 1;
        }
        let common = places.into_iter().find(|(_, groups)| *groups > 1)?;
        Some((most, common.0.0))
    }
}

impl Division {
    fn of(set: &[PlannedRun], most: usize) -> Option<Self> {
        let mut members: Vec<&PlannedRun> = set.iter().collect();
        members.sort_by(|one, other| {
            natural::compare(&one.contender, &other.contender)
                .then_with(|| one.parameters.cmp(&other.parameters))
                .then_with(|| one.twin.cmp(&other.twin))
        });
        let common = common(&members, most)?;
        members.retain(|one| !is_same(one, common));
        let mut left: Vec<usize> = Vec::new();
        let mut groups = BTreeMap::new();
        while let Some(first) = members.first().copied() {
            let (together, others): (Vec<_>, Vec<_>) = members
                .into_iter()
                .partition(|one| belong_together(one, first));
            members = others;
            let room = left.iter().position(|room| together.len() <= *room);
            let place = room.unwrap_or_else(|| {
                left.push(most.saturating_sub(1));
                left.len() - 1
            });
            left[place] = left[place].checked_sub(together.len())?;
            let number = u32::try_from(place + 1).ok()?;
            groups.extend(together.iter().map(|one| (one.process_label(), number)));
        }
        Some(Self {
            common: common.process_label(),
            groups,
        })
    }

    /// The runs of a set, group by group.
    fn split(&self, set: &[PlannedRun]) -> Vec<PlannedRun> {
        let of = |run: &PlannedRun| self.groups.get(&run.process_label()).copied();
        let mut drawn: Vec<u32> = Vec::new();
        for group in set.iter().filter_map(of) {
            if !drawn.contains(&group) {
                drawn.push(group);
            }
        }
        let mut runs = Vec::new();
        for (place, group) in drawn.into_iter().enumerate() {
            let is_common = |run: &PlannedRun| run.process_label() == self.common;
            let members = set.iter().filter(|run| match of(run) {
                Some(other) => other == group,
                None => is_common(run),
            });
            runs.extend(members.map(|run| {
                // The slow checks of the common contender are made once.
                let is_again = place > 0 && is_common(run);
                in_group(run, group, is_again)
            }));
        }
        runs
    }
}

/// The first processes of a set in which each contender has two, with the time of both; `None` if
/// these do not fit either.
fn without_twins(set: &[PlannedRun], most: usize) -> Option<Vec<PlannedRun>> {
    let alone = |run: &PlannedRun| {
        let mut run = run.clone();
        let measured = run.steps.iter_mut().filter(|step| !step.warm_up);
        measured.for_each(|step| step.duration *= 2);
        run.expected = steps::expected(&run);
        run
    };
    let first = set.iter().filter(|run| !run.twin);
    let runs: Vec<PlannedRun> = first.map(alone).collect();
    (runs.len() <= most).then_some(runs)
}

/// The contender that is in every group.
fn common<'r>(members: &[&'r PlannedRun], most: usize) -> Option<&'r PlannedRun> {
    let base = members
        .iter()
        .find(|one| head_name(&one.contender).is_some());
    let twin = members.iter().find(|one| {
        let is_twin = |other: &&PlannedRun| other.twin && belong_together(one, other);
        !one.twin && most == 2 && members.iter().any(is_twin)
    });
    base.or(twin).or(members.first()).copied()
}

fn is_same(one: &PlannedRun, other: &PlannedRun) -> bool {
    one.process_label() == other.process_label()
}

/// Whether both are the same case, or one is the base of the other.
fn belong_together(one: &PlannedRun, other: &PlannedRun) -> bool {
    fn name(run: &PlannedRun) -> &str {
        head_name(&run.contender).unwrap_or(&run.contender)
    }
    name(one) == name(other) && one.parameters == other.parameters
}

/// Returns the run in its group. The open-load rate follows the slowest contender of a group, so
/// response times of different groups could not be compared: there is no open load.
fn in_group(run: &PlannedRun, group: u32, is_again: bool) -> PlannedRun {
    let mut run = PlannedRun {
        id: format!("{}.g{group}", run.id),
        group: Some(group),
        latency: None,
        lifecycle: run.lifecycle && !is_again,
        ..run.clone()
    };
    run.expected = steps::expected(&run);
    run
}
