//! The lines that differ between two revisions of the sources, and the functions that they are in,
//! by git.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context as _;
use bakeoff_model::measure::changed::Change;
use bakeoff_places::sweep::RunFolder;
use bakeoff_store::options::Revisions;
use regex::Regex;

use crate::revision::{git, output};

/// How git finds the function above a line, by the endings of files. Its other languages are those
/// that it has rules for itself.
const DRIVERS: [(&str, &str); 16] = [
    ("c", "cpp"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cs", "csharp"),
    ("ex", "elixir"),
    ("go", "golang"),
    ("java", "java"),
    ("js", SCRIPT),
    ("kt", "kotlin"),
    ("mjs", SCRIPT),
    ("php", "php"),
    ("py", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("scala", SCALA),
    ("ts", SCRIPT),
];
const SCRIPT: &str = "bakeoff-script";
const SCALA: &str = "bakeoff-scala";

/// Lines of JavaScript and TypeScript that begin a function; those after `!` do not.
const SCRIPT_LINES: &str = "!^[ \t]*(if|for|while|switch|catch|return|else)[ (]\n\
    ^[ \t]*(.*function[ *].*\\(.*|(export )?(const|let|var) [A-Za-z_$][A-Za-z_$0-9]* = .*=>.*|\
    ((async|static|get|set) )*[A-Za-z_$#][A-Za-z_$0-9]*\\(.*\\).*\\{)$";
/// Lines of Scala that begin a function.
const SCALA_LINES: &str = "^[ \t]*([a-z]+ )*(def|given) .*$";

/// The callers of the functions of more changes than this are not looked for.
const CALLED_MAX: usize = 100;

/// How far from a function its callers are looked for, if compilers inlined all between.
const CALLER_LEVELS: usize = 3;

/// More functions than this at one distance have no callers looked for: they are too many to answer
/// for a change, and each takes a search of all files.
const CALLED_AT_ONCE_MAX: usize = 10;

/// The beginnings of lines, after modifiers, that contain functions and are none.
const NO_FUNCTION: [&str; 12] = [
    "impl",
    "class",
    "struct",
    "enum",
    "mod",
    "trait",
    "object",
    "interface",
    "namespace",
    "package",
    "module",
    "record",
];

/// Words before a parenthesis that are no functions.
const NO_NAMES: [&str; 10] = [
    "if", "for", "while", "switch", "match", "catch", "return", "else", "new", "fn",
];

static CONTAINER: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        r"^(?:[a-z()]+\s+)*(?:{})\b",
        NO_FUNCTION.join("|")
    ))
});
/// `fn total`, `func (c *Cart) total`, `def total`, `fun String.total`, `function* total`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let keyword = r"\b(?:fn|func|def|fun|function)\b\*?\s+";
    let receiver = r"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?";
    regex(&format!(r"{keyword}{receiver}([A-Za-z_$][\w$]*)"))
});
/// `const total = (a) => {`.
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=.*(?:=>|function)"));
/// `public static long total(List<Item> items) {`.
static METHOD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:[\w<>\[\],.?&*:~@]+\s+)*?([A-Za-z_$#][\w$]*)\s*\("));

/// `const ROUNDS: u32 = 3`, `static final int ROUNDS = 3`, `ROUNDS = 3`.
static CONSTANT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(?:[\w()<>\[\]&']+\s+)*?([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=[^=>]"));

/// The number of a line: `=12=` if it begins a function, otherwise `:12:`.
static PLACE: LazyLock<Regex> = LazyLock::new(|| regex(r"=\d+=|:\d+:"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern that tests use")
}

/// Returns what differs in functions, in the order of the files.
///
/// # Errors
/// git cannot compare the revisions.
pub(crate) fn between(revisions: &Revisions) -> anyhow::Result<Vec<Change>> {
    let rules = Rules::write()?;
    let mut diff = rules.git(revisions, &["diff", "--unified=0", "--no-color"]);
    diff.args(["--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"]);
    diff.arg(&revisions.from).args(&revisions.to).arg("--");
    let text = output(diff)?.map_err(|said| {
        let (from, to) = (&revisions.from, revisions.to.as_deref());
        let to = to.unwrap_or("the files as they are");
        said.context(format_args!("git cannot compare {from} and {to}"))
    })?;
    let mut changes = changes(&text);
    for change in changes.iter_mut().take(CALLED_MAX) {
        change.callers = rules.callers(revisions, change)?;
    }
    Ok(changes)
}

/// Options of git by which it finds functions. Their file goes with this value.
struct Rules {
    folder: RunFolder,
}

impl Rules {
    fn write() -> anyhow::Result<Self> {
        let folder = RunFolder::temporary().context("no temporary folder can be made")?;
        let lines = DRIVERS.map(|(ending, driver)| format!("*.{ending} diff={driver}\n"));
        fs::write(folder.path().join("attributes"), lines.concat())?;
        Ok(Self { folder })
    }

    fn git(&self, revisions: &Revisions, arguments: &[&str]) -> std::process::Command {
        let file = self.folder.path().join("attributes");
        let settings = [
            "core.quotePath=false".to_owned(),
            format!("core.attributesFile={}", file.display()),
            format!("diff.{SCRIPT}.xfuncname={SCRIPT_LINES}"),
            format!("diff.{SCALA}.xfuncname={SCALA_LINES}"),
        ];
        let settings = settings.iter().flat_map(|one| ["-c", one.as_str()]);
        let all: Vec<&str> = settings.chain(arguments.iter().copied()).collect();
        git(&revisions.repository, &all)
    }

    /// Returns the functions that name one of a change, in files with the same ending, then those
    /// that name these, and so on.
    fn callers(
        &self,
        revisions: &Revisions,
        change: &Change,
    ) -> anyhow::Result<Vec<BTreeSet<String>>> {
        let ending = Path::new(&change.file).extension().and_then(OsStr::to_str);
        let mut known = change.functions.clone();
        let mut levels = vec![change.functions.clone()];
        let is_searched = |last: &&BTreeSet<String>| (1..=CALLED_AT_ONCE_MAX).contains(&last.len());
        while let Some(called) = levels.last().filter(is_searched)
            && levels.len() <= CALLER_LEVELS
        {
            let mut callers = self.callers_of(called, revisions, ending)?;
            callers.retain(|caller| known.insert(caller.clone()));
            levels.push(callers);
        }
        Ok(levels.split_off(1))
    }

    /// Returns the functions that name one of these, in files with an ending.
    fn callers_of(
        &self,
        called: &BTreeSet<String>,
        revisions: &Revisions,
        ending: Option<&str>,
    ) -> anyhow::Result<BTreeSet<String>> {
        let mut callers = BTreeSet::new();
        for name in called {
            let grep = ["grep", "-n", "--show-function", "--word-regexp", "-e", name];
            let mut grep = self.git(revisions, &grep);
            grep.args(&revisions.to).arg("--");
            grep.args(ending.map(|ending| format!("*.{ending}")));
            // That nothing is found is a failure to git.
            callers.extend(callers_in(&output(grep)?.unwrap_or_default(), name));
        }
        Ok(callers)
    }
}

/// The functions in which other lines name one, in what `git grep --show-function` writes: lines
/// with `=` after their number begin a function.
fn callers_in(text: &str, name: &str) -> BTreeSet<String> {
    let mut callers = BTreeSet::new();
    let mut function = None;
    for line in text.lines() {
        let Some(place) = PLACE.find(line) else {
            continue;
        };
        let code = &line[place.end()..];
        match place.as_str().starts_with('=') {
            true => function = function_of_header(code),
            false if defined(code).as_deref() != Some(name) => callers.extend(function.clone()),
            false => {}
        }
    }
    callers
}

/// Reads a diff without context. Places in the same functions and constants of a file are one
/// change; those in none are none.
fn changes(diff: &str) -> Vec<Change> {
    let mut found: BTreeMap<Place, Vec<(u32, u32)>> = BTreeMap::new();
    let mut file = String::new();
    let mut hunk: Option<Hunk> = None;
    let mut end = |hunk: Option<Hunk>, file: &str| {
        let Some(hunk) = hunk.filter(|hunk| !hunk.functions.is_empty()) else {
            return;
        };
        let key = (file.to_owned(), hunk.functions);
        found.entry(key).or_default().push(hunk.lines);
    };
    for line in diff.lines() {
        let is_inside = hunk.as_ref().is_some_and(|hunk| hunk.left > 0);
        match &mut hunk {
            Some(hunk) if is_inside => hunk.take(line),
            _ => {
                if let Some(header) = line.strip_prefix("@@ ") {
                    end(hunk.take(), &file);
                    hunk = Hunk::of(header);
                } else if let Some(name) = line.strip_prefix("--- a/") {
                    end(hunk.take(), &file);
                    path(name).clone_into(&mut file);
                } else if let Some(name) = line.strip_prefix("+++ b/") {
                    path(name).clone_into(&mut file);
                }
            }
        }
    }
    end(hunk, &file);
    let changes = found.into_iter().map(|((file, functions), lines)| Change {
        file,
        lines,
        functions,
        callers: Vec::new(),
    });
    changes.collect()
}

/// A path in a header: git ends those that contain spaces with a tab.
fn path(name: &str) -> &str {
    name.trim_end_matches('\t')
}

/// A file, and functions in it.
type Place = (String, BTreeSet<String>);

/// A place of a diff.
struct Hunk {
    /// First and last line of the new version.
    lines: (u32, u32),
    /// How many lines of it follow.
    left: u32,
    /// The function that begins above it.
    above: Option<String>,
    functions: BTreeSet<String>,
}

impl Hunk {
    /// `-40,2 +41,8 @@ fn total(items: &[Item]) -> u64 {`.
    fn of(header: &str) -> Option<Self> {
        let (places, function) = header.split_once(" @@")?;
        let (old, new) = places.split_once(' ')?;
        let part = |text: &str| -> Option<(u32, u32)> {
            match text[1..].split_once(',') {
                Some((first, length)) => Some((first.parse().ok()?, length.parse().ok()?)),
                None => Some((text[1..].parse().ok()?, 1)),
            }
        };
        let ((_, removed), (first, added)) = (part(old)?, part(new)?);
        Some(Self {
            lines: (first, first + added.saturating_sub(1)),
            left: removed + added,
            above: function_of_header(function),
            functions: BTreeSet::new(),
        })
    }

    /// Takes a changed line. Lines before the first function that begins here are of the one above.
    fn take(&mut self, line: &str) {
        if line.starts_with('\\') {
            return;
        }
        self.left -= 1;
        let text = line.get(1..).unwrap_or_default();
        if let Some(name) = defined(text) {
            self.above = None;
            self.functions.insert(name);
        } else if let Some(constant) = CONSTANT.captures(text) {
            self.functions.insert(constant[1].to_owned());
        } else if is_work(text) {
            self.functions.extend(self.above.take());
        }
    }
}

/// Whether a line may do anything: neither empty nor a comment, an attribute or an end.
fn is_work(line: &str) -> bool {
    let line = line.trim();
    let begins = ["//", "/*", "*", "#", "@", "\"\"\""];
    line.chars().any(char::is_alphanumeric) && !begins.iter().any(|one| line.starts_with(one))
}

/// The name of the function that begins in the line that git shows of it.
fn function_of_header(line: &str) -> Option<String> {
    let line = line.trim();
    if CONTAINER.is_match(line) && !NAMED.is_match(line) {
        return None;
    }
    named(line).or_else(|| {
        let name = METHOD.captures(line)?[1].to_owned();
        (!NO_NAMES.contains(&name.as_str())).then_some(name)
    })
}

/// The name of the function that begins in any line.
fn defined(line: &str) -> Option<String> {
    let begins_block = || {
        let line = line.trim_end();
        let is_call = line.contains('=') || line.trim_start().starts_with('.');
        line.ends_with('{') && !is_call
    };
    named(line).or_else(|| {
        let name = begins_block().then(|| METHOD.captures(line)).flatten()?[1].to_owned();
        let words = line.split_whitespace();
        let is_statement = words.take(2).any(|word| {
            let word = word.trim_start_matches('}');
            NO_NAMES
                .iter()
                .any(|one| word == *one || word.starts_with(&format!("{one}(")))
        });
        (!is_statement && !NO_NAMES.contains(&name.as_str())).then_some(name)
    })
}

fn named(line: &str) -> Option<String> {
    let found = NAMED.captures(line).or_else(|| ASSIGNED.captures(line))?;
    Some(found[1].to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use bakeoff_store::options::Revisions;

    use super::{between, changes, defined};
    use crate::revision::{git, output};

    #[test]
    fn lines_that_begin_functions_are_known() {
        for (line, name) in [
            (
                "    pub(crate) fn total<'a>(&self, x: u32) -> u64 {",
                "total",
            ),
            ("func (c *Cart) Total(x int) int {", "Total"),
            ("func Map[K comparable](x K) {", "Map"),
            ("    async def total(self):", "total"),
            ("  def total: Int =", "total"),
            ("private fun <T> List<T>.total(): Int {", "total"),
            ("export async function total(a, b) {", "total"),
            ("const total = async (a) => {", "total"),
            ("  total(a, b) {", "total"),
            ("    public static long total(List<Item> items) {", "total"),
        ] {
            assert_eq!(defined(line).as_deref(), Some(name), "{line}");
        }
        for line in [
            "    let x = total(items);",
            "        total(items);",
            "    if (total(items) > 3) {",
            "    } else if (total(items) > 3) {",
            "    for (int i = 0; i < 3; i++) {",
            "    return total(items);",
            "    items.forEach(item -> {",
            "impl Cart {",
        ] {
            assert_eq!(defined(line), None, "{line}");
        }
    }

    #[test]
    fn places_are_in_the_function_above_or_in_those_that_they_begin() {
        let diff = "diff --git a/src/price.rs b/src/price.rs\n--- a/src/price.rs\n\
                    +++ b/src/price.rs\n\
                    @@ -10 +10,2 @@ fn total(items: &[Item]) -> u64 {\n\
                    -    old\n+    new\n+    more\n\
                    @@ -20,0 +22 @@ fn total(items: &[Item]) -> u64 {\n+    again\n\
                    @@ -30,0 +33,3 @@ fn tax(x: u64) -> u64 {\n+\n+fn vat() {\n+}\n\
                    @@ -40 +45,0 @@ impl Cart {\n---- strange\n\
                    @@ -50 +54 @@ fn vat() {\n-const ROUNDS: u32 = 3;\n+const ROUNDS: u32 = 4;\n\
                    diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n\
                    @@ -1 +1 @@\n-a\n+b\n";
        let found = changes(diff);
        let described: Vec<String> = found.iter().map(|one| one.describe()).collect();
        assert_eq!(
            described,
            [
                "src/price.rs:54 (ROUNDS)",
                "src/price.rs:10-11, 22 (total)",
                "src/price.rs:33-35 (vat)"
            ]
        );
    }

    fn repository(folder: &Path, versions: [&[(&str, &str)]; 2]) -> Revisions {
        let run = |arguments: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            output(git(folder, &[&who[..], arguments].concat()))
                .unwrap()
                .unwrap()
        };
        run(&["init", "--quiet"]);
        let [from, to] = versions.map(|files| {
            for (name, text) in files {
                fs::write(folder.join(name), text).unwrap();
            }
            run(&["add", "."]);
            run(&["commit", "--quiet", "-m", "x"]);
            run(&["rev-parse", "HEAD"])
        });
        Revisions {
            repository: folder.to_owned(),
            from,
            to: Some(to),
        }
    }

    #[test]
    fn git_names_the_functions_and_their_callers() {
        let folder = tempfile::tempdir().unwrap();
        let rust = |work: &str| {
            format!(
                "fn total() {{\n    let a = 1;\n    {work}\n}}\n\n\
                 fn sum() {{\n    total();\n}}\n\nfn all() {{\n    sum();\n}}\n"
            )
        };
        let scala = |work: &str| format!("object A:\n  def price(a: Int): Int =\n    {work}\n");
        let script =
            |work: &str| format!("const vat = (a) => {{\n  if (a) {{\n    {work}\n  }}\n}}\n");
        let (old, new) = ("one", "two");
        let revisions = repository(
            folder.path(),
            [old, new].map(|work| {
                let files: Vec<(&'static str, &'static str)> = vec![
                    ("a.rs", &*rust(work).leak()),
                    ("a.scala", &*scala(work).leak()),
                    ("a.js", &*script(work).leak()),
                ];
                &*files.leak()
            }),
        );
        let found = between(&revisions).unwrap();
        let described: Vec<String> = found.iter().map(|one| one.describe()).collect();
        assert_eq!(
            described,
            ["a.js:3 (vat)", "a.rs:3 (total)", "a.scala:3 (price)"]
        );
        let callers = ["sum", "all"].map(|name| BTreeSet::from([name.to_owned()]));
        assert_eq!(found[1].callers[..2], callers);
    }
}
