//! The agreement of the sides' responses, and the messages if they differ. Pure.

use bakeoff_base::hint::hinted;
use bakeoff_base::text::counted;
use bakeoff_model::request::check::{Expect, ReceivedResponse};
use bakeoff_model::request::grpc;
use bakeoff_model::text::json_path::JsonPath;
use serde_json::Value;

use crate::duel::definition::Duel;
use crate::service::DuelRequest;

/// The longest body that a suite file quotes, bytes; of a longer one only the length is expected.
const QUOTED_MAX: usize = 16 << 10;
/// How much of a body a message shows, characters.
const SHOWN_MAX: usize = 60;
/// How much of a body stands before the first difference.
const BEFORE_DIFFERENCE: usize = 20;
/// The first status that is not a success.
const FAILURE: u16 = 400;

/// The responses of one side to a request, which it got twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) name: String,
    pub(super) first: ReceivedResponse,
    pub(super) second: ReceivedResponse,
}

/// The response that every side is expected to give from now on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Agreed {
    /// The expectation of the suite.
    pub(super) expect: Expect,
    /// The expectation as a sentence for the user.
    pub(super) words: String,
}

/// Finds the common response of the sides to each request; `answers` are the responses of all
/// sides, by request.
pub(super) fn find(duel: &Duel, answers: &[Vec<Answers>]) -> anyhow::Result<Vec<Agreed>> {
    let both = duel.requests.iter().zip(answers);
    both.map(|(request, answers)| of_request(duel, request, answers))
        .collect()
}

/// Returns the result for all requests, as a sentence.
pub(super) fn sentence(duel: &Duel, agreed: &[Agreed]) -> String {
    match agreed {
        [only] => only.words.clone(),
        all => {
            let both = duel.requests.iter().zip(all);
            let each = both.map(|(request, agreed)| format!("{}: {}", request.name, agreed.words));
            each.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Status and body, or if the user allows it only the statuses.
fn of_request(duel: &Duel, request: &DuelRequest, answers: &[Answers]) -> anyhow::Result<Agreed> {
    let request = &request.name;
    if let Some(one) = answers.iter().find(|one| is_failure(&one.first)) {
        let status = status(&one.first);
        return Err(hinted(
            format_args!(
                "{} responds to {request} with {}",
                one.name,
                shown(&one.first)
            ),
            format_args!("are path and body right? Requests with status {status} are not measured"),
        ));
    }
    let ignored = &duel.ignored;
    let difference = difference(request, answers, ignored);
    if let (Some(difference), false) = (&difference, duel.may_differ) {
        return Err(hinted(
            difference,
            "--differ measures them all the same, if that is meant; --ignore '$.key' leaves out \
             what varies in JSON",
        ));
    }
    let first = &answers[0].first;
    let status = || Expect {
        status: statuses(answers),
        ..Expect::default()
    };
    if difference.is_some() {
        let each = answers.iter();
        let each: Vec<String> = each
            .map(|one| format!("{} {}", one.name, summary(&one.first)))
            .collect();
        return Ok(Agreed {
            expect: status(),
            words: format!("the responses differ, as is allowed: {}", each.join("; ")),
        });
    }
    let is_equal = |answer: &ReceivedResponse| answer.body == first.body;
    let mut all = answers.iter();
    let are_equal = all.all(|one| is_equal(&one.first) && is_equal(&one.second));
    if !are_equal || has_ignored(&first.body, ignored) {
        let paths: Vec<String> = ignored.iter().map(ToString::to_string).collect();
        return Ok(Agreed {
            expect: Expect {
                json: true,
                ..status()
            },
            words: format!(
                "all responses are equal except for {}: {}",
                paths.join(", "),
                summary(first)
            ),
        });
    }
    Ok(Agreed {
        expect: match quotable(&first.body) {
            Some(text) => Expect {
                body: Some(text.to_owned()),
                ..status()
            },
            None => Expect {
                body_bytes: Some(first.body.len() as u64),
                ..status()
            },
        },
        words: format!("all responses are equal: {}", summary(first)),
    })
}

fn is_failure(answer: &ReceivedResponse) -> bool {
    answer.status >= FAILURE || answer.grpc_status.is_some_and(|status| status != grpc::OK)
}

fn statuses(answers: &[Answers]) -> Vec<u16> {
    let mut statuses: Vec<u16> = answers.iter().map(|one| one.first.status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn quotable(body: &[u8]) -> Option<&str> {
    let short = body.len() <= QUOTED_MAX;
    std::str::from_utf8(body).ok().filter(|_| short)
}

/// The first difference between two responses, as a message of several lines.
fn difference(request: &str, answers: &[Answers], ignored: &[JsonPath]) -> Option<String> {
    let same = |a: &ReceivedResponse, b: &ReceivedResponse| {
        let statuses = |answer: &ReceivedResponse| (answer.status, answer.grpc_status);
        statuses(a) == statuses(b) && (a.body == b.body || are_alike(&a.body, &b.body, ignored))
    };
    if let Some(one) = answers.iter().find(|one| !same(&one.first, &one.second)) {
        let name = &one.name;
        let lines = compared((name, &one.first), (name, &one.second));
        return Some(format!(
            "{name} responds to {request} differently each time{lines}"
        ));
    }
    let first = &answers[0];
    let other = answers.iter().find(|one| !same(&one.first, &first.first))?;
    let lines = compared((&first.name, &first.first), (&other.name, &other.first));
    let (one, two) = (&first.name, &other.name);
    Some(format!(
        "{one} and {two} respond to {request} differently{lines}"
    ))
}

/// Whether both are JSON and equal without what is ignored.
fn are_alike(one: &[u8], other: &[u8], ignored: &[JsonPath]) -> bool {
    let rest = |body: &[u8]| -> Option<Value> {
        let mut value = serde_json::from_slice(body).ok()?;
        ignored.iter().for_each(|path| path.remove(&mut value));
        Some(value)
    };
    !ignored.is_empty() && rest(one).is_some_and(|one| Some(one) == rest(other))
}

/// Whether something that is ignored is in a body: it may vary later even if it did not now.
fn has_ignored(body: &[u8], ignored: &[JsonPath]) -> bool {
    let Ok(whole) = serde_json::from_slice::<Value>(body) else {
        return false;
    };
    let mut rest = whole.clone();
    ignored.iter().for_each(|path| path.remove(&mut rest));
    rest != whole
}

/// Both responses below each other, each from shortly before the first difference on.
fn compared(one: (&str, &ReceivedResponse), other: (&str, &ReceivedResponse)) -> String {
    let pairs = one.1.body.iter().zip(&other.1.body);
    let at = pairs.take_while(|(a, b)| a == b).count();
    let width = one.0.chars().count().max(other.0.chars().count());
    let line = |(name, answer): (&str, &ReceivedResponse)| {
        let from = at.saturating_sub(BEFORE_DIFFERENCE);
        let rest = quoted(answer.body.get(from..).unwrap_or_default());
        let dots = if from > 0 { "…" } else { "" };
        format!("\n  {name:<width$}  {}: {dots}{rest}", summary(answer))
    };
    let place = match one.1.body == other.1.body {
        true => "in the status".to_owned(),
        false => format!("at byte {}", at + 1),
    };
    format!(", first {place}:{}{}", line(one), line(other))
}

/// The status of the response, or of the call that it is.
fn status(answer: &ReceivedResponse) -> String {
    match answer.grpc_status.filter(|_| answer.status < FAILURE) {
        Some(status) => grpc::status_text(status),
        None => answer.status.to_string(),
    }
}

/// `200, 13 bytes`.
fn summary(answer: &ReceivedResponse) -> String {
    let bytes = counted(answer.body.len() as u64, "byte");
    let target = answer.headers.iter();
    let target = target.filter(|_| answer.status / 100 == 3);
    let target = target.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
    let target: String = target
        .map(|(_, value)| format!(" (a redirect to {value}, which is not followed)"))
        .collect();
    format!("{}, {bytes}{target}", status(answer))
}

/// The status with the body, or with the message of a call that failed.
fn shown(answer: &ReceivedResponse) -> String {
    match grpc::message(&answer.headers) {
        Some(message) => format!("{}: {}", status(answer), quoted(message.as_bytes())),
        None => format!("{}: {}", summary(answer), quoted(&answer.body)),
    }
}

/// The start of a body in quotes, without control characters for a terminal.
fn quoted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let start: String = text.chars().take(SHOWN_MAX).collect();
    let dots = if start.len() < text.len() { "…" } else { "" };
    format!("{start:?}{dots}")
}
