//! The ports, played: what they were asked is kept in one log, in order.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{StreamExt, future, stream};
use tokio::{sync::Semaphore, task::JoinHandle};
use trilith_core::{
    Abilities, BoxFuture, Clock, DialectId, Error, Event, EventStream, Hold, Ids, InputPage, Item, ItemPage,
    Json, Loss, ModelCall, RelayAnswer, RelayCall, Response, Schema, Schemas, Sealer, Settings, Shows, Spawn,
    StateRef, Store, StoreError, StoredContext, TokenCount, Turn, Upstream,
};

use crate::{Candidate, Failover, Request, Run, Runtime, Step};

pub(super) const TENANT: &str = "acme";
pub(super) const NOW_S: i64 = 1_800_000_000;

/// What happened, in order.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(super) fn say(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Holds texts to nothing but the braces of an object; a schema with the word `unready` holds none.
struct Braces;

impl Schemas for Braces {
    fn ready(&self, schema: &Json) -> Result<Arc<dyn Schema>, Box<str>> {
        if schema.as_str().contains("unready") { Err("it is unready".into()) } else { Ok(Arc::new(Self)) }
    }
}

impl Schema for Braces {
    fn check(&self, text: &str) -> Result<(), Box<str>> {
        if text.starts_with('{') && text.ends_with('}') { Ok(()) } else { Err("it is no object".into()) }
    }
}

/// A store in memory.
pub(super) struct Memory {
    log: Log,
    pub(super) contexts: Mutex<HashMap<String, Vec<Item>>>,
    pub(super) begun: Mutex<Vec<(Response, Vec<Item>)>>,
    pub(super) committed: Mutex<Vec<Response>>,
    /// The ends that could not be committed.
    pub(super) owed: Mutex<Vec<Response>>,
    pub(super) fail: Mutex<Option<&'static str>>,
    /// What begins and commits wait for; open unless a test closes it.
    pub(super) gate: Semaphore,
}

impl Memory {
    fn answer<T>(&self, call: &str, value: T) -> Result<T, StoreError> {
        if *self.fail.lock().unwrap() == Some(call) {
            Err(StoreError("disk is full".into()))
        } else {
            Ok(value)
        }
    }

    async fn pass(&self) {
        self.gate.acquire().await.unwrap().forget();
        self.gate.add_permits(1);
    }

    /// Lets nothing be written.
    pub(super) fn close_gate(&self) {
        self.gate.forget_permits(1);
    }

    pub(super) fn open_gate(&self) {
        self.gate.add_permits(1);
    }
}

impl Store for Memory {
    fn context<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredContext>, StoreError>> {
        assert_eq!(tenant, TENANT);
        let items = self.contexts.lock().unwrap().get(response).cloned();
        let answer = self.answer("context", items.map(|items| StoredContext { items }));
        Box::pin(async { answer })
    }

    fn begin<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
        input: Vec<Item>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        assert_eq!(tenant, TENANT);
        Box::pin(async move {
            self.pass().await;
            self.log.say("begin");
            self.begun.lock().unwrap().push(((*response).clone(), input));
            self.answer("begin", ())
        })
    }

    fn begun<'a>(&'a self, tenant: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        assert_eq!(tenant, TENANT);
        self.log.say("begun");
        let answer = self.answer("begun", ());
        Box::pin(async { answer })
    }

    fn commit<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        assert_eq!(tenant, TENANT);
        Box::pin(async move {
            self.pass().await;
            self.log.say(format!("commit {}", response.status.name()));
            self.committed.lock().unwrap().push((*response).clone());
            self.answer("commit", ())
        })
    }

    fn end_later(&self, tenant: &str, response: Arc<Response>) {
        assert_eq!(tenant, TENANT);
        self.log.say(format!("end later {}", response.status.name()));
        self.owed.lock().unwrap().push((*response).clone());
    }

    fn items<'a>(
        &'a self,
        tenant: &'a str,
        ids: Vec<Box<str>>,
    ) -> BoxFuture<'a, Result<Vec<Option<Item>>, StoreError>> {
        assert_eq!(tenant, TENANT);
        let contexts = self.contexts.lock().unwrap();
        let find =
            |id: Box<str>| contexts.values().flatten().find(|item| item.id.as_ref() == Some(&id)).cloned();
        let answer = self.answer("items", ids.into_iter().map(find).collect());
        Box::pin(async { answer })
    }

    fn check(&self, now: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        assert_eq!(now, NOW_S);
        let answer = self.answer("check", ());
        Box::pin(async { answer })
    }

    fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Option<Response>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn delete<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn input_items<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: InputPage,
    ) -> BoxFuture<'a, Result<Option<ItemPage>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn recover(&self, _: i64) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async { Ok(0) })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Seals so that anybody could read it, but nobody can change it without being found out.
pub(super) struct PlainSealer;

pub(super) fn sealed(tenant: &str, purpose: &str, secret: &[u8]) -> String {
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let sum = hex.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("tl1.{tenant}.{purpose}.{hex}.{sum}")
}

impl Sealer for PlainSealer {
    fn seal(&self, tenant: &str, purpose: &str, secret: &[u8]) -> Result<String, Error> {
        Ok(sealed(tenant, purpose, secret))
    }

    fn open(&self, tenant: &str, purpose: &str, envelope: &str) -> Result<Vec<u8>, Error> {
        let forged = || Error::bad_request("encrypted_content", "this sealed content is not valid");
        let hex = envelope.split('.').nth(3).ok_or_else(forged)?;
        let pairs = hex.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let secret: Vec<u8> = pairs.map(byte).collect::<Option<_>>().ok_or_else(forged)?;
        if sealed(tenant, purpose, &secret) == envelope { Ok(secret) } else { Err(forged()) }
    }
}

struct Fixed;

impl Clock for Fixed {
    fn unix_ms(&self) -> u64 {
        NOW_S as u64 * 1000 + 7
    }

    fn monotonic_us(&self) -> u64 {
        0
    }
}

impl Ids for Fixed {
    fn random(&self) -> [u8; 10] {
        *b"0123456789"
    }
}

/// Runs tasks on the test's runtime.
#[derive(Default)]
pub(super) struct Tasks {
    started: Mutex<Vec<JoinHandle<()>>>,
    pub(super) count: AtomicUsize,
}

impl Tasks {
    /// Waits for every task that was started.
    pub(super) async fn settle(&self) {
        let tasks = std::mem::take(&mut *self.started.lock().unwrap());
        for task in tasks {
            task.await.unwrap();
        }
    }
}

impl Spawn for Tasks {
    #[expect(clippy::disallowed_methods, reason = "this is the port")]
    fn spawn(&self, _: &'static str, task: BoxFuture<'static, ()>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.started.lock().unwrap().push(tokio::spawn(task));
    }
}

/// What an upstream does when it is called.
#[derive(Default)]
pub(super) struct Script {
    pub(super) losses: Vec<Loss>,
    pub(super) batches: Vec<Result<Vec<Event>, Error>>,
    /// How often each batch is asked for in vain.
    pub(super) waits: Vec<u8>,
    /// Whether it says nothing more after its batches instead of ending.
    pub(super) hang: bool,
}

impl From<Vec<Event>> for Script {
    fn from(events: Vec<Event>) -> Self {
        Self { batches: vec![Ok(events)], ..Self::default() }
    }
}

/// An upstream that plays what it was told, one script a call.
pub(super) struct Scripted {
    name: &'static str,
    dialect: Option<DialectId>,
    account: &'static str,
    abilities: Abilities,
    hold: Option<Hold>,
    scripts: Mutex<VecDeque<Result<Script, Error>>>,
    pub(super) calls: Mutex<Vec<ModelCall>>,
    /// What it counts, one answer a question.
    counts: Mutex<VecDeque<Result<Option<TokenCount>, Error>>>,
    /// Whether an answer was dropped, which cancels the call.
    pub(super) dropped: Arc<AtomicBool>,
    /// How many of its calls and answers are held.
    pub(super) alive: Arc<AtomicUsize>,
}

impl Scripted {
    pub(super) fn new(name: &'static str, dialect: DialectId) -> Self {
        Self {
            name,
            dialect: Some(dialect),
            account: "account-1",
            abilities: Abilities::ALL,
            hold: None,
            scripts: Mutex::default(),
            calls: Mutex::default(),
            counts: Mutex::default(),
            dropped: Arc::default(),
            alive: Arc::default(),
        }
    }

    pub(super) fn account(mut self, account: &'static str) -> Self {
        self.account = account;
        self
    }

    /// What it does by itself; everything, unless said here.
    pub(super) fn can(mut self, abilities: Abilities) -> Self {
        self.abilities = abilities;
        self
    }

    /// How it holds to forms of texts; by its abilities, unless said here.
    pub(super) fn holding(mut self, hold: Hold) -> Self {
        self.hold = Some(hold);
        self
    }

    pub(super) fn wireless(mut self) -> Self {
        self.dialect = None;
        self
    }

    pub(super) fn plays(self, script: impl Into<Script>) -> Self {
        self.scripts.lock().unwrap().push_back(Ok(script.into()));
        self
    }

    pub(super) fn fails(self, error: Error) -> Self {
        self.scripts.lock().unwrap().push_back(Err(error));
        self
    }

    pub(super) fn counts(self, answer: Result<Option<TokenCount>, Error>) -> Self {
        self.counts.lock().unwrap().push_back(answer);
        self
    }

    /// The input of its call number `number`.
    pub(super) fn heard(&self, number: usize) -> Vec<Item> {
        self.calls.lock().unwrap()[number].turn.input.clone()
    }

    pub(super) fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

struct Notice(Arc<AtomicBool>, Arc<AtomicUsize>);

impl Drop for Notice {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets a poll come back in vain that many times.
async fn wait(mut times: u8) {
    future::poll_fn(|context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Upstream for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn dialect(&self) -> Option<DialectId> {
        self.dialect
    }

    fn account(&self) -> &str {
        self.account
    }

    fn abilities(&self, _: &str) -> Abilities {
        self.abilities
    }

    fn holds(&self, _: &str, _: &Settings) -> Hold {
        self.hold.unwrap_or(self.abilities.hold())
    }

    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<EventStream, Error>> {
        self.calls.lock().unwrap().push(call);
        let script = self.scripts.lock().unwrap().pop_front().unwrap();
        self.alive.fetch_add(1, Ordering::SeqCst);
        let notice = Notice(Arc::clone(&self.dropped), Arc::clone(&self.alive));
        Box::pin(async move {
            let Script { losses, batches, waits, hang } = script?;
            let tail = stream::once(async move {
                if hang {
                    future::pending().await
                }
            })
            .filter_map(|()| future::ready(None));
            let mut waits = waits.into_iter();
            let batches = stream::iter(batches).then(move |batch| {
                let times = waits.next().unwrap_or_default();
                async move {
                    wait(times).await;
                    batch
                }
            });
            let events = batches.chain(tail).map(move |batch| {
                let _ = &notice;
                batch
            });
            let headers = vec![("x-ratelimit-remaining-requests".into(), "9".into())];
            Ok(EventStream { losses, headers, events: Box::pin(events) })
        })
    }

    fn count(&self, call: ModelCall) -> BoxFuture<'_, Result<Option<TokenCount>, Error>> {
        self.calls.lock().unwrap().push(call);
        let answer = self.counts.lock().unwrap().pop_front().unwrap();
        Box::pin(async { answer })
    }

    fn relay(&self, _: RelayCall) -> BoxFuture<'_, Result<RelayAnswer, Error>> {
        let failure = self.scripts.lock().unwrap().pop_front().unwrap().err();
        Box::pin(async move {
            match failure {
                Some(error) => Err(error),
                None => Ok(RelayAnswer {
                    status: 200,
                    headers: Vec::new(),
                    stream: false,
                    body: Box::pin(stream::empty()),
                }),
            }
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<Box<str>>, Error>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// A policy that reads its answers from a list.
#[derive(Default)]
pub(super) struct Policy {
    pub(super) none: bool,
    pub(super) steps: VecDeque<(usize, Duration)>,
    pub(super) only: Option<HashSet<usize>>,
    pub(super) log: Log,
}

impl Policy {
    pub(super) fn of(steps: &[(usize, u64)]) -> Self {
        let steps = steps.iter().map(|(place, ms)| (*place, Duration::from_millis(*ms))).collect();
        Self { steps, ..Self::default() }
    }
}

impl Failover for Policy {
    fn only(&mut self, candidates: &HashSet<usize>) {
        self.only = Some(candidates.clone());
    }

    fn first(&mut self) -> Option<usize> {
        let allowed = self.only.iter().flatten().min().copied();
        (!self.none).then_some(allowed.unwrap_or(0))
    }

    fn answered(&mut self, candidate: usize) {
        self.log.say(format!("answered {candidate}"));
    }

    fn failed(&mut self, candidate: usize, error: &Error) -> Option<(usize, Duration)> {
        self.log.say(format!("failed {candidate} {}", error.kind.name()));
        if error.origin == trilith_core::ErrorOrigin::Caller {
            return None;
        }
        let allowed = |place: &usize| self.only.as_ref().is_none_or(|only| only.contains(place));
        self.steps.pop_front().filter(|(place, _)| allowed(place))
    }

    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.log.say(format!("pause {}", time.as_millis()));
        Box::pin(async {})
    }
}

/// A runtime and what stands behind it.
pub(super) struct World {
    pub(super) log: Log,
    pub(super) store: Arc<Memory>,
    pub(super) tasks: Arc<Tasks>,
    pub(super) runtime: Runtime,
}

impl World {
    pub(super) fn new() -> Self {
        let log = Log::default();
        let store = Arc::new(Memory {
            log: log.clone(),
            contexts: Mutex::default(),
            begun: Mutex::default(),
            committed: Mutex::default(),
            owed: Mutex::default(),
            fail: Mutex::default(),
            gate: Semaphore::new(1),
        });
        let tasks = Arc::new(Tasks::default());
        let runtime = Runtime {
            store: Arc::clone(&store) as Arc<dyn Store>,
            sealer: Arc::new(PlainSealer),
            clock: Arc::new(Fixed),
            ids: Arc::new(Fixed),
            spawn: Arc::clone(&tasks) as Arc<dyn Spawn>,
            schemas: Arc::new(Braces),
            documents: None,
            fetch: None,
            local_tools: Arc::default(),
            max_choices: 8,
            max_answer_bytes: 1 << 20,
        };
        Self { log, store, tasks, runtime }
    }

    /// Starts a request that has one candidate or more, with the policy that gives up at once.
    pub(super) async fn start(&self, request: Request) -> Result<Run, Error> {
        self.runtime.start(request, &mut Policy::default()).await
    }

    /// Runs a request to its end; gives everything that was shown.
    pub(super) async fn run(&self, request: Request) -> (Run, Vec<Event>) {
        let mut run = self.start(request).await.unwrap();
        let events = self.watch(&mut run).await;
        (run, events)
    }

    /// Watches a run to its end.
    pub(super) async fn watch(&self, run: &mut Run) -> Vec<Event> {
        let mut events = Vec::new();
        while self.step(run, &mut events).await == Step::More {}
        events
    }

    /// One step of a run.
    pub(super) async fn step(&self, run: &mut Run, events: &mut Vec<Event>) -> Step {
        std::future::poll_fn(|context| {
            run.poll_step(context, &mut |event, _| {
                let name = format!("{event:?}");
                let name = name.split(['(', ' ', '{']).next().unwrap_or_default();
                self.log.say(format!("show {name}"));
                events.push(event.clone());
            })
        })
        .await
    }

    /// What was committed; exactly once.
    pub(super) fn committed(&self) -> Response {
        let committed = self.store.committed.lock().unwrap();
        assert_eq!(committed.len(), 1, "{committed:?}");
        committed[0].clone()
    }
}

pub(super) fn turn(input: Vec<Item>) -> Turn {
    let settings = Settings { model: "small".into(), ..Settings::default() };
    Turn { settings: Arc::new(settings), input, ..Turn::default() }
}

pub(super) fn candidate(upstream: &Arc<Scripted>) -> Candidate {
    Candidate { upstream: Arc::clone(upstream) as Arc<dyn Upstream>, model: "up-small".into(), local: false }
}

/// A request of a Responses client for one upstream, kept.
pub(super) fn request(turn: Turn, upstream: &Arc<Scripted>) -> Request {
    Request {
        tenant: TENANT.into(),
        client: DialectId::Responses,
        shows: Shows { stop_string: false },
        turn,
        candidates: vec![candidate(upstream)],
        pin: None,
        strict: false,
        forced_choice_may_go: false,
        headers: Vec::new(),
    }
}

pub(super) fn unstored(mut turn: Turn) -> Turn {
    turn.state = StateRef { store: Some(false), ..turn.state };
    turn
}

/// A Responses upstream that plays one script, without what that dialect has no words for.
pub(super) fn upstream(script: impl Into<Script>) -> Arc<Scripted> {
    let can = Abilities { several_answers: false, stop_strings: 0, ..Abilities::ALL };
    Arc::new(Scripted::new("vendor", DialectId::Responses).can(can).plays(script))
}

/// Runs a future where no test runtime is.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
