//! Settings and tools.

use proptest::{collection::vec, option, prelude::*, sample::select};
use trilith_core::{
    CustomFormat, Effort, GrammarSyntax, HostedTool, Instructions, Limits, OutputFormat, OutputSettings,
    ReasoningSettings, Sampling, Settings, TextFormat, Tool, ToolChoice, ToolChoiceMode, ToolKind, ToolRef,
    Truncation, Verbosity,
};

use super::{extra, items, json, maybe_word, number, text, word};

/// Settings with any of their fields.
pub(crate) fn settings() -> BoxedStrategy<Settings> {
    let what = (word(), option::of(instructions()), vec(tool(), 0..3), option::of(tool_choice()));
    let calls = (option::of(any::<bool>()), option::of(any::<u32>()));
    let how = (sampling(), option::of(any::<u64>()), reasoning(), output());
    let truncation = option::of(select(vec![Truncation::Auto, Truncation::Disabled]));
    let more = (truncation, vec(word(), 0..3), option::of(vec((word(), word()), 0..3)), extra());
    let who = (maybe_word(), maybe_word(), maybe_word(), maybe_word());
    (what, calls, how, more, who)
        .prop_map(|(what, calls, how, more, who)| Settings {
            model: what.0,
            instructions: what.1,
            tools: what.2,
            tool_choice: what.3,
            parallel_tool_calls: calls.0,
            max_tool_calls: calls.1,
            sampling: how.0,
            limits: Limits { max_output_tokens: how.1 },
            reasoning: how.2,
            output: how.3,
            truncation: more.0,
            include: more.1,
            metadata: more.2,
            extra: more.3,
            safety_identifier: who.0,
            user: who.1,
            prompt_cache_key: who.2,
            service_tier: who.3,
        })
        .boxed()
}

fn instructions() -> BoxedStrategy<Instructions> {
    prop_oneof![text().prop_map(Instructions::Text), vec(items::item(), 0..2).prop_map(Instructions::Items),]
        .boxed()
}

pub(super) fn tool() -> BoxedStrategy<Tool> {
    let leaf = (tool_kind(), option::of(any::<bool>()), items::cache_mark(), extra())
        .prop_map(|(kind, defer_loading, cache_mark, extra)| Tool { kind, defer_loading, cache_mark, extra });
    leaf.prop_recursive(2, 6, 3, |inner| {
        (word(), option::of(text()), vec(inner, 0..3)).prop_map(|(name, description, tools)| {
            Tool::new(ToolKind::Namespace { name, description, tools })
        })
    })
    .boxed()
}

fn tool_kind() -> BoxedStrategy<ToolKind> {
    let syntax = select(vec![GrammarSyntax::Lark, GrammarSyntax::Regex]);
    let format = prop_oneof![
        Just(CustomFormat::Text),
        (syntax, text()).prop_map(|(syntax, definition)| CustomFormat::Grammar { syntax, definition }),
    ];
    prop_oneof![
        (word(), option::of(text()), option::of(json()), option::of(any::<bool>())).prop_map(
            |(name, description, parameters, strict)| ToolKind::Function {
                name,
                description,
                parameters,
                strict
            }
        ),
        (word(), option::of(text()), option::of(format))
            .prop_map(|(name, description, format)| ToolKind::Custom { name, description, format }),
        (hosted(), json()).prop_map(|(tool, config)| ToolKind::Hosted { tool, config }),
    ]
    .boxed()
}

fn hosted() -> BoxedStrategy<HostedTool> {
    select(HostedTool::ALL.to_vec()).boxed()
}

fn tool_ref() -> BoxedStrategy<ToolRef> {
    prop_oneof![
        word().prop_map(ToolRef::Function),
        word().prop_map(ToolRef::Custom),
        (hosted(), json()).prop_map(|(tool, json)| ToolRef::Hosted(tool, json)),
        (word(), maybe_word()).prop_map(|(server_label, name)| ToolRef::Mcp { server_label, name }),
    ]
    .boxed()
}

fn tool_choice() -> BoxedStrategy<ToolChoice> {
    let mode = select(vec![ToolChoiceMode::Auto, ToolChoiceMode::Required]);
    prop_oneof![
        select(vec![ToolChoice::None, ToolChoice::Auto, ToolChoice::Required]),
        tool_ref().prop_map(ToolChoice::Tool),
        (mode, vec(tool_ref(), 0..3)).prop_map(|(mode, tools)| ToolChoice::Allowed { mode, tools }),
    ]
    .boxed()
}

fn sampling() -> BoxedStrategy<Sampling> {
    let real = || option::of(number());
    let whole = || option::of(any::<u32>());
    let first = (real(), real(), whole(), real(), real(), real());
    let second = (option::of(any::<i64>()), option::of(json()), vec(word(), 0..3), whole(), whole());
    (first, second, option::of(any::<bool>()))
        .prop_map(|(first, second, logprobs)| Sampling {
            temperature: first.0,
            top_p: first.1,
            top_k: first.2,
            min_p: first.3,
            presence_penalty: first.4,
            frequency_penalty: first.5,
            seed: second.0,
            logit_bias: second.1,
            stop: second.2,
            n: second.3,
            logprobs,
            top_logprobs: second.4,
        })
        .boxed()
}

fn reasoning() -> BoxedStrategy<ReasoningSettings> {
    let effort = option::of(select(Effort::ALL.to_vec()));
    (effort, option::of(any::<u64>()), maybe_word(), maybe_word(), maybe_word())
        .prop_map(|(effort, budget_tokens, summary, context, mode)| ReasoningSettings {
            effort,
            budget_tokens,
            summary,
            context,
            mode,
        })
        .boxed()
}

fn output() -> BoxedStrategy<OutputSettings> {
    let schema = (maybe_word(), option::of(text()), option::of(json()), option::of(any::<bool>())).prop_map(
        |(name, description, schema, strict)| {
            TextFormat::JsonSchema(OutputFormat { name, description, schema, strict })
        },
    );
    let format = prop_oneof![Just(TextFormat::Text), Just(TextFormat::JsonObject), schema];
    let verbosity = select(vec![Verbosity::Low, Verbosity::Medium, Verbosity::High]);
    (option::of(format), option::of(verbosity))
        .prop_map(|(format, verbosity)| OutputSettings { format, verbosity })
        .boxed()
}
