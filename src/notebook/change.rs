//! Changes to the notebook: what the index must know first, then the change.

use alloc::rc::Rc;

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
