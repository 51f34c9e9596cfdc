//! `dead-links`: the links that lead nowhere, or to more than one note.

use alloc::string::String;
use alloc::vec::Vec;

use super::attachments::Attachments;
use super::index::{NotebookCall, catch_up, look, read_texts};
use super::links::href;
use super::select::{self, Resolver};
use super::snapshot::{Snapshot, line_of};
use crate::engine::Call;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::DocId;

/// Lists the links that lead nowhere, or to more than one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks;

/// The links that lead nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLinksReply {
    /// By the path of the note that has the link, and its line.
    pub links: Vec<DeadLink>,
}

/// A link that leads to no note, or to no single one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLink {
    /// The file that has it.
    pub path: String,
    /// The line that it stands on, counted from 1.
    pub line: u32,
    /// Where it goes, as it is written.
    pub target: String,
    /// The notes that it could mean; none if there is no such note.
    pub candidates: Vec<String>,
}

impl Request for DeadLinks {
    type Reply = DeadLinksReply;
    const NAME: &'static str = "dead-links";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for DeadLinks {
    async fn run(self, with: &NotebookCall<'_>) -> Result<DeadLinksReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        catch_up(call, notebook).await?;
        let attachments = if look(notebook, call, |snapshot| Ok(leads_astray(snapshot)))? {
            Attachments::list(call).await?
        } else {
            Attachments::default()
        };
        read_texts(call, notebook, |snapshot| Ok(with_dead_links(snapshot, &attachments))).await?;
        let links = look(notebook, call, |snapshot| Ok(dead(call, snapshot, &attachments)))?;
        Ok(DeadLinksReply { links })
    }
}

/// The numbers in the index of the notes that have links which do not lead to one note.
fn with_dead_links(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<DocId> {
    let dead = dead_links_of(snapshot, attachments);
    let mut ids: Vec<DocId> = dead.iter().filter_map(|dead| snapshot.ids.get(dead.note).copied()).collect();
    ids.dedup();
    ids
}

/// Whether any link leads to no note, so that it matters which other files there are.
fn leads_astray(snapshot: &Snapshot<'_>) -> bool {
    let dead = select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.iter().any(|dead| dead.candidates.is_empty())
}

/// Links that lead to no note and no other file, or to more than one note.
fn dead_links_of(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<select::DeadLink> {
    let mut dead = select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.retain(|dead| {
        let view = snapshot.views.get(dead.note);
        let link = view.and_then(|view| Some((view, view.note.links.get(dead.link)?)));
        !dead.candidates.is_empty() || link.is_some_and(|(view, link)| !attachments.has(view, link))
    });
    dead
}

/// Links that do not lead to one note.
fn dead(call: &Call, snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<DeadLink> {
    let dead = dead_links_of(snapshot, attachments).into_iter();
    dead.filter_map(|dead| {
        let view = snapshot.views.get(dead.note)?;
        let link = view.note.links.get(dead.link)?;
        Some(DeadLink {
            path: snapshot.shown(dead.note, &call.scope),
            line: line_of(view.text, link.span.start),
            target: href(link),
            candidates: dead.candidates.iter().map(|&note| snapshot.shown(note, &call.scope)).collect(),
        })
    })
    .collect()
}
