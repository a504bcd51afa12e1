//! Keys of the upstreams.

use super::super::values::check;
use super::{Key, Kind, Table};

const DAY: u64 = 86_400_000;

pub(super) static TABLES: &[Table] = &[
    Table { path: "providers[]", doc: "An upstream: a place that speaks a dialect." },
    Table { path: "providers[].timeouts", doc: "Overrides of `[limits]` for this provider." },
    Table {
        path: "providers[].paths",
        doc: "Paths below `base_url`, for places that do not use the usual ones.",
    },
    Table { path: "providers[].quirks", doc: "Where this place differs from its dialect." },
];

pub(super) static KEYS: &[Key] = &[
    Key::new(
        "providers[].name",
        Kind::Text("name", check::name),
        r#""up""#,
        "Name that targets, logs and metrics use. `local` is the embedded model's.",
    )
    .required()
    .literal(),
    Key::new(
        "providers[].preset",
        Kind::Text("preset", check::preset),
        r#""openai""#,
        "A known place; fills `dialect`, `base_url` and `quirks` where they are left out.",
    ),
    Key::new(
        "providers[].dialect",
        Kind::Choice(
            &["chat", "responses", "messages", "completions"],
            &["gemini", "interactions", "converse"],
        ),
        r#""chat""#,
        "What the upstream speaks: `chat` (Chat Completions), `responses`, `messages` (Anthropic's) or \
         `completions` (the older wire, which continues one text and applies no chat template). Needed without \
         `preset`.",
    ),
    Key::new(
        "providers[].base_url",
        Kind::Text("URL", check::base_url),
        r#""http://127.0.0.1:9100/v1""#,
        "Where it is, up to and without the dialect's own path. Needed without `preset`.",
    ),
    Key::new(
        "providers[].local",
        Kind::Flag,
        "true",
        "Whether it may have data that is local only: it runs where such data may be.",
    )
    .default("false"),
    Key::new(
        "providers[].api_key",
        Kind::Text("credential", check::header_value),
        r#""${UP_KEY:-none}""#,
        "Credential that Trilith presents. A caller's own is never sent on.",
    )
    .secret(),
    Key::new(
        "providers[].headers",
        Kind::Map("header", check::header_name, check::header_value),
        r#"{ x-team = "search" }"#,
        "Further headers of every request to this provider.",
    )
    .secret(),
    Key::new(
        "providers[].organization",
        Kind::Text("name", check::header_value),
        r#""org-123""#,
        "Sent as `OpenAI-Organization`.",
    ),
    Key::new(
        "providers[].project",
        Kind::Text("name", check::header_value),
        r#""proj_123""#,
        "Sent as `OpenAI-Project`.",
    ),
    Key::new(
        "providers[].retries",
        Kind::Count(0, 10),
        "0",
        "Further tries of a request here, before the first byte only; `limits.retries` when left out.",
    ),
    Key::new(
        "providers[].proxy",
        Kind::Text("URL", check::proxy),
        r#""http://127.0.0.1:3128""#,
        "HTTP proxy on the way there; `http://user:password@host:port` when it asks for a credential.",
    )
    .secret(),
    Key::new(
        "providers[].ca_file",
        Kind::Text("path", check::path),
        r#""/etc/ssl/private-ca.pem""#,
        "PEM file of further certificate authorities to trust for this provider.",
    ),
    Key::new(
        "providers[].tls_roots",
        Kind::Choice(&["webpki", "system"], &[]),
        r#""system""#,
        "Certificate authorities: those built in, or the machine's.",
    )
    .default(r#""webpki""#),
    Key::new(
        "providers[].timeouts.connect",
        Kind::Duration(10, 10 * 60_000),
        r#""5s""#,
        "Over `limits.connect`.",
    ),
    Key::new(
        "providers[].timeouts.first_byte",
        Kind::Duration(10, DAY),
        r#""10m""#,
        "Over `limits.first_byte`.",
    ),
    Key::new("providers[].timeouts.idle", Kind::Duration(10, DAY), r#""30s""#, "Over `limits.idle`."),
    Key::new(
        "providers[].paths.chat",
        Kind::Text("path", check::url_path),
        r#""/chat/completions""#,
        "Path of Chat Completions.",
    ),
    Key::new(
        "providers[].paths.responses",
        Kind::Text("path", check::url_path),
        r#""/responses""#,
        "Path of Responses.",
    ),
    Key::new(
        "providers[].paths.messages",
        Kind::Text("path", check::url_path),
        r#""/messages""#,
        "Path of Messages.",
    ),
    Key::new(
        "providers[].paths.completions",
        Kind::Text("path", check::url_path),
        r#""/completions""#,
        "Path of Completions.",
    ),
    Key::new(
        "providers[].paths.models",
        Kind::Text("path", check::url_path),
        r#""/models""#,
        "Path of the list of models.",
    ),
    Key::new(
        "providers[].quirks.max_tokens_field",
        Kind::Choice(&["max_completion_tokens", "max_tokens"], &[]),
        r#""max_tokens""#,
        "Field that carries the token limit in `chat`.",
    ),
    Key::new(
        "providers[].quirks.reasoning_field",
        Kind::Choice(&["reasoning", "reasoning_content"], &[]),
        r#""reasoning_content""#,
        "Field that carries reasoning text in `chat`.",
    ),
    Key::new(
        "providers[].quirks.system_role",
        Kind::Choice(&["system", "developer"], &[]),
        r#""system""#,
        "Role that instructions are sent under in `chat`.",
    ),
    Key::new(
        "providers[].quirks.drop_fields",
        Kind::List("field", check::field),
        r#"["store", "metadata"]"#,
        "Top-level request fields that this place refuses; they are left out and reported as losses.",
    )
    .default("[]"),
];
