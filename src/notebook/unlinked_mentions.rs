//! `unlinked-mentions`: lists the notes that name a note without linking to it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::index::{NotebookCall, catch_up, look_checked, read_texts};
use super::select::{Graph, LinkTable, unlinked_mentions};
use super::snapshot::Snapshot;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Lists the notes that name a note's title or an alias without linking to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlinkedMentions {
    /// Path, name, title or alias of the note.
    pub note: String,
}

/// The notes that name a note without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnlinkedMentionsReply {
    /// Notes, sorted by path.
    pub notes: Vec<Mention>,
}

/// A note that names another without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mention {
    /// Path of the file.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Lines that name the note, counted from 1.
    pub lines: Vec<u32>,
}

impl Request for UnlinkedMentions {
    type Reply = UnlinkedMentionsReply;
    const NAME: &'static str = "unlinked-mentions";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: name.into() }]
    }
}

impl Run<NotebookCall<'_>> for UnlinkedMentions {
    async fn run(self, with: &NotebookCall<'_>) -> Result<UnlinkedMentionsReply, Error> {
        catch_up(with.call, with.notebook).await?;
        read_texts(with.call, with.notebook, |snapshot| Ok(snapshot.ids.clone())).await?;
        let mentions = |snapshot: &Snapshot<'_>| mentions(snapshot, &self.note);
        Ok(UnlinkedMentionsReply { notes: look_checked(with.call, with.notebook, mentions).await? })
    }
}

/// Returns the notes that name a note without linking to it.
fn mentions(snapshot: &Snapshot<'_>, note: &str) -> Result<Vec<Mention>, Error> {
    let note = snapshot.find(note)?;
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    let mut found: Vec<(usize, Mention)> = Vec::new();
    for mention in unlinked_mentions(&snapshot.views, &graph, note) {
        match found.last_mut() {
            Some((index, last)) if *index == mention.index => last.lines.push(mention.line),
            _ => found.push((
                mention.index,
                Mention {
                    path: snapshot.display_path(mention.index)?,
                    title: snapshot.title(mention.index)?.to_string(),
                    lines: alloc::vec![mention.line],
                },
            )),
        }
    }
    Ok(found.into_iter().map(|(_, mention)| mention).collect())
}
