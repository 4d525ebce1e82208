//! The cluster's events about a Pod, in addition to its state.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::ListParams;

/// Returns how long a node pulled the image of a Pod, 0 if it had the image; `None` if the cluster
/// does not say so, or forbids the question.
pub(crate) async fn pull_ns(events: &Api<Event>, pod: &str) -> Option<u64> {
    let about = ListParams::default().fields(&format!("involvedObject.name={pod},reason=Pulled"));
    let found = events.list(&about).await.ok()?;
    found
        .items
        .iter()
        .find_map(|event| pulled(event.message.as_deref()?))
}

/// `Successfully pulled image "a" in 1.2s (1.5s including waiting)...`, or that it is there.
fn pulled(message: &str) -> Option<u64> {
    if message.contains("already present") {
        return Some(0);
    }
    let (_, after) = message.rsplit_once("\" in ")?;
    go_duration_ns(after.split_whitespace().next()?)
}

/// `1m2.5s`, `310ms`, as Go writes durations.
fn go_duration_ns(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 6] = [
        ("ns", 1.0),
        ("µs", 1e3),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
    ];
    let mut rest = text;
    let mut sum_ns = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(end);
        let (unit, factor) = UNITS
            .into_iter()
            .find(|(unit, _)| after.starts_with(unit))?;
        sum_ns += number.parse::<f64>().ok()? * factor;
        rest = &after[unit.len()..];
    }
    let sum = Duration::try_from_secs_f64(sum_ns / 1e9).ok()?;
    u64::try_from(sum.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::pulled;

    #[test]
    fn pulls_are_read() {
        let check = |message: &str, expect: Option<u64>| assert_eq!(pulled(message), expect);
        check("Container image \"a\" already present on machine", Some(0));
        let quick = "Successfully pulled image \"a\" in 310ms (320ms including waiting)";
        check(quick, Some(310_000_000));
        check(
            "Successfully pulled image \"a\" in 1m2.5s",
            Some(62_500_000_000),
        );
        check("Pulling image \"a\"", None);
    }
}
