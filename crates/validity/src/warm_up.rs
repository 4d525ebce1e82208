//! Whether a contender is warm by now, slice after slice of its warm-up.

use bakeoff_base::number::as_f64;
use bakeoff_model::cpu_parts::CpuParts;
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::warmth::Warmth;
use bakeoff_stats::{Point, rise};

use crate::rules::COMPILING_MAX;

/// A warm-up so far.
#[derive(Debug, Clone, Default)]
pub struct WarmUp {
    throughput: Vec<Point>,
    cpu: Vec<Option<CpuParts>>,
}

impl WarmUp {
    /// Adds a slice.
    pub fn add(&mut self, slice: &IntervalRecord) {
        let load = &slice.load;
        let seconds = |ns: u64| as_f64(ns) / 1e9;
        let length_ns = load.end_ns.saturating_sub(load.start_ns);
        self.throughput.push(Point {
            from_s: seconds(load.start_ns),
            to_s: seconds(load.end_ns),
            value: as_f64(load.requests) / seconds(length_ns.max(1)),
        });
        let samples = slice.contender_before.as_ref();
        let samples = samples.zip(slice.contender_after.as_ref());
        self.cpu
            .push(samples.and_then(|(before, after)| CpuParts::between(before, after)));
    }

    /// How warm the contender is at the end of these slices; `None` while they are too few to say.
    #[must_use]
    pub fn warmth(&self) -> Option<Warmth> {
        let rise = rise(&self.throughput)?;
        let looked_at = self.cpu.len() - rise.points;
        let cpu: Option<Vec<CpuParts>> = self.cpu[looked_at..].iter().copied().collect();
        let jit_share = cpu.map(|parts| {
            let mut sum = CpuParts::default();
            parts.into_iter().for_each(|one| sum += one);
            sum.jit_share()
        });
        Some(Warmth {
            rise: rise.guess,
            rise_most: rise.most,
            jit_share,
            slices: rise.points,
        })
    }
}

/// Whether that is warm: throughput is flat, and next to nothing is compiled. Where threads are not
/// read, throughput alone says it.
#[must_use]
pub fn is_warm(warmth: &Warmth) -> bool {
    let rise = bakeoff_stats::Rise {
        guess: warmth.rise,
        most: warmth.rise_most,
        points: warmth.slices,
    };
    rise.is_flat() && warmth.jit_share.is_none_or(|share| share <= COMPILING_MAX)
}
