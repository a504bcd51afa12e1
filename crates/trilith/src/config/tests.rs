//! What a person sees of the configuration: errors, warnings, defaults, the printed pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::document::{document, sample};
use super::*;

fn environment(name: &str) -> Option<String> {
    match name {
        "DEPTH" => Some("very".to_owned()),
        "UP_KEY" => Some("sk-from-the-environment".to_owned()),
        "RETRIES" => Some("4".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn read(text: &str) -> Result<Loaded, Problems> {
    load(Some(File { name: "trilith.toml", text }), &Flags::default(), &environment)
}

fn good(text: &str) -> Loaded {
    read(text).unwrap_or_else(|problems| panic!("{problems}\nin\n{text}"))
}

const SMALL: &str = r#"
[[providers]]
name = "up"
dialect = "chat"
base_url = "http://127.0.0.1:9100/v1"
api_key = "${UP_KEY}"
[[models]]
name = "*"
targets = [{ provider = "up", model = "*" }]
"#;

/// Each bad file in `tests/bad` has the text that a person reads beside it.
#[test]
fn bad_files_say_what_is_wrong_where_and_what_to_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/tests/bad");
    let mut seen = 0;
    let mut wrong = String::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let said = load(Some(File { name, text: &text }), &Flags::default(), &environment).unwrap_err();
        let said = format!("{said}\n");
        assert!(!said.contains("hunter2") && !said.contains("do-not-show"), "a secret in\n{said}");
        if fs::read_to_string(path.with_extension("txt")).unwrap_or_default() != said {
            wrong.push_str(&format!("== {name}\n{said}"));
        }
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} files");
    assert!(wrong.is_empty(), "expected texts differ; now said:\n{wrong}");
}

#[test]
fn an_empty_file_gives_the_documented_defaults() {
    let Loaded { config, warnings } = good("");
    assert!(warnings.is_empty());
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.server.admin_listen.unwrap().to_string(), "127.0.0.1:8081");
    assert_eq!((config.server.max_body_bytes, config.server.max_depth), (32 << 20, 128));
    assert_eq!(config.store.url, StoreUrl::Sqlite("trilith.db".into()));
    assert_eq!(config.store.retention.as_secs(), 30 * 86_400);
    assert_eq!(config.limits.timeouts.first_byte.as_secs(), 120);
    assert_eq!((config.log.format, config.log.level.as_str()), (LogFormat::Text, "info"));
    assert!(config.providers.is_empty() && config.models.is_empty() && config.keys.is_empty());
    assert!(config.local.is_none() && config.loopback_only());
}

#[test]
fn the_smallest_file_routes_everything_to_one_upstream() {
    let config = good(SMALL).config;
    let provider = &config.providers[0];
    assert_eq!((provider.name.as_str(), provider.dialect), ("up", Dialect::Chat));
    assert_eq!(provider.api_key.as_ref().unwrap().expose(), "sk-from-the-environment");
    assert_eq!(provider.timeouts, config.limits.timeouts);
    assert_eq!(provider.quirks, Quirks::default());
    let target = Target { provider: "up".to_owned(), model: "*".to_owned(), local: false };
    assert_eq!(config.models[0].targets, [target]);
}

#[test]
fn variables_stand_for_numbers_too_and_defaults_for_empty_ones() {
    let text = "[limits]\nretries = \"${RETRIES}\"\n[server]\nlisten = \"${EMPTY:-[::1]}:${PORT:-9}\"\n\
                [log]\nlevel = '${LEVEL:-debug}'\n[local]\nmodel = '$${x}$y.gguf'\nname = 'm'\n";
    let config = good(text).config;
    assert_eq!(config.limits.retries, 4);
    assert_eq!(config.server.listen.to_string(), "[::1]:9");
    assert_eq!(config.log.level, "debug");
    assert_eq!(config.local.unwrap().model.to_str(), Some("${x}$y.gguf"));
}

#[test]
fn a_provider_overrides_limits_and_preset() {
    let text = r#"
[limits]
connect = 3
[[providers]]
name = "o"
preset = "openai"
timeouts = { idle = "2m" }
[[providers]]
name = "d"
preset = "deepseek"
base_url = "https://example.com/v1/"
quirks.max_tokens_field = "max_completion_tokens"
quirks.drop_fields = ["store"]
[[models]]
name = "*"
targets = [{ provider = "o" }, { provider = "d", model = "deepseek-chat" }]
"#;
    let config = good(text).config;
    let [first, second] = &config.providers[..] else { panic!("two providers") };
    assert_eq!((first.dialect, first.base_url.as_str()), (Dialect::Responses, "https://api.openai.com/v1"));
    assert_eq!((first.timeouts.connect.as_secs(), first.timeouts.idle.as_secs()), (3, 120));
    assert_eq!(second.base_url, "https://example.com/v1");
    assert_eq!(second.quirks.max_tokens_field, Some(MaxTokensField::MaxCompletionTokens));
    assert_eq!(second.quirks.reasoning_field, Some(ReasoningField::ReasoningContent));
    assert_eq!(second.quirks.drop_fields, ["store"]);
}

#[test]
fn keys_become_digests_and_plain_ones_warn() {
    let text = format!(
        "{SMALL}[[keys]]\nname = 'a'\nkey = 'sk-0123456789abcdef'\n[[keys]]\nname = 'b'\ntenant = 't'\n\
         key_hash = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'\nmodels = ['x-*']\n\
         [[keys]]\nname = 'c'\nkey = '${{UP_KEY}}'\n"
    );
    let Loaded { config, warnings } = good(&text);
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("trilith.toml:12:7: keys[0].key: the key stands in the file in plain text"));
    assert_eq!(config.keys[1].digest[..2], [0x9f, 0x86]);
    assert_eq!(config.keys[1].models.as_deref(), Some(&["x-*".to_owned()][..]));
    assert_eq!((config.keys[0].tenant.as_str(), config.keys[1].tenant.as_str()), ("default", "t"));
    assert!(!format!("{config:?}").contains("sk-"), "a credential in the debug form");
}

#[test]
fn what_is_local_only_needs_a_local_target() {
    let said = |text: &str| good(text).warnings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let rules = format!("{SMALL}[[tools]]\nname = 'crm_*'\nlocal_only = true\n");
    let warned = said(&rules);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("tools[0].local_only: no target of any model is local"), "{warned:?}");
    for local in ["local = true\n[[models]]", "[[models]]\nlocal_only = true"] {
        let text =
            rules.replace("[[models]]", local).replace("model = \"*\" }", "local = true, model = \"*\" }");
        let Loaded { config, warnings } = good(&text);
        assert!(warnings.is_empty() && config.models[0].targets[0].local, "{warnings:?}");
        assert!(config.tools[0].local_only);
    }
    let nowhere =
        read(&SMALL.replace("[[models]]", "[[models]]\nlocal_only = true")).unwrap_err().to_string();
    assert!(nowhere.contains("models[0].local_only: no target of this model is local"), "{nowhere}");
    // One target of a provider that is local may be elsewhere all the same.
    let text =
        SMALL.replace("[[models]]", "local = true\n[[models]]").replace("\"up\",", "\"up\", local = false,");
    assert!(!good(&text).config.models[0].targets[0].local);
}

#[test]
fn a_credential_in_clear_over_the_network_warns() {
    let text = SMALL.replace("127.0.0.1:9100", "10.0.0.7");
    let warnings = good(&text).warnings;
    assert!(warnings[0].to_string().contains("unencrypted"), "{warnings:?}");
    assert!(good(SMALL).warnings.is_empty());
}

#[test]
fn flags_win_over_the_file_and_complain_by_their_own_name() {
    let flags = Flags {
        listen: Some("localhost:9".to_owned()),
        store: Some("memory:".to_owned()),
        model: Some("dir/Tiny.Q8_0.gguf".to_owned()),
    };
    let file = File { name: "t", text: "[server]\nlisten = '0.0.0.0:1'\n[local]\ncontext = 512\n" };
    let config = load(Some(file), &flags, &environment).unwrap().config;
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:9");
    assert_eq!(config.store.url, StoreUrl::Memory);
    let local = config.local.unwrap();
    assert_eq!((local.name.as_str(), local.context), ("Tiny.Q8_0", Some(512)));
    let own = config.models.last().unwrap();
    assert_eq!((own.name.as_str(), own.targets[0].provider.as_str()), ("Tiny.Q8_0", LOCAL));

    let flags = Flags { store: Some("postgres://x".to_owned()), ..Flags::default() };
    let problems = load(None, &flags, &environment).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "--store: PostgreSQL is not in this version\n  write \"sqlite:PATH\" or \"memory:\""
    );
}

/// The catalogue and the structs say the same: every key is read into a struct, every read has its key.
#[test]
fn the_catalogue_covers_what_is_read_and_nothing_else() {
    let text = format!(
        "{SMALL}[[keys]]\nname = 'a'\nkey = 'sk-0123456789abcdef'\n[local]\nmodel = 'm.gguf'\n[[capabilities]]\nmodel = 'a'\n[[tools]]\nname = 't'\n[server]\n"
    );
    let table = toml::de::DeTable::parse(&text).unwrap();
    let root = walk::Walk::new(&environment).root(&table);
    let mut build = build::Build::new(Vec::new());
    build.config(&root, &Flags::default());
    let asked = build.asked.into_inner();
    let known: BTreeSet<String> = catalogue::keys().map(|key| key.path.to_owned()).collect();
    assert_eq!(asked, known);
}

#[test]
fn every_default_and_every_example_of_the_catalogue_is_a_good_value() {
    for key in catalogue::keys() {
        assert_eq!(build::default(key).is_some(), key.default.is_some(), "default of {}", key.path);
        assert!(catalogue::tables().any(|table| table.path == key.table()), "table of {}", key.path);
        let text = format!("x = {}", key.example);
        let mut walk = walk::Walk::new(&environment);
        let table = toml::de::DeTable::parse(&text).unwrap();
        let found = walk.value(key, &table.get_ref()["x"], key.path);
        assert!(walk.problems.is_empty() && found.is_some(), "{}: {:?}", key.path, walk.problems);
    }
}

#[test]
fn the_sample_file_starts_and_its_commented_lines_are_good_too() {
    let sample = sample();
    let config = good(&sample).config;
    assert_eq!((config.providers.len(), config.models.len()), (1, 1));
    let known = catalogue::keys().filter(|key| key.table() != "models[].targets[]");
    for key in known {
        let line = format!("{} = ", key.name());
        assert!(
            sample.lines().any(|l| l.trim_start_matches("# ").starts_with(&line)),
            "{} is not shown",
            key.path
        );
    }
    let mut full = String::new();
    for line in sample.lines() {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        let is_toml =
            bare.starts_with('[') || bare.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '));
        let excluded = bare.starts_with("key = ");
        full.push_str(if is_toml && !excluded { bare } else { "" });
        full.push('\n');
    }
    good(&full);
}

#[test]
fn the_documentation_names_every_key() {
    let page = document();
    for key in catalogue::keys() {
        assert!(page.contains(&format!("- **`{}`**", key.name())), "{} is missing", key.path);
    }
    assert!(page.contains("not in this version: gemini"));
    assert!(page.contains("| `openrouter` | `chat` |"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_breaks_the_reader(text in "(\\[\\[?(providers|models|keys|server)\\]?\\]\n|[a-z_]{1,8} = |[\"'$ {}\\[\\]a-z0-9:.,=\n*]{0,12}|é){0,12}") {
        if let Err(problems) = read(&text) {
            prop_assert!(problems.count() > 0);
        }
    }

    #[test]
    fn a_slip_in_a_key_is_suggested(at in 0usize..13, letter in "[a-z]") {
        let key = "max_body_bytes";
        let slip = format!("{}{letter}{}", &key[..at], &key[at + 1..]);
        prop_assume!(slip != key);
        let said = read(&format!("[server]\n{slip} = 1\n")).unwrap_err().to_string();
        prop_assert!(said.contains("did you mean `max_body_bytes`?"), "{}", said);
    }
}
