//! The words of a command line, as a POSIX shell makes them (Shell Command Language, 2.2 to 2.6),
//! with `$'...'` of newer shells. Variables are filled in; other expansions are refused by name.
//! Pure.

mod document;

use std::collections::BTreeMap;

use crate::outside::Reasons;
use document::Document;

/// A command without its redirections.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    /// The words, quotes removed.
    pub(super) words: Vec<String>,
    /// Why it cannot be taken.
    pub(super) reasons: Reasons,
    /// Whether a line begins with it.
    pub(super) begins_line: bool,
    /// The standard input, if the text has it.
    pub(super) input: Option<Input>,
}

/// The text of a here-document, or why it is not known.
pub(super) type Input = Result<Vec<u8>, Reasons>;

/// The commands of a text.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The commands in order, assignments left out.
    pub(super) all: Vec<SimpleCommand>,
    /// Whether input or output of one of them is redirected.
    pub(super) is_redirected: bool,
}

/// Returns the commands of a text.
///
/// # Errors
/// Why the text cannot be read to its end.
pub(super) fn commands(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Commands, &'static str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let prompt = ["$ ", "% ", "# "].into_iter().find_map(|prompt| {
        let rest = text.strip_prefix(prompt)?.trim_start();
        (prompt != "# " || rest.starts_with("curl")).then_some(rest)
    });
    let mut reader = Reader {
        rest: prompt.unwrap_or(text),
        has_prompt: prompt.is_some(),
        variable,
        assigned: BTreeMap::new(),
        word: None,
        target: Target::None,
        documents: Vec::new(),
        current: SimpleCommand::default(),
        commands: Commands::default(),
    };
    reader.read()?;
    Ok(reader.commands)
}

/// The role of a word behind a redirection.
#[derive(Debug, Clone, Copy, Default)]
enum Target {
    /// There is no redirection.
    #[default]
    None,
    File,
    /// The last line of a here-document.
    Document {
        is_quoted: bool,
        is_indented: bool,
    },
    /// The input itself.
    Text,
}

struct Reader<'a> {
    rest: &'a str,
    /// Whether the text was copied from a terminal, which then shows `> ` before further lines.
    has_prompt: bool,
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// Variables that earlier commands of the text set.
    assigned: BTreeMap<String, String>,
    /// The word as read so far. `$'...'` can hold any bytes.
    word: Option<Vec<u8>>,
    /// The role of the next word.
    target: Target,
    /// The here-documents that begin on the next line.
    documents: Vec<Document>,
    current: SimpleCommand,
    commands: Commands,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), &'static str> {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.line_end() {
                    true => self.skip_second_prompt(),
                    false => {
                        let c = self.next().unwrap_or('\\');
                        self.push(c);
                    }
                },
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar(false)?,
                '`' => self.backtick(),
                '^' if self.rest.starts_with(['"', '\r', '\n']) => {
                    return Err(
                        "it is written for the command prompt of Windows; copy it for \
                                bash instead",
                    );
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command(true);
                    self.read_documents()?;
                }
                '#' if self.word.is_none() => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                '|' | ';' | '&' | '<' | '>' => self.operator(c),
                '(' | ')' => self.reason("it has parentheses outside of quotes"),
                c => self.push(c),
            }
        }
        self.end_command(false);
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Skips a text if it comes next.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn line_end(&mut self) -> bool {
        self.skip("\n") || self.skip("\r\n")
    }

    fn skip_second_prompt(&mut self) {
        let rest = self.rest.trim_start_matches(' ');
        if let (true, Some(rest)) = (self.has_prompt, rest.strip_prefix("> ")) {
            self.rest = rest;
        }
    }

    fn push(&mut self, c: char) {
        let word = self.word.get_or_insert_default();
        word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_text(&mut self, text: &str) {
        let word = self.word.get_or_insert_default();
        word.extend_from_slice(text.as_bytes());
    }

    fn reason(&mut self, reason: impl Into<String>) {
        self.current.reasons.add(reason);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match std::mem::take(&mut self.target) {
            Target::None => {}
            Target::File => return,
            Target::Text => {
                self.current.input = Some(Ok([word, b"\n".to_vec()].concat()));
                return;
            }
            Target::Document {
                is_quoted,
                is_indented,
            } => {
                return self.documents.push(Document {
                    command: self.commands.all.len(),
                    end: String::from_utf8_lossy(&word).into_owned(),
                    is_quoted,
                    is_indented,
                });
            }
        }
        match String::from_utf8(word) {
            Ok(word) => self.current.words.push(word),
            Err(_) => self.reason("$'...' has bytes that are no text"),
        }
    }

    /// Ends a command; one that only assigns values sets variables of those that follow.
    fn end_command(&mut self, by_line: bool) {
        self.end_word();
        self.target = Target::None;
        let next = SimpleCommand {
            begins_line: by_line,
            ..SimpleCommand::default()
        };
        let command = std::mem::replace(&mut self.current, next);
        let words = command.words.as_slice();
        let words = match words.split_first() {
            Some((first, rest)) if first == "export" => rest,
            _ => words,
        };
        let values: Option<Vec<_>> = words.iter().map(|word| assignment(word)).collect();
        match values {
            _ if command.words.is_empty() => self.current.begins_line |= command.begins_line,
            Some(values) => {
                let values = values.into_iter();
                self.assigned
                    .extend(values.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            None => self.commands.all.push(command),
        }
    }

    fn operator(&mut self, c: char) {
        if c == '<' || c == '>' || c == '&' && self.rest.starts_with('>') {
            if c == '&' {
                self.next();
            }
            return self.redirection(c == '<');
        }
        let next = self.rest.chars().next();
        let is_alone = next.is_none_or(|next| next.is_whitespace() || "&|;".contains(next));
        if c == '&' && !is_alone && self.word.is_some() {
            self.reason("a shell ends the command at & outside of quotes; put its URL into '...'");
            return self.push(c);
        }
        if matches!(c, '|' | '&') && !self.skip(&c.to_string()) && c == '|' {
            self.skip("&");
        }
        self.end_command(false);
    }

    fn redirection(&mut self, is_input: bool) {
        // The number of what is redirected.
        match &self.word {
            Some(word) if word.iter().all(u8::is_ascii_digit) => self.word = None,
            _ => self.end_word(),
        }
        self.commands.is_redirected = true;
        let begin = self.rest;
        self.rest = begin.trim_start_matches(['<', '>', '|', '&', '-']);
        self.target = match is_input {
            true if begin.starts_with("<<") => Target::Text,
            true if begin.starts_with('<') => Target::Document {
                is_quoted: self.rest.trim_start().starts_with(['\'', '"', '\\']),
                is_indented: begin.starts_with("<-"),
            },
            _ => Target::File,
        };
        if self.rest.starts_with('(') {
            self.substitution();
        }
    }

    fn single(&mut self) -> Result<(), &'static str> {
        let (text, rest) = self.rest.split_once('\'').ok_or(UNCLOSED)?;
        self.push_text(text);
        self.rest = rest;
        Ok(())
    }

    fn double(&mut self) -> Result<(), &'static str> {
        self.push_text("");
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '"' => return Ok(()),
                '\\' if self.line_end() => self.skip_second_prompt(),
                '\\' => match self.next().ok_or(UNCLOSED)? {
                    c @ ('$' | '`' | '"' | '\\') => self.push(c),
                    c => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                '$' => self.dollar(true)?,
                '`' => self.backtick(),
                c => self.push(c),
            }
        }
    }

    /// Reads what follows a dollar sign that is not in single quotes.
    fn dollar(&mut self, is_quoted: bool) -> Result<(), &'static str> {
        if !is_quoted && self.skip("'") {
            return self.ansi();
        }
        if !is_quoted && self.skip("\"") {
            return self.double();
        }
        if self.rest.starts_with('(') {
            self.substitution();
            return Ok(());
        }
        if self.skip("{") {
            let (inside, rest) = self.rest.split_once('}').ok_or("${ is not closed")?;
            self.rest = rest;
            self.parameter(inside, is_quoted);
            return Ok(());
        }
        let end = self.rest.find(|c: char| !is_of_name(c));
        let name = &self.rest[..end.unwrap_or(self.rest.len())];
        let special = self.rest.chars().next().filter(|c| is_special(*c));
        if name.starts_with(|c: char| !c.is_ascii_digit()) {
            self.rest = &self.rest[name.len()..];
            self.fill(name, None, is_quoted);
        } else if let Some(special) = special {
            self.next();
            self.reason(format!("${special} is known to a script only"));
        } else {
            self.push('$');
        }
        Ok(())
    }

    /// Fills in `${inside}`.
    fn parameter(&mut self, inside: &str, is_quoted: bool) {
        let end = inside.find(|c: char| !is_of_name(c));
        let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
        let is_name = name.starts_with(|c: char| !c.is_ascii_digit());
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
        let is_plain = |text: &&str| !text.contains(['$', '`', '"', '\'', '\\', '{']);
        match (rest, default.filter(is_plain)) {
            _ if !is_name => self.reason("it has ${...} without the name of a variable"),
            ("", _) => self.fill(name, None, is_quoted),
            (_, Some(default)) => self.fill(name, Some(default), is_quoted),
            _ => self.reason(format!("${{{name}...}}: write ${{{name}}}")),
        }
    }

    /// Adds the value of a variable; outside of quotes, blanks in it separate words.
    fn fill(&mut self, name: &str, default: Option<&str>, is_quoted: bool) {
        let assigned = self.assigned.get(name).cloned();
        let value = assigned.or_else(|| (self.variable)(name));
        let value = match default {
            Some(default) => value.or_else(|| Some(default.to_owned())),
            None => value,
        };
        let Some(value) = value else {
            return self.reason(format!("the variable {name} is not set"));
        };
        if is_quoted {
            return self.push_text(&value);
        }
        for (index, part) in value.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.end_word();
            }
            if !part.is_empty() {
                self.push_text(part);
            }
        }
    }

    fn substitution(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.next() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        self.push_text("");
        self.reason("it needs the output of another command, $(...); write the value");
    }

    fn backtick(&mut self) {
        if self.line_end() {
            return self.reason("a line goes on after a backslash, not after `");
        }
        let end = self.rest.find('`').map_or(self.rest.len(), |at| at + 1);
        self.rest = &self.rest[end..];
        self.push_text("");
        self.reason("it needs the output of another command, `...`; write the value");
    }

    /// Reads the rest of `$'...'`.
    fn ansi(&mut self) -> Result<(), &'static str> {
        self.push_text("");
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '\'' => return Ok(()),
                '\\' => {
                    let c = self.next().ok_or(UNCLOSED)?;
                    self.escape(c);
                }
                c => self.push(c),
            }
        }
    }

    fn escape(&mut self, c: char) {
        let plain = match c {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '?' => c,
            'c' => {
                let letter = self.next().unwrap_or('@');
                char::from(u8::try_from(letter).unwrap_or_default() & 0x1f)
            }
            'x' => return self.byte("", 2, 16, "\\x"),
            '0'..='7' => return self.byte(c.encode_utf8(&mut [0; 4]), 2, 8, ""),
            'u' | 'U' => {
                let digits = self.digits(if c == 'u' { 4 } else { 8 }, 16);
                let number = u32::from_str_radix(&digits, 16).ok();
                return match number.and_then(char::from_u32) {
                    Some(c) => self.push(c),
                    None => self.reason(format!("\\{c}{digits} is no character")),
                };
            }
            other => {
                self.push('\\');
                other
            }
        };
        self.push(plain);
    }

    /// Adds the byte whose digits begin with `first`; without digits the text `other`.
    fn byte(&mut self, first: &str, more: usize, radix: u32, other: &str) {
        let digits = format!("{first}{}", self.digits(more, radix));
        match u32::from_str_radix(&digits, radix) {
            Ok(number) => {
                let [byte, ..] = number.to_le_bytes();
                self.word.get_or_insert_default().push(byte);
            }
            Err(_) => self.push_text(other),
        }
    }

    fn digits(&mut self, most: usize, radix: u32) -> String {
        let digits = self.rest.chars().take(most);
        let digits: String = digits.take_while(|c| c.is_digit(radix)).collect();
        self.rest = &self.rest[digits.len()..];
        digits
    }
}

const UNCLOSED: &str = "a quote is not closed";

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_special(c: char) -> bool {
    c.is_ascii_digit() || "?!@#*".contains(c)
}

/// Returns name and value of a word that sets a variable.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| is_of_name(c) && !c.is_ascii_digit());
    (is_name && name.chars().all(is_of_name)).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::commands;

    fn variable(name: &str) -> Option<String> {
        match name {
            "ID" => Some("7".to_owned()),
            "TWO" => Some(" a b ".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let check = |text: &str, expect: &[&[&str]]| {
            let found = commands(text, &variable).unwrap();
            let words: Vec<&Vec<String>> = found.all.iter().map(|one| &one.words).collect();
            assert_eq!(words, expect, "{text}");
            let reasons = found.all.iter().find_map(|one| one.reasons.sentence());
            assert_eq!(reasons, None, "{text}");
        };
        check("a 'b c' \"d e\"f g\\ h", &[&["a", "b c", "d ef", "g h"]]);
        check(
            "\"a\\\nb\" 'a\\\nb' a\\\nb c\\\r\nd",
            &[&["ab", "a\\\nb", "ab", "cd"]],
        );
        check(r#""\$\`\"\\\n" '' """#, &[&["$`\"\\\\n", "", ""]]);
        check(
            r"$'a\nb\x41\101é\u00e9\xc3\xa9\'\q\cA' $",
            &[&["a\nbAAéééé'\\q\x01".replace("éééé", "ééé").as_str(), "$"]],
        );
        check(r#"'{"price": "5 $'"'"'"}'"#, &[&[r#"{"price": "5 $'"}"#]]);
        check(
            "$ID \"${ID}\" '$ID' a$TWO\"$TWO\" $TWO",
            &[&["7", "7", "$ID", "a", "a", "b", " a b ", "a", "b"]],
        );
        check("${NO:-x} ${ID:-x} \"5 $ or $\"", &[&["x", "7", "5 $ or $"]]);
        check("a # b\nc#d", &[&["a"], &["c#d"]]);
        check(
            "a | b && c; d & e || f |& g",
            &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"]],
        );
        check(
            "a > x b 2>&1 c >>y 2>/dev/null <z d &>w",
            &[&["a", "b", "c", "d"]],
        );
        check("a <<EOF b\n$NO ` '\nEOF\n", &[&["a", "b"]]);
        check("$ a \\\n> b", &[&["a", "b"]]);
        check("A=1 B=2\nexport C=3; a $A $B $C", &[&["a", "1", "2", "3"]]);
    }

    #[test]
    fn what_a_shell_would_make_of_other_things_is_refused() {
        let check = |text: &str, expect: &str| {
            let found = commands(text, &variable);
            let found = found.map(|found| found.all[0].reasons.sentence().unwrap_or_default());
            let message = found.unwrap_or_else(str::to_owned);
            assert!(message.contains(expect), "{text}: {message}");
        };
        check("a 'b", "not closed");
        check("a \"b", "not closed");
        check("a $'b", "not closed");
        check("a ${b", "not closed");
        check(
            "a $NO ${OTHER}",
            "the variable NO is not set; the variable OTHER is not set",
        );
        check("a ${ID%x}", "${ID...}");
        check("a \"$(date)\"", "another command");
        check("a `date`", "another command");
        check("a <(b)", "another command");
        check("a $1", "$1");
        check("a http://h/p?a=1&b=2", "at &");
        check("a ^\n b", "Windows");
        check("a `\n b", "backslash");
        check("a $'\\xff'", "no text");
        check("a (b)", "parentheses");
    }
}
