//! What hyperfine writes with `--export-json`: all times of each command, one command after the
//! other.

use bakeoff_base::problem::Problem;
use serde_json::Value;

use super::{Export, Measured};

pub(super) fn read(json: &Value) -> Result<Export, Problem> {
    let results = json["results"].as_array().into_iter().flatten();
    let mut values = Vec::new();
    for result in results {
        let side = result["command"].as_str().unwrap_or_default();
        let Some(times) = result["times"].as_array() else {
            return Err(format!("`{side}` has no times of single runs").into());
        };
        values.extend(times.iter().filter_map(|time| {
            Some(Measured {
                subject: String::new(),
                side: side.to_owned(),
                set: None,
                block: None,
                value: time.as_f64()?,
            })
        }));
    }
    Ok(Export {
        tool: "hyperfine",
        unit: "s".to_owned(),
        lower_is_better: Some(true),
        values,
    })
}
