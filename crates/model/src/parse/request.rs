//! Requests and expectations, which suites and checks share.

use super::raw_request::{BodyValue, HeadersTable};
use super::source::{KeyPath, Reading};
use crate::request::Body;
use crate::request::check::Expect;
use crate::text::json_path::JsonPath;

/// Longest body that a repeated text may make: the load generator holds it in memory once per
/// request.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Checks headers of a request.
pub(super) fn headers(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    headers: &HeadersTable,
) -> Vec<(String, String)> {
    for (name, value) in headers.pairs() {
        let place = place.key(name);
        if !is_token(name) {
            reading.complain(&place, &format!("{name:?} is not a header name"), None);
        } else if name.eq_ignore_ascii_case("content-length") {
            let message = format!("`{place}`: this header is made by bakeoff itself");
            reading.complain(&place, &message, Some("leave it out".to_owned()));
        }
        if value.chars().any(char::is_control) {
            let message = format!("`{place}`: a header value cannot have control characters");
            reading.complain(&place, &message, None);
        }
    }
    let pairs = headers.pairs();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The token of RFC 9110, section 5.6.2.
fn is_token(name: &str) -> bool {
    let in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(in_token)
}

/// The body of a request whose tables is at `place`.
pub(super) fn body(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    body: &BodyValue,
    repeat: u32,
) -> Body {
    let repeat = repeat as usize;
    let bytes = body.bytes().unwrap_or_else(|| {
        let message = format!("`{place}`: the body is not base64");
        reading.complain(&place.key("body").key("base64"), &message, None);
        Vec::new()
    });
    if bytes.is_empty() && repeat > 1 {
        let message = format!("`{place}`: `body-repeat` without `body`");
        reading.complain(&place.key("body-repeat"), &message, None);
    }
    if bytes.len().saturating_mul(repeat) > BODY_BYTES_MAX {
        let message = format!(
            "`{place}`: the body is longer than {} MiB",
            BODY_BYTES_MAX >> 20
        );
        reading.complain(&place.key("body-repeat"), &message, None);
        return Body::default();
    }
    bytes.repeat(repeat).into()
}

/// Checks an expectation and makes its header names lower-case.
pub(super) fn expect(reading: &mut Reading<'_>, place: &KeyPath, mut expect: Expect) -> Expect {
    for (index, alternative) in expect.any_of.iter_mut().enumerate() {
        let place = place.key("any-of").index(index);
        *alternative = self::expect(reading, &place, std::mem::take(alternative));
    }
    for (index, status) in expect.status.iter().enumerate() {
        if !(100..=599).contains(status) {
            let place = place.key("status").index(index);
            let hint = "statuses are 100 to 599".to_owned();
            reading.complain(
                &place,
                &format!("`{place}`: no such status: {status}"),
                Some(hint),
            );
        }
    }
    for name in expect.headers.keys().filter(|name| !is_token(name)) {
        let place = place.key("headers").key(name);
        reading.complain(&place, &format!("{name:?} is not a header name"), None);
    }
    for path in expect.keys.keys() {
        json_path(reading, &place.key("keys").key(path), path, 0);
    }
    for (index, path) in expect.has.iter().enumerate() {
        json_path(reading, &place.key("has").index(index), path, 0);
    }
    for path in expect.values.keys() {
        json_path(reading, &place.key("values").key(path), path, 0);
    }
    for path in expect.begins.keys() {
        json_path(reading, &place.key("begins").key(path), path, 0);
    }
    for path in expect.lists.keys() {
        json_path(reading, &place.key("lists").key(path), path, 1);
    }
    let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
    Expect {
        headers: expect.headers.into_iter().map(lower).collect(),
        ..expect
    }
}

pub(super) fn json_path(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    path: &str,
    stars_wanted: usize,
) {
    match path.parse::<JsonPath>() {
        Err(problem) => {
            let hint = "paths are like $.cities[0].name and $[\"any key\"]".to_owned();
            reading.complain(place, problem.message(), Some(hint));
        }
        Ok(parsed) if parsed.stars() != stars_wanted => {
            let (rule, hint) = if stars_wanted == 0 {
                (
                    "has `[*]`, which is for `lists`",
                    "name one item, as in `[0]`",
                )
            } else {
                (
                    "must have exactly one `[*]`",
                    "write it where the items are: $.cities[*].name",
                )
            };
            let message = format!("the JSON path {path:?} {rule}");
            reading.complain(place, &message, Some(hint.to_owned()));
        }
        Ok(_) => {}
    }
}
