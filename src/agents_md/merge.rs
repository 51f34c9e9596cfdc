//! Merge of section and entries: an edit of the section becomes a change of an entry.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::item::Item;
use super::sides::{Fact, Listed, Sides, facts, is_chosen, left_out_of, of_entry, of_item};
use super::types::{FactChange, FactChangeKind, Side, SyncAgentsMd};
use super::written::{Facts, WrittenFact};
use crate::changes::Call;
use crate::context::{LeftOut, LeftOutReason};
use crate::entries::{self, Entries, EntryInfo, ForgetEntry, NewEntry, OutReason, StoreEntry, StoreState};
use crate::origin::Origin;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;
use crate::trust::{Provenance, for_model};

/// Category of facts that a person adds.
const CORE: &str = "core";

/// Decision for a fact.
enum Decision {
    /// Nothing changed in the section: it follows the entry.
    Follow,
    /// The entry gets the text of the section.
    Store,
    /// The entry is forgotten.
    Forget,
    /// Neither side changes. The value is the reason.
    Leave(String),
}

/// Result of a merge.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) changes: Vec<FactChange>,
    pub(super) listed: Vec<Listed>,
    /// Facts that left the section and are not settled yet.
    pub(super) kept: Facts,
    /// Facts to list that nobody has approved.
    pub(super) not_approved: Vec<LeftOut>,
    /// Number of changed entries that go into prompts.
    pub(super) trusted: usize,
    /// True if an entry changes.
    pub(super) is_stored: bool,
    /// Number of added entries.
    pub(super) added: usize,
}

/// Computes the changes of every fact. Entries change only if the changes are to be made.
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
        let is_trusted = fact.entry.is_some_and(|entry| entry.unapproved.is_none());
        let left = match decide(fact, request.prefer, is_emptied) {
            Decision::Follow => {
                merged.follow(sides, key, fact);
                continue;
            }
            // Anyone may have written the file, so it must not evict an entry.
            Decision::Store if fact.entry.is_none() && merged.added >= sides.room => {
                FactChangeKind::Refused("the agent has the maximum number of entries; forget some first".into())
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
        // The section and its base stay, so that the next merge finds the same conflict.
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

    /// Takes over the text of the entry for a fact that did not change in the section, if it may be written there.
    fn follow(&mut self, sides: &Sides<'_>, key: &str, fact: &Fact<'_>) {
        let chosen = fact.entry.filter(|entry| is_chosen(sides, fact, entry));
        // AGENTS.md is read like a prompt, so unapproved text stays out of it.
        let waiting = chosen.filter(|entry| entry.is_withheld());
        let says_it = |entry: &EntryInfo| fact.item.is_some_and(|item| item.content == entry.content);
        if let Some(entry) = waiting.filter(|entry| !says_it(entry)) {
            let bytes = entry.content.len();
            let reason = match entry.unapproved {
                Some(_) => LeftOutReason::Unapproved,
                None => LeftOutReason::NotHydrated(OutReason::OtherProject.to_string()),
            };
            let left_out = left_out_of(sides.request, &entry.path, key, reason, bytes);
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
                let is_waiting = entry.is_withheld();
                let is_as_written = fact.base.is_some_and(|base| base.says(&item.content));
                if item.content == entry.content && (is_waiting || !was_followed) {
                    // It is in the section already.
                    self.keep_item(sides, key, fact);
                } else if is_as_written && !was_followed {
                    let reason = "the entry has changed; request its key or one of its tags to update the section";
                    self.change(key, fact, FactChangeKind::Refused(reason.into()));
                    self.keep_item(sides, key, fact);
                } else {
                    self.change(key, fact, FactChangeKind::Unlisted);
                }
            }
            (Some(_), None) => self.change(key, fact, FactChangeKind::Unlisted),
        }
    }

    /// Keeps a fact with the words that the section has.
    fn keep_item(&mut self, sides: &Sides<'_>, key: &str, fact: &Fact<'_>) {
        let Some(item) = fact.item else { return };
        let chosen = fact.entry.filter(|entry| is_chosen(sides, fact, entry));
        let was_followed = fact.base.is_some_and(|base| base.is_followed);
        if fact.entry.is_some() && was_followed && chosen.is_none() {
            // The request selects other facts now.
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
        return Decision::Leave(format!("its entry cannot be parsed: {}: {}", problem.path, problem.message));
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
                Some(_) => conflict("both the section and the entry have changed", Decision::Store),
                None => {
                    conflict("it was added to the section, but an entry with different text exists", Decision::Store)
                }
            }
        }
        (Some(_), None, None) => Decision::Store,
        (Some(item), None, Some(_)) if is_base(&item.content) => Decision::Follow,
        (Some(_), None, Some(_)) => conflict("it was changed in the section, but the entry is gone", Decision::Store),
        (None, Some(entry), Some(_)) => {
            if is_emptied {
                conflict("all items were removed from the section", Decision::Forget)
            } else if is_base(&entry.content) {
                Decision::Forget
            } else {
                conflict("it was removed from the section, but the entry has changed", Decision::Forget)
            }
        }
        (None, _, _) => Decision::Follow,
    }
}

/// Returns the kind of change that storing this fact is.
fn stored(fact: &Fact<'_>) -> FactChangeKind {
    if fact.entry.is_some() { FactChangeKind::Updated } else { FactChangeKind::Stored }
}

/// Stores the text of the section. The inner error is a refusal of this one fact.
async fn store(
    call: &Call,
    entries: &Entries,
    request: &SyncAgentsMd,
    key: &str,
    fact: &Fact<'_>,
) -> Result<Result<FactChangeKind, FactChangeKind>, Error> {
    let broken = |what: &str| Error::internal(format!("`{key}` cannot be stored: {what}"));
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
    // A person confirmed every change of text that goes into prompts, so that text is the person's. All other text may
    // come from whoever wrote the file.
    let is_trusted = fact.entry.is_some_and(|entry| entry.unapproved.is_none());
    let provenance = (!is_trusted).then_some(Provenance::Imported);
    let origin = Origin { provenance, ..Origin::default() };
    Ok(match entries::run(call, entries, &origin, StoreEntry { entry, expected_version }).await {
        Ok(reply) => match reply.state {
            StoreState::Forgotten => Err(FactChangeKind::Refused("it has the text that was forgotten".into())),
            StoreState::Conflict => Err(FactChangeKind::Conflict("the entry changed meanwhile".into())),
            _ => Ok(stored(fact)),
        },
        Err(error) => Err(refusal(error)?),
    })
}

/// Forgets an entry that left the section. The inner error is a refusal of this one fact.
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
        Err(error) if error.code == ErrorCode::StaleVersion => {
            Err(FactChangeKind::Conflict("the entry changed meanwhile".into()))
        }
        Err(error) => Err(refusal(error)?),
    })
}

/// Returns the refusal of one fact, or the error if it is about the whole store.
fn refusal(error: Error) -> Result<FactChangeKind, Error> {
    match error.code {
        ErrorCode::Storage | ErrorCode::Cancelled | ErrorCode::Internal => Err(error),
        _ => Ok(FactChangeKind::Refused(error.into_message())),
    }
}
