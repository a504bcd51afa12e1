//! Which files the rules look at, and which of them are tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::scan::Source;

/// Names of folders and files that tools made, not people.
const SKIPPED: &[&str] = &[
    ".git",
    ".cache",
    ".venv",
    "__pycache__",
    "node_modules",
    "target",
    "artifacts",
    "corpus",
    ".pytest_cache",
];

/// The files of the workspace, by path from its root with `/` between the parts.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) files: Vec<String>,
    /// Names of the folders of `trilith-dialect` that are dialects.
    pub(crate) dialects: BTreeSet<String>,
    /// Files and folders that a `#[cfg(test)] mod name;` makes tests.
    test_roots: BTreeSet<String>,
}

impl Layout {
    /// Lists what lies below `root`.
    pub(crate) fn read(root: &Path) -> Result<Layout, String> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        files.sort();
        let mut layout = Layout { files, ..Layout::default() };
        for file in layout.files.clone() {
            if let Some(rest) = file.strip_prefix("crates/trilith-dialect/src/")
                && let Some((folder, inner)) = rest.split_once('/')
                && (inner == "stream.rs" || inner == "request.rs" || inner.starts_with("request/"))
            {
                layout.dialects.insert(folder.to_owned());
            }
            if file.ends_with(".rs")
                && let Ok(text) = fs::read_to_string(root.join(&file))
            {
                let (_, modules) = Source::parse(&text).production();
                layout.test_roots.extend(modules.iter().map(|name| child_module(&file, name)));
            }
        }
        Ok(layout)
    }

    /// Whether a Rust file is test or measuring code, which may be long and may spell anything.
    pub(crate) fn is_test(&self, file: &str) -> bool {
        let in_folder = ["tests", "benches", "examples", "fuzz"];
        file.split('/').any(|part| in_folder.contains(&part))
            || file.ends_with("/tests.rs")
            || file.starts_with("loadbench/")
            || self.test_roots.iter().any(|root| {
                file.strip_prefix(root.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            })
    }
}

/// Path, without `.rs`, of the module `name` that `file` declares.
fn child_module(file: &str, name: &str) -> String {
    let (folder, base) = file.rsplit_once('/').unwrap_or(("", file));
    match base {
        "mod.rs" | "lib.rs" | "main.rs" => format!("{folder}/{name}"),
        _ => format!("{}/{name}", file.trim_end_matches(".rs")),
    }
}

fn walk(root: &Path, folder: &str, files: &mut Vec<String>) -> Result<(), String> {
    let place = root.join(folder);
    let entries = fs::read_dir(&place).map_err(|why| format!("cannot list {}: {why}", place.display()))?;
    for entry in entries {
        let entry = entry.map_err(|why| format!("cannot list {}: {why}", place.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(|why| format!("cannot look at {path}: {why}"))?;
        // `.git` is a file in a linked work tree.
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, files)?;
        } else if kind.is_file() && name != "Cargo.lock" {
            files.push(path);
        }
    }
    Ok(())
}
