//! Reasoning and where it came from (translation contract §8).

use std::sync::Arc;

use crate::DialectId;

/// Where an answer was made. A carrier goes back only to its own origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The dialect that the upstream spoke.
    pub dialect: DialectId,
    /// The provider's configured name.
    pub upstream: Box<str>,
    /// The upstream's model name.
    pub model: Box<str>,
    /// A fingerprint of the account (never the credential), so that pooled keys are told apart.
    pub account: Box<str>,
}

/// Which wire slot an opaque carrier belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarrierKind {
    /// Responses `encrypted_content`.
    Encrypted,
    /// Messages or Converse `signature` of a thinking block.
    Signature,
    /// Messages `redacted_thinking` or Converse `redactedContent`.
    Redacted,
    /// Gemini `thoughtSignature`.
    ThoughtSignature,
    /// One entry of OpenRouter-style `reasoning_details`.
    Details,
}

impl CarrierKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Encrypted, Self::Signature, Self::Redacted, Self::ThoughtSignature, Self::Details];

    /// The name used inside envelopes and stored rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Signature => "signature",
            Self::Redacted => "redacted",
            Self::ThoughtSignature => "thought_signature",
            Self::Details => "details",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Opaque bytes that prove or continue a model's reasoning; returned unmodified to their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The wire slot.
    pub kind: CarrierKind,
    /// The carrier's text, exactly as it came (for [`CarrierKind::Details`] a JSON object).
    pub data: Box<str>,
    /// Where it was made; `None` for one that a client brought without Trilith's envelope.
    pub origin: Option<Arc<Origin>>,
}

/// A model's reasoning: summary, readable text and carriers, each possibly empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// Summary parts, meant for people.
    pub summary: Vec<String>,
    /// Raw reasoning text parts.
    pub text: Vec<String>,
    /// Opaque carriers, in order; never merged with those of another item.
    pub carriers: Vec<Carrier>,
}
