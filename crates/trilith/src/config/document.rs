//! The catalogue as a reference page and as a file to start from.

use std::fmt::Write as _;

use super::catalogue::{self, Key, Kind, Table};
use super::preset::Preset;
use super::values;

/// The reference of all keys, as Markdown.
pub(crate) fn document() -> String {
    let mut page = String::from(INTRODUCTION);
    for table in catalogue::tables() {
        let _ = write!(page, "\n## `{}`\n\n{}\n", header(table), table.doc);
        for key in catalogue::keys().filter(|key| key.table() == table.path) {
            entry(&mut page, key);
        }
        if table.path == "providers[]" {
            page.push_str("\nPresets:\n\n| preset | dialect | base_url |\n|---|---|---|\n");
            for preset in Preset::ALL {
                let _ = writeln!(
                    page,
                    "| `{}` | `{}` | `{}` |",
                    preset.name,
                    preset.dialect.name(),
                    preset.base_url
                );
            }
        }
    }
    page
}

const INTRODUCTION: &str = "# Configuration

`trilith.toml` is TOML 1.1. Unknown keys are errors. `${NAME}` in a text value is replaced by the environment
variable of that name, `${NAME:-default}` falls back when it is not set or empty, `$${` is a literal `${`; a number
or `true` and `false` may come from a variable too, in quotes. Durations are text such as `\"500ms\"`, `\"10s\"` or
`\"2m\"`, or whole seconds; sizes are text such as `\"32MiB\"`, or bytes. Paths are relative to the working directory.
";

fn header(table: &Table) -> String {
    let name = table.path.replace("[]", "");
    if table.is_list() { format!("[[{name}]]") } else { format!("[{name}]") }
}

fn entry(page: &mut String, key: &Key) {
    let _ = write!(page, "\n- **`{}`** ({}", key.name(), values::expected(&key.kind));
    match (key.required, key.default) {
        (true, _) => page.push_str("; required"),
        (false, Some(default)) => {
            let _ = write!(page, "; default `{default}`");
        }
        (false, None) => {}
    }
    if key.secret {
        page.push_str("; secret");
    }
    if !key.environment {
        page.push_str("; no variables");
    }
    if let Kind::Choice(_, later) = key.kind
        && !later.is_empty()
    {
        let _ = write!(page, "; not in this version: {}", later.join(", "));
    }
    let _ = writeln!(page, "). {}\n  Example: `{} = {}`", key.doc, key.name(), key.example);
}

/// A file that starts as it is and shows every key, those with a default or of no need commented out.
pub(crate) fn sample() -> String {
    let mut file = String::from(
        "# Configuration of Trilith. Every key is shown; what is commented out may be left out.\n",
    );
    for table in catalogue::tables() {
        // An inline form of the same list may not follow its tables.
        let inline = table.path == "models[].targets[]";
        let optional =
            matches!(table.path, "local" | "tools[]" | "keys[]") || table.parent() == "providers[]";
        let _ = write!(file, "\n# {}\n", table.doc.replace('\n', " "));
        if inline {
            file.push_str("targets = [{ provider = \"up\", model = \"*\" }]\n");
            continue;
        }
        let _ = writeln!(file, "{}{}", if optional { "# " } else { "" }, header(table));
        for key in catalogue::keys().filter(|key| key.table() == table.path) {
            let active = !optional && (key.required || NEEDED.contains(&key.path));
            let value = key.default.unwrap_or(key.example);
            let _ = writeln!(file, "# {}", key.doc);
            let _ = writeln!(file, "{}{} = {value}", if active { "" } else { "# " }, key.name());
        }
    }
    file
}

/// Keys that a first file holds though the catalogue does not require them.
const NEEDED: &[&str] = &["providers[].dialect", "providers[].base_url", "providers[].api_key"];
