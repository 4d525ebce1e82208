//! Claims about two loads of a contender. Turns protect the ratio of two contenders at one load,
//! because both meet the same host within seconds. Two loads are minutes apart.

use bakeoff_validity::taken_by_others;

use super::cases::Cases;
use super::metric::ClaimedMetric;
use crate::data::benchmark::{RunData, StepData};

/// The largest difference between two loads in the share of the contender's cores that others had.
const DIFFERENCE_MAX: f64 = 0.05;

/// A contender at a load, among the cases of its benchmark.
pub(super) type AtLoad<'c, 's, 'r> = (&'c Cases<'s, 'r>, ClaimedMetric, &'c str);

/// Returns why the ratio of two loads is void: the hypervisor and other processes took more of the
/// contender's cores in one of them, in some run. `None` if they did not, and at one load.
pub(super) fn why_void(first: AtLoad<'_, '_, '_>, second: AtLoad<'_, '_, '_>) -> Option<String> {
    let (a, b) = (first.1.at?, second.1.at?);
    if a == b {
        return None;
    }
    let others = taken(second);
    let both = taken(first).into_iter().filter_map(|(run, at_first)| {
        let (_, at_second) = others.iter().find(|(other, _)| *other == run)?;
        Some((run, at_first, *at_second))
    });
    let apart = |one: &(u32, f64, f64)| (one.1 - one.2).abs();
    let (run, at_first, at_second) = both.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    ((at_first - at_second).abs() > DIFFERENCE_MAX).then(|| {
        let unit = match is_in_sets(first) {
            true => "set",
            false => "run",
        };
        format!(
            "void: the hypervisor and other processes took {:.0} % of the cores at {a} connections \
             and {:.0} % at {b} in {unit} {run}",
            at_first * 100.0,
            at_second * 100.0
        )
    })
}

/// The share that others had at the load in each run, by its repetition.
fn taken(at: AtLoad<'_, '_, '_>) -> Vec<(u32, f64)> {
    let share = |(run, step): (&RunData<'_>, &StepData<'_>)| {
        let taken = taken_by_others(&run.records.begin, &step.slices)?;
        Some((run.repetition(), taken))
    };
    steps(at).into_iter().filter_map(share).collect()
}

fn is_in_sets(at: AtLoad<'_, '_, '_>) -> bool {
    steps(at).iter().any(|(_, step)| step.is_in_turns())
}

fn steps<'c, 'r>(
    (cases, place, label): AtLoad<'c, '_, 'r>,
) -> Vec<(&'c RunData<'r>, &'c StepData<'r>)> {
    let named = cases.iter().filter(|(_, case)| case.label == label);
    let runs = named.flat_map(|(_, case)| case.completed());
    let step = |run: &'c RunData<'r>| {
        let mut like = run
            .measured()
            .filter(|step| Some(step.connections) == place.at);
        Some((run, like.nth(place.nth_step.checked_sub(1)? as usize)?))
    };
    runs.filter_map(step).collect()
}
