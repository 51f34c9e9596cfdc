//! Records of the projects of a store: which folder a project's memory was made in, and whose memory a folder opens.
//!
//! A project is identified by the path of its folder. A folder that was moved, cloned or unpacked elsewhere is another
//! project, whatever it contains: its content may come from anyone. What it has in common with a recorded project is only
//! a hint ([`Projects::similar`]). A person who knows that it is the same project links it or moves its memory.
//!
//! The records are files of the host, `.saddlebag/projects/NAME.json`. Without them every folder has its own memory.

use std::path::{Path, PathBuf};

use saddlebag::entries::with_project_renamed;
use saddlebag::protocol::{
    EntryKind, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, RemoveOutcome, RenameOutcome,
    WriteOutcome,
};
use saddlebag::store::{self, AGENTS_FOLDER, ENTRIES_FOLDER, RelPath, WORKSPACES_FOLDER};
use serde_json::{Map, Value};

use crate::executor::{Executor, STATE_FOLDER};
use crate::open_store::OpenStore;
use crate::project::{ProjectTraits, project_root, project_slug, project_traits};

/// Folder of the records, in the host's own folder.
const RECORDS_FOLDER: &str = "projects";

/// Folder of the memory of all projects.
const PROJECTS_FOLDER: &str = "projects";

/// Maximum size of a record in bytes.
const MAX_RECORD_BYTES: u32 = 64 * 1024;

/// Maximum size of the file of an entry in bytes, more than an entry may have.
const MAX_ENTRY_BYTES: u32 = 16 << 20;

/// Maximum number of attempts to change a file that others change too.
const MAX_ATTEMPTS: usize = 64;

/// Maximum number of entries on a page of a listing.
const PAGE: u32 = 1024;

/// Folder of the states of sessions, in the folder of a project.
const SESSIONS_FOLDER: &str = ".saddlebag/sessions";

/// Folder of the index, in the folder of a project.
const INDEX_FOLDER: &str = ".saddlebag/index";

/// Folder of the history, in the folder of a project.
const HISTORY_FOLDER: &str = ".saddlebag/history";

/// Maximum size of the state of a session in bytes that is moved into another project.
const MAX_SESSION_BYTES: u32 = 1024 * 1024;

/// Maximum number of folders in which a note of a project is looked for.
const MAX_FOLDERS: usize = 256;

/// A project of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectRecord {
    /// Name of the project: the name of its folder in the store.
    pub name: String,
    /// Folder of the project, when its memory was last used; `None` if that is not known.
    pub path: Option<String>,
    /// Name of the project whose memory the folder opens instead of its own.
    pub opens: Option<String>,
    /// Traits that clones and copies of the folder have in common.
    pub traits: ProjectTraits,
}

/// Reason to take two folders for the same project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// The first remote of both repositories is the same.
    Remote,
    /// The first commit of both working copies is the same.
    FirstCommit,
    /// The folders have the same name.
    Name,
}

/// A project that may be the same as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarProject {
    /// The project.
    pub record: ProjectRecord,
    /// Trait that it has in common with the other.
    pub similarity: Similarity,
}

/// The projects of a store.
pub struct Projects<'s> {
    store: &'s mut OpenStore,
}

impl<'s> Projects<'s> {
    /// Returns the projects of an open store.
    pub fn new(store: &'s mut OpenStore) -> Self {
        Self { store }
    }

    /// Returns the name of the project whose memory a folder opens.
    ///
    /// # Errors
    ///
    /// The record of the project cannot be read.
    pub fn opened(&mut self, folder: &Path) -> Result<String, FsError> {
        let name = project_slug(&project_root(folder)).to_string();
        let record = match self.record(&name) {
            // A store with something else in the place of the host's own folder has no records.
            Err(FsError::SymbolicLink | FsError::NotDirectory | FsError::IsDirectory | FsError::NotRegular) => None,
            record => record?,
        };
        Ok(record.and_then(|record| record.opens).unwrap_or(name))
    }

    /// Returns the record of the project of this name; `None` if it has none.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    pub fn record(&mut self, name: &str) -> Result<Option<ProjectRecord>, FsError> {
        let op = FsOp::Read { path: record_path(name)?, offset: 0, max_bytes: MAX_RECORD_BYTES };
        match self.store.perform(&op)? {
            FsOutcome::Read(ReadOutcome::Content(content)) => Ok(decode(name, &content.bytes)),
            _ => Ok(None),
        }
    }

    /// Returns the projects that have memory or a record, by name.
    ///
    /// # Errors
    ///
    /// The store cannot be listed.
    pub fn all(&mut self) -> Result<Vec<ProjectRecord>, FsError> {
        let own = RelPath::new(format!("{STATE_FOLDER}/{RECORDS_FOLDER}")).map_err(invalid)?;
        let recorded = self.names(&own, EntryKind::File)?;
        let mut names: Vec<String> =
            recorded.iter().filter_map(|name| Some(name.strip_suffix(".json")?.to_string())).collect();
        names.extend(self.names(&RelPath::new(PROJECTS_FOLDER).map_err(invalid)?, EntryKind::Directory)?);
        names.retain(|name| is_name(name));
        names.sort_unstable();
        names.dedup();
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let record = self.record(&name)?;
            found.push(record.unwrap_or_else(|| ProjectRecord { name, ..ProjectRecord::default() }));
        }
        Ok(found)
    }

    /// Records the folder of a project that has memory, unless the record says so already.
    ///
    /// # Errors
    ///
    /// The record cannot be written.
    pub fn note(&mut self, folder: &Path) -> Result<(), FsError> {
        let root = project_root(folder);
        let name = project_slug(&root).to_string();
        let known = self.record(&name)?;
        let path = root.to_string_lossy().into_owned();
        if known.as_ref().is_some_and(|known| known.path.as_deref() == Some(&path)) || !self.has_folder(&name)? {
            return Ok(());
        }
        let opens = known.and_then(|known| known.opens);
        self.write(&ProjectRecord { name, path: Some(path), opens, traits: project_traits(&root) })
    }

    /// Returns the projects with memory that have something in common with the project of this folder, the most similar
    /// first. Empty if a person has linked the folder.
    ///
    /// # Errors
    ///
    /// The store cannot be listed.
    pub fn similar(&mut self, folder: &Path) -> Result<Vec<SimilarProject>, FsError> {
        let root = project_root(folder);
        let name = project_slug(&root).to_string();
        let all = self.all()?;
        if all.iter().any(|record| record.name == name && record.opens.is_some()) {
            return Ok(Vec::new());
        }
        let traits = project_traits(&root);
        let mut similar = Vec::new();
        for record in all.into_iter().filter(|record| record.name != name && record.opens.is_none()) {
            let Some(similarity) = similarity(&name, &traits, &record) else { continue };
            if self.has_notes(&record.name)? {
                similar.push(SimilarProject { record, similarity });
            }
        }
        similar.sort_by_key(|similar| similar.similarity as u8);
        Ok(similar)
    }

    /// Returns true if the project has at least one file of memory.
    ///
    /// # Errors
    ///
    /// A folder of the project cannot be listed.
    pub fn has_notes(&mut self, name: &str) -> Result<bool, FsError> {
        self.has_note_outside(name, None)
    }

    /// Returns true if the project has at least one file of memory besides the notes of sessions, which clients leave
    /// in any folder.
    ///
    /// # Errors
    ///
    /// A folder of the project cannot be listed.
    pub fn has_notes_besides_sessions(&mut self, name: &str) -> Result<bool, FsError> {
        self.has_note_outside(name, Some(store::SESSIONS_FOLDER))
    }

    fn has_note_outside(&mut self, name: &str, ignored: Option<&str>) -> Result<bool, FsError> {
        let project = project_folder(name)?;
        let ignored = ignored.map(|below| format!("{project}/{below}"));
        let is_ignored =
            |path: &RelPath| path.file_name().starts_with('.') || ignored.as_deref() == Some(path.as_str());
        let mut folders = vec![project];
        for _ in 0..MAX_FOLDERS {
            let Some(folder) = folders.pop() else { return Ok(false) };
            for entry in self.list(&folder)? {
                match entry.kind {
                    EntryKind::File if entry.path.as_str().ends_with(".md") && entry.size > 0 => return Ok(true),
                    EntryKind::Directory if !is_ignored(&entry.path) => folders.push(entry.path),
                    _ => {}
                }
            }
        }
        // An empty project does not have so many folders.
        Ok(true)
    }

    /// Lets a folder open the memory of the project of this name, or its own again if there is no name.
    ///
    /// # Errors
    ///
    /// The record cannot be read or written.
    pub fn link(&mut self, folder: &Path, opens: Option<&str>) -> Result<(), FsError> {
        let root = project_root(folder);
        let name = project_slug(&root).to_string();
        let opens = match opens {
            // Of a folder that is linked itself, the memory that it opens is meant.
            Some(other) => {
                Some(self.record(other)?.and_then(|record| record.opens).unwrap_or_else(|| other.to_string()))
            }
            None => None,
        };
        let opens = opens.filter(|opens| *opens != name);
        let path = Some(root.to_string_lossy().into_owned());
        self.write(&ProjectRecord { name, path, opens, traits: project_traits(&root) })
    }

    /// Gives the memory of the project of this name to the folder, which must not have memory yet. The states and
    /// notes of sessions that were opened in the folder become part of that memory. Folders that are linked to it follow.
    ///
    /// # Errors
    ///
    /// Its folder or a record cannot be changed.
    pub fn take(&mut self, folder: &Path, name: &str) -> Result<RenameOutcome, FsError> {
        let root = project_root(folder);
        let own = project_slug(&root).to_string();
        if !self.has_folder(name)? {
            return Ok(RenameOutcome::Absent);
        }
        let (from, to) = (project_folder(name)?, project_folder(&own)?);
        if self.has_folder(&own)? && !self.empty_into(&to, &from)? {
            return Ok(RenameOutcome::Exists);
        }
        // Entries name both projects until the memory is moved, so that a run that is cut short takes none of them away.
        self.rename_in_entries(name, &own, true)?;
        let moved = self.store.move_folder(&from, &to)?;
        if moved != RenameOutcome::Done {
            return Ok(moved);
        }
        self.rename_in_entries(name, &own, false)?;
        let path = Some(root.to_string_lossy().into_owned());
        let record = ProjectRecord { name: own.clone(), path, opens: None, traits: project_traits(&root) };
        self.write(&record)?;
        for linked in self.all()? {
            if linked.opens.as_deref() == Some(name) {
                self.write(&ProjectRecord { opens: Some(own.clone()), ..linked })?;
            }
        }
        let op = FsOp::remove(record_path(name)?, Precondition::Any);
        self.store.perform(&op).map(|outcome| {
            debug_assert_eq!(outcome, FsOutcome::Remove(RemoveOutcome::Done));
            RenameOutcome::Done
        })
    }

    /// Gives a project another name in the entries that go only into its prompts, whoever owns them, and in their backups.
    fn rename_in_entries(&mut self, from: &str, to: &str, keeps: bool) -> Result<(), FsError> {
        let mut folders = Vec::new();
        for owners in [AGENTS_FOLDER, WORKSPACES_FOLDER] {
            for owner in self.names(&RelPath::new(owners).map_err(invalid)?, EntryKind::Directory)? {
                folders.push(RelPath::new(format!("{owners}/{owner}/{ENTRIES_FOLDER}")).map_err(invalid)?);
            }
        }
        while let Some(folder) = folders.pop() {
            for entry in self.list(&folder)? {
                match entry.kind {
                    EntryKind::Directory => folders.push(entry.path),
                    EntryKind::File if [".md", ".bak"].iter().any(|end| entry.path.as_str().ends_with(end)) => {
                        self.rename_in_entry(&entry.path, from, to, keeps)
                            .map_err(|error| FsError::Other(format!("{}: {error}", entry.path)))?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn rename_in_entry(&mut self, path: &RelPath, from: &str, to: &str, keeps: bool) -> Result<(), FsError> {
        for _ in 0..MAX_ATTEMPTS {
            let op = FsOp::Read { path: path.clone(), offset: 0, max_bytes: MAX_ENTRY_BYTES };
            let FsOutcome::Read(ReadOutcome::Content(found)) = self.store.perform(&op)? else { return Ok(()) };
            let text = std::str::from_utf8(&found.bytes).ok().filter(|text| text.len() as u64 == found.size);
            // A file that is not an entry is in no prompt.
            let Some(renamed) = text.and_then(|text| with_project_renamed(text, from, to, keeps)) else {
                return Ok(());
            };
            let op = FsOp::write(path.clone(), renamed.into_bytes(), Precondition::Matches(found.version));
            if !matches!(self.store.perform(&op)?, FsOutcome::Write(WriteOutcome::Stale(_))) {
                return Ok(());
            }
        }
        Err(FsError::Other("it was changed by others each time; try again".into()))
    }

    /// Moves the states and the notes of sessions from one folder of a project into another, and removes the rest of the
    /// folder. Returns false, without a change, if the folder has a file that is neither such a file nor part of the index.
    fn empty_into(&mut self, folder: &RelPath, other: &RelPath) -> Result<bool, FsError> {
        let mut folders = vec![folder.clone()];
        let (mut sessions, mut notes, mut index, mut history) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(listed) = folders.get(at).cloned() {
            at += 1;
            let parent = listed.as_str().strip_prefix(folder.as_str()).unwrap_or_default().trim_start_matches('/');
            for entry in self.list(&listed)? {
                match (entry.kind, parent) {
                    (EntryKind::Directory, _) if folders.len() < MAX_FOLDERS => folders.push(entry.path),
                    (EntryKind::File, SESSIONS_FOLDER) if entry.size <= u64::from(MAX_SESSION_BYTES) => {
                        sessions.push(entry.path);
                    }
                    (EntryKind::File, store::SESSIONS_FOLDER) => notes.push(entry.path),
                    (EntryKind::File, INDEX_FOLDER) => index.push(entry.path),
                    // The lines of both histories are kept. Their paths are relative to the project.
                    (EntryKind::File, parent) if parent.starts_with(HISTORY_FOLDER) => history.push(entry.path),
                    _ => return Ok(false),
                }
            }
        }
        for session in sessions {
            let to = RelPath::new(format!("{other}/{SESSIONS_FOLDER}/{}", session.file_name())).map_err(invalid)?;
            self.move_session(session, to)?;
        }
        for note in notes {
            self.move_session_note(&note, other)?;
        }
        for path in history {
            let below = path.as_str().strip_prefix(folder.as_str()).unwrap_or_default();
            let to = RelPath::new(format!("{other}{below}")).map_err(invalid)?;
            self.move_session(path, to)?;
        }
        for path in index {
            self.store.perform(&FsOp::remove(path, Precondition::Any))?;
        }
        for path in folders.into_iter().rev() {
            self.store.perform(&FsOp::RemoveDirectory { path })?;
        }
        Ok(true)
    }

    /// Moves the note of a session. If the name is taken, the note gets another one.
    fn move_session_note(&mut self, path: &RelPath, other: &RelPath) -> Result<(), FsError> {
        let (stem, suffix) = path.file_name().rsplit_once('.').unwrap_or((path.file_name(), ""));
        for number in 1..=MAX_ATTEMPTS {
            let name = if number == 1 { path.file_name().into() } else { format!("{stem}-{number}.{suffix}") };
            let to = RelPath::new(format!("{other}/{}/{name}", store::SESSIONS_FOLDER)).map_err(invalid)?;
            let rename = FsOp::Rename { path: path.clone(), to, precondition: Precondition::Any };
            if self.store.perform(&rename)? != FsOutcome::Rename(RenameOutcome::Exists) {
                return Ok(());
            }
        }
        Err(FsError::Other(format!("{MAX_ATTEMPTS} names for {} are taken", path.file_name())))
    }

    /// Moves the state of a session. A session that was in both projects has the lines of both afterwards.
    fn move_session(&mut self, path: RelPath, to: RelPath) -> Result<(), FsError> {
        let rename = FsOp::Rename { path: path.clone(), to: to.clone(), precondition: Precondition::Any };
        if self.store.perform(&rename)? != FsOutcome::Rename(RenameOutcome::Exists) {
            return Ok(());
        }
        let read = FsOp::Read { path: path.clone(), offset: 0, max_bytes: MAX_SESSION_BYTES };
        let FsOutcome::Read(ReadOutcome::Content(content)) = self.store.perform(&read)? else { return Ok(()) };
        let precondition = Precondition::Any;
        self.store.perform(&FsOp::append(to, content.bytes, true, precondition))?;
        let precondition = Precondition::Matches(content.version);
        self.store.perform(&FsOp::remove(path, precondition)).map(drop)
    }

    /// Returns true if the project has a folder in the store that is not empty.
    fn has_folder(&mut self, name: &str) -> Result<bool, FsError> {
        let op = FsOp::ListDirectory { folder: Some(project_folder(name)?), after: None, limit: 1, unless: None };
        let listed = self.store.perform(&op)?;
        Ok(matches!(listed, FsOutcome::ListDirectory(ListOutcome::Page(page)) if !page.entries.is_empty()))
    }

    fn write(&mut self, record: &ProjectRecord) -> Result<(), FsError> {
        let op = FsOp::write(record_path(&record.name)?, encode(record).into_bytes(), Precondition::Any);
        self.store.perform(&op).map(drop)
    }

    fn names(&mut self, folder: &RelPath, kind: EntryKind) -> Result<Vec<String>, FsError> {
        let entries = self.list(folder)?;
        let wanted = entries.into_iter().filter(|entry| entry.kind == kind);
        Ok(wanted.map(|entry| entry.path.file_name().to_string()).collect())
    }

    fn list(&mut self, folder: &RelPath) -> Result<Vec<saddlebag::protocol::Entry>, FsError> {
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let op = FsOp::ListDirectory { folder: Some(folder.clone()), after, limit: PAGE, unless: None };
            let FsOutcome::ListDirectory(ListOutcome::Page(page)) = self.store.perform(&op)? else {
                return Ok(entries);
            };
            entries.extend(page.entries);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(entries),
            }
        }
    }
}

fn similarity(name: &str, traits: &ProjectTraits, other: &ProjectRecord) -> Option<Similarity> {
    let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    // The end of a name is a digest of the whole path.
    let stem = |name: &str| name.rsplit_once('-').map(|(stem, _)| stem.to_string());
    if is_same(&traits.remote, &other.traits.remote) {
        Some(Similarity::Remote)
    } else if is_same(&traits.first_commit, &other.traits.first_commit) {
        Some(Similarity::FirstCommit)
    } else {
        is_same(&stem(name), &stem(&other.name)).then_some(Similarity::Name)
    }
}

/// Returns true if it is the name of a project. Records and folders may have been put there by anyone.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

fn record_path(name: &str) -> Result<RelPath, FsError> {
    RelPath::new(format!("{STATE_FOLDER}/{RECORDS_FOLDER}/{name}.json")).map_err(invalid)
}

fn project_folder(name: &str) -> Result<RelPath, FsError> {
    RelPath::new(format!("{PROJECTS_FOLDER}/{name}")).map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> FsError {
    FsError::InvalidPath(error.to_string())
}

fn encode(record: &ProjectRecord) -> String {
    let ProjectRecord { path, opens, traits: ProjectTraits { remote, first_commit }, .. } = record;
    let fields = [("path", path), ("opens", opens), ("remote", remote), ("first_commit", first_commit)];
    let given = fields.into_iter().filter_map(|(key, value)| Some((key.to_string(), value.clone()?.into())));
    let object: Map<String, Value> = given.collect();
    format!("{}\n", Value::Object(object))
}

/// Returns the record; `None` for text that is not one, which counts as no record.
fn decode(name: &str, bytes: &[u8]) -> Option<ProjectRecord> {
    let fields: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_string);
    let traits = ProjectTraits { remote: text("remote"), first_commit: text("first_commit") };
    Some(ProjectRecord {
        name: name.to_string(),
        path: text("path"),
        opens: text("opens").filter(|name| is_name(name)),
        traits,
    })
}

/// Returns the folder that a record names, if it still exists.
pub fn recorded_folder(record: &ProjectRecord) -> Option<PathBuf> {
    record.path.as_ref().map(PathBuf::from).filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_dir::{LocalDir, LocalDirOptions};

    #[test]
    fn only_the_folder_of_the_notes_of_sessions_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        let mut store = OpenStore::Folder(Box::new(LocalDir::open(root.path(), LocalDirOptions::default()).unwrap()));
        for (folder, expected) in [("sessions", false), ("facts/sessions", true)] {
            let below = root.path().join("projects/tax").join(folder);
            std::fs::create_dir_all(&below).unwrap();
            std::fs::write(below.join("a.md"), "x").unwrap();
            let mut projects = Projects::new(&mut store);
            assert!(projects.has_notes("tax").unwrap());
            assert_eq!(projects.has_notes_besides_sessions("tax").unwrap(), expected, "{folder}");
        }
    }
}
