//! A turn in an upstream's bytes.

use trilith_core::{DialectId, Error, Extra, ExtraField, Loss, Settings, Truncation, Turn, Wanted};

use super::{
    CACHE_CONTROL, METADATA_PREFIX, OUTPUT_PREFIX, THINKING, decode::OWN, write_blocks::Marks,
    write_messages, write_settings::Form, write_tools,
};
use crate::json::Object;
use crate::{Encoded, NameMap, Target};

/// Fields of Responses without which the answer would mean something else, and what they ask for.
const MEANINGFUL: [(&str, &str); 4] = [
    ("prompt", "a stored prompt"),
    ("context_management", "compaction on the way"),
    ("background_options", "work in the background"),
    ("generate", "no answer at all"),
];

/// Room for what most items and tools take, in bytes, so that a long context is not copied from one buffer to
/// the next as it is written.
const ROOM: usize = 1 << 10;

/// A request being written.
pub(super) struct Encoder<'t> {
    pub(super) turn: &'t Turn,
    pub(super) target: &'t Target<'t>,
    pub(super) names: NameMap,
    pub(super) losses: Vec<Loss>,
    pub(super) marks: Marks,
    /// Wire names of the tools that the conversation called.
    pub(super) called: Vec<Box<str>>,
    /// Whether the newest assistant turn calls tools and does not begin with thinking.
    pub(super) bare_call: bool,
    /// How the form of the text is asked for.
    pub(super) form: Form,
}

/// A turn in the bytes of a Messages upstream.
///
/// # Errors
/// The turn asks for something that changes the answer's meaning and that this wire or this model cannot do;
/// the error names the field.
pub(crate) fn encode(turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
    write(turn, target, Wanted::Answer)
}

/// The same, asking how many tokens the turn is: nothing is said of an answer.
///
/// # Errors
/// As for [`encode`].
pub(crate) fn encode_count(turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error> {
    write(turn, target, Wanted::InputTokens)
}

fn write(turn: &Turn, target: &Target<'_>, wanted: Wanted) -> Result<Encoded, Error> {
    let settings = &*turn.settings;
    let mut encoder = Encoder {
        turn,
        target,
        names: NameMap::default(),
        losses: turn.check_conversation()?.into_iter().collect(),
        marks: Marks::default(),
        called: Vec::new(),
        bare_call: false,
        form: Form::Free,
    };
    encoder.refuse(settings)?;
    encoder.form = encoder.form();
    encoder.check_citations()?;
    encoder.name_tools();
    let many = turn.input.len() + settings.tools.len();
    let mut body = Vec::with_capacity(4096 + many * ROOM);
    let mut out = Object::new(&mut body);
    out.string("model", target.model);
    let most = encoder.most_tokens(settings);
    if wanted == Wanted::Answer {
        out.int("max_tokens", most);
    }
    write_messages::write(&mut encoder, &mut out)?;
    write_tools::write(&mut encoder, &mut out)?;
    let thinks = encoder.thinking(settings, most, &mut out);
    encoder.output(settings, thinks, &mut out)?;
    if wanted == Wanted::Answer {
        encoder.sampling(settings, thinks, &mut out)?;
        encoder.identity(settings, &mut out);
    }
    encoder.unsaid(settings);
    encoder.own_fields(settings, &mut out);
    if target.stream && wanted == Wanted::Answer {
        out.bool("stream", true);
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
        for ExtraField { name, dialect, .. } in extra.foreign_to(OWN) {
            let path = if at.is_empty() { name.to_string() } else { format!("{at}.{name}") };
            let dot = format!(".{name}");
            if !self.losses.iter().any(|loss| loss.path.ends_with(&dot) || *loss.path == *path) {
                let why = format!("a {} field that Messages has no place for", dialect.name());
                self.losses.push(Loss::warn(path, why));
            }
        }
    }

    /// Settings without which the answer would mean something else.
    fn refuse(&self, settings: &Settings) -> Result<(), Error> {
        let refused = |name: &str, what: &str| {
            let text = format!(
                "'{name}' asks for {what}, which the upstream of the model '{}' cannot do. Leave it out or \
                 choose a model whose provider can.",
                settings.model
            );
            Err(Error::bad_request(name, text).with_code("unsupported_parameter"))
        };
        for (name, what) in MEANINGFUL {
            if settings.extra.get(DialectId::Responses, name).is_some() {
                return refused(name, what);
            }
        }
        let sampling = &settings.sampling;
        if sampling.n.is_some_and(|n| n > 1) {
            return refused("n", "several answers at once");
        }
        if sampling.logprobs == Some(true) {
            return refused("logprobs", "log-probabilities");
        }
        if sampling.top_logprobs.is_some_and(|n| n > 0) {
            return refused("top_logprobs", "log-probabilities");
        }
        let empty = |text: &str| text.chars().all(|c| c.is_whitespace() || matches!(c, '{' | '}'));
        if sampling.logit_bias.as_ref().is_some_and(|bias| !empty(bias.as_str())) {
            return refused("logit_bias", "a bias on tokens");
        }
        if sampling.stop.iter().any(|stop| !stop.is_empty() && stop.trim().is_empty()) {
            return refused("stop", "a stop at white space");
        }
        Ok(())
    }

    /// Settings that this dialect has no word for.
    fn unsaid(&mut self, settings: &Settings) {
        let reasoning = &settings.reasoning;
        if reasoning.context.as_deref().is_some_and(|context| context != "auto") {
            self.warn_once("reasoning.context", "Messages cannot choose what reasoning is seen");
        }
        if reasoning.mode.as_deref().is_some_and(|mode| mode != "standard") {
            self.warn_once("reasoning.mode", "Messages has no reasoning modes");
        }
        if settings.output.verbosity.is_some() {
            self.warn_once("text.verbosity", "Messages cannot ask for a length");
        }
        if settings.truncation == Some(Truncation::Auto) {
            self.warn_once("truncation", "Messages cannot ask for it; what is too long is refused");
        }
        if settings.max_tool_calls.is_some() {
            self.warn_once("max_tool_calls", "Messages cannot limit how many hosted calls run");
        }
        if settings.prompt_cache_key.is_some() {
            self.losses.push(Loss::hint("prompt_cache_key", "Messages caches by content alone"));
        }
        for (place, word) in settings.include.iter().enumerate() {
            // What this asks for is in the answer by other means.
            if &**word != "reasoning.encrypted_content" {
                self.losses.push(Loss::warn(format!("include[{place}]"), "Messages cannot show it"));
            }
        }
        self.foreign("", &settings.extra);
    }

    fn own_fields(&mut self, settings: &Settings, out: &mut Object<'_>) {
        for field in settings.extra.of(OWN) {
            let inner = field.name.starts_with(OUTPUT_PREFIX) || field.name.starts_with(METADATA_PREFIX);
            if !inner && &*field.name != THINKING && self.takes(&field.name) {
                out.json(&field.name, &field.value);
            }
        }
    }

    /// Who asks, and on what terms.
    fn identity(&mut self, settings: &Settings, out: &mut Object<'_>) {
        let user = settings.safety_identifier.as_deref().or(settings.user.as_deref());
        let inner = |field: &&ExtraField| field.name.starts_with(METADATA_PREFIX);
        let mut rest = settings.extra.of(OWN).filter(inner).peekable();
        if (user.is_some() || rest.peek().is_some()) && self.takes("metadata") {
            let mut metadata = out.object("metadata");
            metadata.optional_string("user_id", user);
            for field in rest {
                metadata.json(field.name.trim_start_matches(METADATA_PREFIX), &field.value);
            }
            metadata.end();
        }
        if settings.safety_identifier.is_some() && settings.user.is_some() {
            self.warn_once("user", "the safety identifier is sent instead");
        }
        let tier = match settings.service_tier.as_deref() {
            None => return,
            Some("auto") => "auto",
            Some("default") => "standard_only",
            Some(_) => return self.warn_once("service_tier", "Messages has no such tier"),
        };
        if self.takes("service_tier") {
            out.string("service_tier", tier);
        }
    }

    /// Whether the request has a mark for all of its content, which takes one place of those there are.
    pub(super) fn marked_whole(&self) -> bool {
        self.turn.settings.extra.get(OWN, CACHE_CONTROL).is_some()
    }
}
