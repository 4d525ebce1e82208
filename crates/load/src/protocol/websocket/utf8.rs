//! Text that comes in pieces: whether it is UTF-8, without keeping it.

/// A check in the middle of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Check {
    /// The first bytes of an incomplete character.
    held: [u8; 4],
    length: usize,
}

impl Check {
    /// Takes a piece; `false` when the text is not UTF-8.
    pub(super) fn take(&mut self, mut piece: &[u8]) -> bool {
        while self.length > 0 {
            let Some((first, rest)) = piece.split_first() else {
                return true;
            };
            self.held[self.length] = *first;
            self.length += 1;
            piece = rest;
            match std::str::from_utf8(&self.held[..self.length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_some() || self.length == 4 => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                // At most three bytes: an incomplete character.
                let rest = &piece[error.valid_up_to()..];
                self.held[..rest.len()].copy_from_slice(rest);
                self.length = rest.len();
                true
            }
        }
    }

    /// Whether the text may end here.
    pub(super) fn is_complete(self) -> bool {
        self.length == 0
    }
}
