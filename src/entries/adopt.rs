//! Import of entries from other formats. It overwrites only entries that came from the same place, and forgets
//! nothing.
//!
//! The source of an adopted entry records its place and a digest of its text: `import:claude-code
//! ~/.claude/projects/x/memory/role.md:1 #0f1e2d3c4b5a6978`. A second import compares the digest, so it can tell an
//! entry that is unchanged there from one that changed there, here, or on both sides.

use atomic_refcell::AtomicRefCell;

use super::category::{Category, MAX_KEY_BYTES};
use super::checks::NewEntry;
use super::document::{Entry, Fields};
use super::foreign::{Adoption, DAILY_LOG, ExchangeState, ExchangedEntry, ForeignEntry};
use super::intake::{Intake, check_category, name};
use super::mark::{Mark, digest, hash, place, summary_of, with_summary};
use super::removal::removal_of;
use super::retention::{is_expired, stamp};
use super::rules::read_entry;
use super::scope::Pool;
use super::screen;
use super::state::Entries;
use super::view::{Stored, look};
use crate::changes::{Backups, Call, File};
use crate::search::Corpus;
use crate::store::{RelPath, utc_text};
use crate::trust::{Provenance, TrustState};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_markdown::{Frontmatter, head, set_field, yaml_string};
use saddlebag_protocol::{Error, ErrorCode};

/// Imports entries, or reports what an import would do. Returns a result per entry, in order.
pub(crate) async fn adopt(
    call: &Call,
    entries: &Entries,
    adoption: Adoption<'_>,
) -> Result<Vec<ExchangedEntry>, Error> {
    let scope = entries.scope()?;
    let provenance = screen::of_files(call, adoption.provenance)?;
    let view = look(call, entries, scope).await?;
    let mut work = Work::new(Intake::new(call, scope, &view, adoption.dry_run), &entries.corpus, adoption.earlier)?;
    let prepared: Vec<Result<Prepared<'_>, String>> =
        adoption.entries.iter().map(|given| work.prepare(given, &adoption, provenance)).collect();
    // Finds the entries that are here already before it stores any, so that a key that only gives a position is not
    // assigned to other text.
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
    /// Place of the entry as its source has it: `claude-code ~/.claude/projects/x/memory/role.md`.
    origin: String,
    digest: String,
}

struct Work<'a> {
    entries: Intake<'a>,
    /// Index that has the text of the files.
    corpus: &'a AtomicRefCell<Corpus>,
    /// Keys of the entries that came from a place with text, by [`name`] of their [`Mark`].
    marked: SortedMap<String, Vec<String>>,
    /// Latest time that was assigned, for the agent and for the workspace.
    newest: [Option<u64>; 2],
}

/// Action for a key.
enum Plan<'a> {
    Store(Option<&'a Stored>),
    Update(&'a Stored),
    Unchanged,
    Keep(String),
    /// Different text has this key.
    Taken,
}

impl<'a> Work<'a> {
    fn new(
        mut entries: Intake<'a>,
        corpus: &'a AtomicRefCell<Corpus>,
        earlier: &[ExchangedEntry],
    ) -> Result<Self, Error> {
        let now = entries.call.now.epoch_nanoseconds();
        let mut marked: SortedMap<String, Vec<String>> = SortedMap::default();
        for stored in entries.view.entries.iter().filter(|stored| stored.is_live(now)) {
            if let Some(mark) = stored.entry.fields.source.as_deref().and_then(Mark::from_source) {
                let keys = marked.get_or_insert(name(stored.shared, &mark.text()), Vec::new());
                let keys = keys.ok_or_else(|| Error::internal("the mark of an import was added and is not there"))?;
                keys.push(stored.entry.fields.key.clone());
            }
        }
        entries.count_all();
        for entry in earlier {
            if matches!(entry.state, ExchangeState::Rejected(_)) {
                continue;
            }
            // A dry run stores nothing, so the keys that it would use must be reserved here.
            let is_new = matches!(entry.state, ExchangeState::Stored | ExchangeState::Renamed(_));
            if is_new && entries.known(entry.shared, &entry.key).is_none() {
                entries.count(entry.shared);
            }
            entries.claim(entry.shared, &entry.key, &entry.digest);
        }
        let mut work = Self { entries, corpus, marked, newest: [None; 2] };
        for pool in work.entries.scope.pools() {
            *work.newest_of(pool.shared) = work.entries.view.newest(pool);
        }
        Ok(work)
    }

    fn newest_of(&mut self, shared: bool) -> &mut Option<u64> {
        let [own, of_workspace] = &mut self.newest;
        if shared { of_workspace } else { own }
    }

    fn claim(&mut self, one: &Prepared<'_>, key: &str) {
        self.entries.claim(one.pool.shared, key, &one.digest);
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
        let now = self.entries.call.now.epoch_nanoseconds();
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
        let mut fields = screen::adopted(self.entries.call, &entry).map_err(Error::into_message)?;
        fields.trust_state = provenance.map_or(given.trust_state, TrustState::new);
        fields.projects = match (adoption.project, provenance) {
            (Some(project), _) => vec![project.to_string()],
            (None, None) => given.projects.clone(),
            (None, Some(_)) => Vec::new(),
        };
        check_category(&fields).map_err(Error::into_message)?;
        let pool = self.entries.scope.pool(&fields.category).map_err(Error::into_message)?;
        Ok(Prepared { pool, given, fields, origin: place, digest })
    }

    /// Returns the key of the entry that came from the same place with the same text.
    fn find(&self, one: &Prepared<'_>) -> Option<String> {
        let shared = one.pool.shared;
        let key = &one.fields.key;
        let is_free = |key: &str| self.entries.claimed(shared, key).is_none();
        let by_key = self.entries.live(shared, key);
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
        let known = &stored.entry.fields;
        // Text that goes into the prompts of other projects only is not known to this one.
        let is_known_here = one.fields.projects.iter().all(|project| known.only_in(Some(project)).is_empty());
        is_known_here
            && one.fields.is_same(known)
            && (supersedes.is_none() || *supersedes == stored.entry.fields.supersedes)
    }

    /// Stores an entry under the first of its keys that is free.
    async fn take(&mut self, one: &Prepared<'_>) -> Result<(String, ExchangeState), Error> {
        for key in one.keys() {
            let plan = self.plan(one, &key)?;
            if matches!(plan, Plan::Taken) {
                continue;
            }
            let state = match self.perform(one, &key, plan).await {
                Ok(state) => state,
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                Err(error) => return Ok((key, ExchangeState::Rejected(error.into_message()))),
            };
            self.claim(one, &key);
            return Ok((key, state));
        }
        let reason = format!("`{}` and its replacement keys are taken by other entries", one.fields.key);
        Ok((one.fields.key.clone(), ExchangeState::Rejected(reason)))
    }

    fn plan(&self, one: &Prepared<'_>, key: &str) -> Result<Plan<'a>, Error> {
        let now = self.entries.call.now.epoch_nanoseconds();
        if let Some(said) = self.entries.claimed(one.pool.shared, key) {
            return Ok(if said == one.digest { Plan::Unchanged } else { Plan::Taken });
        }
        let Some(stored) = self.entries.known(one.pool.shared, key) else { return Ok(Plan::Store(None)) };
        let known = &stored.entry;
        if let Some(forgotten) = known.forgotten {
            let forgotten = utc_text(forgotten);
            return Ok(Plan::Keep(format!("it was forgotten at {forgotten}; import it again after `forget --purge`")));
        }
        if !stored.is_live(now) {
            return Ok(Plan::Store(Some(stored)));
        }
        if self.says_the_same(stored, one) || one.is_marked(stored) {
            return Ok(Plan::Unchanged);
        }
        if one.given.is_exact {
            // A dump has no fixed place. Two entries with the same key and time of creation are the same entry.
            return Ok(match (one.given.created == Some(known.created), one.given.updated) {
                (true, Some(updated)) if updated > known.updated => Plan::Update(stored),
                (true, _) => Plan::Keep(format!("it was changed here at a later time: {}", utc_text(known.updated))),
                _ => Plan::Taken,
            });
        }
        let mark = known.fields.source.as_deref().and_then(Mark::from_source);
        Ok(match mark.filter(|mark| mark.origin == one.origin) {
            Some(mark) if mark.digest == self.digest_of(stored)? => Plan::Update(stored),
            _ => Plan::Taken,
        })
    }

    async fn perform(&mut self, one: &Prepared<'_>, key: &str, plan: Plan<'a>) -> Result<ExchangeState, Error> {
        let fields = Fields { key: key.into(), ..one.fields.clone() };
        let stored = match plan {
            Plan::Unchanged | Plan::Taken => return Ok(ExchangeState::Unchanged),
            Plan::Keep(reason) => return Ok(ExchangeState::Kept(reason)),
            Plan::Store(stored) => {
                self.entries.check_room(one.pool)?;
                self.entries.count(one.pool.shared);
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
        let target = one.pool.file(category, key)?;
        let stays = stored.filter(|stored| is_update && stored.entry.fields.category == entry.fields.category);
        let path = stays.map_or(&target, |stored| &stored.path);
        if stored.is_none_or(|stored| stored.path != *path) {
            self.check_free(path, key)?;
        }
        if self.entries.dry_run {
            self.entries.call.check_text(key, &one.fields.content).await?;
            return Ok(state);
        }
        let text = match before.zip(stored) {
            Some((before, stored)) => entry.rewrite(&self.text_of(stored)?, before)?,
            None => entry.render(),
        };
        let text = with_summary(text, one.given.summary.as_deref());
        let text = one.given.kept.iter().fold(text, |text, (name, value)| set_field(&text, name, &yaml_string(value)));
        let backup = one.pool.backup_of(&entry.fields)?;
        let call = self.entries.call;
        let replaced = match stored.filter(|stored| stored.path != *path) {
            Some(stored) => removal_of(call, stored).await?,
            None => None,
        };
        self.write(one.pool, path, key, text, stored.filter(|stored| stored.path == *path), &backup).await?;
        if let Some(replaced) = replaced {
            // If the old file has changed meanwhile, it stays and is reported as a second file of this key.
            call.apply(&replaced).await?;
        }
        Ok(state)
    }

    /// Builds the fields of an imported entry. No other function does.
    fn imported_entry(&mut self, one: &Prepared<'_>, fields: Fields, before: Option<&Entry>) -> Entry {
        let now = self.entries.call.now.epoch_nanoseconds();
        let newest = self.newest_of(one.pool.shared);
        let given = one.given;
        let stamped = stamp(now, *newest);
        // Times in the future come from a wrong clock. They are accepted only from our own dump.
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

    /// Refuses a path whose file is not the entry of this key.
    fn check_free(&self, path: &RelPath, key: &str) -> Result<(), Error> {
        let shown = self.entries.call.scope.display_path(path);
        let stands = |stored: &&Stored| stored.path == *path;
        let reason = match self.entries.view.entries.iter().chain(&self.entries.view.outdated).find(stands) {
            Some(other) => Some(format!("it has the key `{}`", other.entry.fields.key)),
            None => self
                .entries
                .view
                .problems
                .iter()
                .find(|problem| problem.path == shown)
                .map(|found| found.message.clone()),
        };
        let reason = reason.or_else(|| self.entries.view.problem_of(key).map(|problem| problem.message.clone()));
        match reason {
            Some(reason) => Err(Error::damaged_file(format!("{shown} is in the way: {reason}"), "")),
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
        let screen = &self.entries.call.screen;
        let change = |file: &File| {
            let meanwhile = || {
                let message = format!("{} was changed meanwhile", self.entries.call.scope.display_path(path));
                Error::new(ErrorCode::Contention, message, "import again")
            };
            match (file.bytes(), known) {
                (Some(bytes), _) if bytes == text.as_bytes() => Ok((None, ())),
                (None, None) => Ok((Some(screen.write(file, text.as_str())?), ())),
                (Some(bytes), Some(known)) => {
                    let (_, before) = read_entry(self.entries.call, pool, path, bytes, key)?;
                    if before.version != known.entry.version {
                        return Err(meanwhile());
                    }
                    Ok((Some(screen.write(file, text.as_str())?), ()))
                }
                _ => Err(meanwhile()),
            }
        };
        self.entries.call.update(path, Backups::KeepAs(backup), change).await.map(|((), _)| ())
    }

    fn text_of(&self, stored: &Stored) -> Result<String, Error> {
        stored.text(&self.corpus.borrow()).map(ToString::to_string)
    }

    fn digest_of(&self, stored: &Stored) -> Result<String, Error> {
        let Fields { category, tags, content, .. } = &stored.entry.fields;
        let summary = summary_of(&Frontmatter::parse(&self.text_of(stored)?));
        Ok(digest(category.as_str(), tags, content, summary.as_deref()))
    }
}

impl Prepared<'_> {
    /// Returns true if the entry here came from the same place and did not change there since.
    fn is_marked(&self, stored: &Stored) -> bool {
        let mark = stored.entry.fields.source.as_deref().and_then(Mark::from_source);
        mark.is_some_and(|mark| mark.origin == self.origin && mark.digest == self.digest)
    }

    /// Returns the keys to try: its own, one that contains its place, one that contains the digest of its text.
    fn keys(&self) -> [String; 3] {
        let key = &self.fields.key;
        let from = hash(&[&self.origin, key], 4);
        let says = hash(&[&self.origin, key, &self.digest], 4);
        let suffixed = |suffix: String| format!("{}_{suffix}", head(key, MAX_KEY_BYTES - 1 - suffix.len()));
        [key.clone(), suffixed(from), suffixed(says)]
    }
}
