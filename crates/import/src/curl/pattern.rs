//! Patterns in the URLs of curl: `{a,b}` and `[1-3]` stand for several URLs. Pure.

/// A URL after curl has read its patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expanded {
    /// There is no pattern.
    Plain(String),
    /// The one URL that the patterns stand for.
    One(String),
    /// There are several URLs.
    Several,
    /// Curl reports a mistake in a pattern.
    Wrong,
}

/// Reads the patterns of a URL.
pub(super) fn expand(url: &str) -> Expanded {
    let mut text = String::new();
    let (mut rest, mut has_any, mut has_several) = (url, false, false);
    while let Some(at) = rest.find(['{', '}', '[', ']', '\\']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(host) = address(&text, from) {
            text.push_str(host);
            rest = &from[host.len()..];
            continue;
        }
        let (mark, after) = from.split_at(1);
        let found = match mark {
            "\\" => {
                let escaped = after.starts_with(['{', '}', '[', ']']);
                let kept = if escaped { &after[..1] } else { "\\" };
                text.push_str(kept);
                rest = &after[usize::from(escaped)..];
                has_any |= escaped;
                continue;
            }
            "[" if after.starts_with(']') => {
                text.push_str("[]");
                rest = &after[1..];
                continue;
            }
            "{" => after.split_once('}').map(|(set, rest)| (set_of(set), rest)),
            "[" => after
                .split_once(']')
                .map(|(range, rest)| (range_of(range), rest)),
            _ => None,
        };
        let Some((Some((first, several)), after)) = found else {
            return Expanded::Wrong;
        };
        (rest, has_any) = (after, true);
        has_several |= several;
        text.push_str(&first);
    }
    text.push_str(rest);
    match (has_any, has_several) {
        (_, true) => Expanded::Several,
        (true, _) => Expanded::One(text),
        _ => Expanded::Plain(text),
    }
}

/// Returns an address of IPv6 that is the host of the URL.
fn address<'a>(before: &str, from: &'a str) -> Option<&'a str> {
    let is_host = before.is_empty() || before.ends_with("//") || before.ends_with('@');
    let end = from.find(']')? + 1;
    let inside = &from[1..end - 1];
    let is_address = inside.contains(':')
        && inside
            .chars()
            .all(|c| c.is_ascii_hexdigit() || ":.%".contains(c));
    (is_host && from.starts_with('[') && is_address).then_some(&from[..end])
}

/// Returns the first text of a set, and whether there are several.
fn set_of(set: &str) -> Option<(String, bool)> {
    let is_wrong = set.contains(['{', '[', ']']) || set.split(',').any(str::is_empty);
    let first = set.split(',').next()?.to_owned();
    (!is_wrong).then(|| (first, set.contains(',')))
}

/// Returns the start of a range, and whether it has more.
fn range_of(range: &str) -> Option<(String, bool)> {
    let (from, to) = range.split_once('-')?;
    let to = to.split(':').next()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_letter = |text: &str| text.len() == 1 && text.bytes().all(|b| b.is_ascii_alphabetic());
    let is_range = is_number(from) && is_number(to) || is_letter(from) && is_letter(to);
    is_range.then(|| (from.to_owned(), from != to))
}

#[cfg(test)]
mod tests {
    use super::{Expanded, expand};

    #[test]
    fn patterns_are_read_like_in_curl() {
        let one = |text: &str| Expanded::One(text.to_owned());
        let plain = |text: &str| Expanded::Plain(text.to_owned());
        for (url, expect) in [
            ("h/a|b", plain("h/a|b")),
            ("h/a|b?q={1}", one("h/a|b?q=1")),
            ("h/\\{x\\}\\w", one("h/{x}\\w")),
            ("h/[2-2]", one("h/2")),
            ("h/p?a[]=1", plain("h/p?a[]=1")),
            ("http://[::1]:80/{x}", one("http://[::1]:80/x")),
            ("h/{a,b}", Expanded::Several),
            ("h/[1-3]", Expanded::Several),
            ("h/[a-c]", Expanded::Several),
            ("h/p?a[b]=1", Expanded::Wrong),
            ("h/{}", Expanded::Wrong),
            ("h/}", Expanded::Wrong),
            ("h/{a", Expanded::Wrong),
            ("h/{\"a\":{\"b\":1}}", Expanded::Wrong),
        ] {
            assert_eq!(expand(url), expect, "{url}");
        }
    }
}
