//! Here-documents: lines of a text that are the input of a command in it (Shell Command Language,
//! 2.7.4). Pure.

use super::{Commands, Input, Reader, SimpleCommand, Target};

/// A here-document of which the lines follow.
#[derive(Debug)]
pub(super) struct Document {
    /// The index of its command.
    pub(super) command: usize,
    /// The line that ends it.
    pub(super) end: String,
    /// Whether variables in it stay as they are.
    pub(super) is_quoted: bool,
    /// Whether tabs at the beginnings of lines are left out.
    pub(super) is_indented: bool,
}

impl Reader<'_> {
    /// Reads the lines of here-documents as the input of their commands.
    ///
    /// # Errors
    /// A `${` in one of them is not closed.
    pub(super) fn read_documents(&mut self) -> Result<(), &'static str> {
        for document in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                let line = match document.is_indented {
                    true => line.trim_start_matches('\t'),
                    false => line,
                };
                let line = line.trim_end_matches('\r');
                if line == document.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let input = match document.is_quoted {
                true => Ok(text.into_bytes()),
                false => self.document_filled(&text)?,
            };
            if let Some(command) = self.commands.all.get_mut(document.command) {
                command.input = Some(input);
            }
        }
        Ok(())
    }

    /// Fills variables in a here-document in, by another reader.
    fn document_filled(&self, text: &str) -> Result<Input, &'static str> {
        let mut reader = Reader {
            rest: text,
            has_prompt: false,
            variable: self.variable,
            assigned: self.assigned.clone(),
            word: None,
            target: Target::None,
            documents: Vec::new(),
            current: SimpleCommand::default(),
            commands: Commands::default(),
        };
        while let Some(c) = reader.next() {
            match c {
                '\\' if reader.line_end() => {}
                '\\' if reader.rest.starts_with(['$', '`', '\\']) => {
                    let c = reader.next().unwrap_or('\\');
                    reader.push(c);
                }
                '$' => reader.dollar(true)?,
                '`' => reader.backtick(),
                c => reader.push(c),
            }
        }
        let reasons = reader.current.reasons;
        Ok(match reasons.sentence() {
            Some(_) => Err(reasons),
            None => Ok(reader.word.unwrap_or_default()),
        })
    }
}
