//! Files of requests, and what is taken of them.

use bakeoff_base::problem::Problem;

use super::read;
use crate::outside::Outside;
use crate::requests::{Choice, Described};

const ENVIRONMENTS: &str =
    r#"{"$shared": {"kind": "tea"}, "dev": {"shop": "http://h/v1", "page": 2}, "live": {}}"#;

fn taken(text: &str, choice: &Choice) -> Result<Described, Problem> {
    let file = |name: &str| match name {
        "./b.json" => Ok(b"{\"id\": {{id}}}\n".to_vec()),
        "x.bin" => Ok(vec![0, 255]),
        "http-client.env.json" => Ok(ENVIRONMENTS.into()),
        name => Err(Problem::new(format_args!("{name}: no such file"))),
    };
    let outside = Outside {
        variable: &|name| (name == "HOME").then(|| "home".to_owned()),
        file: &file,
        now_s: &|| 1_000_000,
    };
    read(text, choice, outside)
}

/// The requests as texts: first line, headers, body.
fn requests(text: &str) -> Vec<String> {
    let choice = Choice {
        writes: true,
        ..Choice::default()
    };
    let found = taken(text, &choice).unwrap();
    assert_eq!(found.left_out, [""; 0], "{text}");
    let all = found.operations.iter().map(|one| {
        let mut lines = vec![format!("{} {}", one.method, one.path)];
        let headers = one.headers.iter();
        lines.extend(headers.map(|(name, value)| format!("{name}: {value}")));
        if !one.body.is_empty() {
            lines.push(one.body.escape_ascii().to_string());
        }
        lines.join("\n")
    });
    all.collect()
}

#[test]
fn requests_stand_between_marks() {
    let text = "@host = http://127.0.0.1:8080\n@item = 7\n\n\
        ### one\n# a comment\nGET {{host}}/items/{{item}}?a=b HTTP/1.1\n\
        Accept: application/json\nConnection: close\n\n\
        ###\nPOST /items\nContent-Type: application/json\n\n{\n  \"id\": {{item}}\n}\n\n\
        ###\n{{host}}/plain\n### \n\n# @name two\nGET /two\n";
    let choice = Choice {
        writes: true,
        ..Choice::default()
    };
    let found = taken(text, &choice).unwrap();
    let short: Vec<(&str, &str, &str)> = found
        .operations
        .iter()
        .map(|one| (&*one.name, &*one.method, &*one.path))
        .collect();
    let expect = [
        ("one", "GET", "/items/7?a=b"),
        ("POST /items", "POST", "/items"),
        ("GET /plain", "GET", "/plain"),
        ("two", "GET", "/two"),
    ];
    assert_eq!(short, expect);
    assert_eq!(found.operations[1].body, b"{\n  \"id\": 7\n}");
    assert_eq!(
        found.notes,
        [
            "all are sent to 127.0.0.1:8080 in it; here, to where contenders listen",
            "not sent as typed, because bakeoff makes them for each connection: Connection",
        ]
    );
}

#[test]
fn requests_are_sent_as_they_are_written() {
    let check = |text: &str, expect: &[&str]| assert_eq!(requests(text), expect, "{text}");
    check("\u{feff}GET http://h/a", &["GET /a"]);
    check("GET http://h/a\n\nGET http://h/b\n", &["GET /a", "GET /b"]);
    check("GET http://h/a\nGET http://h/b", &["GET /a", "GET /b"]);
    check(
        "GET http://h/a\n    ?x=1\n    &y=2 HTTP/1.1\nA: b",
        &["GET /a?x=1&y=2\nA: b"],
    );
    check("get http://h/a\r\nA: b\r\n\r\n", &["GET /a\nA: b"]);
    check("GET /a/../b|%2e?q={x}", &["GET /a/../b|%2e?q={x}"]);
    check(
        "@q = blue shoes\nGET /a?q={{q}}",
        &["GET /a?q=blue%20shoes"],
    );
    check(
        "GET /\nX-Tag: a\nx-tag: b\nHost: shop\nAccept-Encoding: gzip\nRange: bytes=0-9\n\
         User-Agent: u",
        &[
            "GET /\nX-Tag: a\nx-tag: b\nHost: shop\nAccept-Encoding: gzip\nRange: bytes=0-9\n\
           User-Agent: u",
        ],
    );
    check(
        "@id = 7\nPOST /a\n\n< ./b.json",
        &["POST /a\n{\\\"id\\\": {{id}}}\\n"],
    );
    check(
        "@id = 7\nPOST /a\n\n<@ ./b.json",
        &["POST /a\n{\\\"id\\\": 7}\\n"],
    );
    check(
        "POST /a\nContent-Type: multipart/form-data; boundary=x\n\n--x\nA: b\n\n< x.bin\n--x--\n",
        &["POST /a\nContent-Type: multipart/form-data; boundary=x\n\
           --x\\r\\nA: b\\r\\n\\r\\n\\x00\\xff\\r\\n--x--\\r\\n"],
    );
    check(
        "POST /a\nContent-Type: application/x-www-form-urlencoded\n\na=1\n&b=2",
        &["POST /a\nContent-Type: application/x-www-form-urlencoded\na=1&b=2"],
    );
    check(
        "POST /a\n\nx\n\n> {%\n client.test()\n%}\n<> old.json\n",
        &["POST /a\nx"],
    );
    check(
        "POST /a\n\n> a quote\n\nend\n\n",
        &["POST /a\n> a quote\\n\\nend"],
    );
    check(
        "GET /{{$processEnv HOME}}/{{$timestamp -1 d}}",
        &["GET /home/913600"],
    );
    check(
        "GET /{{$guid}}\n###\nGET /{{$randomInt 1 9}}",
        &["GET /ba4e0ff0-0000-4000-8000-000000000001", "GET /7"],
    );
}

#[test]
fn what_cannot_be_taken_is_left_out_with_its_line() {
    for (text, expect) in [
        ("\nFETCH /a", "line 2: this is not a request"),
        (
            "GET /{{host}}",
            "line 1: {{host}} has no value; `@host = ...` gives it one",
        ),
        (
            "GET /a\nA: {{login.response.body.token}}",
            "line 2: {{login.response.body.token}} comes",
        ),
        (
            "@a = {{b}}\nGET /{{a}}",
            "line 2: {{b}} has no value; `@b = ...` gives it one (line",
        ),
        ("GET /a\nplain", "line 2: no colon"),
        ("POST /a\n\n< no.json", "line 3: no.json: no such file"),
        (
            "POST /a\n\nGET /b",
            "line 3 looks like a request; write `###`",
        ),
        ("< {%\n x()\n%}\nGET /a", "line 1: a script"),
        (
            "GET /{{$datetime iso8601}}",
            "line 1: {{$datetime}} is the time",
        ),
        ("GET /{{$randomInt 9}}", "line 1: {{$randomInt}} has two"),
        ("GET http://me:x@h/a", "line 1: its URL has a user"),
        ("TRACE /a", "line 1: bakeoff sends"),
    ] {
        let all = format!("GET /before\n###\n{text}\n###\nGET /behind\n");
        let choice = Choice {
            writes: true,
            ..Choice::default()
        };
        let found = taken(text, &choice).unwrap();
        assert!(
            found
                .left_out
                .first()
                .is_some_and(|why| why.starts_with(expect)),
            "{text}: {:?}",
            found.left_out
        );
        let found = taken(&all, &choice).unwrap();
        let names: Vec<&str> = found.operations.iter().map(|one| &*one.name).collect();
        assert_eq!(names, ["GET /before", "GET /behind"], "{text}");
        assert_eq!(found.left_out.len(), 1, "{text}");
    }
    for text in ["", "###\n\n###\n", "@a = b\n"] {
        let error = taken(text, &Choice::default()).unwrap_err();
        assert_eq!(error.message(), "no request in it");
    }
}

#[test]
fn requests_of_one_name_are_numbered() {
    let found = taken("GET /a\n###\nGET /a\n###\nGET /a\n", &Choice::default()).unwrap();
    let names: Vec<&str> = found.operations.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["GET /a", "GET /a (2)", "GET /a (3)"]);
}

#[test]
fn one_host_is_asked_and_data_is_not_changed() {
    let text =
        "GET http://one/a\n###\nGET http://two/b\n###\nDELETE http://two/c?key=1\n###\nGET /d";
    let names = |choice: &Choice| {
        let found = taken(text, choice).unwrap();
        let names: Vec<String> = found.operations.into_iter().map(|one| one.name).collect();
        (names.join(", "), found.left_out, found.notes)
    };
    let (taken_names, left_out, notes) = names(&Choice::default());
    assert_eq!(taken_names, "GET /b, GET /d");
    assert_eq!(
        left_out,
        [
            "line 1: GET /a: to one",
            "line 5: DELETE /c: it may change data"
        ]
    );
    assert_eq!(
        notes[1..],
        [
            "left out: 1 to other hosts (one); --host takes another",
            "left out: 1 that may change data; --writes takes them",
        ]
    );
    let choice = Choice {
        host: Some("one".to_owned()),
        ..Choice::default()
    };
    assert_eq!(names(&choice).0, "GET /a, GET /d");
    let choice = Choice {
        writes: true,
        ..Choice::default()
    };
    assert_eq!(names(&choice).0, "GET /b, DELETE /c?key=1, GET /d");
    let other = Choice {
        host: Some("three".to_owned()),
        ..Choice::default()
    };
    let error = taken(text, &other).unwrap_err();
    assert!(
        error.message().contains("it has some to one, two"),
        "{error}"
    );
}

#[test]
fn variables_and_lines_are_those_of_editors() {
    let check = |text: &str, expect: &[&str]| assert_eq!(requests(text), expect, "{text}");
    check("GET /a?\n  x=1&\n  y=2\nA: b", &["GET /a?x=1&y=2\nA: b"]);
    check(
        "GET {{shop}}/a/{{kind}}?page={{page}}\n###\n@page=3\nGET /b?page={{page}}",
        &["GET /v1/a/tea?page=2", "GET /b?page=3"],
    );
    check(
        "GET {{none}}/a\n###\nGET https://{{none}}:{{port}}/b?c HTTP/1.1\nA: b",
        &["GET /a", "GET /b?c\nA: b"],
    );
    check(
        "POST /a\n\nx\n\n@b = 7\n\n### c\nGET /{{b}}",
        &["POST /a\nx", "GET /7"],
    );
    check(
        "POST /a\nContent-Type: application/x-www-form-urlencoded\n\na=1&\nb=2",
        &["POST /a\nContent-Type: application/x-www-form-urlencoded\na=1&b=2"],
    );
}
