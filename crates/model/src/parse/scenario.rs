//! Scenarios as people write them, and what a schema cannot say about them: variables that must
//! exist, feeds of one kind or another, pauses.

use std::collections::BTreeMap;

use super::raw_scenario::{ExtractTable, FeedKind, FeedTable, ScenarioTable};
use super::request;
use super::source::{KeyPath, Reading};
use crate::load::RequestSpec;
use crate::request::scenario::{
    Extract, Feed, Pause, Piece, RowOrder, Scenario, is_variable, pieces,
};
use crate::text::names;
use crate::text::units::DurationText;

/// How to write a variable's name, for hints.
const VARIABLE_HINT: &str = "a letter, then letters, digits, `-` and `_`";

/// The scenario whose table is at `place`.
pub(super) fn scenario(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: ScenarioTable,
) -> Scenario {
    let all = place.key("feed");
    let mut feeds: Vec<Feed> = Vec::new();
    for (index, table) in table.feed.into_iter().enumerate() {
        let place = all.index(index);
        let Some(feed) = feed(reading, &place, table) else {
            continue;
        };
        for name in feed.variables() {
            let known = feeds.iter().flat_map(Feed::variables);
            if known.filter(|known| *known == name).count() > 0 {
                let message = format!("the variable `{name}` has two feeds");
                reading.complain(&place, &message, None);
            }
            check_name(reading, &place, name);
        }
        feeds.push(feed);
    }
    Scenario {
        feeds,
        cookies: table.cookies,
        after_failure: table.after_failure,
        connect: table.connect,
    }
}

fn check_name(reading: &mut Reading<'_>, place: &KeyPath, name: &str) {
    if !is_variable(name) {
        let message = format!("{name:?} cannot be the name of a variable");
        reading.complain(place, &message, Some(VARIABLE_HINT.to_owned()));
    }
}

/// `None` when it is unusable, which has been complained about.
fn feed(reading: &mut Reading<'_>, place: &KeyPath, table: FeedTable) -> Option<Feed> {
    let (name, wanted): (_, &[&str]) = match table.kind {
        FeedKind::Csv => ("csv", &["variables", "file", "order"]),
        FeedKind::Sequence => ("sequence", &["variable", "from", "to"]),
        FeedKind::Random => ("random", &["variable", "from", "to"]),
        FeedKind::Unique => ("unique", &["variable"]),
    };
    let given = [
        ("variable", table.variable.is_some()),
        ("variables", !table.variables.is_empty()),
        ("file", table.file.is_some()),
        ("order", table.order.is_some()),
        ("from", table.from.is_some()),
        ("to", table.to.is_some()),
    ];
    let needed: &[&str] = match table.kind {
        FeedKind::Csv => &["variables", "file"],
        FeedKind::Random => &["variable", "from", "to"],
        FeedKind::Sequence | FeedKind::Unique => &["variable"],
    };
    let mut usable = true;
    for (key, is_given) in given {
        let message = match is_given {
            true if !wanted.contains(&key) => format!("`{place}`: a `{name}` feed has no `{key}`"),
            false if needed.contains(&key) => format!("`{place}`: a `{name}` feed needs `{key}`"),
            _ => continue,
        };
        usable &= is_given;
        let hint = format!("keys of a `{name}` feed: kind, {}", wanted.join(", "));
        reading.complain(&place.key(key), &message, Some(hint));
    }
    if !usable {
        return None;
    }
    let from = table.from.unwrap_or(1);
    if table.to.is_some_and(|to| to < from) {
        let message = format!("`{place}`: `to` is before `from`");
        reading.complain(&place.key("to"), &message, None);
    }
    let variable = table.variable.unwrap_or_default();
    Some(match table.kind {
        FeedKind::Csv => csv(reading, place, table.variables, table.file, table.order),
        FeedKind::Sequence => Feed::Sequence {
            variable,
            from,
            to: table.to,
        },
        FeedKind::Random => Feed::Random {
            variable,
            from,
            to: table.to.unwrap_or(from),
        },
        FeedKind::Unique => Feed::Unique { variable },
    })
}

/// The rows are read with the files.
fn csv(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    variables: Vec<String>,
    file: Option<String>,
    order: Option<RowOrder>,
) -> Feed {
    let file = file.unwrap_or_default();
    reading.check_inside(&place.key("file"), &file, "suite");
    Feed::Csv {
        file,
        variables,
        rows: Vec::new(),
        order: order.unwrap_or_default(),
    }
}

/// The pause of a request whose table is at `place`.
pub(super) fn pause(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    at_least: Option<DurationText>,
    up_to: Option<DurationText>,
) -> Option<Pause> {
    let ns = |text: DurationText| u64::try_from(text.0.as_nanos()).unwrap_or(u64::MAX);
    let min_ns = at_least.map_or(0, ns);
    let max_ns = up_to.map_or(min_ns, ns);
    if max_ns < min_ns {
        let message = format!("`{place}`: `pause-up-to` is shorter than `pause`");
        reading.complain(&place.key("pause-up-to"), &message, None);
    }
    (max_ns > 0).then_some(Pause { min_ns, max_ns })
}

/// The extractions of a request whose table is at `place`.
pub(super) fn extracts(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    tables: BTreeMap<String, ExtractTable>,
) -> BTreeMap<String, Extract> {
    let all = place.key("extract");
    let mut extracts = BTreeMap::new();
    for (name, table) in tables {
        let place = all.key(&name);
        check_name(reading, &place, &name);
        let extract = match (table.json, table.header, table.regex) {
            (Some(path), None, None) => {
                request::json_path(reading, &place.key("json"), &path, 0);
                Extract::Json(path)
            }
            (None, Some(header), None) => Extract::Header(header),
            (None, None, Some(pattern)) => Extract::Regex(pattern),
            _ => {
                if reading.is_whole(&place) {
                    let message = format!("`{place}`: must have one key");
                    let hint = "one of: json, header, regex".to_owned();
                    reading.complain(&place, &message, Some(hint));
                }
                continue;
            }
        };
        extracts.insert(name, extract);
    }
    extracts
}

/// Complains about what only a scenario can have.
pub(super) fn check_without(reading: &mut Reading<'_>, place: &KeyPath, request: &RequestSpec) {
    let keys = [
        ("pause", request.pause.is_some()),
        ("extract", !request.extract.is_empty()),
    ];
    for (key, _) in keys.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("`{place}`: `{key}` is for scenarios");
        let hint = "give the benchmark a table `[benchmark.scenario]`".to_owned();
        reading.complain(&place.key(key), &message, Some(hint));
    }
}

/// Complains about variables that have no value when they are used, and about weights. `place` is
/// the list of requests.
pub(super) fn check_requests(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    scenario: &Scenario,
    requests: &[RequestSpec],
) {
    let mut known: Vec<&str> = scenario
        .feeds
        .iter()
        .flat_map(Feed::variables)
        .map(String::as_str)
        .collect();
    for (index, request) in requests.iter().enumerate() {
        let place = place.index(index);
        if request.weight != 1 {
            let message = format!("`{place}`: a request of a scenario has no `weight`");
            let hint = "its users send all requests in order".to_owned();
            reading.complain(&place.key("weight"), &message, Some(hint));
        }
        let headers = request.headers.iter();
        let headers = headers.map(|(name, value)| (place.key("headers").key(name), value.as_str()));
        let texts = [
            (place.key("path"), request.path.as_str()),
            (
                place.key("body"),
                request.body.as_text().unwrap_or_default(),
            ),
        ];
        for (place, text) in texts.into_iter().chain(headers) {
            check_text(reading, &place, text, &known);
        }
        known.extend(request.extract.keys().map(String::as_str));
    }
}

fn check_text(reading: &mut Reading<'_>, place: &KeyPath, text: &str, known: &[&str]) {
    let pieces = match pieces(text) {
        Ok(pieces) => pieces,
        Err(message) => {
            reading.complain(place, &format!("`{place}`: {message}"), None);
            return;
        }
    };
    for piece in pieces {
        let Piece::Variable(name) = piece else {
            continue;
        };
        if !known.contains(&name.as_str()) {
            let message = format!("`{place}`: the variable `{name}` has no value here");
            let hint = names::suggestion(&name, known);
            reading.complain(place, &message, Some(hint));
        }
    }
}
