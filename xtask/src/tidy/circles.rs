//! Import circles between the files of a crate, and between its modules.
//!
//! A file depends on another when it names something that is defined there; what a module only
//! passes on (`pub use`) is counted for the file it comes from. A module and the one it is
//! declared in may know each other; every other circle is a finding, also one that passes through
//! such a pair. If a crate has no such circles, the modules of its root are checked as well, each
//! with all that is below it: two of them that need each other are one room.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::modules::{Crate, Module, ModulePath};

/// Longest chain of names that are passed on; a longer one is a circle of `pub use`, which does
/// not compile.
const EXPORTS_MAX: usize = 16;

/// File -> files that it depends on, each with the line of the first name taken from it. For
/// modules, the file that takes it as well.
type Graph<'a, Taken = usize> = BTreeMap<&'a Path, BTreeMap<&'a Path, Taken>>;

/// The circles of a crate: the shortest one through each file that is in one.
pub(super) fn check(one: &Crate) -> Vec<String> {
    let graph = graph(one);
    let parents = parents(one);
    let mut covered: BTreeSet<&Path> = BTreeSet::new();
    let mut findings = Vec::new();
    for &start in graph.keys() {
        if covered.contains(start) {
            continue;
        }
        if let Some(circle) = circle(&graph, &parents, start) {
            covered.extend(&circle);
            findings.push(describe(&graph, one, &circle));
        }
    }
    match findings.is_empty() {
        true => check_modules(one, &graph),
        false => findings,
    }
}

/// The circles of the modules of a crate's root: the shortest one through each that is in one.
fn check_modules(one: &Crate, files: &Graph<'_>) -> Vec<String> {
    let folder = folder(one);
    let mut graph: Graph<'_, (&Path, usize)> = Graph::new();
    for (file, targets) in files {
        let Some(from) = room(folder, file) else {
            continue;
        };
        let taken = graph.entry(from).or_default();
        for (target, line) in targets {
            if let Some(to) = room(folder, target).filter(|to| *to != from) {
                taken.entry(to).or_insert((file, *line));
            }
        }
    }
    let mut covered: BTreeSet<&Path> = BTreeSet::new();
    let mut findings = Vec::new();
    for &start in graph.keys() {
        if covered.contains(start) {
            continue;
        }
        if let Some(circle) = circle(&graph, &BTreeMap::new(), start) {
            covered.extend(&circle);
            let ends = circle.iter().skip(1).chain(circle.first());
            let steps = circle.iter().zip(ends).map(|(from, to)| {
                let (file, line) = graph[from][to];
                let file = file.strip_prefix(folder).unwrap_or(file);
                format!("{} ({}:{line}) -> ", from.display(), file.display())
            });
            let steps: String = steps.collect();
            findings.push(format!(
                "{}: circle of modules: {steps}{}",
                folder.display(),
                start.display()
            ));
        }
    }
    findings
}

/// The module of the root in which a file is; `None` for the root itself.
fn room<'a>(folder: &Path, file: &'a Path) -> Option<&'a Path> {
    let inside = file.strip_prefix(folder).ok()?;
    let first = Path::new(inside.components().next()?.as_os_str());
    let is_root = inside.ends_with("lib.rs") || inside.ends_with("main.rs");
    (!is_root).then(|| Path::new(first.file_stem().unwrap_or(first.as_os_str())))
}

fn folder(one: &Crate) -> &Path {
    one.root.parent().unwrap_or(Path::new(""))
}

fn graph(one: &Crate) -> Graph<'_> {
    let mut graph = Graph::new();
    for (path, module) in &one.modules {
        let from = module.file.as_path();
        let targets = graph.entry(from).or_default();
        for reference in &module.references {
            if let Some(target) = resolve(one, path, &reference.names, 0)
                && target.file != from
            {
                let line = targets.entry(&target.file).or_insert(reference.line);
                *line = reference.line.min(*line);
            }
        }
    }
    graph
}

/// The module that defines what a path names, as seen from a module; `None` when it is of another
/// crate.
fn resolve<'a>(
    one: &'a Crate,
    from: &[String],
    names: &[String],
    depth: usize,
) -> Option<&'a Module> {
    let (mut at, mut rest): (ModulePath, &[String]) = match names.split_first()? {
        (first, rest) if first == "crate" => (Vec::new(), rest),
        (first, rest) if first == "self" => (from.to_vec(), rest),
        (first, _) if first == "super" => (from.to_vec(), names),
        // A name without a prefix is that of a module declared here, or of another crate.
        (first, _) => {
            let child = [from, std::slice::from_ref(first)].concat();
            one.modules.contains_key(&child).then_some(())?;
            (from.to_vec(), names)
        }
    };
    while let Some((name, after)) = rest.split_first() {
        if name == "super" {
            at.pop()?;
        } else {
            at.push(name.clone());
            if !one.modules.contains_key(&at) {
                at.pop();
                return Some(definer(one, &at, rest, depth));
            }
        }
        rest = after;
    }
    one.modules.get(&at)
}

/// The module that defines the first of some names which `at` knows.
fn definer<'a>(one: &'a Crate, at: &[String], names: &[String], depth: usize) -> &'a Module {
    let module = &one.modules[at];
    let export = names.first().and_then(|name| module.exports.get(name));
    match export {
        Some(path) if depth < EXPORTS_MAX => {
            let path = [path.as_slice(), &names[1..]].concat();
            resolve(one, at, &path, depth + 1).unwrap_or(module)
        }
        _ => module,
    }
}

/// File -> the file in which its module is declared.
fn parents(one: &Crate) -> BTreeMap<&Path, &Path> {
    let declared = one.modules.iter().filter_map(|(path, module)| {
        let (_, above) = path.split_last()?;
        let parent = one.modules.get(above)?;
        (parent.file != module.file).then_some((module.file.as_path(), parent.file.as_path()))
    });
    declared.collect()
}

/// The shortest circle through a file that is not merely a module and its parent.
fn circle<'a, Taken>(
    graph: &Graph<'a, Taken>,
    parents: &BTreeMap<&Path, &Path>,
    start: &'a Path,
) -> Option<Vec<&'a Path>> {
    let pair = |a: &Path, b: &Path| parents.get(a) == Some(&b) || parents.get(b) == Some(&a);
    let ways = graph[start].keys().filter_map(|&first| {
        // Back by the same pair is not a circle if the two are parent and child.
        let way = way(graph, first, start, pair(start, first))?;
        Some([vec![start], way].concat())
    });
    ways.min_by_key(Vec::len)
}

/// The shortest way from one file to another, `to` left out; the direct one only if it counts.
fn way<'a, Taken>(
    graph: &Graph<'a, Taken>,
    from: &'a Path,
    to: &'a Path,
    without_direct: bool,
) -> Option<Vec<&'a Path>> {
    let mut before: BTreeMap<&Path, &'a Path> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &next in graph.get(at)?.keys() {
            if next == to && !(at == from && without_direct) {
                let steps = std::iter::successors(Some(at), |step| before.get(step).copied());
                let mut way: Vec<&Path> = steps.collect();
                way.reverse();
                return Some(way);
            }
            if next != to && next != from && !before.contains_key(next) {
                before.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

/// `crates/load/src: circle: a.rs (12) -> b.rs (3) -> a.rs`, with the lines of what is taken.
fn describe(graph: &Graph<'_>, one: &Crate, circle: &[&Path]) -> String {
    let folder = folder(one);
    let short = |path: &Path| -> PathBuf { path.strip_prefix(folder).unwrap_or(path).to_owned() };
    let ends = circle.iter().skip(1).chain(circle.first());
    let steps = circle.iter().zip(ends).map(|(from, to)| {
        let line = graph[from][to];
        format!("{}:{line} -> ", short(from).display())
    });
    let first = circle.first().map(|path| short(path)).unwrap_or_default();
    let steps: String = steps.collect();
    format!(
        "{}: import circle: {steps}{}",
        folder.display(),
        first.display()
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::modules::crates;
    use super::super::source::SourceFile;
    use super::check;

    /// The circles of a crate with these files.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(name, text)| SourceFile {
                path: PathBuf::from("src").join(name),
                text: (*text).to_owned(),
                syntax: syn::parse_file(text).unwrap(),
            })
            .collect();
        crates(&files).iter().flat_map(check).collect()
    }

    #[test]
    fn siblings_that_know_each_other_are_a_circle() {
        let root = ("lib.rs", "mod a; mod b;");
        let a = ("a.rs", "use crate::b::B;");
        let b = ("b.rs", "\nfn f() -> super::a::A {}");
        let expect = "src: import circle: a.rs:1 -> b.rs:2 -> a.rs";
        assert_eq!(circles(&[root, a, b]), [expect]);
        // In macros, too.
        let b = ("b.rs", "fn f() {\n say!(\"{}\", crate::a::A);\n}");
        assert_eq!(circles(&[root, a, b]), [expect]);
        // Tests may know what they like.
        let b = ("b.rs", "#[cfg(test)] mod tests { use crate::a::A; }");
        assert_eq!(circles(&[root, a, b]), [""; 0]);
    }

    #[test]
    fn parent_and_child_may_know_each_other() {
        let root = ("lib.rs", "mod a; use a::A; struct Shared;");
        assert_eq!(circles(&[root, ("a.rs", "use super::Shared;")]), [""; 0]);
        let with_sibling = [
            ("lib.rs", "mod a; mod b; use a::A; struct Shared;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::Shared;"),
        ];
        assert_eq!(
            circles(&with_sibling),
            ["src: import circle: a.rs:1 -> b.rs:1 -> lib.rs:1 -> a.rs"]
        );
    }

    #[test]
    fn modules_that_need_each_other_are_a_circle_without_one_of_files() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod high; mod low;"),
            ("a/high.rs", "use crate::b::B;"),
            ("a/low.rs", "struct Low;"),
            ("b.rs", "use crate::a::low::Low;"),
        ];
        assert_eq!(
            circles(&files),
            ["src: circle of modules: a (a/high.rs:1) -> b (b.rs:1) -> a"]
        );
    }

    #[test]
    fn what_is_passed_on_counts_for_where_it_comes_from() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; mod c; pub use a::{self, A as Other}; pub use c::C;",
            ),
            ("a/mod.rs", "mod deep; pub(crate) use deep::D; struct A;"),
            ("a/deep.rs", "use crate::C;"),
            ("b.rs", "use crate::Other; use crate::a::D;"),
            ("c.rs", "use crate::b::B;"),
        ];
        assert_eq!(
            circles(&files),
            ["src: import circle: a/deep.rs:1 -> c.rs:1 -> b.rs:1 -> a/deep.rs"]
        );
    }
}
