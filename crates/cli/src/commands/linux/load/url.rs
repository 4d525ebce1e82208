//! The URL of `bakeoff load`: the address, the header `Host` and the path.

use bakeoff_base::hint::hinted;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

const HINT: &str = "a URL looks like http://127.0.0.1:8080/path";

/// Characters that must not stand in a request line. All else is sent as it was typed: `${name}` is
/// a variable, and dots and quotes are the service's business.
const NOT_IN_A_PATH: &AsciiSet = &CONTROLS.add(b' ');

/// A URL in the parts that an order has.
#[derive(Debug, PartialEq)]
pub(crate) struct LoadUrl {
    /// Host and port to connect to, `host:port` or `[v6]:port`.
    pub(crate) address: String,
    /// Value of `Host`: as it was typed, with the port only if there is one.
    pub(crate) host: String,
    /// Path and query, percent-encoded, without the fragment.
    pub(crate) path: String,
    pub(crate) tls: bool,
    pub(crate) websocket: bool,
}

/// Reads a URL; without a scheme it is one of `http`.
///
/// # Errors
/// A sentence with a hint. It does not show a password.
pub(crate) fn read(text: &str) -> anyhow::Result<LoadUrl> {
    let text = text.trim();
    let is_scheme = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        _ => ("http".to_owned(), text),
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if let Some((_, host)) = authority.rsplit_once('@') {
        return Err(hinted(
            format_args!("{scheme}://...@{host}: name and password are not taken from the URL"),
            "send them with -H 'Authorization: Basic ...'",
        ));
    }
    let wrong = |why: &str| hinted(format_args!("{text}: {why}"), HINT);
    let (tls, websocket) = match scheme.as_str() {
        "http" => (false, false),
        "https" => (true, false),
        "ws" => (false, true),
        "wss" => (true, true),
        other => return Err(wrong(&format!("unknown scheme {other}"))),
    };
    if authority.is_empty() {
        return Err(wrong("no host in it"));
    }
    if authority.ends_with(':') {
        return Err(wrong("no port after the colon"));
    }
    if authority.contains('\\') {
        return Err(wrong("a backslash in the host"));
    }
    let url = match Url::parse(&format!("{scheme}://{authority}")) {
        Ok(url) => url,
        Err(error) => return Err(wrong(&error.to_string())),
    };
    let (Some(name), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(wrong("no host in it"));
    };
    let host = match url.port() {
        _ if authority.bytes().all(|byte| byte.is_ascii_graphic()) => authority.to_owned(),
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    Ok(LoadUrl {
        address: format!("{name}:{port}"),
        host,
        path: encoded(path),
        tls,
        websocket,
    })
}

/// Returns path and query of what follows the host.
fn encoded(rest: &str) -> String {
    let (path, _fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{slash}{}", utf8_percent_encode(path, NOT_IN_A_PATH))
}

#[cfg(test)]
mod tests {
    use bakeoff_base::problem::Problem;

    use super::read;

    #[test]
    fn urls_are_split() {
        let check = |text: &str, address: &str, host: &str, path: &str| {
            let url = read(text).unwrap();
            assert_eq!(
                (url.address.as_str(), url.host.as_str(), url.path.as_str()),
                (address, host, path),
                "{text}"
            );
        };
        check("http://h", "h:80", "h", "/");
        check("HTTP://Host/X", "host:80", "Host", "/X");
        check("https://h:8443/a?b=c", "h:8443", "h:8443", "/a?b=c");
        check("http://h:80?q", "h:80", "h:80", "/?q");
        check("wss://h/", "h:443", "h", "/");
        check("127.0.0.1:8080/x", "127.0.0.1:8080", "127.0.0.1:8080", "/x");
        check("localhost:8080", "localhost:8080", "localhost:8080", "/");
        check("[::1]:8080", "[::1]:8080", "[::1]:8080", "/");
        check("http://[::1]/", "[::1]:80", "[::1]", "/");
        check("my_service:80/", "my_service:80", "my_service:80", "/");
        check(
            "http://m\u{fc}ller/",
            "xn--mller-kva:80",
            "xn--mller-kva",
            "/",
        );
        check("http://h/a#b", "h:80", "h", "/a");
        check("http://h#b", "h:80", "h", "/");
        check(
            "http://h/a b?c=\u{159} d",
            "h:80",
            "h",
            "/a%20b?c=%C5%99%20d",
        );
        check(
            "http://h/${id}/../%20?x=${y}",
            "h:80",
            "h",
            "/${id}/../%20?x=${y}",
        );
        check("h/?next=http://other/", "h:80", "h", "/?next=http://other/");
        check("http://h/a@b?c@d", "h:80", "h", "/a@b?c@d");
        assert!(read("wss://h/").unwrap().websocket);
        assert!(read("https://h/").unwrap().tls);
        assert!(!read("ws://h/").unwrap().tls);
    }

    #[test]
    fn what_is_no_url_is_a_sentence() {
        let check = |text: &str, expect: &str| {
            let error = read(text).unwrap_err();
            let hint = &error.downcast_ref::<Problem>().unwrap().hints()[0];
            let message = format!("{error}: {hint}");
            assert!(message.contains(expect), "{text}: {message}");
            assert!(!message.contains("secret"), "{text}: {message}");
        };
        check("ftp://h/", "unknown scheme ftp");
        check("", "no host");
        check("/path", "no host");
        check("http:///path", "no host");
        check("http:/h/", "no port");
        check("http:\\\\h/", "backslash");
        check("http://h:/", "no port");
        check("http://h:99999/", "invalid port");
        check("http://h:port/", "invalid port");
        check("http://[::1/", "IPv6");
        check("http://a b/", "domain name");
        check("http://me:secret@h:80/", "-H 'Authorization:");
        check("me:secret@h", "-H 'Authorization:");
        check("ftp://me:secret@h", "-H 'Authorization:");
    }
}
