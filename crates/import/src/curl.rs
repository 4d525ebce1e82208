//! Converts a curl command line, as browsers copy it and documentation shows it, to a request.
//! Pure.

use bakeoff_base::problem::Problem;
use url::Url;

use crate::har::is_of_the_request;
use crate::requests::Operation;

/// Options that affect curl itself, but not what is sent.
const WITHOUT_EFFECT: [&str; 17] = [
    "--compressed",
    "--fail",
    "--fail-with-body",
    "--globoff",
    "--http1.1",
    "--include",
    "--insecure",
    "--location",
    "--no-buffer",
    "--no-progress-meter",
    "--path-as-is",
    "--show-error",
    "--silent",
    "--verbose",
    "--http2",
    "--ipv4",
    "--ipv6",
];

/// Options without effect that are followed by a value.
const VALUE_WITHOUT_EFFECT: [&str; 6] = [
    "--connect-timeout",
    "--max-time",
    "--output",
    "--retry",
    "--user-agent",
    "--write-out",
];

/// Short options and their long names; those after the bar take a value.
const SHORT: [(char, &str); 19] = [
    ('f', "--fail"),
    ('g', "--globoff"),
    ('i', "--include"),
    ('k', "--insecure"),
    ('L', "--location"),
    ('N', "--no-buffer"),
    ('S', "--show-error"),
    ('s', "--silent"),
    ('v', "--verbose"),
    ('G', "--get"),
    ('I', "--head"),
    ('A', "--user-agent"),
    ('b', "--cookie"),
    ('d', "--data"),
    ('H', "--header"),
    ('m', "--max-time"),
    ('o', "--output"),
    ('w', "--write-out"),
    ('X', "--request"),
];

/// Options that take a value and affect the request.
const WITH_VALUE: [&str; 10] = [
    "--cookie",
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--header",
    "--json",
    "--request",
    "--url",
];

/// A command line as read so far.
#[derive(Default)]
struct Command {
    url: Option<String>,
    method: Option<&'static str>,
    named_method: Option<String>,
    data: Vec<String>,
    is_json: bool,
    in_query: bool,
    headers: Vec<(String, String)>,
}

/// Reads a command line. The URL's host is omitted, as are headers of the connection and of curl
/// itself.
///
/// # Errors
/// Says which option is not supported, or that this is not a command line.
pub fn read(text: &str) -> Result<Operation, Problem> {
    // A shell continues the line after a backslash.
    let line = text.replace("\\\r\n", " ").replace("\\\n", " ");
    if line.contains(" $'") {
        return Err("text in $'...' cannot be taken; write it in '...'".into());
    }
    let words = shlex::split(&line).ok_or("a quote is not closed")?;
    let mut words = words.into_iter().peekable();
    words.next_if(|word| word == "curl");
    let mut command = Command::default();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            command.option(&format!("--{name}"), || value.or_else(|| words.next()))?;
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            let mut rest = letters;
            while let Some(letter) = rest.chars().next() {
                rest = &rest[letter.len_utf8()..];
                let known = SHORT.iter().find(|(short, _)| *short == letter);
                let (_, name) = known.ok_or_else(|| refused(&format!("-{letter}")))?;
                // The value of a short option may follow it directly.
                let mut taken = false;
                command.option(name, || {
                    taken = true;
                    match rest {
                        "" => words.next(),
                        value => Some(value.to_owned()),
                    }
                })?;
                if taken {
                    break;
                }
            }
        } else {
            command.take_url(word)?;
        }
    }
    command.operation()
}

fn refused(option: &str) -> String {
    format!("the option {option} of curl cannot be taken; leave it out")
}

impl Command {
    fn option(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Option<String>,
    ) -> Result<(), Problem> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        match name {
            "--get" => self.in_query = true,
            "--head" => self.method = Some("HEAD"),
            _ if WITH_VALUE.contains(&name) || VALUE_WITHOUT_EFFECT.contains(&name) => {
                let value = value().ok_or_else(|| format!("{name} has no value"))?;
                self.value(name, value)?;
            }
            _ => return Err(refused(name).into()),
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: String) -> Result<(), Problem> {
        match name {
            "--url" => self.take_url(value)?,
            "--request" => self.named_method = Some(value),
            "--header" => {
                let (header, value) = value
                    .split_once(':')
                    .ok_or_else(|| format!("no colon in the header {value:?}"))?;
                // Without a value it removes a header of curl's own.
                if !value.trim().is_empty() {
                    self.header(header.trim(), value.trim());
                }
            }
            "--cookie" if value.contains('=') => {
                let before = self.headers.iter().find(|(name, _)| name == "cookie");
                let all = before
                    .map_or_else(|| value.clone(), |(_, before)| format!("{before}; {value}"));
                self.header("cookie", &all);
            }
            "--cookie" => return Err(format!("cookies of a file cannot be taken: {value}").into()),
            "--data" | "--data-ascii" | "--data-binary" | "--json" if value.starts_with('@') => {
                return Err(format!(
                    "data of a file cannot be taken: {value}; write it in the command"
                )
                .into());
            }
            "--data-urlencode" => self.data.push(encoded(&value)?),
            "--data" | "--data-ascii" | "--data-binary" | "--data-raw" => self.data.push(value),
            "--json" => {
                self.is_json = true;
                self.data.push(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_url(&mut self, url: String) -> Result<(), Problem> {
        match &self.url {
            Some(first) => Err(format!("two URLs: {first} and {url}; one command has one").into()),
            None => {
                self.url = Some(url);
                Ok(())
            }
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if is_of_the_request(&name) {
            self.headers.retain(|(other, _)| *other != name);
            self.headers.push((name, value.to_owned()));
        }
    }

    /// Sets a header unless it is already set.
    fn default_header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(other, _)| other == name) {
            self.header(name, value);
        }
    }

    fn operation(mut self) -> Result<Operation, Problem> {
        let url = self.url.take().ok_or("no URL in it")?;
        let mut path = path(&url)?;
        let data = self.data.join(if self.is_json { "" } else { "&" });
        let has_body = !self.data.is_empty() && !self.in_query;
        if self.in_query && !data.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&data);
        }
        match (has_body, self.is_json) {
            (false, _) => {}
            (true, true) => {
                self.default_header("content-type", "application/json");
                self.default_header("accept", "application/json");
            }
            (true, false) => {
                self.default_header("content-type", "application/x-www-form-urlencoded");
            }
        }
        let usual = if has_body { "POST" } else { "GET" };
        let method = self.method.unwrap_or(usual);
        let method = self.named_method.unwrap_or_else(|| method.to_owned());
        Ok(Operation {
            name: format!("{method} {path}"),
            method,
            path,
            headers: self.headers.into_iter().collect(),
            body: if has_body { data } else { String::new() },
            weight: 1,
            ..Operation::default()
        })
    }
}

/// Returns `name=value` with the value escaped, as curl does it.
fn encoded(value: &str) -> Result<String, Problem> {
    let escape =
        |text: &str| -> String { url::form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    if value.contains('@') && !value.contains('=') {
        return Err(format!("data of a file cannot be taken: {value}").into());
    }
    Ok(match value.split_once('=') {
        Some(("", value)) => escape(value),
        Some((name, value)) => format!("{name}={}", escape(value)),
        None => escape(value),
    })
}

/// Returns path and query of a URL, which may lack its scheme as curl allows.
pub(crate) fn path(url: &str) -> Result<String, Problem> {
    let before_query = url.split(['?', '#']).next().unwrap_or_default();
    let whole = match (url.starts_with('/'), before_query.contains("://")) {
        (true, _) => format!("http://host{url}"),
        (false, true) => url.to_owned(),
        (false, false) => format!("http://{url}"),
    };
    let parsed = Url::parse(&whole).map_err(|error| format!("{url}: {error}"))?;
    if !parsed.username().is_empty() {
        return Err("a user in the URL cannot be taken; write the header that it becomes".into());
    }
    let query = parsed.query().map(|query| format!("?{query}"));
    Ok(format!("{}{}", parsed.path(), query.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_command_of_a_browser_is_a_request() {
        let text = "curl 'http://shop.example:8080/orders?dry=1' \\\n  -X POST \\\n  \
            -H 'Accept: application/json' -H 'Accept-Encoding: gzip' -H 'User-Agent: browser' \
            -b 'id=7' --compressed -sS --data-raw '{\"item\": \"it\\'s\"}'";
        let text = text.replace("\\'s", "s");
        let found = read(&text).unwrap();
        assert_eq!(found.method, "POST");
        assert_eq!(found.path, "/orders?dry=1");
        assert_eq!(found.body, "{\"item\": \"its\"}");
        let headers: Vec<(&str, &str)> = found
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let form = "application/x-www-form-urlencoded";
        let expect = [
            ("accept", "application/json"),
            ("content-type", form),
            ("cookie", "id=7"),
        ];
        assert_eq!(headers, expect);
    }

    #[test]
    fn options_mean_what_curl_says() {
        let found = |text| read(text).unwrap();
        assert_eq!(found("curl localhost:8080").path, "/");
        assert_eq!(found("curl -I http://a/b").method, "HEAD");
        assert_eq!(found("http://a/b -XDELETE").method, "DELETE");
        let json = found("curl --json '{}' http://a/b");
        assert_eq!((json.method.as_str(), json.body.as_str()), ("POST", "{}"));
        assert_eq!(json.headers["content-type"], "application/json");
        assert_eq!(json.headers["accept"], "application/json");
        let cookies = found("curl http://a -b a=1 -b b=2 -H 'Accept:'");
        assert_eq!(cookies.headers["cookie"], "a=1; b=2");
        assert_eq!(cookies.headers.len(), 1);
        let next = found("curl localhost:8080/login?next=https://a/b");
        assert_eq!(next.path, "/login?next=https://a/b");
        let query = found("curl -G -d a=1 --data-urlencode 'b=c d' http://a/b?z");
        assert_eq!(query.path, "/b?z&a=1&b=c+d");
        assert_eq!((query.method.as_str(), query.body.as_str()), ("GET", ""));
        assert_eq!(found("curl -d a=1 -d b=2 http://a").body, "a=1&b=2");
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (text, expect) in [
            ("curl 'http://a", "not closed"),
            ("curl", "no URL"),
            ("curl http://a http://b", "two URLs"),
            ("curl -u me:secret http://a", "-u of curl"),
            ("curl --upload-file x http://a", "--upload-file"),
            ("curl -d @file http://a", "@file"),
            ("curl -b jar http://a", "jar"),
            ("curl http://a -H", "--header has no value"),
            ("curl http://a -H plain", "no colon"),
            ("curl http://a --data-raw $'{\\'a\\'}'", "$'...'"),
            ("curl http://me:secret@a", "a user in the URL"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(expect), "{text}: {error}");
        }
    }
}
