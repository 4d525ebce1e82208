//! What `go test -bench` prints, with `-count` for several lines of each benchmark:
//! `BenchmarkSum-8   1000000   1052 ns/op   16 B/op   1 allocs/op`.

use bakeoff_base::problem::Problem;

use super::{Export, Measured};

/// Whether a text has a line of a benchmark.
pub(super) fn is_go(text: &str) -> bool {
    text.lines().any(|line| fields(line).is_some())
}

pub(super) fn read(text: &str, side: &str, metric: Option<&str>) -> Result<Export, Problem> {
    let unit = metric.unwrap_or("ns/op");
    let lines = text.lines().filter_map(fields);
    let values: Vec<Measured> = lines
        .filter_map(|(name, values)| {
            let (value, _) = values.into_iter().find(|(_, one)| *one == unit)?;
            Some(Measured {
                subject: name.to_owned(),
                side: side.to_owned(),
                set: None,
                block: None,
                value,
            })
        })
        .collect();
    if values.is_empty() {
        return Err(format!("no benchmark has a value in {unit}").into());
    }
    Ok(Export {
        tool: "go test -bench",
        unit: unit.to_owned(),
        // Rates, such as MB/s, are the exception.
        lower_is_better: Some(!unit.ends_with("/s")),
        values,
    })
}

/// Returns the name of the benchmark and its values with their units; `None` for other lines.
fn fields(line: &str) -> Option<(&str, Vec<(f64, &str)>)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("Benchmark")?;
    let _iterations: u64 = words.next()?.parse().ok()?;
    let rest: Vec<&str> = words.collect();
    let pairs = rest.chunks_exact(2);
    let pairs: Option<Vec<(f64, &str)>> = pairs
        .map(|pair| Some((pair[0].parse().ok()?, pair[1])))
        .collect();
    Some((name, pairs.filter(|pairs| !pairs.is_empty())?))
}

#[cfg(test)]
mod tests {
    use super::super::read;

    const TEXT: &str = "goos: linux\npkg: example.org/sum\n\
        BenchmarkSum-8     \t 1000000\t      1052 ns/op\t  16 B/op\t  1 allocs/op\n\
        BenchmarkSum-8     \t 1000000\t      1060.5 ns/op\t  16 B/op\t  1 allocs/op\n\
        BenchmarkRead/4k-8 \t  200000\t      6000 ns/op\t 682.67 MB/s\nPASS\n";

    #[test]
    fn each_line_is_a_value_of_its_benchmark() {
        let export = read(TEXT, Some("old"), None).unwrap();
        let found: Vec<_> = export
            .values
            .iter()
            .map(|one| (&*one.subject, one.value))
            .collect();
        let expected = [("Sum-8", 1052.0), ("Sum-8", 1060.5), ("Read/4k-8", 6000.0)];
        assert_eq!(found, expected);
        assert_eq!(export.lower_is_better, Some(true));
        let export = read(TEXT, Some("old"), Some("MB/s")).unwrap();
        assert_eq!(export.values.len(), 1);
        assert_eq!(export.lower_is_better, Some(false));
        let error = read(TEXT, Some("old"), Some("s")).unwrap_err().to_string();
        assert!(error.contains("no benchmark has a value in s"), "{error}");
        let error = read(TEXT, None, None).unwrap_err().to_string();
        assert!(error.contains("which side"), "{error}");
    }
}
