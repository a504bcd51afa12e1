use super::*;

#[test]
fn names_say_what_a_model_takes() {
    let table = CapabilityTable::default();
    for (model, sampling, forced, thinking, most) in [
        ("gpt-5.6", true, true, Thinking::Adaptive, None),
        ("claude-3-5-haiku-latest", true, true, Thinking::No, Some(8_192)),
        ("gpt-5-mini", false, true, Thinking::Always, None),
        ("openai/o3-mini", false, true, Thinking::Always, None),
        ("gpt-5-chat-latest", true, true, Thinking::No, None),
        ("kimi-k2-thinking", false, false, Thinking::Adaptive, None),
        ("claude-3-7-sonnet-latest", true, true, Thinking::Budget, Some(64_000)),
        ("claude-sonnet-4-20250514", true, true, Thinking::Budget, Some(32_000)),
        ("anthropic/claude-sonnet-4-5", true, true, Thinking::Budget, Some(64_000)),
        ("claude-opus-4-7", false, true, Thinking::Adaptive, Some(32_000)),
        ("claude-haiku-5", false, true, Thinking::Adaptive, Some(32_000)),
        ("claude-opus-5-5", false, false, Thinking::Always, Some(32_000)),
    ] {
        let can = table.of(model);
        let found = (can.sampling, can.forced_tool_choice, can.thinking, can.usual_output_tokens);
        assert_eq!(found, (sampling, forced, thinking, most), "{model}");
    }
}

#[test]
fn an_operators_rows_win_in_their_order() {
    let row = |sampling| Change { sampling: Some(sampling), ..Change::default() };
    let table =
        CapabilityTable::new([("claude-*", row(true)), ("house-*", row(false)), ("house-b", row(true))]);
    assert!(table.of("claude-opus-5-5").sampling);
    assert!(!table.of("claude-opus-5-5").forced_tool_choice);
    assert!(!table.of("house-a").sampling);
    assert!(table.of("house-b").sampling);
}
