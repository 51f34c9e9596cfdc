//! `dead-links`: lists the links that lead to no note, or to more than one.

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

/// Lists the links that lead to no note, or to more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks;

/// Links that lead to no note, or to more than one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadLinksReply {
    /// Links, sorted by the path of the note and by line.
    pub links: Vec<DeadLink>,
}

/// A link that leads to no note, or to more than one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadLink {
    /// Path of the note with the link.
    pub path: String,
    /// Line of the link, counted from 1.
    pub line: u32,
    /// Target of the link, as it is written.
    pub target: String,
    /// Notes that the target could mean; empty if there is no such note.
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

/// Returns the index numbers of the notes with links that do not lead to one note.
fn with_dead_links(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Result<Vec<DocId>, Error> {
    let dead = dead_links_of(snapshot, attachments)?;
    let mut ids = dead.iter().map(|dead| snapshot.id(dead.note)).collect::<Result<Vec<DocId>, Error>>()?;
    ids.dedup();
    Ok(ids)
}

/// Returns true if any link leads to no note. Only then the other files matter.
fn leads_astray(snapshot: &Snapshot<'_>) -> bool {
    let dead = select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.iter().any(|dead| dead.candidates.is_empty())
}

/// Returns the links that lead to no note and no other file, or to more than one note.
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

/// Returns the links that do not lead to one note.
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
