//! Items of all kinds in one list, and the lists of files and of forgotten items.

use std::collections::BTreeSet;

use saddlebag::document::{Frontmatter, Value};
use saddlebag::entries::{
    EntryFile, EntryInfo, EntryProblem, ExportEntries, ListEntries, ListEntriesReply, MAX_LIST_ENTRIES,
};
use saddlebag::history::{ForgottenNote, ListForgotten, MAX_HISTORY_ITEMS};
use saddlebag::items::ItemKind;
use saddlebag::journal::{ListJournal, ListedFile};
use saddlebag::notebook::{ListNotes, NoteInfo, Warning};
use saddlebag::search::Skipped;
use saddlebag::store::{LocalTime, NOTE_SUFFIX, Timestamp, USER_FOLDER, utc_text};
use saddlebag::trust::Provenance;
use saddlebag_host::Project;

use super::args::ListArgs;
use super::pages;
use crate::input::nanoseconds;
use crate::note::shared::{mark, marks, warn};
use crate::output::{single_line, warn_of_skipped};
use crate::prelude::*;

/// Items of memory, the last changed first.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Items {
    items: Vec<ListedItem>,
    /// Number of items that match; `items` has at most as many as --limit says.
    total: usize,
    /// Problems that do not stop a listing.
    warnings: Vec<Warning>,
    /// Files that could not be read.
    skipped: Vec<Skipped>,
}

/// Item in a list of all kinds.
#[derive(Serialize, JsonSchema)]
struct ListedItem {
    kind: ItemKind,
    /// Title of a note, key of an entry, name of another file.
    name: String,
    /// Path of the file; for a forgotten note the path that it had; empty for a forgotten entry.
    path: String,
    /// Category of an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Time of the last change as RFC 3339, for a forgotten item the time when it was forgotten; null if unknown.
    modified: Option<String>,
    /// Origin of its text, if the text is kept out of prompts until a person approves it.
    unapproved: Option<Provenance>,
    /// Agent or client that wrote a note last, as its file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<String>,
    /// Path of the newer note that supersedes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    /// Day of the newer note.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_since: Option<String>,
    /// Time in nanoseconds, to sort by.
    #[serde(skip)]
    changed: u64,
}

/// Lists items of all kinds.
pub(super) fn list(args: &ListArgs, global: &Global, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let mut all = Items::default();
    all.add_notes(args, store, output)?;
    if let Some(mut user) = of_user(global)? {
        all.add_notes(args, &mut user, output)?;
    }
    let mut page = entries_after(None, args, store, output)?;
    all.warnings.extend(std::mem::take(&mut page.problems).into_iter().map(of_problem));
    loop {
        all.items.extend(page.entries.into_iter().map(of_entry));
        match page.next {
            Some(next) => page = entries_after(Some(next), args, store, output)?,
            None => break,
        }
    }
    if !args.has_tags() {
        let notes: BTreeSet<String> = all.items.iter().map(|item| item.path.clone()).collect();
        let reply = store.call(ListJournal, output)?;
        let files = reply.files.into_iter().filter(|file| !notes.contains(&file.path));
        all.items.extend(files.filter(|file| args.is_new_enough(file.modified, store.now())).map(of_file));
        let is_new = |file: &Skipped| all.skipped.iter().all(|known| known.path != file.path);
        let skipped: Vec<Skipped> = reply.skipped.into_iter().filter(is_new).collect();
        all.skipped.extend(skipped);
    }
    all.show(args.limit, store.now(), output)
}

/// Opens the notes for all projects, which belong to every project.
pub(super) fn of_user(global: &Global) -> Result<Option<Store>, Failure> {
    let user = || Store::for_project(Project::Slug(USER_FOLDER.to_string()), global);
    (!global.user && !global.notebook).then(user).transpose()
}

/// Lists forgotten notes and entries, the last forgotten first.
pub(super) fn list_forgotten(args: &ListArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let mut all = Items::default();
    if args.kind != Some(ItemKind::Entry) {
        let asked = ListForgotten { limit: MAX_HISTORY_ITEMS, ..ListForgotten::default() };
        let notes = store.call(asked, output)?.notes;
        all.items.extend(
            notes.into_iter().filter(|note| args.is_new_enough(note.forgotten, store.now())).map(of_forgotten_note),
        );
    }
    if args.kind == Some(ItemKind::Note) {
        return all.show(args.limit, store.now(), output);
    }
    let mut cursor = None;
    loop {
        let page = store.call(ExportEntries { forgotten: true, cursor }, output)?;
        if all.warnings.is_empty() {
            all.warnings.extend(page.problems.into_iter().map(of_problem));
        }
        all.items.extend(
            page.files.iter().filter_map(of_forgotten).filter(|item| args.is_new_enough(item.changed, store.now())),
        );
        match page.next {
            Some(next) => cursor = Some(next),
            None => return all.show(args.limit, store.now(), output),
        }
    }
}

/// Lists the files that `search` covers.
pub(super) fn list_files(args: &ListArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let mut list = store.call(ListJournal, output)?;
    list.files.retain(|file| args.is_new_enough(file.modified, store.now()));
    list.files.truncate(args.limit.map_or(usize::MAX, |limit| limit as usize));
    if output.json(&list)? {
        return Ok(());
    }
    list.files.iter().try_for_each(|file| output.line(&file.path))?;
    output.flush()?;
    warn_of_skipped(&list.skipped, output);
    if list.files.is_empty() {
        output.note("there are no such files");
    }
    Ok(())
}

impl Items {
    fn add_notes(&mut self, args: &ListArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
        let request = ListNotes { filter: args.of_notes(store.now()), ..ListNotes::default() };
        let notes = pages::list(store, &request, output, |page, _| {
            self.items.extend(page.notes.into_iter().map(of_note));
            Ok(())
        })?;
        self.warnings.extend(notes.warnings);
        self.skipped.extend(notes.skipped);
        Ok(())
    }

    /// Sorts the items, leaves out those over the limit, and prints the others.
    fn show(mut self, limit: Option<u32>, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
        self.total = self.items.len();
        self.items.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
        self.items.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        if output.json(&self)? {
            return Ok(());
        }
        let now = now.local();
        self.items.iter().try_for_each(|item| item.print(now, output))?;
        output.flush()?;
        if self.items.is_empty() {
            output.note("there are no such items");
        }
        warn(&self.warnings, output);
        warn_of_skipped(&self.skipped, output);
        Ok(())
    }
}

impl ListedItem {
    fn print(&self, now: Option<LocalTime>, output: &mut Output) -> Result<(), Failure> {
        let day = now.filter(|_| self.changed > 0).map_or_else(|| "-".into(), |now| now.day_of(self.changed));
        let name = single_line(&self.name);
        let what = match (self.kind, &self.category) {
            (kind, _) if kind.is_note() => format!("{}  {name}", self.path),
            (_, Some(category)) => format!("{name}  ({})", single_line(category)),
            (_, None) => self.path.clone(),
        };
        let marks = marks(self.superseded_by.as_deref(), self.superseded_since.as_deref(), self.writer.as_deref());
        output.line(&format!("{:7}  {day:DAY$}  {what}{marks}{}", self.kind.as_str(), mark(self.unapproved)))?;
        Ok(())
    }

    fn new(kind: ItemKind, name: String, path: String, changed: u64) -> Self {
        let modified = (changed > 0).then(|| utc_text(changed));
        let (writer, superseded_by, superseded_since) = (None, None, None);
        let (category, unapproved) = (None, None);
        Self { kind, name, path, category, modified, unapproved, writer, superseded_by, superseded_since, changed }
    }
}

/// Number of characters of a day.
const DAY: usize = 10;

fn of_note(note: NoteInfo) -> ListedItem {
    let NoteInfo { kind, title, path, modified, unapproved, writer, superseded_by, superseded_since, .. } = note;
    let item = ListedItem::new(kind, title, path, modified);
    ListedItem { unapproved, writer, superseded_by, superseded_since, ..item }
}

fn of_entry(entry: EntryInfo) -> ListedItem {
    let item = ListedItem::new(ItemKind::Entry, entry.key, entry.path, entry.updated);
    ListedItem { category: Some(entry.category), unapproved: entry.unapproved, ..item }
}

fn of_file(file: ListedFile) -> ListedItem {
    let name = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(NOTE_SUFFIX).to_string();
    ListedItem::new(ItemKind::File, name, file.path, file.modified)
}

fn of_forgotten_note(note: ForgottenNote) -> ListedItem {
    ListedItem::new(ItemKind::Note, note.title, note.path, note.forgotten)
}

/// Returns the entry of an exported file, if it is forgotten.
fn of_forgotten(file: &EntryFile) -> Option<ListedItem> {
    let frontmatter = Frontmatter::parse(std::str::from_utf8(&file.content).ok()?);
    let text = |field| frontmatter.value(field).and_then(Value::text).filter(|text| !text.is_empty());
    let forgotten = saddlebag_host::parse_time(&text("forgotten")?).map_or(0, nanoseconds);
    let (category, name) = file.path.split_once('/')?;
    let key = text("key").unwrap_or_else(|| name.trim_end_matches(NOTE_SUFFIX).to_string());
    let item = ListedItem::new(ItemKind::Entry, key, String::new(), forgotten);
    Some(ListedItem { category: Some(category.to_string()), ..item })
}

fn of_problem(problem: EntryProblem) -> Warning {
    Warning { path: problem.path, message: problem.message }
}

fn entries_after(
    cursor: Option<String>,
    args: &ListArgs,
    store: &mut Store,
    output: &mut Output,
) -> Result<ListEntriesReply, Failure> {
    // Each page reads all entries.
    store.call(ListEntries { filter: args.of_entries(store.now()), limit: Some(MAX_LIST_ENTRIES), cursor }, output)
}
