//! What has come of one answer, whatever protocol carries it: status, length, and for a sampled
//! answer its headers and body. Bodies that nobody will look at are counted and thrown away.

use bakeoff_model::check::Answer;

/// Bytes of a sampled body that are kept; a longer one cannot be checked and says so.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Memory that is kept for the next sampled body.
const BODY_KEEP: usize = 64 * 1024;

/// What of an answer is kept beyond its status and length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Nothing: nobody will look at it.
    #[default]
    Nothing,
    /// Its headers, for the cookies in them.
    Head,
    /// All of it.
    All,
}

/// One answer on its way.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Any byte of the answer has come.
    pub(crate) begun: bool,
    /// The status, once the head is whole.
    pub(crate) status: u16,
    /// Bytes of the body so far.
    pub(crate) body_bytes: u64,
    keep: Keep,
    /// The sampled answer; boxed because most connections never have one.
    sample: Option<Box<Sample>>,
}

#[derive(Debug, Default)]
struct Sample {
    answer: Answer,
    cut: bool,
}

impl Received {
    /// Forgets the last answer; of the next one this much is kept.
    #[inline]
    pub(crate) fn begin(&mut self, keep: Keep) {
        self.begun = false;
        self.status = 0;
        self.body_bytes = 0;
        self.keep = keep;
        if keep != Keep::Nothing {
            let sample = self.sample.get_or_insert_default();
            sample.cut = false;
            sample.answer.headers.clear();
            sample.answer.body.clear();
            sample.answer.body.shrink_to(BODY_KEEP);
        }
    }

    /// Whether the answer is one of the sampled ones.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        self.keep != Keep::Nothing
    }

    /// Where the headers of a sampled answer go, names in lower case.
    pub(crate) fn headers(&mut self) -> Option<&mut Vec<(String, String)>> {
        let sample = self.sample.as_mut();
        let sample = sample.filter(|_| self.keep != Keep::Nothing)?;
        Some(&mut sample.answer.headers)
    }

    /// Takes a part of the body.
    #[inline]
    pub(crate) fn take_body(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if self.keep == Keep::All
            && let Some(sample) = &mut self.sample
        {
            sample.keep(data);
        }
    }

    /// The sampled answer, as far as it is kept; `None` when this one is not sampled.
    ///
    /// # Errors
    /// In words, when its body was too long to be kept.
    pub(crate) fn sample(&mut self) -> Option<Result<&Answer, String>> {
        let sample = self.sample.as_mut();
        let sample = sample.filter(|_| self.keep != Keep::Nothing)?;
        if sample.cut {
            let bytes = self.body_bytes;
            return Some(Err(format!("a body of {bytes} bytes is too long to check")));
        }
        sample.answer.status = self.status;
        Some(Ok(&sample.answer))
    }
}

impl Sample {
    fn keep(&mut self, data: &[u8]) {
        if self.answer.body.len() + data.len() > BODY_MAX {
            self.cut = true;
        } else {
            self.answer.body.extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BODY_MAX, Keep, Received};

    #[test]
    fn a_body_that_nobody_looks_at_may_have_any_length() {
        let part = vec![b'x'; BODY_MAX / 2 + 1];
        for (keep, is_good) in [(Keep::All, false), (Keep::Head, true)] {
            let mut received = Received::default();
            received.begin(keep);
            let header = ("set-cookie".to_owned(), "a=b".to_owned());
            received.headers().unwrap().push(header.clone());
            received.take_body(&part);
            received.take_body(&part);
            let sample = received.sample().unwrap();
            assert_eq!(sample.is_ok(), is_good, "{keep:?}");
            if let Ok(answer) = sample {
                assert_eq!((&answer.headers[..], answer.body.len()), (&[header][..], 0));
            }
        }
    }
}
