//! The address of a service that runs already, as people write it. Nothing is looked up here.

use std::fmt;

use url::{Position, Url};

/// Why a text does not name a service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {message}")]
pub struct UrlError {
    /// The text.
    pub url: String,
    /// The mistake in it.
    pub message: String,
}

/// `http://HOST[:PORT][/PREFIX]`, or with `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceUrl(Url);

impl ServiceUrl {
    /// Parses `http://HOST[:PORT][/PREFIX]`, or with `https`.
    ///
    /// # Errors
    /// The text is not such a URL.
    pub fn new(text: &str) -> Result<Self, UrlError> {
        let fail = |message: &str| UrlError {
            url: text.to_owned(),
            message: message.to_owned(),
        };
        if !text.contains("://") {
            return Err(fail("a URL begins with http://"));
        }
        // Browsers forgive the third slash and take the path for the host.
        if text.contains(":///") {
            return Err(fail("empty host"));
        }
        let mut url = Url::parse(text).map_err(|error| fail(&error.to_string()))?;
        match url.scheme() {
            "http" | "https" => {}
            _ => return Err(fail("the scheme must be http or https")),
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err(fail("a prefix has no user, query or fragment"));
        }
        // One spelling: a prefix ends without a slash.
        let prefix = url.path().trim_end_matches('/').to_owned();
        url.set_path(&prefix);
        Ok(Self(url))
    }

    /// The host's name or address, IPv6 without brackets.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.0.host_str().unwrap_or_default();
        name.trim_matches(['[', ']'])
    }

    /// Whether it is reached over TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Returns the prefix of every path of the suite; empty or beginning with a slash.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// Value of the `Host` header.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.0.scheme(), self.host(), self.prefix())
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
            assert_eq!((found.host(), found.prefix()), (host, prefix));
            assert_eq!(ServiceUrl::new(&found.to_string()), Ok(found));
        }
    }

    #[test]
    fn a_url_over_tls_has_another_port() {
        let [plain, tls] = ["http://h/a", "https://h/a"].map(|url| ServiceUrl::new(url).unwrap());
        assert_eq!((plain.port(), tls.port()), (80, 443));
        assert!(tls.is_tls() && !plain.is_tls());
        assert_eq!(tls.to_string(), "https://h/a");
    }

    #[test]
    fn other_texts_are_refused() {
        for (url, message) in [
            ("example.org", "a URL begins with http://"),
            ("ftp://x", "the scheme must be http or https"),
            ("http://:80", "empty host"),
            ("http:///a", "empty host"),
            ("http://x:y", "invalid port number"),
            ("http://x/?a", "a prefix has no user, query or fragment"),
            ("http://a@x/", "a prefix has no user, query or fragment"),
        ] {
            assert_eq!(ServiceUrl::new(url).unwrap_err().message, message);
        }
    }
}
