//! Every condition ends in its verdict. The first tests are twelve slices that an earlier rulebook
//! called fair.

use bakeoff_model::load::{ErrorClass, LostGenerator, MinMax};
use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_model::measure::resource::{ThreadGroup, Throttling};
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_model::validity::FairnessVerdict::{
    BackendBound, Degraded, Fair, GeneratorBound, HostBound, Invalid, Unknown,
};
use bakeoff_model::validity::RequiredReading;
use bakeoff_validity::{Phase, Reading};

use crate::world::{MS, SECOND, World, core, times, used};

#[test]
fn what_is_good_is_fair() {
    for connections in [1, 8, 64] {
        let validity = World::good(connections).judge();
        assert!(
            validity.is_fair() && validity.reasons().is_empty(),
            "{validity:?}"
        );
    }
}

#[test]
fn requests_that_are_reset() {
    let mut world = World::good(64);
    world.fail(ErrorClass::Reset, 11_294, MS);
    world.check(Invalid, "15 % of the requests failed (11294 reset of");
}

#[test]
fn requests_that_time_out() {
    let mut world = World::good(64);
    world.serve(16, 32, 500 * MS);
    world.fail(ErrorClass::HeaderTimeout, 96, 500 * MS);
    world.check(Invalid, "75 % of the requests failed");
}

#[test]
fn requests_that_are_refused() {
    let mut world = World::good(8);
    world.serve(8, 100, MS);
    world.fail(ErrorClass::ConnectRefused, 50_000, 1000);
    world.check(Invalid, "of the requests failed (50000 connect-refused");
}

#[test]
fn requests_that_cost_nothing() {
    let mut world = World::good(64);
    world.contender = Some(used(0.0));
    let words = "64000 successful requests took 0 µs of CPU time: what serves is not metered";
    world.check(Invalid, words);
    // Counted in ticks, little CPU time may look like none.
    world.setting.limits.cpus = None;
    let finds = |world: &World| world.judge().to_string().contains("is not metered");
    assert!(finds(&world));
    world.serve(64, 40_000, MS);
    assert!(!finds(&world));
    let mut world = World::good(1);
    world.contender = Some(used(0.0));
    world.serve(1, 99, 10 * MS);
    assert!(!finds(&world), "{}", world.judge());
}

#[test]
fn connections_that_are_not_served() {
    let mut world = World::good(64);
    world.serve(8, 8000, MS);
    world.check(Invalid, "connections starved: 0 responses");
    world.load.requests_per_connection = None;
    world.check(Invalid, "Little's law accounts for 8.");
}

#[test]
fn many_connections_of_which_few_are_served() {
    let mut world = World::good(1024);
    world.serve(16, 40_000, 400_000);
    world.check(Invalid, "connections starved");
    // So few requests that no single connection can be said to have starved.
    world.serve(16, 960, 16_000_000);
    world.check(Invalid, "Little's law accounts for");
}

#[test]
fn idle_connections_and_one_early_close() {
    let mut world = World::good(64);
    world.serve(4, 4000, MS);
    world.load.requests_per_connection = Some(MinMax { min: 1, max: 1000 });
    world.load.censored = times(4, MS / 2);
    world.fail(ErrorClass::EarlyClose, 1, MS);
    world.check(Invalid, "Little's law accounts for 4.0 of 64");
}

#[test]
fn connections_that_are_not_open() {
    let mut world = World::good(1024);
    world.load.connections.established = 145;
    world.load.connections.in_flight_max = 145;
    world.load.connections.reconnects = world.load.requests;
    world.check(Invalid, "145 of 1024 connections were open");
    // Users that open theirs as they arrive are not all there at a time.
    world.load.connections.on_arrival = true;
    world.load.connections.reconnects = 0;
    world.load.connecting_ns = Some(0);
    world.check(Fair, "fair");
}

#[test]
fn an_offered_rate_that_is_not_reached() {
    let mut world = World::good(64);
    world.serve(64, 1000, MS);
    world.offer(2000, 5 * SECOND, 5 * SECOND);
    world.fail(ErrorClass::Dropped, 900, 5 * SECOND);
    world.check(Invalid, "47 % of the requests failed (900 dropped");
    world.load.errors.clear();
    world.offer(2000, MS / 100, MS);
    world.check(Invalid, "the offered rate was not reached: 1000 of 2000");
    // What was in flight at the end does not count as missed.
    world.offer(1010, MS / 100, 20 * MS);
    world.check(Fair, "fair");
}

#[test]
fn requests_that_are_sent_late() {
    let mut world = World::good(64);
    world.serve(64, 2000, MS);
    world.offer(2000, 5 * SECOND, 5 * SECOND + MS);
    world.check(GeneratorBound, "requests were sent late");
    world.offer(2000, MS / 20, MS);
    world.check(Fair, "fair");
}

#[test]
fn a_core_that_others_have_a_part_of() {
    let mut world = World::good(64);
    world.contender = Some(used(0.7));
    let mut cores = |busy, stolen| {
        world.host.as_mut().unwrap().cores[0] = core(0, busy, stolen);
        world.judge()
    };
    let check = |validity: bakeoff_model::validity::Validity, verdict, words: &str| {
        assert_eq!(validity.verdict(), verdict, "{validity}");
        assert!(validity.to_string().contains(words), "{validity}");
    };
    check(
        cores(0.7, 0.099),
        HostBound,
        "9.9 % of the contender's cores was stolen",
    );
    check(cores(0.89, 0.0), HostBound, "something else used 19 %");
    check(
        cores(0.7, 0.03),
        Degraded,
        "3.0 % of the contender's cores was stolen",
    );
    check(cores(0.77, 0.0), Degraded, "something else used 7.0 %");
}

#[test]
fn a_shared_core_that_is_full_while_the_contender_cannot_be_read() {
    let mut world = World::good(64);
    world.backend = Some(used(0.89));
    world.contender.as_mut().unwrap().1.cpu = None;
    world.check(
        HostBound,
        "0.99 of the 1 cores that load generator and backend share",
    );
    world.backend = Some(used(0.2));
    world.check(Unknown, "could not be read: the contender's CPU time");
}

#[test]
fn a_contender_that_nobody_keeps_busy() {
    let mut world = World::good(64);
    world.contender = Some(used(0.3));
    world.host.as_mut().unwrap().cores[0] = core(0, 0.3, 0.0);
    world.check(
        Degraded,
        "no component was saturated: the contender used 0.30 of 1 cores",
    );
    // With few requests in flight that is how it must be.
    let mut few = World::good(1);
    few.contender = Some(used(0.3));
    few.host.as_mut().unwrap().cores[0] = core(0, 0.3, 0.0);
    few.check(Fair, "fair");
    // If the backend is full, that is the reason.
    world.setting.cores.backend = vec![];
    world.backend = Some(used(1.9));
    world.check(BackendBound, "the backend used 1.90 of its 2 cores");
    assert!(
        !world
            .judge()
            .to_string()
            .contains("no component was saturated")
    );
}

#[test]
fn responses_that_are_wrong() {
    let mut world = World::good(8);
    world.fail(ErrorClass::WrongBody, 1, MS);
    world.check(Invalid, "1 of the checked bodies were wrong");
    let mut world = World::good(8);
    world.fail(ErrorClass::UnexpectedStatus, 8, MS);
    world.check(Fair, "fair");
    assert!(
        world
            .judge()
            .diagnostics()
            .any(|diagnostic| diagnostic.contains("8 unexpected-status"))
    );
    world.fail(ErrorClass::UnexpectedStatus, 20, MS);
    world.check(Degraded, "0.25 % of the requests failed");
    world.fail(ErrorClass::UnexpectedStatus, 100, MS);
    world.check(Invalid, "1.2 % of the requests failed");
}

#[test]
fn a_backend_that_was_asked_too_little() {
    let asked = |before: Option<u64>, after: Option<u64>| {
        let mut world = World::good(8);
        world.setting.work.backend_requests_min = Some(1.0);
        let (first, last) = world.backend.as_mut().unwrap();
        (first.requests, last.requests) = (before, after);
        world
    };
    asked(Some(50), Some(8050)).check(Fair, "fair");
    asked(Some(50), Some(7980)).check(Fair, "fair");
    asked(Some(50), Some(7900)).check(Invalid, "only 7850 backend requests for 8000");
    asked(Some(50), Some(51)).check(Invalid, "unequal work: only 1 backend request for");
    // What a reading that came late misses is in the next slice, so the slice is not judged alone.
    let mut late = asked(Some(850), Some(8050));
    late.backend.as_mut().unwrap().0.at_ns = 1;
    late.check(Fair, "fair");
    let mut first = asked(Some(0), Some(4000));
    (first.load.start_ns, first.load.end_ns) = (1, SECOND + 1);
    first.check(Fair, "fair");
    asked(Some(50), None).check(Unknown, "could not be read: requests to the backend");
    let uncounted = asked(None, None).judge();
    let diagnostics: Vec<String> = uncounted.diagnostics().collect();
    assert!(uncounted.is_fair(), "{uncounted}");
    assert_eq!(diagnostics, ["not metered: requests to the backend"]);
    let mut two = asked(Some(0), Some(8000));
    two.setting.work.backend_requests_min = Some(2.0);
    two.check(Invalid, "each of which takes 2 at least");
    let mut open = asked(Some(0), Some(1));
    open.setting.work.backend_requests_min = None;
    open.check(Fair, "fair");
}

#[test]
fn every_class_of_errors_counts() {
    for class in ErrorClass::ALL {
        let mut world = World::good(8);
        world.fail(class, 100, 1);
        assert_eq!(world.judge().verdict(), Invalid, "{class:?}");
    }
    let mut world = World::good(8);
    world.fail(ErrorClass::Local, 1, 1);
    world.check(Invalid, "the load generator ran out of file descriptors");
    world.serve(8, 0, MS);
    world.check(Invalid, "no request succeeded, 1 failed");
}

#[test]
fn a_load_generator_without_headroom() {
    let mut world = World::good(8);
    world.load.generator_cpu.user_ns = SECOND * 95 / 100;
    world.check(
        GeneratorBound,
        "the load generator used 95 % of its threads' time",
    );
}

#[test]
fn cores_that_are_full_with_anybody() {
    let mut world = World::good(8);
    world.host.as_mut().unwrap().cores[1] = core(1, 0.97, 0.0);
    world.check(HostBound, "0.97 of the 1 cores");
    let mut shared = World::good(8);
    shared.setting.cores = bakeoff_model::record::Cores::default();
    shared.setting.limits.cpus = None;
    shared.host.as_mut().unwrap().cores[1] = core(1, 0.95, 0.0);
    shared.check(HostBound, "contender, load generator and backend share");
    // Without readings of the cores the parts are added up.
    shared.host = None;
    shared.setting.not_recorded = vec![RequiredReading::CoreTimes];
    shared.backend = Some(used(0.85));
    shared.check(HostBound, "1.90 of the 2 cores");
}

/// Parts on these nodes, two cores each; what was read of cores is of the contender's node.
fn on_nodes(generators: &[&str], backend: &str) -> World {
    let mut world = World::good(8);
    world.setting.cores = bakeoff_model::record::Cores::default();
    let names = ["a", "b", "c"].map(str::to_owned);
    world.setting.nodes = Some(Nodes {
        contender: "a".to_owned(),
        generators: generators.iter().map(|name| (*name).to_owned()).collect(),
        backend: Some(backend.to_owned()),
        cores: names.map(|name| (name, 2)).into(),
        ..Nodes::default()
    });
    world.host.as_mut().unwrap().cores[1] = core(1, 0.0, 0.0);
    world
}

#[test]
fn nodes_that_parts_share() {
    let apart = on_nodes(&["b"], "c").judge();
    assert!(apart.is_fair(), "{apart}");
    // On one host they are known by what they use, and here that leaves room.
    let beside = on_nodes(&["b", "c"], "c").judge();
    assert!(beside.is_fair(), "{beside}");
    let mut beside = on_nodes(&["c"], "c");
    beside.backend = Some(used(1.78));
    beside.check(
        HostBound,
        "of the 2 cores that load generator and backend share",
    );
    let mut all = on_nodes(&["a"], "a");
    let busy = [core(0, 0.96, 0.0), core(1, 0.95, 0.0)];
    all.host.as_mut().unwrap().cores = busy.to_vec();
    all.check(HostBound, "contender, load generator and backend share");
    // Work of others on the contender's node is foreign, even if it has the node for itself.
    let mut foreign = on_nodes(&["b"], "b");
    foreign.host.as_mut().unwrap().cores[1] = core(1, 0.4, 0.0);
    foreign.check(HostBound, "something else used");
}

#[test]
fn memory_that_is_waited_for() {
    let mut world = World::good(8);
    let sample = &mut world.contender.as_mut().unwrap().1;
    sample.pressure.as_mut().unwrap().memory_some_us = 320_000;
    world.check(
        Degraded,
        "the contender waited for memory in 32 % of the time",
    );
    // No pressure stall information: far from the limit there is none to wait for.
    let sample = &mut world.contender.as_mut().unwrap().1;
    sample.pressure = None;
    world.check(Fair, "fair");
    let sample = &mut world.contender.as_mut().unwrap().1;
    sample.memory.as_mut().unwrap().peak_bytes = 511 << 20;
    world.check(Unknown, "could not be read: memory pressure");
}

#[test]
fn a_quota_that_stalls_is_a_remark() {
    let mut world = World::good(8);
    let sample = &mut world.contender.as_mut().unwrap().1;
    sample.throttling = Some(Throttling {
        periods: 10,
        throttled_periods: 5,
        throttled_ns: 5 * 25 * MS,
    });
    world.check(Fair, "fair");
    let diagnostics: Vec<String> = world.judge().diagnostics().collect();
    assert_eq!(
        diagnostics,
        ["the CPU quota stalled the contender in 5 of 10 periods, 25.0 ms each"]
    );
    world.contender.as_mut().unwrap().1.throttling = None;
    world.check(Unknown, "could not be read: stalls of the CPU quota");
}

#[test]
fn connections_that_are_not_kept() {
    let mut world = World::good(8);
    world.load.connections.reconnects = 800;
    world.check(
        Degraded,
        "keep-alive is not honoured: 800 reconnects for 8000 requests",
    );
    world.setting.keep_alive = false;
    world.check(Fair, "fair");
    // Failures end connections; that is named for what it is.
    let mut world = World::good(8);
    world.load.connections.reconnects = 40;
    world.fail(ErrorClass::Reset, 40, MS);
    world.check(Degraded, "40 reset");
    assert!(!world.judge().to_string().contains("keep-alive"));
}

#[test]
fn connections_that_are_not_served_alike() {
    let mut world = World::good(8);
    world.load.requests_per_connection = Some(MinMax { min: 50, max: 2000 });
    world.check(
        Degraded,
        "served unevenly: 50 responses on one, 2000 on another",
    );
    world.load.requests_per_connection = Some(MinMax {
        min: 500,
        max: 2000,
    });
    world.check(Fair, "fair");
    assert_eq!(world.judge().diagnostics().count(), 1);
}

#[test]
fn waits_of_the_kernel() {
    let check = |waiting: u64, ms: u64, verdict, words: &str| {
        let mut world = World::good(8);
        world.load.service_time.merge(&times(waiting, ms * MS));
        world.load.end_ns = SECOND + waiting * ms * MS / 8;
        world.check(verdict, words);
    };
    check(
        100,
        41,
        Degraded,
        "cluster at 40 ms, typical of delayed ACKs",
    );
    check(
        100,
        203,
        Degraded,
        "cluster at 200 ms, typical of retransmissions",
    );
    check(20, 41, Fair, "fair");
    let mut spread = World::good(8);
    spread.load.service_time = times(0, 1);
    for ms in 1..200 {
        spread.load.service_time.merge(&times(10, ms * MS));
    }
    let words = spread.judge().to_string();
    assert!(!words.contains("gather"), "{words}");
}

#[test]
fn a_long_queue_is_no_wait_of_the_kernel() {
    let mut world = World::good(42);
    world.serve(42, 1000, 42 * MS);
    world.check(Fair, "fair");
    world.contender = Some(used(0.3));
    world.host.as_mut().unwrap().cores[0] = core(0, 0.31, 0.0);
    world.check(Degraded, "100 % of latencies cluster at 40 ms");
    world.setting.metered = false;
    world.check(Fair, "fair");
}

#[test]
fn what_the_kernel_lost() {
    let mut world = World::good(8);
    world.tcp.as_mut().unwrap().resent_segments = 160;
    world.check(Degraded, "160 of 16000 TCP segments were sent again");
    let mut world = World::good(8);
    world.tcp.as_mut().unwrap().listen_overflows = 50;
    world.check(Degraded, "the listen queue overflowed 50 times");
    world.tcp.as_mut().unwrap().listen_overflows = 1;
    world.check(Fair, "fair");
    assert_eq!(world.judge().diagnostics().count(), 1);
    world.tcp = None;
    world.check(Unknown, "could not be read: TCP counters");
}

#[test]
fn what_cannot_be_read_is_not_fair() {
    let check = |spoil: fn(&mut World), words: &str| {
        let mut world = World::good(8);
        spoil(&mut world);
        world.check(Unknown, words);
    };
    check(
        |world| world.contender = None,
        "the contender's CPU time, memory pressure",
    );
    check(|world| world.backend = None, "the backend's CPU time");
    check(|world| world.host = None, "times of each core");
    check(|world| world.load.turnaround_ns = None, "turnaround");
    check(
        |world| {
            world.load.connections.reconnects = 1;
            world.load.connecting_ns = None;
        },
        "time to reconnect",
    );
}

#[test]
fn what_nobody_meant_to_read_is_said() {
    let mut world = World::good(8);
    world.setting.metered = false;
    world.setting.backend = Reading::NotApplicable;
    (world.contender, world.backend, world.host, world.tcp) = (None, None, None, None);
    world.check(Fair, "fair");
    let diagnostics: Vec<String> = world.judge().diagnostics().collect();
    assert!(
        diagnostics[0].starts_with("not metered: the contender's CPU time"),
        "{diagnostics:?}"
    );
    // Records that go without these are judged by what they have.
    let mut without = World::good(8);
    without.setting.not_recorded = vec![
        RequiredReading::CoreTimes,
        RequiredReading::TcpCounters,
        RequiredReading::Turnaround,
    ];
    (without.host, without.tcp, without.load.turnaround_ns) = (None, None, None);
    without.check(Fair, "fair");
    let diagnostics: Vec<String> = without.judge().diagnostics().collect();
    assert_eq!(
        diagnostics,
        ["not recorded: times of each core, TCP counters, turnaround"]
    );
    // What they should have and do not is not known.
    without.setting.not_recorded.pop();
    without.check(Unknown, "could not be read: turnaround");
}

#[test]
fn a_contender_that_is_not_warm() {
    let after = |warmth: Warmth| Phase::Measured {
        warmth: Some(warmth),
    };
    let mut world = World::good(64);
    let mut warmth = Warmth {
        rise: 0.023,
        rise_most: 0.035,
        rise_least: 0.001,
        jit_share: None,
        slices: 40,
        in_turns: false,
    };
    world.setting.phase = after(warmth);
    world.check(
        Degraded,
        "not warm: it still got faster by 2.3 % in 10 s in the last 40 slices",
    );
    world.setting.phase = after(Warmth {
        in_turns: true,
        ..warmth
    });
    world.check(
        Degraded,
        "not warm: it got faster by 2.3 % than the others in the last 40 turns of the warm-up",
    );
    // Noise may be all that it is.
    warmth.rise_least = -0.001;
    world.setting.phase = after(warmth);
    assert!(world.judge().is_fair());
    assert_eq!(world.judge().diagnostics().count(), 1);
    warmth.rise_least = 0.001;
    warmth.rise = 0.002;
    world.setting.phase = after(warmth);
    let validity = world.judge();
    assert!(validity.is_fair(), "{validity}");
    let diagnostics: Vec<String> = validity.diagnostics().collect();
    assert_eq!(
        diagnostics,
        ["the last 40 slices of the warm-up do not exclude that it got faster by 3.5 % in 10 s"]
    );
    warmth.rise_most = 0.01;
    world.setting.phase = after(warmth);
    assert_eq!(world.judge().reasons(), []);
}

#[test]
fn a_contender_that_compiles_while_it_is_measured() {
    let mut world = World::good(64);
    compile(&mut world, 0.04);
    assert!(world.judge().is_fair());
    compile(&mut world, 0.19);
    world.check(
        Degraded,
        "compiler threads used 20 % of the contender's CPU time",
    );
    world.setting.phase = Phase::WarmUp;
    assert!(world.judge().is_fair(), "that is what warm-up is for");
}

/// The contender's compiler used that number of cores.
fn compile(world: &mut World, cores: f64) {
    let (before, after) = world.contender.as_mut().unwrap();
    let group = |cpu_ns| ThreadGroup { count: 1, cpu_ns };
    for (sample, cpu_ns) in [(before, 0), (after, crate::world::nanoseconds(cores))] {
        let name = "C2 CompilerThre".to_owned();
        sample.threads.insert(name, group(cpu_ns));
    }
}

#[test]
fn load_generators_that_are_lost() {
    let lost = |part: u32, connections: u32| LostGenerator {
        part,
        name: format!("generator {part}"),
        why: "its output ended".to_owned(),
        connections,
    };
    let mut world = World::good(1024);
    world.load.lost = vec![lost(7, 0)];
    assert!(world.judge().is_fair(), "it had no part in this step");
    world.load.lost.push(lost(3, 16));
    let sentence = "1 load generator lost, with 1.6 % of the load: generator 3: its output ended";
    world.check(Degraded, sentence);
    world.load.lost.push(lost(4, 16));
    world.check(Invalid, "2 load generators lost, with 3.1 % of the load");
}

#[test]
fn hyper_threads_of_one_core() {
    let mut world = World::good(64);
    let mut with = |slowdown| {
        world.setting.core_sharing = Some(CoreSharing {
            contender: 0,
            generator: vec![1],
            slowdown,
            quartiles: [slowdown, slowdown],
        });
        world.clone()
    };
    with(0.41).check(Degraded, "these two cores are one physical core");
    with(0.151).check(Degraded, "core 0 is 15.1 % slower");
    let diagnostic = with(0.15).judge();
    assert!(diagnostic.is_fair() && diagnostic.reasons().len() == 1);
    assert!(with(0.05).judge().reasons().is_empty());
    assert!(with(-0.01).judge().reasons().is_empty());
}
