//! A turn in an upstream's bytes.

use trilith_core::{Error, Extra, Loss, Settings, TextFormat, ToolChoice, Turn};

use super::prompt;
use crate::{
    Encoded, NameMap, Target,
    completions::OWN,
    effective_tools,
    hints::{refuse_responses_only, report_foreign},
    json::Object,
};

/// A request being written.
pub(super) struct Encoder<'t> {
    pub(super) turn: &'t Turn,
    pub(super) target: &'t Target<'t>,
    pub(super) losses: Vec<Loss>,
}

pub(in crate::completions) fn encode(turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
    let mut encoder = Encoder { turn, target, losses: Vec::new() };
    let settings = &*turn.settings;
    encoder.refuse(settings)?;
    let mut body = Vec::new();
    let mut out = Object::new(&mut body);
    out.string("model", target.model);
    prompt::write(&mut encoder, &mut out)?;
    encoder.completion(&mut out);
    encoder.sampling(settings, &mut out);
    encoder.identity(settings, &mut out);
    encoder.unsaid(settings);
    for field in settings.extra.of(OWN) {
        if encoder.takes(&field.name) {
            out.json(&field.name, &field.value);
        }
    }
    if target.stream {
        out.bool("stream", true);
        if target.quirks.stream_usage {
            let mut options = out.object("stream_options");
            options.bool("include_usage", true);
            options.end();
        }
    }
    out.end();
    Ok(Encoded { body, losses: encoder.losses, names: NameMap::default() })
}

/// What a completion server cannot do, and what to do about it.
pub(super) fn unsayable(at: &str, what: &str) -> Error {
    let text = format!(
        "'{at}' holds {what}, and the upstream of this model continues one text: it applies no chat template. Leave \
         it out, or choose a model whose provider's dialect is `chat`, `responses` or `messages`."
    );
    Error::bad_request(at, text).with_code("unsupported_parameter")
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
        report_foreign(OWN, "Completions", at, extra, &self.turn.settings, &mut self.losses);
    }

    /// Settings without which the answer would mean something else.
    fn refuse(&self, settings: &Settings) -> Result<(), Error> {
        refuse_responses_only(settings)?;
        if !effective_tools(settings, &self.turn.input).is_empty() {
            return Err(unsayable("tools", "tools"));
        }
        if settings
            .tool_choice
            .as_ref()
            .is_some_and(|choice| !matches!(choice, ToolChoice::None | ToolChoice::Auto))
        {
            return Err(unsayable("tool_choice", "a choice of tools"));
        }
        if settings.instructions.is_some() {
            return Err(unsayable("instructions", "a text set before the conversation"));
        }
        if matches!(settings.output.format, Some(TextFormat::JsonObject | TextFormat::JsonSchema(_))) {
            return Err(unsayable("text.format", "a form that the text must have"));
        }
        for field in settings.extra.foreign_to(OWN) {
            match &*field.name {
                "audio" => return Err(unsayable("audio", "a wish for spoken answers")),
                "modalities" if field.value.as_str().contains("audio") => {
                    return Err(unsayable("modalities", "a wish for spoken answers"));
                }
                "web_search_options" => {
                    return Err(unsayable("web_search_options", "a wish for a web search"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What only a completion asks for.
    fn completion(&mut self, out: &mut Object<'_>) {
        let Some(completion) = &self.turn.completion else { return };
        if let Some(suffix) = &completion.suffix
            && self.takes("suffix")
        {
            out.string("suffix", suffix);
        }
        if completion.echo && self.takes("echo") {
            out.bool("echo", true);
        }
        if let Some(drawn) = completion.best_of
            && self.takes("best_of")
        {
            out.int("best_of", drawn);
        }
    }
}
