//! How hard to think, on the way out (translation contract §8.1).

use trilith_core::{Effort, Loss, Settings};

use super::{THINKING, decode::OWN, encode::Encoder};
use crate::{
    Thinking,
    capability::{budget_of, effort_of, forces},
    json::Object,
};

/// The least that a thinking budget may be, in tokens.
const LEAST_BUDGET: u64 = 1024;

/// How the request asks for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinks {
    /// Not at all.
    No,
    /// As the caller wrote it on this wire.
    AsWritten,
    /// By what the caller said on another wire.
    Derived,
}

impl Encoder<'_> {
    /// Writes `thinking`. `most` is the request's `max_tokens`.
    pub(super) fn thinking(&mut self, settings: &Settings, most: u64, out: &mut Object<'_>) -> Thinks {
        let reasoning = &settings.reasoning;
        let can = self.target.can.thinking;
        if reasoning.effort == Some(Effort::None) {
            match can {
                Thinking::Always => self.warn_once("reasoning.effort", "the model cannot but think"),
                Thinking::No => {}
                Thinking::Budget | Thinking::Adaptive => {
                    let mut object = out.object(THINKING);
                    object.string("type", "disabled");
                    object.end();
                }
            }
            return Thinks::No;
        }
        if let Some(raw) = settings.extra.get(OWN, THINKING) {
            if can == Thinking::No {
                self.warn_once(THINKING, "the model does not think");
                return Thinks::No;
            }
            if raw.as_str() != "null" {
                out.json(THINKING, raw);
            }
            return Thinks::AsWritten;
        }
        let asked = match (reasoning.effort, reasoning.budget_tokens) {
            (None, Some(0)) => {
                let mut object = out.object(THINKING);
                object.string("type", "disabled");
                object.end();
                return Thinks::No;
            }
            (effort, budget) => effort.or(budget.map(effort_of)),
        };
        let shown = reasoning.summary.is_some();
        if asked.is_none() && !shown {
            return Thinks::No;
        }
        if self.must_not_think() {
            return Thinks::No;
        }
        match can {
            Thinking::No => {
                if asked.is_some() && self.target.can.efforts.is_empty() {
                    self.warn_once("reasoning.effort", "the model does not think");
                }
                Thinks::No
            }
            Thinking::Budget => {
                let wanted = reasoning.budget_tokens.or(asked.map(budget_of)).unwrap_or(LEAST_BUDGET);
                self.budget(wanted, most, shown, out)
            }
            Thinking::Adaptive | Thinking::Always => {
                if can == Thinking::Adaptive || shown {
                    let mut object = out.object(THINKING);
                    object.string("type", "adaptive");
                    if shown {
                        object.string("display", "summarized");
                    }
                    object.end();
                }
                Thinks::Derived
            }
        }
    }

    fn budget(&mut self, wanted: u64, most: u64, shown: bool, out: &mut Object<'_>) -> Thinks {
        let fits = wanted.min(most.saturating_sub(1));
        if fits < LEAST_BUDGET {
            let why = "so few output tokens leave no room to think; the model is not asked to";
            self.warn_once("reasoning.effort", why);
            return Thinks::No;
        }
        if fits < wanted {
            self.warn_once("reasoning.effort", "the budget is cut to fit below the output limit");
        }
        let mut object = out.object(THINKING);
        object.string("type", "enabled");
        object.int("budget_tokens", fits);
        if shown {
            object.string("display", "summarized");
        }
        object.end();
        Thinks::Derived
    }

    /// Whether this wire would refuse thinking beside the rest of the request; it is said if so.
    fn must_not_think(&mut self) -> bool {
        let can = self.target.can.thinking;
        if can == Thinking::Always {
            return false;
        }
        let forced = self.turn.settings.tool_choice.as_ref().is_some_and(forces);
        if forced {
            self.warn_once("reasoning", "the model cannot think when it must call a tool");
        } else if can == Thinking::Budget && self.bare_call {
            let why = "the calls of the last turn came without this model's thinking, so it cannot think now";
            self.warn_once("reasoning", why);
        } else {
            return false;
        }
        true
    }

    /// The effort to send: the nearest one that the model knows.
    pub(super) fn effort(&mut self, settings: &Settings, thinks: Thinks) -> Option<Effort> {
        let reasoning = &settings.reasoning;
        // Where the wire's own thinking has a budget, an effort beside it is the caller's to give.
        let wanted = match (reasoning.effort, reasoning.budget_tokens) {
            (None, Some(tokens))
                if thinks == Thinks::Derived && self.target.can.thinking != Thinking::Budget =>
            {
                self.warn_once("reasoning.budget_tokens", "sent as the nearest effort level");
                Some(effort_of(tokens))
            }
            (effort, _) => effort,
        };
        let wanted = wanted.filter(|effort| *effort != Effort::None)?;
        let nearest = self.target.can.nearest_effort(wanted, Effort::Low);
        match nearest {
            Some(effort) if effort != wanted => {
                self.losses.push(Loss::warn("reasoning.effort", format!("sent as {}", effort.name())));
            }
            None if thinks == Thinks::AsWritten => {
                self.warn_once("reasoning.effort", "the model knows no efforts");
            }
            _ => {}
        }
        nearest
    }
}
