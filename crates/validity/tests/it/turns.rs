//! Slices of a contender that takes turns with others: what counts in its turns, what outside of
//! them, and what is not a finding because it is the same for all.

use bakeoff_model::load::TurnCount;
use bakeoff_model::measure::resource::ThreadGroup;
use bakeoff_model::record::{Others, Unloaded};
use bakeoff_model::validity::FairnessVerdict::{Degraded, Fair, HostBound, Invalid};

use crate::world::{MS, SECOND, World, core, nanoseconds, used};

/// A good second for a contender that has every other turn of 50 ms and is busy for 45 ms of it;
/// the other contender, too.
pub(crate) fn world(connections: u32) -> World {
    let mut world = World::good(connections);
    world.load.turns = (0..10)
        .map(|block| TurnCount {
            block,
            start_us: block * 100_000,
            length_us: 50_000,
            drain_us: 0,
            requests: u64::from(connections) * 50,
            failed: 0,
            own_cpu_us: 45_000,
            others_cpu_us: 0,
        })
        .collect();
    world.serve(connections, u64::from(connections) * 500, MS);
    world.contender = Some(used(0.45));
    world.others = Some(Others {
        cpu_ns: nanoseconds(0.45),
        generator_cpu_ns: nanoseconds(0.05),
        requests: u64::from(connections) * 500,
    });
    world
}

#[test]
fn half_of_the_time_is_half_of_the_requests() {
    for connections in [1, 8, 64] {
        let validity = world(connections).judge();
        assert!(
            validity.is_fair() && validity.reasons().is_empty(),
            "{validity:?}"
        );
    }
    // The same without the turns: half of the connections would have done nothing.
    let mut whole = world(64);
    whole.load.turns.clear();
    whole.check(Invalid, "Little's law");
}

#[test]
fn what_is_awaited_at_the_end_of_a_turn_is_not_missing() {
    let mut slow = world(64);
    for turn in &mut slow.load.turns {
        (turn.length_us, turn.drain_us) = (62_500, 12_500);
        turn.own_cpu_us = 56_000;
    }
    slow.contender = Some(used(0.56));
    let validity = slow.judge();
    assert!(validity.is_fair(), "{validity:?}");
    let found = validity.reasons().iter().map(ToString::to_string);
    assert_eq!(
        found.collect::<Vec<_>>(),
        ["turns drained in 20 % of their time, with fewer requests in flight"]
    );
    for turn in &mut slow.load.turns {
        turn.drain_us = 0;
    }
    slow.check(Invalid, "Little's law");
}

#[test]
fn work_outside_of_turns_is_found() {
    let mut world = world(64);
    world.contender = Some(used(0.45 + 0.004));
    assert!(world.judge().reasons().is_empty(), "{}", world.judge());
    // 6 ms in the half of the second in which others had their turns.
    world.contender = Some(used(0.45 + 0.006));
    let validity = world.judge();
    assert_eq!(validity.verdict(), Fair);
    let said = validity.reasons()[0].to_string();
    assert!(
        said.contains("it used 1.2 % of a core while others had their turns"),
        "{said}"
    );
    world.contender = Some(used(0.45 + 0.05));
    world.check(
        Degraded,
        "it used 10 % of a core while others had their turns",
    );
    // One group of threads used too little to have done that, and one nothing.
    let (before, after) = world.contender.as_mut().unwrap();
    let threads = |times: [f64; 4]| {
        let names = ["C2 CompilerThre", "reaper", "VM Thread", "worker"];
        let group = |used| ThreadGroup {
            count: 1,
            cpu_ns: nanoseconds(used),
        };
        let all = names.into_iter().zip(times.map(group));
        all.map(|(name, group)| (name.to_owned(), group)).collect()
    };
    before.threads = threads([1.0, 5.0, 2.0, 3.0]);
    after.threads = threads([1.02, 5.0, 2.004, 3.476]);
    world.check(
        Degraded,
        "; threads that can have done it, with their shares of its CPU time: `worker` 95 %, \
         `C2 CompilerThre` 4.0 %",
    );
    let said = world.judge().to_string();
    assert!(
        !said.contains("VM Thread") && !said.contains("reaper"),
        "{said}"
    );
}

#[test]
fn without_cpu_by_turn_there_is_no_finding_about_idle_work() {
    let mut world = world(64);
    for turn in &mut world.load.turns {
        turn.own_cpu_us = 0;
    }
    world.contender = Some(used(0.9));
    let found = world.judge().to_string();
    assert!(!found.contains("others had their turns"), "{found}");
}

#[test]
fn work_while_others_have_the_open_load_is_found() {
    let mut world = World::good(64);
    let mut judge = |cpu_ns| {
        world.unloaded = Some(Unloaded {
            cpu_ns,
            wall_ns: 2 * SECOND,
        });
        world.judge()
    };
    assert!(judge(MS).reasons().is_empty());
    let found = judge(24 * MS);
    assert_eq!(found.verdict(), Fair);
    let said = found.reasons()[0].to_string();
    let words = "it used 1.2 % of a core while others had their turns";
    assert!(said.contains(words), "{said}");
    assert_eq!(judge(200 * MS).verdict(), Degraded);
}

#[test]
fn a_contender_that_is_busy_in_its_turns_is_full() {
    let mut world = world(64);
    // Less than half of the second, but nine tenths of its turns.
    assert!(world.judge().is_fair());
    for turn in &mut world.load.turns {
        turn.own_cpu_us = 20_000;
    }
    world.contender = Some(used(0.2));
    world.host.as_mut().unwrap().cores[0] = core(0, 0.65, 0.0);
    world.check(Degraded, "the contender used 0.40 of 1 cores");
    // A compiler took what it did not use.
    world.host.as_mut().unwrap().cores[0] = core(0, 0.95, 0.0);
    assert!(world.judge().is_fair(), "{}", world.judge());
}

#[test]
fn what_the_host_takes_of_all_is_no_finding() {
    let mut world = world(64);
    world.host.as_mut().unwrap().cores = vec![core(0, 0.9, 0.08), core(1, 0.35, 0.08)];
    assert!(world.judge().reasons().is_empty(), "{}", world.judge());
    world.others = None;
    world.check(HostBound, "hypervisor");
}

#[test]
fn a_backend_that_serves_all_is_compared_with_the_requests_of_all() {
    let mut world = world(64);
    world.setting.work.backend_requests_min = Some(1.0);
    let mut count = |requests: u64| {
        let (mut before, mut after) = used(0.2);
        (before.at_ns, after.at_ns) = (0, SECOND);
        (before.requests, after.requests) = (Some(0), Some(requests));
        world.backend = Some((before, after));
        world.judge()
    };
    let (all, own) = (count(64_000), count(32_000));
    assert!(all.is_fair(), "{all}");
    assert_eq!(own.verdict(), Invalid, "{own}");
}

#[test]
fn a_shared_core_is_full_by_the_work_of_its_parts() {
    // A compiler on the core of load generator and backend, which use 0.4 of it themselves.
    let mut beside = world(64);
    beside.host.as_mut().unwrap().cores[1] = core(1, 1.0, 0.0);
    let validity = beside.judge();
    assert!(validity.reasons().is_empty(), "{validity:?}");
    // In whole runs it may have been the reason.
    beside.others = None;
    beside.check(HostBound, "1.00 of the 1 cores");
    // Load generator 0.2 and backend 0.75 while this contender has its turns.
    let mut full = world(64);
    full.backend = Some(used(0.75));
    full.check(
        HostBound,
        "0.95 of the 1 cores that load generator and backend share were busy",
    );
    // The same backend, most of whose requests are of another contender.
    full.others.as_mut().unwrap().requests *= 3;
    let validity = full.judge();
    assert!(validity.reasons().is_empty(), "{validity:?}");
    // The other one fills the core in its own turns.
    let mut other = full.clone();
    (other.load.requests, other.others.as_mut().unwrap().requests) = (96_000, 32_000);
    other.check(HostBound, "of the 1 cores that load generator and backend");
}
