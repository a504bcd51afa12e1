use serde_json::json;

use super::{Graph, check, edge_breach};

/// A graph of `[user, used, kind]` edges, where a name with a leading `+` is not ours.
fn graph(edges: &[[&str; 3]]) -> Graph {
    let names: std::collections::BTreeSet<&str> =
        edges.iter().flat_map(|[user, used, _]| [*user, *used]).collect();
    let plain = |name: &str| name.trim_start_matches('+').to_owned();
    let packages: Vec<_> = names.iter().map(|name| json!({"id": name, "name": plain(name)})).collect();
    let members: Vec<_> = names.iter().filter(|name| !name.starts_with('+')).collect();
    let nodes: Vec<_> = names
        .iter()
        .map(|name| {
            let out = edges.iter().filter(|[user, ..]| user == name);
            let deps: Vec<_> = out
                .map(|[_, used, kind]| {
                    let kind = if *kind == "normal" { json!(null) } else { json!(kind) };
                    json!({"pkg": used, "dep_kinds": [{"kind": kind}]})
                })
                .collect();
            json!({"id": name, "deps": deps})
        })
        .collect();
    let metadata = json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}});
    Graph::read(&metadata).unwrap()
}

fn breaches(edges: &[[&str; 3]]) -> Vec<String> {
    check(&graph(edges)).unwrap().breaches
}

#[test]
fn this_workspace_keeps_to_the_map() {
    let report = super::run(&crate::workspace_root()).unwrap();
    println!("{}", report.summary);
    assert!(report.breaches.is_empty(), "\n{}", report.breaches.join("\n"));
}

#[test]
fn edges_follow_the_map() {
    assert!(edge_breach("trilith-dialect", "trilith-core", false).is_none());
    assert!(edge_breach("trilith-core", "trilith-dialect", false).is_some());
    assert!(edge_breach("trilith-runtime", "trilith-store", false).is_some());
    assert!(edge_breach("trilith-runtime", "trilith-store", true).is_some());
    assert!(edge_breach("trilith", "trilith-local", false).is_none());
    assert!(edge_breach("trilith-server", "trilith", true).is_some());
}

#[test]
fn test_crates_stay_out_of_what_ships() {
    assert!(edge_breach("trilith", "trilith-testkit", false).is_some());
    assert!(edge_breach("trilith-core", "trilith-testkit", true).is_none());
    assert!(edge_breach("trilith-runtime", "trilith-mock", true).is_none());
    assert!(edge_breach("trilith-runtime", "trilith-mock", false).is_some());
}

#[test]
fn an_unknown_crate_is_drawn_first() {
    assert!(breaches(&[["trilith-new", "trilith-core", "normal"]])[0].contains("not on the map"));
}

#[test]
fn purity_holds_through_other_libraries_but_not_for_tests() {
    let found = breaches(&[
        ["trilith-dialect", "trilith-core", "normal"],
        ["trilith-dialect", "+ids", "normal"],
        ["+ids", "+getrandom", "normal"],
        ["trilith-core", "+proptest", "dev"],
        ["+proptest", "+rand", "normal"],
    ]);
    assert_eq!(found, ["trilith-dialect has to stay pure: trilith-dialect -> ids -> getrandom"]);
}

#[test]
fn native_libraries_have_one_user() {
    let found = breaches(&[
        ["trilith-store", "+rusqlite", "normal"],
        ["trilith-ops", "+rusqlite", "dev"],
        ["trilith", "+llama-cpp-2", "normal"],
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("trilith-ops -> rusqlite")));
}
