//! The check of a sampled answer against its expectation. The rules are the model's, so that a
//! check before the load and the same check during the load cannot disagree.

use bakeoff_model::check::{Answer, Expect};

/// What does not hold, in words.
pub(crate) fn verify(expect: &Expect, answer: &Answer) -> Result<(), String> {
    expect.evaluate(answer)
}
