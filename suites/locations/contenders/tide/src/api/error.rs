//! Answers other than 200: always JSON with a `message`.

use serde::Serialize;
use tide::{Body, Middleware, Next, Request, StatusCode};
use utoipa::ToSchema;

use crate::{domain::OutOfRange, store::StoreError};

/// Why there is no better answer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ErrorResponse {
    message: String,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    NotFound(String),
    /// The details go to the log, not to the client.
    #[error("the cities cannot be reached at the moment")]
    Store(#[from] StoreError),
}

impl From<OutOfRange> for ApiError {
    fn from(problem: OutOfRange) -> Self {
        Self::BadRequest(problem.to_string())
    }
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BadRequest,
            Self::NotFound(_) => StatusCode::NotFound,
            Self::Store(StoreError::Unavailable(_) | StoreError::Late) => {
                StatusCode::ServiceUnavailable
            }
            // Elasticsearch's queues are full.
            Self::Store(StoreError::Refused { status: 429, .. }) => StatusCode::ServiceUnavailable,
            Self::Store(_) => StatusCode::InternalServerError,
        }
    }
}

/// Gives an answer to what would otherwise have a status and no body: Tide keeps the error beside
/// the answer, where its log finds it as well.
pub(super) struct ErrorsAsJson;

#[tide::utils::async_trait]
impl<State: Clone + Send + Sync + 'static> Middleware<State> for ErrorsAsJson {
    async fn handle(&self, request: Request<State>, next: Next<'_, State>) -> tide::Result {
        let (method, path) = (request.method(), request.url().path().to_owned());
        let mut response = next.run(request).await;
        if response.status().is_success() {
            return Ok(response);
        }
        let message = match (response.downcast_error::<ApiError>(), response.error()) {
            (Some(error), _) => error.to_string(),
            (None, Some(error)) => error.to_string(),
            // What Tide answers where there is no endpoint has no error.
            (None, None) if response.status() == StatusCode::MethodNotAllowed => {
                format!("{path} does not take {method}")
            }
            (None, None) => format!("there is no {method} {path}"),
        };
        if let Some(error) = response.downcast_error::<ApiError>() {
            response.set_status(error.status());
        }
        response.set_body(Body::from_json(&ErrorResponse { message })?);
        Ok(response)
    }
}
