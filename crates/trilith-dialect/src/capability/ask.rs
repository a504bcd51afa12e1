//! What is asked of a model: the decisions that every encoder shares. Each gives what to send, and says what
//! became of the rest.

use trilith_core::{
    Effort, Error, Item, ItemBody, Limits, Loss, ReasoningSettings, Role, Sampling, ToolChoice,
    ToolChoiceMode,
};

use super::{Capabilities, Thinking};

/// The sampling settings to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u32>,
}

/// Why a setting is not sent to a model that draws by its own rules.
const NO_SAMPLING: &str = "the model takes no sampling settings";

/// The budget an effort stands for, in tokens (translation contract §8.1).
pub(crate) const fn budget_of(effort: Effort) -> u64 {
    match effort {
        Effort::None => 0,
        Effort::Minimal | Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High => 24_576,
        Effort::Xhigh | Effort::Max => 49_152,
    }
}

/// The effort a budget of tokens stands for.
pub(crate) const fn effort_of(budget: u64) -> Effort {
    match budget {
        0 => Effort::None,
        1..8192 => Effort::Low,
        8192..24_576 => Effort::Medium,
        24_576..49_152 => Effort::High,
        _ => Effort::Xhigh,
    }
}

/// Leaves out a value; nothing is lost where it is the default.
fn leave_out(name: &str, value: Option<f64>, default: f64, why: &str, losses: &mut Vec<Loss>) {
    if value.is_some_and(|value| value != default) {
        losses.push(Loss::warn(name, why));
    }
}

impl Capabilities {
    /// The nearest level to `wanted` that the model knows, on a wire whose levels begin with `least`.
    pub(crate) fn nearest_effort(&self, wanted: Effort, least: Effort) -> Option<Effort> {
        let known = || self.efforts.iter().copied().filter(|effort| *effort >= least);
        // Not to think is near to nothing but itself.
        let some = || known().filter(|effort| *effort != Effort::None);
        known()
            .find(|effort| *effort == wanted)
            .or_else(|| some().filter(|effort| *effort < wanted).max())
            .or_else(|| some().min())
            .or_else(|| known().min())
    }

    /// The effort to send on a wire that has a word for every level and no budgets.
    pub(crate) fn effort(&self, asked: &ReasoningSettings, losses: &mut Vec<Loss>) -> Option<Effort> {
        let wanted = match (asked.effort, asked.budget_tokens) {
            (None, None) => return None,
            (Some(effort), None) => effort,
            (Some(effort), Some(_)) => {
                losses.push(Loss::warn("reasoning.budget_tokens", "the effort level is sent instead"));
                effort
            }
            (None, Some(budget)) => {
                losses.push(Loss::warn("reasoning.budget_tokens", "sent as the nearest effort level"));
                effort_of(budget)
            }
        };
        // Where thinking has a budget on the model's own wire, this upstream makes one of the level.
        if self.efforts.is_empty() && self.thinking != Thinking::No {
            return Some(wanted);
        }
        let nearest = self.nearest_effort(wanted, Effort::None);
        match nearest {
            None if wanted != Effort::None => {
                losses.push(Loss::warn("reasoning.effort", "the model does not think"));
            }
            Some(effort) if effort != wanted => {
                losses.push(Loss::warn("reasoning.effort", format!("sent as {}", effort.name())));
            }
            _ => {}
        }
        nearest
    }

    /// The sampling settings to send on a wire whose temperature ends at `hottest`. `unless` says why none of
    /// them go beside the rest of this request.
    pub(crate) fn sampling(
        &self,
        asked: &Sampling,
        hottest: u8,
        unless: Option<&'static str>,
        losses: &mut Vec<Loss>,
    ) -> Drawn {
        let Sampling { temperature, top_p, top_k, .. } = *asked;
        if let Some(why) = unless.or_else(|| (!self.sampling).then_some(NO_SAMPLING)) {
            leave_out("temperature", temperature, 1.0, why, losses);
            leave_out("top_p", top_p, 1.0, why, losses);
            if top_k.is_some() {
                losses.push(Loss::warn("top_k", why));
            }
            return Drawn { temperature: None, top_p: None, top_k: None };
        }
        let mut drawn = Drawn { temperature, top_p, top_k };
        let most = hottest.min(self.max_temperature);
        if temperature.is_some_and(|value| value > f64::from(most)) {
            drawn.temperature = Some(f64::from(most));
            losses.push(Loss::warn("temperature", format!("sent as {most}, the most that is taken")));
        }
        if temperature.is_some() && top_p.is_some() && !self.temperature_with_top_p {
            drawn.top_p = None;
            leave_out("top_p", top_p, 1.0, "the model does not take it beside temperature", losses);
        }
        drawn
    }

    /// A further sampling setting that does nothing at 0: whether it is sent.
    pub(crate) fn samples(&self, name: &str, value: f64, losses: &mut Vec<Loss>) -> bool {
        if !self.sampling {
            leave_out(name, Some(value), 0.0, NO_SAMPLING, losses);
        }
        self.sampling
    }

    /// How many tokens to allow, where the caller said so.
    pub(crate) fn most_tokens(&self, asked: Limits, losses: &mut Vec<Loss>) -> Option<u64> {
        let asked = asked.max_output_tokens?;
        match self.max_output_tokens {
            Some(most) if asked > most => {
                let why = format!("sent as {most}, the most that the model writes");
                losses.push(Loss::warn("max_output_tokens", why));
                Some(most)
            }
            _ => Some(asked),
        }
    }

    /// Whether a tool's wish to be called strictly by its schema is sent.
    pub(crate) fn strict(&self, at: &str, strict: Option<bool>, losses: &mut Vec<Loss>) -> Option<bool> {
        if strict == Some(true) && !self.strict_tools {
            losses.push(Loss::warn(format!("{at}.strict"), "the model has no strict tools"));
            return Some(false);
        }
        strict
    }

    /// Whether several calls may come at once; `None` leaves it to the upstream.
    pub(crate) fn parallel(&self, asked: Option<bool>, losses: &mut Vec<Loss>) -> Option<bool> {
        if asked == Some(false) && !self.single_tool_call {
            losses.push(Loss::warn("parallel_tool_calls", "the model cannot be held to one call at a time"));
            return None;
        }
        asked
    }

    /// Refuses a choice that makes a model call which cannot be made to.
    ///
    /// # Errors
    /// The choice is of that kind; the error names it.
    pub(crate) fn check_choice(&self, model: &str, choice: Option<&ToolChoice>) -> Result<(), Error> {
        if self.forced_tool_choice || !choice.is_some_and(forces) {
            return Ok(());
        }
        let text = format!(
            "The model '{model}' cannot be made to call a tool. Leave 'tool_choice' out or set it to auto."
        );
        Err(Error::bad_request("tool_choice", text).with_code("unsupported_parameter"))
    }

    /// Refuses a conversation that ends on words which the model would have to continue and cannot. Words that
    /// an answer ended with are no beginning of the next.
    ///
    /// # Errors
    /// The conversation ends so.
    pub(crate) fn check_end(&self, model: &str, input: &[Item]) -> Result<(), Error> {
        let begins = |item: &Item| {
            let own = matches!(&item.body, ItemBody::Message(message) if message.role == Role::Assistant);
            own && item.id.is_none() && item.status.is_none()
        };
        if self.prefill || !input.last().is_some_and(begins) { Ok(()) } else { Err(no_prefill(model)) }
    }
}

/// The refusal of a conversation that ends on the assistant's words.
pub(crate) fn no_prefill(model: &str) -> Error {
    let text = format!(
        "The conversation ends on the assistant's words, and the model '{model}' does not support prefill. End \
         it with a user message."
    );
    Error::bad_request("input", text).with_code("unsupported_parameter")
}

/// Whether the choice makes the model call.
pub(crate) const fn forces(choice: &ToolChoice) -> bool {
    matches!(
        choice,
        ToolChoice::Required
            | ToolChoice::Tool(_)
            | ToolChoice::Allowed { mode: ToolChoiceMode::Required, .. }
    )
}

#[cfg(test)]
mod tests;
