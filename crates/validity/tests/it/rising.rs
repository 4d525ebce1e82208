//! Contenders of a set that get faster in a measured step, on a host whose speed changes.

use bakeoff_base::random::Random;
use bakeoff_model::load::{LoadInterval, TurnCount};
use bakeoff_model::validity::FairnessVerdict::Degraded;
use bakeoff_validity::{JudgedSlice, RiseInTurns, StepJudge};

use crate::turns::world;

/// Turn of a side, s.
const TURN_S: f64 = 0.02;
/// Turns of each side: 3 s.
const BLOCKS: usize = 150;
/// Slices of a step.
const SLICES: usize = 6;
/// Steps that are simulated.
const STEPS: u32 = 100;

/// Noise of a host, as the logarithm of its speed turn by turn: 0.75 of it are left after 50 ms,
/// 0.45 after 0.2 s and 0.25 after a second, as on a cloud machine of two cores.
fn host(noise: f64, turns: usize, random: &mut Random) -> Vec<f64> {
    let kept = [0.12, 3.0].map(|memory_s: f64| (-TURN_S / memory_s).exp());
    let mut parts = [random.normal(), random.normal()];
    let mut next = || {
        for (part, kept) in parts.iter_mut().zip(kept) {
            *part = kept * *part + (1.0 - kept * kept).sqrt() * random.normal();
        }
        noise * (0.65_f64.sqrt() * parts[0] + 0.35_f64.sqrt() * parts[1])
    };
    (0..turns).map(|_| next()).collect()
}

/// A simulated step.
#[derive(Clone, Copy)]
struct Simulated {
    /// Standard deviation of the logarithm of the host's speed.
    host: f64,
    /// Growth of the first side from the start to the end.
    first: f64,
    /// Growth of the second one.
    second: f64,
    /// Growth of the host's speed.
    all: f64,
}

impl Simulated {
    /// The finding about the first of three sides.
    fn play(self, like: &LoadInterval, random: &mut Random) -> Option<RiseInTurns> {
        let (speed, other) = (
            host(self.host, 3 * BLOCKS, random),
            host(self.host, 3 * BLOCKS, random),
        );
        let (mut sides, mut generator) = ([const { Vec::new() }; 3], Vec::new());
        for block in 0..BLOCKS {
            let grown = |growth: f64| {
                let at = u32::try_from(block).unwrap();
                growth.ln_1p() * f64::from(at) / 150.0
            };
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            for (place, side) in order.into_iter().enumerate() {
                let at = 3 * block + place;
                let growth = [self.first, self.second, 0.0][side];
                let own = grown(growth) + 0.02 * random.normal();
                sides[side].push((grown(self.all) + speed[at] + own).exp());
                // The speed of the load generator's core has a correlation of 0.85 with the
                // contenders'.
                if side == 0 {
                    let generator_speed = 0.85 * speed[at] + 0.527 * other[at];
                    generator.push((grown(self.all) + generator_speed).exp());
                }
            }
        }
        let slices = slices(like, [&sides[0], &generator], BLOCKS / SLICES);
        let slices: Vec<&LoadInterval> = slices.iter().collect();
        RiseInTurns::of(&sides[0], &[&sides[1], &sides[2]], &slices)
    }

    /// How many of a hundred steps are marked.
    fn marked(self) -> f64 {
        let mut random = Random::new(7);
        let like = world(1).load;
        let found = (0..STEPS).filter(|_| self.play(&like, &mut random).is_some());
        let found = u32::try_from(found.count()).unwrap();
        100.0 * f64::from(found) / f64::from(STEPS)
    }
}

/// One side's slices, each with `blocks` blocks, and these requests for each second of its own CPU
/// time and of the load generator's.
fn slices(like: &LoadInterval, speeds: [&[f64]; 2], blocks: usize) -> Vec<LoadInterval> {
    let [own, generator] = speeds;
    let each = own.chunks(blocks).zip(generator.chunks(blocks));
    let microseconds = |speeds: &[f64]| -> u64 {
        let us: f64 = speeds.iter().map(|speed| 20_000.0 / speed).sum();
        std::time::Duration::from_secs_f64(us / 1e6)
            .as_micros()
            .try_into()
            .unwrap()
    };
    let slice = |(own, generator): (&[f64], &[f64])| {
        let mut load = like.clone();
        load.turns = vec![TurnCount {
            own_cpu_us: microseconds(own),
            ..TurnCount::default()
        }];
        load.generator_cpu.user_ns = microseconds(generator) * 1000 / 5;
        load.generator_cpu.system_ns = 0;
        load
    };
    each.map(slice).collect()
}

const STEADY: Simulated = Simulated {
    host: 0.03,
    first: 0.0,
    second: 0.0,
    all: 0.0,
};

#[test]
fn a_steady_side_is_not_marked() {
    for host in [0.0, 0.03, 0.1, 0.2] {
        let marked = Simulated { host, ..STEADY }.marked();
        assert!(marked < 5.0, "{marked} % at {host}");
    }
}

#[test]
fn a_host_that_gets_faster_marks_nobody() {
    let marked = Simulated { all: 0.2, ..STEADY }.marked();
    assert!(marked < 5.0, "{marked} %");
}

#[test]
fn another_side_that_becomes_slower_marks_nobody() {
    let slower = Simulated {
        second: -0.3,
        ..STEADY
    };
    assert!(slower.marked() < 5.0, "{} %", slower.marked());
}

#[test]
fn a_side_that_gets_faster_is_found() {
    let found = |host, first| {
        let steps = Simulated {
            host,
            first,
            ..STEADY
        };
        steps.marked()
    };
    assert!(found(0.0, 0.05) > 95.0, "{}", found(0.0, 0.05));
    assert!(found(0.03, 0.05) > 80.0, "{}", found(0.03, 0.05));
    assert!(found(0.03, 0.1) > 95.0, "{}", found(0.03, 0.1));
    // Of a noisy host's steps, each shows less.
    assert!(found(0.1, 0.05) > 30.0, "{}", found(0.1, 0.05));
    assert!(found(0.1, 0.2) > 90.0, "{}", found(0.1, 0.2));
}

#[test]
fn one_that_gets_faster_is_degraded_in_its_step() {
    let growing: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i) / 100.0).collect();
    let flat = [1.0; 30];
    let rise = |others: &[&[f64]], blocks: usize| {
        let slices = slices(&world(1).load, [&growing, &flat], blocks);
        RiseInTurns::of(&growing, others, &slices.iter().collect::<Vec<_>>())
    };
    // Nothing to hold it against.
    assert_eq!(rise(&[], 15), None);
    assert_eq!(rise(&[&flat[..7]], 15), None);
    assert_eq!(rise(&[&flat], 30), None, "one slice");
    assert_eq!(rise(&[&growing], 15), None);
    let mut step = StepJudge::default();
    step.add(&JudgedSlice::new(world(64).evidence()));
    assert!(step.validity().is_fair());
    step.rose(rise(&[&flat, &flat], 15));
    let validity = step.validity();
    assert_eq!(validity.verdict(), Degraded);
    let words = "not warm: from the first of 30 blocks to the last it served 30 % more \
                 requests for each second of CPU time, relative to the others; 30 % relative to \
                 the load generator's CPU time";
    assert!(validity.to_string().contains(words), "{validity}");
}
