//! Changes to the notebook: what the index must know first, then the change.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::config::load_config;
use super::create;
use super::daily;
use super::files::notebook_file;
use super::links::LinkTarget;
use super::run::{Notebook, catch_up, look};
use super::snapshot::Snapshot;
use super::{JournalEntryReply, RememberReply, RememberRequest, TodayReply};
use crate::engine::Call;
use crate::protocol::Error;

/// Adds a line to today's note.
pub(super) async fn journal(call: &Call, entry: &str) -> Result<JournalEntryReply, Error> {
    let found = load_config(call).await?;
    daily::journal(call, &found.config, entry).await
}

/// Gives today's note.
pub(super) async fn today(call: &Call) -> Result<TodayReply, Error> {
    let found = load_config(call).await?;
    daily::today(call, &found.config).await
}

/// Keeps a note. The index says where its links lead, and what has its title already.
pub(super) async fn remember(
    call: &Call,
    notebook: &Rc<Notebook>,
    request: &RememberRequest,
) -> Result<RememberReply, Error> {
    create::checked_title(&request.title)?;
    let config = catch_up(call, notebook).await?;
    let title = request.title.trim();
    let (links, known) = look(notebook, call, |snapshot: &Snapshot<'_>| {
        let links = request.links.iter().map(|link| {
            let note = snapshot.find(link)?;
            Ok((snapshot.path(note).to_string(), snapshot.title(note).to_string()))
        });
        let links: Vec<(String, String)> = links.collect::<Result<_, Error>>()?;
        let same_title = snapshot.views.iter().filter(|view| view.note.title == title);
        let known = same_title.map(|view| notebook_file(call, view.path)).collect::<Result<Vec<_>, Error>>()?;
        Ok((links, known))
    })?;
    let links: Vec<LinkTarget<'_>> = links.iter().map(|(path, title)| LinkTarget { path, title }).collect();
    create::remember(call, &config, request, &links, &known).await
}

// PLACEHOLDER
pub(super) async fn init(_: &Call) -> Result<super::InitReply, Error> { todo() }
pub(super) async fn link(_: &Call, _: &Rc<Notebook>, _: &str, _: &str, _: Option<&str>) -> Result<super::LinkReply, Error> { todo() }
pub(super) async fn rename(_: &Call, _: &Rc<Notebook>, _: &str, _: &str) -> Result<super::RenameReply, Error> { todo() }
pub(super) async fn forget(_: &Call, _: &Rc<Notebook>, _: &str) -> Result<super::ForgetReply, Error> { todo() }
pub(super) async fn remember_error(_: &Call, _: &str, _: &str) -> Result<RememberReply, Error> { todo() }
pub(super) async fn remember_summary(_: &Call, _: &str, _: &str) -> Result<RememberReply, Error> { todo() }
fn todo<T>() -> Result<T, Error> { Err(Error::new(crate::protocol::ErrorCode::Internal, "soon", "")) }
