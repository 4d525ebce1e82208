//! Words that depend on numbers.

/// Returns a count with its noun: `1 thread`, `2 threads`, `0 threads`. For nouns that take an `s`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", plural(count))
}

/// Returns the ending of a noun after this count: nothing after 1, else `s`.
#[must_use]
pub const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(2, "run"), "2 runs");
    }
}
