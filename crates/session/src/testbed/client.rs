//! The client of checks: one request over a fresh connection.

use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::check::{Answer, Check};
use bakeoff_runtime::BoxFuture;
use bakeoff_runtime::http::{self, Question};

use crate::contracts::{Client, Destination};

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
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let schema = to.wire.grpc.as_ref();
            let encoded = schema.map(|schema| schema.encode(&check.path, &check.body));
            let encoded = encoded.transpose()?;
            let question = Question {
                method: &check.method,
                path: &format!("{}{}", self.prefix, check.path),
                headers: &check.headers,
                body: encoded.as_deref().unwrap_or(check.body.as_bytes()),
            };
            let asking = http::ask_over(&to.wire, to.address, question, RESPONSE_LIMIT);
            let answer = asking.await.map_err(Problem::new)?;
            match schema {
                Some(schema) => schema.decoded(&check.path, answer),
                None => Ok(answer),
            }
        })
    }
}
