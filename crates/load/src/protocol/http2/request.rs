//! Requests in HTTP/2 form: pseudo-headers, lower-case names, a separate body.

use std::rc::Rc;

use bakeoff_model::load::{LoadSpec, RequestSpec};

use super::encoder::Field;

/// Headers that belong to a connection of HTTP/1.1 and must not be sent (RFC 9113, 8.2.2), and
/// `Host`, which becomes the authority.
const DROPPED: [&str; 6] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Body of the request.
    pub(super) fields: Vec<Field>,
    /// Body of the request.
    pub(super) body: Rc<[u8]>,
}

impl Request {
    /// Returns a request whose fields are not only those of the spec.
    pub(crate) fn new(mut fields: Vec<Field>, body: Vec<u8>, length: bool) -> Self {
        if length && !body.is_empty() {
            let length = body.len().to_string();
            fields.push(Field::loose("content-length", length.as_bytes()));
        }
        Self {
            fields,
            body: body.into(),
        }
    }
}

/// The distinct header fields of a spec's requests.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    known: Vec<Field>,
}

impl Fields {
    /// Prepares a request. `path` is already escaped.
    pub(crate) fn request(
        &mut self,
        spec: &LoadSpec,
        request: &RequestSpec,
        path: &str,
    ) -> Request {
        let lines = header_fields(spec, request, path);
        let mut fields: Vec<Field> = lines
            .iter()
            .map(|(name, value)| self.field(name, value))
            .collect();
        // A gRPC call states the length of each message in its body.
        if wants_length(request) && spec.grpc.is_none() {
            let length = request.body.as_bytes().len().to_string();
            fields.push(self.field("content-length", &length));
        }
        Request {
            fields,
            body: request.body.as_bytes().into(),
        }
    }

    /// A field that requests of the spec have.
    pub(crate) fn field(&mut self, name: &str, value: &str) -> Field {
        if let Some(known) = self.known.iter().find(|field| field.says(name, value)) {
            return known.clone();
        }
        let field = Field::new(name, value, self.known.len());
        self.known.push(field.clone());
        field
    }
}

/// Returns the header fields of a request as text, in order, without the length of its body. `path`
/// is already escaped.
pub(crate) fn header_fields(
    spec: &LoadSpec,
    request: &RequestSpec,
    path: &str,
) -> Vec<(String, String)> {
    let target = &spec.target;
    let host = find(request, "host");
    let authority = host.or(target.host.as_deref()).unwrap_or(&target.address);
    let scheme = if target.tls { "https" } else { "http" };
    let pseudo = [
        (":method", request.method.as_str()),
        (":scheme", scheme),
        (":authority", authority),
        (":path", path),
    ];
    let pseudo = pseudo
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers = request
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .filter(|(name, _)| !DROPPED.contains(&name.as_str()));
    pseudo.chain(headers).collect()
}

/// Whether the length of a request's body must be stated.
pub(crate) fn wants_length(request: &RequestSpec) -> bool {
    !request.body.is_empty() && find(request, "content-length").is_none()
}

fn find<'a>(request: &'a RequestSpec, name: &str) -> Option<&'a str> {
    let mut headers = request.headers.iter();
    let found = headers.find(|(header, _)| header.eq_ignore_ascii_case(name))?;
    Some(&found.1)
}
