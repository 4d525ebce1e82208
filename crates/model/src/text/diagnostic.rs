//! Mistakes in a file that a person wrote: all of them at once, each with the text that it is
//! about.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A file as it was read: the path to show to the user, and its whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user would write it.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

/// One mistake in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The path of the file, as in [`SourceFile::path`].
    pub path: String,
    /// Byte range of the offending text, if one is known.
    pub span: Option<Range<usize>>,
    /// Line of the start of the span, from 1; 0 if no place is known.
    pub line: usize,
    /// Column (in characters) of the start of the span, from 1; 0 if no place is known.
    pub column: usize,
    /// The mistake, a lower-case fragment without full stop.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// All diagnostics about these files, each with the lines that it is about, a mark below them, and
/// its hint; plain text without a line end.
#[must_use]
pub fn render(files: &[&SourceFile], diagnostics: &[Diagnostic]) -> String {
    let texts = diagnostics.iter().map(|diagnostic| {
        let file = files.iter().find(|file| file.path == diagnostic.path);
        match (file, &diagnostic.span) {
            (Some(file), Some(span)) => with_snippet(diagnostic, file, span),
            _ => diagnostic.to_string(),
        }
    });
    texts.collect::<Vec<String>>().join("\n\n")
}

fn with_snippet(diagnostic: &Diagnostic, file: &SourceFile, span: &Range<usize>) -> String {
    let snippet = Snippet::source(&file.text)
        .path(&file.path)
        .annotation(AnnotationKind::Primary.span(first_line(&file.text, span)));
    let mut report = Level::ERROR
        .primary_title(&diagnostic.message)
        .element(snippet);
    if let Some(hint) = &diagnostic.hint {
        report = report.element(Level::HELP.with_name("hint").message(hint));
    }
    Renderer::plain().render(&[report])
}

/// The span up to the end of its first line: a table of twenty lines need not be shown whole.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let rest = text.get(span.clone()).unwrap_or_default();
    let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
    span.start..span.start + length
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::{Diagnostic, SourceFile, render};

    fn rendered(text: &str, wrong: &str, hint: Option<&str>) -> String {
        let file = SourceFile {
            path: "suite.toml".to_owned(),
            text: text.to_owned(),
        };
        let start = text.find(wrong).unwrap();
        let diagnostic = Diagnostic {
            path: file.path.clone(),
            span: Some(start..start + wrong.len()),
            line: 1,
            column: 1,
            message: "it is wrong".to_owned(),
            hint: hint.map(str::to_owned),
        };
        render(&[&file], &[diagnostic])
    }

    #[test]
    fn the_text_that_is_wrong_is_marked() {
        let text = "[suite]\nname = \"Plzeň\"\nprot = 8080\n";
        assert_snapshot!(rendered(text, "prot", Some("did you mean `port`?")), @r"
        error: it is wrong
         --> suite.toml:3:1
          |
        3 | prot = 8080
          | ^^^^
          |
          = hint: did you mean `port`?
        ");
    }

    #[test]
    fn a_long_span_is_marked_on_its_first_line() {
        let text = "steps = [\n  1,\n  2,\n]\n";
        assert_snapshot!(rendered(text, "[\n  1,\n  2,\n]", None), @r"
        error: it is wrong
         --> suite.toml:1:9
          |
        1 | steps = [
          |         ^
        ");
    }

    #[test]
    fn without_a_span_there_is_only_the_message() {
        let diagnostic = Diagnostic {
            path: "checks".to_owned(),
            span: None,
            line: 0,
            column: 0,
            message: "it is empty".to_owned(),
            hint: None,
        };
        assert_eq!(render(&[], &[diagnostic]), "checks: it is empty");
    }
}
