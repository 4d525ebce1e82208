//! What the CPU of a request goes into by layer, as samples of stacks divide it.

use bakeoff_model::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::plan::case_label;
use bakeoff_model::record::Results;

use super::metric::Metric;
use super::summary::BenchmarkSummary;
use crate::number::as_f64;

/// Two standard errors: 95 %.
const ERRORS: f64 = 1.96;

/// The layers of all sampled contenders of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Layers {
    /// Names, of most CPU in all first.
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<LayersRow>,
}

/// Those of one contender.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayersRow {
    /// Contender and parameters.
    pub(crate) label: String,
    /// How many samples there are.
    pub(crate) samples: u64,
    /// CPU for each request, us, with half of its 95 % interval by the number of samples, of each
    /// name; `None` where no sample is in it.
    pub(crate) cpu_us: Vec<Option<(f64, f64)>>,
}

/// Those of the contenders that were sampled and have a CPU per request.
pub(crate) fn of(results: &Results, summary: &BenchmarkSummary) -> Layers {
    let graphs = results.flame_graphs.iter();
    let graphs = graphs.filter(|graph| graph.benchmark == summary.name);
    let sampled = graphs.filter_map(|graph| {
        let label = case_label(&graph.contender, &graph.parameters);
        let cpu_us = summary.row(&label)?.cpu_us.as_ref().map(Metric::mean)?;
        let shares = shares(graph)?;
        Some((label, cpu_us, shares))
    });
    let sampled: Vec<(String, f64, Shares)> = sampled.collect();
    let mut totals: Vec<(String, f64)> = Vec::new();
    for (_, cpu_us, shares) in &sampled {
        for (name, share) in &shares.of {
            match totals.iter_mut().find(|(other, _)| other == name) {
                Some((_, total)) => *total += cpu_us * share,
                None => totals.push((name.clone(), cpu_us * share)),
            }
        }
    }
    totals.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<String> = totals.into_iter().map(|(name, _)| name).collect();
    let rows = sampled.into_iter().map(|(label, cpu_us, shares)| {
        let of_name = |name: &String| {
            let (_, share) = shares.of.iter().find(|(other, _)| other == name)?;
            let error = (share * (1.0 - share) / as_f64(shares.samples)).sqrt();
            Some((cpu_us * share, cpu_us * ERRORS * error))
        };
        LayersRow {
            label,
            samples: shares.samples,
            cpu_us: names.iter().map(of_name).collect(),
        }
    });
    Layers {
        rows: rows.collect(),
        names,
    }
}

/// The share of each layer in all samples.
struct Shares {
    samples: u64,
    of: Vec<(String, f64)>,
}

/// `None` of a graph that was not drawn, or that has no layers.
fn shares(graph: &FlameGraph) -> Option<Shares> {
    let FlameOutcome::Drawn { layers, .. } = &graph.outcome else {
        return None;
    };
    let samples: u64 = layers.iter().map(|layer| layer.samples).sum();
    let of = layers.iter();
    (samples > 0).then(|| Shares {
        samples,
        of: of
            .map(|layer| (layer.name.clone(), as_f64(layer.samples) / as_f64(samples)))
            .collect(),
    })
}
