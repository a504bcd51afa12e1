use proptest::prelude::*;

use super::*;

fn call(name: &str, arguments: &str) -> Step {
    Step::ToolCall { name: name.into(), arguments: arguments.into() }
}

fn text(text: &str) -> Step {
    Step::Text(text.into())
}

fn reasoning(text: &str) -> Step {
    Step::Reasoning(text.into())
}

/// Neighbouring texts joined: where they are cut is no promise.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        match (all.last_mut(), step) {
            (Some(Step::Text(last)), Step::Text(more)) => last.push_str(&more),
            (Some(Step::Reasoning(last)), Step::Reasoning(more)) => last.push_str(&more),
            (_, step) => all.push(step),
        }
    }
    all
}

fn read(pieces: &[&[u8]], stop: &[&str], splitter: Option<Splitter>) -> (Vec<Step>, Option<String>) {
    let mut reader = OutputReader::new(stop.iter().map(|&stop| stop.to_owned()).collect(), splitter);
    let mut steps = Vec::new();
    let mut stopped = None;
    for piece in pieces {
        stopped = reader.push(piece, &mut steps);
        if stopped.is_some() {
            break;
        }
    }
    reader.finish(&mut steps);
    (joined(steps), stopped)
}

fn chat(answer: &str) -> Vec<Step> {
    read(&[answer.as_bytes()], &[], Some(Splitter::new(false, true))).0
}

#[test]
fn a_character_split_over_tokens_comes_out_whole() {
    let mut reader = OutputReader::new(Vec::new(), None);
    let mut steps = Vec::new();
    let bytes = "é€🦀".as_bytes();
    for byte in bytes {
        reader.push(std::slice::from_ref(byte), &mut steps);
    }
    assert_eq!(steps, [text("é"), text("€"), text("🦀")]);
}

#[test]
fn bytes_that_are_no_character_are_replaced_and_an_unfinished_end_is_dropped() {
    assert_eq!(read(&[b"a\xffb", b"\xe2\x82"], &[], None).0, [text("a\u{fffd}b")]);
}

#[test]
fn a_stop_string_over_token_borders_is_never_shown() {
    let (steps, stop) = read(&[b"one ST", b"OP two"], &["STOP"], None);
    assert_eq!((steps, stop.as_deref()), (vec![text("one ")], Some("STOP")));
}

#[test]
fn text_that_only_began_like_a_stop_string_is_shown() {
    let (steps, stop) = read(&[b"one ST", b"ART"], &["STOP"], None);
    assert_eq!((steps, stop), (vec![text("one START")], None));
    assert_eq!(read(&[b"one ST"], &["STOP"], None).0, [text("one ST")]);
}

#[test]
fn no_more_than_a_stop_string_is_held_back() {
    let mut reader = OutputReader::new(vec!["aaab".into()], None);
    let mut steps = Vec::new();
    for _ in 0..10 {
        reader.push(b"a", &mut steps);
    }
    assert_eq!(joined(steps), [text("aaaaaaa")]);
}

#[test]
fn the_stop_string_that_is_complete_first_wins() {
    let (steps, stop) = read(&[b"abcd"], &["bcd", "c"], None);
    assert_eq!((steps, stop.as_deref()), (vec![text("ab")], Some("c")));
    let (steps, stop) = read(&[b"abc"], &["c", "bc"], None);
    assert_eq!((steps, stop.as_deref()), (vec![text("a")], Some("bc")));
}

#[test]
fn thinking_is_separated_from_the_answer() {
    assert_eq!(chat("<think>\nhm, so\n\n</think>\n\nYes."), [reasoning("hm, so"), text("Yes.")]);
    assert_eq!(chat("<think>\n\n</think>\n\nYes."), [text("Yes.")]);
}

#[test]
fn thinking_that_the_prompt_opened_or_that_never_ends_is_thinking() {
    let open = Some(Splitter::new(true, false));
    assert_eq!(read(&[b"hm", b"</think>Yes"], &[], open).0, [reasoning("hm"), text("Yes")]);
    assert_eq!(chat("<think>hm </thi"), [reasoning("hm </thi")]);
}

#[test]
fn a_think_tag_inside_an_answer_is_text() {
    assert_eq!(chat("Write <think> first."), [text("Write <think> first.")]);
}

#[test]
fn tool_calls_are_read_with_the_space_around_them_dropped() {
    let answer = "Let me see. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n\
                  <tool_call>[{\"name\":\"g\",\"arguments\":{}},{\"name\":\"h\"}]</tool_call>\n";
    assert_eq!(
        chat(answer),
        [text("Let me see. "), call("f", "{\"a\": 1}"), call("g", "{}"), call("h", "{}")]
    );
    assert_eq!(chat("\n\n<tool_call>{\"name\":\"f\"}</tool_call>"), [call("f", "{}")]);
}

#[test]
fn arguments_in_a_string_or_named_parameters_are_understood() {
    assert_eq!(
        chat("<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}</tool_call>"),
        [call("f", "{\"a\":1}")]
    );
    assert_eq!(
        chat("<tool_call>{\"name\":\"f\",\"parameters\":{\"a\":1}}</tool_call>"),
        [call("f", "{\"a\":1}")]
    );
}

#[test]
fn a_closing_tag_inside_an_argument_does_not_end_the_call() {
    assert_eq!(
        chat("<tool_call>{\"name\":\"f\",\"arguments\":{\"t\":\"</tool_call>\"}}</tool_call>ok"),
        [call("f", "{\"t\":\"</tool_call>\"}"), text("ok")]
    );
}

#[test]
fn what_is_no_call_stays_text() {
    for answer in [
        "<tool_call>call f please</tool_call>",
        "<tool_call>{\"arguments\":{}}</tool_call>",
        "<tool_call>{\"name\":\"f\",\"argum",
        "<tool_call>[]</tool_call>",
        "<tool_call></tool_call>",
        "a <tool_cal",
        "a < b",
    ] {
        assert_eq!(chat(answer), [text(answer)]);
    }
}

#[test]
fn a_complete_call_without_its_closing_tag_counts() {
    assert_eq!(chat("<tool_call>{\"name\":\"f\"}"), [call("f", "{}")]);
    assert_eq!(chat("<tool_call>{\"name\":\"f\"}</tool"), [call("f", "{}")]);
}

#[test]
fn without_tools_a_call_is_text() {
    let answer = "<tool_call>{\"name\":\"f\"}</tool_call>";
    let (steps, _) = read(&[answer.as_bytes()], &[], Some(Splitter::new(false, false)));
    assert_eq!(steps, [text(answer)]);
}

#[test]
fn leading_space_of_a_plain_answer_is_kept() {
    assert_eq!(chat("  Hello"), [text("  Hello")]);
    assert_eq!(chat("  "), [text("  ")]);
}

/// Pieces of answers that come near every rule.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "{\"name\":\"f\",\"arguments\":{\"a\":\"b\"}}",
        "\n",
        " ",
        "<",
        "STOP",
        "STO",
        "é",
        "🦀",
        "text",
        "{\"name\":\"",
        "\"}",
    ]);
    prop::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_answer_does_not_depend_on_the_borders_of_tokens(
        answer in fragments(),
        sizes in prop::collection::vec(1_usize..7, 1..40),
        thinking in any::<bool>(),
    ) {
        let mut pieces = Vec::new();
        let mut rest = answer.as_bytes();
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let splitter = || Some(Splitter::new(thinking, true));
        let whole = read(&[answer.as_bytes()], &["STOP", "é🦀"], splitter());
        prop_assert_eq!(read(&pieces, &["STOP", "é🦀"], splitter()), whole);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let pieces: Vec<&[u8]> = bytes.chunks(3).collect();
        read(&pieces, &["\u{0}"], Some(Splitter::new(false, true)));
    }
}
