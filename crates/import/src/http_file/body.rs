//! The body of a request in a file, of which parts may be in other files. Pure but for those.

use super::variables::Variables;

/// A body.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// Whether the file says what is done with the response.
    pub(super) has_script: bool,
}

/// Reads the lines below the headers.
///
/// # Errors
/// Line and reason if a variable or a file is missing.
pub(super) fn read(
    lines: Vec<(usize, &str)>,
    content_type: &str,
    variables: &mut Variables<'_>,
) -> Result<Body, String> {
    let content_type = content_type.to_ascii_lowercase();
    let is_form = content_type.starts_with("application/x-www-form-urlencoded");
    // The parts of a body are separated by CRLF (RFC 2046, 4.1.1).
    let end: &[u8] = match content_type.starts_with("multipart/") {
        true => b"\r\n",
        false => b"\n",
    };
    let mut body = Body::default();
    let mut is_script = false;
    let mut is_first = true;
    let mut blank_lines = 0;
    for (number, line) in lines {
        if is_script || line.starts_with("> {%") {
            is_script = !line.trim_end().ends_with("%}");
            body.has_script = true;
            continue;
        }
        if is_about_response(line) {
            body.has_script = true;
            continue;
        }
        if line.trim().is_empty() {
            blank_lines += 1;
            continue;
        }
        let at = |why: String| format!("line {number}: {why}");
        let bytes = match file_of(line) {
            Some((name, is_filled)) => of_file(name, is_filled, variables).map_err(at)?,
            None => variables.filled(line).map_err(at)?.into_bytes(),
        };
        // Editors put a form that is written on several lines on one.
        let is_within = line.trim_start().starts_with('&') || body.bytes.ends_with(b"&");
        let goes_on = is_form && is_within;
        if !is_first && !goes_on {
            (0..=blank_lines).for_each(|_| body.bytes.extend_from_slice(end));
        }
        let bytes = match goes_on {
            true => bytes.trim_ascii().to_vec(),
            false => bytes,
        };
        body.bytes.extend(bytes);
        (is_first, blank_lines) = (false, 0);
    }
    // The last boundary ends a line, too.
    if end == b"\r\n" && !is_first {
        body.bytes.extend_from_slice(end);
    }
    Ok(body)
}

/// Whether a line below a request says what an editor does with the response: runs a program, keeps
/// it in a file, or compares it with one.
fn is_about_response(line: &str) -> bool {
    let is_program = |rest: &str| rest.trim_end().ends_with(".js") && !rest.trim().contains(' ');
    line.starts_with("<> ")
        || line.starts_with(">> ")
        || line.starts_with(">>! ")
        || line.strip_prefix("> ").is_some_and(is_program)
}

/// Returns the file that a line stands for, and whether variables in it are filled in.
fn file_of(line: &str) -> Option<(&str, bool)> {
    let filled = line.strip_prefix("<@");
    let name = filled.or_else(|| line.strip_prefix("< "))?;
    // `<@latin1 FILE` names the encoding of the file, too.
    let name = match filled.and_then(|name| name.trim_start().split_once(' ')) {
        Some((_, name)) if filled.is_some_and(|name| !name.starts_with(' ')) => name,
        _ => name,
    };
    Some((name.trim(), filled.is_some()))
}

fn of_file(name: &str, is_filled: bool, variables: &mut Variables<'_>) -> Result<Vec<u8>, String> {
    if name.starts_with("{%") {
        return Err("a script makes its body".to_owned());
    }
    let name = variables.filled(name)?;
    let bytes = (variables.outside.file)(&name).map_err(|why| why.to_string())?;
    if !is_filled {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is no text"))?;
    variables.filled(&text).map(String::into_bytes)
}
