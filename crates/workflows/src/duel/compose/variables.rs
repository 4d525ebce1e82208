//! Variables of compose files: in separate files, and in texts that name them.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;

/// Lines `NAME=VALUE`, quotes around the value taken off.
pub(super) fn variables_of(text: &str) -> BTreeMap<String, String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| {
        let (name, value) = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .split_once('=')?;
        let value = value.trim();
        let inner = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        Some((name.trim().to_owned(), inner.unwrap_or(value).to_owned()))
    });
    pairs.collect()
}

/// A text with what variables stand for: `$NAME`, `${NAME}`, with `:-`, `-`, `:+`, `+`, `:?` and
/// `?` as in a shell; `$$` is `$`.
pub(super) fn filled(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Problem> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (inner, after) = after.split_once('}').ok_or("a `${` has no `}`")?;
            out.push_str(&expanded(inner, variable)?);
            rest = after;
        } else {
            let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(
                    format!("`{text}` has a `$` without a name; `$$` is a plain one").into(),
                );
            }
            out.push_str(&variable(&rest[..end]).unwrap_or_default());
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Expands the text between `${` and `}`.
fn expanded(inner: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, Problem> {
    let end = inner.find(|c: char| !is_of_name(c)).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let (rest, empty_counts) = match rest.strip_prefix(':') {
        Some(rest) => (rest, false),
        None => (rest, true),
    };
    let value = variable(name).filter(|value| empty_counts || !value.is_empty());
    let mut rest = rest.chars();
    let kind = rest.next();
    let word = rest.as_str();
    match (kind, value) {
        (None, value) => Ok(value.unwrap_or_default()),
        (Some('-'), value) => Ok(value.unwrap_or_else(|| word.to_owned())),
        (Some('+'), Some(_)) => Ok(word.to_owned()),
        (Some('+'), None) => Ok(String::new()),
        (Some('?'), Some(value)) => Ok(value),
        (Some('?'), None) => Err(format!("{name} has no value: {word}").into()),
        (Some(_), _) => Err(format!("`${{{inner}}}` is not a variable").into()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::filled;
    use bakeoff_base::problem::Problem;

    /// The variables of tests of this folder.
    pub(crate) fn variable(name: &str) -> Option<String> {
        match name {
            "TAG" => Some("1.5".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_stand_for_what_they_do_in_compose() {
        let check = |text: &str, expect: Result<&str, &str>| {
            let found = filled(text, &variable);
            let found = found.as_deref().map_err(Problem::message);
            assert_eq!(found, expect, "{text}");
        };
        check("a$TAG-b${TAG}c$$TAG", Ok("a1.5-b1.5c$TAG"));
        check("${NO}${NO-x}${EMPTY-x}${EMPTY:-y}", Ok("xy"));
        check("${TAG+x}${NO+x}${EMPTY:+x}${TAG:?no}", Ok("x1.5"));
        check("${NO:?say it}", Err("NO has no value: say it"));
        check("${TAG", Err("a `${` has no `}`"));
        check(
            "a $ b",
            Err("`a $ b` has a `$` without a name; `$$` is a plain one"),
        );
    }
}
