//! A forced tool choice toward a target that cannot be made to call a tool (translation contract §5.1): refused by
//! whoever encodes it, unless the caller has said that the model may choose then.

use trilith_core::{Error, Loss, ToolChoice, ToolChoiceMode};

use super::Draft;

/// Leaves the choice to the model, if the caller agreed to that beforehand.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    let free = match &draft.settings.tool_choice {
        Some(ToolChoice::Required | ToolChoice::Tool(_)) => ToolChoice::Auto,
        Some(ToolChoice::Allowed { mode: ToolChoiceMode::Required, tools }) => {
            ToolChoice::Allowed { mode: ToolChoiceMode::Auto, tools: tools.clone() }
        }
        None
        | Some(
            ToolChoice::None | ToolChoice::Auto | ToolChoice::Allowed { mode: ToolChoiceMode::Auto, .. },
        ) => return Ok(()),
    };
    if draft.terms.forced_choice_may_go && !draft.can().forced_tool_choice {
        draft.settings_mut().tool_choice = Some(free);
        let why = "the model cannot be made to call a tool; whether it calls one is left to it";
        draft.losses.push(Loss::warn("tool_choice", why));
    }
    Ok(())
}
