//! Tests that the command line understands every command of the pages and the help, and that those
//! on a suite of this repository can be planned.

mod planned;

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::Cli;

/// Kinds of blocks that hold commands.
const KINDS: [&str; 5] = ["sh", "bash", "shell", "console", "yaml"];

/// The words and signs that end a command in a shell.
const ENDS: [&str; 7] = ["|", "||", "&&", ";", ">", ">>", "#"];

/// Folders without pages of ours.
const NO_PAGES: [&str; 3] = ["target", "node_modules", "results"];

/// The page whose commands may be those of earlier versions.
const HISTORY: &str = "CHANGELOG.md";

/// A command of a page.
#[derive(Debug)]
struct Documented {
    page: String,
    /// The arguments, its own name first.
    arguments: Vec<String>,
    /// Whether the command stands in a sentence, which may leave out what is required, or name a
    /// value in capitals.
    in_a_sentence: bool,
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy();
        let is_ours = !name.starts_with('.') && !NO_PAGES.contains(&&*name);
        if path.is_dir() && !path.is_symlink() && is_ours {
            pages(&path, found);
        } else if name.ends_with(".md") && name != HISTORY {
            found.push(path);
        }
    }
}

/// The lines of blocks of shell and YAML, those that a backslash joins as one; and the text between
/// blocks.
fn lines(page: &str) -> (Vec<String>, String) {
    let (mut lines, mut text): (Vec<String>, String) = (Vec::new(), String::new());
    let (mut block, mut goes_on) = (None, false);
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(KINDS.contains(&kind.trim())),
                Some(_) => None,
            };
            continue;
        }
        match block {
            None => text.push_str(&format!("{line}\n")),
            Some(false) => {}
            Some(true) => {
                let part = line.trim().trim_end_matches('\\');
                match lines.last_mut() {
                    Some(last) if goes_on => last.push_str(part),
                    _ => lines.push(part.to_owned()),
                }
                goes_on = line.ends_with('\\');
            }
        }
    }
    (lines, text)
}

/// The arguments of the command in a line, its own name first: of `bakeoff`, or of a clone's.
fn command(line: &str) -> Option<Vec<String>> {
    let line = without_expressions(line).replace("cargo run --release --", "bakeoff");
    let words = shlex::split(&line)?;
    let begin = words.iter().position(|word| word == "bakeoff")?;
    let rest = words[begin..].iter();
    let arguments = rest.take_while(|word| !ENDS.contains(&word.as_str()));
    Some(arguments.flat_map(|word| expanded(word)).collect())
}

/// `records/locations/*/` is all folders in it, as a shell has it.
fn expanded(word: &str) -> Vec<String> {
    let Some(folder) = word.strip_suffix("/*/") else {
        return vec![word.to_owned()];
    };
    let entries = fs::read_dir(repository().join(folder)).unwrap();
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| format!("{folder}/{}", entry.file_name().display()))
        .collect()
}

/// `${{ github.base_ref }}` is one word to the shell that sees its value.
fn without_expressions(line: &str) -> String {
    let mut parts = line.split("${{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("value");
        text.push_str(part.split_once("}}").map_or("", |(_, rest)| rest));
    }
    text
}

/// Every command in a page's blocks and sentences.
fn commands(page: &str, text: &str) -> Vec<Documented> {
    let (lines, sentences) = lines(text);
    let of = |arguments: Vec<String>, in_a_sentence| Documented {
        page: page.to_owned(),
        arguments,
        in_a_sentence,
    };
    let in_blocks = lines.iter().filter_map(|line| command(line));
    let spans = sentences.split('`').skip(1).step_by(2);
    let spans = spans.filter(|span| span.starts_with("bakeoff "));
    // `[--profile P]` is an option that may be left out.
    let whole = spans.map(|span| match span.contains("[--") {
        true => span.replace(['[', ']'], ""),
        false => span.to_owned(),
    });
    let in_sentences = whole.filter_map(|span| command(&span));
    let blocks = in_blocks.map(|arguments| of(arguments, false));
    let sentences = in_sentences.map(|arguments| of(arguments, true));
    blocks.chain(sentences).collect()
}

/// The examples below the help of every command.
fn examples() -> Vec<Documented> {
    let cli = Cli::command();
    let helps = cli.get_subcommands().filter_map(|command| {
        let help = command.get_after_long_help()?.to_string();
        Some((format!("help of {}", command.get_name()), help))
    });
    let of = |(page, help): (String, String)| {
        let lines = help.lines().filter(|line| line.starts_with("  bakeoff "));
        let arguments: Vec<_> = lines.filter_map(command).collect();
        let documented = move |arguments| Documented {
            page: page.clone(),
            arguments,
            in_a_sentence: false,
        };
        arguments.into_iter().map(documented).collect::<Vec<_>>()
    };
    helps.flat_map(of).collect()
}

fn everything() -> Vec<Documented> {
    let root = repository();
    let mut paths = Vec::new();
    pages(&root, &mut paths);
    let of = |path: &PathBuf| {
        let page = path.strip_prefix(&root).unwrap().display().to_string();
        commands(&page, &fs::read_to_string(path).unwrap())
    };
    let mut all: Vec<Documented> = paths.iter().flat_map(of).collect();
    all.extend(examples());
    all
}

/// Whether a word stands for a value: `NAME`, `N`, `URL`.
fn is_placeholder(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_uppercase())
}

impl Documented {
    /// Returns the parsed command; `None` for a sentence's mention of a command that is there and
    /// takes these options.
    fn parsed(&self) -> Result<Option<Cli>, clap::Error> {
        let error = match Cli::try_parse_from(&self.arguments) {
            Ok(cli) => return Ok(Some(cli)),
            Err(error) => error,
        };
        let has_placeholder = self.arguments.iter().any(|word| is_placeholder(word));
        let value = error.get(ContextKind::InvalidValue);
        let lacks_value = matches!(value, Some(ContextValue::String(value)) if value.is_empty());
        let is_mention = match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingRequiredArgument => true,
            ErrorKind::InvalidValue => has_placeholder || lacks_value,
            ErrorKind::ValueValidation | ErrorKind::InvalidSubcommand => has_placeholder,
            _ => false,
        };
        match self.in_a_sentence && is_mention {
            true => Ok(None),
            false => Err(error),
        }
    }
}

#[test]
fn commands_of_the_pages_are_understood_and_can_be_planned() {
    let all = everything();
    let mut planned: Vec<(&str, String)> = Vec::new();
    let mut wrong: Vec<String> = Vec::new();
    for one in &all {
        let (page, words) = (one.page.as_str(), one.arguments.join(" "));
        let carried_out = match one.parsed() {
            Ok(Some(cli)) => planned::plan(cli, &repository()),
            Ok(None) => Ok(false),
            Err(error) => Err(error.into()),
        };
        match carried_out {
            Ok(true) => planned.push((page, words)),
            Ok(false) => {}
            Err(error) => wrong.push(format!("{page}: {words}\n  {error:#}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of = |page: &str| planned.iter().filter(|one| one.0 == page).count();
    for (page, least) in [
        ("README.md", 3),
        ("docs/KUBERNETES.md", 2),
        ("docs/how-to/capacity.md", 2),
        ("docs/how-to/duel.md", 2),
        ("docs/how-to/load.md", 4),
        ("records/bootzooka/README.md", 3),
        ("records/locations/README.md", 4),
        ("suites/locations/contenders/README.md", 1),
        ("suites/tapir/README.md", 6),
        ("help of run", 1),
        ("help of up", 3),
    ] {
        assert!(of(page) >= least, "{page}: {planned:#?}");
    }
    assert!(planned.len() >= 45, "{}: {planned:#?}", planned.len());
    assert!(all.len() >= 130, "{}", all.len());
    let words = all.iter().map(|one| one.arguments.join(" "));
    let workflow = words.filter(|words| words.contains("origin/value"));
    let workflow: Vec<String> = workflow.collect();
    assert!(
        matches!(workflow.as_slice(), [one] if one.ends_with("--out results/pull-request")),
        "{workflow:?}"
    );
}
