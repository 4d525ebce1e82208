//! Credentials in recorded requests: readers of a suite must not get those of the user who recorded
//! them. Names are judged by their words, values by their look. Pure.

use serde_json::Value;

/// Headers that say how the response should be, and nothing about who asks. Others may be
/// credentials: services call them as they like.
const HARMLESS: [&str; 18] = [
    "accept",
    "accept-charset",
    "accept-datetime",
    "accept-language",
    "accept-version",
    "api-version",
    "content-language",
    "content-type",
    "depth",
    "graphql-preflight",
    "if-match",
    "if-unmodified-since",
    "prefer",
    "range",
    "soapaction",
    "x-api-version",
    "x-http-method-override",
    "x-requested-with",
];

/// Parts of names that are credentials.
const PARTS: [&str; 17] = [
    "apikey",
    "authent",
    "authoriz",
    "cookie",
    "credential",
    "csrf",
    "jwt",
    "nonce",
    "passw",
    "saml",
    "secret",
    "session",
    "sessid",
    "signature",
    "ticket",
    "token",
    "xsrf",
];

/// Words of names that are credentials. A word that ends with `key` is one, too.
const WORDS: [&str; 16] = [
    "auth", "code", "hmac", "mac", "otp", "pass", "pin", "pw", "pwd", "sess", "sid", "sig",
    "state", "totp", "tkn", "cert",
];

/// A text of at least this many letters and digits, mixed, is taken for a token.
const TOKEN_MIN: usize = 20;

/// Whether a header, by its name in any case, can be copied without a look at its value.
pub(crate) fn is_harmless(header: &str) -> bool {
    HARMLESS.contains(&header.to_ascii_lowercase().as_str())
}

/// Whether a name is usual for credentials.
pub(crate) fn is_secret(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        let is_new = !c.is_ascii_alphanumeric() || before_is_lower && c.is_ascii_uppercase();
        if is_new {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
        before_is_lower = c.is_ascii_lowercase();
    }
    let joined = words.concat();
    let is_word = |word: &String| word.ends_with("key") || WORDS.contains(&word.as_str());
    PARTS.iter().any(|part| joined.contains(part)) || words.iter().any(is_word)
}

/// Whether a value looks like a token: long, and letters mixed with digits. UUIDs and identities of
/// document databases (24 hexadecimal digits) are mostly the names of things.
pub(crate) fn is_token(value: &str) -> bool {
    if value.starts_with("eyJ") && value.contains('.') {
        return true;
    }
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=".contains(c);
    if value.len() < TOKEN_MIN || !value.chars().all(is_of_token) || is_identity(value) {
        return false;
    }
    let runs = value.split(|c: char| !c.is_ascii_alphanumeric());
    let is_mixed = |run: &str| {
        let has = |is: fn(&char) -> bool| run.chars().any(|c| is(&c));
        let digits = run.chars().filter(char::is_ascii_digit).count();
        run.len() >= TOKEN_MIN
            && digits > 0
            && has(char::is_ascii_alphabetic)
            && (has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) || digits > 4)
    };
    runs.into_iter().any(is_mixed)
}

fn is_identity(value: &str) -> bool {
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    let is_hexadecimal = value.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    is_hexadecimal && matches!(lengths[..], [8, 4, 4, 4, 12] | [24])
}

/// The start of a reference to a variable of the environment, `${env:NAME}`.
pub(crate) const REFERENCE: &str = "${env:";

/// Whether a header or a variable looks like a credential, by its name or by its value, which may
/// be a URL with a password. A reference to a variable of the environment is none.
#[must_use]
pub fn is_credential(name: &str, value: &str) -> bool {
    if value.contains(REFERENCE) {
        return false;
    }
    let authority = value.split_once("://").map(|(_, rest)| rest);
    let authority = authority.and_then(|rest| rest.split('/').next());
    let user = authority.and_then(|authority| Some(authority.rsplit_once('@')?.0));
    is_secret(name) || is_token(value) || user.is_some_and(|user| user.contains(':'))
}

/// Returns where a request has a credential in its target, which is a path with its query, or in
/// its body: the name of a parameter or a field, or a sentence. References to variables of the
/// environment are none.
#[must_use]
pub fn credential_in_request(target: &str, body: &[u8]) -> Option<String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), value.to_owned())
    });
    let pairs = pairs.filter(|(_, value)| !value.contains(REFERENCE));
    let found = in_target(path, &pairs.collect::<Vec<_>>());
    let has_reference = || String::from_utf8_lossy(body).contains(REFERENCE);
    found.or_else(|| in_body(body).filter(|_| !has_reference()))
}

/// Returns where a path and its query have a credential: the name of a parameter, or a sentence.
pub(crate) fn in_target(path: &str, query: &[(String, String)]) -> Option<String> {
    let (first, parameters) = path.split_once(';').unwrap_or((path, ""));
    let mut parameters = parameters.split([';', '/']);
    let of_path = parameters.find_map(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        is_secret(name).then(|| name.to_owned())
    });
    if of_path.is_some() {
        return of_path;
    }
    if first.split('/').any(is_token) {
        return Some("a token in its path".to_owned());
    }
    query.iter().find_map(|(name, value)| {
        let is_nested = value.contains('=') && value.contains(['?', '&', '#']);
        let nested = is_nested.then(|| value.split(['?', '&', '#']));
        let mut nested = nested.into_iter().flatten();
        let holds = is_secret(name)
            || is_token(value)
            || nested.any(|pair| match pair.split_once('=') {
                Some((name, value)) => is_secret(name) || is_token(value),
                None => false,
            });
        holds.then(|| name.clone())
    })
}

/// Returns a path for lists of requests, without parameters, query and tokens.
pub(crate) fn without(path: &str) -> String {
    let path = path.split(['?', ';']).next().unwrap_or_default();
    let segments = path.split('/');
    let segments: Vec<&str> = segments
        .map(|segment| if is_token(segment) { "…" } else { segment })
        .collect();
    segments.join("/")
}

/// Returns the name of a field of a body, JSON or a form, that is a credential.
pub(crate) fn in_body(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return in_json(&value);
    }
    let mut names = text
        .split('&')
        .filter_map(|pair| Some(pair.split_once('=')?.0));
    names.find(|name| is_secret(name)).map(str::to_owned)
}

fn in_json(value: &Value) -> Option<String> {
    match value {
        Value::Object(object) => object.iter().find_map(|(name, value)| {
            let is_value = !value.is_object() && !value.is_array();
            let found = (is_value && is_secret(name)).then(|| name.clone());
            found.or_else(|| in_json(value))
        }),
        Value::Array(list) => list.iter().find_map(in_json),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{in_body, in_target, is_secret, is_token};

    #[test]
    fn what_a_user_types_can_be_a_credential() {
        let check = |name: &str, value: &str, expect: bool| {
            assert_eq!(super::is_credential(name, value), expect, "{name}: {value}");
        };
        check("Authorization", "Basic x", true);
        check("DATABASE_URL", "postgres://me:pass@db/items", true);
        check("Authorization", "Bearer ${env:TOKEN}", false);
        check("DATABASE_URL", "postgres://me@db/items?at=a:b@c", false);
        check("BACKEND", "http://127.0.0.1:8080/a:b@c", false);
        let found = super::credential_in_request("/a?api_key=1&b", b"");
        assert_eq!(found.as_deref(), Some("api_key"));
        let found = super::credential_in_request("/a", b"user=a&pwd=b");
        assert_eq!(found.as_deref(), Some("pwd"));
        assert_eq!(super::credential_in_request("/a?b=c", b"{}"), None);
        let (target, body) = ("/a?token=${env:TOKEN}", br#"{"pwd": "${env:PWD}"}"#);
        assert_eq!(super::credential_in_request(target, body), None);
    }

    #[test]
    fn credentials_are_known_by_their_names() {
        for name in [
            "ocp-apim-subscription-key",
            "x-functions-key",
            "x-otp",
            "x-ticket",
            "x-pass",
            "authentication",
            "private-key",
            "x-forwarded-client-cert",
            "pwd",
            "pass",
            "code",
            "state",
            "otp",
            "sessid",
            "api.key",
            "accesskey",
            "subscription-key",
            "accessToken",
            "PHPSESSID",
            "X-CSRF-Token",
            "userPwd",
            "sig",
            "Authorization",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "page", "q", "author", "zipcodes", "keyword", "compass", "X-Unit", "passage",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn tokens_are_known_by_their_look() {
        for value in [
            "eyJhbGciOi.eyJzdWIi.c2ln",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "5f4dcc3b5aa765d61d8327deb882cf99",
        ] {
            assert!(is_token(value), "{value}");
        }
        for value in [
            "123e4567-e89b-12d3-a456-426614174000",
            "a-long-title-of-a-page-of-2026",
            "507f1f77bcf86cd799439011",
            "20260101000000000000",
            "internationalization",
            "application/json",
            "short1A",
        ] {
            assert!(!is_token(value), "{value}");
        }
    }

    #[test]
    fn credentials_are_found_where_they_hide() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let check = |path: &str, query: &[(String, String)], expect: Option<&str>| {
            assert_eq!(
                in_target(path, query).as_deref(),
                expect,
                "{path} {query:?}"
            );
        };
        check("/a;jsessionid=1/b", &[], Some("jsessionid"));
        check("/a/eyJh.b.c", &[], Some("a token in its path"));
        check(
            "/a",
            &[pair("next", "http://h/?access_token=1")],
            Some("next"),
        );
        check("/a;v=1", &[pair("page", "2"), pair("q", "a=b&c")], None);
        assert_eq!(
            in_body(br#"{"a": [{"password": "x"}]}"#).as_deref(),
            Some("password")
        );
        assert_eq!(in_body(b"user=a&pwd=b").as_deref(), Some("pwd"));
        assert_eq!(in_body(br#"{"state": {"name": "x"}}"#), None);
        assert_eq!(in_body(b"\xff="), None);
    }
}
