//! A prepared scenario: requests with gaps for variables, feeds that fill them, and values that
//! users take from responses. The worker handles sockets, time and counts.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bakeoff_base::problem::Problem;
use bakeoff_model::load::{self, LoadSpec, Protocol, RequestSpec};
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::request::scenario::{
    AfterFailure, Extract, Feed, Pause, Piece, RowOrder, pieces,
};

use super::request::{self, RenderedRequest};
use crate::error::LoadError;
use crate::protocol::http2::encoder::Field;
use crate::protocol::http2::request::{self as http2, Fields};
use crate::protocol::response::Capture;
use bakeoff_base::random::Random;

/// The cookies and variables of a user.
#[derive(Debug, Default)]
pub(crate) struct UserState {
    /// Values of the variables by their index.
    values: Vec<Option<String>>,
    /// Cookies, in the order in which they were given.
    cookies: Vec<(String, String)>,
}

/// The scenario of a spec, as one thread goes through it.
#[derive(Debug)]
pub(crate) struct Script {
    requests: Vec<ScriptRequest>,
    feeds: Vec<Feeder>,
    variables: usize,
    cookies: bool,
    go_on: bool,
    /// Number of users that started, in all threads of this part.
    begun: Arc<AtomicU64>,
    part: load::LoadPart,
    random: Random,
    /// The prefix of all unique texts of this thread.
    nonce: String,
}

#[derive(Debug)]
struct ScriptRequest {
    head: RequestHead,
    body: Vec<TemplatePiece>,
    /// Whether the length of the body must be stated.
    length: bool,
    pause: Pause,
    extract: Vec<(usize, String, Extract)>,
    /// Variables that the request uses.
    needs: Vec<usize>,
    /// Whether the response is used beyond its status and length.
    captured: bool,
}

/// The part of a request before the body, without the cookies and the length of the body.
#[derive(Debug)]
enum RequestHead {
    /// Request line and headers.
    Http1(Vec<TemplatePiece>),
    /// Header fields in order.
    Http2(Vec<Line>),
}

/// A header field of HTTP/2.
#[derive(Debug)]
enum Line {
    /// A field that is the same for every user.
    Known(Field),
    Filled(String, Vec<TemplatePiece>),
}

#[derive(Debug)]
enum TemplatePiece {
    Text(Vec<u8>),
    Variable(usize, Encoding),
}

/// The encoding of a value, by its place: the characters that it must not contain.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Path,
    Header,
    Body,
}

/// A feed and the variables that it fills.
#[derive(Debug)]
enum Feeder {
    Rows(Vec<usize>, Vec<Vec<String>>, RowOrder),
    Sequence(usize, u64, Option<u64>),
    Random(usize, u64, u64),
    Unique(usize),
}

impl Script {
    /// Prepares the scenario of `spec` for one of its threads, which count their users together;
    /// `None` if it has none.
    ///
    /// # Errors
    /// [`LoadError::Spec`] for variables without values and other specs that cannot be carried out.
    pub(crate) fn prepare(
        spec: &LoadSpec,
        thread: usize,
        begun: Arc<AtomicU64>,
    ) -> Result<Option<Self>, LoadError> {
        let Some(scenario) = &spec.scenario else {
            return Ok(None);
        };
        let mut names: Vec<String> = Vec::new();
        let feeds = scenario
            .feeds
            .iter()
            .map(|feed| feeder(feed, &mut names))
            .collect::<Result<Vec<_>, _>>()?;
        let mut fields = Fields::default();
        let requests = spec
            .requests
            .iter()
            .map(|request| script_request(spec, request, &mut names, &mut fields))
            .collect::<Result<Vec<_>, _>>()?;
        let seed = spec.seed ^ (thread as u64 + 1).wrapping_mul(0x9FB2_1C65_1E98_DF25);
        Ok(Some(Self {
            requests,
            feeds,
            variables: names.len(),
            cookies: scenario.cookies,
            go_on: scenario.after_failure == AfterFailure::GoOn,
            begun,
            part: spec.own_part(),
            random: Random::new(seed),
            nonce: nonce(),
        }))
    }

    /// Returns the number of requests that a user makes.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether a user whose request failed continues with the next one.
    pub(crate) fn goes_on(&self) -> bool {
        self.go_on
    }

    /// Returns which part of the response to this request has to be kept.
    pub(crate) fn capture_of(&self, request: usize) -> Capture {
        match (self.requests[request].captured, self.cookies) {
            (true, _) => Capture::All,
            (false, true) => Capture::Headers,
            (false, false) => Capture::Nothing,
        }
    }

    /// Starts a user, which forgets the values of the previous one on its connection.
    pub(crate) fn begin(&mut self, state: &mut UserState) {
        state.cookies.clear();
        state.values.clear();
        state.values.resize(self.variables, None);
        let user = self.begun.fetch_add(1, Ordering::Relaxed);
        for feed in &self.feeds {
            match feed {
                Feeder::Rows(variables, rows, order) => {
                    let count = rows.len() as u64;
                    let at = match order {
                        RowOrder::InTurn => self.part.value(user, count),
                        RowOrder::Random => self.random.bits() % count,
                    };
                    let row = usize::try_from(at).map_or(&rows[0], |at| &rows[at]);
                    for (variable, value) in variables.iter().zip(row) {
                        state.values[*variable] = Some(value.clone());
                    }
                }
                Feeder::Sequence(variable, from, to) => {
                    let count = to.map_or(u64::MAX, |to| (to - from).saturating_add(1));
                    let value = from.wrapping_add(self.part.value(user, count));
                    state.values[*variable] = Some(value.to_string());
                }
                Feeder::Random(variable, from, to) => {
                    let count = (to - from).saturating_add(1);
                    let value = from + self.random.bits() % count;
                    state.values[*variable] = Some(value.to_string());
                }
                Feeder::Unique(variable) => {
                    let value = format!("{}{}", self.nonce, base36(self.part.number(user)));
                    state.values[*variable] = Some(value);
                }
            }
        }
    }

    /// Whether a user has all values that a request needs.
    pub(crate) fn can_ask(&self, request: usize, state: &UserState) -> bool {
        let known = |variable: &usize| state.values[*variable].is_some();
        self.requests[request].needs.iter().all(known)
    }

    /// Returns a pause after a request, ns.
    pub(crate) fn pause_ns(&mut self, request: usize) -> u64 {
        let Pause { min_ns, max_ns } = self.requests[request].pause;
        match max_ns.saturating_sub(min_ns) {
            0 => min_ns,
            range => min_ns + self.random.bits() % range.saturating_add(1),
        }
    }

    /// Renders the request as sent.
    pub(crate) fn render(&self, request: usize, state: &UserState) -> RenderedRequest {
        let request = &self.requests[request];
        let mut body = Vec::new();
        write(&request.body, state, &mut body);
        let cookies: Vec<String> = state
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let cookies = cookies.join("; ");
        match &request.head {
            RequestHead::Http1(parts) => {
                let mut bytes = Vec::with_capacity(512);
                write(parts, state, &mut bytes);
                if !cookies.is_empty() {
                    bytes.extend_from_slice(format!("Cookie: {cookies}\r\n").as_bytes());
                }
                if request.length {
                    let length = format!("Content-Length: {}\r\n", body.len());
                    bytes.extend_from_slice(length.as_bytes());
                }
                bytes.extend_from_slice(b"\r\n");
                bytes.append(&mut body);
                RenderedRequest { bytes, http2: None }
            }
            RequestHead::Http2(lines) => {
                let filled = |line: &Line| match line {
                    Line::Known(field) => field.clone(),
                    Line::Filled(name, parts) => {
                        let mut value = Vec::new();
                        write(parts, state, &mut value);
                        Field::loose(name, &value)
                    }
                };
                let mut fields: Vec<Field> = lines.iter().map(filled).collect();
                if !cookies.is_empty() {
                    fields.push(Field::loose("cookie", cookies.as_bytes()));
                }
                RenderedRequest {
                    bytes: Vec::new(),
                    http2: Some(http2::Request::new(fields, body, request.length)),
                }
            }
        }
    }

    /// Takes the values that later requests of a user need from a right response.
    ///
    /// # Errors
    /// A message, if a variable has no value in the response.
    pub(crate) fn learn(
        &self,
        request: usize,
        state: &mut UserState,
        response: &ReceivedResponse,
    ) -> Result<(), Problem> {
        if self.cookies {
            take_cookies(&mut state.cookies, response);
        }
        for (variable, name, extract) in &self.requests[request].extract {
            let value = extract
                .find(response)
                .map_err(|message| format!("no value for `{name}`: {message}"))?;
            state.values[*variable] = Some(value);
        }
        Ok(())
    }
}

fn wrong(message: String) -> LoadError {
    LoadError::Spec { message }
}

fn index_of(names: &mut Vec<String>, name: &str) -> usize {
    if let Some(index) = names.iter().position(|known| known == name) {
        return index;
    }
    names.push(name.to_owned());
    names.len() - 1
}

fn feeder(feed: &Feed, names: &mut Vec<String>) -> Result<Feeder, LoadError> {
    Ok(match feed {
        Feed::Csv {
            file,
            variables,
            rows,
            order,
        } => {
            if rows.is_empty() || rows.iter().any(|row| row.len() != variables.len()) {
                return Err(wrong(format!(
                    "feed {file} has no rows, or a row with the wrong number of columns"
                )));
            }
            let variables = variables.iter().map(|name| index_of(names, name));
            Feeder::Rows(variables.collect(), rows.clone(), *order)
        }
        Feed::Sequence { variable, from, to } => {
            ordered(variable, *from, to.unwrap_or(u64::MAX))?;
            Feeder::Sequence(index_of(names, variable), *from, *to)
        }
        Feed::Random { variable, from, to } => {
            ordered(variable, *from, *to)?;
            Feeder::Random(index_of(names, variable), *from, *to)
        }
        Feed::Unique { variable } => Feeder::Unique(index_of(names, variable)),
    })
}

fn ordered(variable: &str, from: u64, to: u64) -> Result<(), LoadError> {
    if to < from {
        let message = format!("variable {variable}: its last number is before its first");
        return Err(wrong(message));
    }
    Ok(())
}

fn script_request(
    spec: &LoadSpec,
    request: &RequestSpec,
    names: &mut Vec<String>,
    fields: &mut Fields,
) -> Result<ScriptRequest, LoadError> {
    let mut needs = Vec::new();
    let mut parts = |text: &str, encoding: Encoding| {
        let label = request.label();
        let pieces = pieces(text).map_err(|why| wrong(format!("request {label}: {why}")))?;
        pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => Ok(TemplatePiece::Text(text.into_bytes())),
                Piece::Variable(name) => {
                    let known = names.iter().position(|known| *known == name);
                    let index = known.ok_or_else(|| {
                        wrong(format!("request {label}: the variable {name} has no value"))
                    })?;
                    needs.push(index);
                    Ok(TemplatePiece::Variable(index, encoding))
                }
            })
            .collect::<Result<Vec<TemplatePiece>, LoadError>>()
    };
    let (head, length) = if spec.target.protocol == Protocol::Http2 {
        let mut lines = Vec::new();
        for (name, value) in http2::header_fields(spec, request, &request::escape(&request.path)) {
            let encoding = match name.as_str() {
                ":path" => Encoding::Path,
                _ => Encoding::Header,
            };
            let parts = parts(&value, encoding)?;
            lines.push(match &parts[..] {
                [] => Line::Known(fields.field(&name, "")),
                [TemplatePiece::Text(text)] => {
                    Line::Known(fields.field(&name, &String::from_utf8_lossy(text)))
                }
                _ => Line::Filled(name, parts),
            });
        }
        (RequestHead::Http2(lines), http2::wants_length(request))
    } else {
        let mut head = parts(&request::request_line(request), Encoding::Path)?;
        head.extend(parts(
            &request::header_lines(spec, request),
            Encoding::Header,
        )?);
        (RequestHead::Http1(head), request::wants_length(request))
    };
    let body = match request.body.as_text() {
        Some(text) => parts(text, Encoding::Body)?,
        None => vec![TemplatePiece::Text(request.body.as_bytes().to_vec())],
    };
    let extract = request
        .extract
        .iter()
        .map(|(name, extract)| (index_of(names, name), name.clone(), extract.clone()));
    Ok(ScriptRequest {
        head,
        body,
        length,
        pause: request.pause.unwrap_or_default(),
        extract: extract.collect(),
        needs,
        captured: request.expect.is_some() || !request.extract.is_empty(),
    })
}

fn write(parts: &[TemplatePiece], state: &UserState, bytes: &mut Vec<u8>) {
    for part in parts {
        match part {
            TemplatePiece::Text(text) => bytes.extend_from_slice(text),
            TemplatePiece::Variable(index, encoding) => {
                let value = state.values[*index].as_deref().unwrap_or_default();
                write_value(value, *encoding, bytes);
            }
        }
    }
}

/// Writes a value so that it stays one: no further parameter or path segment, no further header.
fn write_value(value: &str, encoding: Encoding, bytes: &mut Vec<u8>) {
    for &byte in value.as_bytes() {
        match encoding {
            Encoding::Path if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                bytes.push(byte);
            }
            Encoding::Path => bytes.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            Encoding::Header if byte.is_ascii_control() => bytes.push(b' '),
            Encoding::Header | Encoding::Body => bytes.push(byte),
        }
    }
}

/// Adds, replaces and removes cookies as the response says (RFC 6265, without dates and paths).
fn take_cookies(cookies: &mut Vec<(String, String)>, response: &ReceivedResponse) {
    let given = response
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    for (_, text) in given {
        let mut attributes = text.split(';').map(str::trim);
        let Some((name, value)) = attributes.next().and_then(|pair| pair.split_once('=')) else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        let ends = attributes.any(|attribute| {
            let age = attribute
                .split_once('=')
                .filter(|(name, _)| name.eq_ignore_ascii_case("max-age"));
            age.is_some_and(|(_, age)| age.trim().parse::<i64>().is_ok_and(|age| age <= 0))
        });
        cookies.retain(|(known, _)| known != name);
        if !ends {
            cookies.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// Returns thirteen letters and digits that no other thread of any load has: 64 bits of the host's
/// own randomness.
fn nonce() -> String {
    let bits = RandomState::new().build_hasher().finish();
    format!("{:0>13}", base36(bits))
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(number % 36).unwrap_or(0);
        digits.extend(char::from_digit(digit, 36));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}
