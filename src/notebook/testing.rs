//! A store in memory for the tests of this folder. The engine itself runs the commands, and a seed decides whose
//! request is performed next.

use alloc::collections::BTreeMap;
use atomic_refcell::AtomicRefCell;
use core::future::Future;
use core::str::FromStr;

use super::index::NotebookCall;
use super::remember::{RememberReply, WriteNote, write};
use crate::changes::{Call, Texts};
use crate::context::DEFAULT_MAP_BYTES;
use crate::engine::{Limits, Scope};
use crate::entries::Entries;
use crate::items::{ItemsCall, ItemsCommand, ItemsReply};
use crate::names::Stores;
use crate::origin::Origin;
use crate::request::Run;
use crate::store::{BackupPlace, Layout, LocalTime, ProjectSlug, RelPath, Timestamp};
use crate::trust::{Provenance, TrustConfig, Writer};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{
    AppendOutcome, CommandId, Engine, Entry, EntryKind, Error, FileContent, Finished, Fs, FsError, FsOp, FsOutcome,
    FsResult, LeftOut, ListOutcome, Listing, Precondition, ReadOutcome, RemoveOutcome, RenameOutcome, Version,
    WriteOutcome,
};

/// Returns 2026-05-25 12:34:56.
pub(crate) fn day() -> LocalTime {
    Timestamp { seconds: 1_779_667_200 + 45_296, nanoseconds: 0, utc_offset_seconds: 0 }.local().expect("valid")
}

/// Returns a call in a notebook that is the root of the store.
pub(crate) fn call_at(fs: Fs, now: LocalTime) -> Call {
    call_in(fs, now, None)
}

/// Returns a call in the notebook of a project.
pub(crate) fn call_in(fs: Fs, now: LocalTime, project: Option<&str>) -> Call {
    let slug = project.map(|text| ProjectSlug::from_str(text).expect("a slug"));
    let layout = Layout::new(slug.as_ref()).expect("a layout");
    let scope = Scope {
        layout,
        path_prefix: String::new(),
        roots: vec![],
        limits: Limits::default(),
        index_file: false,
        version_scheme: String::new(),
        trust: TrustConfig::default(),
        backups: BackupPlace::default(),
        map_bytes: DEFAULT_MAP_BYTES,
    };
    Call::new(fs, Arc::new(scope), now, None, Writer::default(), None).expect("a call")
}

/// Runs a command like a separate process.
pub(crate) async fn run_alone<R>(fs: Fs, mut request: R) -> Result<R::Reply, Error>
where
    R: for<'a> Run<NotebookCall<'a>> + Texts,
{
    request.screen(&call_at(fs.clone(), day()).screen)?;
    run_part(fs, request).await
}

/// Runs a part of a command, which screens its texts itself, like a separate process.
pub(crate) async fn run_part<R: for<'a> Run<NotebookCall<'a>>>(fs: Fs, request: R) -> Result<R::Reply, Error> {
    request.run(&NotebookCall { call: &call_at(fs, day()), notebook: &Arc::default() }).await
}

/// Creates a note like a separate process, for text of this provenance.
pub(crate) async fn write_as(fs: Fs, provenance: Provenance, note: WriteNote) -> Result<RememberReply, Error> {
    write(&call_at(fs, day()).of_provenance(Some(provenance))?, &Arc::default(), note).await
}

/// Runs a command about items like a separate process.
pub(crate) async fn run_items(fs: Fs, command: impl Into<ItemsCommand>) -> Result<ItemsReply, Error> {
    let (call, notebook, entries) = (call_at(fs, day()), Arc::default(), Entries::new(None).expect("no agent"));
    let stores = Stores { call: &call, notebook: &notebook, entries: &entries };
    let (origin, listing) = (Origin::default(), AtomicRefCell::default());
    command.into().run(&ItemsCall { stores, origin: &origin, listing: &listing }).await
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::new(text).expect("a path")
}

/// Files with their versions, and a record of changes.
#[derive(Debug, Default)]
pub(crate) struct Store {
    files: BTreeMap<String, (Vec<u8>, u64)>,
    last_version: u64,
    /// Effects in order: writes, appends, removals, new folders.
    pub(crate) writes: Vec<String>,
    /// Number of effects after which every further one fails, as if the process had died.
    pub(crate) dies_after: Option<usize>,
    /// Number of the effect before which an editor saves text, once: number, file, text.
    pub(crate) editor: Option<(usize, &'static str, &'static str)>,
    /// File that cannot be written.
    pub(crate) denies: Option<&'static str>,
    /// True if names that differ only in case are the same file.
    pub(crate) folds_case: bool,
    /// Number of the write that succeeds but is answered with "unknown".
    pub(crate) unsure_of: Option<usize>,
}

impl Store {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let mut store = Self::default();
        for (path, text) in files {
            store.put(path, text.as_bytes().to_vec());
        }
        store
    }

    pub(crate) fn text(&self, path: &str) -> String {
        let (bytes, _) = self.files.get(path).unwrap_or_else(|| panic!("no {path} in {:?}", self.names()));
        String::from_utf8(bytes.clone()).expect("text")
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    pub(crate) fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.last_version += 1;
        self.files.insert(path.to_string(), (bytes, self.last_version));
    }

    /// Changes the bytes of a file without changing its version, like a host that misses a change.
    pub(crate) fn corrupt(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.get_mut(path).expect("a file").0 = bytes;
    }

    /// Runs one command to its end.
    pub(crate) fn run<T, F>(&mut self, command: impl FnOnce(Fs) -> F) -> Result<T, Error>
    where
        T: 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut command = Some(command);
        let start = |fs: Fs, _| (command.take().expect("called once"))(fs);
        self.race(1, 0, start).pop().expect("one reply")
    }

    /// Runs this many commands concurrently. The seed decides whose request comes next.
    pub(crate) fn race<T, F>(
        &mut self,
        count: u64,
        seed: u64,
        mut command: impl FnMut(Fs, u64) -> F,
    ) -> Vec<Result<T, Error>>
    where
        T: 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut engine: Engine<T> = Limits::default().engine(1);
        let mut requests = Vec::new();
        let mut replies: BTreeMap<u64, Result<T, Error>> = BTreeMap::new();
        let mut random = seed.wrapping_mul(2).wrapping_add(1);
        for i in 0..count {
            let step = engine.start(CommandId(i), "test", |fs| command(fs, i)).expect("started");
            requests.extend(step.requests);
            replies.extend(outcomes(&mut engine, step.finished));
        }
        while !requests.is_empty() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let next = usize::try_from(random >> 33).expect("fits") % requests.len();
            let request = requests.swap_remove(next);
            let outcome = self.perform(request.op);
            let result = FsResult { key: request.key.into_string(), outcome };
            let step = engine.handle_result(result).expect("taken");
            requests.extend(step.requests);
            replies.extend(outcomes(&mut engine, step.finished));
        }
        replies.into_values().collect()
    }

    /// Runs two commands as two processes would: the first one until `before` of its requests are performed, then the
    /// second one to its end, then the rest of the first one. `None` if the first one has no more requests than that.
    pub(crate) fn interrupted<T, F>(
        &mut self,
        before: usize,
        mut command: impl FnMut(Fs, u64) -> F,
    ) -> Option<[Result<T, Error>; 2]>
    where
        T: 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut engine: Engine<T> = Limits::default().engine(1);
        let step = engine.start(CommandId(0), "test", |fs| command(fs, 0)).expect("started");
        let mut requests = step.requests;
        let mut first = outcomes(&mut engine, step.finished).pop().map(|(_, reply)| reply);
        let mut second = None;
        let mut performed = 0;
        while let Some(request) = requests.pop() {
            if performed == before {
                second = self.race(1, 0, |fs, _| command(fs, 1)).pop();
            }
            performed += 1;
            let outcome = self.perform(request.op);
            let result = FsResult { key: request.key.into_string(), outcome };
            let step = engine.handle_result(result).expect("taken");
            requests.extend(step.requests);
            first = first.or(outcomes(&mut engine, step.finished).pop().map(|(_, reply)| reply));
        }
        Some([first.expect("it finished"), second?])
    }

    /// Returns the name of the file at a path.
    fn key(&self, path: &RelPath) -> String {
        let same = |name: &&String| self.folds_case && name.to_lowercase() == path.as_str().to_lowercase();
        self.files.keys().find(same).cloned().unwrap_or_else(|| path.to_string())
    }

    fn perform(&mut self, op: FsOp) -> Result<FsOutcome, FsError> {
        Ok(match op {
            FsOp::Read { path, offset, max_bytes } => FsOutcome::Read(match self.files.get(&self.key(&path)) {
                None => ReadOutcome::Absent,
                Some((bytes, version)) => {
                    let start = bytes.len().min(usize::try_from(offset).expect("fits"));
                    let end = bytes.len().min(start + max_bytes as usize);
                    let size = bytes.len() as u64;
                    ReadOutcome::Content(FileContent {
                        bytes: bytes[start..end].to_vec(),
                        version: shown(*version),
                        size,
                    })
                }
            }),
            FsOp::Write { path, content, precondition, keep_as, .. } => {
                FsOutcome::Write(if self.holds(&path, &precondition, "write")? {
                    self.keep(&path, keep_as.as_ref());
                    self.put(&self.key(&path), content);
                    if self.unsure_of == Some(self.writes.len()) {
                        return Ok(FsOutcome::Write(WriteOutcome::Unknown));
                    }
                    WriteOutcome::Written(shown(self.last_version))
                } else {
                    WriteOutcome::Stale(self.version(&path))
                })
            }
            FsOp::Append { path, content, precondition, .. } => {
                FsOutcome::Append(if self.holds(&path, &precondition, "append")? {
                    let mut bytes = self.files.get(path.as_str()).map(|(bytes, _)| bytes.clone()).unwrap_or_default();
                    if bytes.last().is_some_and(|&last| last != b'\n') {
                        bytes.push(b'\n');
                    }
                    bytes.extend(content);
                    self.put(path.as_str(), bytes);
                    AppendOutcome::Written(shown(self.last_version))
                } else {
                    AppendOutcome::Stale(self.version(&path))
                })
            }
            FsOp::Remove { path, precondition, keep_as, .. } => FsOutcome::Remove(if self.version(&path).is_none() {
                RemoveOutcome::Done
            } else if self.holds(&path, &precondition, "remove")? {
                self.keep(&path, keep_as.as_ref());
                self.files.remove(&self.key(&path));
                RemoveOutcome::Done
            } else {
                RemoveOutcome::Stale(self.version(&path).expect("there"))
            }),
            FsOp::Rename { path, to, precondition } => FsOutcome::Rename(if self.version(&path).is_none() {
                RenameOutcome::Absent
            } else if self.version(&to).is_some() {
                RenameOutcome::Exists
            } else if self.holds(&path, &precondition, "rename")? {
                let file = self.files.remove(&self.key(&path)).expect("there");
                self.files.insert(to.to_string(), file);
                RenameOutcome::Done
            } else {
                RenameOutcome::Stale(self.version(&path).expect("there"))
            }),
            FsOp::MakeDirectory { path } => {
                self.writes.push(format!("make {path}"));
                FsOutcome::MakeDirectory
            }
            FsOp::ListDirectory { folder, .. } => {
                FsOutcome::ListDirectory(ListOutcome::Page(self.list(folder.as_ref())))
            }
            _ => return Err(FsError::Unsupported),
        })
    }

    /// Keeps the bytes of a file under another path.
    fn keep(&mut self, path: &RelPath, keep_as: Option<&RelPath>) {
        if let (Some(keep_as), Some(old)) = (keep_as, self.files.get(&self.key(path)).cloned()) {
            self.files.insert(self.key(keep_as), old);
        }
    }

    /// Counts an effect, and returns true if it happens.
    fn holds(&mut self, path: &RelPath, precondition: &Precondition, name: &str) -> Result<bool, FsError> {
        if self.dies_after.is_some_and(|last| self.writes.len() >= last) {
            return Err(FsError::Cancelled);
        }
        if self.denies == Some(path.as_str()) {
            return Err(FsError::Denied);
        }
        if let Some((before, file, text)) = self.editor
            && before == self.writes.len()
        {
            self.editor = None;
            self.put(file, text.as_bytes().to_vec());
        }
        let holds = match precondition {
            Precondition::Any => true,
            Precondition::Absent => self.version(path).is_none(),
            Precondition::Matches(version) => self.version(path).as_ref() == Some(version),
        };
        if holds {
            self.writes.push(format!("{name} {path}"));
        }
        Ok(holds)
    }

    fn version(&self, path: &RelPath) -> Option<Version> {
        self.files.get(&self.key(path)).map(|(_, version)| shown(*version))
    }

    fn list(&self, folder: Option<&RelPath>) -> Listing {
        let mut entries: BTreeMap<RelPath, Entry> = BTreeMap::new();
        for (name, (bytes, version)) in &self.files {
            let prefix = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
            let Some(below) = name.strip_prefix(&prefix) else { continue };
            let entry = match below.split_once('/') {
                Some((child, _)) => Entry {
                    path: path(&format!("{prefix}{child}")),
                    kind: EntryKind::Directory,
                    size: 0,
                    version: Version(String::new()),
                    modified: 0,
                },
                None => Entry {
                    path: path(name),
                    kind: EntryKind::File,
                    size: bytes.len() as u64,
                    version: shown(*version),
                    modified: 0,
                },
            };
            entries.insert(entry.path.clone(), entry);
        }
        Listing { entries: entries.into_values().collect(), next: None, left_out: LeftOut::default(), version: None }
    }
}

fn shown(version: u64) -> Version {
    Version(version.to_string())
}

/// Returns the replies and errors of finished commands.
fn outcomes<T: 'static>(engine: &mut Engine<T>, finished: Vec<Finished>) -> Vec<(u64, Result<T, Error>)> {
    let outcome = |done: Finished| (done.id.0, done.error.map_or_else(|| engine.take(done.id, Ok), Err));
    finished.into_iter().map(outcome).collect()
}
