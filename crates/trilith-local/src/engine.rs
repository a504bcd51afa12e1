//! The thread that owns the native context and writes one answer at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;

use crate::GenerateError;
use crate::prepare::Prepared;
use crate::request::Sampling;
use crate::stream::{FinishReason, Step, StepSender};
use crate::vocabulary::Vocabulary;

/// Tokens of a prompt that are computed in one native call. A cancelled request is noticed between calls;
/// larger chunks are hardly faster on a CPU.
pub(crate) const CHUNK_TOKENS: usize = 128;

/// The only sequence of the context.
const SEQUENCE: i32 = 0;

/// One answer to write.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) prepared: Prepared,
    pub(crate) reply: Reply,
}

/// A place in the queue; dropping it makes room.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<AtomicUsize>);

impl Ticket {
    /// Takes a place if fewer than `limit` are taken; otherwise the number of taken ones.
    pub(crate) fn take(taken: &Arc<AtomicUsize>, limit: usize) -> Result<Self, usize> {
        taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count < limit).then_some(count + 1))
            .map(|_| Self(Arc::clone(taken)))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Where an answer goes, with the place in the queue it occupies.
#[derive(Debug)]
pub(crate) struct Reply {
    // Fields drop in this order: whoever has read the last step finds the place free.
    ticket: Ticket,
    sender: StepSender,
    closing: Arc<AtomicBool>,
}

impl Reply {
    /// A reply that ends early once `closing` is set.
    pub(crate) fn new(ticket: Ticket, sender: StepSender, closing: Arc<AtomicBool>) -> Self {
        Self { ticket, sender, closing }
    }

    /// Whether nobody waits for the answer any more, or the model is being dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.closing.load(Ordering::Acquire) || self.sender.is_abandoned()
    }

    /// Sends the last step.
    pub(crate) fn end(self, step: Step) {
        let Self { ticket, sender, closing: _ } = self;
        drop(ticket);
        sender.send(step);
    }

    fn send_all(&self, steps: &mut Vec<Step>) {
        for step in steps.drain(..) {
            self.sender.send(step);
        }
    }
}

/// The native context, and which tokens its KV cache holds.
pub(crate) struct Engine<'model> {
    context: LlamaContext<'model>,
    vocabulary: Arc<Vocabulary>,
    batch: LlamaBatch<'static>,
    held: Vec<LlamaToken>,
    context_tokens: usize,
}

/// How the writing of an answer came to its end.
enum End {
    Finished(FinishReason),
    /// Nobody waits for it.
    Over,
}

impl<'model> Engine<'model> {
    pub(crate) fn new(
        context: LlamaContext<'model>,
        vocabulary: Arc<Vocabulary>,
        context_tokens: u32,
    ) -> Self {
        Self {
            context,
            vocabulary,
            batch: LlamaBatch::new(CHUNK_TOKENS, 1),
            held: Vec::new(),
            context_tokens: context_tokens as usize,
        }
    }

    /// Writes answers until the other end of the queue is gone.
    pub(crate) fn serve(&mut self, jobs: &Receiver<Job>) {
        for Job { prepared, reply } in jobs {
            if reply.is_over() {
                continue;
            }
            match self.answer(prepared, &reply) {
                Ok(Some(done)) => reply.end(done),
                Ok(None) => {}
                Err(reason) => {
                    // The state of the cache is unknown after a failure.
                    self.context.clear_kv_cache();
                    self.held.clear();
                    tracing::warn!(reason, "the model engine failed");
                    reply.end(Step::Failed(GenerateError::Engine(reason)));
                }
            }
        }
    }

    /// Writes one answer; the last step, or `None` when nobody waits for it.
    fn answer(&mut self, prepared: Prepared, reply: &Reply) -> Result<Option<Step>, String> {
        let Prepared { tokens, sampling, max_tokens, mut reader } = prepared;
        let cached = self.keep_common(&tokens);
        if !self.read_prompt(&tokens, reply)? {
            return Ok(None);
        }
        let mut sampler = self.sampler(&sampling);
        let mut steps = Vec::new();
        let mut written = 0;
        let end = loop {
            let token = sampler.sample(&self.context, -1);
            if self.vocabulary.ends_answer(token) {
                break End::Finished(FinishReason::Stop);
            }
            written += 1;
            let stop = reader.push(&self.vocabulary.bytes(token), &mut steps);
            reply.send_all(&mut steps);
            if let Some(stop) = stop {
                break End::Finished(FinishReason::StopString(stop));
            }
            if written >= max_tokens {
                break End::Finished(FinishReason::Length);
            }
            if self.held.len() >= self.context_tokens {
                break End::Finished(FinishReason::ContextFull);
            }
            if reply.is_over() {
                break End::Over;
            }
            self.decode(&[token])?;
        };
        let End::Finished(reason) = end else { return Ok(None) };
        reader.finish(&mut steps);
        reply.send_all(&mut steps);
        Ok(Some(Step::Done {
            reason,
            prompt_tokens: u32::try_from(tokens.len()).unwrap_or(u32::MAX),
            cached_tokens: u32::try_from(cached).unwrap_or(u32::MAX),
            output_tokens: written,
        }))
    }

    /// Cuts the cache back to what it has in common with a prompt, and says how many tokens that are.
    /// The last token of a prompt is always computed, since its result chooses the first one written.
    fn keep_common(&mut self, tokens: &[LlamaToken]) -> usize {
        let reusable = tokens.len().saturating_sub(1);
        let common =
            self.held.iter().zip(tokens).take(reusable).take_while(|(held, new)| held == new).count();
        let removed = match u32::try_from(common) {
            Ok(from) => self.context.clear_kv_cache_seq(Some(SEQUENCE.unsigned_abs()), Some(from), None),
            Err(_) => Ok(false),
        };
        // Models with a recurrent state cannot go back to an earlier token.
        if matches!(removed, Ok(true)) {
            self.held.truncate(common);
        } else {
            self.context.clear_kv_cache();
            self.held.clear();
        }
        self.held.len()
    }

    /// Computes what the cache lacks of the prompt; `false` when nobody waits for it.
    fn read_prompt(&mut self, tokens: &[LlamaToken], reply: &Reply) -> Result<bool, String> {
        let missing = tokens.get(self.held.len()..).unwrap_or_default();
        for chunk in missing.chunks(CHUNK_TOKENS) {
            if reply.is_over() {
                return Ok(false);
            }
            self.decode(chunk)?;
        }
        Ok(true)
    }

    /// Appends tokens to the sequence, and computes what follows the last of them.
    fn decode(&mut self, tokens: &[LlamaToken]) -> Result<(), String> {
        self.batch.clear();
        for (index, &token) in tokens.iter().enumerate() {
            let position = i32::try_from(self.held.len() + index).map_err(|error| error.to_string())?;
            let last = index + 1 == tokens.len();
            self.batch.add(token, position, &[SEQUENCE], last).map_err(|error| error.to_string())?;
        }
        self.context.decode(&mut self.batch).map_err(|error| error.to_string())?;
        self.held.extend_from_slice(tokens);
        Ok(())
    }

    fn sampler(&self, sampling: &Sampling) -> LlamaSampler {
        let mut chain = Vec::new();
        if sampling.presence_penalty != 0.0 || sampling.frequency_penalty != 0.0 {
            let window = i32::try_from(self.context_tokens).unwrap_or(i32::MAX);
            chain.push(LlamaSampler::penalties(
                self.vocabulary.size(),
                window,
                1.0,
                sampling.frequency_penalty,
                sampling.presence_penalty,
            ));
        }
        if sampling.temperature == 0.0 {
            chain.push(LlamaSampler::greedy());
            return LlamaSampler::chain(chain, true);
        }
        if sampling.top_k > 0 {
            chain.push(LlamaSampler::top_k(i32::try_from(sampling.top_k).unwrap_or(i32::MAX)));
        }
        if sampling.top_p < 1.0 {
            chain.push(LlamaSampler::top_p(sampling.top_p, 1));
        }
        if sampling.min_p > 0.0 {
            chain.push(LlamaSampler::min_p(sampling.min_p, 1));
        }
        chain.push(LlamaSampler::temp(sampling.temperature));
        chain.push(LlamaSampler::dist(native_seed(sampling.seed)));
        LlamaSampler::chain(chain, true)
    }
}

/// The engine's seeds have 32 bits, and the largest of them asks it for entropy.
fn native_seed(seed: Option<u64>) -> u32 {
    let Some(seed) = seed else { return u32::MAX };
    let folded = (seed ^ (seed >> 32)) & u64::from(u32::MAX);
    u32::try_from(folded).unwrap_or(0).min(u32::MAX - 1)
}
