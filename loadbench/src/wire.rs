//! What the scripted upstream and the load generator agree on.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;

/// The protocol that a caller or an upstream speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Dialect {
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/messages`.
    Messages,
}

impl Dialect {
    /// Every dialect, in the order of the tables.
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    /// The path of its generating call.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// Its name in configuration and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }
}

/// The shape of one request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Scenario {
    /// A small request, a small JSON answer.
    Plain,
    /// A small request, a stream whose events all arrive in one write.
    Burst,
    /// A 50 KB request with 20 tools, answered by a burst stream.
    Agent,
    /// A small request, a stream with one event every 20 ms.
    Paced,
}

impl Scenario {
    /// Every scenario, cheap ones first.
    pub(crate) const ALL: [Self; 4] = [Self::Plain, Self::Burst, Self::Agent, Self::Paced];

    /// Its name in options and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Burst => "burst",
            Self::Agent => "agent",
            Self::Paced => "paced",
        }
    }

    /// Whether the answer is an event stream.
    pub(crate) fn streams(self) -> bool {
        self != Self::Plain
    }

    /// The ending of the model name by which the upstream tells a paced stream from a burst.
    pub(crate) fn model_suffix(self) -> &'static str {
        if self == Self::Paced { "-paced" } else { "-burst" }
    }
}

/// Tokens in every streamed answer.
pub(crate) const TOKENS: usize = 32;

/// Time between two events of a paced stream, in milliseconds.
pub(crate) const PACE_MS: u64 = 20;

/// The text of the last token, by which a complete answer is known.
pub(crate) const LAST_TOKEN: &str = "tok31";

/// The byte before a 16-digit send time inside the text of a paced token.
pub(crate) const STAMP_MARK: u8 = b'@';

/// Digits in a send time.
pub(crate) const STAMP_DIGITS: usize = 16;

/// Microseconds since the Unix epoch: 16 digits until the year 2286, comparable between processes.
pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Overwrites `field` with `value` in decimal, padded with zeros on the left.
pub(crate) fn write_digits(field: &mut [u8], mut value: u64) {
    for digit in field.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}
