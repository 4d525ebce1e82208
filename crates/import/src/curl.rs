//! Converts a curl command line, as browsers copy it and documentation shows it, to the request
//! that curl makes of it. Pure but for variables and files, which functions read.

mod body;
mod command;
mod options;
mod pattern;
#[cfg(test)]
mod tests;
mod words;

use bakeoff_base::problem::Problem;

use crate::outside::{Outside, Reasons};
use crate::requests::{Operation, may_change_data};
use command::Arguments;
use words::SimpleCommand;

/// A request with notes for the user about what was made of the command, a sentence each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurlRequest {
    /// The request.
    pub operation: Operation,
    /// The notes.
    pub notes: Vec<String>,
}

/// Reads a command line. The host of its URL is left out, and so are options that send nothing,
/// pipes and redirections.
///
/// # Errors
/// Every reason why it cannot be taken. The command is not repeated: it may hold passwords.
pub fn read(text: &str, outside: Outside<'_>) -> Result<CurlRequest, Problem> {
    let found = words::commands(text, outside.variable)?;
    let (command, is_alone) = chosen(found.all)?;
    let input = |name: &str| match (name, &command.input) {
        ("-", Some(Ok(bytes))) => Ok(bytes.clone()),
        ("-", Some(Err(reasons))) => Err(reasons.sentence().unwrap_or_default().into()),
        ("-", None) => Err(NO_INPUT.into()),
        (name, _) => (outside.file)(name),
    };
    let outside = Outside {
        file: &input,
        ..outside
    };
    let mut arguments = Arguments::read(command.words, outside);
    let mut reasons = Reasons::default();
    reasons.extend(command.reasons);
    reasons.extend(std::mem::take(&mut arguments.reasons));
    arguments.reasons = reasons;
    let (operation, mut notes) = match arguments.operation() {
        Ok(request) => request,
        Err(reasons) => return Err(reasons.sentence().unwrap_or_default().into()),
    };
    if found.is_redirected || !is_alone {
        notes.push("only the curl command itself is taken, not what a shell does besides".into());
    }
    if may_change_data(&operation.method) {
        notes.push(format!(
            "{}: it may change data, and is sent as often as the load asks for it",
            operation.name
        ));
    }
    Ok(CurlRequest { operation, notes })
}

const NO_INPUT: &str = "it reads standard input; write the text in the command, or a file";

/// Returns the curl command without its name, and whether there is nothing else.
fn chosen(mut all: Vec<SimpleCommand>) -> Result<(SimpleCommand, bool), Problem> {
    let is_alone = all.len() == 1;
    let programs: Vec<Option<usize>> = all.iter().map(|one| program(&one.words)).collect();
    let mut curls = (0..)
        .zip(&programs)
        .filter_map(|(at, one)| Some((at, (*one)?)));
    match (curls.next(), curls.next()) {
        (Some(_), Some(_)) => Err("these are two commands; write --curl for each".into()),
        (Some((at, program)), None) => {
            let is_rest = |one: &SimpleCommand| {
                let first = one.words.first().map_or("", String::as_str);
                one.begins_line && (first.starts_with('-') || first.contains("://"))
            };
            if all[at + 1..].iter().any(is_rest) {
                return Err(
                    "a line begins with an option or a URL; the one before it must end \
                            with a backslash"
                        .into(),
                );
            }
            let mut command = all.swap_remove(at);
            command.words.drain(..=program);
            Ok((command, is_alone))
        }
        (None, _) => {
            let mut all = all.into_iter();
            let first = all.next().ok_or("it has no URL")?;
            let word = first.words.first().map_or("", String::as_str);
            match word.starts_with('-') || word.contains(['/', '.', ':']) {
                true => Ok((first, is_alone)),
                false => Err("it does not begin with curl".into()),
            }
        }
    }
}

/// Returns the index of the word that is curl. Before it there may be a prompt, assignments, and
/// programs that start others.
fn program(words: &[String]) -> Option<usize> {
    let at = words.iter().position(|word| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        !word.contains("://") && matches!(name.to_ascii_lowercase().as_str(), "curl" | "curl.exe")
    })?;
    let is_before = |word: &String| {
        words::assignment(word).is_some()
            || word.ends_with(['$', '%', '#', '>'])
            || matches!(word.as_str(), "sudo" | "time" | "env" | "exec" | "command")
    };
    words[..at].iter().all(is_before).then_some(at)
}
