//! A turn as a request of the engine, with a report of what it cannot take.

use std::collections::HashSet;

use trilith_core::{
    Effort, Error, Extra, Loss, OutputSettings, ReasoningSettings, Sampling, Settings, TextFormat,
    Truncation, Turn, Verbosity,
};

use super::tools::Tools;
use super::{items, tools};
use crate::{CalendarDate, Chat, Prompt, Request};

/// A request and what came of the turn's other wishes.
pub(super) struct Prepared {
    pub(super) request: Request,
    pub(super) losses: Vec<Loss>,
    pub(super) tools: Tools,
}

/// Turns a turn into a request.
///
/// # Errors
/// The turn asks for something that this model cannot do and that an answer cannot go without.
pub(super) fn prepare(turn: &Turn, today: Option<CalendarDate>) -> Result<Prepared, Error> {
    let settings = &*turn.settings;
    let mut report = Report::default();
    report.losses.extend(turn.check_conversation()?);
    let sampling = sampling(settings)?;
    check_format(&settings.output)?;
    let (tools, offered) = tools::offer(settings, &turn.input, &mut report)?;
    let messages = items::messages(settings, &turn.input, &tools, &mut report)?;
    let thinking = thinking(&settings.reasoning, &mut report);
    report_unsaid(settings, &mut report);
    report.top_level(&settings.extra)?;
    let chat = Chat { messages, tools: offered, today, thinking };
    let request = Request {
        prompt: Prompt::Chat(chat),
        sampling,
        max_tokens: settings.limits.max_output_tokens.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        stop: settings.sampling.stop.iter().map(|stop| stop.to_string()).collect(),
    };
    Ok(Prepared { request, losses: report.losses, tools })
}

/// What could not be carried so far.
#[derive(Default)]
pub(super) struct Report {
    losses: Vec<Loss>,
    told: HashSet<Box<str>>,
}

impl Report {
    pub(super) fn add(&mut self, loss: Loss) {
        self.losses.push(loss);
    }

    /// A loss that is the same wherever it occurs: the first place stands for all.
    pub(super) fn add_once(&mut self, loss: Loss) {
        if self.told.insert(loss.why.clone()) {
            self.losses.push(loss);
        }
    }

    /// Reports fields that some dialect gave to an item, part or tool, each name once.
    pub(super) fn foreign(&mut self, at: &str, extra: &Extra) {
        for field in extra.iter() {
            let why = format!(
                "the embedded model has no use for the {} field '{}'",
                field.dialect.name(),
                field.name
            );
            self.add_once(Loss::warn(format!("{at}.{}", field.name), why));
        }
    }

    /// Reports fields of the request itself.
    fn top_level(&mut self, extra: &Extra) -> Result<(), Error> {
        for field in extra.iter() {
            match &*field.name {
                // Trilith answers for what is stored, whoever writes the answer.
                "store" => {}
                "modalities" => {
                    let wanted: Vec<String> = serde_json::from_str(field.value.as_str()).unwrap_or_default();
                    if wanted.iter().any(|form| form != "text") {
                        return Err(unsupported("modalities", "writes text only"));
                    }
                }
                "prediction" => {
                    self.add(Loss::hint("prediction", "the embedded model makes no use of predicted text"));
                }
                name => self.foreign_top(name, field.dialect.name()),
            }
        }
        Ok(())
    }

    fn foreign_top(&mut self, name: &str, dialect: &str) {
        self.add(Loss::warn(name, format!("a {dialect} field that the embedded model has no use for")));
    }
}

/// Something that this model cannot do.
pub(super) fn unsupported(param: &str, what: &str) -> Error {
    let text = format!("'{param}': the embedded model {what}. Leave it out, or name another model.");
    Error::bad_request(param, text).with_code("unsupported_parameter")
}

/// What `min_p` is for callers who leave the choice of tokens open. Models of embeddable size give much weight
/// to their least likely tokens together: drawn from all of them, answers lose their thread and often never
/// end. `min_p` keeps the temperature at the vendors' default, which is what a response shows.
const USUAL_MIN_P: f32 = 0.1;

/// The vendors' ranges are those of the engine, but for `top_p`, where they allow 0: the likeliest token only.
fn sampling(settings: &Settings) -> Result<crate::Sampling, Error> {
    let Sampling { temperature, top_p, top_k, min_p, presence_penalty, frequency_penalty, seed, .. } =
        settings.sampling;
    check_sampling(settings)?;
    let mut usual = crate::Sampling::default();
    if top_p.is_none() && top_k.is_none() {
        usual.min_p = USUAL_MIN_P;
    }
    let or = |wanted: Option<f64>, usual: f32| wanted.map_or(usual, narrow);
    Ok(crate::Sampling {
        temperature: or(temperature, usual.temperature),
        top_p: top_p.map_or(usual.top_p, |wanted| narrow(wanted).max(f32::MIN_POSITIVE)),
        top_k: top_k.unwrap_or(usual.top_k),
        min_p: or(min_p, usual.min_p),
        presence_penalty: or(presence_penalty, usual.presence_penalty),
        frequency_penalty: or(frequency_penalty, usual.frequency_penalty),
        seed: seed.map(i64::cast_unsigned),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the engine computes in this precision")]
const fn narrow(wanted: f64) -> f32 {
    wanted as f32
}

fn check_sampling(settings: &Settings) -> Result<(), Error> {
    let Sampling { n, logprobs, top_logprobs, logit_bias, .. } = &settings.sampling;
    if n.is_some_and(|n| n > 1) {
        return Err(unsupported("n", "gives one answer to a request"));
    }
    if *logprobs == Some(true) {
        return Err(unsupported("logprobs", "gives no log-probabilities"));
    }
    if top_logprobs.is_some_and(|count| count > 0) {
        return Err(unsupported("top_logprobs", "gives no log-probabilities"));
    }
    if settings.include.iter().any(|wanted| &**wanted == "message.output_text.logprobs") {
        return Err(unsupported("include", "gives no log-probabilities"));
    }
    let biased = logit_bias.as_ref().is_some_and(|bias| {
        bias.as_str().bytes().any(|byte| !byte.is_ascii_whitespace() && byte != b'{' && byte != b'}')
    });
    if biased {
        return Err(unsupported("logit_bias", "has token ids of its own"));
    }
    Ok(())
}

fn check_format(output: &OutputSettings) -> Result<(), Error> {
    let wanted = match output.format {
        None | Some(TextFormat::Text) => return Ok(()),
        Some(TextFormat::JsonObject) => "json_object",
        Some(TextFormat::JsonSchema(_)) => "json_schema",
    };
    let text = format!(
        "'text.format': the embedded model cannot guarantee the form '{wanted}'. Use the form 'text' and ask for \
         JSON in words, or name another model."
    );
    Err(Error::bad_request("text.format", text).with_code("unsupported_parameter"))
}

/// Whether the model should think. Templates know yes and no, and no levels between them.
fn thinking(reasoning: &ReasoningSettings, report: &mut Report) -> Option<bool> {
    let ReasoningSettings { effort, budget_tokens, summary, context, mode } = reasoning;
    if budget_tokens.is_some_and(|budget| budget > 0) {
        report.add(Loss::warn("reasoning.budget_tokens", "the embedded model cannot count what it thinks"));
    }
    if !matches!(effort, None | Some(Effort::None | Effort::Medium)) {
        report.add(Loss::warn("reasoning.effort", "the embedded model thinks or does not, without levels"));
    }
    match summary.as_deref() {
        None => {}
        Some("auto") => {
            report.add(Loss::hint("reasoning.summary", "the model's own reasoning text is shown"));
        }
        Some(_) => {
            report.add(Loss::warn("reasoning.summary", "the model's own reasoning text is shown instead"));
        }
    }
    if context.as_deref().is_some_and(|context| context != "auto") {
        report.add(Loss::warn("reasoning.context", "the embedded model sees no earlier reasoning"));
    }
    if mode.as_deref().is_some_and(|mode| mode != "standard") {
        report.add(Loss::warn("reasoning.mode", "the embedded model has no reasoning modes"));
    }
    match (effort, budget_tokens) {
        (Some(effort), _) => Some(*effort != Effort::None),
        (None, Some(budget)) => Some(*budget > 0),
        (None, None) => None,
    }
}

/// Settings that change nothing here.
fn report_unsaid(settings: &Settings, report: &mut Report) {
    if matches!(settings.output.verbosity, Some(Verbosity::Low | Verbosity::High)) {
        report.add(Loss::warn("text.verbosity", "the embedded model cannot be told how much to say"));
    }
    if settings.truncation == Some(Truncation::Auto) {
        report.add(Loss::warn("truncation", "a conversation that does not fit is refused, not cut"));
    }
    if settings.prompt_cache_key.is_some() {
        report.add(Loss::hint("prompt_cache_key", "the last conversation is kept without a key"));
    }
    if settings.service_tier.as_deref().is_some_and(|tier| !matches!(tier, "auto" | "default")) {
        report.add(Loss::warn("service_tier", "the embedded model has one tier"));
    }
}
