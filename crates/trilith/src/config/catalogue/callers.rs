//! Keys of the models that callers name and of the callers themselves.

use super::super::values::check;
use super::{Key, Kind, Table};

pub(super) static TABLES: &[Table] = &[
    Table {
        path: "models[]",
        doc: "A model as callers name it, and who answers. An exact name wins over patterns; patterns are tried in \
              the order of the file.",
    },
    Table {
        path: "models[].targets[]",
        doc: "Who answers, in order: the next is tried when one fails before its first byte.",
    },
    Table {
        path: "capabilities[]",
        doc: "What models can be asked for, over what is known of them by their names. Later rows win.",
    },
    Table {
        path: "tools[]",
        doc: "Tools by the names that models call: functions and custom tools by their own (a namespace goes before \
              it with `__`), hosted ones by their kind, such as `file_search` or `mcp`. An exact name wins over \
              patterns; patterns are tried in the order of the file.",
    },
    Table {
        path: "keys[]",
        doc: "A caller's key, accepted as bearer token, `x-api-key`, `api-key` or `x-goog-api-key`. Without any, \
              only loopback is served.",
    },
];

pub(super) static KEYS: &[Key] = &[
    Key::new(
        "models[].name",
        Kind::Text("name or pattern", check::pattern),
        r#""gpt-*""#,
        "A name, or a pattern in which each `*` stands for any text.",
    )
    .required()
    .literal(),
    Key::new(
        "models[].strict",
        Kind::Flag,
        "true",
        "Refuse a request that cannot be translated without loss, instead of warning.",
    )
    .default("false"),
    Key::new(
        "models[].local_only",
        Kind::Flag,
        "true",
        "Whether what is said and made under this name goes to local targets only, now and in every later request \
         that continues it. A request that cannot comply is refused.",
    )
    .default("false"),
    Key::new(
        "models[].targets[].provider",
        Kind::Text("name", check::text),
        r#""up""#,
        "Name of a provider; `local` is the embedded model.",
    )
    .required()
    .literal(),
    Key::new(
        "models[].targets[].model",
        Kind::Text("name", check::target_model),
        r#""*""#,
        "Name of the model there; `*` is the name that the caller gave.",
    )
    .default(r#""*""#),
    Key::new(
        "models[].targets[].local",
        Kind::Flag,
        "true",
        "Whether this target may have data that is local only; as its provider is when left out. The embedded model \
         is local.",
    ),
    Key::new(
        "capabilities[].model",
        Kind::Text("name or pattern", check::pattern),
        r#""house-*""#,
        "The model's name at its provider, or a pattern in which each `*` stands for any text.",
    )
    .required()
    .literal(),
    Key::new(
        "capabilities[].forced_tool_choice",
        Kind::Flag,
        "false",
        "Whether it can be made to call a tool.",
    ),
    Key::new(
        "capabilities[].single_tool_call",
        Kind::Flag,
        "false",
        "Whether it can be held to one call at a time.",
    ),
    Key::new(
        "capabilities[].several_answers",
        Kind::Flag,
        "false",
        "Whether it gives several answers to one call (`n`). Where it does not, it is called several times.",
    ),
    Key::new(
        "capabilities[].stop_strings",
        Kind::Count(0, 1000),
        "0",
        "How many stop strings it takes. Where a request has more, its text is cut here.",
    ),
    Key::new("capabilities[].prefill", Kind::Flag, "false", "Whether it goes on from its own last words."),
    Key::new(
        "capabilities[].sampling",
        Kind::Flag,
        "false",
        "Whether it takes `temperature`, `top_p` and `top_k`.",
    ),
    Key::new(
        "capabilities[].max_temperature",
        Kind::Count(1, 2),
        "1",
        "The highest temperature it takes; a higher one is sent as this.",
    ),
    Key::new(
        "capabilities[].temperature_with_top_p",
        Kind::Flag,
        "false",
        "Whether it takes `temperature` and `top_p` together.",
    ),
    Key::new(
        "capabilities[].system_between_turns",
        Kind::Flag,
        "false",
        "Whether it takes system messages between turns.",
    ),
    Key::new(
        "capabilities[].json_schema",
        Kind::Flag,
        "false",
        "Whether it holds to a JSON Schema by itself.",
    ),
    Key::new(
        "capabilities[].schema_refs",
        Kind::Flag,
        "false",
        "Whether schemas may refer to their own parts by `$ref`; otherwise references are written out.",
    ),
    Key::new("capabilities[].strict_tools", Kind::Flag, "false", "Whether tools can be declared strict."),
    Key::new(
        "capabilities[].pdf",
        Kind::Flag,
        "false",
        "Whether it reads PDF documents; where not, it is sent their text.",
    ),
    Key::new(
        "capabilities[].image_urls",
        Kind::Flag,
        "false",
        "Whether it takes images by their address; where not, `[fetch]` decides whether they are fetched for it.",
    ),
    Key::new(
        "capabilities[].document_urls",
        Kind::Flag,
        "false",
        "Whether it takes documents by their address; where not, `[fetch]` decides whether they are fetched for it.",
    ),
    Key::new(
        "capabilities[].image_types",
        Kind::List("media type", check::image_type),
        r#"["image/png", "image/jpeg"]"#,
        "The types of images it reads; an image of another type is refused.",
    ),
    Key::new(
        "capabilities[].max_output",
        Kind::Count(1, 10_000_000),
        "32000",
        "The most output tokens it takes. More is sent as this, and so is nothing where a `messages` request must \
         name a limit.",
    ),
    Key::new(
        "capabilities[].thinking",
        Kind::Choice(&["no", "budget", "adaptive", "always"], &[]),
        r#""adaptive""#,
        "How its thinking is asked for in `messages`: not at all, with a budget of tokens, by effort, or by effort \
         and never off.",
    ),
    Key::new(
        "capabilities[].efforts",
        Kind::List("effort", check::effort),
        r#"["low", "medium", "high"]"#,
        "The reasoning efforts it knows; others become the nearest.",
    ),
    Key::new(
        "tools[].name",
        Kind::Text("name or pattern", check::pattern),
        r#""crm_*""#,
        "A tool's name, or a pattern in which each `*` stands for any text.",
    )
    .required()
    .literal(),
    Key::new(
        "tools[].local_only",
        Kind::Flag,
        "true",
        "Whether what such a tool answers, and what a model makes of it, goes to local targets only. A request that \
         cannot comply is refused.",
    )
    .default("false"),
    Key::new(
        "keys[].name",
        Kind::Text("name", check::name),
        r#""ci""#,
        "Name that logs use instead of the key.",
    )
    .required()
    .literal(),
    Key::new(
        "keys[].tenant",
        Kind::Text("name", check::name),
        r#""default""#,
        "Whose data the key reads and writes. Keys of one tenant share it; others never see it.",
    )
    .default(r#""default""#),
    Key::new(
        "keys[].key_hash",
        Kind::Text("hash", check::key_hash),
        r#""sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08""#,
        "The key's SHA-256, as `printf %s KEY | sha256sum` prints it. This or `key`.",
    )
    .secret(),
    Key::new(
        "keys[].key",
        Kind::Text("credential", check::header_value),
        r#""${CI_KEY:-sk-trilith-example-0001}""#,
        "The key itself; accepted with a warning when it stands in the file as it is.",
    )
    .secret(),
    Key::new(
        "keys[].models",
        Kind::List("name or pattern", check::pattern),
        r#"["gpt-*", "smollm2"]"#,
        "Models that the key may call; all when left out.",
    ),
    Key::new(
        "keys[].max_requests",
        Kind::Count(1, 1_000_000),
        "8",
        "Most requests of the key in work at a time; further ones are answered with 429.",
    ),
    Key::new(
        "keys[].local_only",
        Kind::Flag,
        "true",
        "Whether what is said and made under the key goes to local targets only, now and in every later request that \
         continues it. A request that cannot comply is refused.",
    )
    .default("false"),
];
