//! What becomes of each fact: what a person changed in the section becomes a change of an entry.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::item::Item;
use super::sides::{Fact, Listed, Sides, facts, is_chosen, left_out_of, of_entry, of_item};
use super::types::{FactChange, FactChangeKind, Side, SyncAgentsMd};
use super::written::{Facts, WrittenFact};
use crate::context::{LeftOut, LeftOutReason};
use crate::engine::Call;
use crate::entries::{self, Entries, EntryInfo, ForgetEntry, NewEntry, StoreEntry, StoreState};
use crate::origin::Origin;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;
use crate::trust::{Provenance, for_model};

/// The category of what a person adds.
const CORE: &str = "core";

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
pub(super) struct Merged {
    pub(super) changes: Vec<FactChange>,
    pub(super) listed: Vec<Listed>,
    /// Facts that the section has no longer, and that are not settled.
    pub(super) kept: Facts,
    /// Facts to list that nobody has approved.
    pub(super) not_approved: Vec<LeftOut>,
    /// How many entries are changed that go into prompts.
    pub(super) trusted: usize,
    /// An entry is changed.
    pub(super) is_stored: bool,
    /// How many entries are added.
    pub(super) added: usize,
}

/// The changes of every fact. Where they are not made, the entries stay as they are.
pub(super) async fn merge(
    call: &Call,
    entries: &Entries,
    sides: &Sides<'_>,
    items: &SortedMap<String, Item>,
    is_made: bool,
) -> Result<Merged, Error> {
    let Sides { request, seen, .. } = sides;
    let (facts, unknown) = facts(sides, items)?;
    // A section that was emptied by mistake does not empty the store.
    let several = seen.is_some_and(|seen| seen.facts.len() > 1);
    let is_emptied = items.is_empty() && several && request.prefer != Some(Side::Section);
    let mut merged = Merged { kept: unknown, ..Merged::default() };
    for (key, fact) in &facts {
        let is_trusted = fact.entry.is_some_and(|entry| entry.trust_state().unapproved().is_none());
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
        let waiting = chosen.filter(|entry| entry.trust_state().unapproved().is_some());
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
                let is_waiting = entry.trust_state().unapproved().is_some();
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
    let broken = |what: &str| Error::internal(format!("`{key}` is to be stored, and {what}"));
    let item = fact.item.ok_or_else(|| broken("the section does not have it"))?;
    let entry = NewEntry {
        key: key.into(),
        content: item.content.clone(),
        category: fact.entry.map_or(CORE, |entry| &entry.category).into(),
        tags: fact.entry.map_or_else(|| request.tags.clone(), |entry| entry.tags.clone()),
        source: fact.entry.is_none().then(|| request.name.clone()),
        supersedes: None,
    };
    let expected_version = fact.entry.map(|entry| entry.version.clone());
    // A change of what prompts see was confirmed, so it is the person's. Whoever wrote the file says the rest.
    let is_trusted = fact.entry.is_some_and(|entry| entry.trust_state().unapproved().is_none());
    let provenance = (!is_trusted).then_some(Provenance::Imported);
    let origin = Origin { provenance, ..Origin::default() };
    Ok(match entries::run(call, entries, &origin, StoreEntry { entry, expected_version }).await {
        Ok(reply) => match reply.state {
            StoreState::Forgotten => Err(FactChangeKind::Refused("it says what was forgotten".into())),
            StoreState::Conflict => Err(FactChangeKind::Conflict("the entry has changed meanwhile".into())),
            _ => Ok(stored(fact)),
        },
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
    let expected_version = fact.entry.map(|entry| entry.version.clone());
    let request = ForgetEntry { key: key.into(), expected_version };
    Ok(match entries::run(call, entries, &Origin::default(), request).await {
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
