//! [`ExpungedLogs`]: the logs of the history without a text.
//!
//! A log keeps contents whole or as differences, both compressed, so every content is made again to see whether it has the
//! text. One that has it is removed, and its digest is replaced by a keyed one everywhere. A difference from a removed content
//! becomes a whole content.

use memchr::memmem;
use saddlebag_log::{Change, Content, Contents, Digest, Head, Log, Missing, Record, State, Stored, delta};

use super::log::MOVING;
use crate::changes::{Call, ExpungedText};
use crate::store::{HistoryFolder, RelPath};
use saddlebag_collections::{
    order,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_protocol::{Error, ReadOutcome, Version};

/// Maximum number of attempts at reading a file that grows.
const MAX_ATTEMPTS: u32 = 64;

/// Place of a record in time: its time in nanoseconds, and its position in its log for records of one time.
type RecordPlace = (i64, usize);

/// What all logs of the scope say about their contents.
pub(super) struct ExpungedLogs<'a> {
    call: &'a Call,
    text: &'a ExpungedText,
    /// Item whose contents are all removed.
    item: Option<RelPath>,
    /// Paths that the item had, each with the first and the last place in time.
    item_paths: Vec<(RelPath, RecordPlace, RecordPlace)>,
    /// Paths before and after each move, and its operation.
    moves: Vec<(RelPath, RelPath, String)>,
    /// First and last record of each operation.
    spans: SortedMap<String, (RecordPlace, RecordPlace)>,
    /// Files that an operation created and removed, of the commands that move a file so.
    moving: SortedMap<String, Moving>,
    /// Folders of the logs. A record names files relative to the scope of its folder.
    pub(super) folders: Vec<HistoryFolder>,
    contents: Contents,
    /// Files of the contents that have separate files.
    blobs: Vec<RelPath>,
    /// Digests of the contents that are removed.
    pub(super) removed: SortedSet<Digest>,
    kept: SortedSet<Digest>,
    /// Digests of contents that were removed before. They are keyed already.
    gone: SortedSet<Digest>,
    /// Digests of the contents that could not be made.
    pub(super) unreadable: SortedSet<Digest>,
    /// The content of each path that was made last. Most differences are from it.
    last: SortedMap<String, (Digest, Vec<u8>)>,
}

/// Files that one operation created and removed.
#[derive(Default)]
struct Moving {
    created: SortedSet<RelPath>,
    removed: SortedSet<RelPath>,
}

/// A log without the text.
pub(super) struct Rewritten {
    pub(super) bytes: Vec<u8>,
    /// Number of contents and names that had the text.
    pub(super) count: u32,
    /// Number of lines that could not be read, and are left out.
    pub(super) damaged: u32,
    pub(super) is_changed: bool,
}

impl<'a> ExpungedLogs<'a> {
    pub(super) fn new(
        call: &'a Call,
        text: &'a ExpungedText,
        item: Option<&RelPath>,
        blobs: Vec<RelPath>,
        removed: SortedSet<Digest>,
    ) -> Self {
        Self {
            call,
            text,
            item: item.cloned(),
            item_paths: Vec::new(),
            moves: Vec::new(),
            spans: SortedMap::default(),
            moving: SortedMap::default(),
            folders: Vec::new(),
            contents: Contents::new(saddlebag_log::MAX_CONTENT),
            blobs,
            removed,
            kept: SortedSet::default(),
            gone: SortedSet::default(),
            unreadable: SortedSet::default(),
            last: SortedMap::default(),
        }
    }

    /// Returns the file that a log names.
    fn file(&self, log: &RelPath, path: &str) -> Option<RelPath> {
        self.folders.iter().find(|folder| folder.file_kind(log).is_some())?.absolute(path)
    }

    /// Adds the contents of a log. All logs are added before the first is judged, because a difference may be from a content of
    /// another log.
    pub(super) fn add(&mut self, log: &RelPath, bytes: &[u8]) {
        for line in Log::new(bytes).lines() {
            for (place, change) in line.head.record().changes.iter().enumerate() {
                for content in line.head.contents(place).unwrap_or_default() {
                    if matches!(content.stored, Stored::Removed) {
                        self.gone.insert(content.digest);
                    }
                    self.contents.add_content(content);
                }
                if self.item.is_some() {
                    let moment = (line.head.record().time_ns, line.range.start);
                    self.add_move(log, line.head.record(), change, moment);
                }
            }
        }
    }

    /// Notes that a change moves a file, or may be a part of a move: the new file of a note is made before the old one goes.
    fn add_move(&mut self, log: &RelPath, record: &Record, change: &Change, moment: RecordPlace) {
        let Some(file) = self.file(log, &change.path) else { return };
        if let Some((start, end)) = self.spans.get_or_insert(record.operation.clone(), (moment, moment)) {
            (*start, *end) = ((*start).min(moment), (*end).max(moment));
        }
        if let Some(from) = change.moved_from.as_ref().and_then(|from| self.file(log, from)) {
            self.moves.push((from, file, record.operation.clone()));
        } else if MOVING.contains(&record.command.as_str())
            && let Some(Moving { created, removed }) =
                self.moving.get_or_insert(record.operation.clone(), Moving::default())
        {
            match (change.before, change.after) {
                (State::Absent, State::Absent) => {}
                (State::Absent, _) => drop(created.insert(file)),
                (_, State::Absent) => drop(removed.insert(file)),
                _ => {}
            }
        }
    }

    /// Finds the paths that the item had, and when it had them. All logs are added before.
    pub(super) fn follow_moves(&mut self) {
        let mut moves = self.moves.clone();
        for (operation, Moving { created, removed }) in self.moving.iter() {
            if let (1, 1, Some(to), Some(from)) =
                (created.len(), removed.len(), created.iter().next(), removed.iter().next())
            {
                moves.push((from.clone(), to.clone(), operation.clone()));
            }
        }
        let span = |operation: &String| self.spans.get(operation).copied().unwrap_or_default();
        // Newest first, each once.
        order::sort_slice(&mut moves, |one, other| span(&other.2).1.cmp(&span(&one.2).1).then_with(|| one.cmp(other)));
        moves.dedup();
        // Paths of the item before the moves that were looked at, and the last moment in which it had them.
        let last = (i64::MAX, usize::MAX);
        let mut open: SortedMap<RelPath, RecordPlace> = self.item.iter().map(|item| (item.clone(), last)).collect();
        let mut paths = Vec::new();
        for (from, to, operation) in moves {
            let (start, end) = span(&operation);
            if let Some(until) = open.remove(&to) {
                paths.push((to, start, until));
                open.insert(from, end);
            } else if let Some(until) = open.remove(&from) {
                // What had the path until this move is another item.
                paths.push((from, (end.0, end.1.saturating_add(1)), until));
            }
        }
        paths.extend(open.into_entries().map(|(path, until)| (path, (i64::MIN, 0), until)));
        self.item_paths = paths;
    }

    /// Returns true if a file was the item at a moment.
    fn is_of_item(&self, file: &RelPath, moment: RecordPlace) -> bool {
        self.item_paths.iter().any(|(path, since, until)| path == file && *since <= moment && moment <= *until)
    }

    /// Adds the files that the operations of an unfinished operation change: its differences are from them.
    pub(super) async fn add_files_of(&mut self, log: &RelPath, bytes: &[u8]) -> Result<(), Error> {
        for line in Log::new(bytes).lines() {
            for change in &line.head.record().changes {
                let Some(path) = self.file(log, &change.path) else { continue };
                if let Some(bytes) = self.call.load(&path).await?.bytes() {
                    self.contents.add_known(bytes.to_vec());
                }
            }
        }
        Ok(())
    }

    /// Decides which contents of a log are removed.
    pub(super) async fn judge(&mut self, log: &RelPath, bytes: &[u8]) -> Result<(), Error> {
        let empty = Digest::of(&[]);
        for line in Log::new(bytes).lines() {
            for (place, change) in line.head.record().changes.iter().enumerate() {
                let file = self.file(log, &change.path);
                let moment = (line.head.record().time_ns, line.range.start);
                let is_of_item = file.is_some_and(|file| self.is_of_item(&file, moment));
                if is_of_item {
                    for state in [change.before, change.after] {
                        let is_new = |digest: &Digest| *digest != empty && !self.gone.contains(digest);
                        self.removed.extend(digest_of(state).filter(is_new));
                    }
                }
                let Some(contents) = line.head.contents(place) else { continue };
                for content in contents {
                    if is_of_item && !matches!(content.stored, Stored::Removed) {
                        self.removed.insert(content.digest);
                    }
                    self.judge_content(&change.path, content).await?;
                }
            }
        }
        Ok(())
    }

    async fn judge_content(&mut self, path: &str, content: Content) -> Result<(), Error> {
        let Content { digest, stored } = content;
        // A damaged record may have the text under the digest of another content.
        let has_text = match &stored {
            Stored::Whole(bytes) | Stored::Delta { delta: bytes, .. } => self.text.count(bytes) > 0,
            Stored::Blob | Stored::Removed => false,
        };
        let is_judged = self.removed.contains(&digest) || self.kept.contains(&digest);
        if matches!(stored, Stored::Removed) || is_judged && !has_text {
            return Ok(());
        }
        let bytes = match (&stored, self.last.get(path)) {
            (Stored::Delta { from, delta }, Some((last, bytes))) if last == from => {
                delta::decode(bytes, delta, saddlebag_log::MAX_CONTENT).filter(|made| Digest::of(made) == digest)
            }
            _ => None,
        };
        let bytes = match bytes {
            Some(bytes) => Some(bytes),
            None => self.content(&digest).await?,
        };
        match bytes {
            Some(bytes) => {
                if self.text.count(&bytes) > 0 || has_text && matches!(stored, Stored::Whole(_)) {
                    self.removed.insert(digest);
                } else {
                    self.kept.insert(digest);
                }
                self.last.insert(path.to_string(), (digest, bytes));
            }
            None => {
                self.removed.insert(digest);
                self.unreadable.insert(digest);
            }
        }
        Ok(())
    }

    /// Makes a content; `None` if that is impossible.
    async fn content(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let blob = match self.contents.get(digest) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Missing::Blob(blob)) => blob,
                Err(_) => return Ok(None),
            };
            let name = blob.to_string();
            let mut is_found = false;
            for path in self.blobs.iter().filter(|path| path.file_name() == name) {
                if let Some((bytes, _)) = read_version(self.call, path).await? {
                    is_found |= self.contents.add_known(bytes) == blob;
                }
            }
            if !is_found {
                return Ok(None);
            }
        }
    }

    /// Returns a log without the text and without the contents that are removed.
    pub(super) async fn rewritten(&mut self, bytes: &[u8]) -> Result<Rewritten, Error> {
        let mut done = Rewritten { bytes: Vec::with_capacity(bytes.len()), count: 0, damaged: 0, is_changed: false };
        let mut position = 0;
        for line in Log::new(bytes).lines() {
            done.leave_out(bytes.get(position..line.range.start).unwrap_or_default());
            position = line.range.end;
            match self.record(&line.head, &mut done.count).await? {
                Some(record) => {
                    done.bytes.extend_from_slice(record.to_line().as_bytes());
                    done.is_changed = true;
                }
                None => done.bytes.extend_from_slice(bytes.get(line.range).unwrap_or_default()),
            }
        }
        done.leave_out(bytes.get(position..).unwrap_or_default());
        Ok(done)
    }

    /// Returns a record without the text; `None` if it does not have it.
    async fn record(&mut self, head: &Head<'_>, count: &mut u32) -> Result<Option<Record>, Error> {
        let mut record = head.record().clone();
        let mut is_changed = false;
        let names = names_of(&mut record);
        let found: u32 = names.into_iter().map(|name| self.text.replace_in(name)).sum();
        *count += found;
        is_changed |= found > 0;
        for change in record.changes.iter_mut().chain(&mut record.lost) {
            for state in [&mut change.before, &mut change.after] {
                if let Some(digest) = digest_of(*state).filter(|digest| self.removed.contains(digest)) {
                    *state = State::Bytes(self.text.keyed(&digest));
                    is_changed = true;
                }
            }
        }
        for (place, change) in record.changes.iter_mut().enumerate() {
            let Some(contents) = head.contents(place) else {
                // Nobody can read them, and they may have the text.
                *count += 1;
                is_changed = true;
                continue;
            };
            for content in contents {
                let Content { digest, stored } = content;
                let content = if self.removed.contains(&digest) {
                    *count += 1;
                    is_changed = true;
                    Content { digest: self.text.keyed(&digest), stored: Stored::Removed }
                } else if let Stored::Delta { from, delta } = &stored
                    && (self.removed.contains(from) || self.text.count(delta) > 0)
                {
                    is_changed = true;
                    let bytes = self.content(&digest).await?;
                    let stored = bytes.map_or(Stored::Removed, Stored::Whole);
                    Content { digest, stored }
                } else {
                    Content { digest, stored }
                };
                change.contents.push(content);
            }
        }
        Ok(is_changed.then_some(record))
    }
}

impl Rewritten {
    fn leave_out(&mut self, lines: &[u8]) {
        let damaged = memmem::find_iter(lines, b"\n").count().max(1);
        if lines.iter().any(|byte| *byte != b'\n') {
            self.damaged = self.damaged.saturating_add(u32::try_from(damaged).unwrap_or(u32::MAX));
            self.is_changed = true;
        }
    }
}

fn names_of(record: &mut Record) -> Vec<&mut String> {
    let writer = &mut record.writer;
    let mut names = Vec::from([&mut record.operation, &mut record.command, &mut writer.provenance]);
    names.extend([&mut writer.agent, &mut writer.client, &mut writer.tool, &mut writer.session].into_iter().flatten());
    names.extend(record.reason.iter_mut());
    names.extend(record.undoes.iter_mut().chain(&mut record.redoes));
    for change in record.changes.iter_mut().chain(&mut record.lost) {
        names.push(&mut change.path);
        names.extend(change.moved_from.iter_mut());
    }
    names
}

fn digest_of(state: State) -> Option<Digest> {
    match state {
        State::Bytes(digest) => Some(digest),
        State::Absent | State::Size(_) => None,
    }
}

/// Reads a whole file in parts that are of one version; `None` if it does not exist.
pub(super) async fn read_version(call: &Call, path: &RelPath) -> Result<Option<(Vec<u8>, Version)>, Error> {
    'again: for _ in 0..MAX_ATTEMPTS {
        let mut whole: Option<(Vec<u8>, Version)> = None;
        loop {
            let offset = whole.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64);
            let read = call.fs.read(path, offset, call.scope.limits.max_file_bytes).await;
            let ReadOutcome::Content(part) = read.map_err(|error| Error::storage(Some(path), &error))? else {
                return Ok(None);
            };
            let is_end = part.bytes.is_empty() || offset + part.bytes.len() as u64 >= part.size;
            let (bytes, version) = whole.get_or_insert_with(|| (Vec::new(), part.version.clone()));
            if *version != part.version {
                continue 'again;
            }
            bytes.extend_from_slice(&part.bytes);
            if is_end {
                return Ok(whole);
            }
        }
    }
    let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
    Err(Error::new(saddlebag_protocol::ErrorCode::Contention, message, "try again when fewer writers are at work"))
}
