//! `graph`: returns notes and the links between them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::config::NotebookConfig;
use super::index::{NotebookCall, catch_up, look_as, read_texts};
use super::links::href;
use super::list_notes::{ListNotes, link_table, select_notes};
use super::note_info::{NoteInfo, info};
use super::select::{Edge, Snippets, edges, zk_href};
use super::snapshot::Snapshot;
use crate::document::LinkKind;
use crate::engine::Call;
use crate::part::TextPart;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Returns notes and the links between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Notes to select.
    pub notes: ListNotes,
}

/// Notes and the links between them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphReply {
    /// Selected notes.
    pub notes: Vec<NoteInfo>,
    /// Links between the selected notes.
    pub links: Vec<GraphLink>,
}

/// A link between two notes.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphLink {
    /// Path of the note with the link.
    pub source: String,
    /// Path of the note that it leads to.
    pub target: String,
    /// Text of the link.
    pub title: String,
    /// Target, as it is written.
    pub href: String,
    /// Kind: `wiki-link`, `markdown`, `embed`, or `property` for a link of the frontmatter.
    pub kind: String,
    /// Relations: `up`, `down`, or the words of the link's title.
    pub relations: Vec<String>,
    /// Block with the link.
    pub snippet: String,
    /// Start of the block in the file, in bytes.
    #[serde(skip)]
    pub snippet_start: u64,
    /// End of the block in the file, in bytes.
    #[serde(skip)]
    pub snippet_end: u64,
}

impl Request for Graph {
    type Reply = GraphReply;
    const NAME: &'static str = "graph";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        ListNotes::samples(name).into_iter().map(|notes| Self { notes }).collect()
    }
}

impl Run<NotebookCall<'_>> for Graph {
    async fn run(self, with: &NotebookCall<'_>) -> Result<GraphReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let request = self.notes.below_notebook(&call.scope);
        let config = catch_up(call, notebook).await?;
        read_texts(call, notebook, |snapshot| Ok(snapshot.ids.clone())).await?;
        let answer = |snapshot: &Snapshot<'_>| graph(call, snapshot, &config, &request);
        look_as(notebook, call, request.zk_links, answer)
    }
}

/// Returns notes and the links between them.
fn graph(
    call: &Call,
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    request: &ListNotes,
) -> Result<GraphReply, Error> {
    let request = &*request.by_path(snapshot)?;
    let links = link_table(snapshot, request);
    let selected = select_notes(call, snapshot, request, &links)?;
    let edges = edges(&snapshot.views, &links, &selected);
    let snippets = Snippets::new(&snapshot.views, &request.filter)?;
    let notes = selected.iter().map(|&note| {
        let snippets = snippets.of(&snapshot.views, &links, note);
        Ok(NoteInfo { snippets, ..info(snapshot, config, note, request.with_text)? })
    });
    Ok(GraphReply {
        notes: notes.collect::<Result<_, Error>>()?,
        links: edges.iter().map(|edge| graph_link(snapshot, edge)).collect::<Result<_, Error>>()?,
    })
}

fn graph_link(snapshot: &Snapshot<'_>, edge: &Edge) -> Result<GraphLink, Error> {
    let (view, link) = (snapshot.view(edge.from)?, snapshot.link(edge.from, edge.link)?);
    Ok(GraphLink {
        source: snapshot.display_path(edge.from)?,
        target: snapshot.display_path(edge.to)?,
        title: link.text.clone(),
        href: zk_href(view.path, link).unwrap_or_else(|| href(link)),
        kind: match link.kind {
            LinkKind::Wiki => "wiki-link",
            LinkKind::Markdown | LinkKind::Url => "markdown",
            LinkKind::Embed | LinkKind::Image => "embed",
            LinkKind::Property => "property",
        }
        .to_string(),
        relations: link.relations.clone(),
        // Others may have written the index, so its spans may not fit the text.
        snippet: view.text.part(link.context.clone()).to_string(),
        snippet_start: link.context.start as u64,
        snippet_end: link.context.end as u64,
    })
}
