//! Which model can be asked for what: rows of data, each for the models that a pattern names. Later rows win,
//! and an operator's rows come last.

use std::borrow::Cow;

use trilith_core::{Effort, Pattern};

use super::{ALL_CAPABILITIES, Capabilities, Thinking};

/// What a row says; `None` leaves what earlier rows said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// [`Capabilities::forced_tool_choice`].
    pub forced_tool_choice: Option<bool>,
    /// [`Capabilities::single_tool_call`].
    pub single_tool_call: Option<bool>,
    /// [`Capabilities::several_answers`].
    pub several_answers: Option<bool>,
    /// [`Capabilities::stop_strings`].
    pub stop_strings: Option<usize>,
    /// [`Capabilities::prefill`].
    pub prefill: Option<bool>,
    /// [`Capabilities::sampling`].
    pub sampling: Option<bool>,
    /// [`Capabilities::max_temperature`].
    pub max_temperature: Option<u8>,
    /// [`Capabilities::temperature_with_top_p`].
    pub temperature_with_top_p: Option<bool>,
    /// [`Capabilities::system_between_turns`].
    pub system_between_turns: Option<bool>,
    /// [`Capabilities::json_schema`].
    pub json_schema: Option<bool>,
    /// [`Capabilities::schema_refs`].
    pub schema_refs: Option<bool>,
    /// [`Capabilities::strict_tools`].
    pub strict_tools: Option<bool>,
    /// [`Capabilities::pdf`].
    pub pdf: Option<bool>,
    /// [`Capabilities::image_urls`].
    pub image_urls: Option<bool>,
    /// [`Capabilities::document_urls`].
    pub document_urls: Option<bool>,
    /// [`Capabilities::image_types`].
    pub image_types: Option<Vec<Cow<'static, str>>>,
    /// [`Capabilities::max_output_tokens`].
    pub max_output_tokens: Option<u64>,
    /// [`Capabilities::usual_output_tokens`].
    pub usual_output_tokens: Option<u64>,
    /// [`Capabilities::thinking`].
    pub thinking: Option<Thinking>,
    /// [`Capabilities::efforts`].
    pub efforts: Option<Cow<'static, [Effort]>>,
}

impl Change {
    /// A row that says nothing.
    const NONE: Self = Self {
        forced_tool_choice: None,
        single_tool_call: None,
        several_answers: None,
        stop_strings: None,
        prefill: None,
        sampling: None,
        max_temperature: None,
        temperature_with_top_p: None,
        system_between_turns: None,
        json_schema: None,
        schema_refs: None,
        strict_tools: None,
        pdf: None,
        image_urls: None,
        document_urls: None,
        image_types: None,
        max_output_tokens: None,
        usual_output_tokens: None,
        thinking: None,
        efforts: None,
    };

    fn apply(&self, can: &mut Capabilities) {
        fn set<T: Clone>(place: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                place.clone_from(value);
            }
        }
        set(&mut can.forced_tool_choice, self.forced_tool_choice.as_ref());
        set(&mut can.single_tool_call, self.single_tool_call.as_ref());
        set(&mut can.several_answers, self.several_answers.as_ref());
        set(&mut can.prefill, self.prefill.as_ref());
        set(&mut can.sampling, self.sampling.as_ref());
        set(&mut can.max_temperature, self.max_temperature.as_ref());
        set(&mut can.temperature_with_top_p, self.temperature_with_top_p.as_ref());
        set(&mut can.system_between_turns, self.system_between_turns.as_ref());
        set(&mut can.json_schema, self.json_schema.as_ref());
        set(&mut can.schema_refs, self.schema_refs.as_ref());
        set(&mut can.strict_tools, self.strict_tools.as_ref());
        set(&mut can.pdf, self.pdf.as_ref());
        set(&mut can.image_urls, self.image_urls.as_ref());
        set(&mut can.document_urls, self.document_urls.as_ref());
        set(&mut can.thinking, self.thinking.as_ref());
        set(&mut can.efforts, self.efforts.as_ref());
        if let Some(types) = &self.image_types {
            can.image_types = Cow::Owned(types.clone());
        }
        can.stop_strings = self.stop_strings.or(can.stop_strings);
        can.max_output_tokens = self.max_output_tokens.or(can.max_output_tokens);
        can.usual_output_tokens = self.usual_output_tokens.or(can.usual_output_tokens);
    }
}

/// The efforts of Messages' `output_config.effort`, and thinking turned off.
const MESSAGES_EFFORTS: &[Effort] =
    &[Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max];

/// What is known of models by their names, from general to particular. Sources: dialects §0.4, §1.2, §1.4 and §9,
/// openai-checklist §10, translation contract §3 and §5.1.
static KNOWN: &[(&[&str], Change)] = &[
    // OpenAI's own: an assistant's words at the end are a turn that is over. Open weights under a like name are
    // served by others.
    (&["gpt-*", "*/gpt-*", "chatgpt-*", "*/chatgpt-*"], Change { prefill: Some(false), ..Change::NONE }),
    (&["gpt-oss*", "*/gpt-oss*"], Change { prefill: Some(true), ..Change::NONE }),
    (&["o1", "o1-*", "*/o1", "*/o1-*"], O_SERIES),
    (&["o3", "o3-*", "*/o3", "*/o3-*"], O_SERIES),
    (&["o4-*", "*/o4-*"], O_SERIES),
    (
        &["gpt-5", "gpt-5-*", "*/gpt-5", "*/gpt-5-*"],
        Change {
            stop_strings: Some(0),
            sampling: Some(false),
            efforts: Some(Cow::Borrowed(&[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High])),
            thinking: Some(Thinking::Always),
            ..Change::NONE
        },
    ),
    // The same generation without reasoning.
    (
        &["gpt-5-chat*", "*/gpt-5-chat*"],
        Change {
            stop_strings: Some(4),
            sampling: Some(true),
            efforts: Some(Cow::Borrowed(&[])),
            thinking: Some(Thinking::No),
            ..Change::NONE
        },
    ),
    (
        &["*kimi-*", "*moonshot-v*"],
        Change { forced_tool_choice: Some(false), max_temperature: Some(1), ..Change::NONE },
    ),
    (&["*kimi-*thinking*"], Change { sampling: Some(false), ..Change::NONE }),
    (
        &["*claude-*"],
        Change {
            max_temperature: Some(1),
            temperature_with_top_p: Some(false),
            system_between_turns: Some(false),
            usual_output_tokens: Some(32_000),
            efforts: Some(Cow::Borrowed(MESSAGES_EFFORTS)),
            ..Change::NONE
        },
    ),
    // The fifth generation; the rows after it take back what it says of older models' fifth members.
    (&["*claude-*-5*"], Change { sampling: Some(false), system_between_turns: Some(true), ..Change::NONE }),
    (
        &["*claude-3*"],
        Change {
            sampling: Some(true),
            system_between_turns: Some(false),
            thinking: Some(Thinking::No),
            efforts: Some(Cow::Borrowed(&[])),
            json_schema: Some(false),
            strict_tools: Some(false),
            usual_output_tokens: Some(4_096),
            ..Change::NONE
        },
    ),
    (&["*claude-3-5*"], Change { usual_output_tokens: Some(8_192), ..Change::NONE }),
    (
        &["*claude-3-7*"],
        Change { thinking: Some(Thinking::Budget), usual_output_tokens: Some(64_000), ..Change::NONE },
    ),
    (&["*claude-*-4-2*", "*claude-*-4-1*"], OLDER),
    (
        &["*claude-*-4-5*"],
        Change {
            sampling: Some(true),
            system_between_turns: Some(false),
            thinking: Some(Thinking::Budget),
            efforts: Some(Cow::Borrowed(&[])),
            usual_output_tokens: Some(64_000),
            ..Change::NONE
        },
    ),
    (
        &["*claude-*-4-7*", "*claude-*-4-8*", "*claude-*-4-9*"],
        Change { sampling: Some(false), ..Change::NONE },
    ),
    (&["*claude-opus-5-5*", "*claude-sonnet-5-5*"], ALWAYS_THINKING),
];

/// OpenAI's first reasoning models: they always think and draw by their own rules.
const O_SERIES: Change = Change {
    stop_strings: Some(0),
    prefill: Some(false),
    sampling: Some(false),
    thinking: Some(Thinking::Always),
    efforts: Some(Cow::Borrowed(&[Effort::Low, Effort::Medium, Effort::High])),
    ..Change::NONE
};

/// The fourth generation before it learned efforts.
const OLDER: Change = Change {
    thinking: Some(Thinking::Budget),
    efforts: Some(Cow::Borrowed(&[])),
    json_schema: Some(false),
    strict_tools: Some(false),
    ..Change::NONE
};

/// Models that always think, cannot be made to call a tool and do not continue their own words.
const ALWAYS_THINKING: Change = Change {
    thinking: Some(Thinking::Always),
    efforts: Some(Cow::Borrowed(&[Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max])),
    forced_tool_choice: Some(false),
    prefill: Some(false),
    ..Change::NONE
};

/// The rows, ready to be asked.
#[derive(Clone, Debug)]
pub struct CapabilityTable(Vec<(Pattern, Change)>);

impl CapabilityTable {
    /// What is known, and over it an operator's rows, in their order.
    pub fn new<'a>(own: impl IntoIterator<Item = (&'a str, Change)>) -> Self {
        let row = |(patterns, change): &'static (&[&str], Change)| {
            patterns.iter().map(move |pattern| (Pattern::new(pattern), change.clone()))
        };
        let known = KNOWN.iter().flat_map(row);
        let own = own.into_iter().map(|(pattern, change)| (Pattern::new(pattern), change));
        Self(known.chain(own).collect())
    }

    /// What a model of that name can be asked for. A model that no row names can be asked for everything.
    pub fn of(&self, model: &str) -> Capabilities {
        let mut can = ALL_CAPABILITIES.clone();
        for (pattern, change) in &self.0 {
            if pattern.matches(model) {
                change.apply(&mut can);
            }
        }
        can
    }
}

impl Default for CapabilityTable {
    fn default() -> Self {
        Self::new([])
    }
}

#[cfg(test)]
mod tests;
