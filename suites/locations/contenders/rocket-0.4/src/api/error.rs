//! Answers other than 200: always JSON with a `message`.

use rocket::{
    http::Status,
    response::{self, status::Custom, Responder},
    Request,
};
use rocket_contrib::json::Json;
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
    /// Rocket's own answers, for instance to a request that it cannot read.
    #[error("{0}")]
    Framework(Status),
}

impl From<OutOfRange> for ApiError {
    fn from(problem: OutOfRange) -> Self {
        Self::BadRequest(problem.to_string())
    }
}

impl ApiError {
    fn status(&self) -> Status {
        match self {
            Self::BadRequest(_) => Status::BadRequest,
            Self::NotFound(_) => Status::NotFound,
            Self::Store(StoreError::Unavailable(_) | StoreError::Late) => {
                Status::ServiceUnavailable
            }
            // Elasticsearch's queues are full.
            Self::Store(StoreError::Refused { status: 429, .. }) => Status::ServiceUnavailable,
            Self::Store(_) => Status::InternalServerError,
            Self::Framework(status) => *status,
        }
    }
}

impl Responder<'static> for ApiError {
    fn respond_to(self, request: &Request<'_>) -> response::Result<'static> {
        if let Self::Store(error) = &self {
            log::error!("{error}: {:?}", std::error::Error::source(error));
        }
        let body = ErrorResponse {
            message: self.to_string(),
        };
        Custom(self.status(), Json(body)).respond_to(request)
    }
}
