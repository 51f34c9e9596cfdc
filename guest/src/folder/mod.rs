//! [`Folder`]: a folder of the disk, through `std::fs`, natively or on WASI with the folder preopened.

mod disk;
mod locks;

use std::cell::Cell;
use std::path::Path;
use std::time::Instant;

use saddlebag::protocol::{FsError, RemoveDirectoryOutcome};
use saddlebag::store::RelPath;
use saddlebag_locks::{
    Error, Identity, JoinError, LeaseGuard, Number, PATIENCE, Record, generation, join, second_name,
};
use sha2::{Digest, Sha256};

use crate::executor::{hex, version_of};
use crate::storage::{Attempt, Described, Found, Move, Replace, Stamp, Storage};
use disk::{Disk, above};
use locks::Files;

/// Folder of the markers of files that could not be synced.
const UNSYNCED: &str = ".saddlebag/locks-3/unsynced";

/// A [`Storage`] in a folder.
pub struct Folder {
    files: Files,
    identity: Identity,
    random: fn() -> u64,
    count: Cell<u64>,
    /// True once the store was found to have this lock protocol.
    joined: Cell<bool>,
    /// On WASI the preopened folder stays open, whatever becomes of its path.
    #[cfg(unix)]
    root: std::path::PathBuf,
    #[cfg(unix)]
    id: (u64, u64),
}

/// The locks of a change in a [`Folder`].
pub struct FolderGuard<'s>(LeaseGuard<'s, Files>);

impl Folder {
    /// Uses a folder, which must exist. `random` makes names of temporary files. `only_hosts_write` says that only hosts of the
    /// lock protocol change files, so that the locks tell whether anything changed.
    ///
    /// # Errors
    ///
    /// The path is not a folder.
    pub fn open(root: &Path, only_hosts_write: bool, random: fn() -> u64) -> Result<Self, FsError> {
        if !root.is_dir() {
            return Err(FsError::NotDirectory);
        }
        let files = Files { disk: Disk::new(root)?, began: Instant::now(), synced: only_hosts_write };
        // A process that is a component does not know its number.
        let identity = Identity::new("0", "saddlebag-guest", random());
        Ok(Self {
            files,
            identity,
            random,
            count: Cell::new(0),
            joined: Cell::new(false),
            #[cfg(unix)]
            root: root.into(),
            #[cfg(unix)]
            id: id_of(root).map_err(disk::fs_error)?,
        })
    }

    fn disk(&self) -> &Disk {
        &self.files.disk
    }

    fn temporary(&self, path: &str) -> String {
        self.count.update(|count| count + 1);
        let name = format!(".saddlebag-0-{}-{:016x}.tmp", self.count.get(), (self.random)());
        if above(path).is_empty() { name } else { format!("{}/{name}", above(path)) }
    }

    /// Puts a new file in the place of an old one, or creates it. The temporary files stay if this fails.
    fn place(
        &self,
        guard: &FolderGuard<'_>,
        change: &Replace<'_>,
        temporary: &str,
        second: &str,
    ) -> Result<Attempt, FsError> {
        let (path, keep_as) = (change.path.as_str(), change.keep_as.map(RelPath::as_str));
        let model = if change.old.is_some() { Some(path) } else { change.like.map(RelPath::as_str) };
        // The temporary file of a host without the lock has a record that nobody keeps.
        if !is_held(guard)? {
            return Ok(Attempt::Lost);
        }
        self.disk().create(temporary, change.new, model)?;
        if keep_as.is_some() {
            // An editor may not have synced it.
            self.disk().sync_file(path)?;
            self.second_name(path, second)?;
        }
        // Editors take no lock: one more look.
        if !is_held(guard)? || !self.is_still(path, change.old)? {
            return Ok(Attempt::Lost);
        }
        if change.old.is_some() {
            self.disk().rename(temporary, path)?;
        } else if !self.disk().place_new(temporary, path)? {
            return Ok(Attempt::Lost);
        }
        if let Some(keep_as) = keep_as
            && let Err(error) = self.keep(second, keep_as)
        {
            self.disk().rename(second, path)?;
            return Err(error);
        }
        Ok(Attempt::Done)
    }

    /// Gives the old file a second name; a copy where there are no second names.
    fn second_name(&self, path: &str, second: &str) -> Result<(), FsError> {
        match self.disk().link(path, second) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FsError::Other("the name of a temporary file is taken; try again".into())),
            Err(_) => {
                let old = self.disk().read(path)?.map(|old| old.bytes).unwrap_or_default();
                self.disk().create(second, &old, Some(path))
            }
        }
    }

    /// Moves a file to the path where it is kept, in place of the file there.
    fn keep(&self, from: &str, keep_as: &str) -> Result<(), FsError> {
        self.disk().make_folder(above(keep_as))?;
        self.disk().is_file(keep_as)?;
        self.disk().rename(from, keep_as)
    }

    fn is_still(&self, path: &str, old: Option<&[u8]>) -> Result<bool, FsError> {
        let found = self.disk().read(path)?;
        Ok(found.as_ref().map(|found| found.bytes.as_slice()) == old)
    }

    /// Makes a change survive a power cut. If that fails, the change stays and is marked.
    fn sync(&self, path: &str, folders: &[&str]) -> Result<(), FsError> {
        for (at, folder) in folders.iter().enumerate() {
            if folders[..at].contains(folder) {
                continue;
            }
            if let Err(error) = self.disk().sync_folder(folder) {
                self.mark(path, true);
                return Err(FsError::NotDurable(error.to_string()));
            }
        }
        Ok(())
    }

    fn is_unsynced(&self, path: &str) -> Result<bool, FsError> {
        let marker = marker(path);
        Ok(self.disk().is_above(&marker)? && self.disk().kind(&marker)?.is_some())
    }

    /// Sets or removes the marker that tells other hosts. A disk that fails may not take it either.
    fn mark(&self, path: &str, unsynced: bool) {
        let marker = marker(path);
        if self.is_unsynced(path).is_ok_and(|found| found != unsynced) {
            let _ = if unsynced {
                self.disk().make_folder(UNSYNCED).and_then(|()| self.disk().create(&marker, path.as_bytes(), None))
            } else {
                self.disk().remove(&marker)
            };
        }
    }

    /// Writes a marked file again, to new blocks of the disk.
    fn settle(&self, path: &RelPath) -> Result<(), FsError> {
        if !self.is_unsynced(path.as_str())? {
            return Ok(());
        }
        let guard = self.lock(&[path])?;
        let Some(old) = self.read(path)? else {
            self.mark(path.as_str(), false);
            return Ok(());
        };
        let change = Replace { path, old: Some(&old), new: &old, keep_as: None, like: None };
        self.replace(&guard, &change).map(|_| ())
    }

    fn join(&self) -> Result<(), FsError> {
        if self.joined.get() {
            return Ok(());
        }
        join(&self.files).map_err(|error| match error {
            JoinError::Later(number) => FsError::Other(format!(
                "the store has lock protocol {number}, which is later than that of this program"
            )),
            JoinError::Files(error) => error,
        })?;
        self.joined.set(true);
        Ok(())
    }
}

impl Storage for Folder {
    type Guard<'s> = FolderGuard<'s>;

    fn lock(&self, paths: &[&RelPath]) -> Result<Self::Guard<'_>, FsError> {
        #[cfg(unix)]
        if id_of(&self.root).ok() != Some(self.id) {
            return Err(FsError::Other("the folder of the store was replaced by another one; open it again".into()));
        }
        self.join()?;
        let numbers = Number::of_all(paths.iter().map(|path| path.as_str()));
        LeaseGuard::acquire(&self.files, &self.identity, numbers, PATIENCE).map(FolderGuard).map_err(lock_error)
    }

    fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, FsError> {
        Ok(self.disk().read(path.as_str())?.map(|content| content.bytes))
    }

    fn settled(&self, path: &RelPath) -> Result<(), FsError> {
        self.settle(path)
    }

    fn stamp(&self, path: &RelPath) -> Option<Stamp> {
        self.disk().stamp(path.as_str())
    }

    fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Found>, FsError> {
        self.disk().list(folder.map_or("", RelPath::as_str))
    }

    fn describe(&self, path: &RelPath) -> Result<Option<Described>, FsError> {
        Ok(match self.disk().read_checked(path.as_str()) {
            Ok(Some(content)) => Some(Described {
                size: content.bytes.len() as u64,
                version: Some(version_of(&content.bytes).0),
                modified: content.modified,
            }),
            Ok(None) => None,
            // It must not hide the others.
            Err(_) => Some(Described { size: 0, version: None, modified: 0 }),
        })
    }

    fn replace(&self, guard: &Self::Guard<'_>, change: &Replace<'_>) -> Result<Attempt, FsError> {
        let path = change.path.as_str();
        self.disk().make_folder(above(path))?;
        if let Some(keep_as) = change.keep_as {
            self.disk().is_file(keep_as.as_str())?;
        }
        let temporary = self.temporary(path);
        let second = second_name(&temporary);
        let temporary = temporary.as_str();
        guard.0.note(&match change.keep_as {
            Some(keep_as) => Record::Keeping { temporary, path, keep_as: keep_as.as_str() },
            None => Record::Staged { temporary, path },
        });
        let placed = self.place(guard, change, temporary, &second);
        if placed != Ok(Attempt::Done) {
            // Nothing else has these names, and a name that stays is never listed.
            let _ = self.disk().remove(&second);
            let _ = self.disk().remove(temporary);
            return placed;
        }
        if let Some(keep_as) = change.keep_as {
            self.mark(keep_as.as_str(), self.is_unsynced(path)?);
            self.sync(path, &[above(keep_as.as_str()), above(path)])?;
        } else {
            self.sync(path, &[above(path)])?;
        }
        self.mark(path, false);
        Ok(Attempt::Done)
    }

    fn remove(
        &self,
        guard: &Self::Guard<'_>,
        path: &RelPath,
        old: &[u8],
        keep_as: Option<&RelPath>,
        may_return: bool,
    ) -> Result<Attempt, FsError> {
        let path = path.as_str();
        if keep_as.is_some() {
            self.disk().sync_file(path)?;
        }
        if !is_held(guard)? || !self.is_still(path, Some(old))? {
            return Ok(Attempt::Lost);
        }
        match keep_as {
            Some(keep_as) => {
                self.keep(path, keep_as.as_str())?;
                self.mark(keep_as.as_str(), self.is_unsynced(path)?);
            }
            None => self.disk().remove(path)?,
        }
        self.mark(path, false);
        if !may_return {
            let kept = keep_as.map_or(above(path), |keep_as| above(keep_as.as_str()));
            self.sync(path, &[kept, above(path)])?;
        }
        Ok(Attempt::Done)
    }

    fn rename(&self, guard: &Self::Guard<'_>, path: &RelPath, to: &RelPath, old: &[u8]) -> Result<Move, FsError> {
        let (path, to) = (path.as_str(), to.as_str());
        self.disk().make_folder(above(to))?;
        if self.disk().kind(to)?.is_some() {
            return Ok(Move::Exists);
        }
        if !is_held(guard)? || !self.is_still(path, Some(old))? {
            return Ok(Move::Attempt(Attempt::Lost));
        }
        if !self.disk().place_new(path, to)? {
            return Ok(Move::Exists);
        }
        self.mark(to, self.is_unsynced(path)?);
        self.mark(path, false);
        self.sync(to, &[above(to), above(path)])?;
        Ok(Move::Attempt(Attempt::Done))
    }

    fn make_directory(&self, path: &RelPath) -> Result<(), FsError> {
        self.disk().make_folder(path.as_str())
    }

    fn remove_directory(&self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        if !self.disk().is_folder(path.as_str())? {
            return Ok(RemoveDirectoryOutcome::Absent);
        }
        if !self.disk().remove_folder(path.as_str())? {
            return Ok(RemoveDirectoryOutcome::NotEmpty);
        }
        self.sync(path.as_str(), &[above(path.as_str())])?;
        Ok(RemoveDirectoryOutcome::Removed)
    }

    fn generation(&self) -> Result<String, FsError> {
        if !self.files.synced {
            return Err(FsError::Unsupported);
        }
        // A store without locks has no token, and an index that was written without one is never compared by it.
        self.join().map_err(|_| FsError::Unsupported)?;
        // The leases are synced, so no start of the machine brings back an earlier token.
        generation(&self.files, "").ok_or_else(|| FsError::Locked("a file of the store is being changed".into()))
    }
}

/// Returns the device and the number of a folder.
#[cfg(unix)]
fn id_of(folder: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(folder)?;
    Ok((found.dev(), found.ino()))
}

/// Looks at the clock, directly before a step that changes a file. Returns false if the lock was lost.
fn is_held(guard: &FolderGuard<'_>) -> Result<bool, FsError> {
    match guard.0.check() {
        Ok(_) => Ok(true),
        Err(Error::Lost) => Ok(false),
        Err(error) => Err(lock_error(error)),
    }
}

fn lock_error(error: Error<FsError>) -> FsError {
    match error {
        Error::Files(error) => error,
        other => FsError::Locked(other.to_string()),
    }
}

/// Returns the path of the marker of a file that could not be synced.
fn marker(path: &str) -> String {
    let digest = hex(&Sha256::digest(path));
    format!("{UNSYNCED}/{}", &digest[..32])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use saddlebag::protocol::{EntryKind, FsOp, FsOutcome, Precondition};

    use super::*;
    use crate::Executor;
    use crate::storage::Name;

    fn path(text: &str) -> RelPath {
        RelPath::new(text).expect("a path")
    }

    fn random() -> u64 {
        std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
    }

    fn open(root: &Path, only_hosts_write: bool) -> Executor<Folder> {
        Executor::new(Folder::open(root, only_hosts_write, random).expect("a folder"), random)
    }

    fn write(at: &str, content: &str, keep_as: Option<&str>) -> FsOp {
        let (path, keep_as) = (path(at), keep_as.map(path));
        FsOp::Write { path, content: content.into(), precondition: Precondition::Any, keep_as, like: None }
    }

    #[test]
    fn threads_that_append_lose_nothing() {
        const LINES: usize = 40;
        let root = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let root = root.path();
                scope.spawn(move || {
                    let store = open(root, false);
                    for line in 0..LINES {
                        let content = format!("{thread}.{line}\n").into_bytes();
                        let (path, precondition) = (path("daily/log.md"), Precondition::Any);
                        let op = FsOp::append(path, content, true, precondition);
                        store.perform(&op).expect("appended");
                    }
                });
            }
        });
        let text = fs::read_to_string(root.path().join("daily/log.md")).expect("written");
        assert_eq!(text.lines().count(), 4 * LINES);
        for thread in 0..4 {
            let own: Vec<&str> = text.lines().filter(|line| line.starts_with(&format!("{thread}."))).collect();
            assert_eq!(own, (0..LINES).map(|line| format!("{thread}.{line}")).collect::<Vec<_>>());
        }
        assert_eq!(fs::read_dir(root.path().join("daily")).expect("listed").count(), 1, "a temporary file stays");
    }

    #[test]
    fn the_replaced_file_is_kept_in_the_place_of_an_earlier_one() {
        let root = tempfile::tempdir().expect("a folder");
        let store = open(root.path(), false);
        for text in ["one", "two", "three"] {
            store.perform(&write("a.md", text, Some("old/a.md"))).expect("written");
        }
        let read = |at: &str| fs::read_to_string(root.path().join(at)).expect("written");
        assert_eq!((read("a.md"), read("old/a.md")), ("three".into(), "two".into()));
        fs::create_dir(root.path().join("folder")).expect("made");
        assert_eq!(store.perform(&write("a.md", "four", Some("folder"))), Err(FsError::IsDirectory));
        assert_eq!(read("a.md"), "three");
    }

    /// A holder can die between any two steps of a change that keeps the old file. Its record finishes or undoes the change.
    #[test]
    fn the_record_of_a_dead_holder_is_carried_out() {
        let (temporary, second) = ("n/.saddlebag-1-2-3.tmp", "n/.saddlebag-1-2-3-old.tmp");
        let keeping = Record::Keeping { temporary, path: "n/a.md", keep_as: "old/a.md" };
        let staged = Record::Staged { temporary, path: "n/a.md" };
        let placing = |keep_as| Record::Placing { temporary, path: "n/a.md", new: "s1.2.3.4", old: "h0", keep_as };
        let (a, kept) = ("n/a.md", "old/a.md");
        type Files<'a> = &'a [(&'a str, &'a str)];
        let cases: [(Record<'_>, Files<'_>, Files<'_>); 7] = [
            (staged, &[(a, "old"), (temporary, "new")], &[(a, "old")]),
            (keeping.clone(), &[(a, "old"), (temporary, "new"), (second, "old")], &[(a, "old")]),
            (keeping.clone(), &[(a, "new"), (second, "old")], &[(a, "new"), (kept, "old")]),
            (keeping.clone(), &[(a, "new"), (second, "old"), (kept, "older")], &[(a, "new"), (kept, "old")]),
            (keeping, &[(a, "new"), (kept, "old")], &[(a, "new"), (kept, "old")]),
            (placing(None), &[(a, "new"), (temporary, "x")], &[(a, "new"), (".saddlebag/recovered/n-a.md.1", "x")]),
            (placing(Some(kept)), &[(a, "new"), (temporary, "old")], &[(a, "new"), (kept, "old")]),
        ];
        for (record, before, after) in cases {
            let root = tempfile::tempdir().expect("a folder");
            for (at, text) in before {
                let at = root.path().join(at);
                fs::create_dir_all(at.parent().expect("a folder")).expect("made");
                fs::write(at, text).expect("written");
            }
            let folder = Folder::open(root.path(), false, random).expect("a folder");
            saddlebag_locks::LockFiles::clean_up(&folder.files, &record);
            let mut found = Vec::new();
            for name in ["n", "old", ".saddlebag/recovered"] {
                for entry in folder.disk().list(name).expect("listed") {
                    let Name::Text(file) = entry.name else { panic!("a name") };
                    assert_eq!(entry.kind, EntryKind::File);
                    let at = format!("{name}/{file}");
                    let text = fs::read_to_string(root.path().join(&at)).expect("read");
                    found.push((at, text));
                }
            }
            let found: Vec<(&str, &str)> = found.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
            assert_eq!(found, after, "{record}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_replaced() {
        let (root, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::write(outside.path().join("a.md"), "theirs").expect("written");
        let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, root.path().join(at)).expect("linked");
        link(&outside.path().join("a.md"), "a.md");
        link(outside.path(), "n");
        let store = open(root.path(), false);
        for at in ["a.md", "n/a.md", "n/new.md"] {
            for keep_as in [None, Some("old.md")] {
                assert_eq!(store.perform(&write(at, "ours", keep_as)), Err(FsError::SymbolicLink), "{at}");
            }
            let read = FsOp::Read { path: path(at), offset: 0, max_bytes: 9 };
            assert_eq!(store.perform(&read), Err(FsError::SymbolicLink), "{at}");
        }
        store.perform(&write("b.md", "ours", None)).expect("written");
        assert_eq!(store.perform(&write("b.md", "again", Some("n/b.md"))), Err(FsError::SymbolicLink));
        assert_eq!(fs::read_to_string(root.path().join("b.md")).expect("read"), "ours");
        assert_eq!(fs::read_to_string(outside.path().join("a.md")).expect("read"), "theirs");
        assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_was_replaced_is_not_written() {
        let above = tempfile::tempdir().expect("a folder");
        let root = above.path().join("store");
        fs::create_dir(&root).expect("made");
        let store = open(&root, false);
        fs::rename(&root, above.path().join("moved")).expect("moved");
        fs::create_dir(&root).expect("made");
        assert!(matches!(store.perform(&write("a.md", "text", None)), Err(FsError::Other(_))));
        assert_eq!(fs::read_dir(&root).expect("listed").count(), 0);
    }

    #[test]
    fn the_token_of_the_store_changes_with_every_change() {
        let root = tempfile::tempdir().expect("a folder");
        let store = open(root.path(), true);
        let mut seen = Vec::new();
        let mut token = |is_new: bool| {
            let Ok(FsOutcome::Generation(token)) = store.perform(&FsOp::Generation) else { panic!("no token") };
            assert_eq!(!seen.contains(&token), is_new, "{seen:?}");
            seen.push(token);
        };
        for text in ["one", "two", "one"] {
            store.perform(&write("a.md", text, None)).expect("written");
            token(true);
            token(false);
        }
        store.perform(&write(".saddlebag/index", "x", None)).expect("written");
        token(false);
        store.perform(&FsOp::remove(path("a.md"), Precondition::Any)).expect("removed");
        token(true);
        assert_eq!(open(root.path(), false).perform(&FsOp::Generation), Err(FsError::Unsupported));
    }

    #[test]
    fn a_large_file_is_read_again_once_it_has_changed() {
        let root = tempfile::tempdir().expect("a folder");
        let store = open(root.path(), false);
        let text = |letter: &str| letter.repeat(300_000);
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        for (letter, age) in [("a", 60), ("c", 50), ("d", 0), ("e", 0)] {
            fs::write(root.path().join("a.md"), text(letter)).expect("written");
            let file = fs::File::options().write(true).open(root.path().join("a.md")).expect("opened");
            file.set_modified(old + std::time::Duration::from_secs(60 - age)).expect("set");
            for offset in [0, 1000] {
                let read = FsOp::Read { path: path("a.md"), offset, max_bytes: 3 };
                let Ok(FsOutcome::Read(saddlebag::protocol::ReadOutcome::Content(content))) = store.perform(&read)
                else {
                    panic!("no content")
                };
                assert_eq!(content.bytes, text(letter).as_bytes()[..3]);
                assert_eq!(content.version, version_of(text(letter).as_bytes()));
            }
        }
    }

    #[test]
    fn a_file_that_could_not_be_synced_is_written_again_before_it_is_read() {
        let root = tempfile::tempdir().expect("a folder");
        let store = open(root.path(), false);
        store.perform(&write("a.md", "text", None)).expect("written");
        let status = || {
            let found = fs::metadata(root.path().join("a.md")).expect("a file");
            (found.modified().expect("a time"), fs::read(root.path().join("a.md")).expect("read"))
        };
        let before = status();
        store.storage().mark("a.md", true);
        let read = FsOp::Read { path: path("a.md"), offset: 0, max_bytes: 9 };
        store.perform(&read).expect("read");
        let after = status();
        assert!(after.0 > before.0 && after.1 == before.1);
        assert_eq!(store.storage().is_unsynced("a.md"), Ok(false));
        store.perform(&read).expect("read");
        assert_eq!(status(), after);
    }
}
