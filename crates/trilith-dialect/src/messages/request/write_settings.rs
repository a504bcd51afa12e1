//! Sampling, limits and the form of the text, on the way out.

use trilith_core::{
    Abilities, CallResult, Effort, Error, Hold, Item, ItemBody, Json, Loss, OutputFormat, Part, PartKind,
    ResultOutput, Settings, TextFormat,
};

use super::{OUTPUT_PREFIX, THINKING, decode::OWN, encode::Encoder, output_schema, write_thinking::Thinks};
use crate::{Capabilities, Thinking, json::Object, schema::Unfit};

/// What is asked for where neither the caller nor the model's data says how much may be written: this wire
/// requires a number (translation contract §10).
const DEFAULT_MAX_TOKENS: u64 = 4096;

/// What stands for a schema that was not given.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// Where this wire's temperatures end.
const HOTTEST: u8 = 1;

/// How the form of the text is asked for.
#[derive(Debug, Default)]
pub(super) enum Form {
    /// Not at all.
    #[default]
    Free,
    /// By a schema that the wire holds the text to.
    Schema(Json),
    /// By words to the model.
    Told(String),
}

impl Encoder<'_> {
    /// How many tokens may be written.
    pub(super) fn most_tokens(&mut self, settings: &Settings) -> u64 {
        let can = self.target.can;
        let asked = can.most_tokens(settings.limits, &mut self.losses);
        let most = can.max_output_tokens.unwrap_or(u64::MAX);
        let usual = can.usual_output_tokens.or(can.max_output_tokens).unwrap_or(DEFAULT_MAX_TOKENS);
        asked.unwrap_or(usual.min(most))
    }

    pub(super) fn sampling(
        &mut self,
        settings: &Settings,
        thinks: Thinks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        let sampling = &settings.sampling;
        let unless = (thinks == Thinks::Derived).then_some("not taken while the model thinks");
        let drawn = self.target.can.sampling(sampling, HOTTEST, unless, &mut self.losses);
        if let Some(value) = drawn.temperature
            && self.takes("temperature")
        {
            out.float("temperature", value);
        }
        if let Some(value) = drawn.top_p
            && self.takes("top_p")
        {
            out.float("top_p", value);
        }
        if let Some(value) = drawn.top_k
            && self.takes("top_k")
        {
            out.int("top_k", value);
        }
        let others = [
            ("min_p", sampling.min_p.is_some()),
            ("presence_penalty", sampling.presence_penalty.is_some_and(|value| value != 0.0)),
            ("frequency_penalty", sampling.frequency_penalty.is_some_and(|value| value != 0.0)),
            ("seed", sampling.seed.is_some()),
        ];
        for (name, _) in others.into_iter().filter(|(_, there)| *there) {
            self.warn_once(name, "Messages has no such setting");
        }
        let stops: Vec<&str> =
            sampling.stop.iter().map(|stop| &**stop).filter(|stop| !stop.is_empty()).collect();
        if !stops.is_empty() {
            let mut list = out.list("stop_sequences");
            for stop in stops {
                crate::scan::write_string(list.item(), stop);
            }
            list.end();
        }
        Ok(())
    }

    /// `output_config`: effort and the form of the text.
    pub(super) fn output(
        &mut self,
        settings: &Settings,
        thinks: Thinks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        let effort = self.effort(settings, thinks);
        let schema = match std::mem::take(&mut self.form) {
            Form::Schema(schema) => Some(schema),
            Form::Free | Form::Told(_) => None,
        };
        let inner: Vec<_> = settings
            .extra
            .of(OWN)
            .filter_map(|field| Some((field.name.strip_prefix(OUTPUT_PREFIX)?, &field.value)))
            .collect();
        if effort.is_none() && schema.is_none() && inner.is_empty() {
            return Ok(());
        }
        if !self.takes("output_config") {
            return Ok(());
        }
        let mut config = out.object("output_config");
        config.optional_string("effort", effort.map(trilith_core::Effort::name));
        if let Some(schema) = schema {
            let mut format = config.object("format");
            format.string("type", "json_schema");
            format.json("schema", &schema);
            format.end();
        }
        for (name, value) in inner {
            config.json(name, value);
        }
        config.end();
        Ok(())
    }

    /// How the form of the text is asked for: by a schema, else in words (translation contract §9). Whoever
    /// promised more than words has asked by other means before (see [`crate::Dialect::holds`]), or looks at the
    /// answer.
    pub(super) fn form(&mut self) -> Form {
        let turn = self.turn;
        let Some(format) = &turn.settings.output.format else { return Form::Free };
        if let TextFormat::JsonSchema(format) = format
            && self.target.can.json_schema
            && let Ok(schema) = self.output_schema(format)
        {
            return Form::Schema(schema);
        }
        let Some(told) = format.in_words() else { return Form::Free };
        let why = "the model is told in the instructions, but not held to it";
        self.losses.push(Loss::warn("text.format", why));
        Form::Told(told)
    }

    /// The wire refuses to cite within JSON of a schema.
    ///
    /// # Errors
    /// Both are asked for; the error names the schema.
    pub(super) fn check_citations(&self) -> Result<(), Error> {
        if !matches!(self.form, Form::Schema(_)) || !self.turn.input.iter().flat_map(parts).any(is_cited) {
            return Ok(());
        }
        let text = "'text.format' asks for JSON of a schema and a document for citations, which do not go together. \
                    Leave one of the two out.";
        Err(Error::bad_request("text.format", text).with_code("unsupported_parameter"))
    }

    /// The schema of the answer in this wire's words.
    fn output_schema(&mut self, format: &OutputFormat) -> Result<Json, Unfit> {
        let Some(schema) = &format.schema else { return Ok(Json::from_checked(ANY_OBJECT)) };
        // Without a name it was written for this wire.
        if format.name.is_none() {
            return Ok(schema.clone());
        }
        let written = output_schema::written(schema)?;
        if format.description.is_some() {
            self.losses.push(Loss::hint("text.format.description", "Messages has no place for it"));
        }
        if written.weaker {
            let why =
                "Messages holds the text to a part of it; the rest is told to the model and looked at here";
            self.losses.push(Loss::emulate("text.format.schema", why));
        }
        Ok(written.schema)
    }
}

fn parts(item: &Item) -> &[Part] {
    match &item.body {
        ItemBody::Message(message) => &message.parts,
        ItemBody::Result(CallResult { output: ResultOutput::Parts(parts), .. }) => parts,
        _ => &[],
    }
}

/// Whether the model is asked to cite the part.
fn is_cited(part: &Part) -> bool {
    #[derive(serde::Deserialize)]
    struct Citations {
        enabled: bool,
    }
    #[derive(serde::Deserialize)]
    struct Cited {
        citations: Option<Citations>,
    }
    let own = match &part.kind {
        PartKind::SearchResult(json) => {
            crate::typed::from_str::<Cited>(json.as_str()).ok().and_then(|cited| cited.citations)
        }
        _ => {
            let field = part.extra.get(OWN, "citations");
            field.and_then(|json| crate::typed::from_str::<Citations>(json.as_str()).ok())
        }
    };
    own.is_some_and(|citations| citations.enabled)
}

/// How a model is held to the form of its text on this wire.
pub(crate) fn holds(abilities: Abilities, can: &Capabilities, settings: &Settings) -> Hold {
    if let Some(TextFormat::JsonSchema(format)) = &settings.output.format
        && abilities.json_schema
    {
        let schema = format.schema.as_ref().filter(|_| format.name.is_some());
        match schema.map(output_schema::written) {
            None => return Hold::Whole,
            Some(Ok(written)) if !written.weaker => return Hold::Whole,
            Some(Ok(_)) => return Hold::Part,
            Some(Err(_)) => {}
        }
    }
    let reasoning = &settings.reasoning;
    let asks = reasoning.effort.is_some_and(|effort| effort != Effort::None)
        || reasoning.budget_tokens.is_some_and(|tokens| tokens > 0)
        || settings.extra.get(OWN, THINKING).is_some_and(|thinking| thinking.as_str() != "null");
    // The wire refuses to think and to be made to call at once.
    let thinks = can.thinking == Thinking::Always || asks && can.thinking != Thinking::No;
    if abilities.forced_tool_choice && !thinks { Hold::Call } else { Hold::Words }
}
