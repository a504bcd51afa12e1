//! What a call cost, as far as it can be told.

use trilith_core::{Event, Turn, Usage};

use crate::end;

/// What a call was sent, as far as its answer is judged by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// How much text, in bytes.
    pub(crate) input_bytes: usize,
    /// How many answers it is to give.
    pub(crate) answers: u16,
}

impl Sent {
    /// What one call of several is sent; with `several` inputs among them it is sent its own alone.
    pub(super) fn to(self, turn: &Turn, several: bool) -> Self {
        if !several {
            return self;
        }
        Self { input_bytes: end::input_bytes(&turn.settings, &turn.input), ..self }
    }
}

/// Watches a call's answer for its token counts, and for what they can be estimated from.
#[derive(Debug)]
pub(super) struct Gauge {
    input_bytes: usize,
    output_bytes: usize,
    told: Option<Usage>,
    /// Answers that the target has not ended yet. Its counts are its last when there is none.
    running: u16,
}

impl Gauge {
    pub(super) const fn new(sent: Sent) -> Self {
        Self { input_bytes: sent.input_bytes, output_bytes: 0, told: None, running: sent.answers }
    }

    pub(super) fn record(&mut self, batch: &[Event]) {
        for event in batch {
            match event {
                Event::TextDelta { delta, .. }
                | Event::PartDelta { delta, .. }
                | Event::ArgumentsDelta { delta, .. } => self.output_bytes += delta.len(),
                Event::Usage(usage) => self.told = Some(usage.clone()),
                Event::Finish(_) => self.running = self.running.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether the target has told any counts.
    pub(super) const fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// The counts: the target's own if they are whole, else estimated from what it said until it was cut off.
    pub(super) fn usage(&self) -> Usage {
        let output = end::tokens(self.output_bytes);
        match &self.told {
            Some(told) if self.running == 0 => told.clone(),
            Some(told) => {
                Usage { output_total: told.output_total.max(output), estimated: true, ..told.clone() }
            }
            None => {
                let input_total = end::tokens(self.input_bytes);
                Usage { input_total, output_total: output, estimated: true, ..Usage::default() }
            }
        }
    }
}
