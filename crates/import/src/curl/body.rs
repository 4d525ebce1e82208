//! The bodies that options of curl make: data of forms, files, and forms of several parts. Pure but
//! for files, which a function reads.

use std::path::Path;

use bakeoff_base::problem::Problem;

use crate::outside::Outside;

/// Reads the file that an option names.
///
/// # Errors
/// It cannot be read, or it is standard input, of which the command has no text.
pub(super) fn file(option: &str, name: &str, outside: Outside<'_>) -> Result<Vec<u8>, String> {
    // Both names are those of standard input.
    let name = if name == "." { "-" } else { name };
    (outside.file)(name).map_err(|why: Problem| format!("{option}: {why}"))
}

/// Returns the data of `--data` and its kinds.
pub(super) fn data(option: &str, value: &str, outside: Outside<'_>) -> Result<Vec<u8>, String> {
    if option == "data-urlencode" {
        return encoded(value, outside).map(String::into_bytes);
    }
    let Some(name) = value.strip_prefix('@').filter(|_| option != "data-raw") else {
        return Ok(value.into());
    };
    let mut bytes = file(&format!("--{option}"), name, outside)?;
    if !matches!(option, "data-binary" | "json") {
        bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
    }
    Ok(bytes)
}

/// Returns the data of `--data-urlencode`: `text`, `=text`, `name=text`, `@file` or `name@file`,
/// with text or file escaped.
pub(super) fn encoded(value: &str, outside: Outside<'_>) -> Result<String, String> {
    let (name, text) = match (value.split_once('='), value.split_once('@')) {
        (Some((name, text)), _) => (name, escaped(text.as_bytes())),
        (None, Some((name, path))) => {
            let bytes = file("--data-urlencode", path, outside)?;
            (name, escaped(&bytes))
        }
        (None, None) => ("", escaped(value.as_bytes())),
    };
    Ok(match name {
        "" => text,
        name => format!("{name}={text}"),
    })
}

fn escaped(bytes: &[u8]) -> String {
    let each = bytes.iter().map(|byte| match byte {
        b' ' => "+".to_owned(),
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => {
            char::from(*byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    each.collect()
}

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    name: String,
    file_name: Option<String>,
    content_type: Option<String>,
    content: Vec<u8>,
}

impl Part {
    /// Returns the part of `--form-string`.
    pub(super) fn literal(value: &str) -> Result<Self, String> {
        let (name, text) = value.split_once('=').ok_or(NO_FIELD)?;
        Ok(Self {
            name: name.to_owned(),
            file_name: None,
            content_type: None,
            content: text.into(),
        })
    }

    /// Returns the part of `--form`: `name=text`, `name=@file` or `name=<file`, and what follows
    /// semicolons.
    pub(super) fn read(value: &str, outside: Outside<'_>) -> Result<Self, String> {
        let (name, rest) = value.split_once('=').ok_or(NO_FIELD)?;
        if rest.starts_with('(') || name.is_empty() {
            return Err("-F has parts in parts".to_owned());
        }
        let is_upload = rest.starts_with('@');
        let from = rest.strip_prefix(['@', '<']);
        let (text, options) = word(from.unwrap_or(rest), if is_upload { ",;" } else { ";" });
        if options.starts_with(',') {
            return Err("-F has several files in one field".to_owned());
        }
        let mut part = Self {
            name: name.to_owned(),
            file_name: None,
            content_type: None,
            content: Vec::new(),
        };
        part.content = match from {
            Some(_) => file("--form", &text, outside)?,
            None => text.clone().into(),
        };
        if is_upload {
            let base = Path::new(&text).file_name();
            part.file_name = base.map(|name| name.to_string_lossy().into_owned());
            part.content_type = Some(type_of(&text).to_owned());
        }
        part.options(options)?;
        Ok(part)
    }

    /// Reads `;type=...;filename=...`.
    fn options(&mut self, options: &str) -> Result<(), String> {
        let mut rest = options;
        let mut is_type = false;
        while let Some(option) = rest.strip_prefix(';') {
            let option = option.trim_start();
            let of = |key: &str| option.strip_prefix(key);
            if let Some(value) = of("type=") {
                let (kind, after) = value.split_at(value.find(';').unwrap_or(value.len()));
                self.content_type = Some(kind.trim_end().to_owned());
                (rest, is_type) = (after, true);
            } else if let Some(value) = of("filename=") {
                let (name, after) = word(value, ";");
                self.file_name = Some(name);
                (rest, is_type) = (after, false);
            } else if of("headers=").is_some() || of("encoder=").is_some() {
                return Err("-F has headers or an encoder for a part".to_owned());
            } else {
                let (more, after) = option.split_at(option.find(';').unwrap_or(option.len()));
                // A parameter of the type, as in `type=text/plain; charset=utf-8`.
                if let Some(kind) = self.content_type.as_mut().filter(|_| is_type) {
                    kind.push_str("; ");
                    kind.push_str(more.trim_end());
                }
                rest = after;
            }
        }
        Ok(())
    }

    fn bytes(&self, with_backslash: bool) -> Vec<u8> {
        let quoted = |text: &str| match with_backslash {
            true => text.replace('\\', "\\\\").replace('"', "\\\""),
            false => text
                .replace('"', "%22")
                .replace('\r', "%0D")
                .replace('\n', "%0A"),
        };
        let mut head = format!(
            "Content-Disposition: form-data; name=\"{}\"",
            quoted(&self.name)
        );
        if let Some(name) = &self.file_name {
            head += &format!("; filename=\"{}\"", quoted(name));
        }
        if let Some(kind) = &self.content_type {
            head += &format!("\r\nContent-Type: {kind}");
        }
        let mut bytes = format!("{head}\r\n\r\n").into_bytes();
        bytes.extend_from_slice(&self.content);
        bytes
    }
}

/// A form of several parts as a body.
pub(super) struct Form {
    /// The line that separates the parts, without its hyphens.
    pub(super) boundary: String,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// Returns the body of a form. The same parts always give the same bytes: curl draws its boundary,
/// but then no two imports would be equal.
pub(super) fn form(parts: &[Part], with_backslash: bool) -> Form {
    let parts: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| part.bytes(with_backslash))
        .collect();
    let has = |boundary: &str| {
        let holds = |part: &Vec<u8>| {
            let mut windows = part.windows(boundary.len());
            windows.any(|window| window == boundary.as_bytes())
        };
        parts.iter().any(holds)
    };
    let mut numbers = (0_u32..).map(|number| format!("------------------------bakeoff{number:09}"));
    let boundary = numbers.find(|boundary| !has(boundary)).unwrap_or_default();
    let mut body = Vec::new();
    for part in &parts {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        body.extend_from_slice(part);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Form { boundary, body }
}

const NO_FIELD: &str = "-F has a field without =";

/// Splits a word off, which may stand in double quotes, at one of `ends`.
fn word<'a>(text: &'a str, ends: &str) -> (String, &'a str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut word = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    let rest = &quoted[at + 1..];
                    let end = rest.find(|c| ends.contains(c)).unwrap_or(rest.len());
                    return (word, &rest[end..]);
                }
                '\\' if quoted[at + 1..].starts_with(['"', '\\']) => {
                    word.extend(chars.next().map(|(_, c)| c));
                }
                c => word.push(c),
            }
        }
    }
    let end = text.find(|c| ends.contains(c)).unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

/// Returns the content type that curl gives a file of this name.
fn type_of(name: &str) -> &'static str {
    let extension = Path::new(name).extension().unwrap_or_default();
    match extension.to_string_lossy().to_ascii_lowercase().as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
