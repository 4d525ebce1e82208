//! Bodies that were compressed because the request allowed it (RFC 9110, 8.4). What is compared is
//! the content: two services may compress it differently.

use std::io::{self, Read};

use crate::problem::Problem;

/// Whether a request allows compressed responses: its headers ask for an encoding besides
/// `identity`.
#[must_use]
pub fn is_asked_for(headers: &[(String, String)]) -> bool {
    let mut headers = headers.iter();
    headers.any(|(name, value)| {
        let asks = |one: &str| !matches!(one.trim(), "" | "identity");
        name.eq_ignore_ascii_case("accept-encoding") && value.split(',').any(asks)
    })
}

/// Returns the content of a body with these headers; `None` if it is not compressed. Names of
/// headers are compared without case.
///
/// # Errors
/// The encoding is not known, the body is broken, or its content is longer than `bytes_max`.
pub fn decoded(
    headers: &[(String, String)],
    body: &[u8],
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, Problem> {
    let headers = headers.iter();
    let of_name = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-encoding");
    let codings = headers
        .filter(of_name)
        .flat_map(|(_, value)| value.split(','));
    let codings: Vec<String> = codings
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !matches!(coding.as_str(), "" | "identity"))
        .collect();
    // A response without a body, such as one to HEAD, can have the header all the same.
    if codings.is_empty() || body.is_empty() {
        return Ok(None);
    }
    let mut content = body.to_vec();
    for coding in codings.iter().rev() {
        let broken =
            |error: io::Error| format!("the body is not in its encoding {coding}: {error}");
        let limit = u64::try_from(bytes_max)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let read = |reader: &mut dyn Read| -> io::Result<Vec<u8>> {
            let mut all = Vec::new();
            reader.take(limit).read_to_end(&mut all)?;
            Ok(all)
        };
        let found = match coding.as_str() {
            "gzip" | "x-gzip" => read(&mut flate2::read::MultiGzDecoder::new(&content[..])),
            // Some services leave out the frame of zlib (RFC 9110, 8.4.1.2).
            "deflate" => read(&mut flate2::read::ZlibDecoder::new(&content[..]))
                .or_else(|_| read(&mut flate2::read::DeflateDecoder::new(&content[..]))),
            "br" => read(&mut brotli_decompressor::Decompressor::new(
                &content[..],
                4096,
            )),
            "zstd" => ruzstd::decoding::StreamingDecoder::new(&content[..])
                .map_err(io::Error::other)
                .and_then(|mut reader| read(&mut reader)),
            other => return Err(format!("the body has the unknown encoding {other:?}").into()),
        };
        content = found.map_err(broken)?;
        if content.len() > bytes_max {
            return Err(format!("the content is longer than {bytes_max} bytes").into());
        }
    }
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::{decoded, is_asked_for};

    const TEXT: &[u8] = b"hello hello hello";

    #[test]
    fn content_is_what_was_compressed() {
        let level = Compression::default();
        let mut gzip = GzEncoder::new(Vec::new(), level);
        gzip.write_all(TEXT).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), level);
        zlib.write_all(TEXT).unwrap();
        let mut plain = DeflateEncoder::new(Vec::new(), level);
        plain.write_all(TEXT).unwrap();
        let mut twice = GzEncoder::new(Vec::new(), level);
        twice.write_all(&gzip).unwrap();
        // An uncompressed block each, by hand.
        let br = [&[0x0b, 0x08, 0x80][..], TEXT, &[0x03]].concat();
        let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 17, 0x89, 0, 0][..], TEXT].concat();
        for (coding, body) in [
            ("gzip", gzip),
            ("deflate", zlib.finish().unwrap()),
            ("Deflate", plain.finish().unwrap()),
            ("gzip, gzip", twice.finish().unwrap()),
            ("br", br),
            ("zstd", zstd),
        ] {
            let headers = [("Content-Encoding".to_owned(), coding.to_owned())];
            let found = decoded(&headers, &body, 100);
            assert_eq!(found.unwrap().as_deref(), Some(TEXT), "{coding}");
            assert!(decoded(&headers, &body, 5).is_err(), "{coding}");
            assert!(decoded(&headers, b"hello", 100).is_err(), "{coding}");
            assert_eq!(decoded(&headers, b"", 100), Ok(None), "{coding}");
        }
        assert_eq!(decoded(&[], TEXT, 5), Ok(None));
        let other = [("content-encoding".to_owned(), "lzw".to_owned())];
        assert!(decoded(&other, TEXT, 100).is_err());
    }

    #[test]
    fn an_encoding_is_asked_for_by_a_header() {
        for (value, expect) in [("gzip, br", true), ("identity", false), ("", false)] {
            let headers = [("Accept-Encoding".to_owned(), value.to_owned())];
            assert_eq!(is_asked_for(&headers), expect, "{value}");
        }
        assert!(!is_asked_for(&[]));
    }
}
