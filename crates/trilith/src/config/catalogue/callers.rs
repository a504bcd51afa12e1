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
];
