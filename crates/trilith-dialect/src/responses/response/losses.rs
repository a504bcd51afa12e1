//! What an answer in this dialect cannot show of a response.

use trilith_core::{AnnotationKind, DialectId, ItemBody, Loss, PartKind, Response};

use crate::responses::item::result_type;

/// Reads the output and names what has no form here.
pub(in crate::responses) fn losses(response: &Response) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (index, output) in response.output.iter().enumerate() {
        let path = format!("output[{index}]");
        if output.choice > 0 {
            losses.push(Loss::warn(path, "only the first of several answers is shown"));
            continue;
        }
        match &output.item.body {
            ItemBody::Message(message) => {
                for (n, part) in message.parts.iter().enumerate() {
                    let why = match &part.kind {
                        PartKind::Audio(_) => "sound is shown as what was said",
                        PartKind::Opaque { dialect, .. } if *dialect != DialectId::Responses => {
                            "there is no form for it; it was left out"
                        }
                        PartKind::Text(text) if text.annotations.iter().any(is_foreign) => {
                            "an annotation has no form; it was left out"
                        }
                        _ => continue,
                    };
                    losses.push(Loss::warn(format!("{path}.content[{n}]"), why));
                }
            }
            ItemBody::Opaque(opaque) if opaque.dialect != DialectId::Responses => {
                losses.push(Loss::warn(path, "there is no form for the item; only its place is kept"));
            }
            ItemBody::Result(result) if result_type(result.kind).is_none() => {
                losses
                    .push(Loss::warn(path, "there is no form for the tool's result; only its place is kept"));
            }
            _ => {}
        }
    }
    losses
}

const fn is_foreign(annotation: &trilith_core::Annotation) -> bool {
    matches!(annotation.kind, AnnotationKind::Opaque { dialect, .. } if !matches!(dialect, DialectId::Responses))
}
