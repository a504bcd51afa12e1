//! Loading a model and handing it requests.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use crate::engine::{CHUNK_TOKENS, Engine, Job, Reply, Ticket};
use crate::gguf::{self, HeaderError};
use crate::prepare::{self, Preparation};
use crate::stream::{self, Generation};
use crate::template::{CHATML, ChatTemplate};
use crate::vocabulary::Vocabulary;
use crate::{GenerateError, LoadError, Request, cpu, native_log};

/// The context a model gets unless another is asked for, in tokens. The KV cache of the whole context is
/// allocated at once, so the length a model was trained on can be more than the machine has.
const DEFAULT_CONTEXT_TOKENS: u32 = 8192;

/// Architectures that read with one network and write with another, which this engine does not drive.
const ENCODER_DECODERS: [&str; 2] = ["t5", "t5encoder"];

/// How to set up a model.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The context window in tokens, prompt and answer together. At most what the model was trained on is
    /// used; the default is 8,192.
    pub context_tokens: Option<NonZeroU32>,
    /// The threads that compute. The default is half the CPUs the process may use, at least one: the
    /// threads wait for each other busily, so they must not compete with the rest of the server.
    pub threads: Option<NonZeroU32>,
    /// How many requests may wait or be answered at a time; 64 by default. More are refused as busy.
    pub queue: usize,
    /// A Jinja chat template to use in place of the file's own.
    pub chat_template: Option<String>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { context_tokens: None, threads: None, queue: 64, chat_template: None }
    }
}

/// What is known of a loaded model.
#[derive(Debug, Clone)]
pub struct ModelInfo {
    /// The name in the file, or else the file's name without its extension.
    pub name: String,
    /// The file's name without its extension. Names inside files are often those of a training run.
    pub file_stem: String,
    /// The architecture in the file, such as `llama`.
    pub architecture: String,
    /// The context window in use, in tokens.
    pub context_tokens: u32,
    /// The context window the model was trained on, in tokens.
    pub trained_context_tokens: u32,
    /// The number of parameters.
    pub parameters: u64,
    /// The size of the weights, in bytes.
    pub weight_bytes: u64,
    /// The threads that compute.
    pub threads: u32,
    /// Whether the file brings a chat template; otherwise ChatML is used.
    pub has_chat_template: bool,
    /// Whether the chat template has a place for tools; otherwise they are described in the system message.
    pub template_knows_tools: bool,
}

/// A loaded model.
///
/// Dropping it ends the answers being written with [`GenerateError::Stopped`] and waits for the engine's
/// threads, which takes no longer than one chunk of a prompt.
#[derive(Debug)]
pub struct Model {
    info: ModelInfo,
    requests: Option<Sender<(Request, Reply)>>,
    in_flight: Arc<AtomicUsize>,
    queue: usize,
    closing: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Model {
    /// Loads a model from a GGUF file. This blocks for the time it takes to map the file: 0.1 to 0.5 s for
    /// small models.
    ///
    /// # Errors
    /// [`LoadError`]: the CPU cannot run the engine, or the file cannot be read, is no GGUF file, is cut
    /// short, holds no model that writes text, or does not fit into memory.
    pub fn load(path: &Path, options: LoadOptions) -> Result<Self, LoadError> {
        let missing = cpu::missing_features();
        if !missing.is_empty() {
            return Err(LoadError::Cpu { missing });
        }
        let header = read_header(path)?;
        if header.is_encoder || ENCODER_DECODERS.contains(&header.architecture.as_str()) {
            return Err(LoadError::NotGenerative { path: path.into(), architecture: header.architecture });
        }
        let has_chat_template = header.chat_template.is_some() || options.chat_template.is_some();
        let source = options.chat_template.or(header.chat_template).unwrap_or_else(|| CHATML.into());
        let template = ChatTemplate::compile(source).map_err(LoadError::ChatTemplate)?;

        let backend = backend(path)?;
        let model = load_weights(path, backend)?;
        let vocabulary = Vocabulary::new(Arc::clone(&model)).ok_or_else(|| LoadError::NotGguf {
            path: path.into(),
            reason: "it carries no tokenizer".into(),
        })?;
        let trained_context_tokens = model.n_ctx_train();
        let wanted = options.context_tokens.map_or(DEFAULT_CONTEXT_TOKENS, NonZeroU32::get);
        let mut info = ModelInfo {
            name: header.name.unwrap_or_else(|| stem(path)),
            file_stem: stem(path),
            architecture: header.architecture,
            context_tokens: wanted.min(trained_context_tokens.max(1)),
            trained_context_tokens,
            parameters: model.n_params(),
            weight_bytes: model.size(),
            threads: options.threads.map_or_else(default_threads, NonZeroU32::get),
            has_chat_template,
            template_knows_tools: template.knows_tools(),
        };

        let vocabulary = Arc::new(vocabulary);
        let (jobs, queue) = mpsc::channel();
        let setup = Setup { model, backend, vocabulary: Arc::clone(&vocabulary), info: info.clone() };
        let (context_tokens, engine) = start_engine(setup, queue)?;
        info.context_tokens = context_tokens;

        let preparation = Preparation { vocabulary, template, context_tokens };
        let (requests, incoming) = mpsc::channel();
        let preparer = thread::Builder::new()
            .name("trilith-prompts".into())
            .stack_size(prepare::STACK_BYTES)
            .spawn(move || preparation.serve(&incoming, &jobs))
            .map_err(LoadError::Thread)?;
        Ok(Self {
            info,
            requests: Some(requests),
            in_flight: Arc::default(),
            queue: options.queue,
            closing: Arc::default(),
            threads: vec![preparer, engine],
        })
    }

    /// What is known of the model.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// How many requests are waiting or being answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }

    /// Queues a request and returns at once. Faults of the prompt, such as
    /// [`GenerateError::ContextLengthExceeded`], arrive as the only step of the answer, without waiting for
    /// answers that are being written.
    ///
    /// # Errors
    /// [`GenerateError::InvalidParameter`] for a value outside its range, [`GenerateError::Busy`] when the
    /// queue is full, [`GenerateError::Stopped`] when the engine has ended.
    pub fn generate(&self, request: Request) -> Result<Generation, GenerateError> {
        request.validate()?;
        let ticket = Ticket::take(&self.in_flight, self.queue)
            .map_err(|in_flight| GenerateError::Busy { in_flight })?;
        let (sender, generation) = stream::answer();
        let reply = Reply::new(ticket, sender, Arc::clone(&self.closing));
        let requests = self.requests.as_ref().ok_or(GenerateError::Stopped)?;
        requests.send((request, reply)).map_err(|_| GenerateError::Stopped)?;
        Ok(generation)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        drop(self.requests.take());
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the model engine had panicked");
            }
        }
    }
}

fn read_header(path: &Path) -> Result<gguf::Header, LoadError> {
    let file = |source| LoadError::File { path: path.into(), source };
    let input = File::open(path).map_err(file)?;
    let length = input.metadata().map_err(file)?.len();
    gguf::read_header(BufReader::new(input), length).map_err(|error| match error {
        HeaderError::Io(source) => file(source),
        HeaderError::Invalid(reason) => LoadError::NotGguf { path: path.into(), reason },
        HeaderError::Truncated { needed_bytes } => {
            LoadError::Truncated { path: path.into(), needed_bytes, actual_bytes: length }
        }
    })
}

/// The engine's global state, which lives as long as the process.
fn backend(path: &Path) -> Result<&'static LlamaBackend, LoadError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    native_log::route();
    BACKEND
        .get_or_init(|| LlamaBackend::init().map_err(|error| error.to_string()))
        .as_ref()
        .map_err(|reason| LoadError::Native { path: path.into(), reason: reason.clone() })
}

fn load_weights(path: &Path, backend: &LlamaBackend) -> Result<Arc<LlamaModel>, LoadError> {
    let params = LlamaModelParams::default();
    let (model, reason) = native_log::explain(|| LlamaModel::load_from_file(backend, path, &params));
    model.map(Arc::new).map_err(|_| LoadError::Native { path: path.into(), reason })
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned())
}

fn default_threads() -> u32 {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cpus / 2).unwrap_or(1).max(1)
}

/// What the engine's thread takes with it.
struct Setup {
    model: Arc<LlamaModel>,
    backend: &'static LlamaBackend,
    vocabulary: Arc<Vocabulary>,
    info: ModelInfo,
}

/// Starts the engine's thread and waits until its context stands; the length of the context, in tokens.
fn start_engine(setup: Setup, jobs: Receiver<Job>) -> Result<(u32, JoinHandle<()>), LoadError> {
    let (ready, started) = mpsc::channel();
    let wanted = setup.info.context_tokens;
    let thread = thread::Builder::new()
        .name("trilith-model".into())
        .spawn(move || {
            let Setup { model, backend, vocabulary, info } = setup;
            match new_context(&model, backend, &info) {
                Ok(context) => {
                    let context_tokens = context.n_ctx().min(info.context_tokens);
                    let mut engine = Engine::new(context, vocabulary, context_tokens);
                    if ready.send(Ok(context_tokens)).is_ok() {
                        engine.serve(&jobs);
                    }
                }
                // Nobody listens only when loading has been given up.
                Err(error) => drop(ready.send(Err(error))),
            }
        })
        .map_err(LoadError::Thread)?;
    match started.recv() {
        Ok(Ok(context_tokens)) => Ok((context_tokens, thread)),
        Ok(Err(error)) => Err(error),
        Err(_) => {
            Err(LoadError::Context { context_tokens: wanted, reason: "the engine's thread ended".into() })
        }
    }
}

fn new_context<'model>(
    model: &'model LlamaModel,
    backend: &LlamaBackend,
    info: &ModelInfo,
) -> Result<LlamaContext<'model>, LoadError> {
    let threads = i32::try_from(info.threads).unwrap_or(i32::MAX);
    let chunk = u32::try_from(CHUNK_TOKENS).unwrap_or(u32::MAX);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(info.context_tokens))
        .with_n_batch(chunk)
        .with_n_ubatch(chunk)
        .with_n_seq_max(1)
        // A sliding-window cache that drops old tokens could not be cut back to a common prefix.
        .with_swa_full(true)
        .with_no_perf(true)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let (context, reason) = native_log::explain(|| model.new_context(backend, params));
    context.map_err(|_| LoadError::Context { context_tokens: info.context_tokens, reason })
}
