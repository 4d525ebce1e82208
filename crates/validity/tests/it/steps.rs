//! A step is judged on its sums and on the share of its time that was unfair.

use bakeoff_model::load::ErrorClass;
use bakeoff_model::validity::FairnessVerdict::{self, Degraded, Fair, HostBound, Invalid};
use bakeoff_validity::{JudgedSlice, StepJudge};

use crate::world::{MS, SECOND, World, core};

fn step(slices: usize, spoilt: usize, spoil: fn(&mut World)) -> StepJudge {
    let slice = |index: usize| {
        let mut world = World::good(8);
        if index < spoilt {
            spoil(&mut world);
        }
        JudgedSlice::new(world.evidence())
    };
    let mut step = StepJudge::default();
    (0..slices).for_each(|index| step.add(&slice(index)));
    step
}

fn check(step: &StepJudge, verdict: FairnessVerdict, words: &str) {
    let validity = step.validity();
    assert_eq!(validity.verdict(), verdict, "{validity}");
    let all = format!(
        "{validity} {:?}",
        validity.diagnostics().collect::<Vec<_>>()
    );
    assert!(all.contains(words), "{all}");
}

#[test]
fn a_short_disturbance_is_a_remark_and_a_long_one_is_the_steps() {
    let steal = |world: &mut World| {
        world.host.as_mut().unwrap().cores[0] = core(0, 0.9, 0.08);
        world.contender = Some(crate::world::used(0.9));
    };
    check(&step(20, 0, steal), Fair, "fair []");
    check(
        &step(20, 1, steal),
        Fair,
        "host-bound in 5.0 % of the time: 8.0 % of the contender's cores was stolen",
    );
    check(&step(20, 2, steal), Fair, "host-bound in 10 % of the time");
    check(
        &step(20, 3, steal),
        HostBound,
        "host-bound in 15 % of the time",
    );
    check(
        &step(20, 20, steal),
        HostBound,
        "8.0 % of the contender's cores was stolen",
    );
}

#[test]
fn errors_are_a_share_of_the_step() {
    let one = |world: &mut World| world.fail(ErrorClass::Reset, 100, MS);
    check(
        &step(20, 1, one),
        Fair,
        "0.06 % of the requests failed (100 reset of 160100)",
    );
    check(&step(20, 5, one), Invalid, "invalid in 25 % of the time");
    let many = |world: &mut World| world.fail(ErrorClass::Reset, 400, MS);
    check(
        &step(20, 2, many),
        Degraded,
        "0.50 % of the requests failed",
    );
}

#[test]
fn no_slices_say_nothing() {
    check(&StepJudge::default(), Fair, "fair");
}

/// Readings between slices come late; the step has all requests in it, and is judged by them.
#[test]
fn a_step_counts_what_its_slices_could_not() {
    let step = |counts: [u64; 3]| {
        let mut step = StepJudge::default();
        for slice in 0..2 {
            let mut world = World::good(8);
            world.setting.work.backend_requests_min = Some(1.0);
            let began = slice as u64 * SECOND;
            (world.load.start_ns, world.load.end_ns) = (began, began + SECOND);
            let late = if slice == 0 { 0 } else { 50 * MS };
            let (before, after) = world.backend.as_mut().unwrap();
            (before.at_ns, after.at_ns) = (began + late, began + SECOND + 50 * MS);
            (before.requests, after.requests) = (Some(counts[slice]), Some(counts[slice + 1]));
            step.add(&JudgedSlice::new(world.evidence()));
        }
        step
    };
    check(&step([0, 8400, 16_000]), Fair, "fair []");
    check(
        &step([0, 8400, 15_000]),
        Invalid,
        "only 15000 backend requests for 16000 successful requests",
    );
    check(
        &step([0, 1, 1]),
        Invalid,
        "only 1 backend request for 16000 successful requests",
    );
}
