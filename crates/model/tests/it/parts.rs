//! The parts of a load are the load: nothing is lost and nothing comes twice, whatever their
//! number.

use std::collections::BTreeSet;

use bakeoff_model::load::{LoadPart, LoadSpec, StepSpec};
use proptest::prelude::*;

fn parts(of: u32) -> Vec<LoadPart> {
    (0..of).map(|index| LoadPart { index, of }).collect()
}

fn spec(connections: &[u32], seed: u64) -> LoadSpec {
    let step = |connections: &u32| StepSpec {
        connections: *connections,
        duration_ns: 1_000_000_000,
        pace: bakeoff_model::load::Pace::Closed,
        warm_up: false,
        requests_max: 0,
        close_after: false,
        ..StepSpec::default()
    };
    LoadSpec {
        steps: connections.iter().map(step).collect(),
        seed,
        ..LoadSpec::default()
    }
}

#[test]
fn small_numbers_by_hand() {
    let of_five = |connections: u32| -> Vec<u32> {
        let parts = parts(5);
        parts
            .iter()
            .map(|part| part.connections_of(connections))
            .collect()
    };
    assert_eq!(of_five(0), [0, 0, 0, 0, 0]);
    assert_eq!(of_five(3), [1, 1, 1, 0, 0]);
    assert_eq!(of_five(64), [13, 13, 13, 13, 12]);
    let second = LoadPart { index: 1, of: 2 };
    let requests: Vec<_> = (0..5).map(|nth| second.request(nth, 5)).collect();
    assert_eq!(requests, [1, 3, 6, 8, 11].map(Some));
    assert_eq!(LoadPart { index: 2, of: 3 }.request(0, 2), None);
    assert_eq!(LoadPart::WHOLE.share_of(u64::MAX), u64::MAX);
}

#[test]
fn seeds_of_parts_do_not_change() {
    let seeds: Vec<u64> = spec(&[8], 42)
        .parts(3)
        .iter()
        .map(|part| part.seed)
        .collect();
    assert_eq!(seeds, SEEDS_OF_42);
    assert_eq!(
        spec(&[8], 42).part(LoadPart { index: 2, of: 9 }).seed,
        SEEDS_OF_42[2]
    );
}

/// SplitMix64's first outputs from 42, as published implementations have them.
const SEEDS_OF_42: [u64; 3] = [
    13_679_457_532_755_275_413,
    2_949_826_092_126_892_291,
    5_139_283_748_462_763_858,
];

proptest! {
    #[test]
    fn the_only_part_is_the_load(connections in 1_u32..5_000, seed: u64) {
        let whole = spec(&[connections], seed);
        prop_assert_eq!(whole.parts(1), vec![whole.clone()]);
        prop_assert_eq!(whole.own_part(), LoadPart::WHOLE);
    }

    #[test]
    fn sums_are_exact_for_every_step(
        of in 1_u32..2_000,
        ladder in prop::collection::vec(1_u32..100_000, 1..8),
        requests: u32,
    ) {
        let requests = u64::from(requests);
        let load = spec(&ladder, 1);
        let specs = load.parts(of);
        for (step, &connections) in ladder.iter().enumerate() {
            let own = |spec: &LoadSpec| {
                let planned = spec.steps[step].connections;
                u64::from(spec.own_part().connections_of(planned))
            };
            let shares: Vec<u64> = specs.iter().map(own).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), u64::from(connections));
            let difference = shares.iter().max().unwrap() - shares.iter().min().unwrap();
            prop_assert!(difference <= 1, "{:?}", shares);
            let all = u64::from(connections);
            let bounds = specs.iter().map(|spec| spec.own_part().requests_of(requests, all));
            prop_assert_eq!(bounds.sum::<u64>(), requests);
        }
    }

    #[test]
    fn nothing_has_a_number_twice(
        of in 1_u32..50,
        connections in 1_u64..200,
        values in 1_u64..300,
        nth_max in 1_u64..300,
    ) {
        let (mut users, mut requests) = (BTreeSet::new(), BTreeSet::new());
        let mut owners = vec![None; usize::try_from(values).unwrap()];
        for part in parts(of) {
            for nth in 0..nth_max {
                prop_assert!(users.insert(part.number(nth)));
                if let Some(request) = part.request(nth, connections) {
                    prop_assert!(requests.insert(request));
                    let (owner, connection) = (u64::from(part.index), request % connections);
                    prop_assert_eq!(connection % u64::from(of), owner);
                }
                let value = usize::try_from(part.value(nth, values)).unwrap();
                let owner = owners[value].get_or_insert(part.index);
                prop_assert!(*owner == part.index || values < u64::from(of));
            }
        }
        prop_assert_eq!(users.len() as u64, u64::from(of) * nth_max);
        prop_assert_eq!(users.last().copied(), Some(u64::from(of) * nth_max - 1));
        // Without gaps, as far as every part has come.
        let rounds = nth_max / connections;
        prop_assert!((0..rounds * connections).all(|request| requests.contains(&request)));
    }

    #[test]
    fn a_part_of_a_part_is_a_part(of in 1_u32..20, again in 1_u32..20, count in 0_u64..2_000) {
        let mut numbers = BTreeSet::new();
        for part in parts(of).into_iter().flat_map(|part| {
            parts(again).into_iter().map(move |one| part.part(one))
        }) {
            prop_assert_eq!(part.of, of * again);
            numbers.extend((0..part.share_of(count)).map(|nth| part.number(nth)));
        }
        prop_assert!(numbers.into_iter().eq(0..count));
    }

    #[test]
    fn seeds_differ(of in 2_u32..200, seed: u64) {
        let parts = spec(&[1], seed).parts(of);
        let seeds: BTreeSet<u64> = parts.iter().map(|part| part.seed).collect();
        prop_assert_eq!(seeds.len(), of as usize);
    }
}
