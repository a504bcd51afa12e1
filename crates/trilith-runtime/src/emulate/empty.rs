//! No output at all (a limit of 0 tokens) toward targets that take no such request (translation contract §10): the
//! answer is empty, and nobody is asked for it.

use trilith_core::{Error, Event, Finish, FinishReason, Loss};

use super::{Draft, Sent, gauge::Gauge};

/// Answers in the place of a target that cannot say nothing.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    // A completion may want no more than its prompt back, which is for whoever can do that.
    if draft.settings.limits.max_output_tokens == Some(0)
        && draft.completion.is_none()
        && !draft.can().empty_answers
    {
        let why = "the upstream cannot be asked for no output; it is not asked at all";
        draft.losses.push(Loss::emulate("max_output_tokens", why));
        draft.empty = true;
    }
    Ok(())
}

/// The answer without output.
pub(crate) fn answer(sent: Sent) -> Vec<Event> {
    let finish = |choice| Event::Finish(Finish { choice, reason: FinishReason::Length });
    let mut events = vec![Event::Usage(Gauge::new(sent).usage())];
    events.extend((0..sent.answers).map(finish));
    events
}
