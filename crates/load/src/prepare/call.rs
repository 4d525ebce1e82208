//! gRPC calls: their encoded messages, and the requirements for their responses.

use bakeoff_base::problem::Problem;
use bakeoff_grpc::Schema;
use bakeoff_model::load::RequestSpec;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::request::grpc;

use crate::error::LoadError;

/// The data of a gRPC call that its response needs.
#[derive(Debug)]
pub(crate) struct Call {
    schema: Schema,
    /// Path of the method.
    path: String,
    /// Allowed statuses; empty = success.
    statuses: Vec<u16>,
}

/// Reads the descriptors of a spec.
pub(super) fn schema(descriptors: &[u8]) -> Result<Schema, LoadError> {
    Schema::from_descriptors(descriptors).map_err(|error| LoadError::Spec {
        message: error.to_string(),
    })
}

impl Call {
    /// Converts a request whose body is a message as JSON to a call; also returns its HTTP/2
    /// request.
    ///
    /// # Errors
    /// There is no such method, or the message does not match its type.
    pub(super) fn new(
        schema: &Schema,
        request: &RequestSpec,
    ) -> Result<(Self, RequestSpec), Problem> {
        if request.method != grpc::POST {
            return Err(format!("the method of a call of gRPC is {}", grpc::POST).into());
        }
        let Some(message) = request.body.as_text() else {
            return Err("its body is not UTF-8, and messages are given as JSON".into());
        };
        let body = schema.encode(&request.path, message)?;
        let mut headers = request.headers.clone();
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            if !request.has_header(name) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        let expect = request.expect.as_ref();
        let call = Self {
            schema: schema.clone(),
            path: request.path.clone(),
            statuses: expect.map_or_else(Vec::new, |expect| expect.grpc_status.clone()),
        };
        let sent = RequestSpec {
            headers,
            body: body.into(),
            ..request.clone()
        };
        Ok((call, sent))
    }

    /// Whether a call that ended with this status is right.
    #[inline]
    pub(crate) fn allows(&self, status: Option<u16>) -> bool {
        status.is_some_and(|status| grpc::allows(&self.statuses, status))
    }

    /// Returns a response with the message of its body as JSON; a failed call has no message.
    ///
    /// # Errors
    /// The body is not a message of the method.
    pub(crate) fn decoded(&self, response: &ReceivedResponse) -> Result<ReceivedResponse, Problem> {
        self.schema.decoded(&self.path, response.clone())
    }
}
