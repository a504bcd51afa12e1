//! What a script may say, and how it is told when it is wrong.

use super::*;

fn parse(text: &str) -> Script {
    Script::parse("demo.mock", text).unwrap()
}

fn wrong(text: &str) -> String {
    Script::parse("demo.mock", text).unwrap_err().to_string()
}

#[test]
fn quoted_text_and_blocks_keep_every_character() {
    let script =
        parse("--- answer\ntext \" a\\n\"\ntext  plain # not a comment\ntext <<END\none\n  two\nEND\n");
    let texts: Vec<String> = script.answers[0]
        .steps
        .iter()
        .map(|step| match step {
            Step::Content(Content::Text { delta, .. }) => delta.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, [" a\n", "plain # not a comment", "one\n  two"]);
}

#[test]
fn heads_settings_and_travel_words_are_read() {
    let script = parse(
        "# a comment\nat-end loop\nmodels a b\n--- answer when \"x y\" path \"/v1\" times 2\nstatus 201\n\
         header X-A: b: c\ngzip\nlines crlf\nchunk 3\nno-done\nreset after 37\nbytes 00 ff\nrepeat 3 text a\n",
    );
    assert_eq!(script.at_end, AtEnd::Loop);
    assert_eq!(script.models, ["a", "b"]);
    let answer = &script.answers[0];
    assert_eq!((answer.line, answer.when.len(), answer.times), (4, 2, Some(2)));
    assert_eq!(answer.wire.status, Some(201));
    assert_eq!(answer.wire.headers, [("x-a".to_owned(), "b: c".to_owned())]);
    assert_eq!(answer.wire.halt, Some((37, Halt::Reset)));
    assert!(matches!(&answer.steps[0], Step::Bytes(bytes) if bytes == &[0, 255]));
    assert!(matches!(&answer.steps[1], Step::Repeat(3, _)));
}

#[test]
fn a_wrong_line_is_named_with_what_was_meant() {
    let cases = [
        ("--- answer\ntxt hello\n", "demo.mock:2: `txt` is no word of a script; did you mean `text`?"),
        (
            "--- answer\nwait soon\n",
            "demo.mock:2: a time is written like 20ms or 1.5s, not `soon`; an hour at most",
        ),
        (
            "text hello\n",
            "demo.mock:1: `text` stands above the first answer; only `at-end` and `models` do. Begin an answer with `--- answer`",
        ),
        ("\n\n", "demo.mock:1: there is no answer: begin one with `--- answer`"),
        ("--- answer\nusage outptu=1\n", "demo.mock:2: `outptu` is no count; did you mean `output`?"),
        ("--- answer\nargs a {}\n", "demo.mock:1: no `open a …` stands before `args a`"),
        ("--- answer\ntext <<END\nx\n", "demo.mock:2: the block has no line `END` that ends it"),
        ("--- answer\nstatus 99\n", "demo.mock:2: a status is between 200 and 599"),
        ("--- answer\ntext \"open\n", "demo.mock:2: the quoted text does not end, or has a wrong escape"),
        ("--- answer\nheader a: b\\\n", ""),
        (
            "--- answer\ntext x\nerror 429 rate slow\n",
            "demo.mock:1: an answer with `error` has no other content; use `fail` for an error in the stream",
        ),
    ];
    for (text, message) in cases {
        if message.is_empty() {
            parse(text);
        } else {
            assert_eq!(wrong(text), message, "for {text:?}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]
    #[test]
    fn no_text_makes_the_parser_fall(text in "\\PC{0,80}", lines in proptest::collection::vec("(text|call|wait|usage|open|args|cite|token|repeat|bytes|header) ?\\PC{0,20}", 0..6)) {
        Script::parse("x", &text).ok();
        Script::parse("x", &format!("--- answer\n{}", lines.join("\n"))).ok();
    }
}

#[test]
fn the_scripts_of_the_documentation_are_right() {
    let text = include_str!("../../../../docs/mock.md");
    let scripts: Vec<&str> = text.split("```").filter(|block| block.trim().starts_with("---")).collect();
    assert!(scripts.len() >= 3);
    for script in scripts {
        parse(script);
    }
}
