//! Where schemas lie within a schema (JSON Schema 2020-12, and the keywords of earlier drafts that are still in
//! use). Everything else is data, whatever it looks like.

/// What stands below a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// A schema, or a list of them.
    Schemas,
    /// Schemas by name.
    Named,
}

/// What schemas stand below the keyword, if any do.
pub(crate) fn below(keyword: &str) -> Option<Below> {
    Some(match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Below::Named,
        "items"
        | "prefixItems"
        | "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema"
        | "anyOf"
        | "oneOf"
        | "allOf"
        | "not"
        | "if"
        | "then"
        | "else" => Below::Schemas,
        _ => return None,
    })
}

/// Whether the word says something in a schema.
pub(super) fn is_keyword(word: &str) -> bool {
    below(word).is_some()
        || word.starts_with('$')
        || matches!(
            word,
            "type"
                | "title"
                | "description"
                | "default"
                | "examples"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
                | "enum"
                | "const"
                | "required"
                | "dependentRequired"
                | "dependencies"
                | "minProperties"
                | "maxProperties"
                | "minItems"
                | "maxItems"
                | "uniqueItems"
                | "minContains"
                | "maxContains"
                | "minLength"
                | "maxLength"
                | "pattern"
                | "format"
                | "minimum"
                | "maximum"
                | "exclusiveMinimum"
                | "exclusiveMaximum"
                | "multipleOf"
                | "contentEncoding"
                | "contentMediaType"
                | "nullable"
        )
}

/// Whether the keyword only tells about values and holds them to nothing.
pub(crate) fn is_remark(word: &str) -> bool {
    matches!(
        word,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
            | "$schema"
            | "$id"
    )
}
