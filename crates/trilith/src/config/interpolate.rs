//! `${VARIABLE}` and `${VARIABLE:-default}` inside text values.

use super::Environment;
use super::problem::Complaint;

/// A text after its variables were put in.
pub(super) struct Filled {
    pub(super) text: String,
    /// Whether any part came from the environment: such text is never shown in a message.
    pub(super) from_environment: bool,
}

/// Puts the environment's values in. As in a shell, a default also stands in for an empty variable; `$${` is a
/// literal `${`, and a `$` before anything else is itself.
///
/// # Errors
/// One fault for each variable that is not set and has no default, and for each `${` that is not well formed.
pub(super) fn fill(text: &str, environment: &Environment<'_>) -> Result<Filled, Vec<Complaint>> {
    let mut filled = Filled { text: String::with_capacity(text.len()), from_environment: false };
    let mut faults = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(literal) = before.strip_suffix('$') {
            filled.text.push_str(literal);
            filled.text.push_str("${");
            rest = after;
            continue;
        }
        filled.text.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            faults.push(Complaint::new("`${` has no closing `}`", "write `$${` for a literal `${`"));
            return Err(faults);
        };
        rest = tail;
        match variable(inside, environment) {
            Ok(value) => {
                filled.text.push_str(&value);
                filled.from_environment = true;
            }
            Err(complaint) => faults.push(complaint),
        }
    }
    filled.text.push_str(rest);
    if faults.is_empty() { Ok(filled) } else { Err(faults) }
}

fn variable(inside: &str, environment: &Environment<'_>) -> Result<String, Complaint> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Complaint::new(
            "`${…}` does not hold the name of a variable",
            "write `${NAME}` or `${NAME:-default}`; names have letters, digits and `_`",
        ));
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(Complaint::new("defaults do not nest", "write `${NAME:-default}` with a plain default"));
    }
    match (environment(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(Complaint::new(
            format!("the environment variable {name} is not set"),
            format!("set {name}, or write `${{{name}:-default}}`"),
        )),
    }
}
