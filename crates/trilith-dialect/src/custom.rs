//! Custom tools toward upstreams that know functions only (translation contract §5): a function with one text.

use trilith_core::{CustomFormat, GrammarSyntax, Loss};

/// The arguments of the function that stands for a custom tool.
pub(crate) const PARAMETERS: &str = concat!(
    r#"{"type":"object","properties":{"input":{"type":"string","description":"The input of the tool, as it is."}},"#,
    r#""required":["input"],"additionalProperties":false}"#
);

/// What the model is told of the tool: an upstream of functions cannot hold it to a grammar.
pub(crate) fn description(own: Option<&str>, format: Option<&CustomFormat>) -> Option<String> {
    let mut told = own.unwrap_or_default().to_owned();
    if let Some(CustomFormat::Grammar { syntax, definition }) = format {
        let word = match syntax {
            GrammarSyntax::Lark => "lark",
            GrammarSyntax::Regex => "regex",
        };
        told.push_str(if told.is_empty() { "" } else { "\n\n" });
        told.push_str(&format!("The input must match this grammar ({word}):\n{definition}"));
    }
    (!told.is_empty()).then_some(told)
}

/// What is lost by it, for the tool at that path.
pub(crate) fn losses(at: &str, format: Option<&CustomFormat>, losses: &mut Vec<Loss>) {
    if let Some(CustomFormat::Grammar { .. }) = format {
        let why = "the upstream cannot hold the model to a grammar; it is told in the description";
        losses.push(Loss::warn(format!("{at}.format"), why));
    }
    losses.push(Loss::emulate(at, "sent as a function whose one argument is the input"));
}

/// The arguments that stand for the input.
pub(crate) fn wrap(input: &str) -> String {
    let mut out = b"{\"input\":".to_vec();
    crate::scan::write_string(&mut out, input);
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

/// The input inside of arguments; what a model wrote otherwise is taken as the input itself.
pub(crate) fn unwrap(args: String) -> String {
    #[derive(serde::Deserialize)]
    struct Wrapped {
        input: String,
    }
    serde_json::from_str::<Wrapped>(&args).map_or(args, |wrapped| wrapped.input)
}

#[cfg(test)]
mod tests {
    use super::{unwrap, wrap};

    #[test]
    fn an_input_comes_back_as_it_was() {
        for input in ["", "a \"b\"\n{}", "{\"input\":1}"] {
            assert_eq!(unwrap(wrap(input)), input);
        }
        for other in ["", "*** Begin Patch", "{\"patch\":\"x\"}", "{\"input\":\"x"] {
            assert_eq!(unwrap(other.to_owned()), other);
        }
    }
}
