//! Who may use whom: the map of ARCHITECTURE.md as data, checked against what cargo resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Report;

/// Each crate of ours and the ones it may use; `*` stands for all. A crate that is not listed is a breach:
/// a new room is drawn on the map first.
const MAP: &[(&str, &[&str])] = &[
    ("trilith-core", &[]),
    ("trilith-dialect", &["trilith-core"]),
    ("trilith-document", &["trilith-core"]),
    ("trilith-net", &["trilith-core"]),
    ("trilith-provider", &["trilith-core", "trilith-dialect", "trilith-net"]),
    ("trilith-local", &["trilith-core"]),
    ("trilith-store", &["trilith-core"]),
    ("trilith-runtime", &["trilith-core"]),
    ("trilith-schema", &["trilith-core"]),
    ("trilith-ops", &["trilith-core"]),
    ("trilith-server", &["trilith-core", "trilith-dialect", "trilith-runtime", "trilith-ops"]),
    ("trilith-mock", &["trilith-core", "trilith-dialect"]),
    ("trilith-testkit", &["trilith-core", "trilith-dialect"]),
    ("trilith", &["*"]),
    ("trilith-bench", &["trilith-core", "trilith-dialect", "trilith-mock"]),
    ("xtask", &[]),
];

/// Every crate's tests may use the harness and the scripted upstream.
const FOR_TESTS: &[&str] = &["trilith-testkit", "trilith-mock"];
/// Never a part of what ships.
const ONLY_FOR_TESTS: &[&str] = &["trilith-testkit", "trilith-bench", "xtask"];
/// Nobody builds on the binary.
const LEAF: &str = "trilith";

/// Crates that stay pure, through everything they pull in.
const PURE: &[&str] = &["trilith-core", "trilith-dialect"];
/// What a pure crate must not reach: runtimes, sockets, clocks, randomness, databases.
const IMPURE: &[&str] = &[
    "async-std",
    "chrono",
    "getrandom",
    "hyper",
    "hyper-util",
    "jiff",
    "llama-cpp-2",
    "mio",
    "rand",
    "rusqlite",
    "rustls",
    "smol",
    "socket2",
    "time",
    "tokio",
    "tracing-subscriber",
    "uuid",
];

/// Heavy native libraries, each with the one crate that may use it.
const SOLE_USERS: &[(&str, &str)] = &[
    ("llama-cpp-2", "trilith-local"),
    ("llama-cpp-sys-2", "trilith-local"),
    ("libsqlite3-sys", "trilith-store"),
    ("rusqlite", "trilith-store"),
    ("pdf-extract", "trilith-document"),
    ("lopdf", "trilith-document"),
];

/// Runs `cargo metadata` in `root` and holds its answer to the map.
///
/// # Errors
/// Cargo does not run, refuses the workspace, or answers something that is not its documented format.
pub(crate) fn run(root: &Path) -> Result<Report, String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version=1", "--all-features"]).current_dir(root);
    // Packages for other systems would be downloaded only to be read here.
    command.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    let output = command.output().map_err(|why| format!("cannot run cargo metadata: {why}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|why| why.to_string())?;
    check(&Graph::read(&metadata).ok_or("cargo metadata answered in an unknown format")?)
}

fn check(graph: &Graph) -> Result<Report, String> {
    let mut breaches = Vec::new();
    let mut edges = 0;
    for (user, used, for_tests) in graph.own_edges() {
        edges += 1;
        breaches.extend(edge_breach(user, used, for_tests).map(|why| format!("{user} -> {used}: {why}")));
    }
    for name in graph.own.iter().filter(|name| allowed(name).is_none()) {
        breaches.push(format!("{name} is not on the map: add it to xtask/src/deps.rs and ARCHITECTURE.md"));
    }
    for (library, only) in SOLE_USERS {
        let users = graph.own.iter().filter(|name| name.as_str() != *only && graph.uses(name, library));
        breaches.extend(users.map(|user| format!("{user} -> {library}: only {only} may use it")));
    }
    for pure in PURE {
        for path in graph.paths_to(pure, IMPURE) {
            breaches.push(format!("{pure} has to stay pure: {}", path.join(" -> ")));
        }
    }
    let summary = format!("deps: {} crates of ours, {edges} edges between them", graph.own.len());
    Ok(Report { summary, breaches })
}

fn allowed(name: &str) -> Option<&'static [&'static str]> {
    MAP.iter().find(|(user, _)| *user == name).map(|(_, may)| *may)
}

/// Why the edge is not on the map; `None` where it is.
fn edge_breach(user: &str, used: &str, for_tests: bool) -> Option<&'static str> {
    if used == LEAF {
        return Some("nothing depends on the binary");
    }
    if for_tests && FOR_TESTS.contains(&used) {
        return None;
    }
    if ONLY_FOR_TESTS.contains(&used) {
        return Some("may only be a dev-dependency");
    }
    let may = allowed(user)?;
    let listed = may.contains(&"*") || may.contains(&used);
    (!listed).then_some("the map does not allow this edge")
}

/// What is needed of cargo's answer. Packages are known by name: two versions of one library count as one.
#[derive(Debug, Default)]
struct Graph {
    own: BTreeSet<String>,
    /// Dependencies of packages that are part of what ships (normal and build), by name.
    shipped: BTreeMap<String, BTreeSet<String>>,
    /// Dev-dependencies of our own crates.
    tests: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read(metadata: &Value) -> Option<Graph> {
        let mut names = BTreeMap::new();
        for package in metadata.get("packages")?.as_array()? {
            names.insert(package.get("id")?.as_str()?, package.get("name")?.as_str()?);
        }
        let mut graph = Graph::default();
        for id in metadata.get("workspace_members")?.as_array()? {
            graph.own.insert((*names.get(id.as_str()?)?).to_owned());
        }
        for node in metadata.get("resolve")?.get("nodes")?.as_array()? {
            let user = (*names.get(node.get("id")?.as_str()?)?).to_owned();
            for dependency in node.get("deps")?.as_array()? {
                let used = (*names.get(dependency.get("pkg")?.as_str()?)?).to_owned();
                let kinds = dependency.get("dep_kinds")?.as_array()?;
                let is_test = |kind: &Value| kind.get("kind").and_then(Value::as_str) == Some("dev");
                if kinds.iter().any(is_test) {
                    graph.tests.entry(user.clone()).or_default().insert(used.clone());
                }
                if !kinds.iter().all(is_test) {
                    graph.shipped.entry(user.clone()).or_default().insert(used);
                }
            }
        }
        Some(graph)
    }

    /// Edges between our crates: user, used, whether only its tests use it.
    fn own_edges(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let sides = [(&self.shipped, false), (&self.tests, true)];
        sides.into_iter().flat_map(move |(side, for_tests)| {
            let pairs = side.iter().flat_map(|(user, used)| used.iter().map(move |used| (user, used)));
            let own = pairs.filter(|(user, used)| self.own.contains(*user) && self.own.contains(*used));
            own.map(move |(user, used)| (user.as_str(), used.as_str(), for_tests))
        })
    }

    /// Whether a crate of ours names the library itself, for what ships or for tests.
    fn uses(&self, user: &str, library: &str) -> bool {
        [&self.shipped, &self.tests]
            .iter()
            .any(|side| side.get(user).is_some_and(|used| used.contains(library)))
    }

    /// The shortest way from `start` to each of `targets` that ships with it.
    fn paths_to(&self, start: &str, targets: &[&str]) -> Vec<Vec<String>> {
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        let mut found = Vec::new();
        while let Some(at) = queue.pop_front() {
            if targets.contains(&at) {
                let mut path = vec![at.to_owned()];
                while let Some(previous) = came_from.get(path.last().map_or("", String::as_str)) {
                    path.push((*previous).to_owned());
                }
                path.reverse();
                found.push(path);
            }
            for next in self.shipped.get(at).into_iter().flatten() {
                if next != start && !came_from.contains_key(next.as_str()) {
                    came_from.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
