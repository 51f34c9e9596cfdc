//! [`Sides`]: the section and the store. [`Fact`]: one fact on both sides.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::item::{self, Item};
use super::section::{self, Contents, Section};
use super::types::SyncAgentsMd;
use super::written::{Facts, Written, WrittenFact};
use crate::context::{LeftOut, LeftOutReason};
use crate::entries::{EntryInfo, EntryProblem};
use crate::notebook::slug;
use crate::protocol::Error;
use crate::sorted::SortedMap;

/// Maximum number of words of text that become its key.
const KEY_WORDS: usize = 6;

/// Both sides, and the record of the last section.
pub(super) struct Sides<'a> {
    pub(super) request: &'a SyncAgentsMd,
    /// Whole text of the file.
    pub(super) text: &'a str,
    pub(super) agent: &'a str,
    pub(super) section: Option<&'a Section>,
    /// Section as this store wrote it; `None` if another store wrote the file's section.
    pub(super) seen: Option<&'a Written>,
    pub(super) known: &'a [EntryInfo],
    /// Number of entries that can be added before others are evicted.
    pub(super) room: usize,
    pub(super) problems: &'a [EntryProblem],
}

/// One fact on all sides.
#[derive(Default)]
pub(super) struct Fact<'a> {
    pub(super) item: Option<&'a Item>,
    /// Fact in the last section that the store wrote.
    pub(super) base: Option<&'a WrittenFact>,
    pub(super) entry: Option<&'a EntryInfo>,
    /// Problem, if the file of its entry could not be parsed.
    pub(super) problem: Option<&'a EntryProblem>,
}

/// A fact of the new section.
pub(super) struct Listed {
    pub(super) key: String,
    pub(super) item: String,
    /// Base of the next merge; `None` if the two sides are in conflict.
    pub(super) fact: Option<WrittenFact>,
    pub(super) updated: u64,
    /// True if the fact stays, whatever the budget.
    pub(super) pinned: bool,
    pub(super) path: String,
}

impl Sides<'_> {
    /// Returns true if the section has facts and is not the one that this store wrote last.
    pub(super) fn is_foreign(&self) -> bool {
        self.seen.is_none() && self.section.is_some_and(|section| !section.items.is_empty())
    }

    pub(super) fn names_nothing(&self) -> bool {
        self.request.tags.is_empty() && self.request.keys.is_empty()
    }

    /// Renders a section of these facts. Also returns the SHA-256 of its text.
    pub(super) fn render(&self, taken: &[Listed], not_listed: usize, generation: u64) -> (String, String) {
        let items: Vec<&str> = taken.iter().map(|listed| listed.item.as_str()).collect();
        let preface = self.section.map_or("", |section| &section.preface);
        let (text, digest) = Contents { agent: self.agent, preface, items: &items, not_listed, generation }.render();
        let line_ending = self.line_ending();
        (if line_ending == "\n" { text } else { text.replace('\n', line_ending) }, digest)
    }

    pub(super) fn line_ending(&self) -> &'static str {
        self.section.map_or_else(|| section::line_ending(self.text), |section| section.line_ending)
    }
}

/// Returns the items by key. An item without a key gets one from its words.
pub(super) fn keyed(items: &[Item], known: &[EntryInfo]) -> Result<SortedMap<String, Item>, Error> {
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
        let key = names.find(|key| !keyed.contains_key(key) && says_the_same(key));
        let key =
            key.ok_or_else(|| Error::internal(format!("every key for the item of line {} is taken", item.line)))?;
        keyed.insert(key, item.clone());
    }
    Ok(keyed)
}

/// Returns every fact of the section and the store, by key. Also returns the base of facts without a readable entry,
/// if a file that could not be parsed may have their key.
pub(super) fn facts<'a>(
    sides: &Sides<'a>,
    items: &'a SortedMap<String, Item>,
) -> Result<(Vec<(String, Fact<'a>)>, Facts), Error> {
    let Sides { known, problems, seen, .. } = *sides;
    let mut facts: SortedMap<String, Fact<'a>> = SortedMap::default();
    let mut of = |key: &str, set: &dyn Fn(&mut Fact<'a>)| {
        let fact = facts.get_or_insert(key.to_string(), Fact::default());
        fact.map(set).ok_or_else(|| Error::internal(format!("the fact `{key}` was added and is not there")))
    };
    known.iter().try_for_each(|entry| of(&entry.key, &|fact| fact.entry = Some(entry)))?;
    items.iter().try_for_each(|(key, item)| of(key, &|fact| fact.item = Some(item)))?;
    for problem in problems {
        if let Some(key) = problem.key.as_deref().filter(|key| find(known, key).is_none()) {
            of(key, &|fact| fact.problem = Some(problem))?;
        }
    }
    // A file without a known key may be the entry of any key.
    let is_any_unknown = problems.iter().any(|problem| problem.key.is_none());
    let mut unknown = Vec::new();
    for (key, base) in seen.iter().flat_map(|seen| &seen.facts) {
        let is_known = find(known, key).is_some() || items.contains_key(key);
        let has_problem = problems.iter().any(|problem| problem.key.as_ref() == Some(key));
        if is_known || has_problem {
            of(key, &|fact| fact.base = Some(base))?;
        } else if is_any_unknown {
            unknown.push((key.clone(), base.clone()));
        }
    }
    Ok((facts.into_entries().collect(), unknown))
}

/// Finds the entry of a key. Entries are sorted by key.
pub(super) fn find<'a>(known: &'a [EntryInfo], key: &str) -> Option<&'a EntryInfo> {
    known.get(known.binary_search_by(|entry| entry.key.as_str().cmp(key)).ok()?)
}

/// Returns true if a fact of the store belongs into the section. A request by the file alone does not count.
pub(super) fn is_chosen(sides: &Sides<'_>, fact: &Fact<'_>, entry: &EntryInfo) -> bool {
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

/// Builds the report on a fact that is not in the section, with its size.
pub(super) fn left_out_of(
    request: &SyncAgentsMd,
    path: &str,
    key: &str,
    reason: LeftOutReason,
    bytes: usize,
) -> LeftOut {
    LeftOut { key: Some(key.into()), ..LeftOut::whole(path, request.name.as_str(), reason, bytes as u64) }
}

/// Returns the fact with the text of the store.
pub(super) fn of_entry(entry: &EntryInfo) -> Listed {
    let fact = Some(WrittenFact::new(&entry.content, true));
    let path = entry.path.clone();
    Listed { fact, updated: entry.updated, pinned: false, path, ..of_item(&entry.key, &entry.content) }
}

/// Returns the fact with the text of the section, which counts as newer than any entry.
pub(super) fn of_item(key: &str, content: &str) -> Listed {
    let item = item::render(key, content);
    Listed { key: key.into(), item, fact: None, updated: u64::MAX, pinned: true, path: String::new() }
}
