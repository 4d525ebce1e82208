//! The examples of `docs/FORMAT.md` are files as they really are.

use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::suite::Suite;
use bakeoff_model::text::diagnostic::SourceFile;

const PAGE: &str = include_str!("../../../../docs/FORMAT.md");

/// The contenders of the page, and the headings below which they stand.
const CONTENDERS: [(&str, &str); 2] = [
    ("http4k-3", "contenders/NAME/contender.toml"),
    ("shop", "Contenders that are not built"),
];

/// The TOML blocks of the page by the heading they stand below.
fn blocks() -> Vec<(String, String)> {
    let mut heading = String::new();
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in PAGE.lines() {
        match &mut block {
            Some(text) if line == "```" => {
                blocks.push((heading.clone(), std::mem::take(text)));
                block = None;
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line == "```toml" => block = Some(String::new()),
            None if line.starts_with('#') => {
                heading = line.trim_matches(['#', ' ', '`']).to_owned()
            }
            None => {}
        }
    }
    blocks
}

/// The suite of the examples: blocks below one heading are parts of one file.
pub(crate) fn page_suite() -> Suite {
    suite_with(&["http4k-3"])
}

/// The suite with these of the contenders.
fn suite_with(contenders: &[&str]) -> Suite {
    let text_below = |wanted: &str| -> String {
        let wanted = blocks()
            .into_iter()
            .filter(|(heading, _)| heading == wanted);
        wanted.map(|(_, text)| text).collect()
    };
    let file = |path: &str, heading: &str| SourceFile {
        path: path.to_owned(),
        text: text_below(heading),
    };
    let sources = SuiteSources {
        suite: file("suite.toml", "suite.toml"),
        checks: vec![file("checks/get.toml", "checks/*.toml")],
        contenders: CONTENDERS
            .iter()
            .filter(|(name, _)| contenders.contains(name))
            .map(|(name, heading)| ((*name).to_owned(), file(name, heading)))
            .collect(),
        published: Some(file("published.toml", "published.toml")),
    };
    parse::suite(&sources).unwrap_or_else(|diagnostics| {
        let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("docs/FORMAT.md has mistakes:\n{}", texts.join("\n"))
    })
}

#[test]
fn all_examples_parse() {
    let suite = suite_with(&CONTENDERS.map(|(name, _)| name));
    let mut known = vec!["suite.toml", "checks/*.toml", "published.toml"];
    known.extend(CONTENDERS.map(|(_, heading)| heading));
    for (heading, _) in blocks() {
        assert!(
            known.contains(&heading.as_str()),
            "nothing checks the example of {heading}"
        );
    }
    let published = suite.published.as_ref().unwrap();
    assert_eq!(published.results[0].peak, Some((7446.0, 32)));
    let rounds: Vec<Option<&str>> = published
        .claims
        .iter()
        .map(|c| c.round.as_deref())
        .collect();
    assert_eq!(
        rounds,
        [Some("http4k-engines"), None, None, None, None, None]
    );
    let last = published.claims.last();
    assert_eq!(
        last.and_then(|claim| claim.stand_in.as_deref()),
        Some("an adapter of ours for Helidon")
    );
    assert_eq!(suite.name, "locations");
    assert_eq!(suite.profiles["seed"].steps.len(), 16);
    assert_eq!(suite.checks.len(), 3);
    let names: Vec<&str> = suite.contenders.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["http4k-3", "http4k-3/jetty", "shop"]);
}
