//! Turns: what a caller may ask for, in what both OpenAI dialects can say.

use std::sync::Arc;

use proptest::prelude::*;
use trilith_core::{
    Call, CallKind, CallResult, Effort, Item, ItemBody, Json, Limits, OutputFormat, OutputSettings,
    ReasoningSettings, ResultOutput, Role, Sampling, Settings, StreamOptions, TextFormat, Tool, ToolChoice,
    ToolKind, Turn, Verbosity,
};

use super::{json_object, name, text};

/// The schema of an answer, in a form that every wire takes as it is.
const SCHEMA: &str = r#"{"properties":{"a":{"type":"string"}},"additionalProperties":false,"type":"object"}"#;

/// Arbitrary turns: text, tools with their calls and results, and the settings that tune an answer.
pub fn turn() -> impl Strategy<Value = Turn> {
    (settings(), proptest::collection::vec(exchange(), 1..4), text(), any::<bool>()).prop_map(
        |(settings, exchanges, question, stream)| {
            let mut input = Vec::new();
            for (number, exchange) in exchanges.into_iter().enumerate() {
                exchange.add(number, &mut input);
            }
            input.push(Item::message(Role::User, question));
            let stream = StreamOptions { stream, ..StreamOptions::default() };
            Turn { settings: Arc::new(settings), input, stream, ..Turn::default() }
        },
    )
}

#[derive(Clone, Debug)]
struct Exchange {
    system: Option<String>,
    question: String,
    calls: Vec<(bool, String, String, String)>,
    answer: String,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let call = (any::<bool>(), name(), json_object(), text());
    (proptest::option::of(text()), text(), proptest::collection::vec(call, 0..3), text())
        .prop_map(|(system, question, calls, answer)| Exchange { system, question, calls, answer })
}

impl Exchange {
    fn add(self, number: usize, input: &mut Vec<Item>) {
        if let Some(system) = self.system {
            input.push(Item::message(Role::Developer, system));
        }
        input.push(Item::message(Role::User, self.question));
        let mut results = Vec::new();
        for (place, (custom, name, arguments, output)) in self.calls.into_iter().enumerate() {
            let kind = if custom { CallKind::Custom } else { CallKind::Function };
            let call_id: Option<Box<str>> = Some(format!("call_{number}_{place}").into());
            input.push(Item::new(ItemBody::Call(Call {
                kind,
                call_id: call_id.clone(),
                name: name.into(),
                namespace: None,
                args: arguments,
                caller: None,
                detail: None,
            })));
            results.push(Item::new(ItemBody::Result(CallResult {
                kind,
                call_id,
                name: None,
                namespace: None,
                status: None,
                output: ResultOutput::Text(output),
                caller: None,
                detail: None,
            })));
        }
        input.append(&mut results);
        input.push(Item::message(Role::Assistant, self.answer));
    }
}

fn tool() -> impl Strategy<Value = Tool> {
    (name(), proptest::option::of(text()), any::<bool>()).prop_map(|(name, description, strict)| {
        // Silence means the opposite in the two OpenAI dialects, so it cannot survive both.
        let strict = Some(strict);
        let schema = r#"{"type":"object","properties":{"a":{"type":"number","minimum":1.0}}}"#;
        let parameters = Some(Json::from_checked(schema));
        Tool::new(ToolKind::Function { name: name.into(), description, parameters, strict })
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let sampling = (proptest::option::of(0_u8..=20), proptest::option::of(0_u8..=10)).prop_map(
        |(temperature, top_p)| Sampling {
            temperature: temperature.map(|tenths| f64::from(tenths) / 10.0),
            top_p: top_p.map(|tenths| f64::from(tenths) / 10.0),
            ..Sampling::default()
        },
    );
    let effort = proptest::option::of(proptest::sample::select(Effort::ALL.to_vec()));
    let output = (any::<bool>(), any::<bool>()).prop_map(|(schema, short)| OutputSettings {
        format: schema.then(|| {
            TextFormat::JsonSchema(OutputFormat {
                name: Some("answer".into()),
                description: None,
                schema: Some(Json::from_checked(SCHEMA)),
                strict: Some(false),
            })
        }),
        verbosity: short.then_some(Verbosity::Low),
    });
    let tools = proptest::collection::vec(tool(), 0..4).prop_map(|mut tools| {
        let mut known = std::collections::HashSet::new();
        tools.retain(
            |tool| matches!(&tool.kind, ToolKind::Function { name, .. } if known.insert(name.clone())),
        );
        tools
    });
    (tools, sampling, effort, output, proptest::option::of(1_u64..10_000), any::<bool>()).prop_map(
        |(tools, sampling, effort, output, max_output_tokens, forced)| Settings {
            model: "m".into(),
            tool_choice: (forced && !tools.is_empty()).then_some(ToolChoice::Required),
            tools,
            sampling,
            limits: Limits { max_output_tokens },
            reasoning: ReasoningSettings { effort, ..ReasoningSettings::default() },
            output,
            ..Settings::default()
        },
    )
}
