//! Finishes a rename that is in progress.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::apply::{self, RenameReply};
use super::intent::Intent;
use super::plan::{Meaning, naming, naming_files, unread};
use super::rewrite::RenameSources;
use crate::changes::Call;
use crate::document::Note;
use crate::notebook::files::below_notebook;
use crate::notebook::index::{Notebook, catch_up, look};
use crate::notebook::select::Resolver;
use crate::notebook::snapshot::Names;
use crate::protocol::{Error, ErrorCode};

/// Finishes the rename that is in progress, if there is one.
///
/// Commands that change the notebook begin with it. An error here does not refuse them; the next rename reports
/// it.
pub(in crate::notebook) async fn settle(call: &Call, notebook: &Arc<Notebook>) {
    // The process that began the rename reports its result.
    let _ = finish_rename(call, notebook, None).await;
}

/// Finishes the rename that is in progress. Returns its result if it is the requested one: the name of a note and its
/// new title.
pub(super) async fn finish_rename(
    call: &Call,
    notebook: &Arc<Notebook>,
    asked: Option<(&str, &str)>,
) -> Result<Option<RenameReply>, Error> {
    if !Intent::is_there(call).await? {
        return Ok(None);
    }
    let config = catch_up(call, notebook).await?;
    let Some((intent, _)) = Intent::pending(call, &config).await? else { return Ok(None) };
    let unread = unread(call, notebook);
    let (linking, names, is_asked) = look(notebook, call, |snapshot| {
        // The state before: the new file does not exist, and the old one has its title.
        let before = Note {
            title: intent.old_title.clone(),
            aliases: intent.aliases.clone(),
            links: Vec::new(),
            ..Note::default()
        };
        let snapshot = snapshot.before(call, &intent.from, &intent.to, &before);
        let resolver = Resolver::new(&snapshot.views);
        let place = resolver.place(below_notebook(call, &intent.from));
        let old =
            place.ok_or_else(|| Error::internal(format!("{} was added but is not among the notes", intent.from)))?;
        let is_asked = asked.is_some_and(|(note, title)| {
            snapshot.resolve(&resolver, note) == [old] && title.trim() == intent.new_title
        });
        Ok((naming(call, &snapshot, &resolver, old)?, Names::from_snapshot(&snapshot), is_asked))
    })?;
    let views = names.views();
    let meaning = Meaning::new(call, &views, &intent.from)?;
    let sources = RenameSources {
        linking: &linking,
        unread: &unread,
        naming: &naming_files(call, &intent.from).await?,
        meaning: &meaning,
        verbatim_names: false,
    };
    match apply::finish(call, &config, intent, &sources).await {
        Ok(reply) => Ok(Some(reply).filter(|_| is_asked)),
        // The note of that rename was changed by others, so the rename is over.
        Err(error) if !is_asked && error.code != ErrorCode::Storage => Ok(None),
        Err(error) => Err(error),
    }
}
