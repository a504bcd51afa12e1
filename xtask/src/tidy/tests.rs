use std::collections::BTreeSet;

use super::allow::Allowed;
use super::{Breach, dialects, paths, size, wire, words};
use crate::scan::Source;

fn lines(found: &[Breach]) -> Vec<usize> {
    found.iter().map(|breach| breach.line).collect()
}

#[test]
fn this_workspace_is_tidy() {
    let report = super::run(&crate::workspace_root()).unwrap();
    println!("{}", report.summary);
    assert!(report.breaches.is_empty(), "\n{}", report.breaches.join("\n"));
}

#[test]
fn a_long_function_is_named_and_comments_do_not_lengthen_it() {
    let statements = "    step(\"{\");\n".repeat(79);
    let fits = format!("fn small() {{\n{statements}    // why\n\n}}\n");
    assert!(size::check(&Source::parse(&fits.replacen("    step(\"{\");\n", "", 1)), 83).is_empty());
    let long = format!("type F = fn();\nfn big(a: [u8; 3]) -> u8 {{\n{statements}}}\n");
    let found = size::check(&Source::parse(&long), 83);
    assert_eq!(lines(&found), [2]);
    assert!(found[0].text.contains("`big` has 81"), "{}", found[0].text);
}

#[test]
fn a_long_file_is_a_breach_and_lengths_are_summed_up() {
    assert_eq!(lines(&size::check(&Source::default(), 801)), [1]);
    assert!(size::check(&Source::default(), 800).is_empty());
    assert!(size::summary(&mut [10, 30, 20]).ends_with("median 20, p90 30, longest 30"));
    assert!(size::summary(&mut []).contains("0 production files"));
}

#[test]
fn wire_names_count_as_whole_literals_and_as_json() {
    let text = "f(\"choices\");\nf(r#\"{\"delta\": 1}\"#);\nf(\"{\\\"tool_calls\\\":[]}\");\nf(b\"finish_reason\");\nf(\"response.output_text.delta\");";
    assert_eq!(lines(&wire::check(&Source::parse(text))), [1, 2, 3, 4, 5]);
    let innocent = "// \"choices\"\nlet finish_reason = f(\"a delta of choices\", \"deltas\");";
    assert!(wire::check(&Source::parse(innocent)).is_empty());
}

#[test]
fn wire_names_are_the_dialect_crates_own() {
    assert!(wire::applies("crates/trilith-runtime/src/run.rs"));
    assert!(!wire::applies("crates/trilith-dialect/src/chat/request.rs"));
    assert!(!wire::applies("xtask/src/tidy/wire.rs"));
}

#[test]
fn unfinished_code_is_found_in_calls_and_comments_only() {
    let text = "fn a() { todo!() }\n// TODO later\nf(\"TODO\");\n/* hacky */ unimplemented!();";
    let mut at = lines(&words::check(&Source::parse(text)));
    at.sort_unstable();
    assert_eq!(at, [1, 2, 4]);
}

#[test]
fn a_crate_says_what_it_is_for() {
    assert!(words::check_head("crates/a/src/lib.rs", "mod b;").is_some());
    assert!(words::check_head("crates/a/src/lib.rs", "//! The a.\n").is_none());
    assert!(words::check_head("crates/a/src/b.rs", "mod c;").is_none());
}

#[test]
fn pure_crates_have_no_clock_and_no_async() {
    let source =
        Source::parse("use std::env;\nasync fn f() { Instant::now() }\nstruct AsyncThing(Duration);");
    let found = words::check_purity("crates/trilith-core/src/a.rs", &source);
    let mut at = lines(&found);
    at.sort_unstable();
    assert_eq!(at, [1, 2, 2]);
    assert!(words::check_purity("crates/trilith-net/src/a.rs", &source).is_empty());
}

#[test]
fn machine_paths_and_registries_are_found_in_any_file() {
    let text = [
        concat!("cd /", "work/main"),
        concat!("\"/", "home/someone/x\""),
        concat!("https://", "pypi.", "org/simple"),
        "/workshop and ./work/x and $HOME/work/x and example.com/root/x and target/work/",
        concat!("/", "root/.cargo"),
    ];
    assert_eq!(lines(&paths::check(&text.join("\n"))), [1, 2, 3, 5]);
}

#[test]
fn dialects_do_not_reach_into_each_other() {
    let known: BTreeSet<String> = ["chat", "responses"].map(str::to_owned).into();
    let check = |file: &str, text: &str| {
        let path = format!("crates/trilith-dialect/src/{file}");
        lines(&dialects::check(&path, &Source::parse(text), &known))
    };
    assert_eq!(check("responses/request.rs", "use crate::chat::Request;"), [1]);
    assert_eq!(check("responses/request.rs", "use crate::{\n frame::{sse, chat}, chat as c};"), [1]);
    assert_eq!(check("responses/mod.rs", "use super::chat::Request;"), [1]);
    assert_eq!(check("responses/request/tools.rs", "fn f() { super::super::super::chat::g() }"), [1]);
    assert!(check("responses/request/tools.rs", "use super::chat; use crate::responses::x;").is_empty());
    assert!(check("table.rs", "use crate::chat;").is_empty());
}

#[test]
fn an_exception_needs_a_reason_and_a_use() {
    assert!(Allowed::parse("[[allow]]\nfile = \"a\"\nwords = [\"b\"]").is_err());
    let mut allowed =
        Allowed::parse("[[allow]]\nfile = \"a\"\nwords = [\"b\", \"c\"]\nreason = \"d\"").unwrap();
    assert!(allowed.excuses("a", "b") && !allowed.excuses("b", "b"));
    assert_eq!(allowed.unused().len(), 1);
}
