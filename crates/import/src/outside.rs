//! Things that a text refers to and does not hold itself: variables, files, the time. The crate
//! reads none of them: the caller passes the functions that do.

use bakeoff_base::problem::Problem;

/// Access to what a text names.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Returns the value of a variable of the environment, if it is set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the bytes of a file; the problem names it.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u8>, Problem>,
    /// Returns the time in seconds since 1970.
    pub now_s: &'a dyn Fn() -> u64,
}

impl Outside<'static> {
    /// Returns access to nothing: no variable is set, and no file is there.
    #[must_use]
    pub fn none() -> Self {
        Self {
            variable: &|_| None,
            file: &|name| Err(format!("{name}: no such file").into()),
            now_s: &|| 0,
        }
    }
}

/// The reasons why a text cannot be taken. All of them are told at once, each only once.
#[derive(Debug, Default)]
pub(crate) struct Reasons(Vec<String>);

impl Reasons {
    /// Adds a reason, a lower-case clause.
    pub(crate) fn add(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }

    /// Adds all reasons of another list.
    pub(crate) fn extend(&mut self, others: Self) {
        others.0.into_iter().for_each(|reason| self.add(reason));
    }

    /// Returns the reasons as one text; `None` without any.
    pub(crate) fn sentence(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("; "))
    }
}
