//! Import: files from elsewhere, taken in byte for byte, each by itself.
//!
//! A file is read as if it stood in the store: what can be an entry there can be imported. It replaces what its
//! key said by one write, so an import that is cut short has left each entry old or new.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use saddlebag_words::words;

use super::category::Category;
use super::checks::NewEntry;
use super::document::{Claims, Entry, dated};
use super::intake::{Intake, at_most, check_category};
use super::retention::is_expired;
use super::rules::read_entry;
use super::scope::Pool;
use super::screen;
use super::state::EntriesCall;
use super::view::{Stored, look};
use crate::engine::{Backups, Call, Change, remove, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::store::{RelPath, utc_text};
use crate::trust::{Provenance, Removal, TrustState, approve, mark};

/// How many files one command imports at most.
pub const MAX_IMPORT_FILES: usize = 1_024;

/// How many bytes the files of one command have together at most.
pub const MAX_IMPORT_BYTES: usize = 4 << 20;

/// How large an imported file may be, in bytes.
pub const MAX_IMPORT_FILE_BYTES: usize = 262_144;

/// How many files one import may have, over all of its commands.
pub const MAX_IMPORTED: usize = 65_536;

/// Files to take in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportEntries {
    /// At most [`MAX_IMPORT_FILES`], with [`MAX_IMPORT_BYTES`] together.
    pub files: Vec<ImportFile>,
    /// What they stand for.
    pub mode: ImportMode,
    /// Only says what would come of it.
    pub dry_run: bool,
    /// What came of the files before these, at most [`MAX_IMPORTED`].
    pub earlier: Vec<ImportedFile>,
}

/// A file to take in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFile {
    /// Its path, as it is called where it comes from. The last two names of it stand for category and key where
    /// the file says neither.
    pub path: String,
    /// Its bytes, or why it could not be read. Of one with more than [`MAX_IMPORT_FILE_BYTES`], one more than
    /// those is enough.
    pub content: Result<Vec<u8>, String>,
}

/// What imported files stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// For themselves. What was forgotten later than the file was changed stays forgotten.
    Upsert,
    /// For all that there is to be: they count even against what was forgotten. `Retain` does the rest.
    Replace,
}

words!(ImportMode, "mode of an import" { Upsert = "upsert", Replace = "replace" });

/// What came of importing files.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportReply {
    /// In their order.
    pub files: Vec<ImportedFile>,
}

/// What came of importing a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// As it was given.
    pub path: String,
    /// The key that it stands for, if that can be told.
    pub key: Option<String>,
    /// Whether it is of the workspace.
    #[serde(skip)]
    pub shared: bool,
    /// What came of it.
    #[serde(flatten)]
    pub state: ImportState,
}

/// What importing a file came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum ImportState {
    /// It is stored.
    Upserted,
    /// It was stored before.
    Unchanged,
    /// It says that its key is forgotten, which it is now.
    Deleted,
    /// It is not stored, for this reason.
    Rejected(String),
}

/// The JSON of an [`ImportState`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StateView {
    /// What came of it.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["upserted", "unchanged", "deleted", "rejected"])))]
    state: &'static str,
    /// The reason, where it is `rejected`.
    reason: Option<String>,
}

impl From<ImportState> for StateView {
    fn from(state: ImportState) -> Self {
        let (state, reason) = match state {
            ImportState::Upserted => ("upserted", None),
            ImportState::Unchanged => ("unchanged", None),
            ImportState::Deleted => ("deleted", None),
            ImportState::Rejected(reason) => ("rejected", Some(reason)),
        };
        Self { state, reason }
    }
}

impl Request for ImportEntries {
    type Reply = ImportReply;
    const NAME: &'static str = "import-entries";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        let text = Ok(format!("---\ncategory: core\n---\n\nthe text of {name}, imported").into_bytes());
        let file = ImportFile { path: format!("core/{name}.md"), content: text };
        alloc::vec![Self { files: alloc::vec![file], mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() }]
    }
}

impl Run<EntriesCall<'_>> for ImportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ImportReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        // What the files are marked as; `None` where what they say of themselves is believed.
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

/// One command under way.
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
    /// Where it would stand by its own path.
    place: RelPath,
    /// Its file, unless the key has another one already.
    target: RelPath,
}

/// Why a file is not imported, and what it stands for all the same.
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

    /// Takes a file in, or rejects it. What the host cannot perform ends the command.
    async fn take(&mut self, file: &ImportFile) -> Result<ImportedFile, Error> {
        let path = file.path.clone();
        let given = match self.read(file) {
            Ok(given) => given,
            Err(Rejection { key, shared, reason }) => {
                return Ok(ImportedFile { path, key, shared, state: ImportState::Rejected(reason) });
            }
        };
        let (shared, key) = (given.pool.shared, given.entry.fields.key.clone());
        let is_tombstone = given.entry.forgotten.is_some();
        let stored = match self.screened(given) {
            Ok(given) => self.store(&given).await,
            Err(error) => Err(error),
        };
        let state = match stored {
            Ok(state) => state,
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => ImportState::Rejected(error.message),
        };
        if !matches!(state, ImportState::Rejected(_)) {
            self.entries.claim(shared, &key, &path);
            let is_new = self.mode == ImportMode::Replace || self.entries.live(shared, &key).is_none();
            if !is_tombstone && is_new {
                self.entries.count(shared);
            }
        }
        Ok(ImportedFile { path, key: Some(key), shared, state })
    }

    /// Reads a file as an entry of the store that it is to be.
    fn read<'f>(&self, file: &'f ImportFile) -> Result<Given<'f>, Rejection>
    where
        'a: 'f,
    {
        let parsed = RelPath::parse(file.path.as_str());
        let folder_name = parsed.as_ref().ok().and_then(RelPath::parent);
        let folder_name = folder_name.as_ref().map(RelPath::file_name);
        let is_of_workspace = |name: Option<&str>| name == Some(Category::Workspace.as_str());
        let shared = is_of_workspace(folder_name);
        let own = &self.entries.scope.own;
        // Categories are the folders of an agent, so of a workspace's file this is the key alone as well.
        let place = parsed.as_ref().ok().and_then(|path| own.folder.place_of(path).ok());
        let key = place.as_ref().and_then(|place| own.folder.names_of(place).1.or_else(|| self.key_of_cut_name(file)));
        let reject = |reason: String| Rejection { key: key.clone(), shared, reason };
        let path = parsed.as_ref().map_err(|error| reject(format!("its path is refused: {error}")))?;
        let bytes = file.content.as_ref().map_err(|reason| reject(reason.clone()))?;
        if bytes.len() > MAX_IMPORT_FILE_BYTES {
            return Err(reject(format!("it has more than {MAX_IMPORT_FILE_BYTES} bytes, the limit of a file")));
        }
        let text = core::str::from_utf8(bytes).map_err(|_| reject("it is not UTF-8 text".into()))?;
        let claims = Claims::of(text);
        let shared = is_of_workspace(claims.category.as_deref().or(folder_name));
        let reject = |reason: String| Rejection { key: key.clone(), shared, reason };
        let pool = match (shared, &self.entries.scope.shared) {
            (false, _) => own,
            (true, Some(pool)) => pool,
            (true, None) => return Err(reject("it is of a workspace, and the memory was opened without one".into())),
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

    /// The file as it may be stored: without secrets, and with its provenance.
    fn screened<'f>(&self, given: Given<'f>) -> Result<Given<'f>, Error> {
        let Given { pool, text, entry, place, target } = given;
        let known = self.entries.known(pool.shared, &entry.fields.key).map(|stored| &*stored.entry);
        if known.is_some_and(|known| known.version == entry.version) {
            return Ok(Given { pool, text, entry, place, target });
        }
        let given_text = text.into_owned();
        let same = known.filter(|known| known.forgotten.is_none() && entry.fields.is_same(&known.fields));
        let text = screen::imported(self.entries.call, &entry.fields, given_text)?;
        // The same import again is no change.
        let mut text = dated(text, same.map_or(entry.updated, |known| known.updated));
        if let Some(provenance) = self.provenance {
            // What is known to say the same stays as trusted as it is.
            let trust_state = same.map_or(TrustState::new(provenance), |known| known.fields.trust_state);
            let marked = mark(&text, trust_state.provenance).and_then(|text| match trust_state.approved {
                Some(approved) => approve(&text, approved),
                None => Some(text),
            });
            text = marked.ok_or_else(|| refused("its frontmatter cannot say where it comes from".into()))?;
        }
        let now = self.entries.call.now.epoch_nanoseconds();
        let entry =
            Entry::parse(&pool.folder, &place, &text, now, pool.shared).map_err(|problem| refused(problem.message))?;
        Ok(Given { pool, text: Cow::Owned(text), entry, place, target })
    }

    /// The key whose file has a name that was cut, so that the name alone does not tell.
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
            return Err(format!("it is of the agent `{agent}`, and these are the entries of `{own}`"));
        }
        match (&claims.workspace, &self.entries.scope.shared) {
            (Some(workspace), Some(pool)) if *workspace != pool.owner => {
                Err(format!("it is of the workspace `{workspace}`, and this one is `{}`", pool.owner))
            }
            (Some(workspace), None) => {
                Err(format!("it is of the workspace `{workspace}`, and the memory was opened without one"))
            }
            _ => Ok(()),
        }
    }

    /// Stores what can be an entry, unless that is refused.
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
        let first = in_place.unwrap_or(&given.target);
        let state = self.write(given, first, known, done).await?;
        if let Some(known) = known.filter(|known| known.entry.fields.category != fields.category) {
            // What the entry said is kept beside its new file; the copy here says nothing of any entry.
            let _ = remove(&self.entries.call.fs, &pool.backup_of(&known.entry.fields)?, Removal::OF_COPY).await;
        }
        let Some(known) = known.filter(|known| known.path != given.target) else { return Ok(state) };
        match in_place {
            // Whatever is cut short here has left the entry as it is to be, or a copy of it.
            Some(path) if path.parent() != given.target.parent() && in_way.is_none() => {
                self.write(given, &given.target, Some(known), ImportState::Upserted).await?;
                self.remove_copy(given, path).await?;
            }
            Some(_) => {}
            None => {
                remove_version(&self.entries.call.fs, &known.path, known.version.clone(), Removal::OF_COPY).await?;
            }
        }
        Ok(state)
    }

    /// Why an entry is not imported, by what it says and what there is.
    fn check(&self, given: &Given<'_>, known: Option<&Stored>) -> Result<(), Error> {
        let Given { pool, entry, .. } = given;
        let fields = &entry.fields;
        let now = self.entries.call.now.epoch_nanoseconds();
        NewEntry::from(fields).checked()?;
        check_category(fields)?;
        if entry.forgotten.is_none() && is_expired(&fields.category, entry.updated, now) {
            let updated = utc_text(entry.updated);
            return Err(refused(format!("a daily entry lives 72 hours, and it was last changed at {updated}")));
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

    /// Whether it was forgotten and changed in this order.
    fn check_newer(&self, before: &Entry, given: &Entry) -> Result<(), Error> {
        if self.mode == ImportMode::Replace {
            return Ok(());
        }
        match (before.forgotten, given.forgotten) {
            (Some(forgotten), None) if given.updated <= forgotten || given.fields.is_same(&before.fields) => {
                let forgotten = utc_text(forgotten);
                Err(refused(format!("it was forgotten at {forgotten}: purge it first, or import with `replace`")))
            }
            (None, Some(forgotten)) if forgotten < before.updated => {
                let updated = utc_text(before.updated);
                Err(refused(format!("it is forgotten in the file, and was changed after that, at {updated}")))
            }
            _ => Ok(()),
        }
    }

    /// What stands where a new file would, if it is not of this key.
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
        let change = |bytes: Option<&[u8]>| {
            if let Some(bytes) = bytes {
                let (_, before) = read_entry(self.entries.call, given.pool, path, bytes, &given.entry.fields.key)?;
                if before.version == given.entry.version {
                    return Ok(Change::Keep(ImportState::Unchanged));
                }
                // An older file of the key, as a move that was cut short leaves it, says nothing of this one.
                if known.is_none_or(|known| known.path == *path) {
                    self.check_newer(&before, &given.entry)?;
                }
            }
            let text = self.entries.call.screen.file(path, bytes, given.text.as_bytes().to_vec())?;
            Ok(Change::Write(text, done.clone()))
        };
        let limit = self.entries.call.scope.limits.max_file_bytes;
        let backup = given.pool.backup_of(&given.entry.fields)?;
        update(&self.entries.call.fs, path, limit, Backups::KeepAs(&backup), change).await.map(|(state, _)| state)
    }

    /// Removes the other files of a key that say exactly the same: an import that was cut short left them.
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
            self.remove_copy(given, &copy.path).await?;
        }
        Ok(())
    }

    async fn remove_copy(&self, given: &Given<'_>, path: &RelPath) -> Result<(), Error> {
        let change = |bytes: Option<&[u8]>| {
            let is_copy = bytes == Some(given.text.as_bytes());
            Ok(if is_copy { Change::Remove(Removal::OF_COPY, ()) } else { Change::Keep(()) })
        };
        let limit = self.entries.call.scope.limits.max_file_bytes;
        update(&self.entries.call.fs, path, limit, Backups::Off, change).await.map(|((), _)| ())
    }
}

impl Given<'_> {
    /// Whether the file would say the same at another path: what it does not say is taken from there.
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
