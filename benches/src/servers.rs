//! Changes and appends a second, with one client and with eight, on a folder, a database and a bucket.
//!
//! `SADDLEBAG_TEST_POSTGRES` and `SADDLEBAG_TEST_S3` have the addresses; a server without one is left out.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use comfy_table::{Table, presets};
use saddlebag::protocol::{FsOp, FsOutcome, Precondition, ReadOutcome, WriteOutcome};
use saddlebag::store::RelPath;
use saddlebag_host::{Durability, Executor};
use saddlebag_remote::{AttachOptions, attach};

use crate::work::{Result, disk};

/// Time for which changes are counted.
const SPAN: Duration = Duration::from_secs(1);
const RUNS: usize = 5;

type Outcome<T> = std::result::Result<T, String>;
type Store = Box<dyn Executor + Send>;
type Change = fn(&mut Store, u32, u32) -> Outcome<()>;

/// Returns the table.
pub(crate) fn measure() -> Result<Table> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Store", "Clients", "Edits a second, each its note", "Appends a second, one log"]);
    for (name, variable) in
        [("Folder", None), ("PostgreSQL", Some("SADDLEBAG_TEST_POSTGRES")), ("Bucket", Some("SADDLEBAG_TEST_S3"))]
    {
        let address = variable.map(std::env::var);
        if let Some(Err(_)) = address {
            continue;
        }
        for clients in [1, 8] {
            let mut row = vec![name.to_string(), clients.to_string()];
            for (what, change) in [("edit", edit as Change), ("append", append)] {
                // Each kind of change begins in an empty store.
                let folder = tempfile::tempdir()?;
                let place = format!("bench-{what}-{clients}-{}", std::process::id());
                let address = match &address {
                    Some(Ok(server)) if server.starts_with("s3:") => Some(format!("{server}/{place}").parse()?),
                    Some(Ok(server)) => Some(format!("{server}&space={place}").parse()?),
                    _ => None,
                };
                let open = || -> Outcome<Store> {
                    let options = AttachOptions { create: true, cache: None };
                    let store: Store = match &address {
                        Some(address) => Box::new(attach(address, &options).map_err(|error| error.to_string())?.store),
                        None => Box::new(disk(folder.path(), Durability::Full).map_err(|error| error.to_string())?),
                    };
                    Ok(store)
                };
                row.push(median(clients, &open, change)?.to_string());
            }
            table.add_row(row);
        }
    }
    Ok(table)
}

/// Returns how many changes a second the clients make together: the median of the runs.
fn median(clients: u32, open: &(dyn Fn() -> Outcome<Store> + Sync), change: Change) -> Outcome<u64> {
    let mut runs = (0..RUNS).map(|_| once(clients, open, change)).collect::<Outcome<Vec<_>>>()?;
    runs.sort_unstable();
    Ok(runs[RUNS / 2])
}

fn once(clients: u32, open: &(dyn Fn() -> Outcome<Store> + Sync), change: Change) -> Outcome<u64> {
    let barrier = Barrier::new(clients as usize);
    let work = |client: u32| {
        let opened = open().and_then(|mut store| change(&mut store, client, 0).map(|()| store));
        // The others wait for this client, also if it failed.
        barrier.wait();
        let mut store = opened?;
        let (begun, mut changes) = (Instant::now(), 0);
        while begun.elapsed() < SPAN {
            changes += 1;
            change(&mut store, client, changes)?;
        }
        Ok::<_, String>(f64::from(changes) / begun.elapsed().as_secs_f64())
    };
    let rates = thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|client| scope.spawn(move || work(client))).collect();
        let rates = clients.into_iter().map(|client| client.join().map_err(|_| "a client panicked".to_string())?);
        rates.collect::<Outcome<Vec<f64>>>()
    })?;
    Ok(rates.iter().sum::<f64>().round() as u64)
}

/// Replaces a note of the client, of 2 KB.
fn edit(store: &mut Store, client: u32, number: u32) -> Outcome<()> {
    let path = RelPath::new(&format!("{client}/note.md")).map_err(|error| format!("{error:?}"))?;
    let read = store.perform(&FsOp::Read { path: path.clone(), offset: 0, max_bytes: u32::MAX });
    let precondition = match read {
        Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Precondition::Matches(content.version),
        _ => Precondition::Absent,
    };
    let text = format!("{number} {}\n", "x".repeat(2_000));
    match store.perform(&FsOp::write(path, text.into(), precondition)) {
        Ok(FsOutcome::Write(WriteOutcome::Written(_))) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Appends a line to the log of all clients.
fn append(store: &mut Store, client: u32, number: u32) -> Outcome<()> {
    let path = RelPath::new("log.md").map_err(|error| format!("{error:?}"))?;
    let line = format!("{client}-{number}\n");
    store
        .perform(&FsOp::append(path, line.into(), true, Precondition::Any))
        .map(|_| ())
        .map_err(|error| error.to_string())
}
