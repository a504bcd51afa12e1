//! Token counts in one arithmetic (translation contract §11).

/// Tokens written to a prompt cache, by the lifetime that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheWrite {
    /// Five minutes.
    pub m5: u64,
    /// Thirty minutes, or a lifetime that the upstream does not name.
    pub m30: u64,
    /// One hour.
    pub h1: u64,
    /// Twelve hours.
    pub h12: u64,
}

impl CacheWrite {
    /// All tokens written.
    pub const fn total(self) -> u64 {
        self.m5 + self.m30 + self.h1 + self.h12
    }
}

/// Token counts of one response. All counts are tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Every input token, those read from or written to a cache included.
    pub input_total: u64,
    /// Input tokens read from a cache; part of `input_total`.
    pub cache_read: u64,
    /// Input tokens written to a cache; part of `input_total`.
    pub cache_write: CacheWrite,
    /// Every output token, reasoning included.
    pub output_total: u64,
    /// Output tokens spent on reasoning; part of `output_total`.
    pub reasoning: u64,
    /// Audio tokens of the input.
    pub input_audio: Option<u64>,
    /// Audio tokens of the output.
    pub output_audio: Option<u64>,
    /// Predicted tokens that appeared in the output.
    pub accepted_prediction: Option<u64>,
    /// Predicted tokens that did not.
    pub rejected_prediction: Option<u64>,
    /// Counted by Trilith because the upstream gave no number.
    pub estimated: bool,
}

impl Usage {
    /// Adds the counts of another upstream call of the same response (agent loops, `n` emulated).
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.input_total = self.input_total.saturating_add(other.input_total);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write.m5 = self.cache_write.m5.saturating_add(other.cache_write.m5);
        self.cache_write.m30 = self.cache_write.m30.saturating_add(other.cache_write.m30);
        self.cache_write.h1 = self.cache_write.h1.saturating_add(other.cache_write.h1);
        self.cache_write.h12 = self.cache_write.h12.saturating_add(other.cache_write.h12);
        self.output_total = self.output_total.saturating_add(other.output_total);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.input_audio = sum(self.input_audio, other.input_audio);
        self.output_audio = sum(self.output_audio, other.output_audio);
        self.accepted_prediction = sum(self.accepted_prediction, other.accepted_prediction);
        self.rejected_prediction = sum(self.rejected_prediction, other.rejected_prediction);
        self.estimated |= other.estimated;
    }

    /// Input and output together.
    pub const fn total(&self) -> u64 {
        self.input_total.saturating_add(self.output_total)
    }
}
