//! Measures the store: turns per second by writers and durability, and what one turn costs early and late in a
//! chain. `cargo run --release -p trilith-store --example write_speed [FOLDER]`; the folder decides which disk.

#![expect(clippy::print_stdout, reason = "a measurement is read on the terminal")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::{
    error::Error,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use trilith_core::{
    Created, End, Event, Extra, Item, ItemStatus, Response, Role, Settings, Status, Store, StoreError,
};
use trilith_store::{Sqlite, Sync};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// About what a turn says: 1.5 KB in, 1.5 KB out.
fn text(n: usize) -> String {
    (0..40)
        .map(|word| format!("{:x} and the word {} of turn {n} ", n * 7919 + word, word * 31 % 17))
        .collect()
}

fn item(id: &str, place: u32, role: Role, n: usize) -> Item {
    let id = Some(format!("msg_{id}{place:08x}").into());
    Item { id, ..Item::message(role, text(n)) }
}

/// A turn from beginning to end, as the runtime does it.
async fn turn(store: &Sqlite, id: &str, parent: Option<&str>, n: usize) -> Result<(), StoreError> {
    let mut response = Response::new(&Created {
        id: id.into(),
        created_at: 0,
        settings: Arc::new(Settings { model: "m".into(), ..Settings::default() }),
        store: true,
        background: false,
        previous_response_id: parent.map(Into::into),
        conversation: None,
    });
    store.begin("t", Arc::new(response.clone()), vec![item(id, 1 << 31, Role::User, n)]).await?;
    let events = [
        Event::ItemAdded { index: 0, choice: 0, item: Box::new(item(id, 0, Role::Assistant, n + 1)) },
        Event::ItemDone {
            index: 0,
            status: ItemStatus::Completed,
            carriers: Vec::new(),
            detail: None,
            extra: Extra::EMPTY,
        },
        Event::End(Box::new(End { status: Status::Completed, incomplete: None, error: None, at: 0 })),
    ];
    for event in &events {
        response.apply(event).map_err(|error| StoreError(error.to_string().into()))?;
    }
    store.commit("t", Arc::new(response)).await
}

fn block_on<T>(work: impl Future<Output = T>) -> Outcome<T> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?.block_on(work))
}

/// Turns per second of so many writers, each with a chain of its own.
fn speed(path: &Path, sync: Sync, writers: usize) -> Outcome<f64> {
    const FOR: Duration = Duration::from_secs(3);
    let store = Sqlite::open(path, sync, 30)?;
    let start = Instant::now();
    let done: usize = std::thread::scope(|scope| {
        let write = |writer: usize| {
            let store = &store;
            move || -> Result<usize, String> {
                let work = async {
                    let mut parent: Option<String> = None;
                    let mut n = 0;
                    while start.elapsed() < FOR {
                        let id = format!("resp_{writer:016x}{n:016x}");
                        turn(store, &id, parent.as_deref(), n).await.map_err(|error| error.to_string())?;
                        parent = Some(id);
                        n += 1;
                    }
                    Ok(n)
                };
                block_on(work).map_err(|error| error.to_string())?
            }
        };
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(write(writer))).collect();
        let counts =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a writer died".to_owned())?);
        counts.sum::<Result<usize, String>>()
    })?;
    Ok(done as f64 / start.elapsed().as_secs_f64())
}

/// Milliseconds to load the context and to write, early and late in a chain.
fn late_turns(path: &Path) -> Outcome<()> {
    let store = Sqlite::open(path, Sync::Normal, 30)?;
    block_on(async {
        let (mut loads, mut writes) = (Vec::new(), Vec::new());
        let ids: Vec<String> = (0..1_050).map(|n| format!("resp_{n:032x}")).collect();
        for (n, id) in ids.iter().enumerate() {
            let start = Instant::now();
            turn(&store, id, n.checked_sub(1).map(|parent| &*ids[parent]), n).await?;
            writes.push(start.elapsed());
        }
        // Loads are timed apart: one keeps two threads busy, and the next write would pay for that.
        for id in &ids {
            let start = Instant::now();
            store.context("t", id).await?;
            loads.push(start.elapsed());
        }
        report("turns 5 to 15", &mut loads[5..15], &mut writes[5..15]);
        report("turns 950 to 1050", &mut loads[950..], &mut writes[950..]);
        Ok(())
    })?
}

/// The median, and the slowest: a checkpoint of the log falls on some turn in a hundred.
fn report(turns: &str, loads: &mut [Duration], writes: &mut [Duration]) {
    let of = |spent: &mut [Duration]| {
        spent.sort_unstable();
        [spent.len() / 2, spent.len() - 1].map(|place| spent[place].as_secs_f64() * 1e3)
    };
    let (load, write) = (of(loads), of(writes));
    println!(
        "{turns}: load {:.2} ms (at most {:.2}), write {:.2} ms (at most {:.2})",
        load[0], load[1], write[0], write[1]
    );
}

fn main() -> Outcome<()> {
    let folder = match std::env::args_os().nth(1) {
        Some(parent) => tempfile::tempdir_in(parent)?,
        None => tempfile::tempdir()?,
    };
    for sync in [Sync::Full, Sync::Normal] {
        for writers in [1, 16] {
            let path = folder.path().join(format!("{sync:?}{writers}.db"));
            let rate = speed(&path, sync, writers)?;
            println!("{sync:?}, {writers:>2} writers: {rate:8.0} turns/s");
            println!(
                "    {} bytes of file for each turn",
                std::fs::metadata(&path)?.len() / (rate * 3.0) as u64
            );
        }
    }
    late_turns(&folder.path().join("late.db"))
}
