use super::Source;

fn strings(text: &str) -> Vec<String> {
    Source::parse(text).strings.into_iter().map(|span| span.text).collect()
}

#[test]
fn literals_of_every_sort_are_found() {
    let text = r####"f("a\"b", b"c", r"d\", r#"e "f" "#, br##"g"#"##, c"h");"####;
    assert_eq!(strings(text), [r#"a\"b"#, "c", r"d\", r#"e "f" "#, r##"g"#"##, "h"]);
}

#[test]
fn comments_are_not_code_and_code_is_not_comment() {
    let source = Source::parse("a(); // \"x\"\n/* b /* c */ d */ e(\"// not\"); 'l: loop {}");
    assert_eq!(source.comments.len(), 2);
    assert_eq!(source.strings.len(), 1);
    assert!(source.code.contains("a();") && source.code.contains("e(") && source.code.contains("loop {}"));
    assert!(!source.code.contains(" d "));
}

#[test]
fn quotes_in_characters_and_lifetimes_do_not_open_strings() {
    let text = "fn f<'a>(x: &'a str) { g('\"', '\\'', '\\u{1F600}', 'é', b'\"', r#match); }";
    assert!(strings(text).is_empty());
    assert!(Source::parse(text).code.ends_with("; }"));
}

#[test]
fn unfinished_text_ends_quietly() {
    for text in ["\"", "r#\"", "/*", "'", "'\\", "b", "//", "#[cfg(test)]", "#[cfg(test)] #[x"] {
        let _ = Source::parse(text).production();
    }
}

#[test]
fn test_code_is_cut_and_test_files_are_named() {
    let text = "fn a() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod tests;\n#[cfg(test)]\nmod more { fn b() { \"s\"; } }\nfn c() {}";
    let (source, modules) = Source::parse(text).production();
    assert_eq!(modules, ["tests"]);
    assert!(source.strings.is_empty());
    assert!(source.code.contains("fn a") && source.code.contains("fn c") && !source.code.contains("fn b"));
    assert_eq!(source.line(source.code.find("fn c").unwrap()), 7);
}

#[test]
fn words_have_borders() {
    let source = Source::parse("todo!(); my_todo!(); // todo!\n\"todo!\"");
    assert_eq!(source.find_word("todo!"), [0]);
}
