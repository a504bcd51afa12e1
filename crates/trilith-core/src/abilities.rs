//! What a target does by itself and a client can be shown. What lies between them is emulated or refused by the
//! runtime.

use crate::Reads;

/// What a target does by itself for one of its models: what its wire can say, its place takes and the model
/// follows. The default is a target that does everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Gives several answers to one call (`n`).
    pub several_answers: bool,
    /// Takes several prompts in one call, and gives answers to each.
    pub several_prompts: bool,
    /// Can be held to one tool call in an answer.
    pub single_tool_call: bool,
    /// How many stop strings it takes; `usize::MAX` for any number, 0 for none at all.
    pub stop_strings: usize,
    /// Takes stop strings that are nothing but white space.
    pub blank_stop_strings: bool,
    /// Says which stop string ended its answer.
    pub names_stop_string: bool,
    /// Can be made to call a tool.
    pub forced_tool_choice: bool,
    /// Holds its text to a JSON Schema.
    pub json_schema: bool,
    /// Takes of media.
    pub reads: Reads,
    /// Takes a request for no output at all (a limit of 0 tokens).
    pub empty_answers: bool,
    /// Leaves out what is oldest of a conversation that is too long, if asked to.
    pub truncation: bool,
}

impl Abilities {
    /// A target that does everything.
    pub const ALL: Self = Self {
        several_answers: true,
        several_prompts: true,
        single_tool_call: true,
        stop_strings: usize::MAX,
        blank_stop_strings: true,
        names_stop_string: true,
        forced_tool_choice: true,
        json_schema: true,
        reads: Reads::ALL,
        empty_answers: true,
        truncation: true,
    };
}

/// How a target can be held to the form of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It holds to all of it by itself.
    Whole,
    /// It holds to a part of it by itself and is told the rest.
    Part,
    /// It does not, but it can be made to call a tool of that form.
    Call,
    /// It can only be told in words.
    Words,
}

impl Abilities {
    /// How a target of these abilities can be held to a form.
    pub const fn hold(self) -> Hold {
        match (self.json_schema, self.forced_tool_choice) {
            (true, _) => Hold::Whole,
            (false, true) => Hold::Call,
            (false, false) => Hold::Words,
        }
    }
}

impl Default for Abilities {
    fn default() -> Self {
        Self::ALL
    }
}

/// What a client's dialect has words for in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shows {
    /// Which stop string ended it.
    pub stop_string: bool,
}
