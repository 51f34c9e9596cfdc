//! `expunge`: removes a text from everything that the memory keeps.

use saddlebag_collections::{part::TextPart, prelude::*, sorted::SortedSet, words};
use saddlebag_log::{Digest, State};

use super::expunged_logs::{ExpungedLogs, read_version};
use super::files::FileHistory;
use super::list_versions::history_of;
use super::log::{History, complete_interrupted};
use super::places::{FileKind, Place, history_folders, places};
use super::types::check_is_kept;
use crate::changes::{After, Call, Change, ExpungedText};
use crate::names::Stores;
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::store::{HistoryFile, Layout, RelPath};
use saddlebag_markdown::Frontmatter;
use saddlebag_protocol::{Error, Precondition};

/// Maximum number of times that all places are searched, while others write the text again.
const MAX_PASSES: usize = 8;

/// Maximum number of attempts at a log to which others append.
const MAX_ATTEMPTS: u32 = 1024;

/// Removes a text from the files, the backups, the history, the index and the states of sessions. A keyed digest of it stays in
/// the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expunge {
    /// Text, byte by byte as it is written; at least four characters. Empty if `name` is given.
    pub text: String,
    /// Name of a note or an entry: the file is removed with its backup and all its versions, and its text from everything
    /// else.
    pub name: Option<String>,
    /// If set, only reports what would be removed.
    pub dry_run: bool,
}

/// Kind of a place that has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A note, an entry or another file that people keep.
    File,
    /// Backup of a file.
    Backup,
    /// Log, version or unfinished operation of the history.
    History,
    /// File of the search index. It is removed, and made again.
    Index,
    /// Other bookkeeping, such as the state of a session.
    State,
    /// Name of a file, which is not changed, or a rejected value's name of its file.
    Name,
}

words!(PlaceKind, "kind of a place" {
    File = "file", Backup = "backup", History = "history", Index = "index", State = "state", Name = "name",
});

/// A file that has a text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextPlace {
    /// Path of the file.
    pub path: String,
    /// What it is.
    pub kind: PlaceKind,
    /// How often it has the text, also compressed. 0 for a file that is removed for another reason: it belongs to the named
    /// item, or cannot be read.
    pub count: u32,
}

/// Places of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpungeReply {
    /// Places that had the text before.
    pub places: Vec<TextPlace>,
    /// Places that still have it, found by searching everything again; empty for a dry run.
    pub left: Vec<TextPlace>,
    /// Number of damaged lines and contents of the history, which may have the text and are removed too.
    pub unreadable: u32,
    /// Keyed digest of the text, as the history keeps it; `None` for a dry run and for an item without text.
    pub digest: Option<String>,
    /// Identifier of this operation; `None` if nothing was changed.
    pub operation: Option<String>,
    /// Summary.
    pub message: String,
}

request!(Expunge "expunge" => ExpungeReply, Removes, |name| {
    let text = Self { text: SAMPLE_TEXT.into(), ..Self::default() };
    let named = Self { name: Some(format!("notes/{name}.md")), dry_run: true, ..Self::default() };
    vec![text, named]
});

impl Run<Stores<'_>> for Expunge {
    async fn run(self, with: &Stores<'_>) -> Result<ExpungeReply, Error> {
        let call = with.call;
        check_is_kept(call)?;
        call.scope.trust.check_person("expunge text")?;
        let (item, text) = self.subject(with).await?;
        if !self.dry_run {
            complete_interrupted(with).await?;
        }
        let mut search = Search { with, text: &text, item, removed: SortedSet::default(), unreadable: 0 };
        let places = search.pass(false).await?;
        let unreadable = search.unreadable;
        let changeable = places.iter().filter(|place| place.kind != PlaceKind::Name).count();
        let mut reply = ExpungeReply { unreadable, ..ExpungeReply::default() };
        let (total, what) = (told(&places), if text.is_empty() { "item" } else { "text" });
        if changeable == 0 || self.dry_run {
            reply.message = match (places.is_empty(), self.dry_run) {
                (true, _) => format!("Nothing has the {what}"),
                (false, true) => format!("Dry run, nothing is changed: the {what} is in {total}"),
                (false, false) => format!("Nothing was changed: the {what} is only in {total}"),
            };
            if !self.dry_run {
                reply.left.clone_from(&places);
            }
            reply.places = places;
            return Ok(reply);
        }
        let digest = if text.is_empty() { None } else { Some(text.digest().to_string()) };
        let of = digest.as_ref().map(|digest| format!(" with the keyed digest {digest}")).unwrap_or_default();
        let record = format!("expunged {what}{of} from {total}");
        call.begin_expunge(call.scope.layout.scratchpad(), &text, record).await?;
        for _ in 0..MAX_PASSES {
            reply.left = search.pass(true).await?;
            if reply.left.iter().all(|place| place.kind == PlaceKind::Name) {
                break;
            }
        }
        reply.unreadable = reply.unreadable.max(search.unreadable);
        reply.operation = call.recorder.as_ref().and_then(|recorder| recorder.state.borrow().operation.clone());
        reply.message = match reply.left.as_slice() {
            [] => format!("Expunged the {what}{of} from {total}"),
            left => format!("Expunged the {what}{of}, but it is still in {}", told(left)),
        };
        (reply.places, reply.digest) = (places, digest);
        Ok(reply)
    }
}

impl Expunge {
    /// Returns the file of the named item, and the text.
    async fn subject(&self, with: &Stores<'_>) -> Result<(Option<RelPath>, ExpungedText), Error> {
        let call = with.call;
        let Some(name) = &self.name else { return Ok((None, call.text_to_expunge(self.text.clone())?)) };
        if !self.text.is_empty() {
            let message = "a text and the name of an item are given at the same time";
            return Err(Error::invalid_argument(message, "give one of them"));
        }
        let (path, history) = history_of(with, name, None).await?;
        if call.scope.layout.is_kept(&path) || !crate::search::is_markdown(&path) {
            let message = format!("{} is not a note or an entry", call.scope.display_path(&path));
            return Err(Error::invalid_argument(message, "give the text to expunge from it"));
        }
        let mut bytes = call.load(&path).await?.bytes().map(<[u8]>::to_vec);
        if bytes.is_none() {
            let kept = call.find_kept(&path, &Layout::backup_of(&path)).await?;
            bytes = kept.and_then(|kept| kept.file.bytes().map(<[u8]>::to_vec));
        }
        if bytes.is_none() {
            bytes = last_kept(call, &history, &path).await?;
        }
        let file = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let body = file.part(Frontmatter::parse(&file).span.end..).trim();
        // A body that is too short to search for is removed with its file and its versions alone.
        let text = call.text_to_expunge(body.into()).unwrap_or_else(|_| call.no_text_to_expunge());
        Ok((Some(path), text))
    }
}

/// Returns the newest text that the history has of an item.
async fn last_kept(call: &Call, history: &History, path: &RelPath) -> Result<Option<Vec<u8>>, Error> {
    let mut file = FileHistory::of_item(call, history, path).await?;
    let newest = file.versions.iter().map(|version| version.state);
    let newest = newest.filter(|state| *state != State::Absent).find(|state| file.keeps(*state));
    match newest {
        Some(state) => file.content(call, state).await,
        None => Ok(None),
    }
}

/// A search of everything for a text.
struct Search<'a> {
    with: &'a Stores<'a>,
    text: &'a ExpungedText,
    /// File that is removed as a whole.
    item: Option<RelPath>,
    /// Digests of contents that are removed.
    removed: SortedSet<Digest>,
    unreadable: u32,
}

impl Search<'_> {
    /// Searches every place once, and removes the text if `apply` is set. Returns the places that had it.
    async fn pass(&mut self, apply: bool) -> Result<Vec<TextPlace>, Error> {
        let all = places(self.with).await?;
        let mut found = Vec::new();
        // The files come first: whoever changes one meanwhile finds another version, and takes the text from there no more.
        for place in &all {
            self.file(place, apply, &mut found).await?;
        }
        self.history(&all, apply, &mut found).await?;
        self.index(&all, apply, &mut found).await?;
        for Place { path, .. } in &all {
            let count = self.text.count(path.as_str().as_bytes());
            let is_removed = self.is_of_item(path);
            if count > 0 && !is_removed {
                found.push(self.found(path, PlaceKind::Name, count));
            }
        }
        Ok(found)
    }

    fn found(&self, path: &RelPath, kind: PlaceKind, count: u32) -> TextPlace {
        TextPlace { path: self.with.call.scope.display_path(path), kind, count }
    }

    fn is_of_item(&self, path: &RelPath) -> bool {
        self.item.as_ref().is_some_and(|item| path == item || *path == Layout::backup_of(item))
    }

    /// Searches a file that is not part of the history.
    async fn file(&mut self, place: &Place, apply: bool, found: &mut Vec<TextPlace>) -> Result<(), Error> {
        let Place { path, kind, .. } = place;
        let kind = match kind {
            FileKind::Kept => PlaceKind::File,
            FileKind::Backup => PlaceKind::Backup,
            FileKind::State => PlaceKind::State,
            FileKind::Rejected => PlaceKind::Name,
            FileKind::History(_) | FileKind::Index => return Ok(()),
        };
        let call = self.with.call;
        let Some((bytes, _)) = read_version(call, path).await? else { return Ok(()) };
        let is_whole = self.is_of_item(path);
        let count = match kind {
            PlaceKind::State | PlaceKind::Name => self.text.count_in_record(&bytes),
            _ => self.text.count(&bytes),
        };
        if count == 0 && !is_whole {
            return Ok(());
        }
        self.removed.insert(Digest::of(&bytes));
        found.push(self.found(path, kind, count));
        if apply && kind != PlaceKind::Name {
            call.expunge(path, self.text, is_whole).await?;
        }
        Ok(())
    }

    async fn history(&mut self, all: &[Place], apply: bool, found: &mut Vec<TextPlace>) -> Result<(), Error> {
        let call = self.with.call;
        let blobs = of_kind(all, HistoryFile::Blob);
        let (mut paths, open) = (of_kind(all, HistoryFile::Log), of_kind(all, HistoryFile::Open));
        let removed = core::mem::take(&mut self.removed);
        let mut logs = ExpungedLogs::new(call, self.text, self.item.as_ref(), blobs.clone(), removed);
        logs.folders = history_folders(self.with)?;
        for path in &open {
            if let Some((bytes, _)) = read_version(call, path).await? {
                logs.add_files_of(path, &bytes).await?;
            }
        }
        paths.extend(open);
        for path in &paths {
            if let Some((bytes, _)) = read_version(call, path).await? {
                logs.add(path, &bytes);
            }
        }
        logs.follow_moves();
        // Contents with files of their own, before the records that name them.
        for path in &blobs {
            let Some((bytes, _)) = read_version(call, path).await? else { continue };
            if self.text.count(&bytes) > 0
                && let Ok(digest) = path.file_name().parse()
            {
                logs.removed.insert(digest);
            }
        }
        for path in &paths {
            if let Some((bytes, _)) = read_version(call, path).await? {
                logs.judge(path, &bytes).await?;
            }
        }
        let mut damaged = 0_u32;
        for path in &paths {
            for _ in 0..MAX_ATTEMPTS {
                let Some((bytes, version)) = read_version(call, path).await? else { break };
                // Others may have appended.
                logs.add(path, &bytes);
                logs.judge(path, &bytes).await?;
                let rewritten = logs.rewritten(&bytes).await?;
                if !rewritten.is_changed {
                    break;
                }
                if apply {
                    let precondition = Precondition::Matches(version);
                    let change = Change::of_record(path, precondition, After::Whole(rewritten.bytes))?;
                    if !call.apply(&change).await? {
                        continue;
                    }
                }
                damaged = damaged.saturating_add(rewritten.damaged);
                found.push(self.found(path, PlaceKind::History, rewritten.count));
                break;
            }
        }
        for path in &blobs {
            let Some((bytes, _)) = read_version(call, path).await? else { continue };
            let count = self.text.count(&bytes);
            let is_removed = path.file_name().parse().is_ok_and(|digest: Digest| logs.removed.contains(&digest));
            if count > 0 || is_removed {
                found.push(self.found(path, PlaceKind::History, count));
                if apply {
                    call.apply(&Change::of_record(path, Precondition::Any, After::Removed)?).await?;
                }
            }
        }
        let contents = u32::try_from(logs.unreadable.len()).unwrap_or(u32::MAX);
        self.unreadable = self.unreadable.max(damaged.saturating_add(contents));
        self.removed = logs.removed;
        Ok(())
    }

    /// Searches the index. It is removed as a whole: it has the words of the text, and it is made again.
    async fn index(&mut self, all: &[Place], apply: bool, found: &mut Vec<TextPlace>) -> Result<(), Error> {
        let call = self.with.call;
        let mut files = Vec::new();
        for Place { path, .. } in all.iter().filter(|place| place.kind == FileKind::Index) {
            let Some((bytes, _)) = read_version(call, path).await? else { continue };
            let count = self.text.count(&bytes);
            if count > 0 {
                found.push(self.found(path, PlaceKind::Index, count));
            }
            files.push(path);
        }
        if apply && !found.is_empty() {
            for path in files {
                call.apply(&Change::of_record(path, Precondition::Any, After::Removed)?).await?;
            }
        }
        Ok(())
    }
}

fn of_kind(all: &[Place], kind: HistoryFile) -> Vec<RelPath> {
    all.iter().filter(|place| place.kind == FileKind::History(kind)).map(|place| place.path.clone()).collect()
}

/// Returns the number of places and files, for a message.
fn told(places: &[TextPlace]) -> String {
    let count: u32 = places.iter().map(|place| place.count.max(1)).sum();
    let files = places.len();
    match (count, files) {
        (1, _) => "1 place".to_string(),
        (_, 1) => format!("{count} places in 1 file"),
        _ => format!("{count} places in {files} files"),
    }
}
