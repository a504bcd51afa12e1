//! What a dialect is: one trait for both sides, and the plain values that cross it.

use std::borrow::Cow;

use trilith_core::{
    Abilities, DialectId, Error, Event, Headers, Hold, Loss, Response, Settings, Shows, StreamOptions, Tool,
    ToolKind, Turn, Usage,
};

use crate::{capability::Capabilities, counting::Counting, names::NameMap, scan::Scan};

/// What the choice of road needs to know about a request, without decoding its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peek<'a> {
    /// The model's name.
    pub model: Option<Cow<'a, str>>,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// Whether the request uses server-held state, so that Trilith's state layer has work to do (for
    /// Responses: anything but an explicit `store: false` without a parent or conversation).
    pub stateful: bool,
}

/// What is known about the upstream that a request is encoded for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The upstream's name for the model.
    pub model: &'a str,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// Where this upstream differs from its dialect.
    pub quirks: &'a Quirks,
    /// What the model can be asked for.
    pub can: &'a Capabilities,
}

/// Where an upstream differs from its dialect; rows of data, set per provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// How Chat spells the output limit: `max_completion_tokens` or `max_tokens`.
    pub max_tokens_field: Cow<'static, str>,
    /// How Chat spells reasoning text: `reasoning_content` or `reasoning`.
    pub reasoning_field: Cow<'static, str>,
    /// Whether reasoning of earlier turns is sent back as text (DeepSeek, vLLM); otherwise it is dropped.
    pub replay_reasoning: bool,
    /// The role for instructions: `developer` or `system`.
    pub system_role: Cow<'static, str>,
    /// Whether the upstream knows tools other than functions.
    pub custom_tools: bool,
    /// Whether the upstream sends usage in streams when asked (`stream_options`).
    pub stream_usage: bool,
    /// Top-level fields that this upstream refuses; dropped and reported.
    pub drop_fields: Vec<Box<str>>,
}

impl Default for Quirks {
    /// OpenAI itself.
    fn default() -> Self {
        Self {
            max_tokens_field: Cow::Borrowed("max_completion_tokens"),
            reasoning_field: Cow::Borrowed("reasoning_content"),
            replay_reasoning: false,
            system_role: Cow::Borrowed("developer"),
            custom_tools: true,
            stream_usage: true,
            drop_fields: Vec::new(),
        }
    }
}

impl Quirks {
    /// Whether the upstream takes a top-level field of that name.
    pub fn takes(&self, field: &str) -> bool {
        !self.drop_fields.iter().any(|dropped| &**dropped == field)
    }
}

/// A request in an upstream's bytes.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The JSON body.
    pub body: Vec<u8>,
    /// What the dialect could not carry.
    pub losses: Vec<Loss>,
    /// How tool names were changed for the wire; the reader of the answer changes them back.
    pub names: NameMap,
}

/// What a tee learned from an answer that passes untouched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sniffed {
    /// The last usage seen.
    pub usage: Option<Usage>,
    /// Whether the answer said that it ended.
    pub ended: bool,
    /// Whether the answer carried an error.
    pub failed: bool,
}

/// Reads an upstream's stream.
pub trait Reader: Send {
    /// Takes bytes as they come, cut anywhere, and appends the events they complete.
    ///
    /// # Errors
    /// The upstream sent something that is not its dialect, or an error of its own.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error>;

    /// The upstream closed the stream.
    ///
    /// # Errors
    /// The answer is not whole.
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error>;
}

/// Writes a client's stream.
pub trait Writer: Send {
    /// Appends what the client is to read for `event`. `response` is the state after the event was applied.
    /// Whole frames only, so that a caller may flush after every call.
    fn write(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>);
}

/// A wire language, both sides of it.
pub trait Dialect: Send + Sync {
    /// Which one.
    fn id(&self) -> DialectId;

    /// The path below a provider's base address that takes a request.
    fn path(&self) -> &'static str;

    /// How this wire counts the tokens of a request's input; `None` where it has no such question.
    fn counting(&self) -> Option<&'static dyn Counting> {
        None
    }

    /// Client headers (lower case) that mean something to an upstream of this dialect and are no credential
    /// and no selector of an account.
    fn forwarded_headers(&self) -> &'static [&'static str];

    /// Headers that every request to an upstream of this dialect carries, unless the client's own or the
    /// provider's configured one of that name stands in its place.
    fn standing_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What keeps a silent stream alive, as whole frames; empty where the wire has no such thing.
    fn ping(&self) -> &'static [u8] {
        b""
    }

    /// The header that carries a provider's key.
    fn credential(&self, key: &str) -> (&'static str, String);

    /// Reads what the choice of road needs.
    ///
    /// # Errors
    /// One of these fields has the wrong type.
    fn peek<'a>(&self, scan: &Scan<'a>) -> Result<Peek<'a>, Error>;

    /// A client's request in items.
    ///
    /// # Errors
    /// The request is wrong; the error names the field.
    fn decode_request(&self, body: &[u8]) -> Result<Turn, Error>;

    /// A client's request in items, where headers (those of [`Dialect::forwarded_headers`] that came with it)
    /// decide what its body may say.
    ///
    /// # Errors
    /// The request or one of these headers is wrong; the error names it.
    fn decode_request_with(&self, headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
        let _ = headers;
        self.decode_request(body)
    }

    /// What a target of this dialect does by itself for a model that can be asked for `can`: what the wire can
    /// say, less what the place and the model do not take.
    fn abilities(&self, quirks: &Quirks, can: &Capabilities) -> Abilities;

    /// How such a target can be held to the form of the text that these settings ask for.
    fn holds(&self, quirks: &Quirks, can: &Capabilities, settings: &Settings) -> Hold {
        let _ = settings;
        self.abilities(quirks, can).hold()
    }

    /// What this dialect's clients can be shown of an answer.
    fn shows(&self) -> Shows;

    /// A turn in an upstream's bytes.
    ///
    /// # Errors
    /// The turn asks for something that changes the answer's meaning and that this dialect cannot say.
    fn encode_request(&self, turn: &Turn, target: &Target<'_>) -> Result<Encoded, Error>;

    /// A reader for one streamed answer.
    fn reader(&self, names: NameMap) -> Box<dyn Reader>;

    /// The events of an answer that came whole; the same that its stream would have given.
    ///
    /// # Errors
    /// The body is not an answer of this dialect, or is an error with a success status.
    fn decode_response(&self, body: &[u8], names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error>;

    /// An upstream's error body as an error. The status is an HTTP status of 400 or more.
    fn decode_error(&self, status: u16, body: &[u8]) -> Error;

    /// A writer for one streamed answer.
    fn writer(&self, options: StreamOptions) -> Box<dyn Writer>;

    /// A whole answer for a client. A failed response is rendered where the dialect has a form for it
    /// (Responses); elsewhere the caller renders its error instead.
    fn encode_response(&self, response: &Response, out: &mut Vec<u8>);

    /// What the answer cannot show of the response's output (found by reading, not by encoding).
    fn response_losses(&self, response: &Response) -> Vec<Loss>;

    /// A field's path as this dialect's clients know it. Encoders and upstreams speak of fields in the words
    /// of their own wire; a path of this dialect stays as it is.
    fn respell<'p>(&self, path: &'p str) -> Cow<'p, str>;

    /// An error body with its HTTP status. The field it names gets this dialect's spelling.
    fn render_error(&self, error: &Error, request_id: &str, out: &mut Vec<u8>) -> u16;

    /// Looks at one data payload of a passing stream, or at a whole passing body.
    fn sniff(&self, data: &[u8], seen: &mut Sniffed);
}

/// The tools of a turn, those in its items included, in order: what an upstream with a single tool list sees.
pub fn effective_tools<'a>(settings: &'a Settings, input: &'a [trilith_core::Item]) -> Vec<&'a Tool> {
    let mut tools: Vec<&Tool> = settings.tools.iter().collect();
    for item in input {
        let trilith_core::ItemBody::ToolsChange(change) = &item.body else { continue };
        tools.retain(|tool| !change.remove.iter().any(|name| tool_name(tool) == Some(name)));
        for tool in &change.add {
            tools.retain(|known| tool_name(known).is_none() || tool_name(known) != tool_name(tool));
            tools.push(tool);
        }
    }
    tools
}

/// The name under which a tool is known, for those that have one.
pub fn tool_name(tool: &Tool) -> Option<&str> {
    match &tool.kind {
        ToolKind::Function { name, .. }
        | ToolKind::Custom { name, .. }
        | ToolKind::Namespace { name, .. } => Some(name),
        ToolKind::Hosted { .. } => None,
    }
}
