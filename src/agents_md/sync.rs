//! Section and entries, brought together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::item::{self, Item};
use super::section::{self, Contents, Section};
use super::written::{Facts, Ledger, Written, WrittenFact};
use super::{
    AgentsMdReply, FactChange, FactChangeKind, MAX_AGENTS_MD_BYTES, MAX_IDENTITY_BYTES, Side, SyncAgentsMd, Unconfirmed,
};
use crate::context::{LeftOut, LeftOutReason};
use crate::engine::Call;
use crate::entries::{
    self, Entries, EntriesCommand, EntriesReply, EntriesVerb, EntryInfo, EntryProblem, ForgetEntry, NewEntry,
    StoreEntry, StoreState,
};
use crate::notebook::slug;
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;
use crate::trust::{ForModel, Provenance, for_model, sha256};

/// The category of what a person adds.
const CORE: &str = "core";

/// How many words of a text that has no key make up its key.
const KEY_WORDS: usize = 6;

/// How often the generation of a section is chosen again because another program has taken it meanwhile.
const MAX_RACES: u32 = 64;

/// Both sides, and what is known of them.
struct Sides<'a> {
    request: &'a SyncAgentsMd,
    /// The whole file.
    text: &'a str,
    agent: &'a str,
    section: Option<&'a Section>,
    /// The section as this store wrote it; `None` where it wrote none, or another one.
    seen: Option<&'a Written>,
    known: &'a [EntryInfo],
    /// How many entries can be added before others would go for them.
    room: usize,
    problems: &'a [EntryProblem],
}

/// A fact on all sides.
#[derive(Default)]
struct Fact<'a> {
    item: Option<&'a Item>,
    /// Of the fact as the section was written with it.
    base: Option<&'a WrittenFact>,
    entry: Option<&'a EntryInfo>,
    /// Its file cannot be read, so that nobody knows what it says.
    problem: Option<&'a EntryProblem>,
}

/// What is to be done with a fact.
enum Decision {
    /// Nothing of it was changed in the section.
    Follow,
    /// The entry gets what the section says.
    Store,
    /// The entry is forgotten.
    Forget,
    /// Both stay as they are, for this reason.
    Leave(String),
}

/// What becomes of the facts.
#[derive(Default)]
struct Merged {
    changes: Vec<FactChange>,
    listed: Vec<Listed>,
    /// Facts that the section has no longer, and that are not settled.
    kept: Facts,
    /// Facts to list that nobody has approved.
    not_approved: Vec<LeftOut>,
    /// How many entries are changed that go into prompts.
    trusted: usize,
    /// An entry is changed.
    is_stored: bool,
    /// How many entries are added.
    added: usize,
}

/// A fact of the new section.
struct Listed {
    key: String,
    item: String,
    /// What the next merge goes by; `None` where the two sides are in conflict.
    fact: Option<WrittenFact>,
    updated: u64,
    /// Stays, whatever the budget.
    pinned: bool,
    path: String,
}

/// The facts that the budget has room for, in the order of their keys, and the others.
struct Fitted {
    taken: Vec<Listed>,
    left_out: Vec<LeftOut>,
}

/// Reads edits of the section back into entries, and gives the file with the section as the entries are now.
pub(crate) async fn sync(call: &Call, entries: &Entries, request: SyncAgentsMd) -> Result<AgentsMdReply, Error> {
    let text = readable(&request)?;
    check_identity(&request)?;
    let agent = entries.agent()?;
    let section = section::find(text, &request.name)?;
    if let Some(section) = section.as_ref().filter(|section| section.agent != agent) {
        let message = format!(
            "{}, line {}: the section is that of agent `{}`, this is agent `{agent}`",
            request.name, section.line, section.agent
        );
        return Err(Error::invalid_argument(message, "name that agent, or delete the section with its markers"));
    }
    check_budget(&request, &agent, section.as_ref())?;
    if section.is_none() {
        check_end(text, &request.name, &agent)?;
    }
    let ledger = Ledger::of(entries, &request.identity)?;
    let written = ledger.sections(call).await?;
    let (known, problems) = entries::current(call, entries).await?;
    let section = section.as_ref();
    let seen = section.and_then(|section| written.iter().rev().find(|written| written.is(section))).cloned();
    let seen = seen.as_ref();
    let room = entries.room(&known)?;
    let sides =
        Sides { request: &request, text, agent: &agent, section, seen, known: &known, room, problems: &problems };
    let items = section.map(|section| keyed(&section.items, &known)).unwrap_or_default();

    let mut merged = merge(call, entries, &sides, &items, false).await?;
    let unconfirmed = unconfirmed(&sides, &merged, &written);
    let is_confirmed = match (&unconfirmed, &request.confirmed) {
        (Some(unconfirmed), Some(confirmed)) => {
            call.scope.trust.check_person("to confirm what a section changes")?;
            unconfirmed.digest == *confirmed
        }
        (Some(_), None) => false,
        (None, _) => true,
    };
    let changes_nothing = request.dry_run || !is_confirmed;
    if merged.is_stored && !changes_nothing {
        merged = merge(call, entries, &sides, &items, true).await?;
    }

    let Merged { changes, listed, kept, not_approved, .. } = merged;
    let unconfirmed = unconfirmed.filter(|_| request.dry_run || !is_confirmed);
    let mut reply = AgentsMdReply { changes, unconfirmed, problems: Vec::new(), ..AgentsMdReply::default() };
    if section.is_some() || !listed.is_empty() {
        let fitted = fit(&sides, listed);
        let new = record(&sides, &fitted, kept, &not_approved);
        let generation = if changes_nothing {
            generation(&sides, &written, &new).0
        } else {
            let accepted = accepted(&sides, &new, &items);
            remember(call, &ledger, &sides, &written, &new, accepted).await?
        };
        let (section_text, _) = sides.render(&fitted.taken, fitted.left_out.len(), generation);
        let content = replaced(text, section, &section_text);
        reply.content = (content != text).then(|| content.into_bytes());
        reply.listed = u32::try_from(fitted.taken.len()).unwrap_or(u32::MAX);
        reply.left_out = fitted.left_out;
    }
    reply.left_out.extend(not_approved);
    reply.message = ForModel::escaped(&message(&sides, &reply));
    if reply.unconfirmed.is_some() && !request.dry_run {
        reply.content = None;
    }
    reply.problems = problems;
    Ok(reply)
}

/// The changes of every fact. Where they are not made, the entries stay as they are.
async fn merge(
    call: &Call,
    entries: &Entries,
    sides: &Sides<'_>,
    items: &SortedMap<String, Item>,
    is_made: bool,
) -> Result<Merged, Error> {
    let Sides { request, seen, .. } = sides;
    let (facts, unknown) = facts(sides, items);
    // A section that was emptied by mistake does not empty the store.
    let several = seen.is_some_and(|seen| seen.facts.len() > 1);
    let is_emptied = items.is_empty() && several && request.prefer != Some(Side::Section);
    let mut merged = Merged { kept: unknown, ..Merged::default() };
    for (key, fact) in &facts {
        let is_trusted = fact.entry.is_some_and(|entry| entry.standing().unapproved().is_none());
        let left = match decide(fact, request.prefer, is_emptied) {
            Decision::Follow => {
                merged.follow(sides, key, fact);
                continue;
            }
            // A file that anybody may have written removes no entry to make room.
            Decision::Store if fact.entry.is_none() && merged.added >= sides.room => {
                FactChangeKind::Refused("there are as many entries as the agent may have; forget some first".into())
            }
            Decision::Store => {
                let done = if is_made { store(call, entries, request, key, fact).await? } else { Ok(stored(fact)) };
                match done {
                    Ok(kind) => {
                        merged.is_stored = true;
                        merged.added += usize::from(fact.entry.is_none());
                        merged.trusted += usize::from(is_trusted);
                        merged.change(key, fact, kind);
                        merged.keep_item(sides, key, fact);
                        continue;
                    }
                    Err(left) => left,
                }
            }
            Decision::Forget => {
                let done = if is_made { forget(call, entries, key, fact).await? } else { Ok(()) };
                match done {
                    Ok(()) => {
                        merged.is_stored = true;
                        merged.trusted += usize::from(is_trusted);
                        merged.change(key, fact, FactChangeKind::Forgotten);
                        continue;
                    }
                    Err(left) => left,
                }
            }
            Decision::Leave(reason) => FactChangeKind::Conflict(reason),
        };
        merged.change(key, fact, left);
        // What the section says stays, and so does what it was written with: the next time it is the same conflict.
        match (fact.item, fact.base) {
            (Some(item), base) => merged.listed.push(Listed { fact: base.cloned(), ..of_item(key, &item.content) }),
            (None, Some(base)) => merged.kept.push((key.clone(), base.clone())),
            (None, None) => {}
        }
    }
    Ok(merged)
}

impl Merged {
    fn change(&mut self, key: &str, fact: &Fact<'_>, kind: FactChangeKind) {
        let line = fact.item.and_then(|item| u32::try_from(item.line).ok());
        let harmless = |text: &str| for_model(text).0.into_string();
        let entry = fact.entry.map(|entry| harmless(&entry.content));
        let section = fact.item.map(|item| harmless(&item.content));
        self.changes.push(FactChange { key: key.into(), line, kind, entry, section });
    }

    /// A fact that was not changed in the section: it says what the entry says, as far as that may be written there.
    fn follow(&mut self, sides: &Sides<'_>, key: &str, fact: &Fact<'_>) {
        let chosen = fact.entry.filter(|entry| is_chosen(sides, fact, entry));
        // What stands in AGENTS.md is read as a prompt is.
        let waiting = chosen.filter(|entry| entry.standing().unapproved().is_some());
        let says_it = |entry: &EntryInfo| fact.item.is_some_and(|item| item.content == entry.content);
        if let Some(entry) = waiting.filter(|entry| !says_it(entry)) {
            let bytes = entry.content.len();
            let left_out = left_out_of(sides.request, &entry.path, key, LeftOutReason::Unapproved, bytes);
            self.not_approved.push(left_out);
        }
        let is_listed = chosen.is_some() && waiting.is_none();
        match (fact.item, fact.entry) {
            (None, Some(entry)) if is_listed => {
                self.change(key, fact, FactChangeKind::Listed);
                self.listed.push(of_entry(entry));
            }
            (None, _) => {}
            (Some(item), Some(entry)) if is_listed => {
                if item.content != entry.content {
                    self.change(key, fact, FactChangeKind::Refreshed);
                }
                self.listed.push(of_entry(entry));
            }
            (Some(item), Some(entry)) => {
                let was_followed = fact.base.is_some_and(|base| base.is_followed);
                let is_waiting = entry.standing().unapproved().is_some();
                let is_as_written = fact.base.is_some_and(|base| base.says(&item.content));
                if item.content == entry.content && (is_waiting || !was_followed) {
                    // It stands there already.
                    self.keep_item(sides, key, fact);
                } else if is_as_written && !was_followed {
                    let reason = "the entry says something else now; name its key or a tag of it to have it written";
                    self.change(key, fact, FactChangeKind::Refused(reason.into()));
                    self.keep_item(sides, key, fact);
                } else {
                    self.change(key, fact, FactChangeKind::Unlisted);
                }
            }
            (Some(_), None) => self.change(key, fact, FactChangeKind::Unlisted),
        }
    }

    /// A fact that stays in the section in the words that it has there.
    fn keep_item(&mut self, sides: &Sides<'_>, key: &str, fact: &Fact<'_>) {
        let Some(item) = fact.item else { return };
        let chosen = fact.entry.filter(|entry| is_chosen(sides, fact, entry));
        let was_followed = fact.base.is_some_and(|base| base.is_followed);
        if fact.entry.is_some() && was_followed && chosen.is_none() {
            // Others are chosen now.
            return;
        }
        let is_followed = chosen.is_some() || sides.request.keys.iter().any(|named| named == key);
        let fact = Some(WrittenFact::new(&item.content, is_followed));
        self.listed.push(Listed { fact, ..of_item(key, &item.content) });
    }
}

impl Sides<'_> {
    /// Whether the section has facts, and is not the one that this store wrote last.
    fn is_foreign(&self) -> bool {
        self.seen.is_none() && self.section.is_some_and(|section| !section.items.is_empty())
    }

    fn names_nothing(&self) -> bool {
        self.request.tags.is_empty() && self.request.keys.is_empty()
    }

    /// A section of these facts, and the SHA-256 of its text.
    fn render(&self, taken: &[Listed], not_listed: usize, generation: u64) -> (String, String) {
        let items: Vec<&str> = taken.iter().map(|listed| listed.item.as_str()).collect();
        let preface = self.section.map_or("", |section| &section.preface);
        let (text, digest) = Contents { agent: self.agent, preface, items: &items, not_listed, generation }.render();
        let line_ending = self.line_ending();
        (if line_ending == "\n" { text } else { text.replace('\n', line_ending) }, digest)
    }

    fn line_ending(&self) -> &'static str {
        self.section.map_or_else(|| section::line_ending(self.text), |section| section.line_ending)
    }
}

/// Why a person must look first, and at what; `None` where nobody must.
fn unconfirmed(sides: &Sides<'_>, merged: &Merged, written: &[Written]) -> Option<Unconfirmed> {
    let Sides { request, text, agent, section, known, .. } = sides;
    let name = &request.name;
    let newest = written.iter().map(|written| written.generation).max().unwrap_or(0);
    let reason = match (sides.is_foreign(), merged.trusted) {
        (true, _) if newest > 0 => {
            format!("the section of {name} is not the one that this store wrote last (generation {newest})")
        }
        (true, _) => format!("this store has not written the section of {name}"),
        (false, 0) => return None,
        (false, 1) => "the section changes 1 entry that goes into prompts".to_string(),
        (false, count) => format!("the section changes {count} entries that go into prompts"),
    };
    let said = section.and_then(|section| text.get(section.range.clone())).unwrap_or_default();
    let versions: Vec<Option<&str>> =
        merged.changes.iter().map(|change| find(known, &change.key).map(|entry| entry.version.as_str())).collect();
    let SyncAgentsMd { identity, tags, keys, prefer, .. } = request;
    let shown = format!("{:?}", (agent, identity, tags, keys, prefer, said, &merged.changes, versions));
    Some(Unconfirmed { digest: sha256(&shown), reason })
}

/// What is remembered of the new section, whose generation is to be chosen.
fn record(sides: &Sides<'_>, fitted: &Fitted, kept: Facts, not_approved: &[LeftOut]) -> Written {
    let (_, digest) = sides.render(&fitted.taken, fitted.left_out.len(), 0);
    let listed = fitted.taken.iter().filter_map(|listed| Some((listed.key.clone(), listed.fact.clone()?)));
    let mut facts: Facts = listed.chain(kept).collect();
    order::sort_slice(&mut facts, |a, b| a.0.cmp(&b.0));
    let mut left_out: Vec<String> =
        fitted.left_out.iter().chain(not_approved).filter_map(|left_out| left_out.key.clone()).collect();
    order::sort_slice(&mut left_out, Ord::cmp);
    Written { generation: 0, digest, facts, left_out }
}

/// A section of another store that a person has confirmed: should the host not write the new one, it is known the next
/// time.
fn accepted(sides: &Sides<'_>, new: &Written, items: &SortedMap<String, Item>) -> Option<Written> {
    let section = sides.section.filter(|_| sides.is_foreign())?;
    let mut facts = new.facts.clone();
    facts.retain(|(key, fact)| items.get(key).is_some_and(|item| fact.says(&item.content)));
    Some(Written { generation: 0, digest: section.digest.clone(), facts, left_out: Vec::new() })
}

/// The generation of the new section, and whether it is remembered already.
fn generation(sides: &Sides<'_>, written: &[Written], new: &Written) -> (u64, bool) {
    let oldest = sides.seen.map_or(0, |seen| seen.generation).max(1);
    let is_it = |written: &&Written| written.generation >= oldest && written.is_same(new);
    match written.iter().find(is_it) {
        Some(known) => (known.generation, true),
        None => (written.iter().map(|written| written.generation).max().unwrap_or(0).saturating_add(1), false),
    }
}

/// Has the new section remembered before the host writes it. Gives its generation.
async fn remember(
    call: &Call,
    ledger: &Ledger,
    sides: &Sides<'_>,
    written: &[Written],
    new: &Written,
    accepted: Option<Written>,
) -> Result<u64, Error> {
    let mut written = written.to_vec();
    for _ in 0..MAX_RACES {
        let (generation, is_known) = generation(sides, &written, new);
        let mut records: Vec<Written> = accepted.iter().cloned().collect();
        records.extend((!is_known).then(|| Written { generation, ..new.clone() }));
        if records.is_empty() || ledger.remember(call, sides.seen, &records).await? {
            return Ok(generation);
        }
        written = ledger.sections(call).await?;
    }
    let message = format!("the section of {} was written by others {MAX_RACES} times in a row", sides.request.name);
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer programs write it; nothing was changed"))
}

fn readable(request: &SyncAgentsMd) -> Result<&str, Error> {
    let bytes = request.content.as_deref().unwrap_or_default();
    if bytes.len() > MAX_AGENTS_MD_BYTES as usize {
        let message = format!("{}: {} bytes, the limit is {MAX_AGENTS_MD_BYTES}", request.name, bytes.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "move a part of it to another file; nothing was changed"));
    }
    core::str::from_utf8(bytes).map_err(|error| {
        let message = format!("{}: not UTF-8 text (at byte {})", request.name, error.valid_up_to());
        Error::new(ErrorCode::NotText, message, "convert it to UTF-8; nothing was changed")
    })
}

fn check_identity(request: &SyncAgentsMd) -> Result<(), Error> {
    match request.identity.len() {
        1..=MAX_IDENTITY_BYTES => Ok(()),
        bytes => {
            let message = format!("the identity of {} has {bytes} bytes, not 1 to {MAX_IDENTITY_BYTES}", request.name);
            Err(Error::invalid_argument(message, "name the file by its whole path; nothing was changed"))
        }
    }
}

/// The items by their keys; one that has none gets one of its words.
fn keyed(items: &[Item], known: &[EntryInfo]) -> SortedMap<String, Item> {
    let mut keyed: SortedMap<String, Item> = SortedMap::default();
    keyed.extend(items.iter().filter_map(|item| Some((item.key.clone()?, item.clone()))));
    for item in items.iter().filter(|item| item.key.is_none()) {
        let words: Vec<&str> = item.content.split_whitespace().take(KEY_WORDS).collect();
        let name = slug(&words.join(" "));
        let says_the_same = |key: &str| match find(known, key) {
            Some(entry) => entry.content == item.content,
            None => true,
        };
        let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
        let mut names = core::iter::once(name.clone()).chain(numbered);
        if let Some(key) = names.find(|key| !keyed.contains_key(key) && says_the_same(key)) {
            keyed.insert(key, item.clone());
        }
    }
    keyed
}

/// The entry of a key among those that are ordered by key.
fn find<'a>(known: &'a [EntryInfo], key: &str) -> Option<&'a EntryInfo> {
    known.get(known.binary_search_by(|entry| entry.key.as_str().cmp(key)).ok()?)
}

/// Every fact that the section or the store has, by key; and what the section was written with, where no entry has the
/// key but a file that cannot be read may have it.
fn facts<'a>(sides: &Sides<'a>, items: &'a SortedMap<String, Item>) -> (Vec<(String, Fact<'a>)>, Facts) {
    let Sides { known, problems, seen, .. } = *sides;
    let mut facts: SortedMap<String, Fact<'a>> = SortedMap::default();
    let mut of = |key: &str, set: &dyn Fn(&mut Fact<'a>)| {
        if let Some(fact) = facts.get_or_insert(key.to_string(), Fact::default()) {
            set(fact);
        }
    };
    known.iter().for_each(|entry| of(&entry.key, &|fact| fact.entry = Some(entry)));
    items.iter().for_each(|(key, item)| of(key, &|fact| fact.item = Some(item)));
    for problem in problems {
        if let Some(key) = problem.key.as_deref().filter(|key| find(known, key).is_none()) {
            of(key, &|fact| fact.problem = Some(problem));
        }
    }
    // A problem without a key may be any entry's.
    let is_any_unknown = problems.iter().any(|problem| problem.key.is_none());
    let mut unknown = Vec::new();
    for (key, base) in seen.iter().flat_map(|seen| &seen.facts) {
        let is_known = find(known, key).is_some() || items.contains_key(key);
        let has_problem = problems.iter().any(|problem| problem.key.as_ref() == Some(key));
        if is_known || has_problem {
            of(key, &|fact| fact.base = Some(base));
        } else if is_any_unknown {
            unknown.push((key.clone(), base.clone()));
        }
    }
    (facts.into_entries().collect(), unknown)
}

fn decide(fact: &Fact<'_>, prefer: Option<Side>, is_emptied: bool) -> Decision {
    let is_base = |content: &str| fact.base.is_some_and(|base| base.says(content));
    if let Some(problem) = fact.problem.filter(|_| fact.item.is_some() || fact.base.is_some()) {
        return Decision::Leave(format!("its entry cannot be read: {}: {}", problem.path, problem.message));
    }
    let conflict = |reason: &str, of_section: Decision| match prefer {
        Some(Side::Section) => of_section,
        Some(Side::Store) => Decision::Follow,
        None => Decision::Leave(reason.into()),
    };
    match (fact.item, fact.entry, fact.base) {
        (Some(item), Some(entry), base) => {
            let (in_section, in_store) = (is_base(&item.content), is_base(&entry.content));
            match base {
                _ if item.content == entry.content || in_section => Decision::Follow,
                _ if in_store => Decision::Store,
                Some(_) => conflict("the section and the entry have both changed", Decision::Store),
                None => conflict(
                    "the section has added it, and there is an entry that says something else",
                    Decision::Store,
                ),
            }
        }
        (Some(_), None, None) => Decision::Store,
        (Some(item), None, Some(_)) if is_base(&item.content) => Decision::Follow,
        (Some(_), None, Some(_)) => conflict("the section has changed it, and the entry is gone", Decision::Store),
        (None, Some(entry), Some(_)) => {
            if is_emptied {
                conflict("all items are gone from the section", Decision::Forget)
            } else if is_base(&entry.content) {
                Decision::Forget
            } else {
                conflict("the section has it no longer, and the entry has changed", Decision::Forget)
            }
        }
        (None, _, _) => Decision::Follow,
    }
}

/// Whether a fact of the store is to be in the section. What the file alone has asked for is not.
fn is_chosen(sides: &Sides<'_>, fact: &Fact<'_>, entry: &EntryInfo) -> bool {
    let SyncAgentsMd { tags, keys, .. } = sides.request;
    if !sides.names_nothing() {
        return keys.contains(&entry.key) || tags.iter().any(|tag| entry.tags.contains(tag));
    }
    let is_left_out = || sides.seen.is_some_and(|seen| seen.left_out.binary_search(&entry.key).is_ok());
    match fact.base {
        Some(base) => base.is_followed,
        None => fact.item.is_none() && is_left_out(),
    }
}

/// A fact that is not in the section, of so many bytes.
fn left_out_of(request: &SyncAgentsMd, path: &str, key: &str, reason: LeftOutReason, bytes: usize) -> LeftOut {
    LeftOut {
        path: path.into(),
        key: Some(key.into()),
        section: request.name.clone(),
        reason,
        kept_bytes: 0,
        left_out_bytes: bytes as u64,
    }
}

/// What the store says.
fn of_entry(entry: &EntryInfo) -> Listed {
    let fact = Some(WrittenFact::new(&entry.content, true));
    let path = entry.path.clone();
    Listed { fact, updated: entry.updated, pinned: false, path, ..of_item(&entry.key, &entry.content) }
}

/// What the section says: newer than any entry.
fn of_item(key: &str, content: &str) -> Listed {
    let item = item::render(key, content);
    Listed { key: key.into(), item, fact: None, updated: u64::MAX, pinned: true, path: String::new() }
}

/// What storing comes to.
fn stored(fact: &Fact<'_>) -> FactChangeKind {
    if fact.entry.is_some() { FactChangeKind::Updated } else { FactChangeKind::Stored }
}

/// Stores what the section says; what the store does not take is the inner error.
async fn store(
    call: &Call,
    entries: &Entries,
    request: &SyncAgentsMd,
    key: &str,
    fact: &Fact<'_>,
) -> Result<Result<FactChangeKind, FactChangeKind>, Error> {
    let Some(item) = fact.item else { return Ok(Err(FactChangeKind::Refused("the section has no text".into()))) };
    let entry = NewEntry {
        key: key.into(),
        content: item.content.clone(),
        category: fact.entry.map_or(CORE, |entry| &entry.category).into(),
        tags: fact.entry.map_or_else(|| request.tags.clone(), |entry| entry.tags.clone()),
        source: fact.entry.is_none().then(|| request.name.clone()),
        supersedes: None,
    };
    let base = fact.entry.map(|entry| entry.version.clone());
    // A change of what prompts see was confirmed, so it is the person's. Whoever wrote the file says the rest.
    let is_trusted = fact.entry.is_some_and(|entry| entry.standing().unapproved().is_none());
    let provenance = (!is_trusted).then_some(Provenance::Import);
    let command =
        EntriesCommand { provenance, ..EntriesCommand::new(EntriesVerb::StoreEntry(StoreEntry { entry, base })) };
    Ok(match entries::run(call, entries, command).await {
        Ok(EntriesReply::StoreEntry(reply)) => match reply.state {
            StoreState::Forgotten => Err(FactChangeKind::Refused("it says what was forgotten".into())),
            StoreState::Conflict => Err(FactChangeKind::Conflict("the entry has changed meanwhile".into())),
            _ => Ok(stored(fact)),
        },
        Ok(_) => Err(FactChangeKind::Refused("the reply is not of the kind of its command".into())),
        Err(error) => Err(refusal(error)?),
    })
}

/// Forgets what the section has no longer; likewise.
async fn forget(
    call: &Call,
    entries: &Entries,
    key: &str,
    fact: &Fact<'_>,
) -> Result<Result<(), FactChangeKind>, Error> {
    let base = fact.entry.map(|entry| entry.version.clone());
    let command = EntriesCommand::new(EntriesVerb::ForgetEntry(ForgetEntry { key: key.into(), base }));
    Ok(match entries::run(call, entries, command).await {
        Ok(_) => Ok(()),
        Err(error) if error.code == ErrorCode::EntryNotFound => Ok(()),
        Err(error) if error.code == ErrorCode::Contention => {
            Err(FactChangeKind::Conflict("the entry has changed meanwhile".into()))
        }
        Err(error) => Err(refusal(error)?),
    })
}

/// What the store has against one fact; an error where it is about the store.
fn refusal(error: Error) -> Result<FactChangeKind, Error> {
    match error.code {
        ErrorCode::MemoryUnavailable | ErrorCode::Cancelled | ErrorCode::Internal => Err(error),
        _ => Ok(FactChangeKind::Refused(error.message)),
    }
}

/// Chooses the facts that the budget has room for.
fn fit(sides: &Sides<'_>, listed: Vec<Listed>) -> Fitted {
    let request = sides.request;
    let line_ending = sides.line_ending().len();
    let empty = sides.render(&[], listed.len(), u64::MAX).0.len();
    let mut room = (request.max_bytes as usize).saturating_sub(empty);
    // The last changed first, as they are chosen. What was stored together was stored in the order of the keys.
    let mut by_age: Vec<Listed> = listed;
    order::sort_slice(&mut by_age, |a, b| {
        let rank = |listed: &Listed| (!listed.pinned, Reverse(listed.updated));
        rank(a).cmp(&rank(b)).then_with(|| b.key.cmp(&a.key))
    });
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for fact in by_age {
        let breaks = fact.item.matches('\n').count() * (line_ending - 1);
        let needed = fact.item.len() + breaks + line_ending;
        if needed <= room || fact.pinned {
            room = room.saturating_sub(needed);
            taken.push(fact);
        } else {
            let bytes = fact.item.len();
            left_out.push(left_out_of(request, &fact.path, &fact.key, LeftOutReason::Budget, bytes));
        }
    }
    order::sort_slice(&mut taken, |a, b| a.key.cmp(&b.key));
    order::sort_slice(&mut left_out, |a, b| a.key.cmp(&b.key));
    Fitted { taken, left_out }
}

/// Checks that the budget is more than a section without items.
fn check_budget(request: &SyncAgentsMd, agent: &str, section: Option<&Section>) -> Result<(), Error> {
    let preface = section.map_or("", |section| &section.preface);
    let contents = Contents { agent, preface, items: &[], not_listed: usize::MAX, generation: u64::MAX };
    let (text, _) = contents.render();
    // With the longer line endings.
    let bytes = text.len() + text.matches('\n').count();
    if bytes <= request.max_bytes as usize {
        return Ok(());
    }
    let message = format!("a section without facts takes up to {bytes} bytes, the budget is {}", request.max_bytes);
    Err(Error::new(ErrorCode::TooLarge, message, "raise the budget; nothing was changed"))
}

/// Checks that a section behind the text would be one: not in a code block or a comment that nothing closes.
fn check_end(text: &str, name: &str, agent: &str) -> Result<(), Error> {
    let section = Contents { agent, preface: "", items: &[], not_listed: 0, generation: 1 }.render().0;
    match section::find(&replaced(text, None, &section), name) {
        Ok(Some(_)) => Ok(()),
        // The text alone has no marker that is wrong.
        Ok(None) | Err(_) => {
            let message = format!("{name} ends in a code block or a comment that nothing closes");
            Err(Error::invalid_argument(message, "close it; nothing was changed"))
        }
    }
}

/// The file with a section in the place of the one it has, else at its end.
fn replaced(text: &str, section: Option<&Section>, new: &str) -> String {
    if let Some(section) = section {
        let before = text.get(..section.range.start).unwrap_or_default();
        let behind = text.get(section.range.end..).unwrap_or_default();
        return [before, new, behind].concat();
    }
    let line_ending = section::line_ending(text);
    let said = text.trim_start_matches('\u{feff}');
    if said.is_empty() {
        return format!("{text}{new}{line_ending}");
    }
    let blank = if said.ends_with('\n') { line_ending.to_string() } else { line_ending.repeat(2) };
    let end = if said.ends_with('\n') { line_ending } else { "" };
    [text, &blank, new, end].concat()
}

fn message(sides: &Sides<'_>, reply: &AgentsMdReply) -> String {
    let Sides { request, section, .. } = sides;
    let (name, is_changed) = (&request.name, reply.content.is_some());
    let only_says = request.dry_run || reply.unconfirmed.is_some();
    let mut message = match (is_changed, only_says) {
        (true, true) => format!("{name} would change"),
        (true, false) => format!("{name} changes"),
        (false, _) => format!("{name} stays as it is"),
    };
    message.push_str(&format!(": {} listed, {} not listed", reply.listed, reply.left_out.len()));
    let word = |kind: &FactChangeKind| match kind {
        FactChangeKind::Stored => "stored (to be approved)",
        FactChangeKind::Updated => "updated",
        FactChangeKind::Forgotten => "forgotten",
        FactChangeKind::Conflict(_) => "in conflict",
        FactChangeKind::Refused(_) => "refused",
        _ => "",
    };
    for what in ["stored (to be approved)", "updated", "forgotten", "in conflict", "refused"] {
        let count = reply.changes.iter().filter(|change| word(&change.kind) == what).count();
        if count > 0 {
            message.push_str(&format!(", {count} {what}"));
        }
    }
    if section.is_none() && reply.listed == 0 && sides.names_nothing() {
        message.push_str("; no tag and no key is named, so no fact goes into the file");
    }
    if let Some(unconfirmed) = &reply.unconfirmed {
        message.push_str(&format!("; it waits to be confirmed: {}", unconfirmed.reason));
    }
    message
}
