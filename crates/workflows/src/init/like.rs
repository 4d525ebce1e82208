//! A suite after the example of one that comes with bakeoff: its profiles, benchmarks, checks and
//! backends with the files that they need, and one contender that passes. The files are part of the
//! program, so that no clone is needed.

use std::path::Path;

use bakeoff_model::parse::files;

use crate::init::{suite_name, title};
use crate::service::DuelService;
use crate::service::tables::contender;

/// The suites that can be an example.
pub const NAMES: [&str; 1] = ["locations"];

const HEAD: &str = include_str!("template/like-locations.toml");
const README: &str = include_str!("template/like-locations.md");
const OWN: &str = include_str!("template/own-contender.toml");

/// Files of the suite, by their paths in it (`locations.files`, see `build.rs`). The contender is
/// the one with the fewest files that builds with nothing but a compiler; the recording is of what
/// it asks the backend.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/locations.rs"));

/// Files that are not copied but made anew, of their text in the suite.
const SUITE: &str = "suite.toml";
const CONTRACT: &str = "contenders/README.md";

/// Profiles that are about what others published, and mean nothing in another suite.
const LEFT_OUT: [&str; 2] = ["[profile.seed]", "[profile.record]"];

/// Comments above the first paragraph that starts with this.
const COMMENTS: [(&str, &str); 5] = [
    (
        "[env]",
        "# What contenders find in their environment; where the backend listens is filled in.",
    ),
    (
        "[env-unreachable]",
        "# The same for the check that a contender without its backend ends, and says why.",
    ),
    (
        "[[backend]]",
        "# What contenders call. `replay` serves recordings of the real one from memory, so \
         that\n# the contender is measured and not its backend. It knows what contenders/actix-4 \
         asks. For one\n# that asks otherwise: bakeoff record @FOLDER@ --contender NAME",
    ),
    (
        "[profile.smoke]",
        "# How much is measured, and under which limits. `quick` is what `run` takes unless \
         --profile says\n# otherwise; verdicts want `standard`.",
    ),
    (
        "[[benchmark]]",
        "# What is measured: requests with what must come back. A wrong response is a failure, \
         and a\n# contender that calls the backend less than `backend-requests-min` does other \
         work: its numbers\n# are invalid.",
    ),
];

/// The files of a suite that is like one of [`NAMES`].
pub(super) fn files(
    folder: &Path,
    sides: &[DuelService],
    workdir: &Path,
) -> Vec<(String, Vec<u8>)> {
    let contract = text(CONTRACT);
    let contract = section(contract, "## What the service does", "## Trying it");
    let readme = filled(README, folder).replace("@CONTRACT@", contract.trim_end());
    let mut files = vec![
        (SUITE.to_owned(), suite_file(folder).into_bytes()),
        (CONTRACT.to_owned(), readme.into_bytes()),
    ];
    let as_it_is = FILES
        .iter()
        .filter(|(path, _)| ![SUITE, CONTRACT].contains(path))
        .map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
    files.extend(as_it_is);
    for side in sides {
        let path = format!("contenders/{}/contender.toml", side.name);
        files.push((path, files::text(&contender(side, workdir)).into_bytes()));
    }
    if sides.is_empty() {
        let path = "contenders/mine/contender.toml.example".to_owned();
        files.push((path, filled(OWN, folder).into_bytes()));
    }
    files
}

/// The suite's own file with its name, without its rounds, and with comments that teach.
fn suite_file(folder: &Path) -> String {
    let suite = text(SUITE);
    let rounds = suite.find("\n[[round]]").unwrap_or(suite.len());
    let mut text = filled(HEAD, folder);
    let mut comments = COMMENTS.to_vec();
    for paragraph in suite[..rounds].split("\n\n") {
        // The last paragraph ends in the comment above the first round.
        let lines = paragraph
            .lines()
            .filter(|line| !line.starts_with("# Qualification"));
        let lines: Vec<&str> = lines.collect();
        let Some(first) = lines.first().filter(|first| !LEFT_OUT.contains(first)) else {
            continue;
        };
        if let Some(at) = comments.iter().position(|(begin, _)| begin == first) {
            text.push_str(&format!("{}\n", filled(comments.remove(at).1, folder)));
        }
        let lines = lines.join("\n");
        text.push_str(&lines.replace("\"locations\"", &format!("\"{}\"", suite_name(folder))));
        text.push_str("\n\n");
    }
    format!("{}\n", text.trim_end())
}

/// The text of a file of the suite.
fn text(path: &str) -> &'static str {
    let file = FILES.iter().find(|(file, _)| *file == path);
    file.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok())
        .unwrap_or_default()
}

fn filled(text: &str, folder: &Path) -> String {
    text.replace("@FOLDER@", &title(folder))
}

/// From one line of a text to before another one.
fn section<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let from = text.find(from).unwrap_or(0);
    let rest = &text[from..];
    &rest[..rest.find(to).unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{COMMENTS, CONTRACT, FILES, files, suite_file, text};

    const LOCATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/locations");

    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn every_check_and_every_file_of_the_contender_comes_along() {
        for part in ["checks", "contenders/actix-4"] {
            let mut found = Vec::new();
            below(&Path::new(LOCATIONS).join(part), &mut found);
            assert!(!found.is_empty());
            for path in found {
                let path = path.strip_prefix(LOCATIONS).unwrap().to_str().unwrap();
                let is_there = FILES.iter().any(|(file, _)| *file == path);
                assert!(is_there, "{path} is missing in FILES");
            }
        }
    }

    #[test]
    fn the_suite_teaches_and_has_no_rounds_of_others() {
        let text = suite_file(Path::new("some/shop"));
        for (_, comment) in COMMENTS {
            let first = comment.lines().next().unwrap();
            assert!(text.contains(first), "{first}");
        }
        assert!(text.contains("name = \"shop\""), "{text}");
        for gone in [
            "\n[[round]]",
            "http4k",
            "[profile.seed]",
            "[profile.record]",
            "@",
        ] {
            assert!(!text.contains(gone), "{gone} is still in it");
        }
        let wide = text
            .lines()
            .filter(|line| line.starts_with('#') && line.len() > 100);
        assert_eq!(Vec::from_iter(wide), [""; 0]);
    }

    #[test]
    fn what_the_service_does_is_told() {
        let files = files(Path::new("shop"), &[], Path::new("/"));
        let readme = files
            .iter()
            .find(|(path, _)| path == "contenders/README.md");
        let readme = String::from_utf8(readme.unwrap().1.clone()).unwrap();
        assert!(readme.contains("| `/city/v1/closest` |"), "{readme}");
        assert!(text(CONTRACT).contains("## Trying it") && !readme.contains("## Trying it"));
        assert!(!readme.contains('@'), "{readme}");
    }
}
