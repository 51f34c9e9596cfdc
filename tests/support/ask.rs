//! The commands of most tests, each from what the tests vary. Only this file knows their shapes.
//!
//! A command of a test goes to `call` for its reply, to `run` or `submit`, or to [`Origin::with`](saddlebag::Origin::with).

use saddlebag::approval::Pending;
use saddlebag::entries::{EntryFilter, FindEntries, GetEntry, ListEntries, NewEntry, StoreEntry};
use saddlebag::files::{ListFiles, ReadFile, Recall};
use saddlebag::history::{ListVersions, ReadVersion};
use saddlebag::journal::{AppendDaily, ListJournal, Read, Search, Target, Write, WriteMode};
use saddlebag::notebook::{DeadLinks, ListNotes, Remember, Tags, UnlinkedMentions};
use saddlebag::{Origin, Submission};

/// More than the files of most tests have.
const READ_BYTES: u32 = 4096;

/// Returns the command as one of the run `r`.
pub fn in_run<C>(command: C) -> Submission<C> {
    Origin::from_run("r").with(command)
}

/// Commands of any families and origins as one list.
#[macro_export]
macro_rules! commands {
    ($($command:expr),* $(,)?) => {
        vec![$(saddlebag::Submit::submission($command)),*]
    };
}

pub fn read(target: Target) -> Read {
    read_part(target, 0, READ_BYTES)
}

pub fn read_part(target: Target, offset: u64, max_bytes: u32) -> Read {
    Read { target, offset, max_bytes }
}

pub fn read_file(path: impl Into<String>) -> ReadFile {
    ReadFile { path: path.into(), offset: 0, max_bytes: READ_BYTES }
}

pub fn entry(key: impl Into<String>) -> GetEntry {
    GetEntry { key: key.into() }
}

pub fn read_version(name: impl Into<String>, version: u32) -> ReadVersion {
    ReadVersion { name: name.into(), version }
}

pub fn list_journal() -> ListJournal {
    ListJournal
}

pub fn list_files(after: Option<&str>, limit: u32) -> ListFiles {
    ListFiles { after: after.map(String::from), limit }
}

pub fn list_entries() -> ListEntries {
    ListEntries { filter: EntryFilter::default(), limit: None, cursor: None }
}

pub fn list_notes() -> ListNotes {
    ListNotes::default()
}

pub fn list_versions(name: impl Into<String>) -> ListVersions {
    ListVersions { name: name.into(), limit: 99, ..ListVersions::default() }
}

pub fn pending() -> Pending {
    Pending { limit: 100, ..Pending::default() }
}

pub fn tags() -> Tags {
    Tags
}

pub fn dead_links() -> DeadLinks {
    DeadLinks::default()
}

pub fn mentions(note: impl Into<String>) -> UnlinkedMentions {
    UnlinkedMentions { note: note.into() }
}

pub fn recall(query: impl Into<String>) -> Recall {
    Recall { query: query.into(), limit: 10, ..Recall::default() }
}

pub fn search(query: impl Into<String>) -> Search {
    Search::new(query)
}

pub fn find_entries(query: impl Into<String>) -> FindEntries {
    FindEntries { query: query.into(), limit: 10 }
}

pub fn write(target: Target, mode: WriteMode, content: impl Into<String>) -> Write {
    Write { target, mode, content: content.into(), truncate: false }
}

pub fn append(target: Target, content: impl Into<String>) -> Write {
    write(target, WriteMode::Append, content)
}

pub fn overwrite(target: Target, content: impl Into<String>) -> Write {
    write(target, WriteMode::Overwrite, content)
}

pub fn append_daily(heading: impl Into<String>, body: impl Into<String>) -> AppendDaily {
    AppendDaily { heading: heading.into(), body: body.into() }
}

pub fn store(entry: NewEntry) -> StoreEntry {
    StoreEntry { entry, expected_version: None }
}

pub fn keep(key: impl Into<String>, content: impl Into<String>, category: impl Into<String>) -> StoreEntry {
    store(NewEntry::new(key, content, category))
}

pub fn fact(title: impl Into<String>, content: impl Into<String>) -> Remember {
    Remember { title: title.into(), content: content.into(), template: "fact".into(), ..Remember::default() }
}
