//! One of the answers, as it comes: reasoning, then a message, then calls, in whatever pieces.

use trilith_core::{
    Error, Event, FinishReason, ItemBody, ItemStatus, Logprob, Loss, Message, PartSpace, PartStart,
    Reasoning, Role,
};

use super::{
    calls::Calls,
    details::{Details, Readable},
};
use crate::{
    assemble::{self, Ends},
    chat::response::{
        pieces,
        wire::{AudioDelta, Choice, Content, ContentChunk, Delta},
    },
    choices::finish_reason,
    logprobs,
};

/// The state of one choice.
pub(super) struct Said {
    number: u16,
    reasoning: Option<OpenReasoning>,
    message: Option<OpenMessage>,
    calls: Calls,
    finish: Option<FinishReason>,
    made_any: bool,
    reported: bool,
}

struct OpenReasoning {
    index: u32,
    open: Option<(PartSpace, u32)>,
    texts: u32,
    summaries: u32,
    details: Details,
}

struct OpenMessage {
    index: u32,
    open: Option<PartStart>,
    /// The number of parts so far.
    parts: u32,
}

impl assemble::Said for Said {
    type Choice<'a> = Choice<'a>;

    const MOST: u16 = 128;

    fn new(number: u16) -> Self {
        Self {
            number,
            reasoning: None,
            message: None,
            calls: Calls::new(number),
            finish: None,
            made_any: false,
            reported: false,
        }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn take(&mut self, choice: Choice<'_>, ends: &mut Ends<'_>) -> Result<(), Error> {
        let (tokens, declined) = choice.logprobs.map(logprobs::logprobs).unwrap_or_default();
        if !declined.is_empty() {
            self.report(ends, "logprobs.refusal", "log-probabilities of a refusal are left out");
        }
        let mut delta = choice.delta.or(choice.message).unwrap_or_default();
        self.reason(&mut delta, ends);
        self.speak(&mut delta, tokens, ends);
        if let Some(raw) = delta.annotations {
            self.annotate(raw, ends);
        }
        if delta.images.is_some() {
            self.report(ends, "images", "images in an answer are left out");
        }
        let calls = delta.tool_calls.unwrap_or_default();
        if !calls.is_empty() || delta.function_call.is_some() {
            self.close_message(ItemStatus::Completed, ends);
            self.yield_reasoning(ends);
            for call in calls {
                self.calls.take(call, ends);
            }
            if let Some(called) = delta.function_call {
                self.calls.take_legacy(called, ends);
            }
        }
        if let Some(word) = choice.finish_reason.filled() {
            self.finish = Some(finish_reason(&word, choice.stop_reason.filled())?);
        }
        Ok(())
    }

    fn cut(&mut self, ends: &mut Ends<'_>) {
        self.close_reasoning(ItemStatus::Incomplete, ends);
        self.close_message(ItemStatus::Incomplete, ends);
        self.calls.close(true, ends);
    }

    fn close(&mut self, ends: &mut Ends<'_>) -> Result<FinishReason, Error> {
        let told = self.finish.clone().unwrap_or(FinishReason::Stop);
        let cut =
            matches!(told, FinishReason::Length | FinishReason::ContextWindow | FinishReason::ContentFilter);
        ends.report_unknown(self.number, &told);
        let status = if cut { ItemStatus::Incomplete } else { ItemStatus::Completed };
        let spoken_last = self.message.is_some();
        self.close_reasoning(if cut && !spoken_last { status } else { ItemStatus::Completed }, ends);
        let calls = self.calls.close(cut, ends);
        if !self.made_any && calls.made == 0 {
            self.part(PartStart::Text, ends);
        }
        self.close_message(status, ends);
        Ok(match told {
            told if cut && calls.cut => told,
            _ if calls.made > 0 => FinishReason::ToolCalls,
            FinishReason::ToolCalls => FinishReason::Stop,
            told => told,
        })
    }
}

impl Said {
    /// Reports a thing of this choice that has no place, once.
    fn report(&mut self, ends: &mut Ends<'_>, what: &str, why: &str) {
        if !self.reported {
            self.reported = true;
            let path = format!("choices[{}].{what}", self.number);
            ends.out.push(Event::Loss(Loss::warn(path, why)));
        }
    }

    fn reason(&mut self, delta: &mut Delta<'_>, ends: &mut Ends<'_>) {
        let text = std::mem::take(&mut delta.reasoning_content).filled();
        let text = text.or(std::mem::take(&mut delta.reasoning).filled());
        let told = text.is_some();
        if let Some(text) = text {
            self.think(PartSpace::Reasoning, text, ends);
        }
        for raw in delta.reasoning_details.take().unwrap_or_default() {
            let readable = self.open_reasoning(ends).details.take(raw);
            // The plain field, where there is one, holds the same text.
            match readable {
                Some(Readable::Text(text)) if !told => self.think(PartSpace::Reasoning, text, ends),
                Some(Readable::Summary(text)) if !told => self.think(PartSpace::Summary, text, ends),
                _ => {}
            }
        }
    }

    fn open_reasoning(&mut self, ends: &mut Ends<'_>) -> &mut OpenReasoning {
        self.made_any = true;
        let number = self.number;
        self.reasoning.get_or_insert_with(|| {
            let index = ends.add(number, ItemBody::Reasoning(Reasoning::default()));
            OpenReasoning { index, open: None, texts: 0, summaries: 0, details: Details::default() }
        })
    }

    fn think(&mut self, space: PartSpace, delta: String, ends: &mut Ends<'_>) {
        if self.message.is_some() {
            self.close_message(ItemStatus::Completed, ends);
            self.close_reasoning(ItemStatus::Completed, ends);
        }
        let reasoning = self.open_reasoning(ends);
        let index = reasoning.index;
        let part = match reasoning.open {
            Some((open, part)) if open == space => part,
            open => {
                if let Some((space, part)) = open {
                    ends.out.push(Event::PartDone { index, part, space });
                }
                let (count, start) = match space {
                    PartSpace::Summary => (&mut reasoning.summaries, PartStart::Summary),
                    _ => (&mut reasoning.texts, PartStart::Reasoning),
                };
                let part = *count;
                *count = part.saturating_add(1);
                reasoning.open = Some((space, part));
                ends.out.push(Event::PartAdded { index, part, start });
                part
            }
        };
        ends.out.push(Event::PartDelta { index, part, space, delta });
    }

    fn speak(&mut self, delta: &mut Delta<'_>, tokens: Vec<Logprob>, ends: &mut Ends<'_>) {
        match delta.content.take() {
            Some(Content::Text(text)) => self.say(text, tokens, ends),
            Some(Content::Chunks(chunks)) => {
                for chunk in chunks {
                    self.chunk(chunk, ends);
                }
            }
            None => self.say(String::new(), tokens, ends),
        }
        if let Some(refusal) = std::mem::take(&mut delta.refusal).filled() {
            self.refuse(refusal, ends);
        }
        if let Some(audio) = delta.audio.take() {
            self.sound(audio, ends);
        }
    }

    fn say(&mut self, delta: String, logprobs: Vec<Logprob>, ends: &mut Ends<'_>) {
        // The first chunk carries an empty text, which opens nothing; tokens without text do.
        if !delta.is_empty() || !logprobs.is_empty() {
            let (index, part) = self.part(PartStart::Text, ends);
            ends.out.push(Event::TextDelta { index, part, delta, logprobs });
        }
    }

    fn refuse(&mut self, delta: String, ends: &mut Ends<'_>) {
        let (index, part) = self.part(PartStart::Refusal, ends);
        ends.out.push(Event::PartDelta { index, part, space: PartSpace::Content, delta });
    }

    fn sound(&mut self, audio: AudioDelta, ends: &mut Ends<'_>) {
        let (index, part) = self.part(PartStart::Audio, ends);
        ends.out.push(Event::AudioDelta {
            index,
            part,
            id: audio.id.filled().map(Into::into),
            data: audio.data.0.unwrap_or_default(),
            transcript: audio.transcript.0.unwrap_or_default(),
            expires_at: audio.expires_at.0,
        });
    }

    /// Mistral's chunks.
    fn chunk(&mut self, chunk: ContentChunk, ends: &mut Ends<'_>) {
        match chunk.kind.0.as_deref() {
            Some("text" | "output_text") => self.say(chunk.text.0.unwrap_or_default(), Vec::new(), ends),
            Some("refusal") => {
                if let Some(refusal) = chunk.refusal.filled() {
                    self.refuse(refusal, ends);
                }
            }
            Some("thinking") => {
                let texts = match chunk.thinking {
                    Some(Content::Text(text)) => vec![text],
                    Some(Content::Chunks(list)) => {
                        list.into_iter().filter_map(|chunk| chunk.text.0).collect()
                    }
                    None => Vec::new(),
                };
                for text in texts.into_iter().filter(|text| !text.is_empty()) {
                    self.think(PartSpace::Reasoning, text, ends);
                }
            }
            _ => self.report(ends, "content", "a content chunk of an unknown type is left out"),
        }
    }

    fn annotate(&mut self, raw: &serde_json::value::RawValue, ends: &mut Ends<'_>) {
        let annotations = pieces::annotations(raw);
        if annotations.is_empty() {
            return;
        }
        match &self.message {
            Some(OpenMessage { index, open: Some(PartStart::Text), parts }) => {
                let (index, part) = (*index, parts.saturating_sub(1));
                let events = annotations.into_iter();
                ends.out.extend(events.map(|annotation| Event::AnnotationAdded { index, part, annotation }));
            }
            _ => self.report(ends, "annotations", "annotations that belong to no text are left out"),
        }
    }

    /// The open part of that sort, opened where there is none.
    fn part(&mut self, start: PartStart, ends: &mut Ends<'_>) -> (u32, u32) {
        self.yield_reasoning(ends);
        self.made_any = true;
        let number = self.number;
        let message = self.message.get_or_insert_with(|| {
            let head = Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
            let index = ends.add(number, ItemBody::Message(head));
            OpenMessage { index, open: None, parts: 0 }
        });
        if message.open != Some(start) {
            message.end_part(ends);
            message.open = Some(start);
            ends.out.push(Event::PartAdded { index: message.index, part: message.parts, start });
            message.parts = message.parts.saturating_add(1);
        }
        (message.index, message.parts.saturating_sub(1))
    }

    fn close_message(&mut self, status: ItemStatus, ends: &mut Ends<'_>) {
        if let Some(mut message) = self.message.take() {
            message.end_part(ends);
            ends.done(message.index, status, Vec::new());
        }
    }

    /// Something else begins. Reasoning whose entries may still be followed by a signature stays open.
    fn yield_reasoning(&mut self, ends: &mut Ends<'_>) {
        let waits = self.reasoning.as_ref().is_some_and(|reasoning| !reasoning.details.is_empty());
        if waits {
            if let Some(reasoning) = &mut self.reasoning {
                reasoning.end_part(ends);
            }
        } else {
            self.close_reasoning(ItemStatus::Completed, ends);
        }
    }

    fn close_reasoning(&mut self, status: ItemStatus, ends: &mut Ends<'_>) {
        if let Some(mut reasoning) = self.reasoning.take() {
            reasoning.end_part(ends);
            ends.done(reasoning.index, status, reasoning.details.carriers());
        }
    }
}

impl OpenReasoning {
    fn end_part(&mut self, ends: &mut Ends<'_>) {
        if let Some((space, part)) = self.open.take() {
            ends.out.push(Event::PartDone { index: self.index, part, space });
        }
    }
}

impl OpenMessage {
    fn end_part(&mut self, ends: &mut Ends<'_>) {
        if self.open.take().is_some() {
            let part = self.parts.saturating_sub(1);
            ends.out.push(Event::PartDone { index: self.index, part, space: PartSpace::Content });
        }
    }
}
