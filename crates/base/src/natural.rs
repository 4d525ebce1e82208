//! Natural order of names: `http4k-3` before `http4k-10`, `8` before `16`.

use std::cmp::Ordering;

/// Compares names as people sort them: runs of digits by their value, so `actix-9` < `actix-10`.
/// Names that differ only in leading zeros are compared as text, so the order is total.
#[must_use]
pub fn compare(left: &str, right: &str) -> Ordering {
    let (mut rest_left, mut rest_right) = (left, right);
    loop {
        let (chunk_left, after_left) = chunk(rest_left);
        let (chunk_right, after_right) = chunk(rest_right);
        if chunk_left.is_empty() || chunk_right.is_empty() {
            let by_rest = rest_left.len().cmp(&rest_right.len());
            return by_rest.then_with(|| left.cmp(right));
        }
        let order = compare_chunks(chunk_left, chunk_right);
        if order != Ordering::Equal {
            return order;
        }
        (rest_left, rest_right) = (after_left, after_right);
    }
}

/// Splits off the leading run of digits, or else one character.
fn chunk(text: &str) -> (&str, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let end = match text.chars().next() {
        Some(first) if digits == 0 => first.len_utf8(),
        _ => digits,
    };
    text.split_at(end)
}

fn compare_chunks(left: &str, right: &str) -> Ordering {
    let are_numbers = left.as_bytes()[0].is_ascii_digit() && right.as_bytes()[0].is_ascii_digit();
    if !are_numbers {
        return left.cmp(right);
    }
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    use super::compare;

    #[test]
    fn numbers_inside_names_count_by_value() {
        let sorted = [
            "",
            "a",
            "a-02",
            "a-2",
            "a-10",
            "a-10.1",
            "a-10/x",
            "a08",
            "a8",
            "a16",
            "b1c2",
            "b1c10",
            "http4k-3",
            "http4k-3/x",
            "http4k-10",
            "ň",
        ];
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort_by(|left, right| compare(left, right));
        assert_eq!(names, sorted);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn it_is_a_total_order(a in "[a0-2]{0,5}", b in "[a0-2]{0,5}", c in "[a0-2]{0,5}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &b) == Ordering::Equal, a == b);
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
