//! Sampling, limits and the form of the text, on the way out.

use trilith_core::{Error, Loss, Settings, TextFormat};

use super::{OUTPUT_PREFIX, decode::OWN, encode::Encoder, write_thinking::Thinks};
use crate::json::Object;

/// What is asked for where neither the caller nor the model's data says how much may be written: this wire
/// requires a number (translation contract §10).
const DEFAULT_MAX_TOKENS: u64 = 4096;

impl Encoder<'_> {
    /// How many tokens may be written.
    pub(super) fn most_tokens(&self, settings: &Settings) -> u64 {
        let asked = settings.limits.max_output_tokens;
        asked.or(self.target.can.max_output_tokens).unwrap_or(DEFAULT_MAX_TOKENS)
    }

    pub(super) fn sampling(
        &mut self,
        settings: &Settings,
        thinks: Thinks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        let sampling = &settings.sampling;
        let mut temperature = sampling.temperature;
        let (mut top_p, mut top_k) = (sampling.top_p, sampling.top_k);
        let why = match (self.target.can.sampling, thinks) {
            (false, _) => Some("the model takes no sampling settings"),
            (true, Thinks::Derived) => Some("not taken while the model thinks"),
            (true, _) => None,
        };
        if let Some(why) = why {
            // The defaults say nothing, so leaving them out loses nothing.
            if temperature.take().is_some_and(|value| value != 1.0) {
                self.warn_once("temperature", why);
            }
            if top_p.take().is_some_and(|value| value != 1.0) {
                self.warn_once("top_p", why);
            }
            if top_k.take().is_some() {
                self.warn_once("top_k", why);
            }
        }
        if let Some(value) = temperature
            && self.takes("temperature")
        {
            if value > 1.0 {
                self.warn_once("temperature", "sent as 1, the most that Messages takes");
            }
            out.float("temperature", value.clamp(0.0, 1.0));
            if top_p.is_some() && !self.target.can.temperature_with_top_p {
                top_p = None;
                self.warn_once("top_p", "the model does not take it beside temperature");
            }
        }
        if let Some(value) = top_p
            && self.takes("top_p")
        {
            out.float("top_p", value);
        }
        if let Some(value) = top_k
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
        let schema = match &settings.output.format {
            Some(TextFormat::JsonSchema(format)) if self.target.can.json_schema => {
                if format.description.is_some() {
                    self.losses.push(Loss::hint("text.format.description", "Messages has no place for it"));
                }
                Some(format.schema.as_ref().map_or(r#"{"type":"object"}"#, |schema| schema.as_str()))
            }
            Some(TextFormat::JsonObject) if self.target.can.json_schema => {
                self.losses
                    .push(Loss::emulate("text.format", "sent as a schema that any JSON object matches"));
                Some(r#"{"type":"object"}"#)
            }
            _ => None,
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
            return match schema {
                Some(_) => Err(no_schema()),
                None => Ok(()),
            };
        }
        let mut config = out.object("output_config");
        config.optional_string("effort", effort.map(trilith_core::Effort::name));
        if let Some(schema) = schema {
            let mut format = config.object("format");
            format.string("type", "json_schema");
            format.raw("schema", schema);
            format.end();
        }
        for (name, value) in inner {
            config.json(name, value);
        }
        config.end();
        Ok(())
    }

    /// What a model that holds to no schema by itself is told of the form of its text (translation contract
    /// §9). What was promised to match cannot rest on words.
    pub(super) fn told_format(&mut self) -> Result<Option<String>, Error> {
        if self.target.can.json_schema {
            return Ok(None);
        }
        let turn = self.turn;
        let told = match &turn.settings.output.format {
            None | Some(TextFormat::Text) => return Ok(None),
            Some(TextFormat::JsonSchema(format)) if format.strict == Some(true) => return Err(no_schema()),
            Some(TextFormat::JsonObject) => "Answer with one JSON object and nothing else.".to_owned(),
            Some(TextFormat::JsonSchema(format)) => {
                self.losses
                    .push(Loss::warn("text.format", "the model is told the schema but not held to it"));
                let schema = format.schema.as_ref().map_or("{}", |schema| schema.as_str());
                format!(
                    "Answer with one JSON value that matches this JSON Schema and nothing else:\n{schema}"
                )
            }
        };
        self.losses.push(Loss::emulate("text.format", "the model is told in the instructions"));
        Ok(Some(told))
    }
}

fn no_schema() -> Error {
    let text = "'text.format' asks for JSON that is sure to match, which this model's upstream cannot promise. \
                Leave 'strict' out or choose a model with structured output.";
    Error::bad_request("text.format", text).with_code("unsupported_parameter")
}
