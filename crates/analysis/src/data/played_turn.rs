//! A turn of a contender, as recorded.

use bakeoff_base::number::as_f64;
use bakeoff_model::record::IntervalRecord;

/// A turn of a contender.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedTurn {
    /// The block, which contains one turn of each contender.
    pub block: u64,
    /// Successful requests per second.
    pub requests_per_s: f64,
    /// CPU time of the contender for each request that ended, us. If it was not read turn by turn,
    /// as in a cluster, the mean of the slice; `None` if it was not read.
    pub cpu_us: Option<f64>,
    /// Number of cores that the contender used in the turn; `None` if it was not read turn by turn.
    pub cores: Option<f64>,
}

/// Returns the turns of a slice that have a successful request.
#[must_use]
pub fn turns_of(slice: &IntervalRecord) -> Vec<PlayedTurn> {
    let turns = slice.load.turns.iter();
    let is_read = turns.clone().any(|turn| turn.own_cpu_us > 0);
    let of_slice = slice.cpu_us_per_request().filter(|_| !is_read);
    let turns = turns.filter_map(|turn| {
        let ended = turn.requests + turn.failed;
        let cpu_us = as_f64(turn.own_cpu_us) / as_f64(ended.max(1));
        Some(PlayedTurn {
            block: turn.block,
            requests_per_s: turn.requests_per_s()?,
            cpu_us: (turn.own_cpu_us > 0).then_some(cpu_us).or(of_slice),
            cores: (turn.own_cpu_us > 0).then(|| as_f64(turn.own_cpu_us) / as_f64(turn.length_us)),
        })
    });
    turns.collect()
}
