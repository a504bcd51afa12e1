//! Every stored type by its tags. A tag, once used, keeps its meaning for ever.

use trilith_core::{
    Annotation, AnnotationKind, Audio, Begin, CacheMark, CacheWrite, Call, CallKind, CallResult, Caller,
    Carrier, CarrierKind, Compaction, CustomFormat, DialectId, Effort, Error, ErrorKind, ErrorOrigin, Extra,
    ExtraField, File, FinishReason, GrammarSyntax, HostedTool, Image, Instructions, Item, ItemBody,
    ItemStatus, Json, Limits, Logprob, MediaSource, Message, Opaque, Origin, OutputFormat, OutputSettings,
    Part, PartKind, Phase, Pin, PinRule, Reasoning, ReasoningSettings, ResponseState, ResultOutput,
    ResultStatus, Role, Sampling, Settings, Status, Text, TextFormat, Tool, ToolChoice, ToolChoiceMode,
    ToolKind, ToolRef, ToolsChange, TopLogprob, Truncation, UpstreamFault, Usage, Verbosity,
};

use super::wire::{Code, Corrupt, Input, Listed, choice, record};

// Items.
record!(Item { 1 id, 2 status, 3 body, 4 origin, 5 extra, 6 pin });
record!(Pin { 1 rule, 2 name });
choice!(PinRule { 1 Key {}, 2 Model {}, 3 Tool {} });
choice!(ItemStatus { 1 InProgress {}, 2 Completed {}, 3 Incomplete {}, 4 Failed {} });
choice!(ItemBody {
    1 Message { 1 0 a }, 2 Reasoning { 1 0 a }, 3 Call { 1 0 a }, 4 Result { 1 0 a },
    5 Compaction { 1 0 a }, 6 CompactionTrigger {}, 7 ConfigurationUpdate { 1 0 a },
    8 ToolsChange { 1 0 a }, 9 Reference { 1 0 a }, 10 Opaque { 1 0 a },
});
record!(Message { 1 role, 2 parts, 3 phase, 4 name });
choice!(Role { 1 System {}, 2 Developer {}, 3 User {}, 4 Assistant {} });
choice!(Phase { 1 Commentary {}, 2 FinalAnswer {} });
record!(Call { 1 kind, 2 call_id, 3 name, 4 namespace, 5 args, 6 caller, 7 detail });
record!(CallResult { 1 kind, 2 call_id, 3 name, 4 namespace, 5 status, 6 output, 7 caller, 8 detail });
choice!(Caller { 1 Direct {}, 2 Program { 1 0 a } });
choice!(ResultStatus { 1 Ok {}, 2 Error {} });
choice!(ResultOutput { 1 Text { 1 0 a }, 2 Parts { 1 0 a } });
record!(Compaction { 1 encrypted, 2 origin });
record!(ToolsChange { 1 add, 2 remove });
record!(Opaque { 1 dialect, 2 kind, 3 json });
choice!(CallKind {
    1 Function {}, 2 Custom {}, 3 Mcp {}, 4 McpListTools {}, 5 McpApproval {}, 6 WebSearch {},
    7 FileSearch {}, 8 CodeInterpreter {}, 9 ImageGeneration {}, 10 Computer {}, 11 LocalShell {},
    12 Shell {}, 13 ApplyPatch {}, 14 ToolSearch {}, 15 Program {},
});

// Reasoning and origins.
record!(Reasoning { 1 summary, 2 text, 3 carriers });
record!(Carrier { 1 kind, 2 data, 3 origin });
record!(Origin { 1 dialect, 2 upstream, 3 model, 4 account });
choice!(CarrierKind { 1 Encrypted {}, 2 Signature {}, 3 Redacted {}, 4 ThoughtSignature {}, 5 Details {} });
choice!(DialectId {
    1 Completions {}, 2 Chat {}, 3 Responses {}, 4 Messages {}, 5 Gemini {}, 6 Interactions {}, 7 Converse {},
});
record!(ExtraField { 1 dialect, 2 name, 3 value });

// Parts.
record!(Part { 1 kind, 2 cache_mark, 3 extra });
choice!(PartKind {
    1 Text { 1 0 a }, 2 Refusal { 1 0 a }, 3 Image { 1 0 a }, 4 Audio { 1 0 a }, 5 Video { 1 0 a },
    6 File { 1 0 a }, 7 SearchResult { 1 0 a }, 8 Json { 1 0 a }, 9 Opaque { 1 dialect a, 2 json b },
});
choice!(CacheMark { 1 M5 {}, 2 M30 {}, 3 H1 {}, 4 H12 {} });
record!(Text { 1 text, 2 annotations, 3 logprobs });
record!(Annotation { 1 kind, 2 start, 3 end, 4 index, 5 extra });
choice!(AnnotationKind {
    1 Url { 1 url a, 2 title b }, 2 File { 1 file_id a, 2 filename b },
    3 ContainerFile { 1 container_id a, 2 file_id b, 3 filename c }, 4 FilePath { 1 file_id a },
    5 Opaque { 1 dialect a, 2 json b },
});
record!(TopLogprob { 1 token, 2 logprob, 3 bytes });
record!(Logprob { 1 chosen, 2 top });
choice!(MediaSource { 1 Data { 1 mime a, 2 base64 b }, 2 Url { 1 0 a }, 3 FileId { 1 0 a } });
record!(Image { 1 source, 2 detail });
record!(Audio { 1 base64, 2 format, 3 id, 4 transcript, 5 expires_at });
record!(File { 1 source, 2 filename, 3 detail });

// Tools.
record!(Tool { 1 kind, 2 defer_loading, 3 cache_mark, 4 extra });
choice!(ToolKind {
    1 Function { 1 name a, 2 description b, 3 parameters c, 4 strict d },
    2 Custom { 1 name a, 2 description b, 3 format c },
    3 Namespace { 1 name a, 2 description b, 3 tools c },
    4 Hosted { 1 tool a, 2 config b },
});
choice!(CustomFormat { 1 Text {}, 2 Grammar { 1 syntax a, 2 definition b } });
choice!(GrammarSyntax { 1 Lark {}, 2 Regex {} });
choice!(HostedTool {
    1 WebSearch {}, 2 WebSearchPreview {}, 3 FileSearch {}, 4 CodeInterpreter {}, 5 Computer {},
    6 ComputerUsePreview {}, 7 Mcp {}, 8 ImageGeneration {}, 9 LocalShell {}, 10 Shell {}, 11 ApplyPatch {},
    12 ToolSearch {}, 13 ProgrammaticToolCalling {},
});
choice!(ToolChoiceMode { 1 Auto {}, 2 Required {} });
choice!(ToolRef {
    1 Function { 1 0 a }, 2 Custom { 1 0 a }, 3 Hosted { 1 0 a, 2 1 b }, 4 Mcp { 1 server_label a, 2 name b },
});
choice!(ToolChoice {
    1 None {}, 2 Auto {}, 3 Required {}, 4 Tool { 1 0 a }, 5 Allowed { 1 mode a, 2 tools b },
});

// Settings.
record!(Settings {
    1 model, 2 instructions, 3 tools, 4 tool_choice, 5 parallel_tool_calls, 6 max_tool_calls, 7 sampling,
    8 limits, 9 reasoning, 10 output, 11 truncation, 12 include, 13 metadata, 14 safety_identifier, 15 user,
    16 prompt_cache_key, 17 service_tier, 18 extra,
});
choice!(Instructions { 1 Text { 1 0 a }, 2 Items { 1 0 a } });
record!(Sampling {
    1 temperature, 2 top_p, 3 top_k, 4 min_p, 5 presence_penalty, 6 frequency_penalty, 7 seed, 8 logit_bias,
    9 stop, 10 n, 11 logprobs, 12 top_logprobs,
});
record!(Limits { 1 max_output_tokens });
record!(ReasoningSettings { 1 effort, 2 budget_tokens, 3 summary, 4 context, 5 mode });
choice!(Effort {
    1 None {}, 2 Minimal {}, 3 Low {}, 4 Medium {}, 5 High {}, 6 Xhigh {}, 7 Max {},
});
record!(OutputSettings { 1 format, 2 verbosity });
choice!(TextFormat { 1 Text {}, 2 JsonObject {}, 3 JsonSchema { 1 0 a } });
record!(OutputFormat { 1 name, 2 description, 3 schema, 4 strict });
choice!(Verbosity { 1 Low {}, 2 Medium {}, 3 High {} });
choice!(Truncation { 1 Auto {}, 2 Disabled {} });

// Responses.
choice!(Status { 1 Queued {}, 2 InProgress {}, 3 Completed {}, 4 Incomplete {}, 5 Failed {}, 6 Cancelled {} });
record!(Begin { 1 upstream_id, 2 model, 3 created_at, 4 service_tier, 5 system_fingerprint, 6 extra });
choice!(FinishReason {
    1 Stop {}, 2 StopString { 1 0 a }, 3 ToolCalls {}, 4 Length {}, 5 ContextWindow {}, 6 ContentFilter {},
    7 Refusal {}, 8 Paused {}, 9 MalformedCall {}, 10 Other { 1 0 a },
});
record!(CacheWrite { 1 m5, 2 m30, 3 h1, 4 h12 });
record!(Usage {
    1 input_total, 2 cache_read, 3 cache_write, 4 output_total, 5 reasoning, 6 input_audio, 7 output_audio,
    8 accepted_prediction, 9 rejected_prediction, 10 estimated,
});
choice!(ErrorOrigin { 1 Caller {}, 2 Upstream {}, 3 Trilith {} });
choice!(ErrorKind {
    1 BadRequest {}, 2 Unauthorized {}, 3 QuotaExhausted {}, 4 Forbidden {}, 5 NotFound {},
    6 MethodNotAllowed {}, 7 Conflict {}, 8 TooLarge {}, 9 UnsupportedMediaType {}, 10 ContextTooLong {},
    11 RateLimited {}, 12 Overloaded {}, 13 Timeout {}, 14 UpstreamBroken {}, 15 Internal {},
    16 UpgradeRequired {},
});
record!(UpstreamFault { 1 status, 2 code, 3 kind });

impl Code for Extra {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().cloned().collect::<Vec<ExtraField>>().put(out);
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        Ok(Vec::<ExtraField>::get(input)?.into_iter().collect())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
    fn absent() -> Option<Self> {
        Some(Self::EMPTY)
    }
}

impl Code for Json {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_str().as_bytes());
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        input.text().map(Self::from_checked)
    }
}

/// An error as far as a caller may read it again; causes and retries are of the moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredError {
    kind: ErrorKind,
    origin: ErrorOrigin,
    public: String,
    param: Option<Box<str>>,
    code: Option<String>,
    upstream: Option<Box<UpstreamFault>>,
}

record!(StoredError { 1 kind, 2 origin, 3 public, 4 param, 5 code, 6 upstream });

impl From<&Error> for StoredError {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind,
            origin: error.origin,
            public: error.public.clone().into_owned(),
            param: error.param.clone(),
            code: error.code.clone().map(Into::into),
            upstream: error.upstream.clone(),
        }
    }
}

impl From<StoredError> for Error {
    fn from(stored: StoredError) -> Self {
        let mut error = Self::new(stored.kind, stored.origin, stored.public);
        error.param = stored.param;
        error.code = stored.code.map(Into::into);
        error.upstream = stored.upstream;
        error
    }
}

/// What a response's row holds besides its columns and items.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredResponse {
    pub(crate) upstream: Begin,
    pub(crate) finishes: Vec<Listed<FinishReason>>,
    /// Which answer each output item belongs to.
    pub(crate) choices: Vec<u16>,
    pub(crate) usage: Option<Usage>,
    pub(crate) incomplete: Option<FinishReason>,
    pub(crate) error: Option<StoredError>,
    pub(crate) conversation: Option<Box<str>>,
    pub(crate) background: bool,
}

record!(StoredResponse {
    1 upstream, 2 finishes, 3 choices, 4 usage, 5 incomplete, 6 error, 7 conversation, 8 background,
});

impl StoredResponse {
    pub(crate) fn of(response: &ResponseState) -> Self {
        Self {
            upstream: response.upstream.clone(),
            finishes: response.finishes.iter().cloned().map(Listed).collect(),
            choices: response.output.iter().map(|output| output.choice).collect(),
            usage: response.usage.clone(),
            incomplete: response.incomplete.clone(),
            error: response.error.as_ref().map(Into::into),
            conversation: response.conversation.clone(),
            background: response.background,
        }
    }
}
