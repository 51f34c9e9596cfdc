//! Entries from elsewhere, taken in one by one: nothing is written over that did not come from the same place,
//! and nothing is forgotten.
//!
//! The source of an adopted entry says where it came from and what it said:
//! `import:claude-code ~/.claude/projects/x/memory/role.md:1 #0f1e2d3c4b5a6978`. So a second import knows what is
//! unchanged there, what was changed there and not here, and what both have changed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

use super::Entries;
use super::category::Category;
use super::checks::{MAX_KEY_BYTES, MAX_SOURCE_BYTES, NewEntry};
use super::document::{Entry, Fields};
use super::retention::{is_expired, stamp};
use super::scope::{EntriesScope, Pool};
use super::screen;
use super::view::{EntryProblem, Stored, View, look};
use super::write::{backup_of, internal, read_entry};
use crate::document::{Frontmatter, Note, Value, head, set_field, tail, yaml_scalar};
use crate::engine::{Backups, Call, Change, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;
use crate::store::{RelPath, utc_text};
use crate::trust::{Provenance, Removal, Standing};

/// What daily entries that are too old to be kept as such come in as: a category of its own, which does not expire.
pub const DAILY_LOG: &str = "daily-log";

/// The key of the frontmatter with what an entry is about in one line.
const SUMMARY_FIELD: &str = "summary";

/// The keys that a frontmatter has for the fields of an entry, and for whose it is.
const KNOWN_FIELDS: [&str; 18] = [
    "key",
    "category",
    "tags",
    "created",
    "created_at",
    "updated",
    "updated_at",
    "source",
    "supersedes",
    "forgotten",
    "agent",
    "zombie_id",
    "fleet_id",
    "workspace",
    "owner",
    "provenance",
    "approved",
    SUMMARY_FIELD,
];

/// An entry on its way between Saddlebag and another agent's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignEntry {
    /// Names it.
    pub key: String,
    /// `core`, `daily`, `workspace` or any other.
    pub category: String,
    /// In their order.
    pub tags: Vec<String>,
    /// What it says.
    pub content: String,
    /// What it is about, in one line.
    pub summary: Option<String>,
    /// The key of an entry that it stands in for.
    pub supersedes: Option<String>,
    /// When it was made, in nanoseconds since 1970-01-01T00:00:00Z, if that is known.
    pub created: Option<u64>,
    /// When it was last changed, likewise.
    pub updated: Option<u64>,
    /// When it was forgotten.
    pub forgotten: Option<u64>,
    /// Where it comes from, for people. On the way in only of a format that keeps it.
    pub source: Option<String>,
    /// The file that it is in.
    pub path: String,
    /// Its line there, counted from 1.
    pub line: u32,
    /// Whether it comes from a dump of our own: then its fields count as they are.
    pub is_exact: bool,
    /// Whether its key only says where it stood, so that the same text is the same entry under another.
    pub is_positional: bool,
    /// Where its text comes from. On the way in only of a dump of our own, and only where it is believed.
    pub standing: Standing,
    /// What else its file says, by the names of the frontmatter: on the way out, what no format has a place for.
    pub others: Vec<String>,
}

/// What came of an entry from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangedEntry {
    /// The file that it is in, as it was given.
    pub path: String,
    /// Its line there, counted from 1.
    pub line: u32,
    /// The key that it has here.
    pub key: String,
    /// Whether it is of the workspace.
    pub shared: bool,
    /// Tells what it says from anything else, as the source does.
    pub digest: String,
    /// What was done.
    pub state: ExchangeState,
}

/// What taking an entry in came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExchangeState {
    /// The key is new here.
    Stored,
    /// It was changed there and not here, and is as it is there.
    Updated,
    /// There is nothing new in it.
    Unchanged,
    /// The key it has there says something else here, which stays: it is stored under another key. The text is
    /// the key it has there.
    Renamed(String),
    /// What is here stays, for this reason.
    Kept(String),
    /// It cannot be an entry, for this reason.
    Rejected(String),
}

/// Entries to take in.
pub(crate) struct Adoption<'a> {
    /// The format that they come from, as the source says it.
    pub(crate) format: &'a str,
    /// Where the files are, as the source says it.
    pub(crate) origin: &'a str,
    pub(crate) entries: Vec<ForeignEntry>,
    /// What came of those before, in this import.
    pub(crate) earlier: &'a [ExchangedEntry],
    pub(crate) dry_run: bool,
    /// What they are to be marked as; `None` for imports.
    pub(crate) provenance: Option<Provenance>,
}

/// Every entry that is shown, as something to hand on; with those that are forgotten if they are asked for.
pub(super) async fn dump(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    forgotten: bool,
) -> Result<(Vec<ForeignEntry>, Vec<EntryProblem>), Error> {
    let view = look(call, entries, scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let is_meant = |stored: &&Stored| !stored.is_expired(now) && (forgotten || stored.entry.forgotten.is_none());
    let dumped = view.entries.iter().filter(is_meant).map(|stored| {
        let text = corpus.files.doc(stored.doc).map(|doc| doc.text()).unwrap_or_default();
        let frontmatter = Frontmatter::parse(text);
        let Entry { fields, created, updated, forgotten, .. } = &*stored.entry;
        let is_other = |name: &&String| !KNOWN_FIELDS.contains(&name.as_str());
        ForeignEntry {
            key: fields.key.clone(),
            category: fields.category.as_str().into(),
            tags: fields.tags.clone(),
            content: fields.content.clone(),
            summary: summary_of(&frontmatter),
            supersedes: fields.supersedes.clone(),
            created: Some(*created),
            updated: Some(*updated),
            forgotten: *forgotten,
            source: fields.source.clone(),
            path: call.scope.shown(&stored.path),
            line: 1,
            is_exact: true,
            is_positional: false,
            standing: fields.standing,
            others: frontmatter.entries.iter().map(|(name, _)| name).filter(is_other).cloned().collect(),
        }
    });
    Ok((dumped.collect(), view.problems))
}

/// Takes entries in, or says what would come of it; what came of each, in their order.
pub(super) async fn adopt(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    adoption: Adoption<'_>,
) -> Result<Vec<ExchangedEntry>, Error> {
    let provenance = screen::of_files(call, adoption.provenance)?;
    let view = look(call, entries, scope).await?;
    let mut work = Work::new(call, entries, scope, &view, &adoption);
    let prepared: Vec<Result<Prepared<'_>, String>> =
        adoption.entries.iter().map(|given| work.prepare(given, &adoption, provenance)).collect();
    // What is here already is found first, so that a key that only tells the place is not given to another text.
    let mut found: Vec<Option<String>> = Vec::with_capacity(prepared.len());
    for one in &prepared {
        let known = one.as_ref().ok().and_then(|one| work.find(one));
        if let (Some(key), Ok(one)) = (&known, one) {
            work.claim(one, key);
        }
        found.push(known);
    }
    let mut done = Vec::with_capacity(prepared.len());
    for ((given, one), known) in adoption.entries.iter().zip(&prepared).zip(found) {
        let (key, shared, digest, state) = match (one, known) {
            (Err(reason), _) => (given.key.clone(), false, String::new(), ExchangeState::Rejected(reason.clone())),
            (Ok(one), Some(key)) => (key, one.pool.shared, one.digest.clone(), ExchangeState::Unchanged),
            (Ok(one), None) => {
                let (key, state) = work.take(one).await?;
                (key, one.pool.shared, one.digest.clone(), state)
            }
        };
        done.push(ExchangedEntry { path: given.path.clone(), line: given.line, key, shared, digest, state });
    }
    Ok(done)
}

/// An entry that is within all limits.
struct Prepared<'a> {
    pool: &'a Pool,
    given: &'a ForeignEntry,
    fields: Fields,
    /// `claude-code ~/.claude/projects/x/memory/role.md`, as the source has it.
    origin: String,
    digest: String,
}

struct Work<'a> {
    call: &'a Call,
    entries: &'a Entries,
    scope: &'a EntriesScope,
    view: &'a View,
    dry_run: bool,
    /// The places of the entries in the view, by [`name`].
    known: SortedMap<String, usize>,
    /// The keys of what came from a place and said this, by [`name`] of its [`Mark`].
    marked: SortedMap<String, Vec<String>>,
    /// What each key says that this import has dealt with, by [`name`].
    claimed: SortedMap<String, String>,
    /// How many entries there are or will be: of the agent, and of the workspace.
    live: [u32; 2],
    /// The last moment that was given out, of each.
    newest: [Option<u64>; 2],
}

/// What is to be done with a key.
enum Plan<'a> {
    Store(Option<&'a Stored>),
    Update(&'a Stored),
    Unchanged,
    Keep(String),
    /// It is taken by something else.
    Taken,
}

impl<'a> Work<'a> {
    fn new(
        call: &'a Call,
        entries: &'a Entries,
        scope: &'a EntriesScope,
        view: &'a View,
        adoption: &Adoption<'_>,
    ) -> Self {
        let mut work = Self {
            call,
            entries,
            scope,
            view,
            dry_run: adoption.dry_run,
            known: SortedMap::default(),
            marked: SortedMap::default(),
            claimed: SortedMap::default(),
            live: [0; 2],
            newest: [0; 2].map(|_: u8| None),
        };
        let now = call.now.epoch_nanoseconds();
        for (stored, place) in view.entries.iter().zip(0..) {
            work.known.insert(name(stored.shared, &stored.entry.fields.key), place);
            if !stored.is_live(now) {
                continue;
            }
            work.count(stored.shared);
            if let Some(mark) = stored.entry.fields.source.as_deref().and_then(Mark::of) {
                let keys = work.marked.get_or_insert(name(stored.shared, &mark.text()), Vec::new());
                keys.into_iter().for_each(|keys| keys.push(stored.entry.fields.key.clone()));
            }
        }
        for pool in scope.pools() {
            *work.newest_of(pool.shared) = view.newest(pool);
        }
        for entry in adoption.earlier {
            if matches!(entry.state, ExchangeState::Rejected(_)) {
                continue;
            }
            let name = name(entry.shared, &entry.key);
            // A dry run has stored nothing: what it would have stored takes its place all the same.
            let is_new = matches!(entry.state, ExchangeState::Stored | ExchangeState::Renamed(_));
            if is_new && !work.known.contains_key(&name) {
                work.count(entry.shared);
            }
            work.claimed.insert(name, entry.digest.clone());
        }
        work
    }

    fn count(&mut self, shared: bool) {
        let [own, of_workspace] = &mut self.live;
        let count = if shared { of_workspace } else { own };
        *count = count.saturating_add(1);
    }

    fn newest_of(&mut self, shared: bool) -> &mut Option<u64> {
        let [own, of_workspace] = &mut self.newest;
        if shared { of_workspace } else { own }
    }

    fn known(&self, shared: bool, key: &str) -> Option<&'a Stored> {
        self.view.entries.get(*self.known.get(&name(shared, key))?)
    }

    fn claim(&mut self, one: &Prepared<'_>, key: &str) {
        self.claimed.insert(name(one.pool.shared, key), one.digest.clone());
    }

    fn prepare<'g>(
        &self,
        given: &'g ForeignEntry,
        adoption: &Adoption<'_>,
        provenance: Option<Provenance>,
    ) -> Result<Prepared<'g>, String>
    where
        'a: 'g,
    {
        let now = self.call.now.epoch_nanoseconds();
        let place = place(adoption.format, adoption.origin, &given.path);
        let mut category = given.category.clone();
        let updated = given.updated.or(given.created).unwrap_or(now);
        if category == Category::Daily.as_str() && is_expired(&Category::Daily, updated, now) {
            category = DAILY_LOG.into();
        }
        let digest = digest(&category, &given.tags, &given.content, given.summary.as_deref());
        let source = match given.is_exact {
            true => given.source.clone(),
            false => Some(Mark { origin: &place, line: given.line, digest: &digest }.source()),
        };
        let entry = NewEntry {
            key: given.key.clone(),
            content: given.content.clone(),
            category,
            tags: given.tags.clone(),
            source,
            supersedes: given.supersedes.clone(),
        };
        let mut fields = screen::adopted(self.call, &entry).map_err(|error| error.message)?;
        fields.standing = provenance.map_or(given.standing, Standing::new);
        if fields.category == Category::Conversation {
            return Err("entries of a conversation live in a run alone".into());
        }
        let pool = self.scope.pool(&fields.category).map_err(|error| error.message)?;
        Ok(Prepared { pool, given, fields, origin: place, digest })
    }

    /// The key of what is here and came from the same place with the same text.
    fn find(&self, one: &Prepared<'_>) -> Option<String> {
        let now = self.call.now.epoch_nanoseconds();
        let shared = one.pool.shared;
        let key = &one.fields.key;
        let is_free = |key: &str| !self.claimed.contains_key(&name(shared, key));
        let by_key = self.known(shared, key).filter(|stored| stored.is_live(now));
        if let Some(stored) = by_key
            && is_free(key)
            && (self.says_the_same(stored, one) || one.is_marked(stored))
        {
            return Some(key.clone());
        }
        if !one.given.is_positional {
            return None;
        }
        let mark = Mark { origin: &one.origin, line: 0, digest: &one.digest };
        let keys = self.marked.get(&name(shared, &mark.text()))?;
        keys.iter().find(|key| is_free(key)).or_else(|| keys.first()).cloned()
    }

    fn says_the_same(&self, stored: &Stored, one: &Prepared<'_>) -> bool {
        let supersedes = &one.fields.supersedes;
        one.fields.is_same(&stored.entry.fields)
            && (supersedes.is_none() || *supersedes == stored.entry.fields.supersedes)
    }

    /// Stores an entry under the first key that has room for it.
    async fn take(&mut self, one: &Prepared<'_>) -> Result<(String, ExchangeState), Error> {
        for key in one.keys() {
            let plan = self.plan(one, &key);
            if matches!(plan, Plan::Taken) {
                continue;
            }
            let state = match self.perform(one, &key, plan).await {
                Ok(state) => state,
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                Err(error) => return Ok((key, ExchangeState::Rejected(error.message))),
            };
            self.claim(one, &key);
            return Ok((key, state));
        }
        let reason = format!("`{}` and the keys that would be given in its place say something else", one.fields.key);
        Ok((one.fields.key.clone(), ExchangeState::Rejected(reason)))
    }

    fn plan(&self, one: &Prepared<'_>, key: &str) -> Plan<'a> {
        let now = self.call.now.epoch_nanoseconds();
        if let Some(said) = self.claimed.get(&name(one.pool.shared, key)) {
            return if *said == one.digest { Plan::Unchanged } else { Plan::Taken };
        }
        let Some(stored) = self.known(one.pool.shared, key) else { return Plan::Store(None) };
        let known = &stored.entry;
        if let Some(forgotten) = known.forgotten {
            let forgotten = utc_text(forgotten);
            return Plan::Keep(format!("it was forgotten at {forgotten}; `purge` lets it in again"));
        }
        if !stored.is_live(now) {
            return Plan::Store(Some(stored));
        }
        if self.says_the_same(stored, one) || one.is_marked(stored) {
            return Plan::Unchanged;
        }
        if one.given.is_exact {
            // A dump has no place that it always comes from: of one key, what was made at one moment is one entry.
            return match (one.given.created == Some(known.created), one.given.updated) {
                (true, Some(updated)) if updated > known.updated => Plan::Update(stored),
                (true, _) => Plan::Keep(format!("it was changed here later, at {}", utc_text(known.updated))),
                _ => Plan::Taken,
            };
        }
        let mark = known.fields.source.as_deref().and_then(Mark::of);
        match mark.filter(|mark| mark.origin == one.origin) {
            Some(mark) if mark.digest == self.digest_of(stored) => Plan::Update(stored),
            _ => Plan::Taken,
        }
    }

    async fn perform(&mut self, one: &Prepared<'_>, key: &str, plan: Plan<'a>) -> Result<ExchangeState, Error> {
        let fields = Fields { key: key.into(), ..one.fields.clone() };
        let stored = match plan {
            Plan::Unchanged | Plan::Taken => return Ok(ExchangeState::Unchanged),
            Plan::Keep(reason) => return Ok(ExchangeState::Kept(reason)),
            Plan::Store(stored) => {
                let [own, of_workspace] = self.live;
                let live = if one.pool.shared { of_workspace } else { own };
                if live >= one.pool.cap {
                    let message = format!("there are {live} entries, the limit is {}: 1 too many", one.pool.cap);
                    return Err(Error::new(ErrorCode::TooLarge, message, ""));
                }
                self.count(one.pool.shared);
                stored
            }
            Plan::Update(stored) => Some(stored),
        };
        let state = match plan {
            Plan::Update(_) => ExchangeState::Updated,
            _ if *key == one.fields.key => ExchangeState::Stored,
            _ => ExchangeState::Renamed(one.fields.key.clone()),
        };
        let is_update = matches!(plan, Plan::Update(_));
        let before = stored.filter(|_| is_update).map(|stored| &*stored.entry);
        let entry = self.imported_entry(one, fields, before);
        let category = entry.fields.category.as_str();
        let target = one.pool.folder.file(category, key).map_err(internal)?;
        let stays = stored.filter(|stored| is_update && stored.entry.fields.category == entry.fields.category);
        let path = stays.map_or(&target, |stored| &stored.path);
        if stored.is_none_or(|stored| stored.path != *path) {
            self.check_free(path, key)?;
        }
        if self.dry_run {
            return Ok(state);
        }
        let text = match before.zip(stored) {
            Some((before, stored)) => entry.rewrite(&self.text_of(stored), before),
            None => entry.render(),
        };
        let text = with_summary(text, one.given.summary.as_deref());
        let backup = backup_of(one.pool, &entry.fields)?;
        self.write(one.pool, path, key, text, stored.filter(|stored| stored.path == *path), &backup).await?;
        if let Some(stored) = stored.filter(|stored| stored.path != *path) {
            // One that changed meanwhile stays, and is named as a second file of this key.
            remove_version(&self.call.fs, &stored.path, stored.version.clone(), Removal::OF_COPY).await?;
        }
        Ok(state)
    }

    /// The one place where the fields of an imported entry are made.
    fn imported_entry(&mut self, one: &Prepared<'_>, fields: Fields, before: Option<&Entry>) -> Entry {
        let now = self.call.now.epoch_nanoseconds();
        let newest = self.newest_of(one.pool.shared);
        let given = one.given;
        let stamped = stamp(now, *newest);
        // A clock that is wrong elsewhere is not believed here, except of a dump of our own.
        let known = |moment: Option<u64>| moment.map(|moment| if given.is_exact { moment } else { moment.min(now) });
        let dated = known(given.updated).or(known(given.created));
        let updated = match (dated, before) {
            (Some(updated), Some(before)) if updated <= before.updated => stamped,
            (dated, _) => dated.unwrap_or(stamped),
        };
        if updated == stamped {
            *newest = Some(stamped);
        }
        let created = before.map(|before| before.created).or(known(given.created)).unwrap_or(updated);
        let known = before.map(|before| &before.fields);
        Entry {
            fields: Fields {
                supersedes: fields.supersedes.clone().or_else(|| known.and_then(|known| known.supersedes.clone())),
                ..fields
            },
            owner: Some(one.pool.owner.clone()),
            created,
            updated,
            forgotten: given.forgotten.filter(|_| given.is_exact),
            version: String::new(),
        }
    }

    /// Refuses a place where something stands that is not the entry of this key.
    fn check_free(&self, path: &RelPath, key: &str) -> Result<(), Error> {
        let shown = self.call.scope.shown(path);
        let stands = |stored: &&Stored| stored.path == *path;
        let reason = match self.view.entries.iter().chain(&self.view.outdated).find(stands) {
            Some(other) => Some(format!("it has the key `{}`", other.entry.fields.key)),
            None => self.view.problems.iter().find(|problem| problem.path == shown).map(|found| found.message.clone()),
        };
        let reason = reason.or_else(|| self.view.problem_of(key).map(|problem| problem.message.clone()));
        match reason {
            Some(reason) => Err(Error::invalid_argument(format!("{shown} is in the way: {reason}"), "")),
            None => Ok(()),
        }
    }

    async fn write(
        &self,
        pool: &Pool,
        path: &RelPath,
        key: &str,
        text: String,
        known: Option<&Stored>,
        backup: &RelPath,
    ) -> Result<(), Error> {
        let change = |bytes: Option<&[u8]>| {
            let meanwhile = || {
                let message = format!("{} was changed meanwhile", self.call.scope.shown(path));
                Error::new(ErrorCode::Contention, message, "import again; nothing was changed")
            };
            match (bytes, known) {
                (Some(bytes), _) if bytes == text.as_bytes() => Ok(Change::Keep(())),
                (None, None) => Ok(Change::Write(self.call.screen.file(path, None, text.clone().into_bytes())?, ())),
                (Some(bytes), Some(known)) => {
                    let (_, before) = read_entry(self.call, pool, path, bytes, key)?;
                    if before.version != known.entry.version {
                        return Err(meanwhile());
                    }
                    Ok(Change::Write(self.call.screen.file(path, Some(bytes), text.clone().into_bytes())?, ()))
                }
                _ => Err(meanwhile()),
            }
        };
        let limit = self.call.scope.limits.max_file_bytes;
        update(&self.call.fs, path, limit, Backups::KeepAs(backup), change).await.map(|((), _)| ())
    }

    fn text_of(&self, stored: &Stored) -> String {
        let corpus = self.entries.corpus.borrow();
        corpus.files.doc(stored.doc).map(|doc| doc.text().to_string()).unwrap_or_default()
    }

    fn digest_of(&self, stored: &Stored) -> String {
        let Fields { category, tags, content, .. } = &stored.entry.fields;
        let summary = summary_of(&Frontmatter::parse(&self.text_of(stored)));
        digest(category.as_str(), tags, content, summary.as_deref())
    }
}

impl Prepared<'_> {
    /// Whether what is here came from the same place, where it says the same since.
    fn is_marked(&self, stored: &Stored) -> bool {
        let mark = stored.entry.fields.source.as_deref().and_then(Mark::of);
        mark.is_some_and(|mark| mark.origin == self.origin && mark.digest == self.digest)
    }

    /// The key that it has, one that tells where it is from, and one that tells what it says.
    fn keys(&self) -> [String; 3] {
        let key = &self.fields.key;
        let from = hash(&[&self.origin, key], 4);
        let says = hash(&[&self.origin, key, &self.digest], 4);
        let suffixed = |suffix: String| format!("{}_{suffix}", head(key, MAX_KEY_BYTES - 1 - suffix.len()));
        [key.clone(), suffixed(from), suffixed(says)]
    }
}

/// What the source of an adopted entry says.
struct Mark<'a> {
    origin: &'a str,
    line: u32,
    digest: &'a str,
}

impl<'a> Mark<'a> {
    fn of(source: &'a str) -> Option<Self> {
        let (place, digest) = source.strip_prefix("import:")?.rsplit_once(" #")?;
        let (origin, line) = place.rsplit_once(':')?;
        Some(Self { origin, line: line.parse().ok()?, digest })
    }

    fn source(&self) -> String {
        let Self { origin, line, digest } = self;
        format!("import:{origin}:{line} #{digest}")
    }

    /// The same for two marks that differ in nothing but the line.
    fn text(&self) -> String {
        format!("{} {}", self.digest, self.origin)
    }
}

/// Whether a source is the mark of an import.
pub(crate) fn is_mark(source: &str) -> bool {
    Mark::of(source).is_some()
}

/// The format, and the file below where it comes from; of a long path the end.
fn place(format: &str, origin: &str, path: &str) -> String {
    let separator = if origin.is_empty() || path.is_empty() || origin.ends_with('/') { "" } else { "/" };
    let whole: String = format!("{origin}{separator}{path}");
    let plain: String = whole.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // `import:`, a space, `:4294967295 #` and a digest come on top.
    let room = MAX_SOURCE_BYTES - 7 - format.len() - 1 - 13 - 16;
    if plain.len() <= room {
        return format!("{format} {plain}");
    }
    format!("{format} {}~{}", hash(&[&whole], 4), tail(&plain, room - 9))
}

/// Tells what an entry says from anything else.
fn digest(category: &str, tags: &[String], content: &str, summary: Option<&str>) -> String {
    let count = tags.len().to_string();
    let mut parts: Vec<&str> = [category, content, summary.unwrap_or_default(), &count].to_vec();
    parts.extend(tags.iter().map(String::as_str));
    hash(&parts, 8)
}

/// The first bytes of the SHA-256 of texts, as hexadecimal digits.
pub(crate) fn hash(parts: &[&str], bytes: usize) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

fn summary_of(frontmatter: &Frontmatter) -> Option<String> {
    frontmatter.value(SUMMARY_FIELD).and_then(Value::text).filter(|text| !text.is_empty())
}

fn with_summary(text: String, summary: Option<&str>) -> String {
    let Some(summary) = summary else { return text };
    let note = Note { frontmatter: Frontmatter::parse(&text), ..Note::default() };
    set_field(&text, &note, SUMMARY_FIELD, &yaml_scalar(summary))
}

fn name(shared: bool, key: &str) -> String {
    format!("{}{key}", if shared { 'w' } else { 'a' })
}
