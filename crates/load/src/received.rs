//! What has come of one answer, whatever protocol carries it: status, length, and for a sampled
//! answer its headers and body. Bodies that nobody will look at are counted and thrown away.

use bakeoff_model::check::Answer;

/// Bytes of a sampled body that are kept; a longer one cannot be checked and says so.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Memory that is kept for the next sampled body.
const BODY_KEEP: usize = 64 * 1024;

/// One answer on its way.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Any byte of the answer has come.
    pub(crate) begun: bool,
    /// The status, once the head is whole.
    pub(crate) status: u16,
    /// Bytes of the body so far.
    pub(crate) body_bytes: u64,
    /// The answer is one of the sampled ones.
    sampled: bool,
    /// The sampled answer; boxed because most connections never have one.
    sample: Option<Box<Sample>>,
}

#[derive(Debug, Default)]
struct Sample {
    answer: Answer,
    cut: bool,
}

impl Received {
    /// Forgets the last answer; the next one is kept when `sampled`.
    #[inline]
    pub(crate) fn begin(&mut self, sampled: bool) {
        self.begun = false;
        self.status = 0;
        self.body_bytes = 0;
        self.sampled = sampled;
        if sampled {
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
        self.sampled
    }

    /// Where the headers of a sampled answer go, names in lower case.
    pub(crate) fn headers(&mut self) -> Option<&mut Vec<(String, String)>> {
        let sample = self.sample.as_mut().filter(|_| self.sampled)?;
        Some(&mut sample.answer.headers)
    }

    /// Takes a part of the body.
    #[inline]
    pub(crate) fn take_body(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if let Some(sample) = self.sample.as_mut().filter(|_| self.sampled) {
            sample.keep(data);
        }
    }

    /// The sampled answer, `None` when this one is not sampled.
    ///
    /// # Errors
    /// In words, when its body was too long to be kept.
    pub(crate) fn sample(&mut self) -> Option<Result<&Answer, String>> {
        let sample = self.sample.as_mut().filter(|_| self.sampled)?;
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
