//! A dialect's folder imports no other dialect's folder: what two share lies beside them, under its own name.

use std::collections::BTreeSet;

use super::Breach;
use crate::scan::{Source, is_ident};

const SRC: &str = "crates/trilith-dialect/src/";

/// Paths in a dialect's file that lead into another dialect.
pub(crate) fn check(file: &str, source: &Source, dialects: &BTreeSet<String>) -> Vec<Breach> {
    let Some((own, inner)) = file.strip_prefix(SRC).and_then(|rest| rest.split_once('/')) else {
        return Vec::new();
    };
    if !dialects.contains(own) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, name) in names_at_root(&source.code, depth(inner)) {
        if name != own && dialects.contains(&name) {
            let text = format!("the dialect {own} reaches into the dialect {name}");
            found.push(Breach::of_word(source.line(at), &name, text));
        }
    }
    found
}

/// How many `super` lead from a file inside a dialect's folder to the crate's root.
fn depth(inner: &str) -> usize {
    let parts = inner.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").count();
    parts + 1
}

/// First names of the paths that begin at the crate's root, with the offset where each path begins.
fn names_at_root(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate") {
        let bytes = code.as_bytes();
        let bounded = at == 0 || !is_ident(bytes[at - 1]);
        if bounded && let Some(rest) = code.get(at + "crate".len()..) {
            names.extend(first_names(rest).into_iter().map(|name| (at, name)));
        }
    }
    let up = "super::".repeat(depth);
    for (at, _) in code.match_indices(&up) {
        let inside = code.get(..at).is_some_and(|text| text.ends_with("super::"));
        if !inside && let Some(rest) = code.get(at + up.len() - 2..) {
            names.extend(first_names(rest).into_iter().map(|name| (at, name)));
        }
    }
    names
}

/// The names right after `::`, or each first name in `::{a::b, c}`.
fn first_names(rest: &str) -> Vec<String> {
    let Some(rest) = rest.trim_start().strip_prefix("::") else { return Vec::new() };
    let rest = rest.trim_start();
    let Some(group) = rest.strip_prefix('{') else { return vec![identifier(rest)] };
    let mut names = vec![identifier(group.trim_start())];
    let mut level = 0_usize;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => level += 1,
            '}' if level == 0 => break,
            '}' => level -= 1,
            ',' if level == 0 => {
                names.push(identifier(group.get(at + 1..).unwrap_or_default().trim_start()));
            }
            _ => {}
        }
    }
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}
