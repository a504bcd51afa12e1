//! Sampling, limits and the form of the text, on the way out.

use trilith_core::{Error, Json, Loss, OutputFormat, Settings, TextFormat};

use super::{OUTPUT_PREFIX, decode::OWN, encode::Encoder, output_schema, write_thinking::Thinks};
use crate::{json::Object, schema::Unfit};

/// What is asked for where neither the caller nor the model's data says how much may be written: this wire
/// requires a number (translation contract §10).
const DEFAULT_MAX_TOKENS: u64 = 4096;

/// What every JSON object matches.
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
            format.json("schema", &schema);
            format.end();
        }
        for (name, value) in inner {
            config.json(name, value);
        }
        config.end();
        Ok(())
    }

    /// How the form of the text is asked for: by a schema, else in words (translation contract §9). What was
    /// promised to match cannot rest on words.
    pub(super) fn form(&mut self) -> Result<Form, Error> {
        let turn = self.turn;
        let native = self.target.can.json_schema;
        let format = match &turn.settings.output.format {
            None | Some(TextFormat::Text) => return Ok(Form::Free),
            Some(TextFormat::JsonObject) if native => {
                self.losses
                    .push(Loss::emulate("text.format", "sent as a schema that any JSON object matches"));
                return Ok(Form::Schema(Json::from_checked(ANY_OBJECT)));
            }
            Some(TextFormat::JsonObject) => {
                self.losses.push(Loss::emulate("text.format", "the model is told in the instructions"));
                return Ok(Form::Told("Answer with one JSON object and nothing else.".to_owned()));
            }
            Some(TextFormat::JsonSchema(format)) => format,
        };
        if native {
            match self.output_schema(format) {
                Ok(schema) => return Ok(Form::Schema(schema)),
                Err(unfit) if format.strict == Some(true) => {
                    return Err(unfit.refuse("text.format.schema", "invalid_json_schema"));
                }
                Err(_) => {}
            }
        } else if format.strict == Some(true) {
            return Err(no_schema());
        }
        let why = "the model is told the schema in the instructions, but not held to it";
        self.losses.push(Loss::warn("text.format", why));
        let schema = format.schema.as_ref().map_or("{}", |schema| schema.as_str());
        Ok(Form::Told(format!(
            "Answer with one JSON value that matches this JSON Schema and nothing else:\n{schema}"
        )))
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
            let why = "Messages holds the text to a part of it; the rest is told to the model";
            self.losses.push(Loss::warn("text.format.schema", why));
        }
        Ok(written.schema)
    }
}

fn no_schema() -> Error {
    let text = "'text.format' asks for JSON that is sure to match, which this model's upstream cannot promise. \
                Leave 'strict' out or choose a model with structured output.";
    Error::bad_request("text.format", text).with_code("unsupported_parameter")
}
