//! The embedded model behind the port, with a tiny random model.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::num::NonZeroU32;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use futures_util::StreamExt;
use trilith_core::{
    Clock, Created, Error, ErrorKind, ErrorOrigin, Event, FinishReason, Item, Limits, ModelCall, Response,
    Retry, Role, Sampling, Settings, Turn, Upstream,
};
use trilith_local::{Embedded, LoadOptions, Model};

struct Noon;

impl Clock for Noon {
    fn unix_ms(&self) -> u64 {
        1_735_646_400_000
    }

    fn monotonic_us(&self) -> u64 {
        0
    }
}

fn open(options: LoadOptions) -> Embedded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trilith-tiny-random.gguf");
    let options = LoadOptions { threads: NonZeroU32::new(1), ..options };
    Embedded::new("local", Model::load(&path, options).unwrap(), Arc::new(Noon))
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread: the port needs no particular async runtime.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

fn call(input: Vec<Item>, most: Option<u64>) -> ModelCall {
    let sampling = Sampling { temperature: Some(0.0), ..Sampling::default() };
    let settings = Settings { sampling, limits: Limits { max_output_tokens: most }, ..Settings::default() };
    ModelCall {
        turn: Arc::new(Turn { settings: Arc::new(settings), input, ..Turn::default() }),
        model: "tiny".into(),
        stream: true,
        strict: false,
        headers: Vec::new(),
    }
}

fn user(text: &str) -> Item {
    Item::message(Role::User, text)
}

fn answer(upstream: &Embedded, call: ModelCall) -> Result<Response, Error> {
    let answer = wait(upstream.call(call))?;
    assert!(answer.losses.is_empty(), "{:?}", answer.losses);
    let batches: Vec<_> = wait(answer.events.collect());
    let mut response = Response::new(&Created {
        id: "resp_1".into(),
        created_at: 0,
        settings: Arc::default(),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    });
    let events: Vec<Event> = batches.into_iter().flat_map(Result::unwrap).collect();
    assert!(matches!(events.first(), Some(Event::Begin(_))));
    assert!(matches!(events.last(), Some(Event::Finish(_))));
    events.iter().for_each(|event| response.apply(event).unwrap());
    Ok(response)
}

#[test]
fn a_conversation_is_answered_and_its_next_turn_reads_the_cache() {
    let upstream = open(LoadOptions::default());
    let first = answer(&upstream, call(vec![user("My name is Ada.")], Some(8))).unwrap();
    assert_eq!(first.upstream.model.as_deref(), Some("trilith-tiny-random"));
    assert_eq!(first.finishes, [Some(FinishReason::Length)]);
    let usage = first.usage.clone().unwrap();
    assert_eq!((usage.cache_read, usage.output_total, usage.estimated), (0, 8, false));
    let said = first.output[0].item.clone();
    let next = answer(&upstream, call(vec![user("My name is Ada."), said, user("And?")], Some(8))).unwrap();
    let next = next.usage.clone().unwrap();
    assert!(next.cache_read >= usage.input_total, "{usage:?} {next:?}");
    assert!(next.input_total > next.cache_read);
}

#[test]
fn a_count_is_what_an_answer_will_have_read() {
    let upstream =
        open(LoadOptions { queue: 1, context_tokens: NonZeroU32::new(256), ..LoadOptions::default() });
    let asked = || vec![user("My name is Ada. What is my name?")];
    let counted = wait(upstream.count(call(asked(), None))).unwrap().unwrap();
    let usage = answer(&upstream, call(asked(), Some(1))).unwrap().usage.clone().unwrap();
    assert_eq!((counted.tokens, counted.losses.len()), (usage.input_total, 0));
    let Err(error) = wait(upstream.count(call(vec![user(&"word ".repeat(400))], None))) else { panic!() };
    assert_eq!(error.kind, ErrorKind::ContextTooLong);
}

#[test]
fn dropping_the_events_frees_the_model() {
    let upstream = open(LoadOptions { queue: 1, ..LoadOptions::default() });
    let long = wait(upstream.call(call(vec![user("Hi")], None))).unwrap();
    let Err(busy) = wait(upstream.call(call(vec![user("Hi")], Some(1)))) else { panic!("not busy") };
    assert_eq!(busy.kind, ErrorKind::Overloaded);
    assert!(matches!(busy.retry, Retry::Same(Some(_))));
    drop(long);
    let freed = (0..500).any(|_| {
        thread::sleep(Duration::from_millis(10));
        answer(&upstream, call(vec![user("Hi")], Some(1))).is_ok()
    });
    assert!(freed, "the dropped answer is still being written");
}

#[test]
fn a_conversation_beyond_the_context_is_refused_before_anything_is_said() {
    let upstream = open(LoadOptions { context_tokens: NonZeroU32::new(256), ..LoadOptions::default() });
    let error = answer(&upstream, call(vec![user(&"word ".repeat(400))], None)).unwrap_err();
    assert_eq!((error.kind, error.origin), (ErrorKind::ContextTooLong, ErrorOrigin::Caller));
    assert_eq!(error.code.as_deref(), Some("context_length_exceeded"));
    assert_eq!(error.param.as_deref(), Some("input"));
    assert!(error.public.contains("256"), "{error:?}");
    let full = answer(&upstream, call(vec![user("Hi")], None)).unwrap();
    assert_eq!(full.finishes, [Some(FinishReason::ContextWindow)]);
}

#[test]
fn strict_calls_refuse_what_others_report() {
    let upstream = open(LoadOptions::default());
    let with = |strict| {
        let mut call = call(vec![user("Hi")], Some(1));
        let settings = Settings { service_tier: Some("flex".into()), ..(*call.turn.settings).clone() };
        call.turn = Arc::new(Turn { settings: Arc::new(settings), ..(*call.turn).clone() });
        ModelCall { strict, ..call }
    };
    assert_eq!(wait(upstream.call(with(false))).unwrap().losses.len(), 1);
    let Err(error) = wait(upstream.call(with(true))) else { panic!("it was taken") };
    assert_eq!(error.code.as_deref(), Some("strict_loss"));
    assert_eq!(error.param.as_deref(), Some("service_tier"));
}

#[test]
fn it_names_itself_and_has_no_wire() {
    let upstream = open(LoadOptions::default());
    assert_eq!((upstream.name(), upstream.dialect(), upstream.account()), ("local", None, ""));
    assert_eq!(wait(upstream.models()).unwrap(), ["trilith-tiny-random".into()]);
}
