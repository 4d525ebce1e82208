//! Whether a contender is warm by now, slice after slice of its warm-up.

use std::ops::Range;

use bakeoff_base::number::as_f64;
use bakeoff_model::cpu_parts::CpuParts;
use bakeoff_model::load::TurnCount;
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::warmth::Warmth;
use bakeoff_stats::Sample;
use bakeoff_stats::rise::{EXCLUDED, FLAT, Point, Rise, rise};

use crate::rules::COMPILING_MAX;

/// Fewer turns than this in a quarter of them say nothing.
const TURNS_MIN: usize = 8;

/// How sure the limits of a rise are, in standard errors, as for slices.
const ERRORS: f64 = 3.0;

/// Over this much time it is asked whether compilers are at work, s: in single slices they often
/// are.
const COMPILING_S: f64 = 5.0;

/// A warm-up so far.
#[derive(Debug, Clone, Default)]
pub struct WarmUp {
    throughput: Vec<Point>,
    /// CPU time of the load generator for each second of the contender's. A host whose speed
    /// changes makes requests dearer for both, or gives both less time.
    efficiency: Vec<Option<Point>>,
    cpu: Vec<Option<CpuParts>>,
    /// Of a contender that takes turns, all of them.
    turns: Vec<TurnCount>,
}

impl WarmUp {
    /// Adds a slice.
    pub fn add(&mut self, slice: &IntervalRecord) {
        let load = &slice.load;
        let seconds = |ns: u64| as_f64(ns) / 1e9;
        let length_ns = load.length_ns();
        let point = |value: f64| Point {
            from_s: seconds(load.start_ns),
            to_s: seconds(load.end_ns),
            value,
        };
        let throughput = as_f64(load.requests) / seconds(length_ns.max(1));
        self.throughput.push(point(throughput));
        let samples = slice.contender_before.as_ref();
        let samples = samples.zip(slice.contender_after.as_ref());
        let used_ns = samples
            .and_then(|(before, after)| after.cpu?.total_ns().checked_sub(before.cpu?.total_ns()));
        // Of a contender that takes turns, that of its turns: others worked in between.
        let own_ns: u64 = load.turns.iter().map(|turn| turn.own_cpu_us * 1000).sum();
        let used_ns = used_ns.map(|used_ns| if own_ns > 0 { own_ns } else { used_ns });
        self.turns.extend(load.turns.iter().copied());
        let generator_ns = load.generator_cpu.total_ns();
        let both_ns = used_ns.map(|used_ns| (generator_ns, used_ns));
        let both_ns = both_ns.filter(|(generator_ns, used_ns)| *generator_ns > 0 && *used_ns > 0);
        self.efficiency.push(both_ns.map(|(generator_ns, used_ns)| {
            // A contender that serves no request is asked too, which takes time.
            let is_serving = load.requests > 0;
            point(if is_serving {
                as_f64(generator_ns) / as_f64(used_ns)
            } else {
                0.0
            })
        }));
        self.cpu
            .push(samples.and_then(|(before, after)| CpuParts::between(before, after)));
    }

    /// How warm the contender is at the end of these slices; `None` while they are too few to say.
    #[must_use]
    pub fn warmth(&self) -> Option<Warmth> {
        if let Some(warmth) = self.in_turns() {
            return Some(warmth);
        }
        let rise = self
            .rise_since(self.compiled_until())
            .or_else(|| self.rise_since(0))?;
        let looked_at = self.cpu.len() - rise.points;
        Some(Warmth {
            rise: rise.guess,
            rise_most: rise.most,
            rise_least: Some(rise.least),
            jit_share: self.jit_share(looked_at..self.cpu.len()),
            slices: rise.points,
            in_turns: false,
        })
    }

    /// By the requests for each second of CPU time in turns, which hardly vary with what else is on
    /// the host: how much more the contender serves in the last quarter of its turns than in the
    /// one before. `None` with fewer turns than say that, and where CPU time was not read turn by
    /// turn.
    fn in_turns(&self) -> Option<Warmth> {
        let efficiency = |turn: &TurnCount| {
            let is_read = turn.requests > 0 && turn.own_cpu_us > 0;
            is_read.then(|| (as_f64(turn.requests) / as_f64(turn.own_cpu_us)).ln())
        };
        let logs: Vec<f64> = self.turns.iter().filter_map(efficiency).collect();
        let quarter = logs.len() / 4;
        if quarter < TURNS_MIN || logs.len() * 2 < self.turns.len() {
            return None;
        }
        let before = Sample::new(logs[logs.len() - 2 * quarter..logs.len() - quarter].to_vec())?;
        let last = Sample::new(logs[logs.len() - quarter..].to_vec())?;
        let (rise, error) = last.difference(&before)?;
        Some(Warmth {
            rise: rise.exp_m1(),
            rise_most: (rise + ERRORS * error).exp_m1(),
            rise_least: Some((rise - ERRORS * error).exp_m1()),
            jit_share: self.jit_share(self.cpu.len().saturating_sub(1)..self.cpu.len()),
            slices: 2 * quarter,
            in_turns: true,
        })
    }

    /// By the steadier of the two series, unless throughput rises significantly.
    fn rise_since(&self, first: usize) -> Option<Rise> {
        let throughput = rise(&self.throughput[first..])?;
        let efficiency: Option<Vec<Point>> = self.efficiency[first..].iter().copied().collect();
        let by_cpu = efficiency.and_then(|series| rise(&series));
        Some(match by_cpu {
            Some(by_cpu) if throughput.least <= FLAT => by_cpu,
            _ => throughput,
        })
    }

    /// The first slice after the last five seconds in which compilers used more than 5 %: what was
    /// slower before says nothing about now, however far back noise makes one look.
    fn compiled_until(&self) -> usize {
        let is_compiling = |end: &usize| {
            let to_s = self.throughput[*end - 1].to_s;
            let slices = self.throughput[..*end].iter();
            let outside = slices.take_while(|point| to_s - point.from_s > COMPILING_S);
            let share = self.jit_share(outside.count()..*end);
            share.is_some_and(|share| share > COMPILING_MAX)
        };
        (1..=self.cpu.len()).rev().find(is_compiling).unwrap_or(0)
    }

    /// `None` where the threads of a slice were not read.
    fn jit_share(&self, slices: Range<usize>) -> Option<f64> {
        let cpu: Option<Vec<CpuParts>> = self.cpu[slices].iter().copied().collect();
        cpu.map(|parts| {
            let mut sum = CpuParts::default();
            parts.into_iter().for_each(|one| sum += one);
            sum.jit_share()
        })
    }
}

/// Whether that is warm: it is flat, and next to nothing is compiled, as far as threads were read.
#[must_use]
pub fn is_warm(warmth: &Warmth) -> bool {
    let is_flat = warmth.rise <= FLAT && warmth.rise_most <= EXCLUDED;
    is_flat && warmth.jit_share.is_none_or(|share| share <= COMPILING_MAX)
}
