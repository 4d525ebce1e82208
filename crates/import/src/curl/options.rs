//! The options of curl: which there are, which have a value, and what each means here.

/// The list, a line for each; its head says how it was made.
const LIST: &str = include_str!("options.txt");

/// An option of curl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CurlOption {
    /// The name without `--`.
    pub(super) name: &'static str,
    /// Whether a value follows.
    pub(super) has_value: bool,
    /// Effect of the option here.
    pub(super) meaning: Meaning,
}

/// The effect of an option here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The request is changed by it.
    Taken,
    /// Nothing that is sent to the service is changed.
    Nothing,
    /// Why the option cannot be taken.
    Refused(&'static str),
}

/// Returns the option of this name, without `--`, and whether it is switched on: a switch is
/// switched off with `no-` before its name.
pub(super) fn named(name: &str) -> Option<(CurlOption, bool)> {
    let find = |name: &str| all().find(|(_, option)| option.name == name);
    if let Some((_, option)) = find(name) {
        return Some((option, true));
    }
    let (_, option) = find(name.strip_prefix("no-")?)?;
    (!option.has_value).then_some((option, false))
}

/// Returns the option of this letter.
pub(super) fn lettered(letter: char) -> Option<CurlOption> {
    let mut all = all();
    let found = all.find(|(short, _)| *short == Some(letter));
    found.map(|(_, option)| option)
}

fn all() -> impl Iterator<Item = (Option<char>, CurlOption)> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (letter, rest) = rest.split_once(' ')?;
        let (value, meaning) = rest.split_once(' ')?;
        let option = CurlOption {
            name,
            has_value: value == "=",
            meaning: match (meaning, meaning.strip_prefix("no: ")) {
                (_, Some(why)) => Meaning::Refused(why),
                ("taken", _) => Meaning::Taken,
                _ => Meaning::Nothing,
            },
        };
        Some((letter.chars().next().filter(|_| letter != "-"), option))
    })
}

#[cfg(test)]
mod tests {
    use super::{LIST, Meaning, all, lettered, named};

    #[test]
    fn options_are_those_of_curl() {
        let lines = LIST.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(all().count(), lines.count());
        assert!(all().count() > 250);
        let check = |name: &str, expect: Option<(&str, bool, bool)>| {
            let found = named(name);
            let found = found.map(|(option, on)| (option.name, option.has_value, on));
            assert_eq!(found, expect, "{name}");
        };
        check("data", Some(("data", true, true)));
        check("no-buffer", Some(("buffer", false, false)));
        check("no-data", None);
        check("frobnicate", None);
        assert_eq!(lettered('L').unwrap().name, "location");
        assert_eq!(lettered('#').unwrap().meaning, Meaning::Nothing);
        assert!(matches!(
            lettered('K').unwrap().meaning,
            Meaning::Refused(_)
        ));
        assert_eq!(lettered('%'), None);
    }
}
