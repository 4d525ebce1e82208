//! Headers of requests as people type them: in order, with repeats, names as typed. Pure.

/// Headers about the connection and the length of a body: bakeoff makes them when it sends.
const OF_THE_CONNECTION: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a text can be the name of a header (RFC 9110, 5.6.2).
pub(crate) fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_name)
}

/// Whether there is a header of this name.
pub(crate) fn has(headers: &[(String, String)], name: &str) -> bool {
    let mut names = headers.iter().map(|(name, _)| name);
    names.any(|one| one.eq_ignore_ascii_case(name))
}

/// Removes the headers that belong to the connection, and returns their names as typed.
pub(crate) fn without_connection(headers: &mut Vec<(String, String)>) -> Vec<String> {
    let mut dropped: Vec<String> = Vec::new();
    headers.retain(|(name, _)| {
        let is_dropped = OF_THE_CONNECTION.contains(&name.to_ascii_lowercase().as_str());
        if is_dropped && !dropped.contains(name) {
            dropped.push(name.clone());
        }
        !is_dropped
    });
    dropped
}

/// Returns the note about headers that are not sent; `None` without any.
pub(crate) fn note(dropped: &[String]) -> Option<String> {
    let names = dropped.join(", ");
    (!dropped.is_empty()).then(|| {
        format!("not sent as typed, because bakeoff makes them for each connection: {names}")
    })
}
