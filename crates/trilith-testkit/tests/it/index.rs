//! `golden/index.md` names what is there.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// Where tests beside the golden cases live.
const PLACES: [&str; 2] = ["tests/blackbox", "crates/trilith-testkit/tests/it"];

/// The names in the last cell of a row of a table.
fn held_by(line: &str) -> Vec<&str> {
    let Some((_, last)) = line.trim().trim_end_matches('|').rsplit_once('|') else { return Vec::new() };
    last.split('`').skip(1).step_by(2).collect()
}

fn is_there(root: &Path, name: &str, files: &mut HashMap<PathBuf, String>) -> bool {
    let Some((file, test)) = name.split_once("::") else {
        return root.join("golden/matrix").join(name).is_dir() || root.join("golden").join(name).is_dir();
    };
    PLACES.iter().any(|place| {
        let path = root.join(place).join(file);
        let text = files.entry(path.clone()).or_insert_with(|| fs::read_to_string(path).unwrap_or_default());
        text.contains(&format!("def {test}(")) || text.contains(&format!("fn {test}("))
    })
}

#[test]
fn every_name_is_a_case_or_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let index = fs::read_to_string(root.join("golden/index.md")).unwrap();
    let mut files = HashMap::new();
    let mut rows = 0;
    for line in index.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        let names = held_by(line);
        if !line.contains("| held by |") {
            assert!(!names.is_empty(), "held by nothing: {line}");
            rows += 1;
        }
        for name in names {
            assert!(is_there(&root, name, &mut files), "no case or test is called {name}: {line}");
        }
    }
    assert!(rows > 80, "only {rows} rows");
}
