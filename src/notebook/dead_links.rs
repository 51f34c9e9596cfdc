//! `dead-links`: the links that lead nowhere, or to more than one note.

use alloc::string::String;
use alloc::vec::Vec;

use super::attachments::Attachments;
use super::index::{NotebookCall, catch_up, look, read_texts};
use super::links::href;
use super::select::{self, Resolver};
use super::snapshot::{Snapshot, line_of};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::DocId;

/// Lists the links that lead nowhere, or to more than one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks;

/// The links that lead nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadLinksReply {
    /// By the path of the note that has the link, and its line.
    pub links: Vec<DeadLink>,
}

/// A link that leads to no note, or to no single one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        read_texts(call, notebook, |snapshot| with_dead_links(snapshot, &attachments)).await?;
        let links = look(notebook, call, |snapshot| dead(snapshot, &attachments))?;
        Ok(DeadLinksReply { links })
    }
}

/// The numbers in the index of the notes that have links which do not lead to one note.
fn with_dead_links(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Result<Vec<DocId>, Error> {
    let dead = dead_links_of(snapshot, attachments)?;
    let mut ids = dead.iter().map(|dead| snapshot.id(dead.note)).collect::<Result<Vec<DocId>, Error>>()?;
    ids.dedup();
    Ok(ids)
}

/// Returns true if any link leads to no note, so that it matters which other files there are.
fn leads_astray(snapshot: &Snapshot<'_>) -> bool {
    let dead = select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.iter().any(|dead| dead.candidates.is_empty())
}

/// Links that lead to no note and no other file, or to more than one note.
fn dead_links_of(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Result<Vec<select::DeadLink>, Error> {
    let mut found = Vec::new();
    for dead in select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views)) {
        let (view, link) = (snapshot.view(dead.note)?, snapshot.link(dead.note, dead.link)?);
        if !dead.candidates.is_empty() || !attachments.has(view, link) {
            found.push(dead);
        }
    }
    Ok(found)
}

/// Links that do not lead to one note.
fn dead(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Result<Vec<DeadLink>, Error> {
    let dead = dead_links_of(snapshot, attachments)?.into_iter();
    let found = dead.map(|dead| {
        let (view, link) = (snapshot.view(dead.note)?, snapshot.link(dead.note, dead.link)?);
        Ok(DeadLink {
            path: snapshot.display_path(dead.note)?,
            line: line_of(view.text, link.span.start),
            target: href(link),
            candidates: dead
                .candidates
                .iter()
                .map(|&note| snapshot.display_path(note))
                .collect::<Result<_, Error>>()?,
        })
    });
    found.collect()
}
