//! The text format in which services report their metrics: Prometheus 0.0.4 and OpenMetrics 1.0,
//! read alike.
//!
//! Own code, because no library is fit for both: `prometheus-parse` knows neither exemplars nor the
//! names of OpenMetrics, and this workspace does not take the licence of `openmetrics-parser`.
//! Order and grouping of lines are not judged: a service is not refused for what does no harm here.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;

/// Whether a series only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The series is a counter.
    Counter,
    /// The series rises and falls.
    Gauge,
}

/// One series at a moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The name of the metric alone.
    pub(super) metric: String,
    pub(super) kind: Kind,
    pub(super) value: f64,
}

/// Reads the series by name and labels. Buckets, quantiles, times of creation and values that are
/// no finite number are left out.
///
/// # Errors
/// A fragment that names the first line which is none of the format.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, Sample>, Problem> {
    let types: BTreeMap<&str, &str> = text.lines().filter_map(type_of).collect();
    let mut samples = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line == "# EOF" {
            break;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let read = sample(line).map_err(|why| format!("line {}: {why}", index + 1))?;
        let (metric, labels, value) = read;
        if let Some(kind) = kind(metric, &types).filter(|_| value.is_finite()) {
            let metric = metric.to_owned();
            let name = format!("{metric}{}", label_text(&labels));
            let sample = Sample {
                metric,
                kind,
                value,
            };
            samples.insert(name, sample);
        }
    }
    Ok(samples)
}

/// The name and the type in a line `# TYPE name type`.
fn type_of(line: &str) -> Option<(&str, &str)> {
    let mut words = line.trim().strip_prefix('#')?.split_whitespace();
    (words.next() == Some("TYPE")).then_some(())?;
    Some((words.next()?, words.next()?))
}

/// The kind of the series of a name; `None` of what is not recorded.
fn kind(name: &str, types: &BTreeMap<&str, &str>) -> Option<Kind> {
    /// Ends that OpenMetrics, and types of several series, add to the name of a metric.
    const SUFFIXES: [&str; 8] = [
        "_total", "_count", "_sum", "_gcount", "_gsum", "_bucket", "_created", "_info",
    ];
    let of_base = SUFFIXES.iter().find_map(|suffix| {
        let base = name.strip_suffix(suffix)?;
        let of_counter = || types.get(format!("{base}_total").as_str());
        let found = types.get(base);
        let found = found.or_else(|| of_counter().filter(|_| *suffix == "_created"));
        Some((*suffix, *found?))
    });
    match (types.get(name).copied(), of_base) {
        // Some libraries report it as a separate gauge.
        (_, Some(("_created", _))) => None,
        (Some("counter"), _) => Some(Kind::Counter),
        (Some("gauge" | "stateset"), _) => Some(Kind::Gauge),
        // A quantile of a summary has the name of the whole.
        (Some("summary" | "histogram" | "gaugehistogram" | "info"), _) => None,
        (None, Some(("_total", "counter"))) => Some(Kind::Counter),
        (None, Some(("_count" | "_sum", "summary" | "histogram"))) => Some(Kind::Counter),
        (None, Some(("_gcount" | "_gsum", "gaugehistogram"))) => Some(Kind::Gauge),
        (None, Some(("_bucket", "histogram" | "gaugehistogram")) | Some(("_info", "info"))) => None,
        // Of unknown type: by its name, as the format recommends names.
        _ if name.ends_with("_bucket") => None,
        _ if ["_total", "_count", "_sum"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            Some(Kind::Counter)
        }
        _ => Some(Kind::Gauge),
    }
}

type Labels<'t> = BTreeMap<&'t str, String>;

/// Name, labels and value of a line. A timestamp and an exemplar may follow, and are not used.
fn sample(line: &str) -> Result<(&str, Labels<'_>, f64), Problem> {
    let (name, rest) = name(line).ok_or("no name of a metric")?;
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None if rest.starts_with([' ', '\t']) => (Labels::new(), rest),
        None => return Err(format!("`{name}` has no value").into()),
    };
    let rest = rest.split_once(" # ").map_or(rest, |(value, _)| value);
    let mut words = rest.split_whitespace();
    let value = words.next().and_then(|word| word.parse().ok());
    let value = value.ok_or_else(|| format!("`{name}` has no number for a value"))?;
    let is_timestamp = |word: &str| word.parse::<f64>().is_ok();
    match (words.next().is_none_or(is_timestamp), words.next()) {
        (true, None) => Ok((name, labels, value)),
        _ => Err(format!("more than a value and a timestamp follow `{name}`").into()),
    }
}

/// The name at the start of a text, and what follows.
fn name(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let begins_well = !text.starts_with(|c: char| c.is_ascii_digit());
    (end > 0 && begins_well).then(|| text.split_at(end))
}

/// The labels up to the closing brace, and what follows that.
fn labels(mut text: &str) -> Result<(Labels<'_>, &str), Problem> {
    let mut labels = Labels::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix('}') {
            return Ok((labels, rest));
        }
        let (label, rest) = name(text).ok_or("no name of a label")?;
        let quoted = rest.trim_start().strip_prefix('=').map(str::trim_start);
        let quoted = quoted.and_then(|quoted| quoted.strip_prefix('"'));
        let (value, rest) = quoted
            .and_then(label_value)
            .ok_or_else(|| format!("the label `{label}` has no value in quotes"))?;
        labels.insert(label, value);
        let rest = rest.trim_start();
        text = match rest.strip_prefix(',') {
            Some(next) => next,
            None if rest.starts_with('}') => rest,
            None => return Err(format!("no `,` or `}}` after the label `{label}`").into()),
        };
    }
}

/// A value up to its closing quote, without escapes, and what follows that.
fn label_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match rest.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            _ => value.push(c),
        }
    }
    None
}

fn label_text(labels: &Labels<'_>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escaped = |value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        value.replace('\n', "\\n")
    };
    let each = labels.iter();
    let each = each.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests;
