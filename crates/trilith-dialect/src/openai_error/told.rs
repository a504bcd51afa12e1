//! Error bodies as upstreams send them: OpenAI's, one inside an array (Google), a bare text, a framework's
//! own (`detail`), a web server's page.

use serde_json::Value;

/// What an error body told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) message: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) param: Option<String>,
    pub(super) code: Option<String>,
    /// An HTTP status named inside of the body.
    pub(super) status: Option<u16>,
    /// The body is an error by its form.
    pub(super) is_error: bool,
}

impl Told {
    /// What an error body says; nothing where it is none.
    pub(super) fn read(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        let value = match &value {
            Value::Array(list) => list.first().unwrap_or(&Value::Null),
            value => value,
        };
        match value.get("error") {
            Some(Value::Object(_)) => Self::of(value.get("error").unwrap_or(&Value::Null)),
            Some(Value::String(text)) => {
                Self { message: Some(text.clone()), is_error: true, ..Self::default() }
            }
            _ => Self::bare(value),
        }
    }

    /// What an error object, or a bare text, says that was found inside of an answer.
    pub(super) fn inner(json: &str) -> Self {
        match serde_json::from_str::<Value>(json) {
            Ok(Value::String(text)) => Self { message: Some(text), is_error: true, ..Self::default() },
            Ok(value) => Self::of(&value),
            Err(_) => Self { is_error: true, ..Self::default() },
        }
    }

    /// An error without the usual wrapping.
    fn bare(value: &Value) -> Self {
        let mut told = Self::of(value);
        let detail = value.get("detail");
        let detail = match detail {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(list)) => list.first().and_then(|first| text(first, "msg")),
            _ => None,
        };
        told.is_error = text(value, "object").as_deref() == Some("error");
        told.message = told.message.or(detail);
        told
    }

    fn of(error: &Value) -> Self {
        let code = error.get("code");
        let number = code.and_then(Value::as_u64).or_else(|| error.get("status").and_then(Value::as_u64));
        Self {
            message: text(error, "message"),
            kind: text(error, "type").or_else(|| text(error, "status")),
            param: text(error, "param"),
            code: text(error, "code"),
            status: number.and_then(|number| u16::try_from(number).ok()).filter(|s| (400..600).contains(s)),
            is_error: true,
        }
    }

    /// Whether the code or the type is one of the words.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        [&self.code, &self.kind].into_iter().flatten().any(|word| words.contains(&word.as_str()))
    }

    /// Whether the message holds one of the phrases, which are in lower case.
    pub(super) fn says(&self, phrases: &[&str]) -> bool {
        self.message.as_deref().is_some_and(|message| {
            let message = message.to_lowercase();
            phrases.iter().any(|phrase| message.contains(phrase))
        })
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}
