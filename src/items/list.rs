//! `list-items`: lists items, or what was forgotten.

use core::cmp::Ordering;

use super::types::ItemsCall;
use crate::changes::Call;
use crate::entries::{
    self, Entry as StoredEntry, EntryList, EntryOrder, EntryPage, EntryProblem, ForgottenEntry, unavailable,
};
use crate::history::{ForgottenNote, forgotten_notes};
use crate::journal::journal_files;
use crate::names::Stores;
use crate::notebook::{
    Facts, ItemKind, ItemList, ListedItem, NoteFilter, NoteList, SortBy, SortFields, SortKey, Warning, list_notes,
    note_rule, of_user,
};
use crate::origin::Origin;
use crate::request::{Run, request};
use crate::search::Skipped;
use crate::store::USER_FOLDER;
use saddlebag_collections::{order, prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Entry, Error};

/// Lists items: notes of this memory and those for all projects, entries, and other files.
///
/// Without sort keys, notes alone are in the order of their titles, entries alone in that of their creation with the newest first,
/// and anything else in that of the last change, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListItems {
    /// If set, lists notes and entries that were forgotten and can be restored, in place of those that there are.
    pub forgotten: bool,
    /// Only what this name means; only with `forgotten`.
    pub name: Option<String>,
    /// Kinds of the items; empty: all.
    pub kinds: Vec<ItemKind>,
    /// Only entries of this category.
    pub category: Option<String>,
    /// Filter. Entries and other files have tags and dates alone: any other condition selects among the notes.
    pub filter: NoteFilter,
    /// Sort keys, the most important first.
    pub sort: Vec<SortKey>,
    /// Maximum number of items; `None` for all.
    pub limit: Option<u32>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// If set, lists the notes of this memory alone, and resolves links by substring, as zk does.
    pub zk_links: bool,
    /// If set, includes what is read from the files of notes: the text of each, its lead and snippets, and the snippets of links.
    pub with_text: bool,
    /// If set, includes the links of the notes in the reply to notes that match.
    pub with_links: bool,
}

request!(ListItems "list-items" => ItemList, Reads, |name| {
    let near = NoteFilter::default().with(crate::notebook::ConditionKind::Related, [name]);
    let orphans = NoteFilter { orphan: true, ..NoteFilter::default() };
    let notes = |filter| Self { filter, with_text: true, with_links: true, ..Self::default() };
    let entries = Self { kinds: vec![ItemKind::Entry], limit: Some(1), ..Self::default() };
    let named = Self { forgotten: true, name: Some(name.into()), ..Self::default() };
    vec![Self::default(), notes(near), notes(orphans), entries, named, Self { forgotten: true, ..Self::default() }]
});

impl Run<ItemsCall<'_>> for ListItems {
    async fn run(self, with: &ItemsCall<'_>) -> Result<ItemList, Error> {
        let (ItemsCall { stores: with, origin, .. }, asked) = (*with, self);
        asked.check()?;
        let facts = Facts::new(&asked.filter, with.call.now.timestamp())?;
        if asked.forgotten {
            let found = forgotten(with, &asked, &facts).await?;
            return asked.page(Found::default(), found);
        }
        if asked.is_of_entries() && asked.sort.is_empty() {
            let (limit, after) = (asked.size(), asked.after.as_deref());
            let page = entries_of(with, origin, &asked, &facts, (None, limit, after)).await?;
            let EntryPage { entries, next, total, problems } = page;
            let warnings = if after.is_some() { Vec::new() } else { problems.into_iter().map(warning).collect() };
            let items = entries.into_iter().map(ListedItem::from).collect();
            return Ok(ItemList { items, total, next, warnings, ..ItemList::default() });
        }
        let others = others(with, origin, &asked, &facts).await?;
        let notes = match asked.is_for_notes() {
            true => {
                // Any of the others may come before the page.
                let offset = asked.start()?.saturating_sub(others.items.len());
                let limit = asked.limit.map(|_| asked.end().map(|end| end - offset)).transpose()?;
                let found = list_notes(with.call, with.notebook, asked.of_notes(offset, limit)).await?;
                Found { offset, list: found }
            }
            false => Found::default(),
        };
        asked.page(notes, others)
    }
}

/// Notes of this memory from an offset on, in their order.
#[derive(Default)]
struct Found {
    offset: usize,
    list: ItemList,
}

impl ListItems {
    /// Refuses what contradicts itself.
    fn check(&self) -> Result<(), Error> {
        let has = |kind: ItemKind| self.kinds.contains(&kind);
        let without_notes = !self.kinds.is_empty() && !self.kinds.iter().any(|kind| kind.is_note());
        let (message, help) = match () {
            () if self.name.is_some() && !self.forgotten => {
                ("a list takes a name only for what was forgotten", "`show` finds an item by its name")
            }
            () if self.category.is_some() && !self.kinds.is_empty() && !has(ItemKind::Entry) => {
                ("only entries have a category", "leave the category out, or add the kind `entry`")
            }
            () if (without_notes || self.forgotten) && !self.filter.is_of_facts() => {
                ("only notes have paths and links", "filter by tags and dates")
            }
            () => return Ok(()),
        };
        Err(Error::invalid_argument(message, help))
    }

    fn is_for(&self, kind: ItemKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn is_of_entries(&self) -> bool {
        self.kinds == [ItemKind::Entry] || (self.kinds.is_empty() && self.category.is_some())
    }

    fn is_for_notes(&self) -> bool {
        self.category.is_none() && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.is_note()))
    }

    /// Returns true if entries or other files may be among the items.
    fn is_for_others(&self, kind: ItemKind) -> bool {
        self.is_for(kind) && self.filter.is_of_facts() && !self.zk_links
    }

    fn start(&self) -> Result<usize, Error> {
        let Some(after) = &self.after else { return Ok(0) };
        after.parse().map_err(|_| {
            let message = format!("`{}` is not a cursor", after.escape_debug());
            Error::invalid_argument(message, "give the `next` of the previous page, or leave it out")
        })
    }

    fn size(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit as usize)
    }

    fn end(&self) -> Result<usize, Error> {
        Ok(self.start()?.saturating_add(self.size()))
    }

    fn of_notes(&self, offset: usize, limit: Option<usize>) -> NoteList {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        NoteList {
            kinds: self.kinds.clone(),
            filter: self.filter.clone(),
            sort: self.keys(),
            limit: limit.map(number),
            offset: number(offset),
            zk_links: self.zk_links,
            with_text: self.with_text,
            with_links: self.with_links,
        }
    }

    fn keys(&self) -> Vec<SortKey> {
        let are_notes = self.zk_links || (!self.kinds.is_empty() && self.kinds.iter().all(|kind| kind.is_note()));
        match self.sort.is_empty() && !are_notes {
            true => vec![SortKey { by: SortBy::Modified, ascending: false }],
            false => self.sort.clone(),
        }
    }

    /// Returns the page of the notes of this memory and the others in one order.
    fn page(&self, Found { offset, list: notes }: Found, mut others: ItemList) -> Result<ItemList, Error> {
        let start = self.start()?;
        let mut items = notes.items;
        if !others.items.is_empty() {
            items.append(&mut others.items);
            let keys = self.keys();
            order::sort_slice(&mut items, |a, b| compare(&keys, &a.sort_fields(), &b.sort_fields()));
        }
        items.truncate(self.end()? - offset);
        items.drain(..(start - offset).min(items.len()));
        let here: SortedSet<&str> = items.iter().map(|item| item.path.as_str()).collect();
        let mut links = others.links;
        links.extend(notes.links);
        links.retain(|link| here.contains(&link.source.as_str()));
        let total = notes.total.saturating_add(others.total);
        let end = start.saturating_add(items.len());
        let next = (!items.is_empty() && end < total as usize).then(|| end.to_string());
        let (mut warnings, mut skipped) = (notes.warnings, notes.skipped);
        warnings.append(&mut others.warnings);
        for file in others.skipped {
            if skipped.iter().all(|known: &Skipped| known.path != file.path) {
                skipped.push(file);
            }
        }
        if start > 0 {
            warnings.clear();
            skipped.clear();
        }
        Ok(ItemList { items, links, total, next, warnings, skipped })
    }
}

/// Compares two items by the keys. Where these are equal, a list is in the order of the names.
fn compare(keys: &[SortKey], a: &SortFields<'_>, b: &SortFields<'_>) -> Ordering {
    SortKey::compare(keys, a, b).then_with(|| (a.title, a.path).cmp(&(b.title, b.path)))
}

/// Returns the items that are not notes of this memory, as many of each kind as the page may need.
async fn others(with: Stores<'_>, origin: &Origin, asked: &ListItems, facts: &Facts) -> Result<ItemList, Error> {
    let Stores { call, notebook, entries } = with;
    let end = asked.end()?;
    let mut found = ItemList::default();
    // Notes for all projects have no links with those of a project, whose names they may share. The logs and sessions of their
    // memory are of no project.
    if asked.is_for_notes()
        && asked.is_for(ItemKind::Note)
        && !asked.zk_links
        && !asked.filter.names_notes()
        && let Some(user) = of_user(call)?
    {
        // The index of this memory has other files.
        let notebook = notebook.other(USER_FOLDER);
        found = list_notes(&user, &notebook, asked.of_notes(0, asked.limit.map(|_| end))).await?;
    }
    if asked.is_for_others(ItemKind::Entry) && (asked.is_of_entries() || entries.agent().is_ok()) {
        let keys = asked.keys();
        let order = |a: &StoredEntry, b: &StoredEntry| compare(&keys, &sort_fields(a), &sort_fields(b));
        let page = entries_of(with, origin, asked, facts, (Some(&order), end, None)).await?;
        found.total = found.total.saturating_add(page.total);
        found.items.extend(page.entries.into_iter().map(ListedItem::from));
        found.warnings.extend(page.problems.into_iter().map(warning));
    }
    if asked.is_for_others(ItemKind::File) && asked.category.is_none() {
        let (files, skipped) = files(call, asked, facts).await?;
        found.total = found.total.saturating_add(u32::try_from(files.len()).unwrap_or(u32::MAX));
        found.items.extend(files);
        found.skipped.extend(skipped);
    }
    Ok(found)
}

/// Order, number and cursor of a page of entries.
type Place<'a> = (Option<EntryOrder<'a>>, usize, Option<&'a str>);

async fn entries_of(
    Stores { call, entries, .. }: Stores<'_>,
    origin: &Origin,
    asked: &ListItems,
    facts: &Facts,
    (order, limit, after): Place<'_>,
) -> Result<EntryPage, Error> {
    let accepts = |entry: &StoredEntry| facts.fit(&entry.fields.tags, entry.created, entry.created, entry.updated);
    let list = EntryList { category: asked.category.as_deref(), accepts: &accepts, order, limit, after };
    entries::list(call, entries, origin, list).await
}

fn sort_fields(entry: &StoredEntry) -> SortFields<'_> {
    let key = entry.fields.key.as_str();
    SortFields { created: Some(entry.created), modified: entry.updated, path: key, title: key, word_count: 0 }
}

fn warning(problem: EntryProblem) -> Warning {
    Warning { path: problem.path, message: problem.message }
}

/// Returns the files that `search` covers and that are not notes, and those that cannot be read.
async fn files(call: &Call, asked: &ListItems, facts: &Facts) -> Result<(Vec<ListedItem>, Vec<Skipped>), Error> {
    let (files, skipped) = journal_files(call).await?;
    let layout = &call.scope.layout;
    let is_note = note_rule(call).await?;
    let files = files.iter().filter(|Entry { path, modified: time, .. }| {
        // The list of the notes has long-term memory and the scratchpad too, unless the configuration excludes them.
        let is_file = !is_note(path) || (!asked.is_for_notes() && layout.is_kept(path));
        is_file && !layout.is_of_user(path.as_str()) && facts.fit(&[], *time, *time, *time)
    });
    let item = |file: &Entry| {
        let (name, path) = (file.path.file_stem().to_string(), call.scope.display_path(&file.path));
        ListedItem { created: file.modified, ..ListedItem::new(ItemKind::File, name, path, file.modified) }
    };
    Ok((files.map(item).collect(), skipped))
}

/// Returns the notes and entries that were forgotten.
async fn forgotten(with: Stores<'_>, asked: &ListItems, facts: &Facts) -> Result<ItemList, Error> {
    let mut found = ItemList::default();
    let fits = |tags: &[String], time: u64| facts.fit(tags, time, time, time);
    if asked.is_for_notes() {
        for ForgottenNote { path, note, time } in forgotten_notes(&with, asked.name.as_deref()).await? {
            let kind = ItemKind::of_note(&with.call.scope.layout, &path);
            if fits(&note.tags, time) && kind.is_one_of(&asked.kinds) {
                let path = with.call.scope.display_path(&path);
                found.items.push(ListedItem { tags: note.tags, ..ListedItem::new(kind, note.title, path, time) });
            }
        }
    }
    if asked.is_for(ItemKind::Entry) && (asked.is_of_entries() || with.entries.agent().is_ok()) {
        let (forgotten, problems) = entries::forgotten(with.call, with.entries).await.map_err(unavailable)?;
        found.warnings.extend(problems.into_iter().map(warning));
        for ForgottenEntry { entry, path, time } in forgotten {
            let path = with.call.scope.display_path(&path);
            let (key, category) = (entry.fields.key.clone(), entry.fields.category.as_str().to_string());
            let is_named = asked.name.as_ref().is_none_or(|name| *name == key || *name == path);
            let is_of_category = asked.category.as_ref().is_none_or(|name| *name == category);
            if is_named && is_of_category && fits(&entry.fields.tags, time) {
                let (category, tags) = (Some(category), entry.fields.tags.clone());
                let item = ListedItem::new(ItemKind::Entry, key, path, time);
                found.items.push(ListedItem { category, tags, created: entry.created, ..item });
            }
        }
    }
    found.total = u32::try_from(found.items.len()).unwrap_or(u32::MAX);
    Ok(found)
}
