//! Expectations against responses: what holds, and the exact message when it does not.

use bakeoff_model::request::check::{Expect, ReceivedResponse};
use bakeoff_model::text::json_path::JsonPath;
use serde_json::{Value, json};

/// Evaluates an expectation written as in a suite file; `None` when it holds.
fn check(expect: &Value, status: u16, body: &str) -> Option<String> {
    let expect: Expect = serde_json::from_value(expect.clone()).unwrap();
    let answer = ReceivedResponse {
        status,
        grpc_status: None,
        headers: vec![(
            "content-type".to_owned(),
            "application/json; charset=utf-8".to_owned(),
        )],
        body: body.as_bytes().to_vec(),
    };
    expect
        .evaluate(&answer)
        .err()
        .map(|problem| problem.to_string())
}

const CITY: &str = r#"{"id":101748111,"name":"Pilsen","tags":["a","b"],"featured":true}"#;
const CITIES: &str = r#"{"cities":[{"name":"Praha"},{"name":"Brno"},{"name":"Ostrava"}]}"#;

#[test]
fn what_holds() {
    let table = [
        (json!({ "begins": { "$.name": "Pil" } }), 200, CITY),
        (
            json!({ "any-of": [{ "has": ["$.cities"] }, { "has": ["$.id"] }] }),
            200,
            CITY,
        ),
        (json!({}), 204, ""),
        (json!({ "status": [200, 404] }), 404, ""),
        (
            json!({ "headers": { "Content-Type": "application/json" } }),
            200,
            "",
        ),
        (json!({ "json": true }), 200, "[]"),
        (
            json!({ "keys": { "$": ["tags", "name", "id", "featured"] } }),
            200,
            CITY,
        ),
        (json!({ "has": ["$.tags[1]"] }), 200, CITY),
        (
            json!({ "values": { "$.id": 101_748_111.0, "$.tags": ["a", "b"] } }),
            200,
            CITY,
        ),
        (
            json!({ "values": { "$": { "b": 2.0, "a": 1 } } }),
            200,
            "{\"a\":1,\"b\":2}",
        ),
        (
            json!({ "lists": { "$.cities[*].name": ["Praha", "Brno", "Ostrava"] } }),
            200,
            CITIES,
        ),
        (
            json!({ "lists": { "$.cities[*]": [] } }),
            200,
            "{\"cities\":[]}",
        ),
        (json!({ "contains": "lsen" }), 200, CITY),
        (json!({ "body": "5", "body-bytes": 1 }), 200, "5"),
    ];
    for (expect, status, body) in table {
        assert_eq!(check(&expect, status, body), None, "{expect} with {body}");
    }
}

/// Checks that each expectation fails on a body with exactly these words.
fn fails(table: &[(Value, &str, &str)]) {
    for (expect, body, assertion) in table {
        assert_eq!(
            check(expect, 200, body).as_deref(),
            Some(*assertion),
            "{expect}"
        );
    }
}

#[test]
fn values_and_keys_that_do_not_hold() {
    fails(&[
        (
            json!({ "values": { "$.name": "Plzeň" } }),
            CITY,
            r#"$.name: expected "Plzeň", found "Pilsen""#,
        ),
        (
            json!({ "values": { "$.featured": "true" } }),
            CITY,
            r#"$.featured: expected "true", found true"#,
        ),
        (
            json!({ "values": { "$": 9_007_199_254_740_993_u64 } }),
            "9007199254740992",
            "$: expected 9007199254740993, found 9007199254740992",
        ),
        (
            json!({ "keys": { "$": ["id", "name", "tags", "regionName"] } }),
            CITY,
            "keys of $: missing regionName, unexpected featured",
        ),
        (
            json!({ "keys": { "$.tags": ["id"] } }),
            CITY,
            "$.tags: expected an object, found a list of 2",
        ),
        (
            json!({ "has": ["$.region.name"] }),
            CITY,
            "$.region: missing, $ is an object of id, name, tags, featured",
        ),
        (
            json!({ "has": ["$.tags[2]"] }),
            CITY,
            "$.tags[2]: missing, $.tags is a list of 2",
        ),
    ]);
}

#[test]
fn lists_that_do_not_hold() {
    fails(&[
        (
            json!({ "lists": { "$.cities[*].name": ["Praha", "Ostrava", "Brno"] } }),
            CITIES,
            r#"$.cities[*].name: at index 1: expected "Ostrava", found "Brno""#,
        ),
        (
            json!({ "lists": { "$.cities[*].name": ["Praha"] } }),
            CITIES,
            r#"$.cities[*].name: at index 1: expected none, found "Brno" (1 expected, 3 found)"#,
        ),
        (
            json!({ "lists": { "$.cities[*].name": ["Praha", "Brno", "Ostrava", "Plzeň"] } }),
            CITIES,
            r#"$.cities[*].name: at index 3: expected "Plzeň", found none (4 expected, 3 found)"#,
        ),
        (
            json!({ "lists": { "$.cities[*].id": [1] } }),
            CITIES,
            "$.cities[0].id: missing, $.cities[0] is an object of name",
        ),
        (
            json!({ "lists": { "$.name[*]": [1] } }),
            CITY,
            "$.name: expected a list, found a string",
        ),
    ]);
}

#[test]
fn headers_and_bodies_that_do_not_hold() {
    fails(&[
        (
            json!({ "headers": { "content-type": "text/html" } }),
            CITY,
            r#"header content-type: expected "text/html", found "application/json; charset=utf-8""#,
        ),
        (
            json!({ "headers": { "location": "/" } }),
            CITY,
            r#"header location: expected "/", found none"#,
        ),
        (
            json!({ "body": "5" }),
            "6",
            r#"body: expected "5", found "6""#,
        ),
        (
            json!({ "body-bytes": 5 }),
            "6",
            "body: expected 5 bytes, found 1",
        ),
        (
            json!({ "contains": "x" }),
            "6",
            r#"body: "x" is not in "6""#,
        ),
    ]);
}

#[test]
fn wrong_statuses_come_with_the_answer() {
    let expect = json!({ "status": [400] });
    let assertion = check(&expect, 200, "fine").unwrap();
    assert_eq!(assertion, "status: expected 400, found 200 with \"fine\"");
    let assertion = check(&json!({}), 500, "").unwrap();
    assert_eq!(
        assertion,
        "status: expected 2xx or 3xx, found 500 with an empty body"
    );
}

#[test]
fn what_is_no_json_is_shown() {
    let assertion = check(&json!({ "json": true }), 200, "<html>").unwrap();
    assert!(
        assertion.starts_with("the body is not JSON ("),
        "{assertion}"
    );
    assert!(assertion.ends_with("\"<html>\""), "{assertion}");
}

#[test]
fn json_paths_are_written_as_they_are_read() {
    let good = [
        "$",
        "$.a",
        "$.a-b_c.ň",
        "$[0]",
        "$.a[10][*].b",
        r#"$["/city/v1/get"].x"#,
    ];
    for text in good {
        assert_eq!(text.parse::<JsonPath>().unwrap().to_string(), text);
    }
    assert_eq!(r#"$["a"]"#.parse::<JsonPath>().unwrap().to_string(), "$.a");
    let bad = [
        "", "a", "$a", "$.", "$..a", "$[", "$[]", "$[-1]", "$[+1]", "$[a]", r#"$["a]"#,
    ];
    for text in bad {
        assert!(text.parse::<JsonPath>().is_err(), "{text}");
    }
}
