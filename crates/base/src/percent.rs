//! Percent-encoding of request targets (RFC 3986, 2.1).

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode,
};

/// Characters that are not allowed in a request line. A percent sign is: it starts an encoding.
const NOT_IN_A_LINE: &AsciiSet = &CONTROLS.add(b' ');

/// Characters that are not allowed in a URI either.
const NOT_IN_A_URI: &AsciiSet = &NOT_IN_A_LINE
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters that [`normal`] encodes.
const NOT_PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'*')
    .remove(b',');

/// Converts path and query as people write them for a request line: `query=křemže` becomes what a
/// browser would send, and encoded characters stay. Everything that a request line can contain is
/// left alone: `${name}` is a variable, and quotes are up to the service.
#[must_use]
pub fn request_target(path_and_query: &str) -> String {
    utf8_percent_encode(path_and_query, NOT_IN_A_LINE).to_string()
}

/// Encodes like [`request_target`], and also the characters that strict parsers of URIs refuse.
#[must_use]
pub fn uri(path_and_query: &str) -> String {
    utf8_percent_encode(path_and_query, NOT_IN_A_URI).to_string()
}

/// Encodes a value as a part of a path or a query.
#[must_use]
pub fn component(text: &str) -> String {
    utf8_percent_encode(text, NOT_PLAIN).to_string()
}

/// Decodes a part of a URI; `None` if it is not UTF-8.
#[must_use]
pub fn decoded(part: &str) -> Option<String> {
    let text = percent_decode_str(part).decode_utf8().ok()?;
    Some(text.into_owned())
}

/// Returns the same spelling for all spellings of a text: decoded, then encoded except for letters,
/// digits and `-._~*,`.
#[must_use]
pub fn normal(text: &str) -> String {
    let bytes: Vec<u8> = percent_decode_str(text).collect();
    percent_encode(&bytes, NOT_PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::{component, decoded, normal, request_target, uri};

    #[test]
    fn targets_are_encoded_once() {
        for encode in [request_target, uri] {
            assert_eq!(encode("/a?q=křemže%20x y"), "/a?q=k%C5%99em%C5%BEe%20x%20y");
            assert_eq!(encode("/a;b=c,d:@!$&'()*+~[e]"), "/a;b=c,d:@!$&'()*+~[e]");
        }
    }

    #[test]
    fn a_component_is_decoded_to_what_it_was() {
        for text in ["a@b:c/d", "křemže", "100%"] {
            assert_eq!(decoded(&component(text)).unwrap(), text);
        }
        assert_eq!(decoded("%FF"), None);
    }

    #[test]
    fn only_a_uri_has_no_braces() {
        assert_eq!(request_target("/${id}|"), "/${id}|");
        assert_eq!(uri("/{id}|"), "/%7Bid%7D%7C");
    }

    #[test]
    fn spellings_of_one_text_become_one() {
        for text in ["křemže x", "k%C5%99em%C5%BEe%20x", "k%c5%99em%c5%bee x"] {
            assert_eq!(normal(text), "k%C5%99em%C5%BEe%20x", "{text}");
        }
        assert_eq!(normal("100%"), "100%25");
        assert_eq!(normal("%2"), "%252");
        assert_eq!(normal("%FF"), "%FF");
    }
}
