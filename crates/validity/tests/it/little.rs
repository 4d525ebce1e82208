//! Little's law by sums of times: no load is exempt, and none is wronged.

use bakeoff_model::load::ErrorClass;
use bakeoff_model::validity::FairnessVerdict::{Degraded, Fair, GeneratorBound, Invalid};

use crate::world::{MS, SECOND, World, times};

#[test]
fn all_that_can_be_in_flight_counts() {
    let mut pipelined = World::good(8);
    pipelined.load.connections.in_flight_max = 16;
    pipelined.check(Invalid, "Little's law accounts for 8.0 of 16");
    pipelined.load.connections.established = 2;
    pipelined.load.connections.asked = 2;
    pipelined.load.connections.in_flight_max = 8;
    pipelined.check(Fair, "fair");
}

#[test]
fn the_generators_part_of_a_cycle_counts() {
    let mut slow = World::good(8);
    slow.serve(8, 4000, MS);
    slow.load.turnaround_ns = Some(4000 * MS);
    slow.check(
        GeneratorBound,
        "50 % of each cycle passed in the load generator",
    );
    slow.check(GeneratorBound, "the effective concurrency was 4.0 of 8");
    slow.serve(8, 7000, MS);
    slow.load.turnaround_ns = Some(7000 * MS / 7);
    slow.check(Fair, "fair");
    slow.serve(8, 6400, MS);
    slow.load.turnaround_ns = Some(6400 * MS / 4);
    slow.check(Degraded, "the effective concurrency was 6.4 of 8");
}

#[test]
fn connecting_is_part_of_the_cycle() {
    let mut world = World::good(8);
    world.setting.keep_alive = false;
    world.serve(8, 5000, MS);
    world.load.connections.reconnects = 5000;
    world.load.connections.established = 5;
    world.load.connections.in_flight_max = 5;
    world.load.connecting_ns = Some(5000 * MS * 6 / 10);
    world.load.turnaround_ns = None;
    world.check(Fair, "fair");
    // The same without the time to connect: then three connections were nowhere. How many are open
    // at a time says nothing where each of them ends with its request.
    world.load.connecting_ns = Some(0);
    world.check(Invalid, "Little's law accounts for 5.0 of 8");
    world.load.connections.established = 8;
    world.load.connections.in_flight_max = 8;
    world.check(Invalid, "Little's law accounts for 5.0 of 8");
}

#[test]
fn few_requests_for_each_connection_are_no_excuse_and_no_fault() {
    // One and a half responses for each connection: the edges are half of everything.
    let mut world = World::good(64);
    world.serve(64, 96, 600 * MS);
    world.load.censored = times(64, 200 * MS);
    world.load.service_time = times(96, 530 * MS);
    world.check(Fair, "fair");
    world.load.service_time = times(96, 100 * MS);
    world.check(Invalid, "Little's law");
}

#[test]
fn failed_requests_count_with_their_time() {
    let mut world = World::good(64);
    world.serve(64, 63_000, MS * 15 / 16);
    world.fail(ErrorClass::HeaderTimeout, 60, 80 * MS);
    world.load.censored.merge(&times(60, 80 * MS));
    let words = world.judge().to_string();
    assert!(!words.contains("Little"), "{words}");
    assert_eq!(world.judge().verdict(), Fair, "{words}");
}

#[test]
fn a_slice_in_the_middle_is_granted_its_edges() {
    let mut world = World::good(8);
    world.serve(8, 8, 900 * MS);
    world.load.censored = times(0, 1);
    world.load.requests_per_connection = None;
    world.load.service_time = times(8, 900 * MS);
    world.check(Fair, "fair");
    world.load.end_ns = 10 * SECOND;
    let words = world.judge().to_string();
    assert!(words.contains("Little's law"), "{words}");
}
