//! Every command in a block of the pages is one that the command line understands.

use clap::Parser as _;

use super::Cli;

const PAGES: [(&str, &str); 10] = [
    ("README.md", include_str!("../../../../README.md")),
    ("docs/CI.md", include_str!("../../../../docs/CI.md")),
    (
        "docs/KUBERNETES.md",
        include_str!("../../../../docs/KUBERNETES.md"),
    ),
    (
        "docs/install.md",
        include_str!("../../../../docs/install.md"),
    ),
    (
        "docs/tutorial.md",
        include_str!("../../../../docs/tutorial.md"),
    ),
    (
        "docs/how-to/capacity.md",
        include_str!("../../../../docs/how-to/capacity.md"),
    ),
    (
        "docs/how-to/duel.md",
        include_str!("../../../../docs/how-to/duel.md"),
    ),
    (
        "docs/how-to/load.md",
        include_str!("../../../../docs/how-to/load.md"),
    ),
    (
        "docs/how-to/report.md",
        include_str!("../../../../docs/how-to/report.md"),
    ),
    (
        "docs/how-to/suite.md",
        include_str!("../../../../docs/how-to/suite.md"),
    ),
];

/// What ends a command in a shell.
const ENDS: [&str; 7] = ["|", "||", "&&", ";", ">", ">>", "#"];

/// The lines of blocks of shell and YAML, those that a backslash joins as one.
fn lines(page: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut inside, mut goes_on) = (false, false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside && ["sh", "yaml"].iter().any(|kind| line.ends_with(kind));
            continue;
        }
        if !inside {
            continue;
        }
        let part = line.trim().trim_end_matches('\\');
        match lines.last_mut() {
            Some(last) if goes_on => last.push_str(part),
            _ => lines.push(part.to_owned()),
        }
        goes_on = line.ends_with('\\');
    }
    lines
}

/// The arguments of the command `bakeoff` in a line, its own name first.
fn command(line: &str) -> Option<Vec<String>> {
    let words = shlex::split(&without_expressions(line))?;
    let begin = words.iter().position(|word| word == "bakeoff")?;
    let rest = words[begin..].iter();
    let arguments = rest.take_while(|word| !ENDS.contains(&word.as_str()));
    Some(arguments.cloned().collect())
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

#[test]
fn commands_of_the_pages_are_understood() {
    let mut found = Vec::new();
    for (page, text) in PAGES {
        for line in lines(text) {
            let Some(arguments) = command(&line) else {
                continue;
            };
            if let Err(error) = Cli::try_parse_from(&arguments) {
                panic!("{page}: {line}\n{error}");
            }
            found.push((page, arguments.join(" ")));
        }
    }
    let of = |page: &str| found.iter().filter(|one| one.0 == page).count();
    assert!(of("README.md") >= 1, "{found:?}");
    assert!(of("docs/CI.md") >= 3, "{found:?}");
    assert!(PAGES.iter().all(|(page, _)| of(page) >= 1), "{found:?}");
    let workflow = found.iter().find(|one| one.1.contains("origin/value"));
    let workflow = &workflow.unwrap().1;
    assert!(
        workflow.ends_with("--out results/pull-request"),
        "{workflow}"
    );
}
