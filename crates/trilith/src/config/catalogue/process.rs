//! Keys of the process itself: server, store, log, limits, embedded model, seal.

use super::super::values::check;
use super::{Key, Kind, Table};

const DAY: u64 = 86_400_000;
const GIB: u64 = 1 << 30;

pub(super) static TABLES: &[Table] = &[
    Table { path: "server", doc: "The listeners and what they take from a client." },
    Table { path: "store", doc: "Where responses are kept." },
    Table { path: "log", doc: "The log on standard error. It holds neither content nor credentials." },
    Table { path: "limits", doc: "What holds for all upstreams unless a provider says otherwise." },
    Table {
        path: "local",
        doc: "The embedded model. It answers under its `name`, and targets reach it as provider `local`.",
    },
    Table {
        path: "seal",
        doc: "The key that seals what clients carry back, such as another model's reasoning.",
    },
    Table {
        path: "fetch",
        doc: "Fetching what callers name by its address. Only public addresses are asked, each redirect is looked at \
              anew, and no credential is sent.",
    },
];

pub(super) static KEYS: &[Key] = &[
    Key::new(
        "server.listen",
        Kind::Text("address", check::address),
        r#""0.0.0.0:8080""#,
        "Address and port of the API. Without any `[[keys]]` only a loopback address is accepted.",
    )
    .default(r#""127.0.0.1:8080""#),
    Key::new(
        "server.admin_listen",
        Kind::Text("address", check::address_or_off),
        r#""127.0.0.1:8081""#,
        "Address and port of `/health`, `/ready` and `/metrics`; `\"\"` turns that listener off.",
    )
    .default(r#""127.0.0.1:8081""#),
    Key::new(
        "server.max_body_bytes",
        Kind::Size(1024, 4 * GIB),
        r#""32MiB""#,
        "Largest request body, after decompression. A larger one is answered with 413.",
    )
    .default(r#""32MiB""#),
    Key::new(
        "server.max_depth",
        Kind::Count(8, 1024),
        "128",
        "Deepest nesting of arrays and objects in a request body.",
    )
    .default("128"),
    Key::new(
        "server.max_concurrent",
        Kind::Count(1, 1_000_000),
        "1024",
        "Most client connections at a time; further ones wait to be accepted.",
    )
    .default("1024"),
    Key::new(
        "server.workers",
        Kind::Count(0, 1024),
        "4",
        "Threads that serve connections, each keeping those it was given; 0 is one for each core.",
    )
    .default("0"),
    Key::new(
        "server.header_timeout",
        Kind::Duration(100, 10 * 60_000),
        r#""90s""#,
        "Time in which a client must send a request's headers, and the longest silence within its body; also how \
         long a connection without requests is kept, so keep it above the idle time of the load balancers in front.",
    )
    .default(r#""90s""#),
    Key::new(
        "server.drain_timeout",
        Kind::Duration(0, 60 * 60_000),
        r#""30s""#,
        "Time that running requests get to finish after SIGTERM.",
    )
    .default(r#""30s""#),
    Key::new(
        "store.url",
        Kind::Text("store URL", check::store),
        r#""sqlite:trilith.db""#,
        "`sqlite:PATH` (relative to the working directory) or `memory:`, which is lost at exit.",
    )
    .default(r#""sqlite:trilith.db""#),
    Key::new(
        "store.sync",
        Kind::Choice(&["full", "normal"], &[]),
        r#""full""#,
        "`full`: a finished response survives a power failure. `normal`: it survives a crash of the process; \
         the newest may be lost with the power.",
    )
    .default(r#""normal""#),
    Key::new(
        "store.retention_days",
        Kind::Count(1, 36_500),
        "30",
        "Days after which a stored response is deleted.",
    )
    .default("30"),
    Key::new("log.format", Kind::Choice(&["text", "json"], &[]), r#""json""#, "Form of a line.")
        .default(r#""text""#),
    Key::new(
        "log.level",
        Kind::Choice(&["error", "warn", "info", "debug", "trace"], &[]),
        r#""debug""#,
        "Least important lines that are written.",
    )
    .default(r#""info""#),
    Key::new(
        "limits.connect",
        Kind::Duration(10, 10 * 60_000),
        r#""10s""#,
        "Time to reach an upstream, TLS included.",
    )
    .default(r#""10s""#),
    Key::new(
        "limits.first_byte",
        Kind::Duration(10, DAY),
        r#""120s""#,
        "Time from sending a request to the first byte of its answer.",
    )
    .default(r#""120s""#),
    Key::new("limits.idle", Kind::Duration(10, DAY), r#""120s""#, "Longest silence within an answer.")
        .default(r#""120s""#),
    Key::new(
        "limits.retries",
        Kind::Count(0, 10),
        "2",
        "Further tries of a request at one target, before the first byte only.",
    )
    .default("2"),
    Key::new(
        "limits.max_requests",
        Kind::Count(0, 1_000_000),
        "256",
        "Most requests in work at a time; further ones are answered with 503. 0: no limit.",
    )
    .default("1024"),
    Key::new(
        "limits.max_choices",
        Kind::Count(1, 128),
        "4",
        "Most calls for one request, where an upstream gives one answer to a call (`n`) or takes one prompt to a \
         call (lists of prompts).",
    )
    .default("8"),
    Key::new(
        "limits.max_answer_bytes",
        Kind::Size(1024, 4 * GIB),
        r#""64MiB""#,
        "Largest answer that is gathered, after decompression: one that is not streamed, and everything that a \
         response keeps of one that is.",
    )
    .default(r#""64MiB""#),
    Key::new(
        "local.model",
        Kind::Text("path", check::path),
        r#""models/SmolLM2-135M-Instruct.gguf""#,
        "GGUF file of the embedded model, relative to the working directory.",
    ),
    Key::new(
        "local.name",
        Kind::Text("name", check::model_name),
        r#""smollm2""#,
        "Name that callers use; the file's name without `.gguf` when left out.",
    )
    .literal(),
    Key::new(
        "local.context",
        Kind::Count(256, 1 << 20),
        "4096",
        "Context window in tokens; the model's own when left out.",
    ),
    Key::new(
        "local.threads",
        Kind::Count(1, 1024),
        "4",
        "Threads that compute; as many as the machine has cores when left out.",
    ),
    Key::new(
        "seal.key_file",
        Kind::Text("path", check::path),
        r#""/etc/trilith/seal.key""#,
        "File that holds the sealing key; made on the first start when it does not exist. When left out, the key \
         is kept beside the store.",
    ),
    Key::new(
        "fetch.enabled",
        Kind::Flag,
        "true",
        "Whether images and documents are fetched by their address for targets that take none (`image_urls` and \
         `document_urls` of `[[capabilities]]`, and what a dialect cannot say). When off, such requests are refused.",
    )
    .default("false"),
    Key::new(
        "fetch.hosts",
        Kind::List("host or pattern", check::host_pattern),
        r#"["cdn.example.com", "*.example.org"]"#,
        "Hosts that may be asked; every public one when left out.",
    )
    .default("[]"),
    Key::new(
        "fetch.private_hosts",
        Kind::List("host or pattern", check::host_pattern),
        r#"["files.corp.example"]"#,
        "Hosts that may be asked though they lead to a private address or to this machine. Link-local addresses, \
         where clouds keep their metadata, are never asked.",
    )
    .default("[]"),
    Key::new(
        "fetch.ports",
        Kind::List("port", check::port),
        r#"["8443"]"#,
        "Ports that may be asked besides the scheme's own.",
    )
    .default("[]"),
    Key::new("fetch.http", Kind::Flag, "true", "Whether `http` addresses are fetched too, and not `https` alone.")
        .default("false"),
    Key::new(
        "fetch.max_bytes",
        Kind::Size(1024, GIB),
        r#""20MiB""#,
        "Largest answer that is taken, after decompression.",
    )
    .default(r#""20MiB""#),
    Key::new(
        "fetch.time",
        Kind::Duration(100, 10 * 60_000),
        r#""10s""#,
        "Time for one address, redirects included.",
    )
    .default(r#""10s""#),
    Key::new("fetch.at_once", Kind::Count(1, 10_000), "16", "How many addresses are fetched at a time.").default("16"),
];
