//! [`NoteList`], and [`Listing`]: the notes that its filter selects, in the order of the listing. A memory keeps it for the next
//! page.

use super::item_kind::ItemKind;
use super::note_filter::NoteFilter;
use super::select::{Resolver, Snippets, edges, link_table, select};
use super::snapshot::Snapshot;
use super::types::SortKey;
use crate::changes::Call;
use crate::engine::Scope;
use crate::search::DocId;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// A list of notes by filters, as `zk list` makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NoteList {
    /// Kinds of the notes; empty, or with [`ItemKind::Note`]: all.
    pub(crate) kinds: Vec<ItemKind>,
    /// Filter.
    pub(crate) filter: NoteFilter,
    /// Sort keys, the most important first; empty for the title.
    pub(crate) sort: Vec<SortKey>,
    /// Maximum number of notes in the reply; `None` for all.
    pub(crate) limit: Option<u32>,
    /// Number of notes to skip, for the next page. The memory keeps the listing of the last page, so further pages are quick.
    pub(crate) offset: u32,
    /// If set, resolves links by substring, as zk does.
    pub(crate) zk_links: bool,
    /// If set, includes what is read from the files: the text of each note, its lead and snippets, and the snippets of
    /// links.
    pub(crate) with_text: bool,
    /// If set, includes the links of the notes in the reply to notes that match.
    pub(crate) with_links: bool,
}

impl NoteList {
    pub(super) fn below_notebook(self, scope: &Scope) -> Self {
        Self { filter: self.filter.below_notebook(scope), ..self }
    }

    /// Returns the request with each note of its filter named by its path. zk knows neither titles nor aliases, so a
    /// request with its rules is returned as it is.
    pub(super) fn by_path(&self, snapshot: &Snapshot<'_>) -> Result<Cow<'_, Self>, Error> {
        if self.zk_links || !self.filter.names_notes() {
            return Ok(Cow::Borrowed(self));
        }
        let resolver = Resolver::new(&snapshot.views);
        let mut by_path = NoteFilter { conditions: Vec::new(), ..self.filter.clone() };
        for condition in &self.filter.conditions {
            if condition.kind.names_a_note() {
                by_path = by_path.with(condition.kind, snapshot.paths_named(&resolver, &condition.value)?);
            } else {
                by_path.conditions.push(condition.clone());
            }
        }
        Ok(Cow::Owned(Self { filter: by_path, ..self.clone() }))
    }
}

/// The notes that a filter selects. It has numbers alone, so a listing of many notes is small.
///
/// A number belongs to one text: a note that changed since has another number.
pub(super) struct Listing {
    /// Request of the first page.
    request: NoteList,
    notes: Vec<DocId>,
    /// Links between the notes, in zk's order, if they were requested.
    links: Vec<ListedLink>,
    /// Links whose blocks are shown as snippets of a note instead of its lead, by note.
    blocks: Vec<(DocId, LinkPlace)>,
}

/// A link by its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkPlace {
    pub(super) from: DocId,
    /// Place among the links of the note.
    pub(super) link: usize,
}

/// A link between two notes of a listing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedLink {
    pub(super) place: LinkPlace,
    pub(super) to: DocId,
}

impl Listing {
    /// Selects the notes for a request.
    pub(super) fn new(call: &Call, snapshot: &Snapshot<'_>, request: &NoteList) -> Result<Self, Error> {
        let by_path = &*request.by_path(snapshot)?;
        let links = link_table(&snapshot.views, &by_path.filter, request.with_links, request.zk_links);
        let now = call.now.timestamp();
        let mut selected = select(&snapshot.views, &by_path.filter, &by_path.sort, None, now, &links)?;
        if !request.kinds.is_empty() && !request.kinds.contains(&ItemKind::Note) {
            let is_asked = |path: &RelPath| ItemKind::of_note(&call.scope.layout, path).is_one_of(&request.kinds);
            selected.retain(|&note| snapshot.whole_path(note).is_ok_and(is_asked));
        }
        let mut listing = Self::of_request(request);
        if request.with_text {
            let snippets = Snippets::new(&snapshot.views, &by_path.filter)?;
            for &note in &selected {
                for (from, link) in snippets.blocks(&snapshot.views, &links, note) {
                    listing.blocks.push((snapshot.id(note)?, LinkPlace { from: snapshot.id(from)?, link }));
                }
            }
        }
        if request.with_links {
            for edge in edges(&snapshot.views, &links, &selected) {
                let place = LinkPlace { from: snapshot.id(edge.from)?, link: edge.link };
                listing.links.push(ListedLink { place, to: snapshot.id(edge.to)? });
            }
        }
        listing.notes = selected.iter().map(|&note| snapshot.id(note)).collect::<Result<_, Error>>()?;
        Ok(listing)
    }

    fn of_request(request: &NoteList) -> Self {
        let request = NoteList { offset: 0, limit: None, ..request.clone() };
        Self { request, notes: Vec::new(), links: Vec::new(), blocks: Vec::new() }
    }

    /// Returns true if a request asks for a page of this listing.
    pub(super) fn is_of(&self, request: &NoteList) -> bool {
        Self::of_request(request).request == self.request
    }

    /// Returns the number of notes on all pages.
    pub(super) fn total(&self) -> usize {
        self.notes.len()
    }

    /// Returns the notes of a page.
    pub(super) fn page(&self, request: &NoteList) -> &[DocId] {
        let rest = self.notes.get(request.offset as usize..).unwrap_or_default();
        let count = request.limit.map_or(rest.len(), |limit| rest.len().min(limit as usize));
        rest.get(..count).unwrap_or_default()
    }

    /// Returns the links of the notes of a page.
    pub(super) fn links_of<'a>(&'a self, page: &[DocId]) -> impl Iterator<Item = &'a ListedLink> + use<'a> {
        let is_on_page = marks(page);
        self.links.iter().filter(move |link| is_on_page(link.place.from))
    }

    /// Returns the links whose blocks are snippets of the notes of a page, each with the note.
    pub(super) fn blocks_of<'a>(&'a self, page: &[DocId]) -> impl Iterator<Item = &'a (DocId, LinkPlace)> + use<'a> {
        let is_on_page = marks(page);
        self.blocks.iter().filter(move |(note, _)| is_on_page(*note))
    }
}

/// Returns a predicate for the notes of a page.
fn marks(page: &[DocId]) -> impl Fn(DocId) -> bool + use<> {
    let mut sorted = page.to_vec();
    saddlebag_collections::order::sort_slice(&mut sorted, Ord::cmp);
    move |id| sorted.binary_search(&id).is_ok()
}
