//! Requests in the shape of HTTP/2: pseudo-headers, lower-case names, a body apart.

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
    /// Its header fields, in order.
    pub(super) fields: Vec<Field>,
    /// Its body.
    pub(super) body: Rc<[u8]>,
}

/// The distinct header fields of an order's requests.
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
        let find = |name: &str| {
            let mut headers = request.headers.iter();
            headers.find(|(header, _)| header.eq_ignore_ascii_case(name))
        };
        let target = &spec.target;
        let host = find("host").map(|(_, value)| value);
        let authority = host.or(target.host.as_ref()).unwrap_or(&target.address);
        let mut fields = vec![
            self.field(":method", &request.method),
            self.field(":scheme", if target.tls { "https" } else { "http" }),
            self.field(":authority", authority),
            self.field(":path", path),
        ];
        for (name, value) in &request.headers {
            let name = name.to_ascii_lowercase();
            if !DROPPED.contains(&name.as_str()) {
                fields.push(self.field(&name, value));
            }
        }
        if !request.body.is_empty() && find("content-length").is_none() {
            let length = request.body.len().to_string();
            fields.push(self.field("content-length", &length));
        }
        Request {
            fields,
            body: request.body.as_bytes().into(),
        }
    }

    fn field(&mut self, name: &str, value: &str) -> Field {
        if let Some(known) = self.known.iter().find(|field| field.says(name, value)) {
            return known.clone();
        }
        let field = Field::new(name, value, self.known.len());
        self.known.push(field.clone());
        field
    }
}
