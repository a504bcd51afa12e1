//! A turn in an upstream's bytes.

use trilith_core::{DialectId, Error, Extra, Loss, Settings, TextFormat, Truncation, Turn, Verbosity};

use super::{write_messages, write_tools};
use crate::{
    Encoded, NameMap, Target,
    chat::json::Object,
    hints::{refuse_responses_only, report_foreign},
    user_id,
};

/// Room for what most items and tools take, in bytes, so that a long context is not copied from one buffer to
/// the next as it is written.
const ROOM: usize = 1 << 10;

/// Where this wire's temperatures end.
const HOTTEST: u8 = 2;

/// A request being written.
pub(super) struct Encoder<'t> {
    pub(super) turn: &'t Turn,
    pub(super) target: &'t Target<'t>,
    pub(super) names: NameMap,
    pub(super) losses: Vec<Loss>,
}

pub(in crate::chat) fn encode(turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
    let mut encoder = Encoder {
        turn,
        target,
        names: NameMap::default(),
        losses: turn.check_conversation()?.into_iter().collect(),
    };
    let settings = &*turn.settings;
    target.can.check_end(&settings.model, &turn.input)?;
    let many = turn.input.len() + settings.tools.len();
    let mut body = Vec::with_capacity(4096 + many * ROOM);
    let mut out = Object::new(&mut body);
    out.string("model", target.model);
    encoder.name_tools();
    write_messages::write(&mut encoder, out.key("messages"))?;
    write_tools::write(&mut encoder, &mut out)?;
    encoder.sampling(settings, &mut out);
    encoder.output(settings, &mut out);
    encoder.identity(settings, &mut out);
    encoder.unsaid(settings)?;
    encoder.own_fields(settings, &mut out);
    if target.stream {
        out.bool("stream", true);
        if target.quirks.stream_usage {
            let mut options = out.object("stream_options");
            options.bool("include_usage", true);
            options.end();
        }
    }
    out.end();
    Ok(Encoded { body, losses: encoder.losses, names: encoder.names })
}

impl Encoder<'_> {
    /// Whether the upstream takes the field; one that it refuses is reported.
    pub(super) fn takes(&mut self, field: &str) -> bool {
        let takes = self.target.quirks.takes(field);
        if !takes {
            self.warn_once(field, "not taken by this upstream");
        }
        takes
    }

    pub(super) fn warn_once(&mut self, path: &str, why: &str) {
        if !self.losses.iter().any(|loss| &*loss.path == path) {
            self.losses.push(Loss::warn(path, why));
        }
    }

    /// Reports fields of other dialects, each name once.
    pub(super) fn foreign(&mut self, at: &str, extra: &Extra) {
        report_foreign(DialectId::Chat, "Chat Completions", at, extra, &self.turn.settings, &mut self.losses);
    }

    fn sampling(&mut self, settings: &Settings, out: &mut Object<'_>) {
        let sampling = &settings.sampling;
        let can = self.target.can;
        let drawn = can.sampling(sampling, HOTTEST, None, &mut self.losses);
        let mut sent = |name, value: Option<f64>| {
            (name, value.filter(|value| can.samples(name, *value, &mut self.losses)))
        };
        let floats = [
            ("temperature", drawn.temperature),
            ("top_p", drawn.top_p),
            sent("min_p", sampling.min_p),
            sent("presence_penalty", sampling.presence_penalty),
            sent("frequency_penalty", sampling.frequency_penalty),
        ];
        for (name, value) in floats {
            if let Some(value) = value
                && self.takes(name)
            {
                out.float(name, value);
            }
        }
        let included = settings.include.iter().any(|name| &**name == "message.output_text.logprobs");
        let logprobs = sampling.logprobs.or((included || sampling.top_logprobs.is_some()).then_some(true));
        let mut with_logprobs = false;
        if let Some(wanted) = logprobs
            && self.takes("logprobs")
        {
            out.bool("logprobs", wanted);
            with_logprobs = wanted;
        }
        let ints = [
            ("top_k", drawn.top_k.map(i64::from)),
            ("seed", sampling.seed),
            ("n", sampling.n.map(i64::from)),
            // Refused without the field above.
            ("top_logprobs", sampling.top_logprobs.filter(|_| with_logprobs).map(i64::from)),
        ];
        for (name, value) in ints {
            if let Some(value) = value
                && self.takes(name)
            {
                out.int(name, value);
            }
        }
        if let Some(bias) = &sampling.logit_bias
            && self.takes("logit_bias")
        {
            out.json("logit_bias", bias);
        }
        if !sampling.stop.is_empty() && self.takes("stop") {
            let mut list = out.list("stop");
            for stop in &sampling.stop {
                crate::scan::write_string(list.item(), stop);
            }
            list.end();
        }
        let limit = &*self.target.quirks.max_tokens_field;
        if let Some(tokens) = can.most_tokens(settings.limits, &mut self.losses)
            && self.takes(limit)
        {
            out.int(limit, tokens);
        }
    }

    fn output(&mut self, settings: &Settings, out: &mut Object<'_>) {
        if let Some(effort) = self.target.can.effort(&settings.reasoning, &mut self.losses)
            && self.takes("reasoning_effort")
        {
            out.string("reasoning_effort", effort.name());
        }
        if let Some(verbosity) = settings.output.verbosity
            && self.takes("verbosity")
        {
            out.string(
                "verbosity",
                match verbosity {
                    Verbosity::Low => "low",
                    Verbosity::Medium => "medium",
                    Verbosity::High => "high",
                },
            );
        }
        if let Some(format) = &settings.output.format
            && self.takes("response_format")
        {
            response_format(format, &mut self.losses, out);
        }
    }

    fn identity(&mut self, settings: &Settings, out: &mut Object<'_>) {
        let strings = [
            ("safety_identifier", &settings.safety_identifier),
            ("user", &settings.user),
            ("prompt_cache_key", &settings.prompt_cache_key),
            ("service_tier", &settings.service_tier),
        ];
        for (name, value) in strings {
            if let Some(value) = value
                && self.takes(name)
            {
                out.string(name, &user_id::fitted(name, value, &mut self.losses));
            }
        }
        // OpenAI takes metadata only for answers it keeps; Trilith's own answers show it without help.
        if let Some(pairs) = &settings.metadata
            && settings.extra.get(DialectId::Chat, "store").is_some()
            && self.takes("metadata")
        {
            let mut object = out.object("metadata");
            for (key, value) in pairs {
                object.string(key, value);
            }
            object.end();
        }
    }

    /// Settings that this dialect has no word for.
    fn unsaid(&mut self, settings: &Settings) -> Result<(), Error> {
        refuse_responses_only(settings)?;
        let reasoning = &settings.reasoning;
        match reasoning.summary.as_deref() {
            None => {}
            Some("auto") => {
                self.losses
                    .push(Loss::hint("reasoning.summary", "the upstream's own reasoning text is shown"));
            }
            Some(_) => {
                self.warn_once("reasoning.summary", "Chat Completions cannot ask for a kind of summary")
            }
        }
        if reasoning.context.as_deref().is_some_and(|context| context != "auto") {
            self.warn_once("reasoning.context", "Chat Completions cannot choose what reasoning is seen");
        }
        if reasoning.mode.as_deref().is_some_and(|mode| mode != "standard") {
            self.warn_once("reasoning.mode", "Chat Completions has no reasoning modes");
        }
        if settings.truncation == Some(Truncation::Auto) {
            self.warn_once("truncation", "Chat Completions cannot ask for it; what is too long is refused");
        }
        if settings.max_tool_calls.is_some() {
            self.warn_once("max_tool_calls", "Chat Completions cannot limit how many hosted calls run");
        }
        for (place, word) in settings.include.iter().enumerate() {
            // What these two ask for is in the answer by other means.
            if !["message.output_text.logprobs", "reasoning.encrypted_content"].contains(&&**word) {
                self.losses.push(Loss::warn(format!("include[{place}]"), "Chat Completions cannot show it"));
            }
        }
        self.foreign("", &settings.extra);
        Ok(())
    }

    fn own_fields(&mut self, settings: &Settings, out: &mut Object<'_>) {
        for field in settings.extra.of(DialectId::Chat) {
            if self.takes(&field.name) {
                out.json(&field.name, &field.value);
            }
        }
    }
}

fn response_format(format: &TextFormat, losses: &mut Vec<Loss>, out: &mut Object<'_>) {
    let mut object = out.object("response_format");
    match format {
        TextFormat::Text => object.string("type", "text"),
        TextFormat::JsonObject => object.string("type", "json_object"),
        TextFormat::JsonSchema(format) => {
            object.string("type", "json_schema");
            let mut schema = object.object("json_schema");
            schema.string("name", format.name.as_deref().unwrap_or("response"));
            schema.optional_string("description", format.description.as_deref());
            if let Some(json) = &format.schema {
                schema.json("schema", json);
            }
            if crate::schema::strict_format(format, losses) == Some(true) {
                schema.bool("strict", true);
            }
            schema.end();
        }
    }
    object.end();
}
