//! Order of names as people expect it: `http4k-3` before `http4k-10`, `8` before `16`.

use std::cmp::Ordering;

/// Compares runs of digits by value and everything else by character.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (part_a, after_a) = first_part(rest_a);
        let (part_b, after_b) = first_part(rest_b);
        if part_a.is_empty() || part_b.is_empty() {
            // Equal by value may still differ in leading zeros.
            return part_a.len().cmp(&part_b.len()).then_with(|| a.cmp(b));
        }
        let order = match (number(part_a), number(part_b)) {
            (Some(a), Some(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            _ => part_a.cmp(part_b),
        };
        if order != Ordering::Equal {
            return order;
        }
        (rest_a, rest_b) = (after_a, after_b);
    }
}

/// Splits off the leading digits, or the leading text without digits.
fn first_part(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text
        .find(|c: char| c.is_ascii_digit() != digits)
        .unwrap_or(text.len());
    text.split_at(end)
}

/// The digits without leading zeros, which compare by length first: no overflow.
fn number(part: &str) -> Option<&str> {
    part.starts_with(|c: char| c.is_ascii_digit())
        .then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_inside_names_count_by_value() {
        let mut names = vec![
            "b",
            "http4k-10",
            "http4k-3/x",
            "http4k-3",
            "a16",
            "a8",
            "a08",
            "a",
        ];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            [
                "a",
                "a08",
                "a8",
                "a16",
                "b",
                "http4k-3",
                "http4k-3/x",
                "http4k-10"
            ]
        );
    }
}
