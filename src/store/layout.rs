//! [`Layout`]: paths of the files and folders of a store.
//!
//! ```text
//! <root>/
//! ├── MEMORY.md                  long-term memory, shared by all projects
//! └── projects/<slug>/           one project; without a project scope, the root itself
//!    ├── MEMORY.md              long-term memory of the project
//!    ├── SCRATCHPAD.md
//!    ├── daily/2026-05-30.md
//!    ├── notes/<name>.md
//!    ├── facts/<slug>.md, decisions/<slug>.md
//!    └── templates/, .zk/config.toml
//! ```

use sha2::{Digest, Sha256};

use super::entries::{AGENTS_FOLDER, ENTRIES_FOLDER, WORKSPACES_FOLDER};
use super::folded::{self, folded_name, is_hidden, is_name};
use super::{Date, NOTE_SUFFIX, NoteName, PathError, ProjectSlug, RelPath};
use saddlebag_collections::prelude::*;

/// File of long-term memory.
pub const LONG_TERM_FILE: &str = "MEMORY.md";
/// File of the scratchpad.
pub const SCRATCHPAD_FILE: &str = "SCRATCHPAD.md";
/// Folder of the daily logs.
pub const DAILY_FOLDER: &str = "daily";
/// Folder of the notes.
pub const NOTES_FOLDER: &str = "notes";
/// Folder of the facts.
pub const FACTS_FOLDER: &str = "facts";
/// Folder of the decisions.
pub const DECISIONS_FOLDER: &str = "decisions";
/// Folder of the notes about sessions.
pub const SESSIONS_FOLDER: &str = "sessions";
/// Folder of the states of sessions, in the hidden folder of a scope, and the extension of their files.
pub(crate) const SESSION_STATES: &str = ".saddlebag/sessions";
pub(crate) const SESSION_STATE_SUFFIX: &str = ".jsonl";
/// Folder of the templates of new notes.
pub const TEMPLATES_FOLDER: &str = "templates";
/// Folder that makes its parent a notebook, as in zk.
pub const ZK_FOLDER: &str = ".zk";
/// Folders of other scopes, which a notebook in the root does not contain.
pub const SCOPE_FOLDERS: [&str; 3] = [PROJECTS_FOLDER, AGENTS_FOLDER, WORKSPACES_FOLDER];

/// Patterns of the folders in which the root of a store has the memory of its scopes. What is directly in `projects/` is
/// nobody's memory but a note.
pub(crate) const SCOPE_PATTERNS: [&str; 3] = ["projects/*/**/*", "agents/*/**/*", "workspaces/*/**/*"];
/// Folder of the projects.
pub const PROJECTS_FOLDER: &str = "projects";
/// Name of the project whose notes every project reads: those that the user keeps for all projects. Its folder is
/// `projects/user`.
pub const USER_FOLDER: &str = "user";
/// Extension of a backup, instead of `md`.
const BACKUP_SUFFIX: &str = ".bak";
/// Folder of the host and of the component, in the root or in a project. It holds what no editor should show.
pub(super) const STATE_FOLDER: &str = ".saddlebag";
/// File with the values that a person rejected for good, in [`STATE_FOLDER`] of the root.
const REJECTED_FILE: &str = "rejected.log";
/// Folder of the backups of notes of the root, in [`STATE_FOLDER`].
const BACKUPS_FOLDER: &str = "backups";
/// Folder of the index, in [`STATE_FOLDER`].
const INDEX_FOLDER: &str = "index";
/// Number of bytes that the backup keeps of a name that is too long for an extension.
const KEPT_NAME_BYTES: usize = 200;

/// File that long-term memory is written to in a project. Both files are read by every memory of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongTermScope {
    /// `MEMORY.md` of the root, which is in the block of all projects.
    #[default]
    Shared,
    /// `MEMORY.md` of the project, which no other project reads.
    Project,
}

/// Paths of one scope. Every rule about the place of a file is here.
#[derive(Clone, Debug)]
pub struct Layout {
    shared_long_term: RelPath,
    project_long_term: Option<RelPath>,
    long_term_scope: LongTermScope,
    scratchpad: RelPath,
    daily: RelPath,
    notes: RelPath,
    project: Option<RelPath>,
    user: Option<RelPath>,
}

impl Layout {
    /// Creates the layout of a project, or of the root as one notebook. Long-term memory is the shared file.
    ///
    /// # Errors
    ///
    /// A path is invalid, which cannot happen for a slug that [`ProjectSlug`] accepts.
    pub fn new(project: Option<&ProjectSlug>) -> Result<Self, PathError> {
        let folder = project.map(|slug| RelPath::new(format!("{PROJECTS_FOLDER}/{slug}"))).transpose()?;
        let below = |name: &str| folder.as_ref().map_or_else(|| RelPath::new(name), |folder| folder.join(name));
        let user = RelPath::new(format!("{PROJECTS_FOLDER}/{USER_FOLDER}"))?;
        let is_user = folder.as_ref() == Some(&user);
        // The long-term memory for all projects is the shared file.
        let own = folder.as_ref().filter(|_| !is_user);
        Ok(Self {
            shared_long_term: RelPath::new(LONG_TERM_FILE)?,
            project_long_term: own.map(|folder| folder.join(LONG_TERM_FILE)).transpose()?,
            long_term_scope: LongTermScope::Shared,
            scratchpad: below(SCRATCHPAD_FILE)?,
            daily: below(DAILY_FOLDER)?,
            notes: below(NOTES_FOLDER)?,
            user: own.map(|_| user),
            project: folder,
        })
    }

    /// Creates the layout of the notes for all projects.
    ///
    /// # Errors
    ///
    /// None in practice: the path is valid.
    pub(crate) fn of_user() -> Result<Self, PathError> {
        Self::new(USER_FOLDER.parse().ok().as_ref())
    }

    /// Returns the same paths with another file of long-term memory. Without a project there is only one.
    pub fn with_long_term(self, long_term_scope: LongTermScope) -> Self {
        Self { long_term_scope, ..self }
    }

    /// Returns the layout for a copy of an index in another folder than that of the notebook.
    pub(crate) fn in_folder(self, folder: RelPath) -> Self {
        Self { project: Some(folder), ..self }
    }

    /// Returns true if a folder belongs to another scope: to a project under `projects/`, or to the entries of an
    /// agent or a workspace. The eight hexadecimal digits of a slug distinguish a project from a folder of notes. All
    /// spellings count that some file system accepts for such a folder.
    pub fn is_other_memory(folder: &RelPath) -> bool {
        if !Self::is_of_scopes(folder) {
            return false;
        }
        let mut segments = folder.segments().filter(|segment| !folded_name(segment).is_empty());
        match (segments.next(), segments.next(), segments.next(), segments.next()) {
            (Some(projects), Some(slug), None, None) => is_name(projects, PROJECTS_FOLDER) && may_be_slug(slug),
            (Some(owners), Some(_), Some(entries), None) => {
                let is_of_owners = is_name(owners, AGENTS_FOLDER) || is_name(owners, WORKSPACES_FOLDER);
                is_of_owners && is_name(entries, ENTRIES_FOLDER)
            }
            _ => false,
        }
    }

    /// Returns true for a folder of `projects/` whose name is not that of a project: it may have someone's notes.
    pub(crate) fn may_be_of_notes(folder: &RelPath) -> bool {
        let segments: alloc::vec::Vec<&str> = folder.segments().take(3).collect();
        matches!(segments.as_slice(), [PROJECTS_FOLDER, name] if *name != USER_FOLDER) && !Self::is_other_memory(folder)
    }

    /// Returns true if a path begins with a folder that may have the memory of other scopes, in any spelling.
    pub(crate) fn is_of_scopes(path: &RelPath) -> bool {
        let first = path.segments().find(|segment| !folded_name(segment).is_empty());
        first.is_some_and(|first| SCOPE_FOLDERS.into_iter().any(|folder| is_name(first, folder)))
    }

    /// Returns true if a folder counts as another scope's although it is spelt differently. On a file system that
    /// distinguishes the spellings, it may contain someone's notes.
    pub fn is_alias_of_other_memory(folder: &RelPath) -> bool {
        let segments: alloc::vec::Vec<&str> = folder.segments().take(4).collect();
        let is_as_written = match segments.as_slice() {
            [PROJECTS_FOLDER, slug] => is_slug(slug),
            [_, _, _] => is_below_entries(folder),
            _ => false,
        };
        !is_as_written && Self::is_other_memory(folder)
    }

    /// Returns true for the folder of another scope, and for everything below it.
    pub fn is_in_other_memory(&self, path: &RelPath) -> bool {
        let above = core::iter::successors(Some(path.clone()), RelPath::parent);
        // The project itself and its parents are not another memory.
        above.take_while(|folder| Some(folder) != self.project.as_ref()).any(|folder| Self::is_other_memory(&folder))
    }

    /// Returns the reason why a new note cannot have a path, if there is one: the name is reserved, or counts as a
    /// reserved one on some file system.
    pub fn reserved_for(&self, path: &RelPath) -> Option<&'static str> {
        let is_kept = |kept: &RelPath| folded::is_path(path, kept);
        if is_kept(&self.shared_long_term) || self.project_long_term.as_ref().is_some_and(is_kept) {
            return Some("long-term memory");
        }
        if is_kept(&self.scratchpad) {
            return Some("the scratchpad");
        }
        if path.segments().any(is_hidden) {
            return Some("a hidden file");
        }
        if self.is_in_other_memory(path) {
            return Some("the memory of another project, agent or workspace");
        }
        let name = folded_name(path.file_name());
        name.ends_with(BACKUP_SUFFIX).then_some("a backup")
    }

    /// Returns true if a file belongs to the journal: Markdown directly in the root, the scratchpad, a log, or
    /// Markdown directly in a folder of notes, facts or decisions. All other files belong to the notebook only.
    pub fn is_journal(&self, path: &RelPath) -> bool {
        if !path.as_str().ends_with(NOTE_SUFFIX) {
            return false;
        }
        let Some(folder) = path.parent() else { return true };
        let below_user =
            || self.user.as_ref().and_then(|user| folder.as_str().strip_prefix(user.as_str())?.strip_prefix('/'));
        let below = self.below_notebook(&folder).or_else(below_user).filter(|below| !below.contains('/'));
        let is_folder = |name: &str| below.is_some_and(|below| is_name(below, name));
        folded::is_path(path, &self.scratchpad)
            || self.is_long_term(path)
            || [NOTES_FOLDER, DAILY_FOLDER, FACTS_FOLDER, DECISIONS_FOLDER].into_iter().any(is_folder)
    }

    /// Returns the default file of long-term memory.
    pub fn long_term(&self) -> &RelPath {
        match (self.long_term_scope, &self.project_long_term) {
            (LongTermScope::Project, Some(of_project)) => of_project,
            _ => &self.shared_long_term,
        }
    }

    /// Returns the long-term memory that all projects share.
    pub fn shared_long_term(&self) -> &RelPath {
        &self.shared_long_term
    }

    /// Returns the project's long-term memory; `None` if the root is the notebook.
    pub fn project_long_term(&self) -> Option<&RelPath> {
        self.project_long_term.as_ref()
    }

    /// Returns true for both files of long-term memory.
    pub fn is_long_term(&self, path: &RelPath) -> bool {
        *path == self.shared_long_term || Some(path) == self.project_long_term.as_ref()
    }

    /// Returns true for the files that every block reads by their names: long-term memory and the scratchpad.
    pub fn is_kept(&self, path: &RelPath) -> bool {
        self.is_long_term(path) || *path == self.scratchpad
    }

    /// Returns the folder with the notes for all projects, which this project reads too. `None` for the memory of that folder
    /// and for the root.
    pub fn user_folder(&self) -> Option<&RelPath> {
        self.user.as_ref()
    }

    /// Returns the path relative to the notebook, or to the folder with the notes for all projects, and true for the second.
    /// `None` for a file outside of both. Notes name each other by these paths.
    pub(crate) fn below_any_notebook<'a>(&self, path: &'a str) -> Option<(&'a str, bool)> {
        let below_user = || path.strip_prefix(self.user.as_ref()?.as_str())?.strip_prefix('/');
        self.below_notebook(path).map(|below| (below, false)).or_else(|| Some((below_user()?, true)))
    }

    /// Returns true for a path in the folder with the notes for all projects, which is not this memory's own.
    pub(crate) fn is_of_user(&self, path: &str) -> bool {
        self.user
            .as_ref()
            .is_some_and(|user| path.strip_prefix(user.as_str()).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns true if this memory writes for its project alone, and the file is neither of the project nor an entry.
    /// Entries belong to an agent or a workspace.
    pub fn is_shared_with_other_projects(&self, path: &RelPath) -> bool {
        let is_of_user = self.project_name() == Some(USER_FOLDER);
        let is_for_all = (is_of_user || self.below_notebook(path).is_none()) && !is_below_entries(path);
        self.long_term_scope == LongTermScope::Project && is_for_all
    }

    /// Returns the name of the project; `None` if the root is the notebook.
    pub fn project_name(&self) -> Option<&str> {
        self.project.as_ref().map(RelPath::file_name)
    }

    /// Returns true if commands write for all projects.
    pub(crate) fn writes_for_all_projects(&self) -> bool {
        self.long_term_scope == LongTermScope::Shared
    }

    /// Returns the name of the project if this memory writes for its project alone.
    pub(crate) fn own_project(&self) -> Option<&str> {
        self.project_name().filter(|_| !self.writes_for_all_projects())
    }

    /// Returns the scratchpad of the project.
    pub fn scratchpad(&self) -> &RelPath {
        &self.scratchpad
    }

    /// Returns the folder of the daily logs.
    pub fn daily_folder(&self) -> &RelPath {
        &self.daily
    }

    /// Returns the folder of the notes.
    pub fn notes_folder(&self) -> &RelPath {
        &self.notes
    }

    /// Returns the folder of the project; `None` if the root is the notebook.
    pub fn project_folder(&self) -> Option<&RelPath> {
        self.project.as_ref()
    }

    /// Returns a file or folder of the notebook, by its path relative to the notebook.
    ///
    /// # Errors
    ///
    /// Those of [`RelPath::new`].
    pub fn in_notebook(&self, path: &str) -> Result<RelPath, PathError> {
        match &self.project {
            Some(folder) => RelPath::new(format!("{folder}/{path}")),
            None => RelPath::new(path),
        }
    }

    /// Returns the path relative to the notebook; `None` for a file outside of it.
    pub fn below_notebook<'a>(&self, path: &'a (impl AsRef<str> + ?Sized)) -> Option<&'a str> {
        match &self.project {
            Some(folder) => path.as_ref().strip_prefix(folder.as_str())?.strip_prefix('/'),
            None => Some(path.as_ref()),
        }
    }

    /// Returns the log of one day.
    pub fn daily(&self, date: Date) -> RelPath {
        child(&self.daily, &date.to_string(), NOTE_SUFFIX)
    }

    /// Returns the file of a note.
    pub fn note(&self, name: &NoteName) -> RelPath {
        child(&self.notes, name.as_str(), NOTE_SUFFIX)
    }

    /// Returns the backup of a file: `MEMORY.bak` beside `MEMORY.md`, or `.saddlebag/backups/facts/a.bak` for `facts/a.md`
    /// of the root.
    ///
    /// The root may be a vault or a folder under version control, where a file beside the note would show up. Memory of a
    /// project, entries, and the kept files of the root have their backups beside them. Only the path decides, because one
    /// store may be opened with and without a project.
    pub fn backup_of(path: &RelPath) -> RelPath {
        kept_as(path, BACKUP_SUFFIX)
    }

    /// Returns the file that a backup belongs to. `None` if the path is not that of a backup, or its name was shortened.
    pub fn original_of(backup: &RelPath) -> Option<RelPath> {
        let stem = backup.as_str().strip_suffix(BACKUP_SUFFIX)?;
        let inside = format!("{STATE_FOLDER}/{BACKUPS_FOLDER}/");
        let stem = stem.strip_prefix(&inside).unwrap_or(stem);
        let originals = [format!("{stem}{NOTE_SUFFIX}"), stem.to_string()].map(RelPath::new);
        originals.into_iter().flatten().find(|path| Self::backup_of(path) == *backup)
    }

    /// Returns true for a file in a folder of backups, also one whose name was shortened.
    pub(crate) fn is_backup(path: &RelPath) -> bool {
        let mut segments = path.segments();
        let is_inside = segments.any(|segment| segment == STATE_FOLDER) && segments.next() == Some(BACKUPS_FOLDER);
        is_inside || path.as_str().ends_with(BACKUP_SUFFIX)
    }

    /// Returns true for a file of an index, which is made again if it is missing.
    pub fn is_index(path: &RelPath) -> bool {
        let mut segments = path.segments();
        segments.any(|segment| segment == STATE_FOLDER) && segments.next() == Some(INDEX_FOLDER)
    }

    /// Returns the file with the values that a person rejected for good. The whole store has one.
    ///
    /// # Errors
    ///
    /// None in practice: the path is valid.
    pub fn rejected_log() -> Result<RelPath, PathError> {
        RelPath::new(format!("{STATE_FOLDER}/{REJECTED_FILE}"))
    }

    /// Returns true for a file that is not user data: one in `.saddlebag/` that is not a backup.
    pub fn is_bookkeeping(path: &RelPath) -> bool {
        let mut segments = path.segments();
        segments.any(|segment| segment == STATE_FOLDER) && segments.next() != Some(BACKUPS_FOLDER)
    }
}

/// Returns true for the path, relative to its notebook, of a file in the folder of the notes about sessions.
pub(crate) fn is_of_sessions(below: &str) -> bool {
    is_in_folder(below, SESSIONS_FOLDER)
}

/// Returns true for a path below a folder, both relative to the notebook.
pub(crate) fn is_in_folder(below: &str, folder: &str) -> bool {
    below.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns true for the path, relative to its notebook, of what somebody decided to keep: long-term memory, facts and decisions.
pub(crate) fn is_fact(below: &str) -> bool {
    below == LONG_TERM_FILE || is_in_folder(below, FACTS_FOLDER) || is_in_folder(below, DECISIONS_FOLDER)
}

/// Returns true for the folder of the entries of an agent or a workspace, as we spell it, and for what is below it.
pub(crate) fn is_below_entries(path: &RelPath) -> bool {
    let mut segments = path.segments();
    let above = (segments.next(), segments.next(), segments.next());
    matches!(above, (Some(AGENTS_FOLDER | WORKSPACES_FOLDER), Some(_), Some(ENTRIES_FOLDER)))
}

/// Returns true if a name ends in the eight hexadecimal digits of a slug.
fn is_slug(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// A short name of Windows does not show the slug.
fn may_be_slug(name: &str) -> bool {
    is_slug(&folded_name(name)) || folded::is_short_name(name)
}

/// Returns the file that keeps text of `path`. Every rule about its place is here.
fn kept_as(path: &RelPath, suffix: &str) -> RelPath {
    let mut above = core::iter::successors(path.parent(), RelPath::parent);
    let is_in_project = path.segments().next() == Some(PROJECTS_FOLDER) && path.segments().nth(2).is_some();
    let is_of_root = !is_in_project && !above.any(|folder| Layout::is_other_memory(&folder));
    let is_kept = [LONG_TERM_FILE, SCRATCHPAD_FILE].into_iter().any(|file| is_name(path.as_str(), file));
    let inside = RelPath::new(format!("{STATE_FOLDER}/{BACKUPS_FOLDER}/{path}")).ok();
    let inside = inside.filter(|_| is_of_root && !is_kept);
    beside(inside.as_ref().unwrap_or(path), suffix)
}

/// Returns the same name with another extension. If that is too long for a name, it is shortened and gets a digest of
/// the whole path; otherwise a file would be overwritten by its own backup.
fn beside(path: &RelPath, suffix: &str) -> RelPath {
    let whole = path.as_str();
    let stem = whole.strip_suffix(NOTE_SUFFIX).unwrap_or(whole);
    RelPath::new(format!("{stem}{suffix}")).unwrap_or_else(|_| {
        let digits: String =
            Sha256::digest(whole.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let folder = path.parent().map(|folder| format!("{folder}/")).unwrap_or_default();
        let name = path.file_name();
        let kept = name.get(..name.floor_char_boundary(KEPT_NAME_BYTES)).unwrap_or(name);
        let short = RelPath::new(format!("{folder}{kept}~{digits}{suffix}"));
        // In very deep folders no further name fits, so the digest is the whole name, in the root.
        short.or_else(|_| RelPath::new(format!("~{digits}{suffix}"))).unwrap_or_else(|error| {
            debug_assert!(false, "a broken invariant: a digest is not a name: {error}");
            path.clone()
        })
    })
}

/// Appends a name to a folder. A date or a note name is a safe segment with room for a suffix, so this cannot fail. If
/// it did, the result would be the folder itself, and the operation on it would be refused.
fn child(folder: &RelPath, stem: &str, suffix: &str) -> RelPath {
    let name: String = format!("{stem}{suffix}");
    folder.join(&name).unwrap_or_else(|error| {
        debug_assert!(false, "a broken invariant: {name}: {error}");
        folder.clone()
    })
}

#[cfg(test)]
mod tests {
    use core::str::FromStr as _;

    use super::*;

    #[test]
    fn the_backup_of_a_file_is_another_file_however_long_its_path_is() {
        let deep = format!("{}f.md", "d/".repeat(2_046));
        let nearly = format!("{}f.md", "d/".repeat(2_040));
        let names =
            ["x".repeat(252) + ".md", "x".repeat(250) + ".text", format!("a/{}.md", "é".repeat(126)), deep, nearly];
        let mut all = alloc::collections::BTreeSet::new();
        for name in names {
            let path = RelPath::new(&name).expect("a path");
            let backup = Layout::backup_of(&path);
            assert!(backup.as_str().ends_with(".bak"));
            assert_ne!(backup, path);
            all.insert(backup);
        }
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn backups_of_a_vault_lie_inside_its_hidden_folder() {
        for (path, backup) in [
            ("Plan.md", ".saddlebag/backups/Plan.bak"),
            ("Areas/Home/Plan.md", ".saddlebag/backups/Areas/Home/Plan.bak"),
            ("daily/2026-05-30.md", ".saddlebag/backups/daily/2026-05-30.bak"),
            ("projects/plan.md", ".saddlebag/backups/projects/plan.bak"),
            ("MEMORY.md", "MEMORY.bak"),
            ("SCRATCHPAD.md", "SCRATCHPAD.bak"),
            ("Projects/Boat/plan.md", ".saddlebag/backups/Projects/Boat/plan.bak"),
            ("projects/api-0db23a34/notes/auth.md", "projects/api-0db23a34/notes/auth.bak"),
            ("projects/api/MEMORY.md", "projects/api/MEMORY.bak"),
            ("agents/a/entries/core/k.md", "agents/a/entries/core/k.bak"),
        ] {
            let path = RelPath::new(path).expect("a path");
            let kept = Layout::backup_of(&path);
            assert_eq!(kept.as_str(), backup);
            assert_eq!(Layout::original_of(&kept).as_ref(), Some(&path));
            assert_eq!(Layout::original_of(&path), None);
            assert_eq!([Layout::is_bookkeeping(&path), Layout::is_bookkeeping(&kept)], [false; 2], "{backup}");
        }
        let index = RelPath::new("projects/api-0db23a34/.saddlebag/index/0000").expect("a path");
        assert!(Layout::is_bookkeeping(&index));
    }

    #[test]
    fn a_project_has_its_own_folder_and_shares_long_term_memory() {
        let slug = ProjectSlug::from_str("api-0db23a34").expect("valid");
        let layout = Layout::new(Some(&slug)).expect("valid");
        let date = Date::parse("2026-05-30").expect("valid");
        assert_eq!(layout.long_term().as_str(), "MEMORY.md");
        assert_eq!(layout.scratchpad().as_str(), "projects/api-0db23a34/SCRATCHPAD.md");
        assert_eq!(layout.daily(date).as_str(), "projects/api-0db23a34/daily/2026-05-30.md");
        let note = layout.note(&NoteName::from_str("auth").expect("valid"));
        assert_eq!(Layout::backup_of(&note).as_str(), "projects/api-0db23a34/notes/auth.bak");
        assert_eq!(layout.in_notebook("facts/a.md").as_ref().map(|p| layout.below_notebook(p)), Ok(Some("facts/a.md")));
        assert_eq!(layout.below_notebook(layout.long_term()), None);
        assert!(layout.in_notebook("../b").is_err());
    }

    #[test]
    fn long_term_memory_is_shared_or_of_the_project() {
        let slug = ProjectSlug::from_str("api-0db23a34").expect("valid");
        let layout = Layout::new(Some(&slug)).expect("valid").with_long_term(LongTermScope::Project);
        assert_eq!(layout.long_term().as_str(), "projects/api-0db23a34/MEMORY.md");
        assert_eq!(layout.shared_long_term().as_str(), "MEMORY.md");
        assert!(layout.is_long_term(layout.long_term()) && layout.is_long_term(layout.shared_long_term()));
        assert!(layout.is_journal(layout.long_term()) && layout.is_journal(layout.shared_long_term()));
        assert!(layout.is_shared_with_other_projects(layout.shared_long_term()));
        assert!(!layout.is_shared_with_other_projects(layout.long_term()));

        let root = Layout::new(None).expect("valid").with_long_term(LongTermScope::Project);
        assert_eq!(root.long_term().as_str(), "MEMORY.md");
        assert!(!root.is_shared_with_other_projects(root.long_term()));
    }

    #[test]
    fn the_memory_of_others_is_known_in_every_spelling() {
        let path = |text: &str| RelPath::new(text).expect("a path");
        for folder in [
            "projects/api-0db23a34",
            "Projects/API-0DB23A34",
            "projects/API-0D~1",
            "agents/bob/entries",
            "AGENTS/bob/entries",
            "agents/bob/Entries",
            "Agents./bob/entries ",
            "AGENTS~1/bob/entries",
            "workspaces/w/ENTRIES::$INDEX_ALLOCATION",
            "WORKSP~1/w/entries",
            "agent\u{17f}/bob/entries",
            "agents/.../bob/entries",
        ] {
            assert!(Layout::is_other_memory(&path(folder)), "{folder}");
            let is_as_written = ["projects/api-0db23a34", "agents/bob/entries"].contains(&folder);
            assert_eq!(Layout::is_alias_of_other_memory(&path(folder)), !is_as_written, "{folder}");
        }
        // Folders of notes that a person may well have.
        for folder in
            ["projects", "Projects", "Projects/api", "Agents", "agents/bob", "Agents/bob/notes", "x/agents/b/entries"]
        {
            assert!(!Layout::is_other_memory(&path(folder)), "{folder}");
        }
    }

    #[test]
    fn no_new_note_has_the_name_of_a_kept_file() {
        let path = |text: &str| RelPath::new(text).expect("a path");
        let slug = ProjectSlug::from_str("api-0db23a34").expect("valid");
        let (root, project) = (Layout::new(None).expect("valid"), Layout::new(Some(&slug)).expect("valid"));
        for text in [
            "MEMORY.md",
            "memory.md",
            "Memory.md. ",
            "scratchpad.MD",
            "SCRATC~1.MD",
            ".zk/x.md",
            "facts/.x.md",
            "AGENTS/bob/entries/core/x.md",
            "agents/bob/entries/x/y/z.md",
            "Projects/api-0db23a34/notes/x.md",
            "facts/x.bak",
            "facts/x.BAK",
        ] {
            assert!(root.reserved_for(&path(text)).is_some(), "{text}");
        }
        for text in ["memory-2.md", "facts/memory.md", "Projects/plan.md", "agents/bob.md", "notes/scratchpad.md"] {
            assert_eq!(root.reserved_for(&path(text)), None, "{text}");
        }
        assert_eq!(project.reserved_for(&path("projects/api-0db23a34/facts/x.md")), None);
        assert_eq!(project.reserved_for(&path("projects/api-0db23a34/memory.md")), Some("long-term memory"));
        assert_eq!(project.reserved_for(&path("projects/api-0db23a34/Scratchpad.md")), Some("the scratchpad"));
    }

    #[test]
    fn the_journal_is_known_in_every_spelling() {
        let layout = Layout::new(None).expect("valid");
        for text in ["notes/a.md", "Notes/a.md", "DAILY/2026-05-30.md", "scratchpad.md"] {
            assert!(layout.is_journal(&RelPath::new(text).expect("a path")), "{text}");
        }
        assert!(!layout.is_journal(&RelPath::new("other/a.md").expect("a path")));
    }

    #[test]
    fn without_a_project_the_root_is_the_notebook() {
        let layout = Layout::new(None).expect("valid");
        assert_eq!(layout.scratchpad().as_str(), "SCRATCHPAD.md");
        assert_eq!(layout.notes_folder().as_str(), "notes");
    }

    #[test]
    fn the_longest_name_still_has_a_path_and_a_backup() {
        let layout = Layout::new(None).expect("valid");
        let note = layout.note(&NoteName::from_str(&"x".repeat(251)).expect("valid"));
        assert!(note.as_str().ends_with(".md"));
        assert!(Layout::backup_of(&note).as_str().ends_with(".bak"));
    }
}
