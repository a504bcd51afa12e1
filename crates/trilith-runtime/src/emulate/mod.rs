//! Emulations: what a request asks for and a target does not do by itself, done here (translation contract §0).
//!
//! An emulation has two halves. Before the call it rewrites a [`Draft`], the request as this target will get it:
//! it takes out of the settings what the target cannot be told, says so as a [`Loss`], and leaves a [`Filter`]
//! in the draft. During the answer that filter makes out of the target's events what the caller asked for. What
//! cannot be emulated is an error of the first half, so that nothing is sent.
//!
//! [`FanOut`] stands outside of that chain: it makes several calls where the target gives one answer to a call, each
//! with filters of its own.
//!
//! One more emulation is one more file with a function in [`EMULATIONS`]. It returns at once when the request
//! does not need it, and asks [`Draft::can`] only then: most requests need none, and pay nothing. Each sees what
//! those before it left, so a later one stands nearer to the wire: filters see the answer in reverse order, and
//! the last emulation's filter reads what the target said.

mod answers;
mod draft;
mod empty;
mod fan_out;
mod filter;
mod form;
mod gauge;
mod places;
mod promise;
mod single_call;
mod stop;
mod tool_choice;
mod truncation;

use trilith_core::{Completion, Error, Settings};

pub(crate) use draft::{Draft, Finished, Terms};
pub(crate) use empty::answer as empty_answer;
pub(crate) use fan_out::FanOut;
pub(crate) use filter::{Filter, Filters, Flow};
pub(crate) use gauge::Sent;
pub(crate) use places::no_sense;
pub(crate) use promise::{Again, Promise};
pub(crate) use truncation::shorten;

#[cfg(test)]
pub(crate) use stop::StopCutter;

/// The first half of an emulation.
type Emulation = fn(&mut Draft<'_>) -> Result<(), Error>;

/// What is emulated, from the caller's side to the wire.
const EMULATIONS: &[Emulation] = &[
    fan_out::emulate,
    stop::emulate,
    tool_choice::emulate,
    single_call::emulate,
    empty::emulate,
    truncation::emulate,
    form::emulate,
];

/// Rewrites a draft until its target can be told all of it.
///
/// # Errors
/// The request asks for something that the target cannot do and that cannot be emulated.
pub(crate) fn rewrite(draft: &mut Draft<'_>) -> Result<(), Error> {
    EMULATIONS.iter().try_for_each(|emulate| emulate(draft))
}

/// How many answers a call with these settings is to give: `n` to each prompt.
pub(crate) fn answers(settings: &Settings, completion: Option<&Completion>) -> u16 {
    let prompts = completion.map_or(0, |completion| completion.more_prompts.len()).saturating_add(1);
    let each = settings.sampling.n.unwrap_or(1).max(1) as usize;
    u16::try_from(prompts.saturating_mul(each)).unwrap_or(u16::MAX)
}
