//! The store as its callers see it, on a file and in memory alike.

mod chains;
mod deletes;
mod expiry;
mod faults;
mod files;
mod forks;
mod lookup;
mod model;
mod pages;
mod rows;
mod upgrade;

use trilith_core::{Created, End, Event, ItemBody, ItemStatus, Role, Settings, Status};

use super::*;

const TENANT: &str = "acme";

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// The same behaviour, whatever the store lies on.
fn on_both(test: impl AsyncFn(&Sqlite)) {
    run(test(&Sqlite::in_memory(30).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    run(test(&Sqlite::open(&folder.path().join("t.db"), Sync::Normal, 30).unwrap()));
}

/// A message whose id is its text.
fn said(role: Role, text: &str) -> Item {
    let mut item = Item::message(role, text);
    item.id = Some(text.into());
    item
}

fn said_all(texts: &[&str]) -> Vec<Item> {
    texts.iter().map(|text| said(Role::User, text)).collect()
}

fn text_of(item: &Item) -> &str {
    match &item.body {
        ItemBody::Message(message) => message.parts[0].as_text().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(text_of).collect()
}

fn created(id: &str, parent: Option<&str>) -> Created {
    Created {
        id: id.into(),
        created_at: 1_000,
        settings: Arc::new(Settings { model: "m".into(), ..Settings::default() }),
        store: true,
        background: false,
        previous_response_id: parent.map(Into::into),
        conversation: None,
    }
}

fn begun(id: &str, parent: Option<&str>) -> Response {
    Response::new(&created(id, parent))
}

/// The event by which an item is whole.
fn whole(index: u32) -> Event {
    let (status, extra) = (ItemStatus::Completed, trilith_core::Extra::EMPTY);
    Event::ItemDone { index, status, carriers: vec![], detail: None, extra }
}

/// The same response with its output and its end.
fn ended(begun: &Response, outputs: &[&str]) -> Arc<Response> {
    let mut response = begun.clone();
    for (index, text) in outputs.iter().enumerate() {
        let (index, item) = (index as u32, Box::new(said(Role::Assistant, text)));
        response.apply(&Event::ItemAdded { index, choice: 0, item }).unwrap();
        response.apply(&whole(index)).unwrap();
    }
    let end = End { status: Status::Completed, incomplete: None, error: None, at: 2_000 };
    response.apply(&Event::End(Box::new(end))).unwrap();
    Arc::new(response)
}

async fn begin(store: &Sqlite, id: &str, parent: Option<&str>, inputs: &[&str]) -> Response {
    let response = begun(id, parent);
    store.begin(TENANT, Arc::new(response.clone()), said_all(inputs)).await.unwrap();
    response
}

/// A whole turn.
async fn turn(store: &Sqlite, id: &str, parent: Option<&str>, inputs: &[&str], outputs: &[&str]) {
    let response = begin(store, id, parent, inputs).await;
    store.commit(TENANT, ended(&response, outputs)).await.unwrap();
}

async fn context(store: &Sqlite, id: &str) -> Option<Vec<String>> {
    let context = store.context(TENANT, id).await.unwrap()?;
    Some(context.items.iter().map(|item| text_of(item).to_owned()).collect())
}

async fn rows(store: &Sqlite, table: &'static str) -> i64 {
    let count = move |connection: &Connection| {
        connection
            .query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0))
            .map_err(read::fail)
    };
    store.ask(count).await.unwrap()
}

async fn assert_empty(store: &Sqlite) {
    for table in ["item", "response", "segment", "settings"] {
        assert_eq!(rows(store, table).await, 0, "{table}");
    }
}
