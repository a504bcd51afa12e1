//! Tools that a request offers, and how the model may choose among them.

use crate::{CacheMark, Extra, Json};

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What it is.
    pub kind: ToolKind,
    /// Hidden until a tool search finds it.
    pub defer_loading: Option<bool>,
    /// Whether the caller asked to cache up to here.
    pub cache_mark: Option<CacheMark>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
}

impl Tool {
    /// A tool of that kind, not deferred, without mark or extra fields.
    pub const fn new(kind: ToolKind) -> Self {
        Self { kind, defer_loading: None, cache_mark: None, extra: Extra::EMPTY }
    }
}

/// What a tool is.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolKind {
    /// A function with JSON arguments.
    Function {
        /// Its name.
        name: Box<str>,
        /// What it does, for the model.
        description: Option<String>,
        /// JSON Schema of its arguments, untouched.
        parameters: Option<Json>,
        /// Whether arguments must match the schema; `None` where the caller said nothing.
        strict: Option<bool>,
    },
    /// A tool with free-form input.
    Custom {
        /// Its name.
        name: Box<str>,
        /// What it does, for the model.
        description: Option<String>,
        /// What the input must look like.
        format: Option<CustomFormat>,
    },
    /// A group of functions and custom tools under one name.
    Namespace {
        /// The group's name.
        name: Box<str>,
        /// What the group is for, for the model.
        description: Option<String>,
        /// Its members.
        tools: Vec<Tool>,
    },
    /// A tool with a fixed meaning, run by the server or by a client that knows it.
    Hosted {
        /// Which one.
        tool: HostedTool,
        /// The whole declaration in the spelling of the Responses dialect.
        config: Json,
    },
}

/// What a custom tool's input must look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomFormat {
    /// Anything.
    Text,
    /// What a grammar allows.
    Grammar {
        /// In which notation.
        syntax: GrammarSyntax,
        /// The grammar.
        definition: String,
    },
}

/// The notation of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrammarSyntax {
    /// Lark.
    Lark,
    /// A regular expression.
    Regex,
}

/// The closed set of tools with a fixed meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostedTool {
    /// Search on the web.
    WebSearch,
    /// The preview form of web search.
    WebSearchPreview,
    /// Search in vector stores.
    FileSearch,
    /// Python in a container.
    CodeInterpreter,
    /// Actions on a screen.
    Computer,
    /// The preview form of computer use.
    ComputerUsePreview,
    /// A remote MCP server.
    Mcp,
    /// Images made by a model.
    ImageGeneration,
    /// One command in the client's shell.
    LocalShell,
    /// Commands in a shell.
    Shell,
    /// Changes to files, applied by the client.
    ApplyPatch,
    /// Search among deferred tools.
    ToolSearch,
    /// Programs that call tools.
    ProgrammaticToolCalling,
}

impl HostedTool {
    /// Every hosted tool.
    pub const ALL: [Self; 13] = [
        Self::WebSearch,
        Self::WebSearchPreview,
        Self::FileSearch,
        Self::CodeInterpreter,
        Self::Computer,
        Self::ComputerUsePreview,
        Self::Mcp,
        Self::ImageGeneration,
        Self::LocalShell,
        Self::Shell,
        Self::ApplyPatch,
        Self::ToolSearch,
        Self::ProgrammaticToolCalling,
    ];

    /// The name used in reports and stored rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::WebSearchPreview => "web_search_preview",
            Self::FileSearch => "file_search",
            Self::CodeInterpreter => "code_interpreter",
            Self::Computer => "computer",
            Self::ComputerUsePreview => "computer_use_preview",
            Self::Mcp => "mcp",
            Self::ImageGeneration => "image_generation",
            Self::LocalShell => "local_shell",
            Self::Shell => "shell",
            Self::ApplyPatch => "apply_patch",
            Self::ToolSearch => "tool_search",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
        }
    }

    /// The hosted tool of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Whether the model may or must call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolChoiceMode {
    /// It may.
    Auto,
    /// It must.
    Required,
}

/// A tool named in a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolRef {
    /// A function.
    Function(Box<str>),
    /// A custom tool.
    Custom(Box<str>),
    /// A hosted tool; the whole reference as it came, for its own dialect.
    Hosted(HostedTool, Json),
    /// One tool, or all, of an MCP server.
    Mcp {
        /// The server's label.
        server_label: Box<str>,
        /// One tool of it.
        name: Option<Box<str>>,
    },
}

/// How the model may choose among the tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// No call.
    None,
    /// A call or not.
    Auto,
    /// At least one call.
    Required,
    /// A call of this tool.
    Tool(ToolRef),
    /// Only these tools.
    Allowed {
        /// Whether one must be called.
        mode: ToolChoiceMode,
        /// The tools.
        tools: Vec<ToolRef>,
    },
}
