//! Settings, on the way out.

use trilith_core::{Effort, Loss, Settings, Truncation};

use super::encode::Encoder;
use crate::{json::Object, scan::write_string};

/// Where this wire's temperatures end.
const HOTTEST: u8 = 2;
/// The most alternatives of a token that this wire shows.
const MAX_LOGPROBS: u32 = 5;
/// How much is written where nobody knows better: silence means 16 here, which no other dialect's client means.
const USUAL_MAX_TOKENS: u64 = 4096;
/// The word by which a Responses client asks for log-probabilities.
const INCLUDED: &str = "message.output_text.logprobs";

impl Encoder<'_> {
    pub(super) fn sampling(&mut self, settings: &Settings, out: &mut Object<'_>) {
        let (sampling, can) = (&settings.sampling, self.target.can);
        let most = can.most_tokens(settings.limits, &mut self.losses);
        if self.takes("max_tokens") {
            out.int("max_tokens", most.or(can.max_output_tokens).unwrap_or(USUAL_MAX_TOKENS));
        }
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
        let ints = [
            ("top_k", drawn.top_k.map(i64::from)),
            ("seed", sampling.seed),
            ("n", sampling.n.map(i64::from)),
            ("logprobs", self.logprobs(settings).map(i64::from)),
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
            sampling.stop.iter().for_each(|stop| write_string(list.item(), stop));
            list.end();
        }
    }

    /// How many alternatives to each token are wanted; 0 is none, but the log-probabilities of the text.
    fn logprobs(&mut self, settings: &Settings) -> Option<u32> {
        let sampling = &settings.sampling;
        let included = settings.include.iter().any(|word| &**word == INCLUDED);
        let alternatives = sampling.top_logprobs.unwrap_or(0);
        let wanted = sampling.logprobs.unwrap_or(included || sampling.top_logprobs.is_some());
        if wanted && alternatives > MAX_LOGPROBS {
            let why = format!("sent as {MAX_LOGPROBS}, the most that Completions shows");
            self.losses.push(Loss::warn("top_logprobs", why));
        }
        wanted.then(|| alternatives.min(MAX_LOGPROBS))
    }

    /// Who asks.
    pub(super) fn identity(&mut self, settings: &Settings, out: &mut Object<'_>) {
        let user = settings.user.as_deref().or(settings.safety_identifier.as_deref());
        if let Some(user) = user
            && self.takes("user")
        {
            out.string("user", user);
        }
        if settings.safety_identifier.is_some() && settings.user.is_some() {
            self.warn_once("safety_identifier", "the older field for the same purpose is sent instead");
        }
    }

    /// Settings that this dialect has no word for.
    pub(super) fn unsaid(&mut self, settings: &Settings) {
        let reasoning = &settings.reasoning;
        let thinks = reasoning.effort.is_some_and(|effort| effort != Effort::None);
        let told = [
            ("reasoning.effort", thinks, "a completion server does not think"),
            (
                "reasoning.budget_tokens",
                reasoning.budget_tokens.is_some(),
                "a completion server does not think",
            ),
            ("reasoning.summary", reasoning.summary.is_some(), "a completion server does not think"),
            ("text.verbosity", settings.output.verbosity.is_some(), "Completions cannot ask for a length"),
            (
                "truncation",
                settings.truncation == Some(Truncation::Auto),
                "Completions cannot ask for it; what is too long is refused",
            ),
            ("max_tool_calls", settings.max_tool_calls.is_some(), "there are no calls to limit"),
            ("service_tier", settings.service_tier.is_some(), "Completions has no service tiers"),
        ];
        for (path, said, why) in told {
            if said {
                self.warn_once(path, why);
            }
        }
        if settings.prompt_cache_key.is_some() {
            self.losses.push(Loss::hint("prompt_cache_key", "Completions caches by content alone"));
        }
        for (place, word) in settings.include.iter().enumerate() {
            if ![INCLUDED, "reasoning.encrypted_content"].contains(&&**word) {
                self.losses.push(Loss::warn(format!("include[{place}]"), "Completions cannot show it"));
            }
        }
        self.foreign("", &settings.extra);
    }
}
