//! What a model can be asked for. Dialects agree on the words of a request; models differ in which of them
//! they take (translation contract §5.1, §8.1, §9, §10).

mod ask;
mod media;
mod table;

use std::borrow::Cow;

use trilith_core::Effort;

pub(crate) use ask::{budget_of, effort_of, forces, no_prefill};
pub(crate) use media::{PDF, UNNAMED_IMAGE, shown, type_of};
pub use table::{CapabilityTable, Change};

/// How a model's thinking is asked for on the Messages wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It cannot think, or cannot be asked to.
    No,
    /// With a budget of tokens.
    Budget,
    /// By itself, as much as its effort allows.
    Adaptive,
    /// Always; it cannot be turned off.
    Always,
}

/// What a model can be asked for. The default is a model that takes everything its dialect can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it can be made to call a tool.
    pub forced_tool_choice: bool,
    /// Whether it can be held to one call at a time.
    pub single_tool_call: bool,
    /// Whether it gives several answers to one call, where its wire can ask for them.
    pub several_answers: bool,
    /// How many stop strings it takes, where not as many as its wire can say.
    pub stop_strings: Option<usize>,
    /// Whether it continues a conversation that ends on its own words.
    pub prefill: bool,
    /// Whether it takes `temperature`, `top_p` and `top_k` other than their defaults.
    pub sampling: bool,
    /// The highest temperature it takes, 1 or 2, where its wire takes as much.
    pub max_temperature: u8,
    /// Whether it takes `temperature` and `top_p` together.
    pub temperature_with_top_p: bool,
    /// Whether it takes the platform's words between turns, and not only before them.
    pub system_between_turns: bool,
    /// Whether it holds to a JSON Schema by itself.
    pub json_schema: bool,
    /// Whether schemas may refer to their own parts (`$ref`).
    pub schema_refs: bool,
    /// Whether tools can be declared strict.
    pub strict_tools: bool,
    /// Whether it reads PDF documents.
    pub pdf: bool,
    /// Whether it takes images by their address, where its wire does.
    pub image_urls: bool,
    /// Whether it takes documents by their address, where its wire does.
    pub document_urls: bool,
    /// Media types of images that it reads; empty for a model without eyes.
    pub image_types: Cow<'static, [Cow<'static, str>]>,
    /// The most output tokens it takes, where known. More is never asked for.
    pub max_output_tokens: Option<u64>,
    /// How many output tokens it is safe to ask for where a wire demands a number and the caller gave none; the
    /// most that it takes, where `None`.
    pub usual_output_tokens: Option<u64>,
    /// How its thinking is asked for.
    pub thinking: Thinking,
    /// The efforts it knows, from least to most; empty where it knows none.
    pub efforts: Cow<'static, [Effort]>,
}

/// The image types that every vendor with eyes takes.
const IMAGES: [Cow<'static, str>; 4] = [
    Cow::Borrowed("image/jpeg"),
    Cow::Borrowed("image/png"),
    Cow::Borrowed("image/gif"),
    Cow::Borrowed("image/webp"),
];

/// A model that takes everything its dialect can say.
pub static ALL_CAPABILITIES: Capabilities = Capabilities {
    forced_tool_choice: true,
    single_tool_call: true,
    several_answers: true,
    stop_strings: None,
    prefill: true,
    sampling: true,
    max_temperature: 2,
    temperature_with_top_p: true,
    system_between_turns: true,
    json_schema: true,
    schema_refs: true,
    strict_tools: true,
    pdf: true,
    image_urls: true,
    document_urls: true,
    image_types: Cow::Borrowed(&IMAGES),
    max_output_tokens: None,
    usual_output_tokens: None,
    thinking: Thinking::Adaptive,
    efforts: Cow::Borrowed(&Effort::ALL),
};

impl Capabilities {
    /// How many stop strings it takes on a wire that can say `most`.
    pub(crate) fn stop_strings_of(&self, most: usize) -> usize {
        self.stop_strings.map_or(most, |taken| taken.min(most))
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        ALL_CAPABILITIES.clone()
    }
}
