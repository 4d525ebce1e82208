//! The table in docs/method/validity.md is the rulebook.

use bakeoff_model::validity::FairnessVerdict;
use bakeoff_validity::{LimitSide, RULES, Rule};

const PAGE: &str = include_str!("../../../../docs/method/validity.md");

/// A rule as the page has it.
fn row(rule: &Rule) -> String {
    let side = match rule.side {
        LimitSide::Above => "above",
        LimitSide::Below => "below",
    };
    let limit = |limit: &bakeoff_validity::Limit| {
        let verdict = match limit.verdict {
            FairnessVerdict::Fair => "diagnostic",
            verdict => verdict.name(),
        };
        format!("{side} {}: {verdict}", limit.words)
    };
    let limits: Vec<String> = rule.limits.iter().map(limit).collect();
    format!(
        "| `{}` | {} | {} | {} |",
        rule.name,
        rule.condition,
        limits.join(", "),
        rule.source
    )
}

#[test]
fn the_page_has_every_rule_and_no_other() {
    let table: String = RULES.iter().map(|rule| row(rule) + "\n").collect();
    let head = "| finding | looked at | limits | because |\n|---|---|---|---|\n";
    let found = PAGE.split(head).nth(1).unwrap_or_default();
    let found = found.split("\n\n").next().unwrap_or_default().trim_end();
    assert!(
        found == table.trim_end(),
        "docs/method/validity.md should have\n{head}{table}"
    );
}

#[test]
fn limits_in_words_are_the_limits() {
    for rule in RULES {
        for limit in rule.limits {
            let at = match limit.words.strip_suffix(" %") {
                Some(percent) => percent.parse::<f64>().unwrap() / 100.0,
                None => limit.words.parse().unwrap(),
            };
            assert!((limit.at - at).abs() < 1e-12, "{}", rule.name);
        }
        let verdicts: Vec<FairnessVerdict> =
            rule.limits.iter().map(|limit| limit.verdict).collect();
        assert!(verdicts.is_sorted(), "{}", rule.name);
    }
}
