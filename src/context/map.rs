//! What memory knows: a line for each decision, fact and entry, by its name, so that a model opens what it needs.
//!
//! A model finds nearly every item by its name alone, and a hook by the words of a prompt about half of them. The map lists
//! decisions first, then what was changed last. Items over its budget are counted by tag or folder, with a few names.
//!
//! Which items there are, and how they are grouped, comes from a listing and a cache of what the files said when they were last
//! read. The cache decides about no text: every name that is shown is taken from its file, which is judged.

use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::form::BlockForm;
use super::section::{Section, SectionContent, SectionKind};
use super::sources::JoinedFile;
use super::types::{LeftOut, LeftOutReason};
use super::user_notes::SUPERSEDES;
use crate::changes::Call;
use crate::engine::{Loaded, load, load_all};
use crate::entries::{self, Entries};
use crate::search::{FolderScope, key_words, list_markdown, says_nothing};
use crate::store::{DECISIONS_FOLDER, FACTS_FOLDER, NOTE_SUFFIX, RelPath, is_in_folder};
use crate::trust::{Approved, ForModel};
use saddlebag_collections::{order, part::TextPart, prelude::*, sorted::SortedMap};
use saddlebag_markdown::{Note, TagSyntax, one_line};
use saddlebag_protocol::{Entry, EntryKind, Error, ErrorCode};

/// Default size limit of the map in bytes.
pub const DEFAULT_MAP_BYTES: u32 = 4_000;

/// Maximum number of bytes for what is over the budget.
const REST_BYTES: usize = 600;
/// Maximum size of a name in bytes. An item with a longer one is listed by its path.
const MAX_NAME_BYTES: usize = 100;
/// Number of names of a group of items that are not listed.
const NAMES_OF_GROUP: usize = 3;
/// Number of notes from which on a cache is kept: fewer are read as fast.
const CACHE_FROM: usize = 64;
/// Maximum size of the cache in bytes.
const MAX_CACHE_BYTES: u32 = 16 << 20;
/// Number of files that are read together.
const READ_BATCH: usize = 256;
/// Number of the format of the cache.
const FORMAT: u8 = 1;
/// Place of the cache, in the scope.
const CACHE: &str = ".saddlebag/index/map";

const INTRO: &str = "Names only; `mem_show NAME` or `saddlebag show NAME` has the text.\n";
const MORE: &str = " more, which `mem_recall` and `mem_list` find:";
/// Bytes of a line about a group, beside names.
const GROUP_BYTES: usize = 12;
const DECISIONS: &str = "Decisions:\n";
const FACTS: &str = "Facts:\n";

/// The items of a scope that may go into a prompt, in the order of the map.
#[derive(Default)]
pub(super) struct Map {
    items: Vec<Item>,
    /// What cannot be read.
    pub(super) left_out: Vec<LeftOut>,
    /// Time of the last change of a file that the map was made of, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(super) newest: u64,
}

struct Item {
    /// Path as it is shown.
    path: String,
    /// File of a note; `None` for an entry.
    file: Option<RelPath>,
    /// Name below the notebook, without its extension; empty for an entry.
    below: String,
    modified: u64,
    said: Said,
    /// Line of the item, if its file was read.
    line: Option<Approved>,
}

/// What the file of an item says.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Said {
    name: String,
    /// Key words of the text; empty if the name says what it is about.
    words: String,
    /// Tags; for an item without tags its folder or category.
    groups: Vec<String>,
    supersedes: Vec<String>,
}

/// Notes as they were last read.
#[derive(Default, Serialize, Deserialize)]
struct Cache {
    format: u8,
    /// Scheme of the versions.
    scheme: String,
    notes: Vec<KnownNote>,
}

#[derive(Serialize, Deserialize)]
struct KnownNote {
    path: String,
    version: String,
    modified: u64,
    /// `None` if the text may not go into a prompt, or is not text.
    said: Option<Said>,
}

impl Map {
    /// Lists the notes, and the entries if they are given, and reads what has changed since the cache was written.
    pub(super) async fn load(call: &Call, entries: Option<&Entries>) -> Result<Self, Error> {
        let mut map = Self::default();
        map.add_notes(call).await?;
        map.leave_out_superseded();
        if let Some(entries) = entries.filter(|entries| entries.agent().is_ok()) {
            map.add_entries(call, entries).await?;
        }
        let is_decision = |item: &Item| is_in_folder(&item.below, DECISIONS_FOLDER);
        order::sort_slice(&mut map.items, |a, b| {
            let key = |item: &Item| (!is_decision(item), Reverse(item.modified));
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path)).then_with(|| a.said.name.cmp(&b.said.name))
        });
        Ok(map)
    }

    async fn add_notes(&mut self, call: &Call) -> Result<(), Error> {
        let mut folders = Vec::new();
        for name in [DECISIONS_FOLDER, FACTS_FOLDER] {
            let folder = call.scope.layout.in_notebook(name).map_err(|_| Error::internal("a folder without a path"))?;
            folders.push(FolderScope { folder: Some(folder), tree: true });
        }
        let mut files = match list_markdown(&call.fs, folders, &call.scope.limits).await {
            Ok(listed) => listed.entries,
            Err(error) if error.code == ErrorCode::Storage => {
                self.leave_out(FACTS_FOLDER, error);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        files.retain(|file| file.kind == EntryKind::File);
        let is_cached = call.scope.index_file && files.len() >= CACHE_FROM;
        let cache = if is_cached { Cache::load(call).await } else { Cache::default() };
        let mut known = cache.notes;
        order::sort_slice(&mut known, |a, b| a.path.cmp(&b.path));
        let count = known.len();
        let mut notes: Vec<(KnownNote, Option<Approved>)> = Vec::new();
        let mut unread: Vec<Entry> = Vec::new();
        for file in files {
            self.newest = self.newest.max(file.modified);
            let place = known.binary_search_by(|note| note.path.as_str().cmp(file.path.as_str()));
            match place.ok().and_then(|place| known.get_mut(place)) {
                Some(note) if note.version == file.version.0 && note.modified == file.modified => {
                    let (path, version) = (note.path.clone(), core::mem::take(&mut note.version));
                    notes.push((KnownNote { path, version, modified: note.modified, said: note.said.take() }, None));
                }
                _ => unread.push(file),
            }
        }
        let is_changed = !unread.is_empty() || notes.len() != count;
        for batch in unread.chunks(READ_BATCH) {
            let paths: Vec<&RelPath> = batch.iter().map(|file| &file.path).collect();
            let read = load_all(&call.fs, &paths, call.scope.limits.max_file_bytes).await;
            for (file, loaded) in batch.iter().zip(read) {
                let found = text_of(loaded.ok()).map(|text| said_by(call, &file.path, &text));
                let (said, line) = found.map_or((None, None), |(said, line)| (Some(said), Some(line)));
                let (path, version) = (file.path.as_str().to_string(), file.version.0.clone());
                notes.push((KnownNote { path, version, modified: file.modified, said }, line));
            }
        }
        for (note, line) in &notes {
            let (Some(said), Ok(file)) = (&note.said, RelPath::new(note.path.as_str())) else { continue };
            self.items.push(Item {
                path: call.scope.display_path(&file),
                below: below(call, &file).to_string(),
                file: Some(file),
                modified: note.modified,
                said: said.clone(),
                line: line.clone(),
            });
        }
        if is_cached && is_changed {
            let notes = notes.into_iter().map(|(note, _)| note).collect();
            Cache { format: FORMAT, scheme: call.scope.version_scheme.clone(), notes }.save(call).await;
        }
        Ok(())
    }

    /// Reports what cannot be read. The rest of the block is worth more than an error.
    fn leave_out(&mut self, path: &str, error: Error) {
        let reason = LeftOutReason::Unreadable(error.for_model().into_message());
        self.left_out.push(LeftOut::whole(path, SectionKind::Map.title(), reason, 0));
    }

    /// Removes the notes that others supersede. Notes that supersede each other in a circle stay.
    fn leave_out_superseded(&mut self) {
        let mut newer: SortedMap<String, String> = SortedMap::default();
        for item in &self.items {
            for old in &item.said.supersedes {
                let old = old.strip_suffix(NOTE_SUFFIX).unwrap_or(old);
                if old != item.below {
                    newer.insert(old.to_string(), item.below.clone());
                }
            }
        }
        let has_end = |item: &Item| {
            let mut next = newer.get(&item.below);
            for _ in 0..newer.len() {
                next = next.and_then(|below| newer.get(below));
            }
            next.is_none()
        };
        self.items.retain(|item| newer.get(&item.below).is_none() || !has_end(item));
    }

    async fn add_entries(&mut self, call: &Call, entries: &Entries) -> Result<(), Error> {
        let found = match entries::current(call, entries).await {
            Ok((found, _)) => found,
            Err(error) if error.code == ErrorCode::Storage => {
                self.leave_out("entries", entries::unavailable(error));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.newest = self.newest.max(entries.newest());
        for entry in found.into_iter().filter(|entry| !entry.marks.is_withheld()) {
            let Ok(text) = entry.text_for_prompt() else { continue };
            let words = words_beside(call, &entry.key, text.as_str());
            let groups = if entry.tags.is_empty() { vec![entry.category] } else { entry.tags };
            let said = Said { name: one_line(&entry.key), words, groups, supersedes: Vec::new() };
            let line = Some(text.map(|_| said.line(&said.name)));
            let (path, below) = (entry.path, String::new());
            self.items.push(Item { path, file: None, below, modified: entry.updated, said, line });
        }
        Ok(())
    }

    /// Returns true if there are names to list.
    pub(super) fn has_names(&self) -> bool {
        !self.items.is_empty()
    }

    /// Returns the section of the block; `None` if there is nothing to list, or no room for a name.
    pub(super) async fn section(mut self, call: &Call, form: BlockForm, max_bytes: usize) -> Option<Section> {
        let kind = SectionKind::Map;
        let costs = |item: &Item| form.mark().len() + ForModel::escaped(&item.said.line(&item.said.name)).len() + 1;
        let around = form.header(&kind.title()).len();
        let around =
            around + [INTRO, DECISIONS, FACTS].iter().map(|text| text.len() + form.mark().len()).sum::<usize>();
        let room = max_bytes.checked_sub(around).filter(|_| !self.items.is_empty())?;
        let fitting = |room: usize| {
            let ends = self.items.iter().scan(0, |end: &mut usize, item| {
                *end += costs(item);
                Some(*end)
            });
            ends.take_while(|end| *end <= room).count()
        };
        let all = fitting(room);
        // What is said about the rest takes the place of some names.
        let of_rest = self.items.get(all..).filter(|rest| !rest.is_empty()).map_or(0, |rest| {
            let named = |(group, items): &(String, Vec<usize>)| {
                let names = items.iter().take(NAMES_OF_GROUP).filter_map(|&place| rest.get(place)).map(costs);
                group.len() + GROUP_BYTES + names.sum::<usize>()
            };
            groups(rest).iter().map(named).sum::<usize>() + MORE.len() + 2 * GROUP_BYTES
        });
        let fitting = fitting(room.saturating_sub(of_rest.min(REST_BYTES)));
        let mut rest = self.items.split_off(fitting);
        let groups = groups(&rest);
        let of_groups: Vec<usize> =
            groups.iter().flat_map(|(_, items)| items.iter().take(NAMES_OF_GROUP)).copied().collect();
        let of_groups: Vec<&mut Item> =
            rest.iter_mut().enumerate().filter(|(place, _)| of_groups.contains(place)).map(|(_, item)| item).collect();
        read_lines(call, self.items.iter_mut().chain(of_groups).collect()).await;
        let mut lines = Lines { form, text: Approved::default(), files: Vec::new(), left: room };
        lines.text.push_ours(INTRO);
        let mut heading = "";
        for item in &self.items {
            let is_decision = is_in_folder(&item.below, DECISIONS_FOLDER);
            let own = if is_decision { DECISIONS } else { FACTS };
            if core::mem::replace(&mut heading, own) != own {
                lines.text.push_ours(own);
            }
            // A file that changed meanwhile may have a longer name, or may not be shown any more.
            if let Some(line) = &item.line {
                lines.add(line, &item.path);
            }
        }
        if !rest.is_empty() {
            let heading = format!("{}{MORE}", rest.len());
            lines.add(&Approved::default().map(|_| heading), "");
            for (name, items) in &groups {
                let examples: Vec<&Item> = items.iter().filter_map(|&place| rest.get(place)).collect();
                lines.add_group(name, &examples);
            }
        }
        // Without a name, the other lines say nothing.
        if lines.files.is_empty() {
            return None;
        }
        let path = FACTS_FOLDER.to_string();
        Some(Section { kind, path, content: SectionContent::Joined { text: lines.text, files: lines.files } })
    }
}

/// Lines of the map, as long as there is room.
struct Lines {
    form: BlockForm,
    text: Approved,
    files: Vec<JoinedFile>,
    left: usize,
}

impl Lines {
    /// Adds a line of a file; without a path, a line of our own.
    fn add(&mut self, line: &Approved, path: &str) {
        let bytes = self.form.mark().len() + ForModel::escaped(line.as_str()).len() + 1;
        let Some(left) = self.left.checked_sub(bytes) else { return };
        self.left = left;
        let first = self.text.as_str().matches('\n').count();
        self.text.push(line);
        self.text.push_ours("\n");
        if !path.is_empty() {
            self.files.push(JoinedFile { path: path.into(), lines: first..first + 1 });
        }
    }

    /// Adds a line of items that are not listed: the group, their number, and some of their names.
    fn add_group(&mut self, group: &str, items: &[&Item]) {
        // The cache says which items there are. What is shown of them comes from files that were read.
        let read = items.iter().filter(|item| item.said.groups.iter().any(|of| of == group));
        let mut names = read.filter_map(|item| Some((item, item.line.as_ref()?))).take(NAMES_OF_GROUP);
        let Some((first, line)) = names.next() else { return };
        let name = |line: &Approved| line.map(|line| line.strip_prefix("- ").unwrap_or(line).to_string());
        let mut text = line.map(|_| format!("- {} {}: ", one_line(group), items.len()));
        text.push(&name(line));
        for (_, line) in names {
            text.push_ours(", ");
            text.push(&name(line));
        }
        self.add(&text, &first.path);
    }
}

impl Said {
    /// Returns the line of the item under a name.
    fn line(&self, name: &str) -> String {
        if self.words.is_empty() { format!("- {name}") } else { format!("- {name}: {}", self.words) }
    }
}

impl Cache {
    async fn load(call: &Call) -> Self {
        let read = async {
            let path = call.scope.layout.in_notebook(CACHE).ok()?;
            match load(&call.fs, &path, MAX_CACHE_BYTES.min(call.scope.limits.max_file_bytes)).await.ok()? {
                Loaded::Whole { bytes, .. } => postcard::from_bytes::<Self>(&bytes).ok(),
                _ => None,
            }
        };
        let is_ours = |cache: &Self| cache.format == FORMAT && cache.scheme == call.scope.version_scheme;
        read.await.filter(is_ours).unwrap_or_default()
    }

    /// A cache that is not written costs only time.
    async fn save(&self, call: &Call) {
        if let (Ok(path), Ok(bytes)) = (call.scope.layout.in_notebook(CACHE), postcard::to_allocvec(self)) {
            call.write_cache(&path, bytes).await;
        }
    }
}

/// Reads the lines of items that are known from the cache alone.
async fn read_lines(call: &Call, items: Vec<&mut Item>) {
    let mut unread: Vec<(&mut Item, RelPath)> = Vec::new();
    for item in items {
        if let (None, Some(file)) = (&item.line, item.file.clone()) {
            unread.push((item, file));
        }
    }
    let paths: Vec<&RelPath> = unread.iter().map(|(_, file)| file).collect();
    let read = load_all(&call.fs, &paths, call.scope.limits.max_file_bytes).await;
    for ((item, file), loaded) in unread.into_iter().zip(read) {
        if let Some((said, line)) = text_of(loaded.ok()).map(|text| said_by(call, &file, &text)) {
            (item.said, item.line) = (said, Some(line));
        }
    }
}

/// Returns the text of a file if it may go into a prompt.
fn text_of(loaded: Option<Loaded>) -> Option<Approved> {
    match loaded? {
        Loaded::Whole { bytes, .. } => Approved::judge(String::from_utf8(bytes).ok()?).ok(),
        Loaded::Absent | Loaded::TooLarge(_) => None,
    }
}

/// Returns what the text of a note says, and its line.
fn said_by(call: &Call, file: &RelPath, text: &Approved) -> (Said, Approved) {
    let note = Note::parse_file(text.as_str(), TagSyntax::default(), file.file_stem());
    let below = below(call, file);
    let title = one_line(&note.title);
    let name = if title.len() > MAX_NAME_BYTES { below.to_string() } else { title };
    let words = words_beside(call, &name, text.as_str().part(note.body.clone()));
    let folder = below.rsplit_once('/').map_or(below, |(folder, _)| folder);
    let groups = if note.tags.is_empty() { vec![folder.to_string()] } else { note.tags.clone() };
    let supersedes = note.frontmatter.texts(SUPERSEDES).map(String::from).collect();
    let said = Said { name, words, groups, supersedes };
    let line = text.map(|_| said.line(&said.name));
    (said, line)
}

/// Returns key words of the text if the name of the item says nothing.
fn words_beside(call: &Call, name: &str, text: &str) -> String {
    if says_nothing(name, call.scope.layout.project_name()) { key_words(text) } else { String::new() }
}

/// Returns the path below the notebook, without its extension.
fn below<'a>(call: &Call, file: &'a RelPath) -> &'a str {
    let below = call.scope.layout.below_notebook(file).unwrap_or(file.as_str());
    below.strip_suffix(NOTE_SUFFIX).unwrap_or(below)
}

/// Returns the groups of items with the places of their items, the largest first. An item counts in its first group.
fn groups(items: &[Item]) -> Vec<(String, Vec<usize>)> {
    let mut by_name: SortedMap<String, Vec<usize>> = SortedMap::default();
    for (place, item) in items.iter().enumerate() {
        let Some(group) = item.said.groups.first() else { continue };
        if let Some(places) = by_name.get_or_insert(group.clone(), Vec::new()) {
            places.push(place);
        }
    }
    let mut groups: Vec<(String, Vec<usize>)> = by_name.into_entries().collect();
    order::sort_slice_by_key(&mut groups, |(_, items)| Reverse(items.len()));
    groups
}
