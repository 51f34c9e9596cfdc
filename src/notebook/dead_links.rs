//! `dead-links`: lists the links that lead to no note, or to more than one.

use super::attachments::{Attachments, names_a_file};
use super::index::{MAX_ATTEMPTS, NotebookCall, catch_up, changed_meanwhile, look, skipped, with_texts};
use super::links::with_anchor;
use super::select::{self, Resolver};
use super::snapshot::Snapshot;
use crate::request::{Run, request};
use crate::search::{DocId, Skipped};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Link, line_of};
use saddlebag_protocol::Error;

/// Lists the links that lead to no note, or to more than one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLinks {
    /// If set, leaves out links to missing files that are not notes, such as pictures.
    pub only_notes: bool,
}

/// Links that lead to no note, or to more than one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadLinksReply {
    /// Links, sorted by the path of the note and by line.
    pub links: Vec<DeadLink>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
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
    /// True if the target is a missing file that is not a note, such as a picture.
    pub is_file: bool,
}

request!(DeadLinks "dead-links" => DeadLinksReply, Reads, |_| {
    vec![Self { only_notes: false }, Self { only_notes: true }]
});

impl Run<NotebookCall<'_>> for DeadLinks {
    async fn run(self, with: &NotebookCall<'_>) -> Result<DeadLinksReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        for _ in 0..MAX_ATTEMPTS {
            catch_up(call, notebook).await?;
            let mut found = look(notebook, call, found)?;
            // Other files matter only if a link does not lead to a note.
            if found.iter().any(|found| found.dead.candidates.is_empty()) {
                let attachments = Attachments::list(call).await?;
                found.retain(|found| !found.dead.candidates.is_empty() || !attachments.has(&found.from, &found.link));
            }
            found.retain(|found| !(self.only_notes && found.dead.is_file));
            if with_lines(with, &mut found).await {
                let links = found.into_iter().map(|found| found.dead).collect();
                return Ok(DeadLinksReply { links, skipped: skipped(call, notebook) });
            }
        }
        Err(changed_meanwhile())
    }
}

/// A link that does not lead to one note. Its line is known once its text was read.
struct Found {
    id: DocId,
    /// Path of the note with the link, relative to the notebook.
    from: String,
    link: Link,
    dead: DeadLink,
}

/// Returns the links that do not lead to one note.
fn found(snapshot: &Snapshot<'_>) -> Result<Vec<Found>, Error> {
    let dead_links = select::dead_links(&snapshot.views, &Resolver::new(&snapshot.views)).into_iter();
    let found = dead_links.map(|dead| {
        let (view, link, id) =
            (snapshot.view(dead.note)?, snapshot.link(dead.note, dead.link)?, snapshot.id(dead.note)?);
        let candidates = dead.candidates.iter().map(|&note| snapshot.display_path(note));
        let candidates = candidates.collect::<Result<Vec<String>, Error>>()?;
        let dead = DeadLink {
            path: snapshot.display_path(dead.note)?,
            line: 0,
            target: with_anchor(link.target.clone(), link),
            is_file: candidates.is_empty() && names_a_file(link),
            candidates,
        };
        Ok(Found { id, from: view.path.into(), link: link.clone(), dead })
    });
    found.collect()
}

/// Sets the lines of links. Returns false if one of the notes has changed meanwhile.
async fn with_lines(with: &NotebookCall<'_>, found: &mut [Found]) -> bool {
    let mut ids: Vec<DocId> = found.iter().map(|found| found.id).collect();
    ids.dedup();
    let mut rest = found.iter_mut().peekable();
    with_texts(with.call, with.notebook, &ids, |id, document| {
        while let Some(found) = rest.next_if(|found| found.id == id) {
            found.dead.line = line_of(document.text(), found.link.span.start);
        }
    })
    .await
}
