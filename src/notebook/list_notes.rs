//! `list-notes`: lists the notes that match a filter.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::config::NotebookConfig;
use super::graph_link::{GraphLink, graph_link};
use super::index::{NotebookCall, catch_up, look_as, read_texts_as, warnings};
use super::note_filter::{ConditionKind, NoteFilter};
use super::note_info::{NoteInfo, info};
use super::select::{LinkTable, Resolver, Snippets, edges, select};
use super::snapshot::Snapshot;
use super::types::{SortKey, Warning};
use crate::engine::{Call, Scope};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::{DocId, Skipped};

/// Lists notes by filters, as `zk list` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListNotes {
    /// Filter.
    pub filter: NoteFilter,
    /// Sort keys, the most important first; empty for the title.
    pub sort: Vec<SortKey>,
    /// Maximum number of notes; `None` for all.
    pub limit: Option<u32>,
    /// If set, resolves links by substring, as zk does.
    pub zk_links: bool,
    /// If set, includes the text of each note.
    pub with_text: bool,
    /// If set, includes the links between the notes.
    pub with_links: bool,
}

/// Notes that match a filter.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListNotesReply {
    /// Notes, in the requested order.
    pub notes: Vec<NoteInfo>,
    /// Links between two of these notes, if they were requested.
    pub links: Vec<GraphLink>,
    /// Problems that do not stop a listing.
    pub warnings: Vec<Warning>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
}

impl Request for ListNotes {
    type Reply = ListNotesReply;
    const NAME: &'static str = "list-notes";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let near = NoteFilter::default().with(ConditionKind::Related, [name]);
        let under = NoteFilter::default().with(ConditionKind::Path, [name]);
        let orphans = NoteFilter { orphan: true, ..NoteFilter::default() };
        let list = |filter| Self { filter, with_text: true, with_links: true, ..Self::default() };
        [NoteFilter::default(), under, near, orphans].map(list).to_vec()
    }
}

impl Run<NotebookCall<'_>> for ListNotes {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ListNotesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let request = self.below_notebook(&call.scope);
        let config = catch_up(call, notebook).await?;
        let ids = |snapshot: &Snapshot<'_>| {
            let request = request.by_path(snapshot)?;
            if request.with_text || request.with_links || request.filter.needs_text() {
                return Ok(snapshot.ids.clone());
            }
            let mut ids = selected(call, snapshot, &request)?;
            for source in Snippets::new(&snapshot.views, &request.filter)?.sources() {
                ids.push(snapshot.id(source)?);
            }
            Ok(ids)
        };
        read_texts_as(call, notebook, request.zk_links, ids).await?;
        let answer = |snapshot: &Snapshot<'_>| list(call, snapshot, &config, &request);
        let mut reply = look_as(notebook, call, request.zk_links, answer)?;
        reply.warnings = warnings(call, notebook);
        reply.skipped = notebook.corpus.borrow().skipped(|path| call.scope.display_path(path));
        Ok(reply)
    }
}

impl ListNotes {
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

/// Returns the notes that match a filter.
fn list(
    call: &Call,
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    request: &ListNotes,
) -> Result<ListNotesReply, Error> {
    let request = &*request.by_path(snapshot)?;
    let links = link_table(snapshot, request);
    let selected = select_notes(call, snapshot, request, &links)?;
    let snippets = Snippets::new(&snapshot.views, &request.filter)?;
    let notes = selected.iter().map(|&note| {
        let snippets = snippets.of(&snapshot.views, &links, note);
        Ok(NoteInfo { snippets, ..info(snapshot, config, note, request.with_text)? })
    });
    let notes = notes.collect::<Result<_, Error>>()?;
    let edges = if request.with_links { edges(&snapshot.views, &links, &selected) } else { Vec::new() };
    let links = edges.iter().map(|edge| graph_link(snapshot, edge)).collect::<Result<_, Error>>()?;
    Ok(ListNotesReply { notes, links, ..ListNotesReply::default() })
}

/// Returns the index numbers of the notes that match a request, in its order.
pub(super) fn selected(call: &Call, snapshot: &Snapshot<'_>, request: &ListNotes) -> Result<Vec<DocId>, Error> {
    let request = &*request.by_path(snapshot)?;
    let links = link_table(snapshot, request);
    let selected = select_notes(call, snapshot, request, &links)?;
    selected.iter().map(|&note| snapshot.id(note)).collect()
}

pub(super) fn link_table(snapshot: &Snapshot<'_>, request: &ListNotes) -> LinkTable {
    if request.zk_links { LinkTable::zk(&snapshot.views) } else { LinkTable::new(&snapshot.views) }
}

/// Returns the positions in the snapshot of the notes that match a request, in its order.
pub(super) fn select_notes(
    call: &Call,
    snapshot: &Snapshot<'_>,
    request: &ListNotes,
    links: &LinkTable,
) -> Result<Vec<usize>, Error> {
    let ListNotes { filter, sort, limit, .. } = request;
    Ok(select(&snapshot.views, filter, sort, *limit, call.now.timestamp(), links)?)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, run_alone};
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_listing_by_links_shows_the_block_of_the_link_whichever_note_has_it() {
        let mut store =
            Store::with(&[("a.md", "# A\n\nfirst\n\nsee [[b]] for ports\n"), ("b.md", "# B\n\nlead of b\n")]);
        let mut snippets = |filter: NoteFilter| {
            let request = ListNotes { filter, ..ListNotes::default() };
            let reply = store.run(|fs| run_alone(fs, request)).expect("listed");
            reply.notes.into_iter().map(|note| (note.title, note.snippets)).collect::<Vec<_>>()
        };
        let block = || alloc::vec!["see [[b]] for ports".to_string()];
        let linked_by = NoteFilter::default().with(ConditionKind::LinkedBy, ["a"]);
        assert_eq!(snippets(linked_by), [("B".to_string(), block())]);
        let link_to = NoteFilter::default().with(ConditionKind::LinkTo, ["b"]);
        assert_eq!(snippets(link_to), [("A".to_string(), block())]);
    }
}
