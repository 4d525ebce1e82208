//! The client of checks: one request over a fresh connection.

use std::borrow::Cow;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::request::check::{Check, ReceivedResponse};

use crate::BoxFuture;
use crate::contracts::{Client, Destination};
use crate::http::{self, HttpRequest};

/// The documents' own bound on a response, also for checks.
pub(crate) const RESPONSE_LIMIT: Duration = Duration::from_secs(15);

/// Sends requests to real services.
pub struct HttpClient {
    /// The prefix of every path; empty for contenders that we started.
    pub prefix: String,
}

impl Client for HttpClient {
    fn ask<'a>(
        &'a self,
        to: &'a Destination,
        check: &'a Check,
    ) -> BoxFuture<'a, Result<ReceivedResponse, Problem>> {
        Box::pin(async move {
            let question = HttpRequest {
                method: &check.method,
                path: &format!("{}{}", self.prefix, check.path),
                headers: &check.headers,
                body: &body(to, check)?,
            };
            let spoken = to.wire.spoken();
            let asking = http::ask_over(&spoken, to.address, question, RESPONSE_LIMIT);
            understood(to, check, asking.await.map_err(Problem::new)?)
        })
    }
}

/// Returns the body of a check as it is sent: to services that speak gRPC its message is encoded.
pub(super) fn body<'a>(to: &Destination, check: &'a Check) -> Result<Cow<'a, [u8]>, Problem> {
    match &to.wire.grpc {
        Some(schema) => Ok(schema
            .encode(&check.path, check.body.as_text().unwrap_or_default())?
            .into()),
        None => Ok(check.body.as_bytes().into()),
    }
}

/// Returns a response in the form that expectations check: a message of gRPC is decoded.
pub(super) fn understood(
    to: &Destination,
    check: &Check,
    answer: ReceivedResponse,
) -> Result<ReceivedResponse, Problem> {
    match &to.wire.grpc {
        Some(schema) => schema.decoded(&check.path, answer),
        None => Ok(answer),
    }
}
