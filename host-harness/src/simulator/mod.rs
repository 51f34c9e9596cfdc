//! [`Simulator`]: a store in memory that fails, races and crashes on demand.
//!
//! It answers like [`LocalDir`](crate::LocalDir); one test suite checks both. A seed decides everything random, so every run can
//! be repeated. [`Scheduler`] does the same for the order in which requests are performed.

mod scheduler;
mod tree;

use std::collections::BTreeMap;

use saddlebag::protocol::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, LeftOut, ListOutcome, Precondition,
    ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;
use sha2::{Digest, Sha256};

use crate::executor::{
    Addition, Durability, Executor, MAX_LIST_ENTRIES, STATE_FOLDER, TEMPORARY_PREFIX, TEMPORARY_SUFFIX, by_method,
    bytes_wanted, check, is_read, is_reserved, left_out, list_outcome, spelled, traced_path,
};
use scheduler::Random;
pub use scheduler::Scheduler;
use tree::{Change, File, Node, Tree, Versions};

/// Start of the virtual clock: 2026-01-01T00:00:00Z in nanoseconds since 1970.
const FIRST_MOMENT: u64 = 1_767_225_600_000_000_000;

/// Time that each operation takes on the virtual clock, in nanoseconds.
const TICK: u64 = 1_000_000;

/// An [`Executor`] in memory, for tests.
///
/// Operations are numbered from 0; a fault that is planned for operation `n` occurs when
/// [`operations`](Self::operations) is `n`. So `fail_at(store.operations(), …)` is about the next one.
///
/// ```
/// use saddlebag::protocol::{FsError, FsOp};
/// use saddlebag::store::RelPath;
/// use saddlebag_host::{Executor, Simulator};
///
/// let mut store = Simulator::new(1);
/// store.fail_at(0, FsError::NoSpace);
/// let op = FsOp::MakeDirectory { path: RelPath::new("notes")? };
/// assert_eq!(store.perform(&op), Err(FsError::NoSpace));
/// assert!(store.perform(&op).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Simulator {
    tree: Tree,
    faults: BTreeMap<u64, Vec<Fault>>,
    log: Vec<Performed>,
    random: Random,
    durability: Durability,
    max_read_bytes: u64,
    max_write_bytes: u64,
    now: u64,
    last_number: u64,
    versions: Versions,
    has_generation: bool,
    /// Entries with unusable names, by folder.
    unnamed: BTreeMap<String, Vec<(String, EntryKind)>>,
    crashed: bool,
    /// Content, before the change, of the paths whose last change could not be synced.
    unsynced: BTreeMap<String, Option<Node>>,
    /// Name of the old file that a write left, and the path under which it is kept.
    unfinished: Option<(String, String)>,
}

/// An operation that a [`Simulator`] performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// Name of the operation, as the contract spells it.
    pub op: &'static str,
    /// Path, the first one of a `rename`; empty for the root.
    pub path: String,
    /// Number of bytes of a file that it returned.
    pub bytes_read: u64,
}

#[derive(Clone, Debug)]
enum Fault {
    Fail(FsError),
    Unknown { committed: bool },
    NotDurable,
    Edit { path: RelPath, bytes: Option<Vec<u8>> },
    Crash,
}

impl Simulator {
    /// Creates an empty store. `seed` decides everything random.
    pub fn new(seed: u64) -> Self {
        Self {
            tree: Tree::default(),
            faults: BTreeMap::new(),
            log: Vec::new(),
            random: Random::new(seed),
            durability: Durability::Full,
            max_read_bytes: u64::MAX,
            max_write_bytes: u64::MAX,
            now: FIRST_MOMENT,
            last_number: 0,
            versions: Versions::Numbered { prefix: "v".into() },
            has_generation: false,
            unnamed: BTreeMap::new(),
            crashed: false,
            unsynced: BTreeMap::new(),
            unfinished: None,
        }
    }

    /// Sets the durability. With [`Durability::Fast`], a crash undoes any number of the latest changes since the last
    /// [`sync`](Self::sync).
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the maximum number of bytes of one read, and of one write or append. Unlimited by default.
    pub fn with_limits(mut self, max_read_bytes: u64, max_write_bytes: u64) -> Self {
        self.max_read_bytes = max_read_bytes;
        self.max_write_bytes = max_write_bytes;
        self
    }

    /// Makes spellings of a name equal that are equal on APFS or NTFS: case, dots and spaces at the end and the name
    /// of a stream are ignored. The first spelling is kept.
    pub fn with_folded_names(mut self) -> Self {
        self.tree.folds_names = true;
        self
    }

    /// Makes versions in another way from here on, like another host of the store: they begin with `scheme`, and
    /// contain the number of changes.
    pub fn with_versions_of(mut self, scheme: &str) -> Self {
        self.versions = Versions::Numbered { prefix: format!("{scheme}:") };
        self
    }

    /// Sets a version scheme like [`with_versions_of`](Self::with_versions_of), with hashes of the bytes: a file that
    /// changes back has its old version.
    pub fn with_hashes_of(mut self, scheme: &str) -> Self {
        self.versions = Versions::Hashed { prefix: format!("{scheme}:") };
        self
    }

    /// Makes the store tell if anything has changed.
    pub fn with_generation(mut self) -> Self {
        self.has_generation = true;
        self
    }

    /// Returns the regular files with their bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let files = self.tree.below("", "").filter_map(|(path, node)| match node {
            Node::File(file) => Some((path.to_owned(), file.bytes.clone())),
            Node::Directory | Node::Link => None,
        });
        files.collect()
    }

    /// Returns the folders, sorted by path.
    pub fn folders(&self) -> Vec<String> {
        let folders = self.tree.below("", "").filter(|(_, node)| matches!(node, Node::Directory));
        folders.map(|(path, _)| path.to_owned()).collect()
    }

    /// Returns the number of operations so far.
    pub fn operations(&self) -> u64 {
        self.log.len() as u64
    }

    /// Returns the operations so far, oldest first.
    pub fn log(&self) -> &[Performed] {
        &self.log
    }

    /// Returns true if the store has crashed and was not restarted.
    pub fn is_crashed(&self) -> bool {
        self.crashed
    }

    /// Returns the virtual clock, in nanoseconds since 1970. Each operation takes a millisecond.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Moves the virtual clock on.
    pub fn advance(&mut self, time: std::time::Duration) {
        self.now = self.now.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Writes a file, or replaces an existing one, like another program.
    pub fn insert(&mut self, path: &RelPath, bytes: impl Into<Vec<u8>>) {
        self.tree.begin();
        self.edit(path, Some(bytes.into()));
        self.tree.sync();
    }

    /// Creates a folder in the store.
    pub fn insert_directory(&mut self, path: &RelPath) {
        self.insert_node(path, Node::Directory);
    }

    /// Creates a symbolic link in the store. Its target does not matter, because nobody follows it.
    pub fn insert_link(&mut self, path: &RelPath) {
        self.insert_node(path, Node::Link);
    }

    /// Creates an entry with an unusable name in a folder; `None` for the root.
    pub fn insert_unnamed(&mut self, folder: Option<&RelPath>, name: &str, kind: EntryKind) {
        if let Some(folder) = folder {
            self.insert_directory(folder);
        }
        let folder = folder.map_or(String::new(), RelPath::to_string);
        self.unnamed.entry(folder).or_default().push((name.to_owned(), kind));
    }

    /// Removes all entries with unusable names, as if they were renamed or removed.
    pub fn remove_unnamed(&mut self) {
        self.unnamed.clear();
    }

    /// Makes everything so far survive a crash.
    pub fn sync(&mut self) {
        self.tree.sync();
    }

    /// Plans that operation `n` is not performed, and returns this error.
    pub fn fail_at(&mut self, n: u64, error: FsError) {
        self.plan(n, Fault::Fail(error));
    }

    /// Plans that operation `n`, a write or an append, is answered as `unknown`. It is performed if `committed`. Other
    /// operations, and those that change nothing, are answered as usual.
    pub fn unknown_at(&mut self, n: u64, committed: bool) {
        self.plan(n, Fault::Unknown { committed });
    }

    /// Plans that operation `n` is performed but cannot be synced, which is the answer if it changes something.
    /// Everyone sees the change, and a crash undoes it unless a later change of the same file was synced.
    pub fn not_durable_at(&mut self, n: u64) {
        self.plan(n, Fault::NotDurable);
    }

    /// Plans that another program writes `bytes` to `path`, or removes the file, right before operation `n`.
    pub fn edit_at(&mut self, n: u64, path: &RelPath, bytes: Option<Vec<u8>>) {
        self.plan(n, Fault::Edit { path: path.clone(), bytes });
    }

    /// Plans a crash during operation `n`, which is performed completely or not at all, as the seed decides. A write that
    /// keeps the old file may also stop between its two steps: the next change of any file finishes it. Changes
    /// that were not synced may be lost, the latest first. Every operation fails until [`restart`](Self::restart).
    pub fn crash_at(&mut self, n: u64) {
        self.plan(n, Fault::Crash);
    }

    /// Ends the outage after a crash.
    pub fn restart(&mut self) {
        self.crashed = false;
    }

    fn plan(&mut self, n: u64, fault: Fault) {
        self.faults.entry(n).or_default().push(fault);
    }

    fn insert_node(&mut self, path: &RelPath, node: Node) {
        self.tree.begin();
        if let Some(parent) = path.parent() {
            // The caller itself put a file in the way.
            let _ = self.tree.make_folders(parent.as_str());
        }
        self.tree.set(path.as_str(), Some(node));
        self.tree.sync();
    }

    fn edit(&mut self, path: &RelPath, bytes: Option<Vec<u8>>) {
        if bytes.is_some()
            && let Some(parent) = path.parent()
        {
            let _ = self.tree.make_folders(parent.as_str());
        }
        let node = bytes.map(|bytes| Node::File(self.new_file(bytes)));
        self.tree.set(path.as_str(), node);
    }

    fn new_file(&mut self, bytes: Vec<u8>) -> File {
        self.last_number += 1;
        File { bytes, number: self.last_number, modified: self.now }
    }

    /// Simulates a power cut between two operations: changes that were not synced are lost.
    pub fn lose_power(&mut self) {
        for (path, node) in std::mem::take(&mut self.unsynced) {
            self.tree.set(&path, node);
        }
        while self.tree.unsynced() > 0 {
            self.tree.undo();
        }
        self.tree.sync();
    }

    /// Stops a write that was performed before it has moved the old file, if the seed decides so. `change` is all that it
    /// has done.
    fn stop_halfway(&mut self, op: &FsOp, outcome: &Result<FsOutcome, FsError>, change: Change) {
        let FsOp::Write { path, keep_as: Some(keep_as), .. } = op else { return };
        let Ok(FsOutcome::Write(WriteOutcome::Written(version))) = outcome else { return };
        let is_written = matches!(self.tree.file(path.as_str()), Ok(Some(file)) if self.versions.of(file) == *version);
        let kept = self.tree.kept_path(keep_as.as_str()).into_owned();
        let before = change.into_iter().find(|(changed, _)| is_written && *changed == kept);
        let (Some((_, before)), Ok(Some(old))) = (before, self.tree.file(&kept).map(|file| file.cloned())) else {
            return;
        };
        if self.random.up_to(1) == 0 {
            return;
        }
        let folder = path.parent().map(|folder| format!("{folder}/")).unwrap_or_default();
        let left = format!("{folder}{TEMPORARY_PREFIX}left{TEMPORARY_SUFFIX}");
        self.tree.set(&left, Some(Node::File(old)));
        self.tree.set(&kept, before);
        self.unfinished = Some((left, kept));
    }

    /// Finishes a write that was stopped halfway.
    fn finish(&mut self) {
        if let Some((left, keep_as)) = self.unfinished.take()
            && let Ok(Some(old)) = self.tree.file(&left).map(|file| file.cloned())
        {
            self.tree.set(&left, None);
            self.tree.set(&keep_as, Some(Node::File(old)));
        }
    }

    fn crash(&mut self) -> FsError {
        let kept = self.random.up_to(self.tree.unsynced());
        while self.tree.unsynced() > kept {
            self.tree.undo();
        }
        for (path, node) in std::mem::take(&mut self.unsynced) {
            if self.random.up_to(1) == 0 {
                self.tree.set(&path, node);
            }
        }
        self.tree.sync();
        self.crashed = true;
        crashed()
    }
}

fn crashed() -> FsError {
    FsError::Other("crashed".into())
}

impl Executor for Simulator {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        let faults = self.faults.remove(&self.operations()).unwrap_or_default();
        self.log.push(Performed { op: op.name(), path: traced_path(op).to_owned(), bytes_read: 0 });
        self.now = self.now.saturating_add(TICK);
        if self.crashed {
            return Err(crashed());
        }
        let (mut unknown, mut crash, mut not_durable) = (None, false, false);
        for fault in faults {
            match fault {
                Fault::Fail(error) => return Err(error),
                Fault::Unknown { committed } => unknown = Some(committed),
                Fault::Crash => crash = true,
                Fault::NotDurable => not_durable = true,
                Fault::Edit { path, bytes } => {
                    self.tree.begin();
                    self.edit(&path, bytes);
                    if self.durability == Durability::Full {
                        self.tree.sync();
                    }
                }
            }
        }
        self.tree.begin();
        if !is_read(op) {
            self.finish();
        }
        let offset = self.append_offset(op);
        let mut outcome = check(op, self.max_write_bytes).and_then(|()| by_method!(self, op));
        if crash {
            let change = self.tree.last_change();
            let error = self.crash();
            self.stop_halfway(op, &outcome, change);
            return Err(error);
        }
        if let Some(committed) = unknown {
            let doubt = match &outcome {
                Ok(FsOutcome::Write(WriteOutcome::Written(_))) => Some(FsOutcome::Write(WriteOutcome::Unknown)),
                Ok(FsOutcome::Append(AppendOutcome::Written(_))) => {
                    Some(FsOutcome::Append(AppendOutcome::Unknown(offset)))
                }
                _ => None,
            };
            if let Some(doubt) = doubt {
                outcome = Ok(doubt);
                if !committed {
                    self.tree.undo();
                }
            }
        }
        if let (Ok(FsOutcome::Read(ReadOutcome::Content(content))), Some(done)) = (&outcome, self.log.last_mut()) {
            done.bytes_read = content.bytes.len() as u64;
        }
        let changed = self.tree.last_change();
        if not_durable && !changed.is_empty() {
            for (path, before) in changed {
                // A crash still restores the content from before the first change that was not synced.
                self.unsynced.entry(path).or_insert(before);
            }
            outcome = Err(FsError::NotDurable("the simulated disk failed to sync".into()));
        } else if self.durability == Durability::Full {
            // As on a disk, a change writes the whole file again.
            for (path, _) in changed {
                self.unsynced.remove(&path);
            }
        }
        if self.durability == Durability::Full {
            self.tree.sync();
        }
        outcome
    }
}

impl Simulator {
    fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadOutcome, FsError> {
        let Some(file) = self.tree.file(path.as_str())? else {
            return Ok(ReadOutcome::Absent);
        };
        let version = self.versions.of(file);
        let size = file.bytes.len() as u64;
        let wanted = bytes_wanted(size, offset, max_bytes, self.max_read_bytes)?;
        // Both fit, because they are limited by the length of a vector in memory.
        let start = offset.min(size) as usize;
        let bytes = file.bytes[start..start + wanted as usize].to_vec();
        Ok(ReadOutcome::Content(FileContent { bytes, version, size }))
    }

    fn write(
        &mut self,
        path: &RelPath,
        content: &[u8],
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        _: Option<&RelPath>,
    ) -> Result<WriteOutcome, FsError> {
        if let Some(current) = self.stale(path, precondition)? {
            return Ok(WriteOutcome::Stale(current));
        }
        let kept = self.kept(path, keep_as)?;
        let version = self.store(path, content.to_vec())?;
        if let Some((keep_as, old)) = kept {
            self.tree.set(keep_as.as_str(), Some(Node::File(old)));
        }
        Ok(WriteOutcome::Written(version))
    }

    /// Returns the file that a change of `path` keeps, after the checks of the path under which it is kept.
    fn kept<'p>(
        &mut self,
        path: &RelPath,
        keep_as: Option<&'p RelPath>,
    ) -> Result<Option<(&'p RelPath, File)>, FsError> {
        let (Some(keep_as), Some(old)) = (keep_as, self.tree.file(path.as_str())?.cloned()) else { return Ok(None) };
        self.make_parent(keep_as)?;
        self.tree.file(keep_as.as_str())?;
        Ok(Some((keep_as, old)))
    }

    fn append(
        &mut self,
        path: &RelPath,
        &Addition { content, newline_first, .. }: &Addition<'_>,
        precondition: &Precondition,
    ) -> Result<AppendOutcome, FsError> {
        if let Some(current) = self.stale(path, precondition)? {
            return Ok(AppendOutcome::Stale(current));
        }
        let mut bytes = self.tree.file(path.as_str())?.map(|file| file.bytes.clone()).unwrap_or_default();
        if newline_first && bytes.last().is_some_and(|&last| last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(content);
        Ok(AppendOutcome::Written(self.store(path, bytes)?))
    }

    fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        limit: u32,
        unless: Option<&Version>,
    ) -> Result<ListOutcome, FsError> {
        if let Some(folder) = folder
            && !self.tree.is_folder(folder.as_str())?
        {
            return Ok(list_outcome(Vec::new(), None, LeftOut::default(), true, unless));
        }
        let asked = folder.map_or(String::new(), |folder| format!("{folder}/"));
        // The entries of a folder have the spelling of the requested path, as on a disk.
        let prefix = folder.map_or(String::new(), |folder| format!("{}/", self.tree.kept_path(folder.as_str())));
        let after = after.map_or(String::new(), |after| match after.as_str().strip_prefix(&asked) {
            Some(below) => format!("{prefix}{below}"),
            None => after.to_string(),
        });
        let unnamed = self.unnamed.get(prefix.trim_end_matches('/')).filter(|_| after.is_empty());
        let spell = |(name, kind): &(String, EntryKind)| (spelled(folder.map(RelPath::as_str), name), *kind);
        let others = left_out(unnamed.into_iter().flatten().map(spell).collect());
        let limit = limit.clamp(1, MAX_LIST_ENTRIES) as usize;
        let mut entries: Vec<Entry> = Vec::new();
        for (path, node) in self.tree.below(&prefix, &after) {
            if is_reserved(path) || path[prefix.len()..].contains('/') {
                continue;
            }
            if entries.len() == limit {
                let next = entries.last().map(|entry| entry.path.clone());
                return Ok(list_outcome(entries, next, others, true, unless));
            }
            let Ok(path) = RelPath::new(format!("{asked}{}", &path[prefix.len()..])) else {
                continue;
            };
            entries.push(entry(path, node, &self.versions));
        }
        Ok(list_outcome(entries, None, others, true, unless))
    }

    fn remove(
        &mut self,
        path: &RelPath,
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        _: bool,
    ) -> Result<RemoveOutcome, FsError> {
        if self.tree.file(path.as_str())?.is_none() {
            return Ok(RemoveOutcome::Done);
        }
        if let Some(Some(current)) = self.stale(path, precondition)? {
            return Ok(RemoveOutcome::Stale(current));
        }
        let kept = self.kept(path, keep_as)?;
        self.tree.set(path.as_str(), None);
        if let Some((keep_as, old)) = kept {
            self.tree.set(keep_as.as_str(), Some(Node::File(old)));
        }
        Ok(RemoveOutcome::Done)
    }

    fn rename(&mut self, from: &RelPath, to: &RelPath, precondition: &Precondition) -> Result<RenameOutcome, FsError> {
        let Some(file) = self.tree.file(from.as_str())?.cloned() else {
            return Ok(RenameOutcome::Absent);
        };
        if let Some(Some(current)) = self.stale(from, precondition)? {
            return Ok(RenameOutcome::Stale(current));
        }
        self.make_parent(to)?;
        if self.tree.is_taken(to.as_str()) {
            return Ok(RenameOutcome::Exists);
        }
        self.tree.set(from.as_str(), None);
        self.tree.set(to.as_str(), Some(Node::File(file)));
        Ok(RenameOutcome::Done)
    }

    /// Returns the answer of a stale operation; `None` if the precondition holds.
    fn stale(&self, path: &RelPath, precondition: &Precondition) -> Result<Option<Option<Version>>, FsError> {
        let current = self.tree.file(path.as_str())?.map(|file| self.versions.of(file));
        let holds = match precondition {
            Precondition::Any => true,
            Precondition::Absent => current.is_none(),
            Precondition::Matches(version) => current.as_ref() == Some(version),
        };
        Ok((!holds).then_some(current))
    }

    fn store(&mut self, path: &RelPath, bytes: Vec<u8>) -> Result<Version, FsError> {
        self.make_parent(path)?;
        let file = self.new_file(bytes);
        let version = self.versions.of(&file);
        self.tree.set(path.as_str(), Some(Node::File(file)));
        Ok(version)
    }

    fn make_directory(&mut self, path: &RelPath) -> Result<(), FsError> {
        self.tree.make_folders(path.as_str())
    }

    fn remove_directory(&mut self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        if !self.tree.is_folder(path.as_str())? {
            return Ok(RemoveDirectoryOutcome::Absent);
        }
        let prefix = format!("{}/", self.tree.kept_path(path.as_str()));
        if self.tree.below(&prefix, "").next().is_some() || self.unnamed.contains_key(prefix.trim_end_matches('/')) {
            return Ok(RemoveDirectoryOutcome::NotEmpty);
        }
        self.tree.set(path.as_str(), None);
        Ok(RemoveDirectoryOutcome::Removed)
    }

    fn generation(&self) -> Result<String, FsError> {
        if !self.has_generation {
            return Err(FsError::Unsupported);
        }
        let mut digest = Sha256::new();
        let is_counted = |path: &str| path.split('/').all(|segment| segment != STATE_FOLDER);
        for (path, node) in self.tree.below("", "").filter(|(path, _)| is_counted(path)) {
            let number = if let Node::File(file) = node { file.number } else { 0 };
            digest.update(format!("{path}\0{number}\0"));
        }
        digest.update(format!("{:?}", self.unnamed));
        Ok(digest.finalize().iter().fold(String::new(), |token, byte| token + &format!("{byte:02x}")))
    }

    fn make_parent(&mut self, path: &RelPath) -> Result<(), FsError> {
        path.parent().map_or(Ok(()), |parent| self.tree.make_folders(parent.as_str()))
    }

    /// Returns the offset where the content of an append would begin.
    fn append_offset(&self, op: &FsOp) -> u64 {
        let FsOp::Append { path, newline_first, .. } = op else {
            return 0;
        };
        let Ok(Some(file)) = self.tree.file(path.as_str()) else {
            return 0;
        };
        let newline = *newline_first && file.bytes.last().is_some_and(|&last| last != b'\n');
        file.bytes.len() as u64 + u64::from(newline)
    }
}

fn entry(path: RelPath, node: &Node, versions: &Versions) -> Entry {
    let nothing = Version(String::new());
    match node {
        Node::File(file) => {
            let (size, version, modified) = (file.bytes.len() as u64, versions.of(file), file.modified);
            Entry { path, kind: EntryKind::File, size, version, modified }
        }
        Node::Directory => Entry { path, kind: EntryKind::Directory, size: 0, version: nothing, modified: 0 },
        Node::Link => Entry { path, kind: EntryKind::Other, size: 0, version: nothing, modified: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulator_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<Simulator>();
    }
}
