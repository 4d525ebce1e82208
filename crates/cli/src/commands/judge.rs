//! `bakeoff judge`: the verdict on numbers that others measured.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_analysis::data::number::{counted, range, ratio_text, significant};
use bakeoff_base::hint::with_hints;
use bakeoff_model::text::bound::{self, BoundText, Sign};
use bakeoff_stats::{Better, BoundSide, Verdict};
use bakeoff_workflows::judge::{Judged, NamedText, Question};
use clap::Args;
use serde_json::{Value, json};

use crate::exit;
use crate::output::text;

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Files with the values, in the order of measuring: a table with the columns block, side and
    /// value (CSV or JSON lines), or exports of hyperfine, Go, criterion and k6. NAME=FILE names
    /// the side of an export that is about one. - is standard input.
    #[arg(required = true, value_name = "[NAME=]FILE")]
    pub(crate) files: Vec<String>,
    /// Side with which the others are compared [default: the first one].
    #[arg(long, value_name = "NAME")]
    pub(crate) base: Option<String>,
    /// Side that is the base once more: if the two differ, nothing has a verdict.
    #[arg(long, value_name = "NAME")]
    pub(crate) control: Option<String>,
    /// A lower value is the better one [default: as the tool's metric].
    #[arg(long, conflicts_with = "higher_is_better")]
    pub(crate) lower_is_better: bool,
    /// A higher value is the better one [default: as the tool's metric].
    #[arg(long)]
    pub(crate) higher_is_better: bool,
    /// Metric of an export with several: `B/op`, `http_req_duration.p(95)` [default: ns/op,
    /// http_req_duration.avg].
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// Smallest difference that matters, percent: closer ones are equivalent [default: 3].
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) relevant: Option<f64>,
    /// Fail if a side is significantly worse than the base by more than this: `worse>2%`.
    #[arg(long, value_name = "CONDITION", value_parser = worse)]
    pub(crate) fail_if: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = bound::number(text.trim_end_matches('%')).filter(|number| *number > 0.0);
    number.ok_or_else(|| "write a number above 0, such as 1".to_owned())
}

/// The bound of `worse>2%`, percent.
fn worse(text: &str) -> Result<f64, String> {
    let bound = BoundText::split(text);
    let bound = bound.filter(|bound| bound.name == "worse" && bound.sign == Sign::Above);
    let percent = bound.and_then(|bound| bound::number(bound.limit.strip_suffix('%')?));
    percent.ok_or_else(|| "write worse>2%".to_owned())
}

/// Runs the command.
pub(crate) fn judge(args: &JudgeArgs) -> anyhow::Result<u8> {
    let files = args.files.iter().map(|file| named_text(file));
    let files: Vec<NamedText> = files.collect::<anyhow::Result<_>>()?;
    let better = match (args.lower_is_better, args.higher_is_better) {
        (true, _) => Some(Better::Lower),
        (_, true) => Some(Better::Higher),
        _ => None,
    };
    let question = Question {
        base: args.base.clone(),
        control: args.control.clone(),
        better,
        metric: args.metric.clone(),
        relevant_percent: args.relevant,
        worse_percent: args.fail_if,
    };
    let judged = bakeoff_workflows::judge::judge(&files, &question).map_err(with_hints)?;
    let mut output = std::io::stdout().lock();
    if args.json {
        let all: Vec<Value> = judged.iter().map(as_json).collect();
        writeln!(output, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        write!(
            output,
            "{}",
            as_text(&judged, args.fail_if, text::columns())
        )?;
    }
    let fails = judged.iter().any(|one| one.fails == Some(BoundSide::Above));
    let decides = judged.iter().any(|one| one.no_verdict.is_empty());
    Ok(match (fails, decides) {
        (true, _) => exit::CONDITION,
        (false, true) => exit::DONE,
        (false, false) => exit::CHECK_FAILED,
    })
}

/// Reads `FILE`, or `NAME=FILE` if no file has this name.
fn named_text(argument: &str) -> anyhow::Result<NamedText> {
    let whole = PathBuf::from(argument);
    let (side, path) = match argument.split_once('=') {
        Some((name, file)) if !whole.exists() => (Some(name.to_owned()), PathBuf::from(file)),
        _ => (None, whole),
    };
    let file = path.display().to_string();
    let text = match &*file {
        "-" => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            text
        }
        _ => fs::read_to_string(&path).with_context(|| file.clone())?,
    };
    Ok(NamedText { file, side, text })
}

fn as_text(judged: &[Judged], fail_if: Option<f64>, columns: usize) -> String {
    let mut text = String::new();
    let mut push = |line: &str, indent: &str| {
        let lines = text::wrapped(line, columns - indent.len());
        for (number, line) in lines.iter().enumerate() {
            let more = if number == 0 { "" } else { "  " };
            text.push_str(&format!("{indent}{more}{line}\n"));
        }
    };
    for one in judged {
        push(&sentence(one), "");
        for why in &one.no_verdict {
            push(&format!("no verdict: {why}"), "  ");
        }
        for note in &one.notes {
            push(&format!("note: {note}"), "  ");
        }
        if let (Some(side), Some(percent)) = (one.fails, fail_if) {
            push(&outcome(one, side, percent), "  ");
        }
    }
    text
}

/// `Sum: new takes 0.953 times the ns/op of old (95 %: 0.941–0.965, 12 blocks): better`.
fn sentence(one: &Judged) -> String {
    let subject = match &*one.subject {
        "" => String::new(),
        subject => format!("{subject}: "),
    };
    let [own, base] = one.means.map(significant);
    let unit = match &*one.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let ratio = &one.comparison.ratio;
    let runs = counted(ratio.runs, one.repetition);
    let interval = match range(ratio) {
        range if range.is_empty() => format!("no interval, {runs}"),
        range => format!("95 %: {range}, {runs}"),
    };
    format!(
        "{subject}{} has {own}{unit}, {} {base}: {} times ({interval}): {}",
        one.side,
        one.base,
        ratio_text(ratio.point),
        verdict(one)
    )
}

fn verdict(one: &Judged) -> &'static str {
    match one.comparison.verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "undecided",
        Verdict::Void => "no verdict",
    }
}

fn outcome(one: &Judged, side: BoundSide, percent: f64) -> String {
    let (word, what) = match side {
        BoundSide::Above => ("FAILED", "is worse than"),
        BoundSide::Below => ("passed", "is not worse than"),
        BoundSide::Undecided => ("undecided", "may be worse than"),
    };
    format!(
        "{word}: {} {what} {} by more than {percent} %",
        one.side, one.base
    )
}

fn as_json(one: &Judged) -> Value {
    let ratio = &one.comparison.ratio;
    let interval = ratio.interval.map(|interval| [interval.low, interval.high]);
    let fails = one.fails.map(|side| match side {
        BoundSide::Above => "holds",
        BoundSide::Below => "does-not-hold",
        BoundSide::Undecided => "undecided",
    });
    json!({
        "benchmark": one.subject,
        "side": one.side,
        "base": one.base,
        "unit": one.unit,
        "lower_is_better": one.better == Better::Lower,
        "mean": one.means[0],
        "base_mean": one.means[1],
        "ratio": ratio.point,
        "interval": interval,
        "repetitions": ratio.runs,
        "repetition": one.repetition,
        "p_value": one.comparison.p_adjusted,
        "verdict": verdict(one).replace(' ', "-"),
        "no_verdict": one.no_verdict,
        "notes": one.notes,
        "fail_if": fails,
    })
}
