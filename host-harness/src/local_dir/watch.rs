//! [`Watch`]: the system tells of each change below a folder.
//!
//! A watch counts the changes that it has seen. As long as the count is the same, no editor has changed a file, except within
//! the last milliseconds: events arrive on another thread. Changes by hosts of the lock protocol do not depend on that, because
//! [`LocalDir::generation`](super::LocalDir::generation) also reads the files of the locks.
//!
//! A new folder is watched only after its event was handled. [`Watch::changes`] waits for that before it tells a count for the first
//! time, so that nobody lists a folder under a count while its changes are still unseen.
//!
//! When the system drops events, the watch begins again, and tells nothing until then. Where a file system does not report the
//! changes of other machines, there is no watch.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, EventKind, EventKindMask, ModifyKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};
use saddlebag::protocol::FsError;

/// Time before an interrupted watch begins again. It doubles each time that the watch lasts for less than [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Folder of the component and the hosts. No generation tells of its changes.
const OWN_FOLDER: &str = ".saddlebag";
const TEMPORARY_PREFIX: &str = ".saddlebag-";

/// Change that a [`Watch`] has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// A file or folder was changed.
    Changed {
        /// Path below the root, with `/` between its segments.
        path: String,
        /// True if the path may have been created, removed or renamed.
        may_be_listed_otherwise: bool,
    },
    /// Changes may have been missed.
    Interrupted,
}

/// Reason why a folder cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The file system does not report every change. The field is its type.
    #[error("changes on a file system of type `{0}` are not all reported")]
    NoEvents(String),
    /// The system refused the watch, for this reason.
    #[error("the folder cannot be watched: {0}")]
    Refused(String),
}

/// A watched folder. Clones are the same watch; it ends with the last one.
#[derive(Clone)]
pub struct Watch(Arc<Shared>);

struct Shared {
    root: PathBuf,
    /// Number that no other watch has.
    number: u64,
    /// Number of changes that were seen.
    count: AtomicU64,
    is_interrupted: AtomicBool,
    state: Mutex<State>,
    on_change: Box<dyn Fn(Noticed) + Send + Sync>,
}

#[derive(Default)]
struct State {
    watcher: Option<RecommendedWatcher>,
    /// Count for which every folder is watched.
    settled: Option<u64>,
    begun: Option<Instant>,
    /// Time to wait before the next beginning.
    pause: Duration,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("root", &self.0.root).finish_non_exhaustive()
    }
}

impl Watch {
    /// Watches the folder `root` and everything below it. `on_change` is called on another thread for each change.
    ///
    /// # Errors
    ///
    /// The file system does not report every change, or the system refuses, for example because of its limit of watches.
    pub fn start(root: &Path, on_change: impl Fn(Noticed) + Send + Sync + 'static) -> Result<Self, WatchError> {
        let root = root.canonicalize().map_err(refused)?;
        let shared = Arc::new(Shared {
            number: RandomState::new().hash_one(std::process::id()),
            root,
            count: AtomicU64::new(0),
            is_interrupted: AtomicBool::new(false),
            state: Mutex::default(),
            on_change: Box::new(on_change),
        });
        shared.begin()?;
        Ok(Self(shared))
    }

    /// Returns a token that is different after each change that the watch has seen, and from the tokens of every other watch.
    ///
    /// # Errors
    ///
    /// [`FsError::Unsupported`] where events may arrive late or in any order: on other systems than Linux. [`FsError::Other`] while
    /// the watch is interrupted.
    pub(super) fn changes(&self) -> Result<String, FsError> {
        if !cfg!(target_os = "linux") {
            return Err(FsError::Unsupported);
        }
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.0.count.load(Ordering::SeqCst);
        if state.settled != Some(count)
            && let Some(watcher) = &state.watcher
        {
            // The thread of the watch answers after it has handled the events that it has read, with the folders in them.
            let is_settled = watcher.watched_paths().is_ok();
            state.settled = is_settled.then_some(count);
        }
        if state.settled != Some(count) || self.0.is_interrupted.load(Ordering::SeqCst) {
            return Err(FsError::Other("the watch of the store is interrupted".into()));
        }
        Ok(format!("-{:x}-{count}", self.0.number))
    }
}

impl Shared {
    /// Begins to watch, instead of an earlier watcher.
    fn begin(self: &Arc<Self>) -> Result<(), WatchError> {
        if let Some(kind) = mounts::without_events(&self.root) {
            return Err(WatchError::NoEvents(kind));
        }
        let shared = Arc::downgrade(self);
        let handler = move |event| {
            if let Some(shared) = Weak::upgrade(&shared) {
                shared.handle(event);
            }
        };
        // A read is not a change. The end of writing is one: a write through mapped memory has no other event.
        let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
        let config = Config::default().with_follow_symlinks(false).with_event_kinds(kinds);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lasted = state.begun.is_some_and(|begun| begun.elapsed() > LONGEST_PAUSE);
        let pause = if lasted { PAUSE } else { (state.pause * 2).clamp(PAUSE, LONGEST_PAUSE) };
        *state = State { pause, begun: Some(Instant::now()), ..State::default() };
        self.is_interrupted.store(false, Ordering::SeqCst);
        let mut watcher = RecommendedWatcher::new(handler, config).map_err(refused)?;
        watcher.watch(&self.root, RecursiveMode::Recursive).map_err(refused)?;
        // What was seen before is not known any more.
        self.count.fetch_add(1, Ordering::SeqCst);
        state.watcher = Some(watcher);
        Ok(())
    }

    fn handle(self: &Arc<Self>, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(%error, "the watch of the store is interrupted");
                return self.interrupt();
            }
        };
        let is_structural = is_structural(&event.kind);
        let touches_root = event.paths.iter().any(|path| *path == self.root);
        if event.need_rescan() || event.info() == Some("unmount") || (is_structural && touches_root) {
            return self.interrupt();
        }
        for path in &event.paths {
            let Some(path) = self.relative(path) else { continue };
            self.count.fetch_add(1, Ordering::SeqCst);
            (self.on_change)(Noticed::Changed { path, may_be_listed_otherwise: is_structural });
        }
    }

    /// Returns the path below the root; `None` for the files of the component and the hosts.
    fn relative(&self, path: &Path) -> Option<String> {
        let segments = path.strip_prefix(&self.root).unwrap_or(path).components();
        let segments: Vec<_> = segments.map(|segment| segment.as_os_str().to_string_lossy()).collect();
        let is_own = segments.iter().any(|segment| segment == OWN_FOLDER)
            || segments.last().is_some_and(|name| name.starts_with(TEMPORARY_PREFIX));
        (!is_own).then(|| segments.join("/"))
    }

    fn pause(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).pause
    }

    /// Tells nothing any more, and begins to watch again on another thread.
    fn interrupt(self: &Arc<Self>) {
        if self.is_interrupted.swap(true, Ordering::SeqCst) {
            return;
        }
        self.count.fetch_add(1, Ordering::SeqCst);
        (self.on_change)(Noticed::Interrupted);
        let shared = Arc::downgrade(self);
        let begin_again = move || {
            while let Some(pause) = shared.upgrade().map(|shared| shared.pause()) {
                std::thread::sleep(pause);
                let Some(shared) = shared.upgrade() else { return };
                match shared.begin() {
                    Ok(()) => return (shared.on_change)(Noticed::Interrupted),
                    Err(error) => tracing::warn!(%error, "the store is not watched"),
                }
                shared.is_interrupted.store(true, Ordering::SeqCst);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("watch".into()).spawn(begin_again) {
            tracing::warn!(%error, "the store is not watched any more");
        }
    }
}

fn refused(error: impl fmt::Display) -> WatchError {
    WatchError::Refused(error.to_string())
}

/// Returns true if a change of this kind may have created, removed or renamed a file.
fn is_structural(kind: &EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Access(AccessKind::Close(_)) | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_))
    )
}

/// Types of mounted file systems.
mod mounts {
    use std::path::Path;

    /// File systems of one machine, whose changes all pass its kernel.
    const WITH_EVENTS: [&str; 11] =
        ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "ramfs", "tmpfs", "xfs", "zfs"];

    /// Returns the type of a file system at or below `root` that does not report every change.
    pub(super) fn without_events(root: &Path) -> Option<String> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        match std::fs::read_to_string("/proc/self/mountinfo") {
            Ok(mounts) => first_without_events(&mounts, root),
            Err(_) => Some("unknown".into()),
        }
    }

    /// Does so for the text of `mountinfo`.
    pub(super) fn first_without_events(mounts: &str, root: &Path) -> Option<String> {
        let mounts = mounts.lines().filter_map(|line| {
            let (place, source) = line.split_once(" - ")?;
            Some((unescaped(place.split(' ').nth(4)?), source.split(' ').next()?))
        });
        let mut of_root = (0, "unknown");
        let mut below = Vec::new();
        for (place, kind) in mounts {
            let place = Path::new(&place);
            let depth = place.components().count();
            if root.starts_with(place) {
                // The last mount of a place hides those before it.
                of_root = if depth >= of_root.0 { (depth, kind) } else { of_root };
            } else if place.starts_with(root) {
                below.push(kind);
            }
        }
        let refused = [of_root.1].into_iter().chain(below).find(|kind| !WITH_EVENTS.contains(kind));
        refused.map(String::from)
    }

    /// Replaces the escapes of `mountinfo`, such as `\040` for a space.
    fn unescaped(place: &str) -> String {
        let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
        escapes.into_iter().fold(place.to_string(), |place, (escape, sign)| place.replace(escape, sign))
    }
}

#[cfg(test)]
mod tests {
    use notify::event::Flag;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Waits until the watch gives an answer that `is_it`.
    fn wait(watch: &Watch, is_it: impl Fn(&Result<String, FsError>) -> bool) -> Result<String, FsError> {
        let begun = Instant::now();
        loop {
            let told = watch.changes();
            if is_it(&told) {
                return told;
            }
            assert!(begun.elapsed() < PATIENCE, "{told:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_mount_is_judged_by_its_type() {
        let mounts = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      30 27 0:9 / /srv/share rw shared:1 - nfs4 server:/ rw\n\
                      31 27 0:9 / /srv/my\\040notes rw - 9p share rw\n\
                      32 27 0:9 / /mnt rw - nfs server:/ rw\n\
                      33 32 0:9 / /mnt rw - tmpfs tmpfs rw\n";
        let refused = |root: &str| mounts::first_without_events(mounts, Path::new(root));
        assert_eq!(refused("/home/me/notes"), None);
        assert_eq!(refused("/srv/share/notes").as_deref(), Some("nfs4"));
        assert_eq!(refused("/srv/shared"), None);
        assert_eq!(refused("/srv/my notes").as_deref(), Some("9p"));
        assert_eq!(refused("/srv").as_deref(), Some("nfs4"), "a folder below");
        assert_eq!(refused("/mnt/notes"), None, "the mount on top counts");
        assert_eq!(mounts::first_without_events("", Path::new("/")).as_deref(), Some("unknown"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_change_of_an_editor_is_told_and_no_read_nor_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join(".saddlebag")).unwrap();
        let watch = Watch::start(root, |_| {}).unwrap();
        let mut told = watch.changes().unwrap();
        let steps: [&dyn Fn(); 5] = [
            &|| std::fs::write(root.join("a.md"), "a").unwrap(),
            &|| std::fs::create_dir_all(root.join("new/folder")).unwrap(),
            &|| std::fs::write(root.join("new/folder/b.md"), "b").unwrap(),
            &|| std::fs::rename(root.join("new"), root.join("old")).unwrap(),
            &|| std::fs::remove_file(root.join("old/folder/b.md")).unwrap(),
        ];
        for step in steps {
            step();
            told = wait(&watch, |new| new.as_ref().is_ok_and(|new| *new != told)).unwrap();
        }
        // The events of the last step may still arrive. Those of a file are in order, so this one is the last.
        std::fs::write(root.join("last.md"), "").unwrap();
        let mut last = told;
        let mut quiet = Instant::now();
        while quiet.elapsed() < Duration::from_millis(100) {
            let new = watch.changes().unwrap();
            if new != last {
                (last, quiet) = (new, Instant::now());
            }
        }
        std::fs::read(root.join("a.md")).unwrap();
        std::fs::read_dir(root).unwrap().count();
        std::fs::write(root.join(".saddlebag/index"), "").unwrap();
        std::fs::write(root.join(".saddlebag-1-2-3.tmp"), "").unwrap();
        assert_eq!(watch.changes().unwrap(), last);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_watch_that_missed_events_tells_nothing_until_it_has_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::start(folder.path(), |_| {}).unwrap();
        let before = watch.changes().unwrap();
        watch.0.handle(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert!(matches!(watch.changes(), Err(FsError::Other(_))));
        let after = wait(&watch, Result::is_ok).unwrap();
        assert_ne!(before, after);
        std::fs::write(folder.path().join("a.md"), "a").unwrap();
        wait(&watch, |new| new.as_ref().is_ok_and(|new| *new != after)).unwrap();
    }
}
