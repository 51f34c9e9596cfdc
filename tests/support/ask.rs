//! The commands of most tests, each made from what tests vary, so that its shape is known in one place.
//!
//! A command of a test goes to `call` for its reply, to `run` or `submit`, or to [`Origin::with`](saddlebag::Origin::with).

use saddlebag::approval::Pending;
use saddlebag::entries::{NewEntry, WriteEntry};
use saddlebag::history::{ListVersions, Undo};
use saddlebag::items::{Edit, Forget, ItemKind, ListFiles, ListItems, Recall, Restore, Show, Tag};
use saddlebag::journal::{AppendDaily, FlushSummary, Search, Slash, Target, WriteFile, WriteMode};
use saddlebag::notebook::{
    DeadLinks, Journal, Link, Related, Rename, SortBy, SortKey, Tags, UnlinkedMentions, WriteNote,
};
use saddlebag::{Limits, Origin, Submission};

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

pub fn show(name: impl ToString) -> Show {
    show_part(name, 0, READ_BYTES)
}

pub fn show_part(name: impl ToString, offset: u64, max_bytes: u32) -> Show {
    Show { offset, max_bytes, ..Show::new(name.to_string()) }
}

pub fn entry(key: impl ToString) -> Show {
    Show { kind: Some(ItemKind::Entry), ..show(key) }
}

pub fn show_version(name: impl Into<String>, version: u32) -> Show {
    Show { version: Some(version), max_bytes: Limits::default().max_file_bytes, ..Show::new(name) }
}

pub fn list_files(after: Option<&str>, limit: u32) -> ListFiles {
    ListFiles { after: after.map(String::from), limit }
}

pub fn list() -> ListItems {
    ListItems::default()
}

pub fn list_by_path() -> ListItems {
    ListItems { sort: vec![SortKey { by: SortBy::Path, ascending: true }], ..list() }
}

pub fn list_entries() -> ListItems {
    ListItems { kinds: vec![ItemKind::Entry], ..list() }
}

pub fn list_notes() -> ListItems {
    ListItems { kinds: vec![ItemKind::Note], ..list() }
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

pub fn recall_entries(query: impl Into<String>) -> Recall {
    Recall { kinds: vec![ItemKind::Entry], ..recall(query) }
}

pub fn write(target: Target, mode: WriteMode, content: impl Into<String>) -> WriteFile {
    WriteFile { target, mode, content: content.into(), truncate: false }
}

pub fn append(target: Target, content: impl Into<String>) -> WriteFile {
    write(target, WriteMode::Append, content)
}

pub fn overwrite(target: Target, content: impl Into<String>) -> WriteFile {
    write(target, WriteMode::Overwrite, content)
}

pub fn append_daily(heading: impl Into<String>, body: impl Into<String>) -> AppendDaily {
    AppendDaily { heading: heading.into(), body: body.into() }
}

pub fn store(entry: NewEntry) -> WriteEntry {
    WriteEntry { entry, expected_version: None }
}

pub fn keep(key: impl Into<String>, content: impl Into<String>, category: impl Into<String>) -> WriteEntry {
    store(NewEntry::new(key, content, category))
}

pub fn fact(title: impl Into<String>, content: impl Into<String>) -> WriteNote {
    WriteNote { title: title.into(), content: content.into(), template: "fact".into(), ..WriteNote::default() }
}

pub fn log(entry: impl Into<String>) -> Journal {
    Journal { entry: entry.into() }
}

pub fn flush(summary: impl Into<String>) -> FlushSummary {
    FlushSummary { summary: summary.into(), messages: None }
}

pub fn slash(line: impl Into<String>) -> Slash {
    Slash { line: line.into() }
}

pub fn edit(name: impl ToString, old: impl Into<String>, new: impl Into<String>) -> Edit {
    Edit { name: name.to_string(), kind: None, old_text: old.into(), new_text: new.into() }
}

pub fn edit_entry(key: impl ToString, old: impl Into<String>, new: impl Into<String>) -> Edit {
    Edit { kind: Some(ItemKind::Entry), ..edit(key, old, new) }
}

pub fn redo() -> Undo {
    Undo { redo: true, ..Undo::default() }
}

pub fn rename(note: impl Into<String>, title: impl Into<String>) -> Rename {
    Rename { note: note.into(), title: title.into() }
}

pub fn tag(name: impl ToString, add: Vec<String>, remove: Vec<String>) -> Tag {
    Tag { name: name.to_string(), kind: None, add, remove }
}

pub fn link(source: impl Into<String>, target: impl Into<String>) -> Link {
    Link { source: source.into(), target: target.into(), text: None }
}

pub fn related(note: impl Into<String>) -> Related {
    Related { note: note.into(), limit: 10 }
}

pub fn forget(name: impl ToString) -> Forget {
    Forget::new(name.to_string())
}

pub fn forget_entry(key: impl ToString) -> Forget {
    Forget { kind: Some(ItemKind::Entry), ..forget(key) }
}

pub fn restore(name: impl ToString) -> Restore {
    Restore { name: name.to_string(), ..Restore::default() }
}

pub fn restore_entry(key: impl ToString) -> Restore {
    Restore { kind: Some(ItemKind::Entry), ..restore(key) }
}

pub fn unforget(name: impl ToString) -> Restore {
    Restore { lift_rejection: true, ..restore(name) }
}

pub fn restore_version(name: impl ToString, version: u32) -> Restore {
    Restore { version: Some(version), ..restore(name) }
}
