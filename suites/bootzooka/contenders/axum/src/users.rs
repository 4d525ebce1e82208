//! The table `users` in PostgreSQL.

use std::time::Duration;

use sqlx::{Connection, PgPool, postgres::PgPoolOptions};

use crate::{
    config::Config,
    user::{User, ValidRegistration},
};

/// After so long without use a connection is tested before it is used again: HikariCP's rule.
const TRUSTED: Duration = Duration::from_millis(500);

/// Somebody else has the login or the e-mail address already.
#[derive(Debug, Clone, Copy)]
pub enum Taken {
    Login,
    Email,
}

/// How an insertion ended.
pub enum Added {
    Yes,
    /// Somebody else was faster.
    Taken(Taken),
}

/// The table, through a pool of connections.
#[derive(Clone)]
pub struct Users(PgPool);

impl Users {
    /// Connects when the first query comes.
    pub fn new(config: &Config) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(config.connections_max)
            .acquire_timeout(config.wait)
            .test_before_acquire(false)
            .before_acquire(|connection, was| {
                Box::pin(async move {
                    if was.idle_for > TRUSTED {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(config.database.clone());
        Self(pool)
    }

    pub async fn ping(&self) -> sqlx::Result<()> {
        sqlx::query("SELECT 1").execute(&self.0).await.map(drop)
    }

    /// Who has the login or the e-mail address, if anybody has.
    pub async fn taken(&self, registration: &ValidRegistration) -> sqlx::Result<Option<Taken>> {
        let by_login = sqlx::query("SELECT id FROM users WHERE login_lowercase = $1")
            .bind(&registration.login_lowercase)
            .fetch_optional(&self.0);
        if by_login.await?.is_some() {
            return Ok(Some(Taken::Login));
        }
        let by_email = sqlx::query("SELECT id FROM users WHERE email = $1")
            .bind(&registration.email)
            .fetch_optional(&self.0);
        Ok(by_email.await?.map(|_| Taken::Email))
    }

    pub async fn add(&self, user: User) -> sqlx::Result<Added> {
        let inserted = sqlx::query(
            "INSERT INTO users (id, login, login_lowercase, email, password, salt, created_on) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(user.id)
        .bind(user.login)
        .bind(user.login_lowercase)
        .bind(user.email)
        .bind(user.password)
        .bind(user.salt)
        .bind(user.created_on)
        .execute(&self.0)
        .await;
        match inserted {
            Ok(_) => Ok(Added::Yes),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                let taken = match error.constraint() {
                    Some("users_email") => Taken::Email,
                    _ => Taken::Login,
                };
                Ok(Added::Taken(taken))
            }
            Err(error) => Err(error),
        }
    }
}
