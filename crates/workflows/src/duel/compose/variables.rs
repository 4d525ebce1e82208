//! Variables in texts of compose files, as Compose fills them in. Libraries for shells know no `:?`
//! and no defaults in defaults, and expand what Compose does not.

use bakeoff_base::problem::Problem;

/// The values of variables.
pub(super) struct Variables<'a> {
    /// Returns the value of a variable, if it has one.
    pub(super) value: &'a dyn Fn(&str) -> Option<String>,
    /// Is told the name of a variable for which nothing stands in the text.
    pub(super) unset: &'a dyn Fn(&str),
}

impl<'a> Variables<'a> {
    /// Variables that may lack values without a note.
    pub(super) fn new(value: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            value,
            unset: &|_| {},
        }
    }

    fn or_empty(&self, name: &str) -> String {
        let value = (self.value)(name);
        if value.is_none() {
            (self.unset)(name);
        }
        value.unwrap_or_default()
    }
}

/// A text with what variables stand for: `$NAME`, `${NAME}`, with `:-`, `-`, `:+`, `+`, `:?` and
/// `?` as in a shell, and variables in the words after these; `$$` is `$`.
///
/// # Errors
/// A brace has no end, a `$` no name, or a variable with `?` no value.
pub(super) fn filled(text: &str, variables: &Variables<'_>) -> Result<String, Problem> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let end = end_of_braces(after).ok_or("a `${` has no `}`")?;
            out.push_str(&expanded(&after[..end], variables)?);
            rest = &after[end + 1..];
        } else {
            let (name, after) = named(rest);
            if name.is_empty() {
                let message = format!("`{text}` has a `$` without a name; `$$` is a plain one");
                return Err(message.into());
            }
            out.push_str(&variables.or_empty(name));
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Where the `}` is that ends a text in braces, which may have others in it.
fn end_of_braces(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, one) in text.char_indices() {
        match one {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The name at the beginning of a text, and the rest; an empty name if there is none.
fn named(text: &str) -> (&str, &str) {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => ("", text),
        false => text.split_at(end),
    }
}

/// Expands the text between `${` and `}`.
fn expanded(inner: &str, variables: &Variables<'_>) -> Result<String, Problem> {
    let unknown = || format!("`${{{inner}}}` is not a variable").into();
    let (name, rest) = named(inner);
    if name.is_empty() {
        return Err(unknown());
    }
    let (rest, empty_counts) = match rest.strip_prefix(':') {
        Some("") => return Err(unknown()),
        Some(rest) => (rest, false),
        None => (rest, true),
    };
    let value = (variables.value)(name).filter(|value| empty_counts || !value.is_empty());
    let mut rest = rest.chars();
    let kind = rest.next();
    let word = || filled(rest.as_str(), variables);
    match (kind, value) {
        (None, _) => Ok(variables.or_empty(name)),
        (Some('-' | '?'), Some(value)) => Ok(value),
        (Some('-'), None) | (Some('+'), Some(_)) => word(),
        (Some('+'), None) => Ok(String::new()),
        (Some('?'), None) => Err(match word()? {
            message if message.is_empty() => format!("{name} has no value").into(),
            message => format!("{name} has no value: {message}").into(),
        }),
        (Some(_), _) => Err(unknown()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Variables, filled};
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
            let found = filled(text, &Variables::new(&variable));
            let found = found.as_deref().map_err(Problem::message);
            assert_eq!(found, expect, "{text}");
        };
        check("a$TAG-b${TAG}c$$TAG", Ok("a1.5-b1.5c$TAG"));
        check("${NO}${NO-x}${EMPTY-x}${EMPTY:-y}", Ok("xy"));
        check("${TAG+x}${NO+x}${EMPTY:+x}${TAG:?no}", Ok("x1.5"));
        check("${NO:-${EMPTY:-shop}}", Ok("shop"));
        check(
            "${NO-x${TAG}y}${NO:-$TAG}${NO:-a:b?c-d}",
            Ok("x1.5y1.5a:b?c-d"),
        );
        check("${TAG:+v${TAG}}${NO:-{\"a\":{}}}", Ok("v1.5{\"a\":{}}"));
        check("${TAG:-${NO:?never asked}}", Ok("1.5"));
        check("${NO:-$$5}", Ok("$5"));
        check("${NO:?say it}", Err("NO has no value: say it"));
        check(
            "${NO:-${EMPTY:?say $TAG}}",
            Err("EMPTY has no value: say 1.5"),
        );
        check("${NO?}", Err("NO has no value"));
        check("${TAG", Err("a `${` has no `}`"));
        check("${NO:-${TAG}", Err("a `${` has no `}`"));
        check("${1}", Err("`${1}` is not a variable"));
        check("${TAG:}", Err("`${TAG:}` is not a variable"));
        check("${TAG!x}", Err("`${TAG!x}` is not a variable"));
        check(
            "a $ b",
            Err("`a $ b` has a `$` without a name; `$$` is a plain one"),
        );
        check(
            "$1",
            Err("`$1` has a `$` without a name; `$$` is a plain one"),
        );
    }
}
