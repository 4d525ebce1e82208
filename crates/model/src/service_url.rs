//! The address of a service that runs already, as people write it. Nothing is looked up here.

use std::fmt;

/// Why a text does not name a service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {message}")]
pub struct UrlError {
    /// The text.
    pub url: String,
    /// What is wrong with it.
    pub message: String,
}

/// `http://HOST[:PORT][/PREFIX]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceUrl {
    name: String,
    port: u16,
    prefix: String,
}

impl ServiceUrl {
    /// Parses `http://HOST[:PORT][/PREFIX]`.
    ///
    /// # Errors
    /// The text is not such a URL.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let fail = |message: &str| UrlError {
            url: url.to_owned(),
            message: message.to_owned(),
        };
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(fail(
                    "checks speak plain HTTP; only `bakeoff load` speaks TLS",
                ));
            }
            Some(_) => return Err(fail("the scheme must be http")),
            None => return Err(fail("a URL begins with http://")),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if path.contains(['?', '#']) || authority.contains(['?', '#', '@']) {
            return Err(fail("a prefix has no user, query or fragment"));
        }
        let port_at = authority
            .rfind(':')
            .filter(|at| !authority[*at..].contains(']'));
        let (host, port) = match port_at {
            Some(at) => {
                let port = authority[at + 1..]
                    .parse()
                    .map_err(|_| fail("the port is no port"))?;
                (&authority[..at], port)
            }
            None => (authority, 80),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(fail("it names no host"));
        }
        let prefix = path.trim_end_matches('/').to_owned();
        Ok(Self {
            name: host.to_owned(),
            port,
            prefix,
        })
    }

    /// The host's name or address, IPv6 without brackets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What goes before every path of the suite; empty or beginning with a slash.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Value of the `Host` header.
    #[must_use]
    pub fn host(&self) -> String {
        let name = if self.name.contains(':') {
            format!("[{}]", self.name)
        } else {
            self.name.clone()
        };
        if self.port == 80 {
            name
        } else {
            format!("{name}:{}", self.port)
        }
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.host(), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::ServiceUrl;

    #[test]
    fn urls_are_taken_apart() {
        for (url, host, prefix) in [
            ("http://example.org", "example.org", ""),
            ("http://example.org:80/", "example.org", ""),
            ("http://10.0.0.1:8080/a/b/", "10.0.0.1:8080", "/a/b"),
            ("http://[::1]:9/", "[::1]:9", ""),
            ("http://[::1]", "[::1]", ""),
        ] {
            let found = ServiceUrl::new(url).unwrap();
            assert_eq!((found.host().as_str(), found.prefix()), (host, prefix));
            assert_eq!(ServiceUrl::new(&found.to_string()), Ok(found));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for (url, message) in [
            ("example.org", "a URL begins with http://"),
            ("ftp://x", "the scheme must be http"),
            (
                "https://x",
                "checks speak plain HTTP; only `bakeoff load` speaks TLS",
            ),
            ("http://:80", "it names no host"),
            ("http://x:y", "the port is no port"),
            ("http://x/?a", "a prefix has no user, query or fragment"),
        ] {
            assert_eq!(ServiceUrl::new(url).unwrap_err().message, message);
        }
    }
}
