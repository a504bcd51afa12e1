//! Rows of each version, kept as bytes beside what they mean: a change that misreads old rows fails here.
//! These files are never written anew; what a later version adds gets files of its own.

use std::sync::Arc;

use trilith_core::{
    Annotation, AnnotationKind, CacheMark, Carrier, CarrierKind, DialectId, Effort, Extra, HostedTool, Image,
    Instructions, ItemBody, ItemStatus, Json, Limits, Logprob, MediaSource, Message, Origin, OutputFormat,
    Part, PartKind, Phase, Pin, PinRule, Reasoning, ReasoningSettings, Role, Sampling, Settings, Text,
    TextFormat, Tool, ToolChoice, ToolChoiceMode, ToolKind, ToolRef, TopLogprob, Truncation,
};

use super::*;

macro_rules! golden {
    ($name:literal) => {
        (include_str!(concat!("golden/", $name, ".hex")), include_str!(concat!("golden/", $name, ".txt")))
    };
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// Bytes of an old version must mean this value, and the text beside them must say so. Where they do not, the
/// failure shows what this version writes, which is what a new pair of files holds.
fn check<T: Code + std::fmt::Debug + PartialEq>((hex, text): (&str, &str), value: &T) {
    let now: String = encode(value)
        .chunks(32)
        .map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n")
        .collect();
    let read: Result<T, Corrupt> = decode(&bytes(hex));
    assert_eq!(read.as_ref(), Ok(value), "this version writes:\n{now}");
    // What a later version added is empty in an old row, and its text knows nothing of it.
    let shown: String =
        format!("{value:#?}\n").split_inclusive('\n').filter(|line| line.trim() != "pin: None,").collect();
    let text: String = text.split_inclusive('\n').filter(|line| line.trim() != "pin: None,").collect();
    assert_eq!(shown, text);
}

fn extra() -> Extra {
    let mut extra = Extra::EMPTY;
    extra.push(DialectId::Chat, "vendor", Json::from_checked(r#"{"a": 1.0}"#));
    extra
}

fn rich_item() -> Item {
    let token =
        |token: &str| TopLogprob { token: token.into(), logprob: -0.5, bytes: Some(vec![104, 0, 255]) };
    let text = Text {
        text: "Caf\u{e9} \u{1f600}".into(),
        annotations: vec![Annotation {
            kind: AnnotationKind::Url { url: "https://example.com/".into(), title: "".into() },
            start: Some(0),
            end: Some(4),
            index: None,
            extra: extra(),
        }],
        logprobs: vec![Logprob { chosen: token("Caf"), top: vec![token("Tea")] }],
    };
    let image =
        Image { source: MediaSource::Url("https://example.com/i.png".into()), detail: Some("low".into()) };
    Item {
        id: Some("msg_1".into()),
        status: Some(ItemStatus::Completed),
        body: ItemBody::Message(Message {
            role: Role::Assistant,
            parts: vec![
                Part { kind: PartKind::Text(text), cache_mark: Some(CacheMark::H1), extra: extra() },
                Part::new(PartKind::Image(image)),
            ],
            phase: Some(Phase::FinalAnswer),
            name: Some("bot".into()),
        }),
        origin: Some(Arc::new(Origin {
            dialect: DialectId::Messages,
            upstream: "up".into(),
            model: "m-1".into(),
            account: "0a1b".into(),
        })),
        extra: extra(),
        pin: None,
    }
}

fn rich_settings() -> Settings {
    let carrier = Carrier { kind: CarrierKind::Signature, data: "sig".into(), origin: None };
    let thought = Reasoning { summary: vec!["s".into()], text: vec!["t".into()], carriers: vec![carrier] };
    let function = ToolKind::Function {
        name: "f".into(),
        description: Some("does".into()),
        parameters: Some(Json::from_checked(r#"{"type": "object"}"#)),
        strict: Some(false),
    };
    let hosted = ToolKind::Hosted { tool: HostedTool::Mcp, config: Json::from_checked(r#"{"type":"mcp"}"#) };
    let schema = OutputFormat {
        name: Some("n".into()),
        description: None,
        schema: Some(Json::from_checked("{}")),
        strict: Some(true),
    };
    let mut settings = Settings {
        model: "m".into(),
        instructions: Some(Instructions::Items(vec![Item::new(ItemBody::Reasoning(thought))])),
        tools: vec![Tool::new(function), Tool::new(hosted)],
        tool_choice: Some(ToolChoice::Allowed {
            mode: ToolChoiceMode::Required,
            tools: vec![ToolRef::Function("f".into())],
        }),
        parallel_tool_calls: Some(false),
        max_tool_calls: Some(3),
        sampling: Sampling {
            temperature: Some(0.7),
            seed: Some(-1),
            stop: vec!["x".into()],
            ..Sampling::default()
        },
        limits: Limits { max_output_tokens: Some(1 << 40) },
        reasoning: ReasoningSettings { effort: Some(Effort::Xhigh), ..ReasoningSettings::default() },
        truncation: Some(Truncation::Auto),
        include: vec!["a.b".into()],
        metadata: Some(vec![("k".into(), "".into())]),
        user: Some("u".into()),
        extra: extra(),
        ..Settings::default()
    };
    settings.output.format = Some(TextFormat::JsonSchema(schema));
    settings
}

#[test]
fn version_1_rows_are_read() {
    check(golden!("v1/item"), &rich_item());
    check(golden!("v1/settings"), &rich_settings());
    let pin = Pin { rule: PinRule::Tool, name: "crm_*".into() };
    let pinned = Item { pin: Some(Arc::new(pin)), ..Item::message(Role::User, "hi") };
    check(golden!("v1/pinned_item"), &pinned);
}
