//! A client's request in items.

use std::sync::Arc;

use trilith_core::{Completion, Error, Limits, Sampling, Settings, StateRef, Turn};

use super::{prompt, wire::Request};
use crate::{
    completions::OWN,
    object::{invalid, json, keep, missing, parse},
    surrogates,
    values::{count, range, stops, stream_options},
};

const MAX_CHOICES: u64 = 128;
const MAX_DRAWN: u64 = 20;
const MAX_LOGPROBS: u64 = 5;
/// How much is written where the request does not say (openai-checklist C3).
const USUAL_MAX_TOKENS: u64 = 16;

pub(in crate::completions) fn decode(body: &[u8]) -> Result<Turn, Error> {
    let mut request: Request<'_> = parse(body)?;
    surrogates::check(body)?;
    let model = request.model.take().filter(|model| !model.is_empty()).ok_or_else(|| missing("model"))?;
    let sampling = sampling(&mut request)?;
    let stream = stream_options(request.stream, request.stream_options.as_ref())?;
    let n = sampling.n.unwrap_or(1);
    let mut prompts = prompt::decode(request.prompt.take(), n)?;
    let completion = Completion {
        more_prompts: prompts.split_off(1),
        suffix: request.suffix.take().filter(|suffix| !suffix.is_empty()),
        echo: request.echo.unwrap_or(false),
        best_of: best_of(&request, n, stream.stream)?,
    };
    let most = request.max_tokens.unwrap_or(USUAL_MAX_TOKENS);
    let mut settings = Settings {
        model,
        sampling,
        limits: Limits { max_output_tokens: Some(most) },
        user: request.user.take(),
        ..Settings::default()
    };
    keep(OWN, &mut settings.extra, "", std::mem::take(&mut request.rest));
    Ok(Turn {
        settings: Arc::new(settings),
        input: prompts.pop().unwrap_or_default(),
        completion: Some(completion),
        // This wire keeps nothing.
        state: StateRef { store: Some(false), ..StateRef::default() },
        stream,
        ..Turn::default()
    })
}

fn sampling(request: &mut Request<'_>) -> Result<Sampling, Error> {
    let small = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
    let top_logprobs = small(count("logprobs", request.logprobs, 0, MAX_LOGPROBS)?);
    let logit_bias = match request.logit_bias {
        Some(bias) if !bias.get().starts_with('{') => {
            return Err(invalid("logit_bias", "Invalid type for 'logit_bias': expected an object."));
        }
        bias => bias.map(json),
    };
    Ok(Sampling {
        temperature: range("temperature", request.temperature, 0.0, 2.0)?,
        top_p: range("top_p", request.top_p, 0.0, 1.0)?,
        // Servers that know it take −1 and 0 for "off", which is the same as silence.
        top_k: request.top_k.filter(|k| *k > 0).and_then(|k| u32::try_from(k).ok()),
        min_p: range("min_p", request.min_p, 0.0, 1.0)?,
        presence_penalty: range("presence_penalty", request.presence_penalty, -2.0, 2.0)?,
        frequency_penalty: range("frequency_penalty", request.frequency_penalty, -2.0, 2.0)?,
        seed: request.seed,
        logit_bias,
        stop: stops(request.stop.take())?,
        n: small(count("n", request.n, 1, MAX_CHOICES)?),
        // The number of alternatives alone asks for log-probabilities here; 0 asks for those of the text.
        logprobs: top_logprobs.map(|_| true),
        top_logprobs,
    })
}

/// How many answers to draw; 0 and 1 say nothing.
fn best_of(request: &Request<'_>, n: u32, stream: bool) -> Result<Option<u32>, Error> {
    let drawn = count("best_of", request.best_of, 0, MAX_DRAWN)?.and_then(|count| u32::try_from(count).ok());
    let Some(drawn) = drawn.filter(|drawn| *drawn > 0) else { return Ok(None) };
    if drawn < n {
        let text = format!("Invalid value for 'best_of': expected at least 'n' ({n}), got {drawn}.");
        return Err(invalid("best_of", text));
    }
    if drawn > 1 && stream {
        return Err(invalid("best_of", "Invalid 'best_of': the best of several answers cannot be streamed."));
    }
    Ok((drawn > 1).then_some(drawn))
}
