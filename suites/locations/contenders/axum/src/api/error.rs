//! Answers other than 200: always JSON with a `message`.

use axum::{
    Json,
    extract::rejection::QueryRejection,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;
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
    #[error("{0}")]
    WrongMethod(String),
    /// The details go to the log, not to the client.
    #[error("the cities cannot be reached at the moment")]
    Store(#[from] StoreError),
}

impl From<OutOfRange> for ApiError {
    fn from(problem: OutOfRange) -> Self {
        Self::BadRequest(problem.to_string())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::BadRequest(rejection.body_text())
    }
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::WrongMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Store(StoreError::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
            // Elasticsearch's queues are full.
            Self::Store(StoreError::Refused { status: 429, .. }) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self {
            tracing::error!("{error}: {:?}", std::error::Error::source(error));
        }
        let message = self.to_string();
        (self.status(), Json(ErrorResponse { message })).into_response()
    }
}
