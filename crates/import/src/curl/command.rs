//! The arguments of one curl command, and the request that curl makes of them. Pure but for files,
//! which a function reads.

use bakeoff_base::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::body::{self, Form, Part};
use super::options::{self, CurlOption, Meaning};
use super::pattern::{Expanded, expand};
use crate::headers;
use crate::outside::{Outside, Reasons};
use crate::requests::Operation;
use crate::target;

/// Encodings that curl asks for with `--compressed`.
const ENCODINGS: &str = "deflate, gzip, br, zstd";

/// The arguments as read so far.
#[derive(Default)]
pub(super) struct Arguments {
    urls: Vec<String>,
    method: Option<String>,
    /// The data of `--data` and its kinds, joined.
    data: Option<Vec<u8>>,
    parts: Vec<Part>,
    upload: Option<(String, Vec<u8>)>,
    query: Vec<String>,
    /// Headers as typed.
    headers: Vec<(String, String)>,
    /// Names of headers that are not sent.
    removed: Vec<String>,
    user: Option<String>,
    bearer: Option<String>,
    range: Option<String>,
    agent: Option<String>,
    referer: Option<String>,
    cookies: Vec<String>,
    request_target: Option<String>,
    switches: Switches,
    /// Names of options that change nothing here.
    ignored: Vec<String>,
    pub(super) reasons: Reasons,
    pub(super) notes: Vec<String>,
}

/// Switches of curl.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of curl")]
struct Switches {
    json: bool,
    in_query: bool,
    head: bool,
    compressed: bool,
    path_as_is: bool,
    plain_brackets: bool,
    form_escape: bool,
}

impl Arguments {
    /// Reads the words after `curl`.
    pub(super) fn read(words: Vec<String>, outside: Outside<'_>) -> Self {
        let mut arguments = Self::default();
        let mut words = words.into_iter();
        let mut only_urls = false;
        while let Some(word) = words.next() {
            if only_urls || !word.starts_with('-') || word == "-" {
                arguments.urls.push(word);
            } else if word == "--" {
                only_urls = true;
            } else if let Some(long) = word.strip_prefix("--") {
                arguments.long(long, &mut words, outside);
            } else {
                arguments.short(&word[1..], &mut words, outside);
            }
        }
        arguments
    }

    fn long(&mut self, text: &str, words: &mut impl Iterator<Item = String>, from: Outside<'_>) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let Some((option, is_on)) = options::named(name) else {
            let why = match name.starts_with("expand-") {
                true => "it fills in variables of curl; write their values",
                false => "curl has no such option",
            };
            return self.reasons.add(format!("--{name}: {why}"));
        };
        let shown = format!("--{name}");
        let value = match option.has_value {
            true => value.or_else(|| words.next()),
            false => value,
        };
        self.option(option, &shown, is_on, value, from);
    }

    /// Reads letters, of which the last may have its value right behind it.
    fn short(&mut self, text: &str, words: &mut impl Iterator<Item = String>, from: Outside<'_>) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let shown = format!("-{letter}");
            let Some(option) = options::lettered(letter) else {
                return self
                    .reasons
                    .add(format!("{shown}: curl has no such option"));
            };
            if option.has_value {
                let value = match rest {
                    "" => words.next(),
                    rest => Some(rest.to_owned()),
                };
                return self.option(option, &shown, true, value, from);
            }
            // The list has the switch that `-N` turns off.
            self.option(option, &shown, true, None, from);
        }
    }

    fn option(
        &mut self,
        option: CurlOption,
        shown: &str,
        is_on: bool,
        value: Option<String>,
        outside: Outside<'_>,
    ) {
        if option.has_value && value.is_none() {
            return self.reasons.add(format!("{shown} has no value"));
        }
        match option.meaning {
            Meaning::Refused(why) if is_on => self.reasons.add(format!("{shown}: {why}")),
            Meaning::Refused(_) | Meaning::Nothing => {
                if !self.ignored.iter().any(|one| one == shown) {
                    self.ignored.push(shown.to_owned());
                }
            }
            Meaning::Taken if !option.has_value => self.switch(option.name, is_on),
            Meaning::Taken => {
                let value = value.unwrap_or_default();
                if let Err(why) = self.value(option.name, value, outside) {
                    self.reasons.add(why);
                }
            }
        }
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        let switches = &mut self.switches;
        let switch = match name {
            "get" => &mut switches.in_query,
            "head" => &mut switches.head,
            "compressed" => &mut switches.compressed,
            "path-as-is" => &mut switches.path_as_is,
            "globoff" => &mut switches.plain_brackets,
            _ => &mut switches.form_escape,
        };
        *switch = is_on;
    }

    fn value(&mut self, name: &str, value: String, outside: Outside<'_>) -> Result<(), String> {
        match name {
            "url" => self.urls.push(value),
            "request" => self.method = Some(value),
            "header" => self.typed(&value, outside)?,
            "user" => self.user = Some(value),
            "oauth2-bearer" => self.bearer = Some(value),
            "user-agent" => self.agent = Some(value),
            "referer" => self.referer = Some(value.replace(";auto", "")),
            "request-target" => self.request_target = Some(value),
            "range" => {
                let is_open = value.bytes().all(|byte| byte.is_ascii_digit());
                let dash = if is_open { "-" } else { "" };
                self.range = Some(format!("bytes={value}{dash}"));
            }
            "cookie" if value.contains('=') => self.cookies.push(value),
            "cookie" if value.is_empty() => {}
            "cookie" => return Err("-b reads cookies from a file; write NAME=VALUE".to_owned()),
            "form" => self.parts.push(Part::read(&value, outside)?),
            "form-string" => self.parts.push(Part::literal(&value)?),
            "upload-file" => {
                self.upload = Some((value.clone(), body::file("-T", &value, outside)?));
            }
            "url-query" => self.query.push(match value.strip_prefix('+') {
                Some(plain) => plain.to_owned(),
                None => body::encoded(&value, outside)?,
            }),
            _ => {
                let data = body::data(name, &value, outside)?;
                self.switches.json |= name == "json";
                let all = self.data.get_or_insert_default();
                if !all.is_empty() && name != "json" {
                    all.push(b'&');
                }
                all.extend_from_slice(&data);
            }
        }
        Ok(())
    }

    /// Reads a header: `Name: value`, `Name;` for an empty value, `Name:` to remove one of curl's
    /// own, or a file of such lines.
    fn typed(&mut self, text: &str, outside: Outside<'_>) -> Result<(), String> {
        if let Some(name) = text.strip_prefix('@') {
            let bytes = body::file("-H", name, outside)?;
            let lines = String::from_utf8(bytes).map_err(|_| format!("-H: {name} is no text"))?;
            let lines = lines.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            return lines.into_iter().try_for_each(|line| self.typed_line(line));
        }
        self.typed_line(text)
    }

    fn typed_line(&mut self, line: &str) -> Result<(), String> {
        let (name, value) = match (line.split_once(':'), line.trim_end().strip_suffix(';')) {
            (Some((name, value)), _) => (name.trim(), value.trim()),
            (None, Some(name)) => {
                self.headers.push((name.trim().to_owned(), String::new()));
                return Ok(());
            }
            (None, None) => return Err("-H has neither a colon nor a semicolon at its end".into()),
        };
        match value {
            "" => self.removed.push(name.to_ascii_lowercase()),
            value => self.headers.push((name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Returns the request, or adds why there is none.
    pub(super) fn operation(mut self) -> Result<(Operation, Vec<String>), Reasons> {
        let (mut path, user) = self.path();
        if self.user.is_none() {
            self.user = user;
        }
        let kinds = [
            self.data.is_some() && !self.switches.in_query,
            !self.parts.is_empty(),
            self.upload.is_some(),
            self.switches.head,
        ];
        let is_form_in_query = self.switches.in_query && !self.parts.is_empty();
        if is_form_in_query || kinds.into_iter().filter(|kind| *kind).count() > 1 {
            self.reasons
                .add("curl itself refuses several of -d, -F, -T and -I in one command");
        }
        if self.user.as_ref().is_some_and(|user| !user.contains(':')) {
            self.reasons
                .add("-u has no password, for which curl asks; write NAME:PASSWORD");
        }
        let in_query = self.data.take_if(|_| self.switches.in_query);
        let in_query = in_query.map(|data| String::from_utf8_lossy(&data).into_owned());
        let query = in_query.unwrap_or_else(|| self.query.join("&"));
        if !query.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&percent::request_target(&query));
        }
        if let Some(target) = self.request_target.take() {
            match target.starts_with('/') {
                true => path = target,
                false => self.reasons.add("--request-target is no path"),
            }
        }
        let usual = match &self {
            _ if self.switches.head => "HEAD",
            _ if self.upload.is_some() => "PUT",
            _ if self.data.is_some() || !self.parts.is_empty() => "POST",
            _ => "GET",
        };
        let method = self.method.take().unwrap_or_else(|| usual.to_owned());
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            self.reasons
                .add("-X has a method that is not in upper case");
        }
        let (own, body, kind) = self.made();
        let mut headers = self.in_order(own, kind);
        let dropped = headers::without_connection(&mut headers);
        self.notes.extend(headers::note(&dropped));
        if !self.ignored.is_empty() {
            let names = self.ignored.join(", ");
            self.notes
                .push(format!("options of curl that change nothing here: {names}"));
        }
        if self.reasons.sentence().is_some() {
            return Err(self.reasons);
        }
        let operation = Operation {
            name: format!("{method} {path}"),
            method,
            path,
            headers,
            body,
            weight: 1,
            ..Operation::default()
        };
        Ok((operation, self.notes))
    }

    /// Returns the path of the URL, and the user in it.
    fn path(&mut self) -> (String, Option<String>) {
        let nothing = ("/".to_owned(), None);
        let url = match self.urls.as_slice() {
            [] => {
                self.reasons.add("it has no URL");
                return nothing;
            }
            [url] => url.clone(),
            _ => {
                self.reasons.add("it has two URLs; one command has one");
                return nothing;
            }
        };
        let url = match expand(&url) {
            _ if self.switches.plain_brackets => url,
            Expanded::Plain(url) => url,
            Expanded::One(one) => {
                let note = "curl takes brackets in a URL as patterns, and sends them filled in; \
                            -g sends them as typed";
                self.notes.push(note.to_owned());
                one
            }
            Expanded::Several => {
                self.reasons.add(
                    "its URL has a pattern of curl, {...} or [...], for several URLs; write one, \
                     or -g to send it as typed",
                );
                return nothing;
            }
            Expanded::Wrong => {
                let note = "brackets in the URL are sent as typed; curl itself needs -g for that";
                self.notes.push(note.to_owned());
                url
            }
        };
        let found = match target::read(&url) {
            Ok(found) if !found.host.is_empty() => found,
            Ok(_) => {
                self.reasons.add("its URL has no host");
                return nothing;
            }
            Err(why) => {
                self.reasons.add(why);
                return nothing;
            }
        };
        let mut path = match self.switches.path_as_is {
            true => found.path,
            false => target::without_dots(&found.path),
        };
        if let Some((name, _)) = &self.upload
            && path.ends_with('/')
        {
            let base = name.rsplit('/').next().unwrap_or_default();
            path.push_str(&percent::component(base));
        }
        let user = found.user.map(|user| {
            let user = percent::decoded(&user).unwrap_or(user);
            if user.contains(':') { user } else { user + ":" }
        });
        (path, user)
    }

    /// Returns the headers that curl makes before those that are typed, the body, and its type.
    fn made(&mut self) -> (Vec<(&'static str, String)>, Vec<u8>, Option<String>) {
        let mut own = Vec::new();
        let basic = self.user.as_ref();
        let basic = basic.map(|user| format!("Basic {}", STANDARD.encode(user)));
        let bearer = self.bearer.as_ref().map(|token| format!("Bearer {token}"));
        own.extend(bearer.or(basic).map(|value| ("Authorization", value)));
        own.extend(self.range.take().map(|range| ("Range", range)));
        let some = |value: Option<String>| value.filter(|value| !value.is_empty());
        own.extend(some(self.agent.take()).map(|agent| ("User-Agent", agent)));
        if self.switches.compressed {
            own.push(("Accept-Encoding", ENCODINGS.to_owned()));
        }
        own.extend(some(self.referer.take()).map(|referer| ("Referer", referer)));
        if !self.cookies.is_empty() {
            own.push(("Cookie", self.cookies.join("; ")));
        }
        let (body, kind) = if let Some((_, bytes)) = self.upload.take() {
            (bytes, None)
        } else if !self.parts.is_empty() {
            let Form { boundary, body } = body::form(&self.parts, self.switches.form_escape);
            let typed = self.headers.iter();
            let mut typed = typed.filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            // Curl adds the boundary to a type that is typed.
            let kind = typed.next().and_then(|(_, kind)| kind.split(';').next());
            let kind = kind.unwrap_or("multipart/form-data").trim();
            let kind = format!("{kind}; boundary={boundary}");
            self.headers
                .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            (body, Some(kind))
        } else {
            let form = "application/x-www-form-urlencoded";
            let is_form = self.data.is_some() && !self.switches.json;
            (
                self.data.take().unwrap_or_default(),
                is_form.then(|| form.to_owned()),
            )
        };
        (own, body, kind)
    }

    /// Returns all headers in curl's order: its own ones, those that are typed, the body's type. A
    /// header that is typed replaces curl's own.
    fn in_order(
        &mut self,
        own: Vec<(&'static str, String)>,
        kind: Option<String>,
    ) -> Vec<(String, String)> {
        let mut typed = std::mem::take(&mut self.headers);
        let removed = &self.removed;
        let is_free = |typed: &[(String, String)], name: &str| {
            !headers::has(typed, name) && !removed.contains(&name.to_ascii_lowercase())
        };
        if self.switches.json {
            for name in ["Content-Type", "Accept"] {
                if is_free(&typed, name) {
                    typed.push((name.to_owned(), "application/json".to_owned()));
                }
            }
        }
        let own = own.into_iter().filter(|(name, _)| is_free(&typed, name));
        let own: Vec<(String, String)> =
            own.map(|(name, value)| (name.to_owned(), value)).collect();
        let kind = kind.filter(|_| is_free(&typed, "Content-Type"));
        let kind = kind.map(|kind| ("Content-Type".to_owned(), kind));
        own.into_iter().chain(typed).chain(kind).collect()
    }
}
