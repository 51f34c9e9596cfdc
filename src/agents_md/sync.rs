//! Section and entries, brought together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::item::{self, Item};
use super::section::{self, Contents, Fingerprint, Section};
use super::{AgentsMdReply, AgentsMdRequest, FactChange, FactChangeKind, MAX_AGENTS_MD_BYTES, Side};
use crate::context::{LeftOut, LeftOutReason};
use crate::engine::Call;
use crate::entries::{
    self, Entries, EntriesCommand, EntriesReply, EntriesVerb, EntryInfo, EntryProblem, NewEntry, StoreState,
};
use crate::notebook::slug;
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;
use crate::trust::ForModel;

/// The category of what is chosen by neither tag nor key, and of what a person adds.
const CORE: &str = "core";

/// How many words of a text that has no key make up its key.
const KEY_WORDS: usize = 6;

/// A fact on all sides.
#[derive(Default)]
struct Fact<'a> {
    item: Option<&'a Item>,
    /// Of the fact as the section was written with it.
    base: Option<Fingerprint>,
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

/// A fact of the new section.
struct Listed {
    key: String,
    item: String,
    base: Option<Fingerprint>,
    updated: u64,
    /// Stays, whatever the budget.
    pinned: bool,
    path: String,
}

/// Reads edits of the section back into entries, and gives the file with the section as the entries are now.
pub(crate) async fn sync(call: &Call, entries: &Entries, request: AgentsMdRequest) -> Result<AgentsMdReply, Error> {
    let text = readable(&request)?;
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
    let (known, problems) = entries::current(call, entries).await?;
    let items = section.as_ref().map(|section| keyed(&section.items, &known)).unwrap_or_default();
    let base = section.as_ref().map_or(&[][..], |section| section.base.as_slice());
    let (facts, unknown) = facts(&items, base, &known, &problems);
    // A section that was emptied by mistake does not empty the store.
    let is_emptied = items.is_empty() && base.len() > 1 && request.prefer != Some(Side::Section);

    let mut changes = Vec::new();
    let mut listed = Vec::new();
    let mut kept_base = Vec::new();
    let mut not_approved = Vec::new();
    for (key, fact) in &facts {
        let line = fact.item.and_then(|item| u32::try_from(item.line).ok());
        let mut change = |kind| changes.push(FactChange { key: key.clone(), line, kind });
        let chosen = fact.entry.filter(|entry| is_chosen(&request, entry));
        // What stands in AGENTS.md is read as a prompt is.
        let waiting = chosen.filter(|entry| entry.standing().unapproved().is_some());
        not_approved.extend(waiting.map(|entry| {
            left_out_of(&request, &entry.path, &entry.key, LeftOutReason::Unapproved, entry.content.len())
        }));
        let is_chosen = chosen.is_some() && waiting.is_none();
        let left = match decide(key, fact, request.prefer, is_emptied) {
            Decision::Follow => {
                let shown = fact.entry.filter(|_| is_chosen);
                match (fact.item, shown) {
                    (None, Some(_)) => change(FactChangeKind::Listed),
                    (Some(_), None) => change(FactChangeKind::Unlisted),
                    (Some(item), Some(entry)) if item.content != entry.content => change(FactChangeKind::Refreshed),
                    _ => {}
                }
                listed.extend(shown.map(of_entry));
                continue;
            }
            Decision::Store => match store(call, entries, &request, key, fact).await? {
                Ok(kind) => {
                    change(kind);
                    let content = fact.item.map(|item| item.content.as_str()).unwrap_or_default();
                    listed.extend(match fact.entry {
                        Some(entry) => is_chosen.then(|| Listed { path: entry.path.clone(), ..of_item(key, content) }),
                        None => Some(of_item(key, content)),
                    });
                    continue;
                }
                Err(left) => left,
            },
            Decision::Forget => match forget(call, entries, &request, key, fact).await? {
                Ok(()) => {
                    change(FactChangeKind::Forgotten);
                    continue;
                }
                Err(left) => left,
            },
            Decision::Leave(reason) => FactChangeKind::Conflict(reason),
        };
        change(left);
        // What the section says stays, and so does what it was written with: the next time it is the same conflict.
        match fact.item {
            Some(item) => {
                let kept = Listed { base: fact.base, pinned: true, ..of_item(key, &item.content) };
                listed.push(kept);
            }
            None => kept_base.extend(fact.base),
        }
    }
    kept_base.extend(unknown);
    let (section_text, listed, mut left_out) = write(&request, text, &agent, section.as_ref(), listed, &kept_base);
    let content = section_text.map(|new| replaced(text, section.as_ref(), &new)).filter(|new| new != text);
    left_out.extend(not_approved);
    let message = message(&request, &changes, listed, left_out.len(), content.is_some());
    let content = content.map(String::into_bytes);
    Ok(AgentsMdReply { content, changes, listed, left_out, problems, message: ForModel::escaped(&message) })
}

fn readable(request: &AgentsMdRequest) -> Result<&str, Error> {
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

/// Every fact that the section or the store has, by key; and what the section was written with, where its key is not
/// known but a file that cannot be read may have it.
fn facts<'a>(
    items: &'a SortedMap<String, Item>,
    base: &[Fingerprint],
    known: &'a [EntryInfo],
    problems: &'a [EntryProblem],
) -> (Vec<(String, Fact<'a>)>, Vec<Fingerprint>) {
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
    let mut facts: Vec<(String, Fact<'a>)> = facts.into_entries().collect();
    let keys: Vec<Fingerprint> = facts.iter().map(|(key, _)| Fingerprint::of(key, "")).collect();
    let mut unknown = Vec::new();
    for &print in base {
        // Of two keys that look the same here, the one that is in the section.
        let of_print = facts.iter_mut().zip(&keys).filter(|(_, key)| print.has_key_of(**key));
        match of_print.map(|((_, fact), _)| fact).max_by_key(|fact| fact.item.is_some()) {
            Some(fact) => fact.base = Some(print),
            // A problem without a key may be any entry's.
            None if problems.iter().any(|problem| problem.key.is_none()) => unknown.push(print),
            None => {}
        }
    }
    (facts, unknown)
}

fn decide(key: &str, fact: &Fact<'_>, prefer: Option<Side>, is_emptied: bool) -> Decision {
    let is_base = |content: &str| fact.base == Some(Fingerprint::of(key, content));
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

fn is_chosen(request: &AgentsMdRequest, entry: &EntryInfo) -> bool {
    if request.tags.is_empty() && request.keys.is_empty() {
        return entry.category == CORE;
    }
    request.keys.contains(&entry.key) || request.tags.iter().any(|tag| entry.tags.contains(tag))
}

/// A fact that is not in the section, of so many bytes.
fn left_out_of(request: &AgentsMdRequest, path: &str, key: &str, reason: LeftOutReason, bytes: usize) -> LeftOut {
    LeftOut {
        path: path.into(),
        key: Some(key.into()),
        section: request.name.clone(),
        reason,
        kept_bytes: 0,
        left_out_bytes: bytes as u64,
    }
}

fn of_entry(entry: &EntryInfo) -> Listed {
    Listed { updated: entry.updated, path: entry.path.clone(), ..of_item(&entry.key, &entry.content) }
}

/// What the section says: newer than any entry.
fn of_item(key: &str, content: &str) -> Listed {
    Listed {
        key: key.into(),
        item: item::render(key, content),
        base: Some(Fingerprint::of(key, content)),
        updated: u64::MAX,
        pinned: false,
        path: String::new(),
    }
}

/// Stores what the section says; what the store does not take is the inner error.
async fn store(
    call: &Call,
    entries: &Entries,
    request: &AgentsMdRequest,
    key: &str,
    fact: &Fact<'_>,
) -> Result<Result<FactChangeKind, FactChangeKind>, Error> {
    let Some(item) = fact.item else { return Ok(Err(FactChangeKind::Refused("the section has no text".into()))) };
    let kind = if fact.entry.is_some() { FactChangeKind::Updated } else { FactChangeKind::Stored };
    let entry = NewEntry {
        key: key.into(),
        content: item.content.clone(),
        category: fact.entry.map_or(CORE, |entry| &entry.category).into(),
        tags: fact.entry.map_or_else(|| request.tags.clone(), |entry| entry.tags.clone()),
        source: fact.entry.is_none().then(|| request.name.clone()),
        supersedes: None,
    };
    if request.dry_run {
        return Ok(Ok(kind));
    }
    let base = fact.entry.map(|entry| entry.version.clone());
    let command = EntriesCommand::new(EntriesVerb::Store { entry, base });
    Ok(match entries::run(call, entries, command).await {
        Ok(EntriesReply::Stored(reply)) => match reply.state {
            StoreState::Forgotten => Err(FactChangeKind::Refused("it says what was forgotten".into())),
            StoreState::Conflict => Err(FactChangeKind::Conflict("the entry has changed meanwhile".into())),
            _ => Ok(kind),
        },
        Ok(_) => Err(FactChangeKind::Refused("the reply is not of the kind of its command".into())),
        Err(error) => Err(refusal(error)?),
    })
}

/// Forgets what the section has no longer; likewise.
async fn forget(
    call: &Call,
    entries: &Entries,
    request: &AgentsMdRequest,
    key: &str,
    fact: &Fact<'_>,
) -> Result<Result<(), FactChangeKind>, Error> {
    if request.dry_run {
        return Ok(Ok(()));
    }
    let base = fact.entry.map(|entry| entry.version.clone());
    let command = EntriesCommand::new(EntriesVerb::Forget { key: key.into(), base });
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

/// The section within its budget, how many facts it has, and those that it has no room for. `None` where there is no
/// section and nothing to say.
fn write(
    request: &AgentsMdRequest,
    text: &str,
    agent: &str,
    section: Option<&Section>,
    listed: Vec<Listed>,
    kept_base: &[Fingerprint],
) -> (Option<String>, u32, Vec<LeftOut>) {
    if section.is_none() && listed.is_empty() {
        return (None, 0, Vec::new());
    }
    let preface = section.map_or("", |section| &section.preface);
    let line_ending = section.map_or_else(|| section::line_ending(text), |section| section.line_ending);
    let render = |items: &[&Listed], not_listed: usize| {
        let texts: Vec<&str> = items.iter().map(|listed| listed.item.as_str()).collect();
        let mut base: Vec<Fingerprint> = items.iter().filter_map(|listed| listed.base).collect();
        base.extend_from_slice(kept_base);
        order::sort_slice(&mut base, Ord::cmp);
        let text = Contents { agent, preface, items: &texts, not_listed, base: &base }.render();
        if line_ending == "\n" { text } else { text.replace('\n', line_ending) }
    };
    let mut room = (request.max_bytes as usize).saturating_sub(render(&[], listed.len()).len());
    // The last changed first, as they are chosen; each as long as a fact with its print.
    let mut by_age: Vec<&Listed> = listed.iter().collect();
    // What was stored together was stored in the order of the keys.
    order::sort_slice_by_key(&mut by_age, |listed| (!listed.pinned, Reverse((listed.updated, listed.key.as_str()))));
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for fact in by_age {
        let breaks = fact.item.matches('\n').count() * (line_ending.len() - 1);
        let needed = fact.item.len() + breaks + line_ending.len() + PRINT_BYTES + line_ending.len();
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
    let count = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    (Some(render(&taken, left_out.len())), count, left_out)
}

/// Checks that the budget is more than a section without items.
fn check_budget(request: &AgentsMdRequest, agent: &str, section: Option<&Section>) -> Result<(), Error> {
    let preface = section.map_or("", |section| &section.preface);
    let text = Contents { agent, preface, items: &[], not_listed: usize::MAX, base: &[] }.render();
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
    let section = Contents { agent, preface: "", items: &[], not_listed: 0, base: &[] }.render();
    match section::find(&replaced(text, None, &section), name) {
        Ok(Some(_)) => Ok(()),
        // The text alone has no marker that is wrong.
        Ok(None) | Err(_) => {
            let message = format!("{name} ends in a code block or a comment that nothing closes");
            Err(Error::invalid_argument(message, "close it; nothing was changed"))
        }
    }
}

/// How long a print is in the last marker, with the space before it.
const PRINT_BYTES: usize = Fingerprint::DIGITS + 1;

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

fn message(
    request: &AgentsMdRequest,
    changes: &[FactChange],
    listed: u32,
    left_out: usize,
    is_changed: bool,
) -> String {
    let name = &request.name;
    let mut message = match (is_changed, request.dry_run) {
        (true, true) => format!("{name} would change"),
        (true, false) => format!("{name} changes"),
        (false, _) => format!("{name} stays as it is"),
    };
    message.push_str(&format!(": {listed} listed, {left_out} not listed"));
    let word = |kind: &FactChangeKind| match kind {
        FactChangeKind::Stored => "stored",
        FactChangeKind::Updated => "updated",
        FactChangeKind::Forgotten => "forgotten",
        FactChangeKind::Conflict(_) => "in conflict",
        FactChangeKind::Refused(_) => "refused",
        _ => "",
    };
    for what in ["stored", "updated", "forgotten", "in conflict", "refused"] {
        let count = changes.iter().filter(|change| word(&change.kind) == what).count();
        if count > 0 {
            message.push_str(&format!(", {count} {what}"));
        }
    }
    message
}
