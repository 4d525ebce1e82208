//! What is wrong with a file that a person wrote: all of it at once, each with its place.
//!
//! Rendering for a terminal is the caller's business; a [`Diagnostic`] only knows file, span,
//! message and hint.

use std::fmt;
use std::ops::Range;

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
    /// Byte range of the offending text, where one is known.
    pub span: Option<Range<usize>>,
    /// Line of the start of the span, from 1; 0 where no place is known.
    pub line: usize,
    /// Column (in characters) of the start of the span, from 1; 0 where no place is known.
    pub column: usize,
    /// What is wrong, a lower-case fragment without full stop.
    pub message: String,
    /// What to do about it.
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
