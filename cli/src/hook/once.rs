//! Lets only one of several reports of the same moment through.
//!
//! The same hook may be set for a user, for a project and by a plugin, and one settings file is read by several
//! clients. Then the program runs more than once for one moment. The first run creates a file that is named after the
//! moment; the others find it and do nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::event::{Detail, Event, Moment, Source};
use super::log::make_private;
use crate::regular;

/// Folder of the files, in the folder of states.
const FOLDER: &str = "hook-seen";
/// Time for which a moment with an id is remembered. A session may go on for days.
const WITH_ID: Duration = Duration::from_secs(24 * 60 * 60);
/// Time for which a moment without an id is remembered. The user may write the same prompt again after it.
const WITHOUT_ID: Duration = Duration::from_secs(2);
/// Time that an index may take.
const INDEXING: Duration = Duration::from_secs(60);
/// Extension of the files that name the project of a session, and the time for which it is remembered.
const PROJECT: &str = "project";
const WITH_PROJECT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Maximum size of such a file, in bytes.
const MAX_PROJECT_BYTES: u64 = 64 << 10;
/// Maximum number of files that are looked at to remove old ones.
const MAX_SWEPT: usize = 10_000;

/// Length of the name of a file, in hexadecimal digits.
const NAME_BYTES: usize = 32;

/// Memory of the moments that were reported.
pub(crate) struct Once(PathBuf);

impl Once {
    /// Returns the memory of this user. Returns `None` if there is no home folder.
    pub(crate) fn of_user() -> Option<Self> {
        saddlebag_host::state_folder().map(|folder| Self::in_folder(&folder))
    }

    /// Returns the memory in a folder of states.
    pub(super) fn in_folder(state: &Path) -> Self {
        Self(state.join(FOLDER))
    }

    /// Returns the folder of the files.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns true if this is the first report of the event for a store. `place` names the store and its scope.
    pub(crate) fn is_first(&self, event: &Event, place: &str) -> io::Result<bool> {
        self.make()?;
        let kept = if event.id.is_empty() { WITHOUT_ID } else { WITH_ID };
        self.is_new(&name(event, place), kept)
    }

    /// Returns true if no index of this folder was asked for a short time ago.
    pub(crate) fn is_first_index(&self, folder: &Path) -> bool {
        let name = hashed(&["index", &folder.to_string_lossy()]);
        self.make().and_then(|()| self.is_new(&name, INDEXING)).unwrap_or_default()
    }

    fn is_new(&self, name: &str, kept: Duration) -> io::Result<bool> {
        let file = self.0.join(name);
        if create(&file)? {
            return Ok(true);
        }
        if age(&file).is_some_and(|age| age < kept) {
            return Ok(false);
        }
        // Several runs may find the old file. Each moves what it finds aside; the one that moved the old file goes on.
        let aside = file.with_extension(std::process::id().to_string());
        match fs::rename(&file, &aside) {
            Ok(()) if age(&aside).is_some_and(|age| age < kept) => fs::rename(&aside, &file).map(|()| false),
            Ok(()) => create(&file).and_then(|first| fs::remove_file(&aside).map(|()| first)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the root of the project that the session of an event belongs to: the one that it began in, whatever folder its later
    /// events name. `root` is that of the event, which is remembered if it is the first. A session whose beginning was not reported
    /// stays in its first project as long as its folders are below it or gone.
    pub(crate) fn project_of(&self, event: &Event, place: &str, root: Option<&Path>) -> Option<PathBuf> {
        let session = Event { detail: Detail::End, id: String::new(), ..event.clone() };
        let file = self.0.join(name(&session, place)).with_extension(PROJECT);
        let is_startup = matches!(event.detail, Detail::Start(Source::Startup, _));
        let known =
            regular::read(&file, MAX_PROJECT_BYTES).ok().flatten().and_then(|text| String::from_utf8(text).ok());
        let known = known.as_ref().and_then(|text| text.split_once('\n'));
        if let Some((from, project)) = known.filter(|_| !is_startup) {
            let is_near = root.is_none_or(|root| root.starts_with(project));
            if from == Moment::Start.as_str() || is_near {
                return Some(PathBuf::from(project));
            }
        }
        let root = root?;
        // Without the file, a later event belongs to the folder that it names.
        let written = root.to_str().map(|root| {
            self.make()?;
            let mut options = OpenOptions::new();
            let mut file = regular::open_private(&file, options.write(true).create(true))?;
            file.set_len(0)?;
            file.write_all(format!("{}\n{root}", event.moment().as_str()).as_bytes())
        });
        let _ = written;
        Some(root.to_path_buf())
    }

    /// Removes the files of moments that are no longer remembered.
    pub(crate) fn sweep(&self) {
        // A file that stays is removed by a later run.
        for path in self.files().take(MAX_SWEPT) {
            let kept = if is_of_project(&path) { WITH_PROJECT } else { WITH_ID };
            if age(&path).is_some_and(|age| age >= kept) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Returns the files of moments. Any other file in the folder is not ours.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let is_folder = self.0.symlink_metadata().is_ok_and(|found| found.is_dir());
        let entries = is_folder.then(|| fs::read_dir(&self.0).ok()).flatten().into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).filter(|path| is_ours(path))
    }

    /// Creates the folder. A link in its place is not followed.
    fn make(&self) -> io::Result<()> {
        make_private(&self.0)?;
        if self.0.symlink_metadata()?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }
}

/// Returns true for an empty regular file whose name is the name of a moment, and for one that names the project of a session.
fn is_ours(path: &Path) -> bool {
    let named = path.file_stem().and_then(|name| name.to_str());
    named.is_some_and(|name| name.len() == NAME_BYTES && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && regular::is_one(path)
        && (is_of_project(path) || path.metadata().is_ok_and(|found| found.len() == 0))
}

fn is_of_project(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == PROJECT)
}

fn create(file: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the age of a file. A time in the future counts as no age.
fn age(file: &Path) -> Option<Duration> {
    let made = fs::symlink_metadata(file).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(made).unwrap_or_default())
}

/// Returns the name of the file of a moment. Nothing can be read from it.
fn name(event: &Event, place: &str) -> String {
    let detail = match &event.detail {
        // Two reports of one call may differ in the spelling of its result.
        Detail::BeforeTool(used) | Detail::Tool(used) if !event.id.is_empty() => format!("tool {}", used.tool),
        detail => format!("{detail:?}"),
    };
    hashed(&[place, event.session.as_str(), event.moment().as_str(), event.id.as_str(), detail.as_str()])
}

fn hashed(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(NAME_BYTES / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::event::{Client, Style, ToolUse};

    fn event(id: &str, detail: Detail) -> Event {
        Event {
            client: Client::Codex,
            name: "x".into(),
            style: Style::Nested,
            session: "s".into(),
            folders: Vec::new(),
            detail,
            id: id.into(),
        }
    }

    #[test]
    fn a_moment_goes_through_once_for_each_store() {
        let folder = tempfile::tempdir().unwrap();
        let once = Once(folder.path().join("seen"));
        let first = event("t1", Detail::Tool(ToolUse { tool: "Bash".into(), ..ToolUse::default() }));
        let again = Event {
            client: Client::Cursor,
            detail: Detail::Tool(ToolUse { tool: "Bash".into(), failed: true, ..ToolUse::default() }),
            ..first.clone()
        };
        assert!(once.is_first(&first, "a").unwrap());
        assert!(!once.is_first(&again, "a").unwrap());
        assert!(once.is_first(&first, "b").unwrap());
        assert!(once.is_first(&Event { id: "t2".into(), ..first }, "a").unwrap());
    }

    #[test]
    fn of_many_runs_at_once_one_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let once = Once(folder.path().join("seen"));
        let event = event("", Detail::Prompt("why".into()));
        let firsts = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| once.is_first(&event, "a").unwrap())).collect();
            runs.into_iter().map(|run| run.join().unwrap()).filter(|&first| first).count()
        });
        assert_eq!(firsts, 1);
    }

    #[test]
    fn the_same_prompt_goes_through_again_later_and_old_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let once = Once(folder.path().to_path_buf());
        let event = event("", Detail::Prompt("go on".into()));
        assert!(once.is_first(&event, "a").unwrap());
        let file = folder.path().join(name(&event, "a"));
        let set_age = |age: Duration| {
            let file = OpenOptions::new().write(true).open(&file).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        };
        set_age(WITHOUT_ID);
        assert!(once.is_first(&event, "a").unwrap());
        set_age(WITH_ID);
        once.sweep();
        assert!(!file.exists());
    }
}
