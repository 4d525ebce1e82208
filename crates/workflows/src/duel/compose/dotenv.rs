//! Files of variables, `.env` and `env_file`, as Compose reads them: comments after values, quotes,
//! escapes, values on several lines, and variables in values, the file's own and the caller's.
//!
//! The crates for such files (`dotenvy`, ...) write into this process's environment or know neither
//! `${A:-B}` nor Compose's rules for quotes and comments. These are those of `compose-go/dotenv`.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;

use crate::duel::compose::variables::{Variables, filled};

/// The variables of a file. `known` returns those of the caller, which are stronger in values than
/// those of the file, and give names without `=` their values.
///
/// # Errors
/// A line has no name, a quote no end, or a value a variable that cannot be filled in.
pub(super) fn variables_of(
    text: &str,
    known: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, Problem> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut found = BTreeMap::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if rest.starts_with('#') {
            rest = after_line(rest).trim_start();
            continue;
        }
        let (name, after) = name_of(rest)?;
        let Some(after) = after else {
            if let Some(value) = known(name) {
                found.insert(name.to_owned(), value);
            }
            rest = after_line(rest).trim_start();
            continue;
        };
        let fill = |value: &str| {
            let variable = |name: &str| known(name).or_else(|| found.get(name).cloned());
            filled(value, &Variables::new(&variable)).map_err(|why| why.context(name))
        };
        let start = after.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        let (value, after) = match start.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let (value, after) = quoted(&start[1..], quote)
                    .ok_or_else(|| format!("{name}: its quote has no end"))?;
                match quote {
                    '"' => (fill(&unescaped(&value))?, after),
                    _ => (value, after),
                }
            }
            _ => {
                let (line, after) = after.split_once('\n').unwrap_or((after, ""));
                let value = line.split(" #").next().unwrap_or_default();
                (fill(value.trim())?, after)
            }
        };
        found.insert(name.to_owned(), value);
        rest = after.trim_start();
    }
    Ok(found)
}

/// Lines `NAME=VALUE` as they are, which is the format `raw`.
pub(super) fn raw(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, after)| after)
}

/// The name at the beginning, without `export`, and what comes after its `=`; `None` if it has
/// none.
fn name_of(text: &str) -> Result<(&str, Option<&str>), Problem> {
    let exported = text.strip_prefix("export");
    let exported = exported.filter(|rest| rest.starts_with([' ', '\t']));
    let text = exported.unwrap_or(text).trim_start();
    let line = text.lines().next().unwrap_or_default();
    let (name, after) = match line.find(['=', ':']) {
        Some(at) => (&line[..at], Some(&text[at + 1..])),
        None => (line, None),
    };
    let name = name.trim();
    let is_of_name = |c: char| c.is_alphanumeric() || "_.-[]".contains(c);
    match !name.is_empty() && name.chars().all(is_of_name) {
        true => Ok((name, after)),
        false => Err(format!("`{line}` is not NAME=VALUE").into()),
    }
}

/// The text up to a quote that no backslash escapes, and what comes after it.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, one)) = characters.next() {
        match one {
            '\\' => match characters.next()?.1 {
                escaped if escaped == quote => value.push(quote),
                other => value.extend(['\\', other]),
            },
            _ if one == quote => return Some((value, &text[at + 1..])),
            _ => value.push(one),
        }
    }
    None
}

/// The text with what its escapes stand for. `\$` is a plain `$`, which is `$$` where variables are
/// filled in.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escaped) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\u{b}'),
            '"' | '\\' => out.push(escaped),
            '$' => out.push_str("$$"),
            other => out.extend(['\\', other]),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{raw, variables_of};
    use crate::duel::compose::variables::tests::variable;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        let found = variables_of(text, &variable).unwrap();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn values_end_where_they_do_in_compose() {
        check("A=1.5 # stable\nB = b c \n", &[("A", "1.5"), ("B", "b c")]);
        check(
            "A=x#y\n#B=1\n\nC=\nD= # d\n",
            &[("A", "x#y"), ("C", ""), ("D", "")],
        );
        check(
            "A=\"x # y\" # z\nB='#' # q\n",
            &[("A", "x # y"), ("B", "#")],
        );
        check("export A=1\r\nexport\tB=2\r\n", &[("A", "1"), ("B", "2")]);
        check(
            "A: 1\nURL=http://h:1/?a=b",
            &[("A", "1"), ("URL", "http://h:1/?a=b")],
        );
        check("\u{feff}exported=1", &[("exported", "1")]);
        check("A=\"x\ny\"\nB='p\nq'", &[("A", "x\ny"), ("B", "p\nq")]);
        check("A=1\nA=2", &[("A", "2")]);
    }

    #[test]
    fn names_without_a_value_are_those_of_the_caller() {
        check("TAG\nGONE\nA=1", &[("A", "1"), ("TAG", "1.5")]);
    }

    #[test]
    fn variables_of_the_file_and_of_the_caller_are_filled_in() {
        check("A=a\nB=$A-${C:-c}", &[("A", "a"), ("B", "a-c")]);
        check(
            "A=a\nB=\"<${A}>\"\nC='$A'",
            &[("A", "a"), ("B", "<a>"), ("C", "$A")],
        );
        check("TAG=2\nI=shop:${TAG}", &[("I", "shop:1.5"), ("TAG", "2")]);
        check("A=$$x\nB=\"\\$x\"", &[("A", "$x"), ("B", "$x")]);
    }

    #[test]
    fn escapes_count_in_double_quotes() {
        check(r#"A="a\n\t\"b\\\d""#, &[("A", "a\n\t\"b\\\\d")]);
        check(r"A='a\n\'b'", &[("A", "a\\n'b")]);
        check(r"A=a\nb", &[("A", "a\\nb")]);
    }

    #[test]
    fn what_is_no_variable_is_said() {
        let check = |text: &str, expect: &str| {
            let found = variables_of(text, &variable).unwrap_err();
            assert_eq!(found.message(), expect, "{text}");
        };
        check("a b=1", "`a b=1` is not NAME=VALUE");
        check("A=\"1", "A: its quote has no end");
        check("A=${", "A: a `${` has no `}`");
    }

    #[test]
    fn the_raw_format_takes_lines_as_they_are() {
        let found = raw("A=\"$x\" # y\n# B=1\n");
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("A".into(), "\"$x\" # y".into())]
        );
    }
}
