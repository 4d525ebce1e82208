//! The client of checks: one request over a fresh connection.

use std::time::Duration;

use bakeoff_model::check::{Answer, Check};
use bakeoff_runtime::{BoxFuture, http};

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
    ) -> BoxFuture<'a, Result<Answer, String>> {
        Box::pin(async move {
            let path = format!("{}{}", self.prefix, check.path);
            let body = check.body.as_bytes();
            http::ask_over(
                to.tls.as_ref(),
                to.address,
                &check.method,
                &path,
                &check.headers,
                body,
                RESPONSE_LIMIT,
            )
            .await
            .map_err(|error| error.to_string())
        })
    }
}
