//! Answers other than 200: always JSON with a `message`.

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
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
    /// The details go to the log, not to the client.
    #[error("the cities cannot be reached at the moment")]
    Store(#[from] StoreError),
}

impl From<OutOfRange> for ApiError {
    fn from(problem: OutOfRange) -> Self {
        Self::BadRequest(problem.to_string())
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Store(StoreError::Unavailable(_) | StoreError::Late) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            // Elasticsearch's queues are full.
            Self::Store(StoreError::Refused { status: 429, .. }) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Store(error) = self {
            log::error!("{error}: {:?}", std::error::Error::source(error));
        }
        HttpResponse::build(self.status_code()).json(ErrorResponse {
            message: self.to_string(),
        })
    }
}
