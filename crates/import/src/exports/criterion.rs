//! A `sample.json` of criterion (`target/criterion/BENCHMARK/new/sample.json`): iterations and time
//! of each sample, ns.

use bakeoff_base::problem::Problem;
use serde::Deserialize;
use serde_json::Value;

use super::{Export, Measured};

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

pub(super) fn read(json: &Value, side: &str) -> Result<Export, Problem> {
    let sample = Sample::deserialize(json)
        .map_err(|error| format!("it is no sample of criterion: {error}"))?;
    let both = sample.iters.iter().zip(&sample.times);
    let values = both.map(|(iterations, time_ns)| Measured {
        subject: String::new(),
        side: side.to_owned(),
        set: None,
        block: None,
        value: time_ns / iterations,
    });
    Ok(Export {
        tool: "criterion",
        unit: "ns".to_owned(),
        lower_is_better: Some(true),
        values: values.collect(),
    })
}
