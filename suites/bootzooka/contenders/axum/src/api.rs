//! Routes and answers.

use axum::{
    Json, Router,
    extract::{State, rejection::JsonRejection},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use serde::Serialize;
use tower_http::trace::{DefaultMakeSpan, DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::{
    user::{Registration, User},
    users::{Added, Taken, Users},
};

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head>\
                    <body><h1>Welcome</h1></body></html>\n";

/// All routes; every request is logged.
pub fn router(users: Users) -> Router {
    let log = TraceLayer::new_for_http()
        .make_span_with(DefaultMakeSpan::new().level(Level::INFO))
        .on_response(DefaultOnResponse::new().level(Level::INFO));
    Router::new()
        .route("/", get(Html(PAGE)))
        .route("/api/users/register", post(register))
        .fallback(async || (StatusCode::NOT_FOUND, message("there is nothing here")))
        .with_state(users)
        .layer(log)
}

async fn register(
    State(users): State<Users>,
    registration: Result<Json<Registration>, JsonRejection>,
) -> Result<Response, Failure> {
    let Ok(Json(registration)) = registration else {
        return Ok(refuse(
            StatusCode::BAD_REQUEST,
            "the body is not a registration",
        ));
    };
    let Some(valid) = registration.valid() else {
        let text = "the login, e-mail address or password is invalid";
        return Ok(refuse(StatusCode::BAD_REQUEST, text));
    };
    if let Some(taken) = users.taken(&valid).await? {
        return Ok(conflict(taken));
    }
    // On a thread of its own kind: hashing would hold up the other requests of this worker.
    let user = tokio::task::spawn_blocking(|| User::from(valid)).await?;
    Ok(match users.add(user).await? {
        Added::Yes => message("success").into_response(),
        Added::Taken(taken) => conflict(taken),
    })
}

fn conflict(taken: Taken) -> Response {
    let text = match taken {
        Taken::Login => "the login is already in use",
        Taken::Email => "the e-mail address is already in use",
    };
    refuse(StatusCode::CONFLICT, text)
}

fn refuse(status: StatusCode, text: &'static str) -> Response {
    (status, message(text)).into_response()
}

/// What every answer but the page is.
#[derive(Serialize)]
struct Message {
    message: &'static str,
}

fn message(message: &'static str) -> Json<Message> {
    Json(Message { message })
}

/// What is not the client's fault.
enum Failure {
    Database(sqlx::Error),
    Hashing(tokio::task::JoinError),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<tokio::task::JoinError> for Failure {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Hashing(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Database(error) => {
                tracing::error!("the database did not do what was asked: {error}");
                refuse(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the database does not answer",
                )
            }
            Self::Hashing(error) => {
                tracing::error!("a request failed: {error}");
                refuse(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong")
            }
        }
    }
}
