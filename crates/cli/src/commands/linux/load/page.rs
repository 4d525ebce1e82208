//! The page that `bakeoff load` prints on a terminal: one step within 80 columns.

use std::fmt::Write as _;

use bakeoff_base::number::{as_f64, significant};
use bakeoff_base::text::printable_lines;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{ErrorClass, ErrorCount, FleetReceipt, PartReceipt};
use bakeoff_model::validity::FairnessVerdict;

use super::summary::{Summary, measured_quantile_ns};
use crate::output::text::wrapped;

/// Rows of the histogram.
const ROWS: i32 = 12;
/// Longest bar, characters.
const BAR_MAX: usize = 40;
/// Longest line of the page.
const COLUMNS: usize = 80;

/// The page.
pub(crate) fn page(summary: &Summary) -> String {
    let mut text = String::new();
    let (connections, totals) = (summary.connections, &summary.totals);
    line(&mut text, "target", &summary.target);
    let plural = if summary.threads == 1 { "" } else { "s" };
    line(
        &mut text,
        "engine",
        &format!("{} on {} thread{plural}", summary.reactor, summary.threads),
    );
    line(
        &mut text,
        "connections",
        &format!(
            "{} of {} established, {} reconnects",
            connections.established, connections.asked, connections.reconnects
        ),
    );
    let (asked, allowed) = summary.streams;
    if allowed > 0 {
        let value = format!("{allowed} on each connection, {asked} requested");
        line(&mut text, "streams", &value);
    }
    requests(&mut text, summary);
    if let Some(offered) = summary.offered {
        let rate = significant(as_f64(offered) / totals.open_s().max(1e-9));
        line(
            &mut text,
            "offered",
            &format!("{offered}, {rate} per second"),
        );
    }
    line(&mut text, "errors", &errors(summary));
    if let Some(hint) = tls_hint(summary) {
        line(&mut text, "", &format!("hint: {hint}"));
    }
    line(
        &mut text,
        "traffic",
        &format!(
            "{:.2} MiB sent, {:.2} MiB received",
            as_f64(summary.sent_bytes) / 1_048_576.0,
            as_f64(summary.received_bytes) / 1_048_576.0
        ),
    );
    text.push_str(&times(summary));
    text.push_str(&bars(summary.times.stated()));
    text.push_str(&parts(summary));
    line(&mut text, "generator", &generator(summary));
    if let Some(fleet) = &summary.fleet {
        line(&mut text, "generators", &generators(fleet));
    }
    line(&mut text, "verdict", &verdict(summary));
    for diagnostic in summary.validity().diagnostics() {
        line(&mut text, "note", &diagnostic);
    }
    // Messages quote what the service has sent.
    printable_lines(&text)
}

/// The requests that succeeded, and those of them that lead elsewhere.
fn requests(text: &mut String, summary: &Summary) {
    let totals = &summary.totals;
    line(
        text,
        "requests",
        &format!(
            "{} in {:.2} s, {} per second",
            good(summary),
            totals.open_s(),
            significant(totals.requests_per_s())
        ),
    );
    if summary.redirects > 0 {
        let value = format!(
            "{} of these responses are redirects (status 3xx), which are not followed",
            summary.redirects
        );
        line(text, "", &value);
    }
}

/// The number of requests that succeeded, of those that had a response if these are more.
fn good(summary: &Summary) -> String {
    let (good, answered) = (summary.totals.requests, summary.answered());
    match answered > good {
        true => format!("{good} good of {answered} with a response"),
        false => good.to_string(),
    }
}

/// A name and its value; what does not fit goes on below the value.
fn line(text: &mut String, name: &str, value: &str) {
    const INDENT: usize = 14;
    for (index, line) in wrapped(value, COLUMNS - INDENT).iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        let _ = writeln!(text, "{name:<INDENT$}{line}");
    }
}

/// Returns the options that help if TLS failed.
fn tls_hint(summary: &Summary) -> Option<&'static str> {
    let mut messages = summary.failures.get(&ErrorClass::Tls)?.messages.keys();
    messages.find_map(|message| bakeoff_tls::hint(message))
}

/// The failures by class, each with its messages: how many had which status.
pub(super) fn errors(summary: &Summary) -> String {
    let totals = &summary.totals;
    if totals.errors.is_empty() {
        return "none".to_owned();
    }
    let list: Vec<String> = totals
        .errors
        .iter()
        .map(|(class, count)| {
            let failures = summary.failures.get(class);
            let told = failures.map_or_else(String::new, |failures| messages(failures, *count));
            format!("{count} {}{told}", class.name())
        })
        .collect();
    format!(
        "{:.3} %: {}",
        totals.error_share().unwrap_or(0.0) * 100.0,
        list.join("; ")
    )
}

/// The messages of a class, the most frequent first; one that all have is without its number.
fn messages(failures: &ErrorCount, count: u64) -> String {
    let messages = failures.messages.iter();
    let mut messages: Vec<(&String, u64)> = messages.map(|(text, some)| (text, *some)).collect();
    messages.sort_by_key(|(_, some)| std::cmp::Reverse(*some));
    match messages.as_slice() {
        [] => String::new(),
        [(text, all)] if *all == count => format!(" ({text})"),
        several => {
            let several = several.iter().map(|(text, some)| format!("{some} {text}"));
            format!(" ({})", several.collect::<Vec<String>>().join(", "))
        }
    }
}

/// The quantiles of all times in milliseconds.
fn times(summary: &Summary) -> String {
    if summary.times.stated().count() + summary.censored.count() == 0 {
        return String::new();
    }
    let mut text =
        String::from("\nms                 p50      p90      p99    p99.9      max     mean\n");
    let mut row = |name: &str, times: Option<&Histogram>| {
        let Some(times) = times.filter(|times| times.count() > 0) else {
            return;
        };
        let quantile = |q: f64| milliseconds_or_dash(measured_quantile_ns(times, q));
        let _ = writeln!(
            text,
            "{name:<15}{:>7} {:>8} {:>8} {:>8} {:>8} {:>8}",
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            quantile(0.999),
            milliseconds_or_dash(times.max_ns()),
            milliseconds(times.mean_ns().unwrap_or(0.0)),
        );
    };
    row("response time", summary.times.response.as_ref());
    row("service time", Some(&summary.times.service));
    row("first byte", summary.times.first_byte.as_ref());
    row("send lag", summary.send_lag.as_ref());
    row("unanswered ages", Some(&summary.censored));
    text
}

fn milliseconds_or_dash(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| milliseconds(as_f64(ns)))
}

/// Milliseconds; no more digits than the clock gives.
fn milliseconds(ns: f64) -> String {
    match ns < 1e3 {
        true => "<0.001".to_owned(),
        false => significant(ns / 1e6),
    }
}

/// How the times are spread, from the shortest to the longest by equal factors; nothing when they
/// are all in one row.
fn bars(times: &Histogram) -> String {
    let (Some(min), Some(max)) = (times.min_ns(), times.max_ns()) else {
        return "\n".to_owned();
    };
    let (min, max) = (as_f64(min.max(1)), as_f64(max.max(1)));
    let factor = (max / min).powf(1.0 / f64::from(ROWS));
    let edge = |row: i32| min * factor.powi(row);
    let mut counts = Vec::new();
    let mut below = 0;
    for row in 1..=ROWS {
        let up_to = if row == ROWS {
            times.count()
        } else {
            times.count_between(1, whole(edge(row)))
        };
        counts.push(up_to.saturating_sub(below));
        below = up_to.max(below);
    }
    if counts.iter().filter(|count| **count > 0).count() < 2 {
        return "\n".to_owned();
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut text = String::from("\n");
    for (row, count) in (1..=ROWS).zip(&counts) {
        let width = (*count * BAR_MAX as u64).div_ceil(most);
        let bar = "#".repeat(usize::try_from(width).unwrap_or(BAR_MAX));
        let _ = writeln!(
            text,
            "  <= {:>8} ms |{bar:<BAR_MAX$}| {count:>10}",
            milliseconds(edge(row))
        );
    }
    text.push('\n');
    text
}

fn whole(ns: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times lie between 1 ns and 60 s"
    )]
    let ns = ns as u64;
    ns.max(1)
}

/// The requests one by one, when there are several.
fn parts(summary: &Summary) -> String {
    if summary.by_request.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "{:<32}{:>9} {:>7} {:>9} {:>9} {:>9}\n",
        "request", "good", "failed", "p50 ms", "p95 ms", "p99 ms"
    );
    for part in &summary.by_request {
        let name: String = part.name.chars().take(31).collect();
        let ms = |share| milliseconds_or_dash(measured_quantile_ns(&part.times, share));
        let _ = writeln!(
            text,
            "{name:<32}{:>9} {:>7} {:>9} {:>9} {:>9}",
            part.requests,
            part.failures,
            ms(0.5),
            ms(0.95),
            ms(0.99)
        );
    }
    text + "\n"
}

/// The CPU time of the load generator, with its headroom by that time if it sent open load on time.
/// In closed load its turnaround decides, and idle threads do not make up for late requests.
fn generator(summary: &Summary) -> String {
    let busy = summary.generator_busy();
    let mut text = format!("{:.0} % of its threads' time", busy * 100.0);
    let Some(cpu_us) = summary.cpu_us_per_request() else {
        return text;
    };
    let _ = write!(text, ", {} us CPU per request", significant(cpu_us));
    let is_in_time = summary.validity().verdict() < FairnessVerdict::HostBound;
    if busy > 0.0 && summary.offered.is_some() && is_in_time {
        let _ = write!(text, ", headroom for {:.1} times the rate", 1.0 / busy);
    }
    if let Some(us) = summary.turnaround_us() {
        let _ = write!(text, ", next request {us:.0} us after a response");
    }
    text
}

/// Returns the receipts of several load generators, and how far apart they started.
fn generators(fleet: &FleetReceipt) -> String {
    let requests = |part: &PartReceipt| part.requests;
    let (least, most) = (
        fleet.parts.iter().map(requests).min().unwrap_or(0),
        fleet.parts.iter().map(requests).max().unwrap_or(0),
    );
    let mut text = format!(
        "{} processes, {least} to {most} requests each",
        fleet.parts.len()
    );
    if let Some(skew_ns) = fleet.start_skew_ns {
        let skew = milliseconds(as_f64(skew_ns));
        let _ = write!(text, ", start skew {skew} ms");
    }
    let lost = fleet.parts.iter().filter_map(|part| {
        let why = part.lost.as_ref()?;
        Some(format!("; {} lost: {why}", part.name))
    });
    text.extend(lost);
    text
}

fn verdict(summary: &Summary) -> String {
    match summary.validity() {
        validity if validity.is_fair() => "fair: no validity warnings".to_owned(),
        validity => validity.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::{ErrorClass, LoadSpec};

    use super::{COLUMNS, page};
    use crate::commands::linux::load::summary::Summary;

    fn page_of_times(times_ms: &[u64]) -> String {
        let mut summary = Summary::new(&LoadSpec::default());
        for ms in times_ms {
            summary.times.service.record(ms * 1_000_000);
        }
        page(&summary)
    }

    fn page_of_error(class: ErrorClass, example: &str) -> String {
        let mut summary = Summary::new(&LoadSpec::default());
        summary.totals.errors.insert(class, 1);
        let failures = summary.failures.entry(class).or_default();
        failures.add_message(example, 1);
        page(&summary)
    }

    #[test]
    fn responses_that_are_wrong_are_counted() {
        let text = page_of_error(ErrorClass::UnexpectedStatus, "status 404 for GET /nope");
        assert!(
            text.contains("requests      0 good of 1 with a response in"),
            "{text}"
        );
        let text = page_of_error(ErrorClass::Reset, "reset by the service");
        assert!(text.contains("requests      0 in"), "{text}");
    }

    #[test]
    fn failures_are_counted_by_status() {
        let mut summary = Summary::new(&LoadSpec::default());
        let class = ErrorClass::UnexpectedStatus;
        let failures = summary.failures.entry(class).or_default();
        failures.add_message("status 404 for GET /b", 3);
        failures.add_message("status 503 for GET /a", 20);
        summary.totals.errors.insert(class, 23);
        let text = page(&summary).replace("\n              ", " ");
        let told = "23 unexpected-status (20 status 503 for GET /a, 3 status 404 for GET /b)";
        assert!(text.contains(told), "{text}");
    }

    #[test]
    fn headroom_is_of_open_load() {
        let mut summary = Summary::new(&LoadSpec::default());
        summary.totals.requests = 10;
        summary.totals.open_ns = 1_000_000_000;
        summary.totals.generator_cpu.user_ns = 100_000_000;
        summary.turnaround_ns = Some(1_000_000);
        let unwrapped = |summary: &Summary| page(summary).replace("\n              ", " ");
        let closed = unwrapped(&summary);
        assert!(!closed.contains("headroom"), "{closed}");
        assert!(
            closed.contains("next request 100 us after a response"),
            "{closed}"
        );
        summary.turnaround_ns = None;
        summary.offered = Some(10);
        let open = unwrapped(&summary);
        assert!(open.contains("headroom for 10.0 times the rate"), "{open}");
    }

    #[test]
    fn times_in_one_row_have_no_histogram() {
        let check = |times_ms: &[u64], expect: bool| {
            let text = page_of_times(times_ms);
            assert_eq!(text.contains("<="), expect, "{text}");
            assert_eq!(text.contains("service time"), !times_ms.is_empty());
        };
        check(&[], false);
        check(&[7], false);
        check(&[7, 7, 7], false);
        check(&[7, 8], true);
        let text = page_of_times(&[7, 8]);
        assert!(text.contains("        -        -        -"), "{text}");
    }

    #[test]
    fn refused_certificates_have_a_hint() {
        let check = |class, example: &str, expect: bool| {
            let text = page_of_error(class, example);
            assert_eq!(text.contains("hint: --cert FILE"), expect, "{text}");
        };
        let required = "the service requires a client certificate";
        check(ErrorClass::Tls, required, true);
        check(ErrorClass::Tls, "received fatal alert", false);
        check(ErrorClass::WrongBody, required, false);
    }

    #[test]
    fn no_example_is_wider_than_the_page() {
        let long = "x".repeat(3 * COLUMNS);
        for example in [
            long.clone(),
            format!("a body: {long} and more"),
            "a\nb ".repeat(40),
        ] {
            let text = page_of_error(ErrorClass::WrongBody, &example);
            for line in text.lines() {
                assert!(line.chars().count() <= COLUMNS, "{line}");
            }
            let xs = |text: &str| text.matches('x').count();
            assert!(xs(&text) >= xs(&example), "{text}");
        }
    }
}
