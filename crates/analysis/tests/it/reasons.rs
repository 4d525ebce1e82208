//! Reasons why requests of one contender cost more CPU than those of another.

use crate::synthetic::reasons::{Extra, said};

#[track_caller]
fn check(extra: Extra, texts: &[&str]) {
    let said = said(extra).unwrap();
    for text in texts {
        assert!(said.contains(text), "{text:?} is missing in: {said}");
    }
}

#[test]
fn the_largest_part_is_named_first() {
    let extra = Extra {
        collector_ns: 9_000,
        kernel_ns: 21_000,
        ..Extra::default()
    };
    let said = said(extra).unwrap();
    assert!(said.starts_with("dear needs "), "{said}");
    let (kernel, collector) = (said.find("in the kernel"), said.find("collecting garbage"));
    assert!(kernel.unwrap() < collector.unwrap(), "{said}");
    check(
        extra,
        &[
            "µs more CPU per request than plain (95 %: ",
            ", 5 runs) at ",
        ],
    );
}

#[test]
fn what_a_request_does_besides_is_counted() {
    let extra = Extra {
        kernel_ns: 21_000,
        log_lines: 2,
        sent_bytes: 300,
        ..Extra::default()
    };
    let counts = [
        "For each request dear has ",
        "2.00 more log lines (3.00 against 1.00)",
        "300 more bytes sent (500 against 200)",
    ];
    check(extra, &counts);
    assert!(!said(extra).unwrap().contains("bytes received"));
}

#[test]
fn services_that_take_as_much_have_no_reasons() {
    assert_eq!(said(Extra::default()), None);
}

#[test]
fn a_part_is_found_that_a_scattered_total_hides() {
    let noisy = Extra {
        noise_ns: 60_000,
        ..Extra::default()
    };
    assert_eq!(said(noisy), None);
    let extra = Extra {
        collector_ns: 5_000,
        log_lines: 1,
        ..noisy
    };
    check(
        extra,
        &[
            "The CPU per request of dear and plain does not differ significantly at ",
            ", but parts of it do: dear needs ",
            " µs more collecting garbage (95 %: ",
            "For each request dear has 1.00 more log lines (2.00 against 1.00).",
        ],
    );
    let counted = Extra {
        log_lines: 1,
        ..noisy
    };
    check(
        counted,
        &[", but other things do. For each request dear has 1.00 more log lines"],
    );
}

#[test]
fn where_totals_are_alike_the_one_that_has_more_is_named() {
    let extra = Extra {
        log_lines: 1,
        noise_of_plain_ns: 60_000,
        ..Extra::default()
    };
    check(
        extra,
        &[
            "The CPU per request of plain and dear does not differ significantly at ",
            "For each request dear has 1.00 more log lines (2.00 against 1.00).",
        ],
    );
    let collecting = Extra {
        collector_ns: 5_000,
        ..extra
    };
    check(
        collecting,
        &[", but parts of it do: dear needs 5.00 µs more collecting garbage (95 %: "],
    );
}
