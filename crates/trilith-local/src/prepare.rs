//! From a request to tokens, on a thread of its own.
//!
//! Tokenizing is the one step before decoding whose cost grows with what a client sends, and the native
//! pre-tokenizers of some vocabularies recurse over it; hence neither the caller's thread nor the engine's,
//! and a stack of its own size.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use llama_cpp_2::token::LlamaToken;

use crate::GenerateError;
use crate::engine::{Job, Reply};
use crate::output::{OutputReader, Splitter};
use crate::request::{Prompt, Request, Sampling};
use crate::stream::{FinishReason, Step};
use crate::template::{ChatTemplate, TokenTexts};
use crate::vocabulary::Vocabulary;

/// The stack of the thread, in bytes; the system only backs what is touched.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Turns requests into jobs of the engine.
#[derive(Debug)]
pub(crate) struct Preparation {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) template: ChatTemplate,
    pub(crate) context_tokens: u32,
}

/// What the engine needs of a request.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// At least one token and fewer than the context has.
    pub(crate) tokens: Vec<LlamaToken>,
    pub(crate) sampling: Sampling,
    pub(crate) max_tokens: u32,
    pub(crate) reader: OutputReader,
}

impl Preparation {
    /// Serves requests until the other end of the queue is gone.
    pub(crate) fn serve(&self, requests: &Receiver<(Request, Reply)>, jobs: &Sender<Job>) {
        let tokens = TokenTexts { begin: self.vocabulary.begin_text(), end: self.vocabulary.end_text() };
        for (request, reply) in requests {
            if reply.is_over() {
                continue;
            }
            match self.prepare(request, &tokens) {
                Ok(prepared) if prepared.max_tokens == 0 => reply.end(Step::Done {
                    reason: FinishReason::Length,
                    prompt_tokens: u32::try_from(prepared.tokens.len()).unwrap_or(u32::MAX),
                    cached_tokens: 0,
                    output_tokens: 0,
                }),
                // A failed send drops the job, and with it the reply, which tells the reader.
                Ok(prepared) => drop(jobs.send(Job { prepared, reply })),
                Err(error) => reply.end(Step::Failed(error)),
            }
        }
    }

    fn prepare(&self, request: Request, tokens: &TokenTexts) -> Result<Prepared, GenerateError> {
        let (text, splitter) = match request.prompt {
            Prompt::Text(text) => (text, None),
            Prompt::Chat(chat) => {
                let text = self.template.render(&chat, tokens, &|text| self.vocabulary.guard(text))?;
                let splitter = Splitter::new(text.trim_end().ends_with("<think>"), !chat.tools.is_empty());
                (text, Some(splitter))
            }
        };
        let tokens = self.tokenize(&text)?;
        Ok(Prepared {
            tokens,
            sampling: request.sampling,
            max_tokens: request.max_tokens.unwrap_or(u32::MAX),
            reader: OutputReader::new(request.stop, splitter),
        })
    }

    fn tokenize(&self, text: &str) -> Result<Vec<LlamaToken>, GenerateError> {
        let too_long = |prompt_tokens: usize| GenerateError::ContextLengthExceeded {
            prompt_tokens: prompt_tokens as u64,
            context_tokens: self.context_tokens,
        };
        let room = self.context_tokens as usize;
        let least = self.vocabulary.least_tokens(text.len());
        if least > room {
            return Err(too_long(least));
        }
        let tokens = self.vocabulary.tokenize(text);
        match tokens.len() {
            0 => Err(GenerateError::EmptyPrompt),
            count if count >= room => Err(too_long(count)),
            _ => Ok(tokens),
        }
    }
}
