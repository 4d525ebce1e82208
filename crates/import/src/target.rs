//! URLs as command lines and files have them. The path stays as it is typed: a service may answer
//! `/a/../b` and `/b` differently. Pure.

use bakeoff_base::percent;

/// The parts of a URL that a request needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// Host and port; empty if the text is only a path.
    pub(crate) host: String,
    /// Name and password, still encoded.
    pub(crate) user: Option<String>,
    /// Path and query as typed, but with blanks and what is not ASCII encoded.
    pub(crate) path: String,
}

/// Reads a URL, which may lack its scheme as curl allows, or its host.
///
/// # Errors
/// Why it is no URL of HTTP; the text does not repeat it.
pub(crate) fn read(url: &str) -> Result<Target, &'static str> {
    let url = url.split('#').next().unwrap_or_default();
    if url.starts_with('/') {
        return Ok(Target {
            path: percent::request_target(url),
            ..Target::default()
        });
    }
    let before_query = url.split('?').next().unwrap_or_default();
    let rest = match before_query.split_once(":/") {
        Some((scheme, _)) if is_scheme(scheme) => {
            let rest = &url[scheme.len() + 2..];
            // Two slashes are right; curl takes one or three.
            rest.trim_start_matches('/')
        }
        Some((scheme, _)) if !scheme.contains('/') => return Err("its URL is not of HTTP"),
        _ => url,
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, authority),
    };
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("its URL has no host");
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(Target {
        host: host.to_owned(),
        user,
        path: percent::request_target(&format!("{slash}{path}")),
    })
}

fn is_scheme(text: &str) -> bool {
    text.eq_ignore_ascii_case("http") || text.eq_ignore_ascii_case("https")
}

/// Returns path and query without `.` and `..` among the segments of the path (RFC 3986, 5.2.4), as
/// curl sends them; encoded dots stay.
pub(crate) fn without_dots(path_and_query: &str) -> String {
    let (path, query) = match path_and_query.find('?') {
        Some(at) => path_and_query.split_at(at),
        None => (path_and_query, ""),
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{Target, read, without_dots};

    #[test]
    fn a_path_stays_as_it_is_typed() {
        let check = |url: &str, host: &str, user: Option<&str>, path: &str| {
            let expect = Target {
                host: host.to_owned(),
                user: user.map(str::to_owned),
                path: path.to_owned(),
            };
            assert_eq!(read(url), Ok(expect), "{url}");
        };
        check(
            "http://h:1/a/../b/%2e%2e|{x}?q=\"#f",
            "h:1",
            None,
            "/a/../b/%2e%2e|{x}?q=\"",
        );
        check("h/a", "h", None, "/a");
        check("HTTPS://[::1]:2?q=a@b:/c", "[::1]:2", None, "/?q=a@b:/c");
        check(
            "h/login?next=https://a/b",
            "h",
            None,
            "/login?next=https://a/b",
        );
        check("http:/h/p?", "h", None, "/p?");
        check("http://me:s%20c@h", "h", Some("me:s%20c"), "/");
        check("/a b/ň", "", None, "/a%20b/%C5%88");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for url in [
            "",
            "ftp://h/a",
            "http://",
            "http://?q",
            "a b/c",
            "file:///a",
        ] {
            assert!(read(url).is_err(), "{url}");
        }
    }

    #[test]
    fn dots_are_removed_like_in_curl() {
        for (path, expect) in [
            ("/a/../b/./c/..", "/b/"),
            ("/a//b/../c?x=/../y", "/a//c?x=/../y"),
            ("/../../a/.", "/a/"),
            ("/a/%2e%2e/..b/...", "/a/%2e%2e/..b/..."),
            ("/", "/"),
        ] {
            assert_eq!(without_dots(path), expect, "{path}");
        }
    }
}
