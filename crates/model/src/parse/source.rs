//! One TOML file as a tree in which everything knows its place, and the mistakes found in it.
//!
//! The meaning of the keys is not decided here: see [`super::shape`] and the modules of each file.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::text::diagnostic::{Diagnostic, SourceFile};

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// The kind of a value. Scalars are JSON because everything after this point is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Table(Vec<Entry>),
    List(Vec<Node>),
    Scalar(Value),
    /// A date or a number that JSON cannot say; the text as a person would call it.
    Foreign(String),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

impl Node {
    /// The value as a person would call it in a message: `the string "x"`, `a list`.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Table(_) => "a table".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Foreign(name) => name.clone(),
            Kind::Scalar(Value::String(text)) => format!("the string {}", quote(text)),
            Kind::Scalar(Value::Bool(flag)) => flag.to_string(),
            Kind::Scalar(Value::Number(number)) if number.is_f64() => {
                format!("the number {number}")
            }
            Kind::Scalar(other) => format!("the whole number {other}"),
        }
    }

    fn get(&self, step: &Step) -> Option<&Node> {
        match (&self.kind, step) {
            (Kind::Table(entries), Step::Key(key)) => entries
                .iter()
                .find(|entry| entry.key == *key)
                .map(|entry| &entry.value),
            (Kind::List(items), Step::Index(index)) => items.get(*index),
            _ => None,
        }
    }
}

/// A text in quotes, cut when it is too long for a message.
pub(crate) fn quote(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return Value::from(text).to_string();
    }
    let begin: String = text.chars().take(SHOWN_MAX).collect();
    format!("{}...", Value::from(begin))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The way from the root of a file to a value, which need not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyPath(Vec<Step>);

impl KeyPath {
    /// The file itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// The value of a key of this table.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        Self(steps)
    }

    /// An item of this list.
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// The place as the header of a table has it: without indices.
    pub(crate) fn header(&self) -> String {
        let keys = self.0.iter().filter(|step| matches!(step, Step::Key(_)));
        Self(keys.cloned().collect()).to_string()
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let dot = if position > 0 { "." } else { "" };
                    if key.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)) {
                        write!(f, "{dot}{key}")?;
                    } else {
                        write!(f, "{dot}{}", Value::from(key.as_str()))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A file being read: its tree and the mistakes found so far.
pub(crate) struct Reading<'a> {
    source: &'a SourceFile,
    pub(crate) root: Node,
    diagnostics: Vec<Diagnostic>,
    /// Places that were complained about and filled with stand-ins, so that reading can go on.
    broken: Vec<KeyPath>,
    /// Whether the text is TOML; the tree has gaps when it is not.
    pub(crate) syntax_holds: bool,
    /// Whether the spans of the tree are those of the text.
    has_places: bool,
}

impl<'a> Reading<'a> {
    /// Reads the tree and notes every syntax error.
    pub(crate) fn new(source: &'a SourceFile) -> Self {
        let (table, errors) = DeTable::parse_recoverable(&source.text);
        let mut reading = Self {
            source,
            root: Node {
                span: 0..0,
                kind: Kind::Table(entries(table.get_ref())),
            },
            diagnostics: Vec::new(),
            broken: Vec::new(),
            syntax_holds: errors.is_empty(),
            has_places: true,
        };
        for error in errors {
            let message = format!("not TOML: {}", error.message().trim().replace('\n', ", "));
            let diagnostic = reading.diagnostic(error.span(), &message, None);
            reading.diagnostics.push(diagnostic);
        }
        reading
    }

    /// Takes a value that this program made, of which the text has no places.
    pub(crate) fn of_value(source: &'a SourceFile, value: &Value) -> Self {
        Self {
            source,
            root: placeless(value),
            diagnostics: Vec::new(),
            broken: Vec::new(),
            syntax_holds: true,
            has_places: false,
        }
    }

    /// Notes a mistake at a place, unless something was already said about that very place.
    pub(crate) fn complain(&mut self, place: &KeyPath, message: &str, hint: Option<String>) {
        if self.broken.iter().any(|broken| place.is_within(broken)) {
            return;
        }
        let span = self.span(place);
        self.complain_at(span, message, hint);
    }

    /// Notes a mistake at a span.
    pub(crate) fn complain_at(&mut self, span: Range<usize>, message: &str, hint: Option<String>) {
        let diagnostic = self.diagnostic(Some(span), message, hint);
        self.diagnostics.push(diagnostic);
    }

    /// Notes each name that an earlier item of the list at `place` has. `kind` is the singular noun
    /// for messages.
    pub(crate) fn report_duplicates<'n>(
        &mut self,
        place: &KeyPath,
        kind: &str,
        names: impl Iterator<Item = &'n str>,
    ) {
        let mut seen = BTreeSet::new();
        for (index, name) in names.enumerate() {
            if !seen.insert(name) {
                let message = format!("the {kind} `{name}` exists twice");
                self.complain(&place.index(index).key("name"), &message, None);
            }
        }
    }

    /// Notes a path that leaves the folder it is relative to: the suite's or the contender's.
    pub(crate) fn check_inside(&mut self, place: &KeyPath, path: &str, folder: &str) {
        let leaves = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if path.is_empty() || leaves {
            let message = format!("`{place}`: must be a path inside the {folder}'s folder");
            self.complain(place, &message, None);
        }
    }

    /// Marks a place as replaced by a stand-in: later complaints below it would be about us.
    pub(crate) fn mark_broken(&mut self, place: KeyPath) {
        self.broken.push(place);
    }

    /// Whether nothing below this place was replaced by a stand-in.
    pub(crate) fn is_whole(&self, place: &KeyPath) -> bool {
        self.syntax_holds && !self.broken.iter().any(|broken| broken.is_within(place))
    }

    /// All mistakes in the order of the text. A syntax error leaves gaps, so what the gaps might
    /// have caused on the same line is left out.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
        diagnostics
    }

    /// Drops complaints on lines that have a syntax error; to be called after the shape is checked.
    pub(crate) fn forget_echoes(&mut self, syntax_errors: usize) {
        let lines: Vec<usize> = self.diagnostics[..syntax_errors]
            .iter()
            .map(|diagnostic| diagnostic.line)
            .collect();
        let mut position = 0;
        self.diagnostics.retain(|diagnostic| {
            position += 1;
            position <= syntax_errors || !lines.contains(&diagnostic.line)
        });
    }

    pub(crate) fn complaints(&self) -> usize {
        self.diagnostics.len()
    }

    /// The span of the value at a place, or of the innermost existing table around it.
    fn span(&self, place: &KeyPath) -> Range<usize> {
        let mut node = &self.root;
        for step in &place.0 {
            let Some(inner) = node.get(step) else { break };
            node = inner;
        }
        node.span.clone()
    }

    fn diagnostic(
        &self,
        span: Option<Range<usize>>,
        message: &str,
        hint: Option<String>,
    ) -> Diagnostic {
        let span = span.filter(|_| self.has_places);
        let (line, column) = match &span {
            Some(span) => line_and_column(&self.source.text, span.start),
            None => (0, 0),
        };
        Diagnostic {
            path: self.source.path.clone(),
            span,
            line,
            column,
            message: message.to_owned(),
            hint,
        }
    }
}

/// Line and column (in characters) of a byte offset, both from 1.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |position| position + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// The tree of a value that was not read.
fn placeless(value: &Value) -> Node {
    let kind = match value {
        Value::Object(table) => {
            let entries = table.iter().map(|(key, value)| Entry {
                key: key.clone(),
                key_span: 0..0,
                value: placeless(value),
            });
            Kind::Table(entries.collect())
        }
        Value::Array(items) => Kind::List(items.iter().map(placeless).collect()),
        scalar => Kind::Scalar(scalar.clone()),
    };
    Node { span: 0..0, kind }
}

fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            value: node(value),
        })
        .collect()
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    let kind = match value.get_ref() {
        DeValue::Table(table) => Kind::Table(entries(table)),
        DeValue::Array(items) => Kind::List(items.iter().map(node).collect()),
        DeValue::String(text) => Kind::Scalar(Value::from(text.as_ref())),
        DeValue::Boolean(flag) => Kind::Scalar(Value::from(*flag)),
        DeValue::Datetime(_) => Kind::Foreign("a date".to_owned()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(number) => Kind::Scalar(Value::from(number)),
            Err(_) => Kind::Foreign(format!("{digits}, which does not fit 64 bits")),
        },
        DeValue::Float(digits) => {
            let finite = digits.as_str().parse().ok().filter(|f: &f64| f.is_finite());
            match finite {
                Some(number) => Kind::Scalar(Value::from(number)),
                None => Kind::Foreign(digits.as_str().to_owned()),
            }
        }
    };
    Node {
        span: value.span(),
        kind,
    }
}
