//! Head against base: for the terminal, and as Markdown for a pull request.

pub(crate) mod junit;
pub(crate) mod services;

use std::fmt::Write as _;

use bakeoff_model::plan::baseline::ConditionMetric;

use super::markdown::table::escape;
use super::terminal::wrap::wrap;
use super::turns;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::baseline::{
    AgainstBase, Change, Conclusion, HeadAndBase, JudgedCondition, Outcome,
};
use bakeoff_analysis::data::number::{change_text, counted, significant};

/// A metric with its unit.
pub(super) fn title(figure: ConditionMetric) -> &'static str {
    match figure {
        ConditionMetric::Slower => "requests/s",
        ConditionMetric::Cpu => "CPU/request µs",
        ConditionMetric::Memory => "memory MiB",
        ConditionMetric::P50 => "p50 ms",
        ConditionMetric::P99 => "p99 ms",
        ConditionMetric::Errors => "errors",
    }
}

/// The metrics of tables, in their order.
pub(super) const FIGURES: [ConditionMetric; 5] = [
    ConditionMetric::Slower,
    ConditionMetric::Cpu,
    ConditionMetric::P50,
    ConditionMetric::P99,
    ConditionMetric::Memory,
];

/// Returns the conclusion in one line: `failed: 1 of 3 conditions holds`.
pub(super) fn verdict(all: &AgainstBase) -> String {
    let count = |outcome: Outcome| {
        let judged = all.judged.iter();
        judged.filter(|one| one.outcome == outcome).count()
    };
    let (holds, undecided) = (count(Outcome::Holds), count(Outcome::Undecided));
    let conditions = all.judged.len();
    match all.conclusion() {
        Conclusion::HeadFailed => {
            let failed = all.cases.iter().filter(|case| case.failure.is_some());
            let failed: Vec<&str> = failed.map(|case| case.label.as_str()).collect();
            format!("failed: {} is wrong or was not measured", failed.join(", "))
        }
        Conclusion::ConditionHolds if conditions == 1 => "failed: the condition holds".to_owned(),
        Conclusion::ConditionHolds => format!("failed: {holds} of {conditions} conditions hold"),
        Conclusion::Undecided => {
            format!("failed: {undecided} of {conditions} conditions undecided (--undecided fail)")
        }
        Conclusion::Passed if all.cases.is_empty() => "nothing was compared".to_owned(),
        Conclusion::Passed if all.judged.is_empty() => {
            "compared; no condition was given (--fail-if)".to_owned()
        }
        Conclusion::Passed => match (conditions, undecided) {
            (1, 0) => "passed: the condition does not hold".to_owned(),
            (1, _) => "passed: the condition is undecided".to_owned(),
            (all, 0) => format!("passed: none of {all} conditions holds"),
            (all, some) => format!("passed: none of {all} conditions holds, {some} undecided"),
        },
    }
}

/// Sentences about a case that a reader has to see, each after its mark: failures, conditions that
/// hold or are undecided, and why nothing could be compared.
pub(super) fn remarks(all: &AgainstBase) -> Vec<(&'static str, String)> {
    let mut remarks = Vec::new();
    for (index, case) in all.cases.iter().enumerate() {
        let on = |sentence: &str| format!("{}: {sentence}", case.benchmark);
        if let Some(failure) = &case.failure {
            remarks.push(("FAILED", on(&format!("{}: {failure}", case.label))));
        } else if let Some(why) = &case.incomparable {
            remarks.push(("not compared", on(why)));
        }
        // What could not be compared is said once, not for each condition.
        let told = |judged: &&JudgedCondition| case.incomparable.is_none() || is_certain(judged);
        for judged in all.judged_of(index).filter(told) {
            let mark = match judged.outcome {
                Outcome::Holds => "FAILED",
                Outcome::Undecided => "undecided",
                Outcome::DoesNotHold => continue,
            };
            let condition = judged.condition;
            remarks.push((mark, on(&format!("{condition}: {}", judged.sentence))));
        }
    }
    remarks
}

fn is_certain(judged: &JudgedCondition) -> bool {
    judged.outcome != Outcome::Undecided
}

/// Head against base as text, at most `width` columns wide where words allow. Empty without a
/// baseline; ends with a line break.
#[must_use]
pub fn terminal_baseline(analysis: &Analysis<'_>, width: usize) -> String {
    let Some(all) = &analysis.against_base else {
        return String::new();
    };
    let mut text = String::new();
    let about = format!(
        "Against the baseline {}: base, head, and head over base with its 95 % interval",
        all.baseline.describe()
    );
    wrap(&mut text, "", &about, width);
    for case in &all.cases {
        let _ = writeln!(text, "{}: {}", case.benchmark, case.label);
        for change in in_order(case) {
            let (base, head) = (significant(change.base), significant(change.head.point));
            let percent = change_text(change.ratio.point);
            let range = range(change);
            let _ = writeln!(
                text,
                "  {:<15} {base:>8} → {head:<8} {percent:>7} %  {range}",
                title(change.figure)
            );
        }
    }
    for (mark, sentence) in remarks(all) {
        wrap(&mut text, &format!("{mark}: "), &sentence, width);
    }
    wrap(&mut text, "", &verdict(all), width);
    text
}

fn in_order(case: &HeadAndBase) -> impl Iterator<Item = &Change> {
    FIGURES.iter().filter_map(|figure| case.change(*figure))
}

/// `(−10.0 to −8.2)`; why there is none.
pub(super) fn range(change: &Change) -> String {
    match change.ratio.interval {
        Some(interval) => {
            let (low, high) = (change_text(interval.low), change_text(interval.high));
            format!("({low} to {high})")
        }
        None => "(no interval)".to_owned(),
    }
}

/// Head against base as Markdown, short: a table, what fails, and what to know. Empty without a
/// baseline. Changed lines become links if `sources` is the address of the head's sources, to which
/// paths are appended.
#[must_use]
pub fn summary_for_pull_request(analysis: &Analysis<'_>, sources: Option<&str>) -> String {
    let Some(all) = &analysis.against_base else {
        return String::new();
    };
    let (words, verdict) = (escape(&all.baseline.describe()), escape(&verdict(all)));
    let mut text = format!("### Performance against {words}\n\n**{verdict}**\n");
    if all.cases.iter().any(|case| !case.changes.is_empty()) {
        push_table(&mut text, all);
    }
    let remarks = remarks(all);
    if !remarks.is_empty() {
        text.push('\n');
    }
    for (mark, sentence) in remarks {
        let _ = writeln!(text, "- **{mark}**: {}.", escape(&sentence));
    }
    let tables = analysis.loads.iter().flat_map(|load| &load.summary.tables);
    let reasons = tables.flat_map(|table| &table.reasons);
    let reasons = reasons.filter(|reasons| reasons.is_against_base);
    for one in reasons {
        let Some(sentence) = one.sentence() else {
            continue;
        };
        let sampled = one.sampled.as_ref();
        let changes = sampled.and_then(|pair| pair.changes.as_ref());
        let changes = changes.iter().flat_map(|changes| &changes.significant);
        let sentence = match sources {
            Some(sources) => {
                let names = changes.map(|change| change.name.as_str());
                with_links(escape(&sentence), names, sources)
            }
            None => escape(&sentence),
        };
        let _ = writeln!(text, "\n{sentence}");
    }
    text.push_str("\n<details><summary>How this was measured</summary>\n\n");
    for sentence in method(analysis, all) {
        let _ = writeln!(text, "- {}", escape(&sentence));
    }
    text.push_str("\n</details>\n");
    text
}

/// Makes links of changed lines that a sentence names, such as `src/price.rs:41-48 (total)`.
fn with_links<'p>(
    sentence: String,
    changes: impl Iterator<Item = &'p str>,
    sources: &str,
) -> String {
    changes.fold(sentence, |sentence, change| {
        let place = change.split(" (").next().unwrap_or(change);
        let Some((file, lines)) = place.rsplit_once(':') else {
            return sentence;
        };
        let lines = lines.split(", ").next().unwrap_or(lines).replace('-', "-L");
        let link = format!("[{}](<{sources}/{file}#L{lines}>)", escape(place));
        sentence.replacen(&escape(place), &link, 1)
    })
}

fn push_table(text: &mut String, all: &AgainstBase) {
    let titles = FIGURES.map(title).join(" | ");
    let _ = write!(
        text,
        "\n| benchmark | contender | {titles} |\n|---|---|{}\n",
        "--:|".repeat(FIGURES.len())
    );
    for case in &all.cases {
        let cells = FIGURES.map(|figure| case.change(figure).map_or("–".to_owned(), cell));
        let (benchmark, label) = (escape(&case.benchmark), escape(&case.label));
        let _ = writeln!(text, "| {benchmark} | {label} | {} |", cells.join(" | "));
    }
    text.push_str("\nBase → head, then head over base in percent with its 95 % interval.\n");
}

fn cell(change: &Change) -> String {
    let (base, head) = (significant(change.base), significant(change.head.point));
    let percent = change_text(change.ratio.point);
    format!("{base} → {head}<br>**{percent} %** {}", range(change))
}

/// Returns notes on the numbers, sentences.
fn method(analysis: &Analysis<'_>, all: &AgainstBase) -> Vec<String> {
    let mut sentences = vec![
        "Base and head of each contender were built and measured in turn in this session, on the \
         same host within seconds; nothing is compared with numbers of another session."
            .to_owned(),
        "A condition holds only where the whole interval is beyond it, all conditions of the \
         session considered together."
            .to_owned(),
    ];
    sentences.extend(analysis.runs_decision());
    if let Some(run) = analysis.results.runs.first() {
        let host = &run.begin.host;
        sentences.push(format!(
            "Host: {}, {}.",
            host.cpu_model,
            counted(host.cores, "core")
        ));
    }
    for load in &analysis.loads {
        let summary = &load.summary;
        sentences.push(format!("{}: {}.", summary.name, summary.conditions));
        let sets = summary.sets.iter();
        sentences.extend(sets.flat_map(turns::sentences));
    }
    for case in &all.cases {
        let caveats = case.caveats.iter();
        sentences.extend(caveats.map(|caveat| format!("{}: {caveat}.", case.benchmark)));
    }
    let left_out = all.left_out.iter();
    sentences.extend(left_out.map(|line| format!("Left out: {line}.")));
    sentences
}

#[cfg(test)]
mod tests {
    use super::with_links;

    #[test]
    fn changed_lines_are_links() {
        let said = "takes 1.3 µs more in src/a\\_b.rs:41-48, 60 (total) (95 %: 0.9–1.7) and 1 µs";
        let linked = with_links(
            said.to_owned(),
            ["src/a_b.rs:41-48, 60 (total)", "c.rs:7 (sum)"].into_iter(),
            "https://example.org/shop/blob/1a2b",
        );
        let link =
            "[src/a\\_b.rs:41-48, 60](<https://example.org/shop/blob/1a2b/src/a_b.rs#L41-L48>)";
        assert_eq!(linked, said.replace("src/a\\_b.rs:41-48, 60", link));
    }
}
