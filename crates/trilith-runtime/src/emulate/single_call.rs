//! One tool call at a time for targets that cannot be held to it: of an answer's calls only the first is seen, and
//! the answer ends where the model goes on after it (translation contract §5.1).
//!
//! An answer in which the model itself makes one call is left as it is, its token counts included.

use trilith_core::{
    CallKind, Error, Event, FinishReason, Item, ItemBody, ItemStatus, Loss, Settings, ToolChoice,
};

use super::{Draft, Filter, Flow, answers::Answers};

/// Takes the wish away from a target that cannot be told.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    let settings = &draft.settings;
    if settings.parallel_tool_calls != Some(false)
        || !may_call(settings, &draft.input)
        || draft.can().single_tool_call
    {
        return Ok(());
    }
    draft.settings_mut().parallel_tool_calls = None;
    let why = "the upstream cannot be held to one call at a time; of several only the first is kept";
    draft.losses.push(Loss::emulate("parallel_tool_calls", why));
    let answers = draft.answers();
    draft.filter(move || Box::new(FirstCall::new(answers)));
    Ok(())
}

/// Whether there is anything to call.
fn may_call(settings: &Settings, input: &[Item]) -> bool {
    let added = |item: &Item| matches!(&item.body, ItemBody::ToolsChange(change) if !change.add.is_empty());
    let tools = !settings.tools.is_empty() || input.iter().any(added);
    tools && settings.tool_choice != Some(ToolChoice::None)
}

/// What is known of an answer's first call.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    /// Its place in the output, once it has begun.
    index: Option<u32>,
    /// It is whole.
    done: bool,
    /// The model began another one beside it.
    another: bool,
}

/// Shows the first call of each answer only.
#[derive(Debug)]
struct FirstCall {
    answers: Answers,
    first: Vec<First>,
}

impl FirstCall {
    fn new(answers: u16) -> Self {
        Self { answers: Answers::new(answers), first: vec![First::default(); usize::from(answers)] }
    }

    fn end(&mut self, answer: u16, out: &mut Vec<Event>) {
        // What is open beside the call was said before it.
        self.answers.cut(answer, |_| true, FinishReason::ToolCalls, out);
    }

    fn added(&mut self, mut event: Event, out: &mut Vec<Event>) -> Result<(), Error> {
        let Event::ItemAdded { choice, item, .. } = &event else { return Ok(()) };
        let (answer, call) = (*choice, is_call(item));
        let Some(first) = self.first.get_mut(usize::from(answer)) else {
            if self.answers.begin(&mut event, true)? {
                self.answers.show(event, out);
            }
            return Ok(());
        };
        let (ends, wanted) = (first.done, !call || first.index.is_none());
        first.another |= !wanted;
        if ends && !self.answers.is_cut(answer) {
            self.end(answer, out);
        }
        if self.answers.begin(&mut event, wanted)? {
            if let (true, Some(first)) = (call, self.first.get_mut(usize::from(answer))) {
                first.index = event.index();
            }
            self.answers.show(event, out);
        }
        Ok(())
    }

    fn other(&mut self, mut event: Event, out: &mut Vec<Event>) -> Result<(), Error> {
        if !self.answers.admit(&mut event)? {
            return Ok(());
        }
        let done = match &event {
            // A call that is cut short ends as the target says.
            Event::ItemDone { index, status: ItemStatus::Completed, .. } => Some(*index),
            _ => None,
        };
        self.answers.show(event, out);
        let answer = done.and_then(|index| self.answers.of(index));
        let first = answer.and_then(|answer| self.first.get_mut(usize::from(answer)));
        if let (Some(answer), Some(first)) = (answer, first)
            && first.index == done
        {
            first.done = true;
            if first.another {
                self.end(answer, out);
            }
        }
        Ok(())
    }
}

impl Filter for FirstCall {
    fn take(&mut self, batch: Vec<Event>, out: &mut Vec<Event>) -> Result<Flow, Error> {
        for event in batch {
            match event {
                Event::ItemAdded { .. } => self.added(event, out)?,
                other => self.other(other, out)?,
            }
            if self.answers.flow() == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }
}

/// Whether it is a call that the caller is to run.
fn is_call(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Call(call) if matches!(call.kind, CallKind::Function | CallKind::Custom))
}
