//! Whether a contender is warm, slice after slice of its warm-up.

use std::collections::BTreeMap;
use std::ops::Range;

use bakeoff_base::number::as_f64;
use bakeoff_model::load::TurnCount;
use bakeoff_model::measure::cpu_parts::CpuParts;
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_stats::rise::{EXCLUDED, FLAT, Point, Rise, rise};
use bakeoff_stats::rise_over;

use crate::rising::{surely_rose, to_others};
use crate::rules::COMPILING_MAX;

/// Standard errors for the limits of a rise in turns. A contender that still gets faster unnoticed
/// is found later in the measured blocks, which are then excluded.
const ERRORS: f64 = 2.0;

/// In turns, compilers are checked in the last slices: one in this many.
pub(crate) const COMPILING_PART: usize = 4;

/// The time over which compiler activity is checked, s: in single slices compilers are often
/// active.
const COMPILING_S: f64 = 5.0;

/// A slice, and a block in it.
type Block = (u32, u64);

/// The speed of a contender in each block.
type Speeds = BTreeMap<Block, f64>;

/// A warm-up so far.
#[derive(Debug, Clone, Default)]
pub struct WarmUp {
    throughput: Vec<Point>,
    /// CPU time of the load generator for each second of the contender's. A host whose speed
    /// changes makes requests more expensive for both, or gives both less time.
    efficiency: Vec<Option<Point>>,
    cpu: Vec<Option<CpuParts>>,
    /// All turns of a contender that takes turns, with the slice: blocks are counted from 0 each
    /// time the step is played.
    turns: Vec<(u32, TurnCount)>,
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
        // In turns, only the CPU time of its turns: others worked in between.
        let own_ns: u64 = load.turns.iter().map(|turn| turn.own_cpu_us * 1000).sum();
        let used_ns = used_ns.map(|used_ns| if own_ns > 0 { own_ns } else { used_ns });
        self.turns
            .extend(load.turns.iter().map(|turn| (load.slice, *turn)));
        let generator_ns = load.generator_cpu.total_ns();
        let both_ns = used_ns.map(|used_ns| (generator_ns, used_ns));
        let both_ns = both_ns.filter(|(generator_ns, used_ns)| *generator_ns > 0 && *used_ns > 0);
        self.efficiency.push(both_ns.map(|(generator_ns, used_ns)| {
            // A contender that serves no request is still sent some, which takes time.
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

    /// Returns how warm the contender is at the end of these slices; `None` while there are too
    /// few.
    #[must_use]
    pub fn warmth(&self) -> Option<Warmth> {
        let rise = self
            .rise_since(self.compiled_until())
            .or_else(|| self.rise_since(0))?;
        let looked_at = self.cpu.len() - rise.points;
        Some(Warmth {
            rise: rise.guess,
            rise_most: rise.most,
            rise_least: rise.least,
            jit_share: self.jit_share(looked_at..self.cpu.len()),
            slices: rise.points,
            in_turns: false,
        })
    }

    /// Returns how warm the contender is relative to `others` of its set, which are loaded in the
    /// same blocks: whether it still gets faster than they do, in the last half of the blocks.
    /// Without another contender, the result of [`Self::warmth`]. `None` while there are too few
    /// blocks.
    #[must_use]
    pub fn warmth_beside(&self, others: &[&Self]) -> Option<Warmth> {
        if others.is_empty() {
            return self.warmth();
        }
        let own = self.speeds();
        let others: Vec<Speeds> = others.iter().map(|one| one.speeds()).collect();
        let is_common = |block: &&Block| others.iter().all(|other| other.contains_key(block));
        let common: Vec<Block> = own.keys().filter(is_common).copied().collect();
        let last = &common[common.len() / 2..];
        let of_blocks = |speeds: &Speeds| last.iter().map(|block| speeds[block]).collect();
        let others: Vec<Vec<f64>> = others.iter().map(of_blocks).collect();
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        let own: Vec<f64> = of_blocks(&own);
        let rise = rise_over(&to_others(&own, &others)?, ERRORS)?;
        let slices = self.cpu.len();
        Some(Warmth {
            rise: rise.guess,
            rise_most: rise.most,
            rise_least: rise.least,
            jit_share: self.jit_share(slices - slices.div_ceil(COMPILING_PART)..slices),
            slices: last.len(),
            in_turns: true,
        })
    }

    /// Returns the contender's speed in each block: requests per second of CPU time, or of its turn
    /// if CPU time was not read turn by turn.
    fn speeds(&self) -> Speeds {
        let is_read = self.turns.iter().any(|(_, turn)| turn.own_cpu_us > 0);
        let speed = |(slice, turn): &(u32, TurnCount)| {
            let time_us = if is_read {
                turn.own_cpu_us
            } else {
                turn.length_us
            };
            let is_timed = turn.requests > 0 && time_us > 0;
            is_timed.then(|| {
                (
                    (*slice, turn.block),
                    as_f64(turn.requests) / as_f64(time_us),
                )
            })
        };
        self.turns.iter().filter_map(speed).collect()
    }

    /// Returns the rise of the steadier of the two series, unless throughput rises significantly.
    fn rise_since(&self, first: usize) -> Option<Rise> {
        let throughput = rise(&self.throughput[first..])?;
        let efficiency: Option<Vec<Point>> = self.efficiency[first..].iter().copied().collect();
        let by_cpu = efficiency.and_then(|series| rise(&series));
        Some(match by_cpu {
            Some(by_cpu) if throughput.least <= FLAT => by_cpu,
            _ => throughput,
        })
    }

    /// Returns the first slice after the last five seconds in which compilers used more than 5 %:
    /// lower speed before then means nothing now, however far back the noise makes it necessary to
    /// look.
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

    /// Returns the share of compilers; `None` if the threads of a slice were not read.
    pub(crate) fn jit_share(&self, slices: Range<usize>) -> Option<f64> {
        let cpu: Option<Vec<CpuParts>> = self.cpu[slices].iter().copied().collect();
        cpu.map(|parts| {
            let mut sum = CpuParts::default();
            parts.into_iter().for_each(|one| sum += one);
            sum.jit_share()
        })
    }
}

/// Whether a contender with this warmth is warm: its speed is flat, and almost nothing is compiled,
/// as far as threads were read. In turns its speed is flat unless a rise is certain, because a host
/// that varies would otherwise never let it be flat.
#[must_use]
pub fn is_warm(warmth: &Warmth) -> bool {
    let is_flat = match warmth.in_turns {
        true => warmth.rise <= FLAT || !surely_rose(warmth),
        false => warmth.rise <= FLAT && warmth.rise_most <= EXCLUDED,
    };
    is_flat && warmth.jit_share.is_none_or(|share| share <= COMPILING_MAX)
}
