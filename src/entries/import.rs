//! Import of files, byte for byte.
//!
//! A file is parsed as if it were in the store: every file that can be an entry there can be imported. It replaces the
//! entry of its key by a single write. If the import is interrupted, each entry has either its old or its new text.

use saddlebag_collections::{prelude::*, words};

use super::category::Category;
use super::checks::NewEntry;
use super::document::{Claims, Entry, dated};
use super::intake::{Intake, check_category};
use super::removal::{backup_removal, removal_of};
use super::retention::is_expired;
use super::rules::read_entry;
use super::scope::Pool;
use super::screen;
use super::state::EntriesCall;
use super::view::{Stored, look};
use crate::changes::{Backups, Call, File};
use crate::json::word_and_value;
use crate::request::{Run, at_most, request};
use crate::store::{RelPath, utc_text};
use crate::trust::{Provenance, TrustState, approve, mark};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of files in one command.
pub const MAX_IMPORT_FILES: usize = 1_024;

/// Maximum size of all files of one command in bytes.
pub const MAX_IMPORT_BYTES: usize = 4 << 20;

/// Maximum size of an imported file in bytes.
pub const MAX_IMPORT_FILE_BYTES: usize = 262_144;

/// Maximum number of files in one import, over all of its commands.
pub const MAX_IMPORTED: usize = 65_536;

/// Imports files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportEntries {
    /// Files: at most [`MAX_IMPORT_FILES`] with [`MAX_IMPORT_BYTES`] in total.
    pub files: Vec<ImportFile>,
    /// Effect on entries that are not among the files.
    pub mode: ImportMode,
    /// If set, only reports what the import would do.
    pub dry_run: bool,
    /// Results of the previous commands of this import, at most [`MAX_IMPORTED`].
    pub earlier: Vec<ImportedFile>,
}

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFile {
    /// Path of the file at its origin. Its last two names give category and key if the file names neither.
    pub path: String,
    /// Bytes of the file, or the reason why it could not be read. For a file over [`MAX_IMPORT_FILE_BYTES`], one byte
    /// more than the limit is enough.
    pub content: Result<Vec<u8>, String>,
}

/// Mode of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// Adds and updates. An entry that was forgotten after the file was changed stays forgotten.
    Upsert,
    /// Replaces all entries. The files overwrite even forgotten entries; [`RetainEntries`](super::RetainEntries) then forgets the entries that are in
    /// no file.
    Replace,
}

words!(ImportMode, "mode of an import" { Upsert = "upsert", Replace = "replace" });

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportReply {
    /// Results, one per file, in order.
    pub files: Vec<ImportedFile>,
}

/// Result of importing one file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// Path, as the caller gave it.
    pub path: String,
    /// Key of its entry, if it is known.
    pub key: Option<String>,
    /// True if it belongs to the workspace.
    #[serde(skip)]
    pub shared: bool,
    /// True if a live entry with different text, category or tags was replaced or forgotten.
    pub replaces: bool,
    /// Result of the import.
    #[serde(flatten)]
    pub state: ImportState,
}

/// Result of importing one file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum ImportState {
    /// Stored.
    Upserted,
    /// Unchanged: it was stored before.
    Unchanged,
    /// Forgotten: the file is a tombstone.
    Deleted,
    /// Not stored. The value is the reason.
    Rejected(String),
}

word_and_value! {
    ImportState as StateView;
    /// Result of the import.
    state {
        Upserted = "upserted",
        Unchanged = "unchanged",
        Deleted = "deleted",
        Rejected(reason) = "rejected",
    }
    /// Reason, if the state is `rejected`.
    reason: String
}

request!(ImportEntries "import-items" => ImportReply, Removes, |name| {
    let text = Ok(format!("---\ncategory: core\n---\n\nthe text of {name}, imported").into_bytes());
    let file = ImportFile { path: format!("core/{name}.md"), content: text };
    vec![Self { files: vec![file], mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() }]
});

impl Run<EntriesCall<'_>> for ImportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ImportReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        // Provenance to mark the files with; `None` if their own is believed.
        let provenance = screen::of_files(call, with.provenance)?;
        check_sizes(&self)?;
        let view = look(call, entries, scope).await?;
        let mut import = Import::new(Intake::new(call, scope, &view, self.dry_run), &self, provenance);
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            files.push(import.take(file).await?);
        }
        Ok(ImportReply { files })
    }
}

/// Import that one command runs.
struct Import<'a> {
    entries: Intake<'a>,
    provenance: Option<Provenance>,
    mode: ImportMode,
}

/// A file that can be an entry.
struct Given<'a> {
    pool: &'a Pool,
    text: Cow<'a, str>,
    entry: Entry,
    /// Path in the store that its own path gives.
    place: RelPath,
    /// Path where it is written: the path of the existing file of its key, if there is one.
    target: RelPath,
}

/// Reason why a file is not imported, and the key that it names.
struct Rejection {
    key: Option<String>,
    shared: bool,
    reason: String,
}

impl<'a> Import<'a> {
    fn new(mut entries: Intake<'a>, request: &ImportEntries, provenance: Option<Provenance>) -> Self {
        if request.mode == ImportMode::Upsert {
            entries.count_all();
        }
        for file in &request.earlier {
            let Some(key) = file.key.as_deref() else { continue };
            let is_live = entries.live(file.shared, key).is_some();
            let is_counted = match (&file.state, request.mode) {
                (ImportState::Rejected(_), _) => continue,
                (ImportState::Upserted, ImportMode::Upsert) => !is_live,
                (ImportState::Upserted, ImportMode::Replace) => true,
                (_, mode) => is_live && mode == ImportMode::Replace,
            };
            if is_counted {
                entries.count(file.shared);
            }
            entries.claim(file.shared, key, &file.path);
        }
        Self { entries, provenance, mode: request.mode }
    }

    /// Imports a file, or rejects it. An error of the host ends the command.
    async fn take(&mut self, file: &ImportFile) -> Result<ImportedFile, Error> {
        let path = file.path.clone();
        let given = match self.read(file) {
            Ok(given) => given,
            Err(Rejection { key, shared, reason }) => {
                return Ok(ImportedFile { path, key, shared, replaces: false, state: ImportState::Rejected(reason) });
            }
        };
        let (shared, key) = (given.pool.shared, given.entry.fields.key.clone());
        let is_tombstone = given.entry.forgotten.is_some();
        let live = self.entries.live(shared, &key);
        let differs = live.is_some_and(|live| is_tombstone || !given.entry.fields.is_same(&live.entry.fields));
        let stored = match self.screened(given) {
            Ok(given) => match self.store(&given).await {
                // Otherwise the gate refuses a rejected value.
                Ok(ImportState::Upserted) if self.entries.dry_run => {
                    let checked = self.entries.call.check_text(&path, &given.text).await;
                    checked.map(|()| ImportState::Upserted)
                }
                stored => stored,
            },
            Err(error) => Err(error),
        };
        let state = match stored {
            Ok(state) => state,
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => ImportState::Rejected(error.into_message()),
        };
        if !matches!(state, ImportState::Rejected(_)) {
            self.entries.claim(shared, &key, &path);
            let is_new = self.mode == ImportMode::Replace || self.entries.live(shared, &key).is_none();
            if !is_tombstone && is_new {
                self.entries.count(shared);
            }
        }
        let replaces = differs && matches!(state, ImportState::Upserted | ImportState::Deleted);
        Ok(ImportedFile { path, key: Some(key), shared, replaces, state })
    }

    /// Parses a file as the entry of the store that it will be.
    fn read<'f>(&self, file: &'f ImportFile) -> Result<Given<'f>, Rejection>
    where
        'a: 'f,
    {
        let parsed = RelPath::new(file.path.as_str());
        let folder_name = parsed.as_ref().ok().and_then(RelPath::parent);
        let folder_name = folder_name.as_ref().map(RelPath::file_name);
        let is_of_workspace = |name: Option<&str>| name == Some(Category::Workspace.as_str());
        let shared = is_of_workspace(folder_name);
        let own = &self.entries.scope.own;
        // Only agents have folders for categories, so for a file of the workspace this gives the key only.
        let place = parsed.as_ref().ok().and_then(|path| own.folder.place_of(path).ok());
        let key = place.as_ref().and_then(|place| own.folder.names_of(place).1.or_else(|| self.key_of_cut_name(file)));
        let reject = |reason: String| Rejection { key: key.clone(), shared, reason };
        let path = parsed.as_ref().map_err(|error| reject(format!("its path is refused: {error}")))?;
        let bytes = file.content.as_ref().map_err(|reason| reject(reason.clone()))?;
        if bytes.len() > MAX_IMPORT_FILE_BYTES {
            return Err(reject(format!("it has more than {MAX_IMPORT_FILE_BYTES} bytes, which is the limit")));
        }
        let text = core::str::from_utf8(bytes).map_err(|_| reject("it is not UTF-8 text".into()))?;
        let claims = Claims::from_text(text);
        let shared = is_of_workspace(claims.category.as_deref().or(folder_name));
        let reject = |reason: String| Rejection { key: key.clone(), shared, reason };
        let pool = match (shared, &self.entries.scope.shared) {
            (false, _) => own,
            (true, Some(pool)) => pool,
            (true, None) => {
                return Err(reject("it belongs to a workspace, but this memory was opened without one".into()));
            }
        };
        self.check_owner(&claims).map_err(reject)?;
        let now = self.entries.call.now.epoch_nanoseconds();
        let place = pool.folder.place_of(path).map_err(|error| reject(error.to_string()))?;
        let entry = Entry::parse(&pool.folder, &place, text, now, shared).map_err(|problem| Rejection {
            key: problem.key.or(key.clone()),
            shared,
            reason: problem.message,
        })?;
        let fields = &entry.fields;
        let target = pool.folder.file(fields.category.as_str(), &fields.key);
        let target = target.map_err(|error| reject(error.to_string()))?;
        Ok(Given { pool, text: Cow::Borrowed(text), entry, place, target })
    }

    /// Returns the file as it may be stored: checked for secrets and marked with its provenance.
    fn screened<'f>(&self, given: Given<'f>) -> Result<Given<'f>, Error> {
        let Given { pool, text, entry, place, target } = given;
        let known = self.entries.known(pool.shared, &entry.fields.key).map(|stored| &*stored.entry);
        if known.is_some_and(|known| known.version == entry.version) {
            return Ok(Given { pool, text, entry, place, target });
        }
        let given_text = text.into_owned();
        let same = known.filter(|known| known.forgotten.is_none() && entry.fields.is_same(&known.fields));
        let text = screen::imported(self.entries.call, &entry.fields, given_text)?;
        // A repeated import must not count as a change.
        let mut text = dated(text, same.map_or(entry.updated, |known| known.updated));
        if let Some(provenance) = self.provenance {
            // Text that did not change keeps its approval.
            let trust_state = same.map_or(TrustState::new(provenance), |known| known.fields.trust_state);
            let marked = mark(&text, trust_state.provenance).and_then(|text| match trust_state.approved {
                Some(approved) => approve(&text, approved),
                None => Some(text),
            });
            let writer = match same {
                Some(known) => known.fields.writer.clone(),
                None => screen::writer(self.entries.call, &entry.fields)?,
            };
            let signed = marked.and_then(|text| writer.sign(&text));
            text = signed.ok_or_else(|| refused("its provenance cannot be written into its frontmatter".into()))?;
        }
        let now = self.entries.call.now.epoch_nanoseconds();
        let entry =
            Entry::parse(&pool.folder, &place, &text, now, pool.shared).map_err(|problem| refused(problem.message))?;
        Ok(Given { pool, text: Cow::Owned(text), entry, place, target })
    }

    /// Returns the key of a file whose name was cut, so that the name alone is not enough.
    fn key_of_cut_name(&self, file: &ImportFile) -> Option<String> {
        if !file.path.contains('~') {
            return None;
        }
        let file_name = file.path.rsplit('/').next();
        let has_name = |stored: &&Stored| Some(stored.path.file_name()) == file_name;
        self.entries.view.entries.iter().find(has_name).map(|stored| stored.entry.fields.key.clone())
    }

    fn check_owner(&self, claims: &Claims) -> Result<(), String> {
        let own = &self.entries.scope.own.owner;
        if let Some(agent) = claims.agents.iter().find(|agent| *agent != own) {
            return Err(format!("it belongs to the agent `{agent}`, and this memory to `{own}`"));
        }
        match (&claims.workspace, &self.entries.scope.shared) {
            (Some(workspace), Some(pool)) if *workspace != pool.owner => {
                Err(format!("it belongs to the workspace `{workspace}`, and this memory to `{}`", pool.owner))
            }
            (Some(workspace), None) => {
                Err(format!("it belongs to the workspace `{workspace}`, but this memory was opened without one"))
            }
            _ => Ok(()),
        }
    }

    /// Stores an entry, unless a rule refuses it.
    async fn store(&self, given: &Given<'_>) -> Result<ImportState, Error> {
        let Given { pool, entry, .. } = given;
        let fields = &entry.fields;
        if let Some(first) = self.entries.claimed(pool.shared, &fields.key) {
            return Err(refused(format!("{first} has the key `{}` as well", fields.key)));
        }
        let known = self.entries.known(pool.shared, &fields.key);
        if let Some(known) = known.filter(|known| known.entry.version == entry.version) {
            self.remove_copies(given, known).await?;
            return Ok(ImportState::Unchanged);
        }
        self.check(given, known)?;
        let in_place = known.map(|known| &known.path).filter(|path| given.reads_at(path, self.entries.call));
        let in_way = self.in_way(given);
        if let (None, Some(reason)) = (in_place, &in_way) {
            return Err(refused(reason.clone()));
        }
        let done = if entry.forgotten.is_some() { ImportState::Deleted } else { ImportState::Upserted };
        if self.entries.dry_run {
            return Ok(done);
        }
        let call = self.entries.call;
        let replaced = match known.filter(|known| in_place.is_none() && known.path != given.target) {
            Some(known) => removal_of(call, known).await?,
            None => None,
        };
        let first = in_place.unwrap_or(&given.target);
        let state = self.write(given, first, known, done).await?;
        if let Some(known) = known.filter(|known| known.entry.fields.category != fields.category) {
            // The backup is beside the new file. The copy at the old place belongs to no entry any more.
            let _ = call.apply(&backup_removal(pool, &known.entry.fields, false)?).await;
        }
        if let Some(replaced) = replaced {
            call.apply(&replaced).await?;
        }
        if let Some(path) = in_place.filter(|path| path.parent() != given.target.parent() && in_way.is_none()) {
            // If this is interrupted, the entry is complete. At most an extra copy of it is left.
            self.write(given, &given.target, known, ImportState::Upserted).await?;
            self.remove_copy(path, &given.target).await?;
        }
        Ok(state)
    }

    /// Returns the reason why an entry is not imported, judged by its text and the stored entry.
    fn check(&self, given: &Given<'_>, known: Option<&Stored>) -> Result<(), Error> {
        let Given { pool, entry, .. } = given;
        let fields = &entry.fields;
        let now = self.entries.call.now.epoch_nanoseconds();
        NewEntry::from(fields).checked()?;
        check_category(fields)?;
        if entry.forgotten.is_none() && is_expired(&fields.category, entry.updated, now) {
            let updated = utc_text(entry.updated);
            return Err(refused(format!("a daily entry expires after 72 hours, and it was last changed at {updated}")));
        }
        if let Some(known) = known {
            self.check_newer(&known.entry, entry)?;
        }
        let is_counted = self.mode == ImportMode::Upsert && known.is_some_and(|known| known.is_live(now));
        if entry.forgotten.is_none() && !is_counted {
            self.entries.check_room(pool)?;
        }
        Ok(())
    }

    /// Checks that the entry was not forgotten after the file was changed.
    fn check_newer(&self, before: &Entry, given: &Entry) -> Result<(), Error> {
        if self.mode == ImportMode::Replace {
            return Ok(());
        }
        match (before.forgotten, given.forgotten) {
            (Some(forgotten), None) if given.updated <= forgotten || given.fields.is_same(&before.fields) => {
                let forgotten = utc_text(forgotten);
                Err(refused(format!("it was forgotten at {forgotten}; purge it first, or import with `replace`")))
            }
            (None, Some(forgotten)) if forgotten < before.updated => {
                let updated = utc_text(before.updated);
                Err(refused(format!("the file says that it is forgotten, but it was changed after that, at {updated}")))
            }
            _ => Ok(()),
        }
    }

    /// Describes the file at the path of a new file, if it is not of this key.
    fn in_way(&self, given: &Given<'_>) -> Option<String> {
        let shown = self.entries.call.scope.display_path(&given.target);
        let is_there =
            |stored: &&Stored| stored.path == given.target && stored.entry.fields.key != given.entry.fields.key;
        if let Some(other) = self.entries.view.entries.iter().chain(&self.entries.view.outdated).find(is_there) {
            return Some(format!("{shown} has the key `{}`", other.entry.fields.key));
        }
        let is_outdated = self.entries.view.outdated.iter().any(|stored| stored.path == given.target);
        let problem =
            self.entries.view.problems.iter().find(|problem| problem.path == shown).filter(|_| !is_outdated)?;
        Some(format!("{shown} cannot be read as an entry: {}", problem.message))
    }

    async fn write(
        &self,
        given: &Given<'_>,
        path: &RelPath,
        known: Option<&Stored>,
        done: ImportState,
    ) -> Result<ImportState, Error> {
        let change = |file: &File| {
            if let Some(bytes) = file.bytes() {
                let (_, before) = read_entry(self.entries.call, given.pool, path, bytes, &given.entry.fields.key)?;
                if before.version == given.entry.version {
                    return Ok((None, ImportState::Unchanged));
                }
                // An older file of the key, left by an interrupted move, is not in the way.
                if known.is_none_or(|known| known.path == *path) {
                    self.check_newer(&before, &given.entry)?;
                }
            }
            Ok((Some(self.entries.call.screen.write(file, given.text.as_bytes())?), done.clone()))
        };
        let backup = given.pool.backup_of(&given.entry.fields)?;
        self.entries.call.update(path, Backups::KeepAs(&backup), change).await.map(|(state, _)| state)
    }

    /// Removes other files of the key with exactly the same text, which an interrupted import left.
    async fn remove_copies(&self, given: &Given<'_>, known: &Stored) -> Result<(), Error> {
        let key = &given.entry.fields.key;
        let is_copy = |stored: &&Stored| {
            stored.shared == known.shared
                && stored.entry.fields.key == *key
                && stored.entry.version == given.entry.version
        };
        let copies: Vec<&Stored> = self.entries.view.outdated.iter().filter(is_copy).collect();
        if copies.is_empty() || self.entries.dry_run {
            return Ok(());
        }
        let all = || core::iter::once(known).chain(copies.iter().copied());
        let kept = all().find(|stored| stored.path == given.target).unwrap_or(known);
        for copy in all().filter(|stored| stored.path != kept.path) {
            self.remove_copy(&copy.path, &kept.path).await?;
        }
        Ok(())
    }

    /// Removes a file, if another one has exactly the same bytes.
    async fn remove_copy(&self, path: &RelPath, kept: &RelPath) -> Result<(), Error> {
        let call = self.entries.call;
        let kept = call.load(kept).await?;
        let change = |file: &File| Ok((call.screen.remove_copied(file, &kept, <[u8]>::to_vec), ()));
        call.update(path, Backups::Off, change).await.map(|((), _)| ())
    }
}

impl Given<'_> {
    /// Returns true if the file parses to the same entry at another path, which supplies the fields that it lacks.
    fn reads_at(&self, path: &RelPath, call: &Call) -> bool {
        let now = call.now.epoch_nanoseconds();
        let read = Entry::parse(&self.pool.folder, path, &self.text, now, self.pool.shared);
        read.is_ok_and(|read| read.fields == self.entry.fields)
    }
}

fn check_sizes(request: &ImportEntries) -> Result<(), Error> {
    at_most("files of one command", request.files.len(), MAX_IMPORT_FILES)?;
    at_most("files of the import", request.files.len().saturating_add(request.earlier.len()), MAX_IMPORTED)?;
    let sizes = request.files.iter().filter_map(|file| Some(file.content.as_ref().ok()?.len()));
    at_most("bytes of one command", sizes.sum(), MAX_IMPORT_BYTES)
}

fn refused(reason: String) -> Error {
    Error::invalid_argument(reason, "")
}
