//! The platform's words after the conversation began, for models that take them before it only (translation
//! contract §2): a text of the user's that begins and ends with fixed lines, where the words stood.

use trilith_core::{Item, ItemBody, Message, PartKind, Role};

const TAG: [&str; 2] = ["<system-message>\n", "\n</system-message>"];

/// What is told of it.
pub(crate) const MARKED: &str =
    "sent as a marked text of the user's: the model takes such words only at the start";

/// Whether the message is the platform's.
pub(crate) const fn speaks(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer)
}

/// Whether the item may stand before the conversation without being part of it.
pub(crate) fn leads(item: &Item) -> bool {
    match &item.body {
        ItemBody::Message(message) => speaks(message),
        ItemBody::ToolsChange(_) => true,
        _ => false,
    }
}

/// The message's words between the marks.
///
/// # Errors
/// A part is no text: its place and what it is.
pub(crate) fn marked(message: &Message) -> Result<String, (usize, &'static str)> {
    let texts = message.parts.iter().enumerate().map(|(number, part)| match &part.kind {
        PartKind::Text(text) => Ok(text.text.as_str()),
        kind => Err((number, kind.name())),
    });
    let texts = texts.collect::<Result<Vec<&str>, _>>()?;
    let told = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    let [open, close] = TAG;
    Ok(format!("{open}{told}{close}"))
}
