//! Names that people choose by: globs, and what to say when nothing fits.

/// A name, or a glob of names, that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} `{name}`")]
pub struct UnknownName {
    /// The kind of thing, in the singular: `profile`, `contender`, `check group`.
    pub kind: &'static str,
    /// The name or glob.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

impl UnknownName {
    /// Returns the remedy: the known names, after the one that was probably meant.
    #[must_use]
    pub fn hint(&self) -> String {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        let variants = format!("{}/", self.name);
        if known.iter().any(|name| name.starts_with(&variants)) {
            let list = known.join(", ");
            return format!("it has variants only, `{variants}*` takes them all; known: {list}");
        }
        suggestion(&self.name, &known)
    }
}

/// Picks the names that any of the globs matches, in the order of `known`, none twice. No globs
/// at all pick everything. `kind` is the singular noun for messages.
///
/// # Errors
/// Every glob that matches nothing.
pub fn select(
    kind: &'static str,
    known: &[String],
    globs: &[String],
) -> Result<Vec<String>, Vec<UnknownName>> {
    let errors: Vec<UnknownName> = globs
        .iter()
        .filter(|glob| !known.iter().any(|name| matches(glob, name)))
        .map(|glob| UnknownName {
            kind,
            name: glob.clone(),
            known: known.to_vec(),
        })
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let chosen = |name: &&String| globs.is_empty() || globs.iter().any(|glob| matches(glob, name));
    Ok(known.iter().filter(chosen).cloned().collect())
}

/// Whether a whole name fits a glob: `*` stands for any text, also empty or with `/`, and `?` for
/// one character.
#[must_use]
pub fn matches(glob: &str, name: &str) -> bool {
    let glob: Vec<char> = glob.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at_glob, mut at_name) = (0, 0);
    // Where to go on when the text after the last `*` turns out not to fit: one character later.
    let mut retry: Option<(usize, usize)> = None;
    while at_name < name.len() {
        match glob.get(at_glob) {
            Some('*') => {
                retry = Some((at_glob + 1, at_name));
                at_glob += 1;
            }
            Some(&c) if c == '?' || c == name[at_name] => {
                at_glob += 1;
                at_name += 1;
            }
            _ => {
                let Some((after_star, begun)) = retry else {
                    return false;
                };
                retry = Some((after_star, begun + 1));
                at_glob = after_star;
                at_name = begun + 1;
            }
        }
    }
    glob[at_glob..].iter().all(|c| *c == '*')
}

/// The known names in one line, after the one that was probably meant.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in known {
        if !once.contains(name) {
            once.push(name);
        }
    }
    let list = match once.as_slice() {
        [] => "there are none".to_owned(),
        _ => format!("known: {}", once.join(", ")),
    };
    match nearest(name, &once) {
        Some(meant) => format!("did you mean `{meant}`? {list}"),
        None => list,
    }
}

/// The known name that is like this one, if any is.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    const LIKE: f64 = 0.8;
    let name = name.to_lowercase();
    known
        .iter()
        .map(|other| (likeness(&name, &other.to_lowercase()), *other))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, other)| other)
}

/// Likeness of two names, 0 to 1. Jaro and Winkler's favours a shared prefix, as abbreviations
/// have, but misses one slip in a short name, so that counts apart.
fn likeness(left: &str, right: &str) -> f64 {
    const ONE_SLIP: f64 = 0.9;
    const LENGTH_MIN: usize = 3;
    let alike = strsim::jaro_winkler(left, right);
    let long_enough = left.len().min(right.len()) >= LENGTH_MIN;
    if long_enough && strsim::osa_distance(left, right) <= 1 {
        return alike.max(ONE_SLIP);
    }
    alike
}
