//! Deferred tools toward wires where the upstream cannot load them by itself (translation contract §5): they are
//! held back, as the other wire's own upstream holds them back from its model, until a result refers to them.

use std::collections::HashSet;

use trilith_core::{
    DialectId, HostedTool, ItemBody, Loss, Part, ResultOutput, Tool, ToolChoice, ToolKind, ToolRef, Turn,
};

use crate::tool_name;

/// The field of a part that is a reference to a tool: the tool's name, as JSON text.
pub(crate) const REFERENCE: &str = "tool_reference";

/// Which tools of a turn are held back.
pub(crate) struct Deferred<'t> {
    loaded: HashSet<String>,
    chosen: HashSet<&'t str>,
    /// Something can be called without them, so that they can be found.
    holds: bool,
    /// The upstream's own search loads them.
    searched: bool,
}

impl<'t> Deferred<'t> {
    /// Of the tools that an upstream is to see.
    pub(crate) fn of(turn: &'t Turn, tools: &[&Tool]) -> Self {
        let mut deferred =
            Self { loaded: HashSet::new(), chosen: chosen(turn), holds: false, searched: false };
        if !tools.iter().any(|tool| is_deferred(tool)) {
            return deferred;
        }
        deferred.loaded = turn.input.iter().filter_map(parts).flatten().filter_map(referred).collect();
        let searched =
            |tool: &&Tool| matches!(tool.kind, ToolKind::Hosted { tool: HostedTool::ToolSearch, .. });
        deferred.searched = tools.iter().any(searched);
        deferred.holds =
            !deferred.searched && tools.iter().any(|tool| !is_deferred(tool) || deferred.is_known(tool));
        deferred
    }

    /// Whether the tool is not sent. What happens to deferred tools is said once.
    pub(crate) fn holds_back(&self, tool: &Tool, losses: &mut Vec<Loss>) -> bool {
        if !is_deferred(tool) || self.is_known(tool) {
            return false;
        }
        let loss = match self.holds {
            true => Loss::emulate("tools", "deferred tools are sent once a result refers to them"),
            false => Loss::warn("tools", "tools with defer_loading are sent in full"),
        };
        if !losses.contains(&loss) {
            losses.push(loss);
        }
        self.holds
    }

    /// Whether a deferred tool goes along and the upstream cannot defer it.
    pub(crate) fn is_opened(&self, tool: &Tool) -> bool {
        !self.searched && is_deferred(tool)
    }

    fn is_known(&self, tool: &Tool) -> bool {
        tool_name(tool).is_some_and(|name| self.loaded.contains(name) || self.chosen.contains(name))
    }
}

fn is_deferred(tool: &Tool) -> bool {
    tool.defer_loading == Some(true)
}

fn parts(item: &trilith_core::Item) -> Option<&[Part]> {
    match &item.body {
        ItemBody::Result(result) => match &result.output {
            ResultOutput::Parts(parts) => Some(parts),
            ResultOutput::Text(_) => None,
        },
        _ => None,
    }
}

fn referred(part: &Part) -> Option<String> {
    serde_json::from_str(part.extra.get(DialectId::Messages, REFERENCE)?.as_str()).ok()
}

fn chosen(turn: &Turn) -> HashSet<&str> {
    match &turn.settings.tool_choice {
        Some(ToolChoice::Tool(tool)) => name_of(tool).into_iter().collect(),
        Some(ToolChoice::Allowed { tools, .. }) => tools.iter().filter_map(name_of).collect(),
        _ => HashSet::new(),
    }
}

fn name_of(tool: &ToolRef) -> Option<&str> {
    match tool {
        ToolRef::Function(name) | ToolRef::Custom(name) => Some(name),
        ToolRef::Hosted(..) | ToolRef::Mcp { .. } => None,
    }
}
