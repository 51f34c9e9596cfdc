//! Entries: the cost of each command, and of an export of as many entries as an agent may have.

use std::path::Path;
use std::time::Duration;

use saddlebag::entries::{
    DEFAULT_HYDRATE_BYTES, EntriesCommand, EntriesConfig, EntriesReply, EntryFilter, ExportEntries, FindEntries,
    GetEntry, Hydrate, HydrationPolicy, ListEntries, NewEntry, StoreEntry,
};
use saddlebag::{Command, Config, Memory, Reply};
use saddlebag_host::{ComponentRuntime, Durability, Engine, Host, LocalDir, NativeEngine};

use crate::corpus;
use crate::report::{Bar, Report};
use crate::shared::{NOW, Result, disk, median};

/// Number of entries for all commands except the export.
const ENTRIES: usize = 1_000;

/// Number of exported entries: the default maximum of an agent.
const EXPORTED: usize = 10_000;

type OpenHost = Host<Box<dyn Engine>, LocalDir>;

fn open(runtime: Option<&ComponentRuntime>, root: &Path, epoch: u64) -> Result<OpenHost> {
    let max_entries = u32::try_from(EXPORTED)?;
    let entries = EntriesConfig { max_entries, ..EntriesConfig::for_agent(corpus::AGENT) };
    let config = Config { epoch, entries: Some(entries), ..Config::default() };
    let engine: Box<dyn Engine> = match runtime {
        Some(runtime) => Box::new(runtime.open(config)?),
        None => Box::new(NativeEngine::new(Memory::open(config)?)),
    };
    Ok(Host::new(engine, disk(root, Durability::Full)?))
}

fn command(verb: EntriesCommand) -> Command {
    verb.into()
}

/// Returns an existing entry with different text for each change.
fn store(change: usize) -> Command {
    let entry = NewEntry {
        tags: vec!["ops".into()],
        ..NewEntry::new(corpus::entry_key(ENTRIES / 2), format!("change {change} of the port"), "core")
    };
    command(EntriesCommand::StoreEntry(StoreEntry { entry, expected_version: None }))
}

fn questions() -> [(&'static str, Command); 4] {
    let request = Hydrate { max_bytes: DEFAULT_HYDRATE_BYTES, policy: HydrationPolicy::Greedy };
    [
        ("get", command(EntriesCommand::GetEntry(GetEntry { key: corpus::entry_key(7) }))),
        (
            "list",
            command(EntriesCommand::ListEntries(ListEntries {
                filter: EntryFilter::default(),
                limit: None,
                cursor: None,
            })),
        ),
        ("find", command(EntriesCommand::FindEntries(FindEntries { query: "needleterm postgres".into(), limit: 20 }))),
        ("hydrate 256 KiB", command(EntriesCommand::Hydrate(request))),
    ]
}

pub(crate) fn measure(report: &mut Report, runtime: &ComponentRuntime) -> Result<()> {
    eprintln!("measuring {ENTRIES} entries");
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    corpus::write_entries(root, ENTRIES)?;
    // Versions of files that were just written are content hashes; wait until they are not.
    std::thread::sleep(Duration::from_millis(50));
    let mut add = |work: &str, component: Duration, native: Duration| {
        let bars = [Bar { baseline: "native engine", time: Some(native), at_most: 1.6 }];
        report.add(&format!("entries, {ENTRIES}: {work}"), component, &bars);
    };
    let get = || questions()[0].1.clone();
    let first = median(5, || Ok(open(Some(runtime), root, 1)?.run(NOW, get())?))?;
    let first_in_native = median(5, || Ok(open(None, root, 1)?.run(NOW, get())?))?;
    add("get by a new engine", first, first_in_native);
    let mut warm = open(Some(runtime), root, 2)?;
    let mut warm_native = open(None, root, 3)?;
    for (name, question) in questions() {
        let time = median(21, || Ok(warm.run(NOW, question.clone())?))?;
        let in_native = median(21, || Ok(warm_native.run(NOW, question.clone())?))?;
        add(name, time, in_native);
    }
    let mut changes = 0;
    let mut change = |host: &mut OpenHost| {
        median(21, || {
            changes += 1;
            Ok(host.run(NOW, store(changes))?)
        })
    };
    let (stored, stored_in_native) = (change(&mut warm)?, change(&mut warm_native)?);
    add("store, durable", stored, stored_in_native);
    measure_export(report, runtime)
}

/// Reads every page of an export. Returns the number of files.
fn export(host: &mut OpenHost) -> Result<usize> {
    let (mut exported, mut cursor) = (0, None);
    loop {
        let Reply::Entries(EntriesReply::ExportEntries(page)) = host.run(
            NOW,
            command(EntriesCommand::ExportEntries(ExportEntries { forgotten: false, cursor: cursor.take() })),
        )?
        else {
            return Err("an export gave another reply".into());
        };
        exported += page.files.len();
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(exported),
        }
    }
}

fn measure_export(report: &mut Report, runtime: &ComponentRuntime) -> Result<()> {
    eprintln!("measuring the export of {EXPORTED} entries");
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    corpus::write_entries(root, EXPORTED)?;
    std::thread::sleep(Duration::from_millis(50));
    if export(&mut open(Some(runtime), root, 1)?)? != EXPORTED {
        return Err("an export is not whole".into());
    }
    let mut add = |work: &str, component: Duration, native: Duration| {
        let bars = [Bar { baseline: "native engine", time: Some(native), at_most: 1.6 }];
        report.add(&format!("entries, {EXPORTED}: {work}"), component, &bars);
    };
    let first = median(5, || export(&mut open(Some(runtime), root, 2)?))?;
    let first_in_native = median(5, || export(&mut open(None, root, 3)?))?;
    add("export by a new engine", first, first_in_native);
    let (mut warm, mut warm_native) = (open(Some(runtime), root, 4)?, open(None, root, 5)?);
    let again = median(5, || export(&mut warm))?;
    let again_in_native = median(5, || export(&mut warm_native))?;
    add("export again", again, again_in_native);
    Ok(())
}
