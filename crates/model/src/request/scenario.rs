//! Scenarios as data: what users do one request after the other, where variables get their values,
//! and the text in which a variable is used. What a suite file may say about them is
//! [`crate::parse`]'s business, carrying them out is the engine's.

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::ReceivedResponse;
use crate::text::json_path::JsonPath;
use crate::text::pattern::Pattern;

/// The rules that make the requests of a load a scenario: each user goes through all of them in
/// order, on a separate connection, and starts anew as another user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Where variables get their values each time a user starts.
    #[serde(default)]
    pub feeds: Vec<Feed>,
    /// Users send back the cookies they were given. Paths, domains and dates of cookies do not
    /// matter: there is one service, and no user lives long.
    #[serde(default = "yes")]
    pub cookies: bool,
    /// The next step of a user whose request failed.
    #[serde(default)]
    pub after_failure: AfterFailure,
    /// When connections are opened.
    #[serde(default, skip_serializing_if = "Connect::is_before_step")]
    pub connect: Connect,
}

fn yes() -> bool {
    true
}

/// The next step of a user whose request failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFailure {
    /// The rest of the scenario is left out.
    #[default]
    GiveUp,
    /// The next request is sent all the same, unless it needs a variable that was not extracted.
    GoOn,
}

/// When the connections of users are opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connect {
    /// All of them before a step starts; each serves one user after the other.
    #[default]
    BeforeStep,
    /// Each by its user, for the first request: connecting is a part of that request's response
    /// time, and a connection that cannot be made is its failure. It is closed when the user is
    /// done; the next user opens another one.
    OnArrival,
}

impl Connect {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_before_step(&self) -> bool {
        *self == Self::BeforeStep
    }
}

/// Where variables get their values each time a user starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Feed {
    /// Rows of a table.
    Csv {
        /// The file the rows were read from, for people.
        #[serde(default)]
        file: String,
        /// The variables that the columns give values to.
        variables: Vec<String>,
        /// The rows, each as long as `variables`.
        #[serde(default)]
        rows: Vec<Vec<String>>,
        /// Which row is next.
        #[serde(default)]
        order: RowOrder,
    },
    /// Whole numbers one after the other; none comes twice in a load before the last one did.
    Sequence {
        /// The variable.
        variable: String,
        /// The first number.
        from: u64,
        /// The last number, after which it starts again; without one it goes on.
        #[serde(default)]
        to: Option<u64>,
    },
    /// Whole numbers, each as likely as the others.
    Random {
        /// The variable.
        variable: String,
        /// The smallest number.
        from: u64,
        /// The largest number.
        to: u64,
    },
    /// A text of letters and digits that no user of any load on any host has had before.
    Unique {
        /// The variable.
        variable: String,
    },
}

/// Which row of a table is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowOrder {
    /// One after the other; after the last one the first.
    #[default]
    InTurn,
    /// Any, each as likely as the others.
    Random,
}

impl Feed {
    /// The variables that it gives values to.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        match self {
            Self::Csv { variables, .. } => variables,
            Self::Sequence { variable, .. }
            | Self::Random { variable, .. }
            | Self::Unique { variable } => std::slice::from_ref(variable),
        }
    }
}

/// How long a user waits after a response, each length as likely as the others, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Where in a response a variable gets its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extract {
    /// The value at a JSON path; texts without their quotes.
    Json(String),
    /// The value of the header with this name, in any case.
    Header(String),
    /// The match of this regular expression's first group in the body, or the whole match if it has
    /// no group.
    Regex(Pattern),
}

impl Extract {
    /// The value.
    ///
    /// # Errors
    /// Says what is not there.
    pub fn find(&self, answer: &ReceivedResponse) -> Result<String, Problem> {
        match self {
            Self::Json(path) => {
                let root: serde_json::Value = serde_json::from_slice(&answer.body)
                    .map_err(|error| format!("the body is not JSON ({error})"))?;
                Ok(match path.parse::<JsonPath>()?.find(&root)? {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                })
            }
            Self::Header(name) => answer
                .headers
                .iter()
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
                .ok_or_else(|| format!("there is no header {name}").into()),
            Self::Regex(pattern) => pattern
                .first(&String::from_utf8_lossy(&answer.body))
                .map(str::to_owned)
                .ok_or_else(|| format!("nothing in the body matches {pattern}").into()),
        }
    }
}

/// A piece of a text in which variables are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that stays.
    Text(String),
    /// The value of this variable.
    Variable(String),
}

/// Takes a text apart: `${name}` is a variable, `$${` is the text `${`. References to variables of
/// the environment, `${env:NAME}`, are text: they get their values when the suite is opened.
///
/// # Errors
/// A lower-case fragment when a `${` has no end or no name.
pub fn pieces(text: &str) -> Result<Vec<Piece>, Problem> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            plain.push_str(before);
            plain.push_str("${");
            rest = after;
            continue;
        }
        plain.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            return Err("a `${` has no `}`".into());
        };
        if name.starts_with("env:") {
            plain.push_str(&format!("${{{name}}}"));
            rest = after;
            continue;
        }
        if !is_variable(name) {
            return Err(format!("`${{{name}}}` is not a variable (`$${{` is text)").into());
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(Piece::Variable(name.to_owned()));
        rest = after;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// Whether a text can be the name of a variable: a letter, then letters, digits, `-` and `_`.
#[must_use]
pub fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Reads the columns `variables` of a CSV text (RFC 4180) whose first line names its columns.
///
/// # Errors
/// A lower-case fragment: a column that is not there, a row that is too short, a quote without
/// an end, no rows at all.
pub fn read_csv(text: &str, variables: &[String]) -> Result<Vec<Vec<String>>, Problem> {
    let mut lines = csv_rows(text)?.into_iter();
    let Some((_, header)) = lines.next() else {
        return Err("it is empty".into());
    };
    let columns = variables
        .iter()
        .map(|variable| {
            let at = header.iter().position(|name| name.trim() == variable);
            at.ok_or_else(|| {
                let known = header.join(", ");
                format!("it has no column `{variable}`; its first line names {known}").into()
            })
        })
        .collect::<Result<Vec<usize>, Problem>>()?;
    let rows = lines
        .map(|(line, mut cells)| {
            if cells.len() != header.len() {
                let (found, expected) = (cells.len(), header.len());
                return Err(format!(
                    "line {line} has {found} cells, the first line names {expected}"
                )
                .into());
            }
            Ok(columns
                .iter()
                .map(|at| std::mem::take(&mut cells[*at]))
                .collect())
        })
        .collect::<Result<Vec<Vec<String>>, Problem>>()?;
    if rows.is_empty() {
        return Err("it has no row after its first line".into());
    }
    Ok(rows)
}

/// Cells of each row that is not empty, with the line on which it starts.
fn csv_rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, Problem> {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut line, mut begun) = (1, 1);
    loop {
        match letters.next() {
            Some('"') if cell.is_empty() => {
                let opened = line;
                loop {
                    match letters.next() {
                        None => return Err(format!("the quote on line {opened} has no end").into()),
                        Some('"') if letters.next_if_eq(&'"').is_some() => cell.push('"'),
                        Some('"') => break,
                        Some(letter) => {
                            line += usize::from(letter == '\n');
                            cell.push(letter);
                        }
                    }
                }
            }
            Some(',') => cells.push(std::mem::take(&mut cell)),
            Some('\r') if letters.peek() == Some(&'\n') => {}
            end @ (Some('\n') | None) => {
                if !(cells.is_empty() && cell.is_empty()) {
                    cells.push(std::mem::take(&mut cell));
                    rows.push((begun, std::mem::take(&mut cells)));
                }
                if end.is_none() {
                    return Ok(rows);
                }
                line += 1;
                begun = line;
            }
            Some(letter) => cell.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces, read_csv};

    #[test]
    fn variables_are_found_in_texts() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let variable = |name: &str| Piece::Variable(name.to_owned());
        let check = |input: &str, expect: &[Piece]| assert_eq!(pieces(input).unwrap(), expect);
        check("", &[]);
        check("{\"a\": $1}", &[text("{\"a\": $1}")]);
        check("/${id}", &[text("/"), variable("id")]);
        check("${a}${b-1}.", &[variable("a"), variable("b-1"), text(".")]);
        check("$${a}", &[text("${a}")]);
        check("${env:A}", &[text("${env:A}")]);
        for wrong in ["${", "${a", "${}", "${a b}", "${1}"] {
            assert!(pieces(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tables_are_read() {
        let wanted = ["b".to_owned(), "a".to_owned()];
        let rows = read_csv("\u{feff}a,b\r\n1,\"x, \"\"y\"\"\n\"\r\n\n2,\n", &wanted).unwrap();
        assert_eq!(rows, [["x, \"y\"\n", "1"], ["", "2"]]);
        for (text, message) in [
            ("", "it is empty"),
            ("a,b\n", "it has no row"),
            ("a,c\n1,2", "it has no column `b`"),
            ("a,b\n1,2\n3", "line 3 has 1 cells"),
            ("a,b\n\"1,2", "the quote on line 2 has no end"),
        ] {
            let found = read_csv(text, &wanted).unwrap_err();
            assert!(found.message().contains(message), "{found}");
        }
    }
}
