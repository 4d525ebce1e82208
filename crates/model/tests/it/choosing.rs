//! Globs and units.

use std::time::Duration;

use bakeoff_model::parse::{duration, size_bytes};
use bakeoff_model::text::names::{matches, select};
use proptest::prelude::{ProptestConfig, prop_assert, proptest};

#[test]
fn globs() {
    let table = [
        ("*", "", true),
        ("*", "http4k-3/jetty", true),
        ("http4k-3*", "http4k-3/jetty", true),
        ("http4k-3", "http4k-3/jetty", false),
        ("*/jetty", "http4k-3/jetty", true),
        ("actix-?", "actix-4", true),
        ("actix-?", "actix-10", false),
        ("*a*b*c", "xaxbxbxc", true),
        ("*a*b*c", "xaxbxbx", false),
        ("ň?", "ňx", true),
    ];
    for (glob, name, fits) in table {
        assert_eq!(matches(glob, name), fits, "{glob} {name}");
    }
}

#[test]
fn selecting_keeps_the_order_and_tells_all_that_is_unknown() {
    let known: Vec<String> = ["b", "a/x", "a/y"].map(str::to_owned).to_vec();
    let globs = |globs: &[&str]| -> Vec<String> { globs.iter().map(|g| (*g).to_owned()).collect() };
    assert_eq!(select("contender", &known, &[]).unwrap(), known);
    assert_eq!(
        select("contender", &known, &globs(&["a*", "b", "*"])).unwrap(),
        known
    );
    let errors = select("contender", &known, &globs(&["a", "c"])).unwrap_err();
    let texts: Vec<(String, String)> = errors
        .iter()
        .map(|error| (error.to_string(), error.hint()))
        .collect();
    let text = |error: &str, hint: &str| (error.to_owned(), hint.to_owned());
    assert_eq!(
        texts,
        [
            text(
                "unknown contender `a`",
                "it has variants only, `a/*` takes them all; known: b, a/x, a/y"
            ),
            text("unknown contender `c`", "known: b, a/x, a/y"),
        ]
    );
}

#[test]
fn durations_and_sizes() {
    assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
    assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
    assert_eq!(size_bytes("512MiB"), Ok(512 << 20));
    let bad = [
        ("", "\"\" is not a duration"),
        ("s", "\"s\" is not a duration"),
        ("10", "\"10\" is a duration without a unit: write 10s"),
        ("-1s", "\"-1s\" is not a duration"),
        ("0s", "the duration \"0s\" is zero"),
        (
            "99999999999999h",
            "the duration \"99999999999999h\" is too large",
        ),
    ];
    for (text, message) in bad {
        assert_eq!(duration(text), Err(message.into()));
    }
    assert!(size_bytes("512MB").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_star_takes_any_ending(name in "[a-c0-9/*?]{0,12}", cut in 0_usize..12) {
        let cut = cut.min(name.len());
        let glob = format!("{}*", &name[..cut]);
        prop_assert!(matches(&glob, &name));
        prop_assert!(matches(&"?".repeat(name.len()), &name));
    }

    #[test]
    fn units_never_panic(text in "\\PC{0,8}") {
        let _ = duration(&text);
        let _ = size_bytes(&text);
    }
}
