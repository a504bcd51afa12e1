//! Tools for wires without groups: one list, groups as prefixes of names (translation contract §5).

use trilith_core::{Tool, ToolKind};

use crate::{NameMap, names::Wrap, schema, tool_name};

/// A tool and the group around it.
pub(crate) type Placed<'t> = (Option<&'t str>, &'t Tool);

/// The tools with groups opened.
pub(crate) fn flat(tools: Vec<&Tool>) -> Vec<Placed<'_>> {
    let mut placed = Vec::with_capacity(tools.len());
    for tool in tools {
        match &tool.kind {
            ToolKind::Namespace { name, tools, .. } => {
                placed.extend(tools.iter().map(|member| (Some(&**name), member)));
            }
            _ => placed.push((None, tool)),
        }
    }
    placed
}

/// Remembers which functions take something else than an object, before the conversation's calls are written.
pub(crate) fn wrap_values(tools: &[Placed<'_>], names: &mut NameMap) {
    for (namespace, tool) in tools {
        if let ToolKind::Function { name, parameters, .. } = &tool.kind
            && schema::is_wrapped(parameters.as_ref())
        {
            let wire = names.outward(*namespace, name);
            names.wrap(&wire, Wrap::Value);
        }
    }
}

/// The wire name of a tool that a choice names without its group: the plain tool of that name, else the first
/// one of that name in a group. `group.name` names it in full.
pub(crate) fn wire_name(names: &mut NameMap, tools: &[Placed<'_>], name: &str) -> Box<str> {
    let mut named = tools.iter().filter(|(_, tool)| tool_name(tool) == Some(name));
    let group = match (named.clone().find(|(group, _)| group.is_none()), named.next()) {
        (None, Some((group, _))) => *group,
        _ => None,
    };
    if group.is_none()
        && let Some((group, member)) = name.split_once('.')
        && tools.iter().any(|(own, tool)| *own == Some(group) && tool_name(tool) == Some(member))
    {
        return names.outward(Some(group), member);
    }
    names.outward(group, name)
}
