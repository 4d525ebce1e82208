//! Requests of curl commands, compared with those of curl 7.88 on a server that recorded them,
//! without the headers `Host`, `Accept` and `User-Agent` that curl adds.

use bakeoff_base::problem::Problem;

use super::{CurlRequest, read};
use crate::outside::Outside;

fn variable(name: &str) -> Option<String> {
    match name {
        "ID" => Some("7".to_owned()),
        "TOKEN" => Some("a b".to_owned()),
        _ => None,
    }
}

fn file(name: &str) -> Result<Vec<u8>, Problem> {
    match name {
        "b.txt" | "./in/b.txt" => Ok(b"l1\nl2\r\n".to_vec()),
        "x.bin" => Ok(vec![0, 1, 255]),
        "h.txt" => Ok(b"A: 1\n# c\n\nB: 2\r\n".to_vec()),
        name => Err(format!("{name}: no such file").into()),
    }
}

fn taken(text: &str) -> Result<CurlRequest, Problem> {
    read(
        text,
        Outside {
            variable: &variable,
            file: &file,
            now_s: &|| 0,
        },
    )
}

/// The request as a text: first line, headers, an empty line, the body.
fn sent(text: &str) -> String {
    let found = taken(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let operation = found.operation;
    let mut lines = vec![format!("{} {}", operation.method, operation.path)];
    let headers = operation.headers.iter();
    lines.extend(headers.map(|(name, value)| format!("{name}: {value}")));
    if !operation.body.is_empty() {
        lines.push(String::new());
        lines.push(operation.body.escape_ascii().to_string());
    }
    lines.join("\n")
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

#[test]
fn paths_are_those_of_curl() {
    for (url, expect) in [
        ("'http://h/a/../b/./c/..'", "/b/"),
        ("--path-as-is 'http://h/a/../b'", "/a/../b"),
        ("'http://h/a/%2e%2e/b'", "/a/%2e%2e/b"),
        ("-g 'http://h/a|b?q={1}'", "/a|b?q={1}"),
        ("'http://h/a|b?q={1}'", "/a|b?q=1"),
        ("'http://h/p?a[b]=1'", "/p?a[b]=1"),
        (
            "'http://h/..%2f/%7Ea/\"x\"<y>`z^'",
            "/..%2f/%7Ea/\"x\"<y>`z^",
        ),
        ("localhost:8080", "/"),
        (
            "localhost:8080/login?next=https://a/b",
            "/login?next=https://a/b",
        ),
        ("'http://h?q=1#x'", "/?q=1"),
        ("http://h/${ID}", "/7"),
        (
            "-G -d a=1 --data-urlencode 'b=c d~*' http://h/p?z",
            "/p?z&a=1&b=c+d~%2A",
        ),
        (
            "--url-query 'b=c d' --url-query +x=y http://h/p",
            "/p?b=c+d&x=y",
        ),
        ("--url http://h/p --request-target '/x y'", "/x y"),
    ] {
        assert_eq!(sent(&format!("curl {url}")), format!("GET {expect}"));
    }
}

#[test]
fn requests_are_those_of_curl() {
    let posted = |rest: &str| format!("POST /p\n{FORM}\n\n{rest}");
    for (arguments, expect) in [
        ("-XDELETE", "DELETE /p".to_owned()),
        ("-I", "HEAD /p".to_owned()),
        ("-I -G -d a", "HEAD /p?a".to_owned()),
        ("-d a=1 -d b=2", posted("a=1&b=2")),
        ("-d ''", format!("POST /p\n{FORM}")),
        ("-d \"a\\\nb\"", posted("ab")),
        ("-d 'a\\\nb'", posted("a\\\\\\nb")),
        ("--data-raw $'a\\nb'", posted("a\\nb")),
        ("--data-raw @b.txt", posted("@b.txt")),
        (
            "-d @b.txt --data-binary @b.txt",
            posted("l1l2&l1\\nl2\\r\\n"),
        ),
        ("--data-binary @x.bin", posted("\\x00\\x01\\xff")),
        (
            "--data-urlencode @b.txt --data-urlencode n@b.txt --data-urlencode '=x=y'",
            posted("l1%0Al2%0D%0A&n=l1%0Al2%0D%0A&x%3Dy"),
        ),
        (
            "-d a=1 -H 'Content-Type:' -H 'X-Empty;'",
            "POST /p\nX-Empty: \n\na=1".to_owned(),
        ),
        (
            "--json '{}' -H 'accept: x'",
            "POST /p\naccept: x\nContent-Type: application/json\n\n{}".to_owned(),
        ),
        (
            "-d a --json c --json d -d e",
            "POST /p\nContent-Type: application/json\nAccept: application/json\n\nacd&e".to_owned(),
        ),
        (
            "-A me -e 'http://r/;auto' -b a=1 -u me:secret -r 0-9 --compressed -H 'X-Tag: a' \
             -H 'x-tag: b' -H 'Host: shop' -H 'X-Forwarded-For: 1'",
            "GET /p\nAuthorization: Basic bWU6c2VjcmV0\nRange: bytes=0-9\nUser-Agent: me\n\
             Accept-Encoding: deflate, gzip, br, zstd\nReferer: http://r/\nCookie: a=1\n\
             X-Tag: a\nx-tag: b\nHost: shop\nX-Forwarded-For: 1"
                .to_owned(),
        ),
        (
            "-u me:x -H 'Authorization: own' -b a=1 -H 'cookie: c=2' -A x -H 'user-agent: y'",
            "GET /p\nAuthorization: own\ncookie: c=2\nuser-agent: y".to_owned(),
        ),
        (
            "-b a=1 -b b=2 -b '' -A '' -e ''",
            "GET /p\nCookie: a=1; b=2".to_owned(),
        ),
        (
            "-H @h.txt -r 5",
            "GET /p\nRange: bytes=5-\nA: 1\nB: 2".to_owned(),
        ),
        (
            "--oauth2-bearer t",
            "GET /p\nAuthorization: Bearer t".to_owned(),
        ),
        (
            "-H \"Authorization: $TOKEN\"",
            "GET /p\nAuthorization: a b".to_owned(),
        ),
        ("-T b.txt", "PUT /p\n\nl1\\nl2\\r\\n".to_owned()),
    ] {
        let text = format!("curl {arguments} http://h/p");
        assert_eq!(sent(&text), expect, "{text}");
    }
}

#[test]
fn urls_can_have_users_and_folders() {
    assert_eq!(
        sent("curl -T ./in/b.txt http://h/p/"),
        "PUT /p/b.txt\n\nl1\\nl2\\r\\n"
    );
    let user = sent("curl http://me:s%20c@h/p");
    assert_eq!(user, "GET /p\nAuthorization: Basic bWU6cyBj");
}

#[test]
fn forms_are_those_of_curl() {
    let text = "curl -F a=1 -F f=@x.bin -F 'g=@b.txt;type=text/x; charset=u;filename=q\"r.txt' \
                -F 'h=<b.txt' -F 'i=\"a;b\";type=text/plain' --form-string 'j=@a;b' http://h/p";
    let boundary = "------------------------bakeoff000000000";
    let part = |head: &str, body: &str| {
        format!("--{boundary}\\r\\nContent-Disposition: form-data; {head}\\r\\n\\r\\n{body}\\r\\n")
    };
    let binary = "\\r\\nContent-Type: application/octet-stream";
    let expect = [
        part("name=\\\"a\\\"", "1"),
        part(
            &format!("name=\\\"f\\\"; filename=\\\"x.bin\\\"{binary}"),
            "\\x00\\x01\\xff",
        ),
        part(
            "name=\\\"g\\\"; filename=\\\"q%22r.txt\\\"\\r\\nContent-Type: text/x; charset=u",
            "l1\\nl2\\r\\n",
        ),
        part("name=\\\"h\\\"", "l1\\nl2\\r\\n"),
        part("name=\\\"i\\\"\\r\\nContent-Type: text/plain", "a;b"),
        part("name=\\\"j\\\"", "@a;b"),
    ];
    let kind = format!("Content-Type: multipart/form-data; boundary={boundary}");
    let expect = expect.concat();
    assert_eq!(
        sent(text),
        format!("POST /p\n{kind}\n\n{expect}--{boundary}--\\r\\n")
    );
    let typed = sent("curl -F a=1 -H 'Content-Type: multipart/form-data' -H 'Z: 1' http://h/p");
    assert!(
        typed.starts_with(&format!("POST /p\nZ: 1\n{kind}\n\n")),
        "{typed}"
    );
    let marked = sent(&format!("curl -F 'a={boundary}' http://h/p"));
    assert!(marked.contains("bakeoff000000001--"), "{marked}");
}

#[test]
fn what_stands_around_a_command_is_left_out() {
    for text in [
        "$ curl http://h/p",
        "curl http://h/p | jq '.[] | $x'",
        "curl http://h/p > x",
        "curl http://h/p -o x 2>/dev/null && echo $NO",
        "curl.exe http://h/p",
        "/usr/bin/curl http://h/p; echo",
        "me@host:~$ curl http://h/p",
        "http://h/p -sS",
        "# all\ncurl http://h/p\n{\"a\": 1}",
        "P=p; curl http://h/$P",
        "curl -x http://p:1 --max-redirs 5 -4 -# -O --trace-ascii f --tlsv1.2 --cacert f \
         --resolve a:80:1.1.1.1 -kLsSfN --no-progress-meter --http2 http://h/p",
    ] {
        assert_eq!(sent(text), "GET /p", "{text}");
    }
    let notes = |text: &str| taken(text).unwrap().notes;
    assert_eq!(notes("curl http://h/p"), [""; 0]);
    assert_eq!(
        notes("curl -sL --max-time 5 -s http://h/p -H 'connection: x' -H 'A: b'"),
        [
            "not sent as typed, because bakeoff makes them for each connection: connection",
            "options of curl that change nothing here: -s, -L, --max-time",
        ]
    );
    let posted = notes("curl -d a http://h/p");
    assert!(
        posted[0].starts_with("POST /p: it may change data"),
        "{posted:?}"
    );
}

#[test]
fn what_cannot_be_taken_is_named_at_once() {
    for (text, expect) in [
        ("curl 'http://a", "a quote is not closed"),
        ("curl", "it has no URL"),
        (
            "curl http://a http://b",
            "it has two URLs; one command has one",
        ),
        (
            "curl http://a; curl http://b",
            "these are two commands; write --curl for each",
        ),
        ("curl http://a -H", "-H has no value"),
        (
            "curl http://a -H plain",
            "-H has neither a colon nor a semicolon at its end",
        ),
        (
            "curl http://a/$NO -d @no.txt",
            "the variable NO is not set; --data: no.txt: no such file",
        ),
        (
            "curl --digest -u me ftp://a -d @- --frobnicate -K f",
            "--digest: it takes several requests for one response; write the header that it ends \
             with; --data: it reads standard input; write the text in the command, or a file; \
             --frobnicate: curl has no such option; -K: it reads options from a file; write them \
             in the command; its URL is not of HTTP; -u has no password, for which curl asks; \
             write NAME:PASSWORD",
        ),
        (
            "curl -b jar http://a",
            "-b reads cookies from a file; write NAME=VALUE",
        ),
        (
            "curl http://a/p?a=1&b=2",
            "a shell ends the command at & outside of quotes; put its URL \
             into '...'",
        ),
        (
            "curl -d a -F b=1 http://a",
            "curl itself refuses several of -d, -F, -T and -I in one \
             command",
        ),
        (
            "curl 'http://a/{1,2}'",
            "its URL has a pattern of curl, {...} or [...], for several \
             URLs; write one, or -g to send it as typed",
        ),
        (
            "curl http://a\n-H 'A: b'",
            "a line begins with an option or a URL; the one before it \
             must end with a backslash",
        ),
        (
            "curl -X get http://a",
            "-X has a method that is not in upper case",
        ),
        ("wget x", "it does not begin with curl"),
        (
            "curl http://a --next http://b",
            "--next: it begins another request; write two commands; \
             it has two URLs; one command has one",
        ),
    ] {
        let error = taken(text).unwrap_err();
        assert_eq!(error.message(), expect, "{text}");
    }
}

#[test]
fn the_input_of_a_command_is_its_here_document() {
    let check = |text: &str, expect: &str| {
        assert_eq!(sent(text), format!("POST /\n{FORM}\n\n{expect}"), "{text}");
    };
    check(
        "curl h --data-binary @- <<EOF | jq .\n{a: $ID\\$ID}\nEOF\necho\n",
        "{a: 7$ID}\\n",
    );
    check("curl h --data-binary @- <<-'E F'\n\t$ID\n\tE F", "$ID\\n");
    check("curl h --data-binary @- <<< 'a b'", "a b\\n");
    let why = |text: &str| taken(text).unwrap_err().message().to_owned();
    assert_eq!(
        why("curl h -d @- <<EOF\n$(date)\nEOF"),
        "--data: it needs the output of another command, $(...); write the value"
    );
    assert!(why("cat a | curl h -d @-").contains("standard input"));
}
