//! A summary of k6 (`--summary-export FILE`, or `handleSummary` with `JSON.stringify(data)`): one
//! value of each metric for a whole run.

use bakeoff_base::problem::Problem;
use serde_json::Value;

use super::{Export, Measured};

/// The mean is the value with the least chance in it.
const METRIC: &str = "http_req_duration.avg";

pub(super) fn read(json: &Value, side: &str, metric: Option<&str>) -> Result<Export, Problem> {
    let wanted = metric.unwrap_or(METRIC);
    let (name, statistic) = wanted.split_once('.').ok_or_else(|| {
        Problem::new(format!("`{wanted}` is no statistic of a metric of k6"))
            .with_hint("name one, such as http_req_duration.p(95)")
    })?;
    let metric = &json["metrics"][name];
    // What `handleSummary` gets has the statistics one level deeper.
    let value = [&metric[statistic], &metric["values"][statistic]];
    let Some(value) = value.into_iter().find_map(Value::as_f64) else {
        return Err(format!("it has no {wanted}").into());
    };
    let is_rate = ["rate", "count"].contains(&statistic);
    let unit = match is_rate {
        true => String::new(),
        false => "ms".to_owned(),
    };
    Ok(Export {
        tool: "k6",
        unit,
        lower_is_better: Some(!is_rate || name.ends_with("_failed")),
        values: vec![Measured {
            subject: wanted.to_owned(),
            side: side.to_owned(),
            set: None,
            block: None,
            value,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::read;

    #[test]
    fn one_statistic_of_a_metric_is_the_value_of_a_run() {
        let flat = r#"{"metrics": {"http_req_duration": {"avg": 1.5, "p(95)": 4},
            "http_reqs": {"count": 9, "rate": 300.5}}}"#;
        let deep = r#"{"metrics": {"http_req_duration": {"values": {"avg": 1.5}}}}"#;
        let value = |text: &str, metric: Option<&str>| {
            let export = read(text, Some("old"), metric).unwrap();
            (export.values[0].value, export.lower_is_better)
        };
        assert_eq!(value(flat, None), (1.5, Some(true)));
        assert_eq!(value(deep, None), (1.5, Some(true)));
        assert_eq!(
            value(flat, Some("http_req_duration.p(95)")),
            (4.0, Some(true))
        );
        assert_eq!(value(flat, Some("http_reqs.rate")), (300.5, Some(false)));
        let error = read(deep, Some("old"), Some("http_reqs.rate")).unwrap_err();
        assert_eq!(error.to_string(), "it has no http_reqs.rate");
    }
}
