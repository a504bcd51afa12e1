//! Whole characters out of tokens that may end inside one.

/// Joins the bytes of tokens to text and keeps an unfinished character, at most three bytes, for later.
#[derive(Debug, Default)]
pub(crate) struct Utf8Assembler {
    pending: Vec<u8>,
}

impl Utf8Assembler {
    /// The text that is complete after `bytes`. What can never become a character turns into U+FFFD.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.pending.len());
        let mut unfinished = Vec::new();
        for chunk in self.pending.utf8_chunks() {
            // Only the end of the input can be an unfinished character; it has no error length yet.
            unfinished.clear();
            text.push_str(chunk.valid());
            match std::str::from_utf8(chunk.invalid()) {
                Ok(_) => {}
                Err(error) if error.error_len().is_none() => unfinished.extend_from_slice(chunk.invalid()),
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        self.pending = unfinished;
        text
    }
}
