//! The configuration as plain values, checked and complete.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use trilith_dialect::Change;

use super::secret::Secret;

/// Everything the file and the flags say.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) limits: Limits,
    /// Upstreams; names are unique.
    pub(crate) providers: Vec<Provider>,
    /// Models in the order of the file; the embedded model's own entry comes last when no entry has its name.
    pub(crate) models: Vec<Model>,
    /// What models can be asked for, by name or pattern, in the order of the file.
    pub(crate) capabilities: Vec<(String, Change)>,
    /// Tools whose results may be local only, in the order of the file.
    pub(crate) tools: Vec<ToolRow>,
    /// Callers' keys; names and digests are unique.
    pub(crate) keys: Vec<ApiKey>,
    pub(crate) local: Option<Local>,
    pub(crate) seal: Seal,
    /// What may be fetched for callers; `None`: nothing.
    pub(crate) fetch: Option<Fetch>,
}

impl Config {
    /// Whether the API listens where only this machine reaches it.
    pub(crate) fn loopback_only(&self) -> bool {
        self.server.listen.ip().is_loopback()
    }
}

/// `[server]`.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    /// `None`: no admin listener.
    pub(crate) admin_listen: Option<SocketAddr>,
    pub(crate) max_body_bytes: usize,
    /// Nesting of a request body.
    pub(crate) max_depth: usize,
    /// Client connections at a time.
    pub(crate) max_concurrent: usize,
    /// `None`: one for each core.
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) header_timeout: Duration,
    pub(crate) drain_timeout: Duration,
}

/// `[store]`.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) url: StoreUrl,
    pub(crate) sync: Sync,
    /// Time that a response is kept.
    pub(crate) retention: Duration,
}

/// Where responses are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// A SQLite file, relative to the working directory.
    Sqlite(PathBuf),
    /// Memory of the process.
    Memory,
}

/// What a committed response survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// A power failure.
    Full,
    /// A crash of the process.
    Normal,
}

/// `[log]`.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub(crate) level: String,
}

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// `[limits]`, without the timeouts and retries, which are in every provider.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// What providers have that say nothing else.
    pub(crate) timeouts: Timeouts,
    /// As above.
    pub(crate) retries: u32,
    /// Requests in work at a time; `None`: no limit.
    pub(crate) max_requests: Option<usize>,
    /// Most calls that one request is made into.
    pub(crate) max_choices: u16,
    /// Largest answer of an upstream that is not streamed, after decompression.
    pub(crate) max_answer_bytes: usize,
}

/// How long an upstream may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeouts {
    pub(crate) connect: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) idle: Duration,
}

/// What an upstream speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Chat,
    Responses,
    Messages,
    Completions,
}

impl Dialect {
    /// The word for it in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Completions => "completions",
        }
    }
}

/// `[[providers]]`, with preset and limits applied.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) dialect: Dialect,
    /// Without a slash at its end.
    pub(crate) base_url: String,
    pub(crate) api_key: Option<Secret>,
    /// Further request headers; values may be credentials.
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) organization: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) timeouts: Timeouts,
    /// Further tries of a request here.
    pub(crate) retries: u32,
    /// `http://…`, perhaps with a credential.
    pub(crate) proxy: Option<Secret>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) tls_roots: TlsRoots,
    pub(crate) paths: Paths,
    pub(crate) quirks: Quirks,
}

/// Certificate authorities to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsRoots {
    /// Those built in.
    Webpki,
    /// The machine's.
    System,
}

/// Paths below a provider's base URL; `None`: the dialect's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    pub(crate) chat: Option<String>,
    pub(crate) responses: Option<String>,
    pub(crate) messages: Option<String>,
    pub(crate) completions: Option<String>,
    pub(crate) models: Option<String>,
}

/// Where a place differs from its dialect; `None`: as the dialect has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Field of the token limit.
    pub(crate) max_tokens_field: Option<MaxTokensField>,
    /// Field of reasoning text.
    pub(crate) reasoning_field: Option<ReasoningField>,
    /// Role of instructions.
    pub(crate) system_role: Option<SystemRole>,
    /// Top-level request fields to leave out.
    pub(crate) drop_fields: Vec<String>,
}

/// The field that carries the token limit in `chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaxTokensField {
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// `max_tokens`.
    MaxTokens,
}

/// The field that carries reasoning text in `chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasoningField {
    /// `reasoning`.
    Reasoning,
    /// `reasoning_content`.
    ReasoningContent,
}

/// The role that instructions are sent under in `chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// `[[models]]`.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// A name, or a pattern when it holds `*`.
    pub(crate) name: String,
    /// In the order to try; never empty.
    pub(crate) targets: Vec<Target>,
    pub(crate) strict: bool,
    /// Whether what is said and made under this name may go to local targets only.
    pub(crate) local_only: bool,
}

/// Who answers for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Name of a provider, or [`LOCAL`].
    pub(crate) provider: String,
    /// Name of the model there; `*`: the name that the caller gave.
    pub(crate) model: String,
    /// Whether it may have data that is local only.
    pub(crate) local: bool,
}

/// The name under which targets reach the embedded model.
pub(crate) const LOCAL: &str = "local";

/// `[[tools]]`.
#[derive(Debug, Clone)]
pub(crate) struct ToolRow {
    /// A name, or a pattern when it holds `*`.
    pub(crate) name: String,
    /// Whether what such tools answer may go to local targets only.
    pub(crate) local_only: bool,
}

/// `[[keys]]`. A key given in plain text is kept only as its digest.
#[derive(Debug, Clone)]
pub(crate) struct ApiKey {
    pub(crate) name: String,
    pub(crate) tenant: String,
    /// SHA-256 of the key.
    pub(crate) digest: [u8; 32],
    /// Names and patterns the key may call; `None`: all.
    pub(crate) models: Option<Vec<String>>,
    /// Requests in work at a time; `None`: no limit of its own.
    pub(crate) max_requests: Option<usize>,
    /// Whether what is said and made under the key may go to local targets only.
    pub(crate) local_only: bool,
}

/// `[local]`.
#[cfg_attr(not(feature = "local"), expect(dead_code, reason = "read only by builds with the embedded model"))]
#[derive(Debug, Clone)]
pub(crate) struct Local {
    /// A GGUF file.
    pub(crate) model: PathBuf,
    /// Name that callers use.
    pub(crate) name: String,
    /// Tokens; `None`: the model's own window.
    pub(crate) context: Option<u32>,
    /// `None`: as many as cores.
    pub(crate) threads: Option<u32>,
}

/// `[seal]`.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    /// `None`: beside the store.
    pub(crate) key_file: Option<PathBuf>,
}

/// `[fetch]`.
#[derive(Debug, Clone)]
pub(crate) struct Fetch {
    /// Names and patterns; none: every public host.
    pub(crate) hosts: Vec<String>,
    /// Those that may be in this house.
    pub(crate) private_hosts: Vec<String>,
    pub(crate) ports: Vec<u16>,
    /// Whether `http` is taken too.
    pub(crate) http: bool,
    pub(crate) max_bytes: usize,
    pub(crate) time: Duration,
    pub(crate) at_once: usize,
}
