use trilith_core::{Effort, Limits, Loss, ReasoningSettings, Sampling, ToolChoice};

use crate::{Capabilities, CapabilityTable, Thinking};

fn paths(losses: &[Loss]) -> Vec<&str> {
    losses.iter().map(|loss| &*loss.path).collect()
}

#[test]
fn an_effort_becomes_the_nearest_one_that_the_model_knows() {
    use Effort::{High, Low, Max, Medium, Minimal, None as Off, Xhigh};
    let few = |efforts: &[Effort], thinking| Capabilities {
        efforts: efforts.to_vec().into(),
        thinking,
        ..Capabilities::default()
    };
    let three = few(&[Low, Medium, High], Thinking::Always);
    let off = few(&[Off, Low, Medium, High], Thinking::Adaptive);
    let blank = few(&[], Thinking::Budget);
    let never = few(&[], Thinking::No);
    for (can, wanted, sent, told) in [
        (&Capabilities::default(), Max, Some(Max), false),
        (&three, Medium, Some(Medium), false),
        (&three, Max, Some(High), true),
        (&three, Xhigh, Some(High), true),
        (&three, Minimal, Some(Low), true),
        (&three, Off, Some(Low), true),
        (&off, Off, Some(Off), false),
        (&off, Minimal, Some(Low), true),
        (&blank, Xhigh, Some(Xhigh), false),
        (&never, High, None, true),
        (&never, Off, None, false),
    ] {
        let mut losses = Vec::new();
        let asked = ReasoningSettings { effort: Some(wanted), ..ReasoningSettings::default() };
        let found = can.effort(&asked, &mut losses);
        assert_eq!((found, !losses.is_empty()), (sent, told), "{wanted:?} of {:?}", can.efforts);
    }
}

#[test]
fn a_budget_becomes_an_effort() {
    for (budget, effort) in [
        (0, Effort::None),
        (1024, Effort::Low),
        (8192, Effort::Medium),
        (30_000, Effort::High),
        (u64::MAX, Effort::Xhigh),
    ] {
        let asked = ReasoningSettings { budget_tokens: Some(budget), ..ReasoningSettings::default() };
        let mut losses = Vec::new();
        assert_eq!(Capabilities::default().effort(&asked, &mut losses), Some(effort));
        assert_eq!(paths(&losses), ["reasoning.budget_tokens"]);
    }
}

#[test]
fn sampling_is_told_only_where_something_is_lost() {
    let asked = |temperature, top_p, top_k| Sampling { temperature, top_p, top_k, ..Sampling::default() };
    let cool = Capabilities { max_temperature: 1, ..Capabilities::default() };
    let one = Capabilities { temperature_with_top_p: false, ..Capabilities::default() };
    let none = Capabilities { sampling: false, ..Capabilities::default() };
    let all = Capabilities::default();
    for (can, hottest, asked, sent, told) in [
        (&all, 2, asked(Some(1.5), None, None), (Some(1.5), None), vec![]),
        (&all, 1, asked(Some(1.5), None, None), (Some(1.0), None), vec!["temperature"]),
        (&cool, 2, asked(Some(1.5), Some(0.5), None), (Some(1.0), Some(0.5)), vec!["temperature"]),
        (&one, 2, asked(Some(0.5), Some(0.9), None), (Some(0.5), None), vec!["top_p"]),
        (&one, 2, asked(Some(0.5), Some(1.0), None), (Some(0.5), None), vec![]),
        (&none, 2, asked(Some(1.0), Some(1.0), None), (None, None), vec![]),
        (&none, 2, asked(Some(0.0), Some(0.9), Some(4)), (None, None), vec!["temperature", "top_p", "top_k"]),
    ] {
        let mut losses = Vec::new();
        let drawn = can.sampling(&asked, hottest, None, &mut losses);
        assert_eq!(((drawn.temperature, drawn.top_p), paths(&losses)), (sent, told));
    }
    let mut losses = Vec::new();
    assert!(!none.samples("min_p", 0.0, &mut losses) && losses.is_empty());
    assert!(!none.samples("min_p", 0.1, &mut losses) && losses.len() == 1);
}

#[test]
fn limits_hold_and_what_is_not_asked_for_is_not_made_up() {
    let can =
        Capabilities { max_output_tokens: Some(10), single_tool_call: false, ..Capabilities::default() };
    for (asked, sent, told) in [(Some(9), Some(9), 0), (Some(11), Some(10), 1), (None, None, 0)] {
        let mut losses = Vec::new();
        let found = can.most_tokens(Limits { max_output_tokens: asked }, &mut losses);
        assert_eq!((found, losses.len()), (sent, told));
    }
    for (asked, sent, told) in [(Some(false), None, 1), (Some(true), Some(true), 0), (None, None, 0)] {
        let mut losses = Vec::new();
        assert_eq!((can.parallel(asked, &mut losses), losses.len()), (sent, told));
    }
    let table = CapabilityTable::default();
    let choice = |choice| table.of("kimi-k2").check_choice("m", Some(&choice)).is_ok();
    assert!(choice(ToolChoice::Auto) && choice(ToolChoice::None) && !choice(ToolChoice::Required));
}
