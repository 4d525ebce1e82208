//! Documents as pure functions of [`bakeoff_analysis::Analysis`]: they lay out and word, and
//! compute nothing.

pub(crate) mod articles;
pub(crate) mod baseline;
pub(crate) mod csv;
pub(crate) mod exchange;
pub(crate) mod figures;
pub(crate) mod html;
pub(crate) mod job;
pub(crate) mod markdown;
mod overhead;
mod reasons;
pub(crate) mod sentence;
pub(crate) mod terminal;
mod turns;

use bakeoff_analysis::own_metrics::OwnMetrics;

/// How times to the first byte are taken.
const FIRST_BYTE_METHOD: &str = "Of responses, some of which came in parts: from the send to the \
                                  first byte of the body, and to its end; means over runs or sets.";

/// How the metrics are read that contenders count themselves.
fn own_metrics_method(metrics: &OwnMetrics) -> String {
    format!(
        "As each service counts them: how much a counter grew over the step {}, divided by the \
         requests that ended in it, and what a gauge said after it; means over runs or sets. They \
         were read before and after the step, without load.",
        metrics.at
    )
}
