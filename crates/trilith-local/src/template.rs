//! The chat template: from messages to the text that the model was trained on.
//!
//! Templates are Jinja programs inside the GGUF file, written for Python's implementation with the settings
//! of Hugging Face's transformers: <https://huggingface.co/docs/transformers/chat_templating>.

mod date;
mod messages;
mod python_json;

#[cfg(test)]
mod tests;

use minijinja::{Environment, Error, ErrorKind, Value};
use serde_json::json;

use crate::request::Chat;
use crate::{CalendarDate, GenerateError};
use messages::Form;

/// For files without a template: ChatML, the most common form.
pub(crate) const CHATML: &str = "{% for message in messages %}\
    {{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}\
    {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// The most steps one rendering may take. A conversation of a thousand messages takes some 100,000.
const FUEL: u64 = 2_000_000;

const NAME: &str = "chat";

/// A compiled template.
#[derive(Debug)]
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    knows_tools: bool,
}

/// The texts of the model's tokens that templates write out.
#[derive(Debug, Default)]
pub(crate) struct TokenTexts {
    /// The token that begins a sequence.
    pub(crate) begin: String,
    /// The token that ends a sequence.
    pub(crate) end: String,
}

impl ChatTemplate {
    /// Compiles a template.
    ///
    /// # Errors
    /// What the compiler says about a template that is not valid.
    pub(crate) fn compile(source: String) -> Result<Self, String> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", raise_exception);
        environment.add_filter("tojson", python_json::to_json);
        environment.add_template_owned(NAME, source).map_err(|error| describe(&error))?;
        let knows_tools = environment
            .get_template(NAME)
            .map_err(|error| describe(&error))?
            .undeclared_variables(false)
            .contains("tools");
        Ok(Self { environment, knows_tools })
    }

    /// Whether the template has a place of its own for tool definitions.
    pub(crate) fn knows_tools(&self) -> bool {
        self.knows_tools
    }

    /// Renders a conversation up to where the model's answer begins. Every text from the caller passes
    /// through `guard` first.
    ///
    /// # Errors
    /// [`GenerateError::Template`] when the template refuses the conversation, and
    /// [`GenerateError::InvalidParameter`] when a tool definition is not a JSON object.
    pub(crate) fn render(
        &self,
        chat: &Chat,
        tokens: &TokenTexts,
        guard: &dyn Fn(&str) -> String,
    ) -> Result<String, GenerateError> {
        let tools = messages::parse_tools(&chat.tools)?;
        let form = if self.knows_tools { Form::Native } else { Form::InText };
        let messages = messages::to_json(&chat.messages, &tools, form);
        let first = match self.render_messages(&messages, &tools, chat, tokens, guard) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        // Some families know no system role and raise an exception for it.
        messages::without_system(&messages)
            .and_then(|messages| self.render_messages(&messages, &tools, chat, tokens, guard).ok())
            .ok_or_else(|| GenerateError::Template(describe(&first)))
    }

    fn render_messages(
        &self,
        messages: &[serde_json::Value],
        tools: &[serde_json::Value],
        chat: &Chat,
        tokens: &TokenTexts,
        guard: &dyn Fn(&str) -> String,
    ) -> Result<String, Error> {
        let mut variables = json!({
            "messages": messages::guarded(json!(messages), guard),
            "add_generation_prompt": true,
            "bos_token": tokens.begin,
            "eos_token": tokens.end,
        });
        if let Some(variables) = variables.as_object_mut() {
            if self.knows_tools && !tools.is_empty() {
                variables.insert("tools".into(), messages::guarded(json!(tools), guard));
            }
            if let Some(thinking) = chat.thinking {
                variables.insert("enable_thinking".into(), thinking.into());
            }
        }
        let variables = Value::from_serialize(&variables);
        let clock = chat.today.map(|today| ("strftime_now", strftime_function(today)));
        let variables = minijinja::context! { ..Value::from_iter(clock), ..variables };
        self.environment.get_template(NAME)?.render(variables)
    }
}

fn strftime_function(today: CalendarDate) -> Value {
    Value::from_function(move |format: &str| date::format(today, format))
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// The error with its causes, on one line.
fn describe(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
