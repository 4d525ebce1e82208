//! What an answer that is whole is worth. The rules for a sampled answer are the model's, so that
//! a check before the load and the same check during the load cannot disagree.

use bakeoff_model::load::ErrorClass;

use crate::received::Received;
use crate::request::Prepared;

/// What an answer that is whole is worth.
pub(crate) type Judgement = Result<(), (ErrorClass, String)>;

/// Whether an answer is right: framing, status and length always, the rest when it is sampled.
#[inline]
pub(crate) fn judge(request: &Prepared, received: &mut Received, extra: bool) -> Judgement {
    if extra {
        let message = format!("bytes after the answer to {}", request.name);
        return Err((ErrorClass::BadFraming, message));
    }
    let status = received.status;
    if !request.allows(status) {
        let message = format!("status {status} for {}", request.name);
        return Err((ErrorClass::UnexpectedStatus, message));
    }
    let bytes = received.body_bytes;
    if request.body_bytes.is_some_and(|expected| expected != bytes) {
        let message = format!("body of {bytes} bytes for {}", request.name);
        return Err((ErrorClass::WrongBody, message));
    }
    let Some(expect) = &request.expect else {
        return Ok(());
    };
    let checked = match received.sample() {
        None => return Ok(()),
        Some(answer) => answer.and_then(|answer| expect.evaluate(answer)),
    };
    checked.map_err(|message| {
        (
            ErrorClass::WrongBody,
            format!("{}: {message}", request.name),
        )
    })
}
