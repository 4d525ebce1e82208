//! The CPU time of lines that changed between two versions of a program, by stack samples: the
//! functions that these lines are in, with all that they call.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::path::Path;

use super::layers::{KERNEL, NamedSamples, stacks};

/// Files that name no module: the folder does.
const STEMS_WITHOUT_NAME: [&str; 5] = ["lib", "main", "mod", "index", "__init__"];

/// Parts of names that compilers give to functions inside another one.
const INSIDE: [&str; 4] = ["closure", "lambda", "anonfun", "adapted"];

/// Lines of a file that changed, all in the same functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, relative to the top of its repository.
    pub file: String,
    /// First and last of the new version's lines in each place; where lines were only removed, the
    /// line before them.
    pub lines: Vec<(u32, u32)>,
    /// Names of the functions, without modules and classes, and of constants.
    pub functions: BTreeSet<String>,
    /// The functions that name one of [`Change::functions`], then those that name these, and so on.
    pub callers: Vec<BTreeSet<String>>,
}

impl Change {
    /// Returns the place in words: `src/price.rs:41-48 (total)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let lines = self.lines.iter().map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        let lines: Vec<String> = lines.collect();
        let functions: Vec<&str> = self.functions.iter().map(String::as_str).collect();
        let (lines, functions) = (lines.join(", "), functions.join(", "));
        format!("{}:{lines} ({functions})", self.file)
    }

    /// Returns the frames of this change: its functions, or if none is a frame, as when a compiler
    /// inlined them, the nearest callers that are.
    fn frames<'f>(&self, frames: &BTreeMap<&'f str, Frame<'f>>) -> BTreeSet<&'f str> {
        let named = |names: &BTreeSet<String>| {
            let all = frames.iter();
            let of_name = all.filter(|(_, frame)| names.contains(frame.function));
            let of_name: Vec<(&&str, &Frame<'_>)> = of_name.collect();
            let hints = self.hints();
            let of_file = of_name.iter().filter(|(_, frame)| frame.is_of(&hints));
            let of_file: BTreeSet<&str> = of_file.map(|(name, _)| **name).collect();
            match of_file.is_empty() {
                true => of_name.iter().map(|(name, _)| **name).collect(),
                false => of_file,
            }
        };
        let mut levels = iter::once(&self.functions).chain(&self.callers).map(named);
        levels.find(|frames| !frames.is_empty()).unwrap_or_default()
    }

    /// Returns parts of the names of this file's functions: its module, class or package.
    fn hints(&self) -> Vec<&str> {
        let path = Path::new(&self.file);
        let parent = path.parent().and_then(Path::file_name);
        let parent = parent.and_then(|name| name.to_str());
        match path.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if !STEMS_WITHOUT_NAME.contains(&stem) => vec![stem],
            _ => parent.into_iter().collect(),
        }
    }
}

/// The name of a function of a stack, in parts.
struct Frame<'f> {
    function: &'f str,
    parts: Vec<&'f str>,
}

impl<'f> Frame<'f> {
    fn of(frame: &'f str) -> Option<Self> {
        if frame.ends_with(KERNEL) {
            return None;
        }
        let name = match frame.split_once("@@") {
            Some((name, _version)) => name,
            None => frame,
        };
        let (name, place) = split_place(name);
        let name = without_arguments(name);
        let is_part = |part: &&str| !part.is_empty();
        let split = |text: &'f str| text.split(|letter: char| !is_of_name(letter));
        let own = split(name).filter(is_part);
        let own: Vec<&str> = own.filter(|part| !is_inside(part)).collect();
        Some(Self {
            function: own.last()?,
            parts: own.iter().copied().chain(split(place)).collect(),
        })
    }

    fn is_of(&self, hints: &[&str]) -> bool {
        // Kotlin's functions outside of classes are of `PriceKt` in price.kt or Price.kt.
        let is_hint = |part: &&str| {
            let class = part.strip_suffix("Kt").unwrap_or(part);
            hints.iter().any(|hint| hint.eq_ignore_ascii_case(class))
        };
        self.parts.iter().any(is_hint)
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a part of a name says that the function is inside another one, or is its number or hash.
fn is_inside(part: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
    let is_hash = part.len() == 17
        && part.starts_with('h')
        && part[1..].bytes().all(|letter| letter.is_ascii_hexdigit());
    INSIDE.contains(&part)
        || is_number(part)
        || is_hash
        || part.strip_prefix("func").is_some_and(is_number)
}

/// The name and the place of a function of JavaScript or Python; others have no place.
fn split_place(name: &str) -> (&str, &str) {
    if let Some(script) = name.strip_prefix("JS:") {
        return script.split_once(' ').unwrap_or((script, ""));
    }
    let of_python = name.strip_prefix("py::");
    let split = of_python.and_then(|rest| rest.rsplit_once(':'));
    split.unwrap_or((name, ""))
}

/// `a::total` of `a::total<B>(int)`. `main.(*Cart).total` of Go stays.
fn without_arguments(name: &str) -> &str {
    let begin = name.char_indices().find(|(at, letter)| {
        *letter == '(' && *at > 0 && name.as_bytes()[at - 1] != b'.' && !name.starts_with('<')
    });
    let name = begin.map_or(name, |(at, _)| &name[..at]);
    if !name.ends_with('>') {
        return name;
    }
    let mut open = 0_i32;
    for (at, letter) in name.char_indices().rev() {
        open += match letter {
            '>' => 1,
            '<' => -1,
            _ => 0,
        };
        if open == 0 && at > 0 {
            return name[..at].trim_end_matches(':');
        }
    }
    name
}

/// Returns the samples through each change in the folded stacks of each side, in the order of the
/// changes. All sides are read together, so that a change means the same functions in each.
#[must_use]
pub fn samples(changes: &[Change], sides: &[&str]) -> Vec<Vec<NamedSamples>> {
    let of_stacks = sides.iter().flat_map(|folded| stacks(folded));
    let names: BTreeSet<&str> = of_stacks.flat_map(|(stack, _)| frames(stack)).collect();
    let frames_of: BTreeMap<&str, Frame<'_>> = names
        .into_iter()
        .filter_map(|name| Some((name, Frame::of(name)?)))
        .collect();
    let of_changes: Vec<BTreeSet<&str>> = changes
        .iter()
        .map(|change| change.frames(&frames_of))
        .collect();
    let through = |folded: &&str| {
        let named = changes.iter().zip(&of_changes);
        let named = named.map(|(change, own)| {
            let mut found = NamedSamples {
                name: change.describe(),
                samples: 0,
                kernel: 0,
            };
            let stacks = stacks(folded);
            for (stack, count) in
                stacks.filter(|(stack, _)| frames(stack).any(|one| own.contains(one)))
            {
                found.samples += count;
                found.kernel += if stack.ends_with(KERNEL) { count } else { 0 };
            }
            found
        });
        named.collect()
    };
    sides.iter().map(through).collect()
}

/// The functions of a stack; its first name is the thread's.
fn frames(stack: &str) -> impl Iterator<Item = &str> {
    stack.split(';').skip(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Change, Frame, samples};

    fn change(file: &str, functions: &[&str], callers: &[&str]) -> Change {
        let name = |name: &&str| (*name).to_owned();
        Change {
            file: file.to_owned(),
            lines: vec![(41, 48)],
            functions: functions.iter().map(name).collect(),
            callers: callers
                .iter()
                .map(|one| BTreeSet::from([name(one)]))
                .collect(),
        }
    }

    #[test]
    fn functions_are_known_by_their_names_in_stacks() {
        for (frame, function) in [
            ("shop::price::total::h0123456789abcdef", "total"),
            ("shop::price::total::{{closure}}", "total"),
            ("<shop::price::Cart as core::ops::Add>::add", "add"),
            ("shop::price::total<alloc::string::String>", "total"),
            ("shop::price::total::<u64>", "total"),
            ("shop::Cart::total(int, std::string)", "total"),
            ("main.(*Cart).Total", "Total"),
            ("main.total.func1", "total"),
            ("shop.Price.total", "total"),
            ("shop.Price.lambda$total$0", "total"),
            ("shop.Price$.$anonfun$total$1", "total"),
            ("JS:*total /srv/shop/price.js:41:7", "total"),
            ("py::Cart.total:/srv/shop/price.py", "total"),
            ("total@@GLIBC_2.34", "total"),
        ] {
            assert_eq!(
                Frame::of(frame).map(|one| one.function),
                Some(function),
                "{frame}"
            );
        }
        assert!(Frame::of("tcp_sendmsg_[k]").is_none());
    }

    #[test]
    fn samples_go_through_the_functions_of_the_file() {
        let old = "w;shop::main;shop::price::total;memcpy 10\nw;shop::tax::total 50\n";
        let new = "w;shop::main;shop::price::total;write_[k] 30\nw;shop::tax::total 50\n";
        let found = samples(&[change("src/price.rs", &["total"], &[])], &[old, new]);
        let numbers = |side: usize| (found[side][0].samples, found[side][0].kernel);
        assert_eq!((numbers(0), numbers(1)), ((10, 0), (30, 30)));
        assert_eq!(found[0][0].name, "src/price.rs:41-48 (total)");
    }

    #[test]
    fn callers_answer_for_what_was_inlined() {
        let stacks = "w;shop::main;shop::cart::checkout 7\nw;shop::main 90\n";
        for callers in [
            &["checkout"][..],
            &["sum", "checkout"],
            &["checkout", "main"],
        ] {
            let inlined = change("src/price.rs", &["total"], callers);
            assert_eq!(samples(&[inlined], &[stacks])[0][0].samples, 7);
        }
        let unseen = change("src/price.rs", &["total"], &[]);
        assert_eq!(samples(&[unseen], &[stacks])[0][0].samples, 0);
    }

    #[test]
    fn a_recursive_function_is_counted_once() {
        let stacks = "w;a.Price.total;a.Price.total 7\n";
        let found = samples(&[change("a/Price.java", &["total"], &[])], &[stacks]);
        assert_eq!(found[0][0].samples, 7);
    }
}
