//! Items: the units a conversation is made of (translation contract §1).

use std::sync::Arc;

use crate::{DialectId, Extra, Json, Origin, Part, Pin, Reasoning, Tool};

/// One unit of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The item's own id (`msg_…`, `fc_…`); ids that Trilith never issued are accepted.
    pub id: Option<Box<str>>,
    /// How far it got; `None` where the dialect has no such thing.
    pub status: Option<ItemStatus>,
    /// What it is.
    pub body: ItemBody,
    /// Which model made it; `None` for what a client wrote.
    pub origin: Option<Arc<Origin>>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
    /// The rule by which it may go to local targets only. Travels with the stored item; no wire carries it.
    pub pin: Option<Arc<Pin>>,
}

impl Item {
    /// An item without id, status, origin or pin.
    pub const fn new(body: ItemBody) -> Self {
        Self { id: None, status: None, body, origin: None, extra: Extra::EMPTY, pin: None }
    }

    /// A message of plain text.
    pub fn message(role: Role, text: impl Into<String>) -> Self {
        Self::new(ItemBody::Message(Message { role, parts: vec![Part::text(text)], phase: None, name: None }))
    }
}

/// How far an item got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemStatus {
    /// Being made.
    InProgress,
    /// Whole.
    Completed,
    /// Cut short.
    Incomplete,
    /// Ended in an error (hosted tools).
    Failed,
}

/// What an item is. Matches on it are exhaustive: a new kind makes every dialect say how it carries it.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemBody {
    /// Something said.
    Message(Message),
    /// Something thought.
    Reasoning(Reasoning),
    /// A tool called by the model.
    Call(Call),
    /// What a tool answered.
    Result(CallResult),
    /// A stand-in for compacted history.
    Compaction(Compaction),
    /// The caller asks to compact here; only ever the last input item.
    CompactionTrigger,
    /// The caller changes settings for later responses (a JSON object of the Responses dialect's fields).
    ConfigurationUpdate(Json),
    /// Tools that come or go in mid-conversation.
    ToolsChange(ToolsChange),
    /// Another item, named by its id.
    Reference(Box<str>),
    /// An item that only its own dialect understands.
    Opaque(Opaque),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The platform.
    System,
    /// The application's author.
    Developer,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name used in reports and stored rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// Whether an assistant message is a remark on the way or the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A remark on the way.
    Commentary,
    /// The answer.
    FinalAnswer,
}

/// Something said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// In which pieces.
    pub parts: Vec<Part>,
    /// Remark or answer, where the model says so.
    pub phase: Option<Phase>,
    /// The speaker's name (Chat only).
    pub name: Option<Box<str>>,
}

/// The closed set of tools a model can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// A function with JSON arguments, run by the client.
    Function,
    /// A tool with free-form input, run by the client.
    Custom,
    /// A tool of a remote MCP server.
    Mcp,
    /// The tool list of a remote MCP server.
    McpListTools,
    /// A question whether an MCP tool may run; its result is the answer.
    McpApproval,
    /// Search on the web.
    WebSearch,
    /// Search in vector stores.
    FileSearch,
    /// Python in a container.
    CodeInterpreter,
    /// An image made by a model.
    ImageGeneration,
    /// Actions on a screen.
    Computer,
    /// One command in the client's shell.
    LocalShell,
    /// Commands in a shell, the client's or a container's.
    Shell,
    /// A change to files, applied by the client.
    ApplyPatch,
    /// Search among deferred tools.
    ToolSearch,
    /// A program that calls tools.
    Program,
}

impl CallKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Function,
        Self::Custom,
        Self::Mcp,
        Self::McpListTools,
        Self::McpApproval,
        Self::WebSearch,
        Self::FileSearch,
        Self::CodeInterpreter,
        Self::ImageGeneration,
        Self::Computer,
        Self::LocalShell,
        Self::Shell,
        Self::ApplyPatch,
        Self::ToolSearch,
        Self::Program,
    ];

    /// The name used in reports and stored rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Custom => "custom",
            Self::Mcp => "mcp",
            Self::McpListTools => "mcp_list_tools",
            Self::McpApproval => "mcp_approval",
            Self::WebSearch => "web_search",
            Self::FileSearch => "file_search",
            Self::CodeInterpreter => "code_interpreter",
            Self::ImageGeneration => "image_generation",
            Self::Computer => "computer",
            Self::LocalShell => "local_shell",
            Self::Shell => "shell",
            Self::ApplyPatch => "apply_patch",
            Self::ToolSearch => "tool_search",
            Self::Program => "program",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Who asked for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The model itself.
    Direct,
    /// A program of the model, by the program item's id.
    Program(Box<str>),
}

/// A tool called by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which kind of tool.
    pub kind: CallKind,
    /// The id that its result repeats; `None` only for kinds that have none on their wire.
    pub call_id: Option<Box<str>>,
    /// The tool's name, without its namespace; empty for kinds that have one fixed name.
    pub name: Box<str>,
    /// The namespace the tool lives in.
    pub namespace: Option<Box<str>>,
    /// The model's exact argument text (JSON for functions, free text for custom tools). Never re-spelled.
    pub args: String,
    /// Who asked.
    pub caller: Option<Caller>,
    /// For kinds other than function and custom: the kind's own fields as one JSON object in the spelling
    /// of the Responses dialect, which is the only one that has all of them.
    pub detail: Option<Json>,
}

/// Whether a tool succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultStatus {
    /// It did.
    Ok,
    /// It did not; the output says why.
    Error,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultOutput {
    /// As one string, exactly as given.
    Text(String),
    /// As parts.
    Parts(Vec<Part>),
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Which kind of tool answered.
    pub kind: CallKind,
    /// The call's id; `None` only for kinds that have none on their wire.
    pub call_id: Option<Box<str>>,
    /// The tool's name, where the dialect repeats it.
    pub name: Option<Box<str>>,
    /// The tool's namespace, where the dialect repeats it.
    pub namespace: Option<Box<str>>,
    /// Success or failure; `None` where the dialect does not say.
    pub status: Option<ResultStatus>,
    /// The answer.
    pub output: ResultOutput,
    /// Who asked.
    pub caller: Option<Caller>,
    /// For kinds other than function and custom: the kind's own fields, as in [`Call::detail`].
    pub detail: Option<Json>,
}

/// A stand-in for compacted history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The opaque payload, byte for byte.
    pub encrypted: Box<str>,
    /// Where it was made, when known.
    pub origin: Option<Arc<Origin>>,
}

/// Tools that come or go in mid-conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsChange {
    /// Tools that are callable from here on.
    pub add: Vec<Tool>,
    /// Names of tools that are not callable any more.
    pub remove: Vec<Box<str>>,
}

/// An item that only its own dialect understands.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// That dialect.
    pub dialect: DialectId,
    /// The item's type word on that wire.
    pub kind: Box<str>,
    /// The item as it came.
    pub json: Json,
}
