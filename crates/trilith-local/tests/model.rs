//! The embedded model from outside, with a tiny random model and one engine thread.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use trilith_local::{
    Chat, ChatMessage, FinishReason, GenerateError, Generation, LoadError, LoadOptions, Model, Prompt,
    Request, Sampling, Step,
};

fn tiny_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trilith-tiny-random.gguf")
}

fn options() -> LoadOptions {
    LoadOptions { threads: NonZeroU32::new(1), ..LoadOptions::default() }
}

fn load(options: LoadOptions) -> Model {
    Model::load(&tiny_path(), options).unwrap()
}

fn greedy(prompt: &str, max_tokens: u32) -> Request {
    Request {
        prompt: Prompt::Text(prompt.into()),
        sampling: Sampling { temperature: 0.0, ..Sampling::default() },
        max_tokens: Some(max_tokens),
        stop: Vec::new(),
    }
}

fn chat(text: &str) -> Prompt {
    Prompt::Chat(Chat { messages: vec![ChatMessage::User(text.into())], ..Chat::default() })
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    text: String,
    reason: FinishReason,
    prompt_tokens: u32,
    cached_tokens: u32,
    output_tokens: u32,
}

fn collect(mut generation: Generation) -> Result<Answer, GenerateError> {
    let mut text = String::new();
    while let Some(step) = generation.next_blocking() {
        match step {
            Step::Text(more) => text.push_str(&more),
            Step::Done { reason, prompt_tokens, cached_tokens, output_tokens } => {
                assert_eq!(generation.next_blocking(), None);
                return Ok(Answer { text, reason, prompt_tokens, cached_tokens, output_tokens });
            }
            Step::Failed(error) => return Err(error),
            other => panic!("{other:?}"),
        }
    }
    panic!("the answer ended without a last step");
}

fn answer(model: &Model, request: Request) -> Answer {
    collect(model.generate(request).unwrap()).unwrap()
}

#[test]
fn a_model_is_described_by_its_file() {
    let model = load(options());
    let info = model.info();
    assert_eq!((info.name.as_str(), info.architecture.as_str()), ("trilith-tiny-random", "llama"));
    assert_eq!(info.file_stem, "trilith-tiny-random");
    assert_eq!((info.context_tokens, info.trained_context_tokens), (8192, 32768));
    assert_eq!((info.threads, info.has_chat_template, info.template_knows_tools), (1, true, false));
    assert!(info.parameters > 3_000_000 && info.weight_bytes > 3_000_000);
}

#[test]
fn the_context_is_no_longer_than_the_model_was_trained_on() {
    let model = load(LoadOptions { context_tokens: NonZeroU32::new(1_000_000), ..options() });
    assert_eq!(model.info().context_tokens, 32768);
}

#[test]
fn greedy_answers_are_equal_and_as_long_as_asked() {
    let model = load(options());
    let first = answer(&model, greedy("Once upon a time", 16));
    assert_eq!((first.output_tokens, &first.reason), (16, &FinishReason::Length));
    assert!(!first.text.is_empty());
    let other_model = load(options());
    assert_eq!(answer(&other_model, greedy("Once upon a time", 16)).text, first.text);
    assert_eq!(answer(&model, greedy("Once upon a time", 16)).text, first.text);
}

#[test]
fn equal_seeds_give_equal_answers() {
    let model = load(options());
    let with_seed = |seed| {
        let sampling = Sampling { seed, top_p: 0.9, top_k: 1000, min_p: 0.001, ..Sampling::default() };
        answer(&model, Request { sampling, ..greedy("Once upon a time", 16) }).text
    };
    let first = with_seed(Some(7));
    assert_eq!(with_seed(Some(7)), first);
    assert_ne!(with_seed(Some(8)), first);
    assert_ne!(with_seed(None), with_seed(None));
}

#[test]
fn penalties_keep_an_answer_from_repeating_itself() {
    let model = load(options());
    let sampling =
        Sampling { temperature: 0.0, presence_penalty: 2.0, frequency_penalty: 2.0, ..Sampling::default() };
    let plain = answer(&model, greedy("Once upon a time", 200)).text;
    let penalized = answer(&model, Request { sampling, ..greedy("Once upon a time", 200) }).text;
    assert_ne!(plain, penalized);
}

#[test]
fn a_stop_string_ends_the_answer_and_is_no_part_of_it() {
    let model = load(options());
    let full = answer(&model, greedy("Once upon a time", 16)).text;
    // Half of the answer's characters on, so that it spans the border of two tokens or more.
    let start = full.char_indices().nth(full.chars().count() / 2).unwrap().0;
    let stop: String = full[start..].chars().take(6).collect();
    let request = Request { stop: vec!["never this".into(), stop.clone()], ..greedy("Once upon a time", 16) };
    let stopped = answer(&model, request);
    assert_eq!(stopped.reason, FinishReason::StopString(stop.clone()));
    assert_eq!(stopped.text, full[..full.find(&stop).unwrap()]);
    assert!(stopped.output_tokens <= 16);
}

#[test]
fn a_common_beginning_is_computed_once_and_changes_nothing() {
    let history = "The quick brown fox jumps over the lazy dog. ".repeat(40);
    let request = || greedy(&format!("{history} And then"), 16);
    let cold = answer(&load(options()), request());
    assert_eq!(cold.cached_tokens, 0);

    let model = load(options());
    answer(&model, greedy(&history, 8));
    let warm = answer(&model, request());
    assert!(warm.cached_tokens > 300, "{warm:?}");
    assert!(warm.cached_tokens < warm.prompt_tokens);
    assert_eq!(warm.text, cold.text);

    let again = answer(&model, request());
    assert_eq!((again.cached_tokens, again.text), (again.prompt_tokens - 1, cold.text));
    assert_eq!(answer(&model, greedy("Something else", 4)).cached_tokens, 0);
}

#[test]
fn an_answer_nobody_reads_stops() {
    let model = load(LoadOptions { context_tokens: NonZeroU32::new(32768), ..options() });
    let mut long = model.generate(Request { max_tokens: None, ..greedy("Once upon a time", 0) }).unwrap();
    assert!(matches!(long.next_blocking(), Some(Step::Text(_))));
    drop(long);
    // Written to its end, the first answer would have filled the cache far beyond these tokens.
    let next = answer(&model, greedy("Once upon a time", 4));
    assert_eq!(next.output_tokens, 4);
    assert_eq!(model.in_flight(), 0);
}

#[test]
fn a_full_context_ends_the_answer() {
    let model = load(LoadOptions { context_tokens: NonZeroU32::new(256), ..options() });
    let mut request = greedy("Once upon a time", 0);
    request.max_tokens = None;
    let full = answer(&model, request);
    assert_eq!(full.reason, FinishReason::ContextFull);
    // The last token written needs no place, since nothing follows it.
    assert_eq!(full.prompt_tokens + full.output_tokens, 257);
}

#[test]
fn a_prompt_beyond_the_context_is_refused_with_both_numbers() {
    let model = load(LoadOptions { context_tokens: NonZeroU32::new(256), ..options() });
    for words in [300, 100_000] {
        let error = collect(model.generate(greedy(&"word ".repeat(words), 1)).unwrap()).unwrap_err();
        assert!(
            matches!(
                error,
                GenerateError::ContextLengthExceeded { prompt_tokens: 257.., context_tokens: 256 }
            ),
            "{error:?}"
        );
    }
    assert_eq!(answer(&model, greedy("still alive", 1)).output_tokens, 1);
}

#[test]
fn zero_tokens_count_the_prompt() {
    let model = load(options());
    let counted = answer(&model, greedy("Once upon a time", 0));
    assert_eq!((counted.text.as_str(), counted.output_tokens), ("", 0));
    assert_eq!(counted.prompt_tokens, answer(&model, greedy("Once upon a time", 1)).prompt_tokens);
}

#[test]
fn an_empty_text_begins_with_the_beginning_token() {
    let model = load(options());
    assert_eq!(answer(&model, greedy("", 4)).prompt_tokens, 1);
}

#[test]
fn control_tokens_in_a_message_are_text() {
    let model = load(options());
    let count = |prompt| answer(&model, Request { prompt, ..greedy("", 0) }).prompt_tokens;
    let plain = count(chat("Hi"));
    assert!(count(chat("Hi<|im_end|>")) > plain + 1, "the control token stayed one token");
    assert_eq!(count(Prompt::Text("Hi<|im_end|>".into())), count(Prompt::Text("Hi".into())) + 1);
}

#[test]
fn a_full_queue_is_busy() {
    let model = load(LoadOptions { queue: 1, context_tokens: NonZeroU32::new(32768), ..options() });
    let long = model.generate(Request { max_tokens: None, ..greedy("Once upon a time", 0) }).unwrap();
    let refused = model.generate(greedy("Hi", 1)).unwrap_err();
    assert_eq!(refused, GenerateError::Busy { in_flight: 1 });
    drop(long);
}

#[test]
fn values_outside_their_range_are_refused() {
    let model = load(options());
    let refused = |change: fn(&mut Request)| {
        let mut request = greedy("Hi", 1);
        change(&mut request);
        match model.generate(request).unwrap_err() {
            GenerateError::InvalidParameter { name, .. } => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|request| request.sampling.temperature = f32::NAN), "temperature");
    assert_eq!(refused(|request| request.sampling.top_p = 0.0), "top_p");
    assert_eq!(refused(|request| request.sampling.min_p = 1.5), "min_p");
    assert_eq!(refused(|request| request.sampling.presence_penalty = -3.0), "presence_penalty");
    assert_eq!(refused(|request| request.stop = vec![String::new()]), "stop");
    assert_eq!(refused(|request| request.stop = vec!["x".into(); 17]), "stop");
}

#[test]
fn dropping_the_model_ends_its_answers() {
    let model = load(LoadOptions { context_tokens: NonZeroU32::new(32768), ..options() });
    let long = model.generate(Request { max_tokens: None, ..greedy("Once upon a time", 0) }).unwrap();
    let waiting = model.generate(greedy("Hi", 1)).unwrap();
    drop(model);
    assert_eq!(collect(long).unwrap_err(), GenerateError::Stopped);
    assert_eq!(collect(waiting).unwrap_err(), GenerateError::Stopped);
}

#[test]
fn a_chat_is_answered() {
    let model = load(options());
    let request = || Request { prompt: chat("Hello, who are you?"), ..greedy("", 16) };
    let first = answer(&model, request());
    let again = answer(&model, request());
    assert_eq!(again.text, first.text);
    assert_eq!(again.cached_tokens, again.prompt_tokens - 1);
}

/// A file of its own that disappears with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("trilith-local-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn broken_files_are_refused_with_their_fault() {
    let whole = std::fs::read(tiny_path()).unwrap();
    let load = |name, bytes: &[u8]| Model::load(&Scratch::new(name, bytes).0, options()).unwrap_err();

    let error = Model::load(Path::new("/nonexistent/model.gguf"), options()).unwrap_err();
    assert!(matches!(error, LoadError::File { .. }), "{error}");
    assert!(matches!(load("empty", b""), LoadError::NotGguf { .. }));
    assert!(matches!(load("text", b"This is no model at all."), LoadError::NotGguf { .. }));
    let error = load("half", &whole[..whole.len() / 2]);
    assert!(matches!(error, LoadError::Truncated { .. }), "{error}");
    let error = load("header", &whole[..1000]);
    assert!(matches!(error, LoadError::Truncated { .. }), "{error}");
}

#[test]
fn an_unknown_architecture_is_refused_in_the_words_of_the_engine() {
    let mut bytes = std::fs::read(tiny_path()).unwrap();
    let key = b"general.architecture";
    let start = bytes.windows(key.len()).position(|window| window == key).unwrap() + key.len() + 4 + 8;
    bytes[start..start + 5].copy_from_slice(b"zebra");
    let scratch = Scratch::new("zebra", &bytes);
    let error = Model::load(&scratch.0, options()).unwrap_err();
    assert!(matches!(&error, LoadError::Native { reason, .. } if reason.contains("zebra")), "{error}");
}

#[test]
fn another_chat_template_can_be_given() {
    let template = "{% for m in messages %}{{ m.content }}{% endfor %}";
    let model = load(LoadOptions { chat_template: Some(template.into()), ..options() });
    let count = |prompt| answer(&model, Request { prompt, ..greedy("", 0) }).prompt_tokens;
    assert_eq!(count(chat("Hello there")), count(Prompt::Text("Hello there".into())));
    let broken = LoadOptions { chat_template: Some("{% if %}".into()), ..options() };
    assert!(matches!(Model::load(&tiny_path(), broken), Err(LoadError::ChatTemplate(_))));
}
