//! Who registers: what is valid, and what is stored.

use std::sync::LazyLock;

use chrono::{NaiveDateTime, Utc};
use pbkdf2::pbkdf2_hmac_array;
use rand::Rng;
use regex::Regex;
use serde::Deserialize;
use sha1::Sha1;
use uuid::Uuid;

const LOGIN_LENGTH_MIN: usize = 3;
/// Letters of a salt.
pub const SALT_LENGTH: usize = 128;
const ITERATIONS: u32 = 10_000;
const KEY_BYTES: usize = 16;

/// A valid e-mail address as the HTML standard defines it.
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
    let local = "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+";
    Regex::new(&format!(r"^{local}@{label}(?:\.{label})*$")).expect("the pattern is correct")
});

/// What somebody sends to register.
#[derive(Debug, Deserialize)]
pub struct Registration {
    login: String,
    email: String,
    password: String,
}

/// A registration that may be stored.
#[derive(Debug)]
pub struct ValidRegistration {
    pub login: String,
    pub login_lowercase: String,
    pub email: String,
    password: String,
}

impl Registration {
    /// The same without spaces around it; none if it is not valid.
    pub fn valid(self) -> Option<ValidRegistration> {
        let login = self.login.trim();
        let email = self.email.trim().to_lowercase();
        let valid = login.chars().count() >= LOGIN_LENGTH_MIN
            && EMAIL.is_match(&email)
            && !self.password.is_empty();
        valid.then(|| ValidRegistration {
            login_lowercase: login.to_lowercase(),
            login: login.to_owned(),
            email,
            password: self.password,
        })
    }
}

/// A row of the table `users`.
#[derive(Debug)]
pub struct User {
    pub id: Uuid,
    pub login: String,
    pub login_lowercase: String,
    pub email: String,
    pub password: String,
    pub salt: String,
    pub created_on: NaiveDateTime,
}

impl User {
    /// Hashes the password: milliseconds of CPU time.
    pub fn from(registration: ValidRegistration) -> Self {
        let salt = new_salt();
        Self {
            id: Uuid::new_v4(),
            password: hash(&registration.password, &salt),
            login: registration.login,
            login_lowercase: registration.login_lowercase,
            email: registration.email,
            salt,
            created_on: Utc::now().naive_utc(),
        }
    }
}

fn new_salt() -> String {
    let mut random = rand::rng();
    (0..SALT_LENGTH)
        .map(|_| char::from(random.random_range(b'A'..=b'Z')))
        .collect()
}

/// The hash of a password, as it is stored.
pub fn hash(password: &str, salt: &str) -> String {
    let key: [u8; KEY_BYTES] =
        pbkdf2_hmac_array::<Sha1, KEY_BYTES>(password.as_bytes(), salt.as_bytes(), ITERATIONS);
    hex::encode_upper(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(login: &str, email: &str, password: &str) -> bool {
        let [login, email, password] = [login, email, password].map(str::to_owned);
        let registration = Registration {
            login,
            email,
            password,
        };
        registration.valid().is_some()
    }

    #[test]
    fn what_is_valid() {
        assert!(is_valid(" abc ", " A@example.org ", " "));
        assert!(!is_valid(" ab ", "a@example.org", "x"));
        assert!(!is_valid("abc", "a@example..org", "x"));
        assert!(!is_valid("abc", "a.example.org", "x"));
        assert!(!is_valid("abc", "a@example.org", ""));
    }

    /// The expected value is Python's `hashlib.pbkdf2_hmac("sha1", b"secret", b"SALT", 10000, 16)`.
    #[test]
    fn hash_is_pbkdf2() {
        assert_eq!(hash("secret", "SALT"), "B6BF6180E32DDA222D9C814B8E52CABA");
        assert_eq!(new_salt().len(), SALT_LENGTH);
    }
}
