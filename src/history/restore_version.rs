//! Gives a file the text of an earlier version.

use saddlebag_log::{State, Version, unified};

use super::files::{FileHistory, numbered};
use super::list_versions::{CONTEXT_LINES, history_of, records_of};
use super::log::{History, complete_interrupted};
use super::types::check_is_kept;
use crate::changes::{Backups, Call, File, is_tombstone};
use crate::entries::as_restored;
use crate::names::Stores;
use crate::notebook::ItemKind;
use crate::origin::Moment;
use crate::store::{Layout, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// A file that got the text of a version.
pub(crate) struct NewText {
    pub(crate) path: RelPath,
    /// Number that the version had before.
    pub(crate) version: u32,
    /// What the file lost and got, in the form of `git diff`; empty if it had this text.
    pub(crate) diff: String,
    pub(crate) message: String,
}

/// Gives an item the text of a version, by its number or by a moment. The text that it had stays in the history.
pub(crate) async fn restore_version(
    with: &Stores<'_>,
    (name, kind): (&str, Option<ItemKind>),
    chosen: (Option<u32>, Option<Moment>),
    dry_run: bool,
) -> Result<NewText, Error> {
    let call = with.call;
    check_is_kept(call)?;
    call.scope.trust.check_person("restore a version")?;
    if !dry_run {
        complete_interrupted(with).await?;
    }
    let (path, mut history) = history_of(with, name, kind).await?;
    if matches!(chosen.1, Some(Moment::Operation(_))) {
        // The operation may be of other files.
        history = History::read(call, with.entries, None).await?;
    }
    let mut file = FileHistory::of_item(call, &history, &path).await?;
    let number = match chosen {
        (Some(number), None) => number,
        (None, Some(at)) => number_at(call, &history, &file, &at).await?,
        _ => {
            let message = "a version is named by a number or by a time, and not by both";
            return Err(Error::invalid_argument(message, "`history NAME` lists the versions"));
        }
    };
    let state = numbered(&file, number)?.state;
    let bytes = file.content(call, state).await?;
    let shown = call.scope.display_path(&path);
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let is_gone = |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| is_tombstone(&path, bytes));
    let restore = |file: &File| {
        let bytes = bytes.clone().map(|bytes| as_restored(call, with.entries, file, &path, bytes));
        if is_gone(bytes.as_deref()) {
            let message = format!("{shown} does not exist in version {number}");
            return Err(Error::invalid_argument(message, "choose another version, or `forget` it"));
        }
        let diff = unified(&text(file.bytes()), &text(bytes.as_deref()), CONTEXT_LINES);
        let is_same = file.bytes() == bytes.as_deref();
        let change = call.screen.revert(file, bytes)?;
        Ok(((!is_same).then_some(change), (is_same, diff)))
    };
    let (is_same, diff) = match dry_run {
        true => restore(&file.file)?.1,
        // The version that was chosen stays, although it has another number after a change of others.
        false => call.update(&path, Backups::Keep, restore).await?.0,
    };
    let message = match (dry_run, is_same) {
        (_, true) => format!("{shown} already has the text of version {number}"),
        (true, false) => format!("Dry run, nothing is changed: {shown} would get the text of version {number}"),
        (false, false) => format!("Restored version {number} of {shown}; `undo` takes it back"),
    };
    Ok(NewText { path, version: number, diff, message })
}

/// Returns the number of the version before a change that kept no text by itself, such as an append, an undo, or a change by another
/// program; `None` if the last change was not such a one, or if the history lacks that text. A backup is newer than the history.
pub(crate) async fn version_before(with: &Stores<'_>, path: &RelPath) -> Result<Option<u32>, Error> {
    let call = with.call;
    if call.recorder.is_none() || call.load(&Layout::backup_of(path)).await?.bytes().is_some() {
        return Ok(None);
    }
    let history = records_of(with, path).await?;
    let mut file = FileHistory::of_item(call, &history, path).await?;
    let (mut number, mut versions) = (2, file.versions.as_slice());
    // A crash may have left the record of a change that was never made, and a version for it.
    while let [Version { step: None, .. }, Version { step: Some(step), .. }, rest @ ..] = versions
        && file.looks_unmade(*step)
    {
        (number, versions) = (number + 2, rest);
    }
    let [last, before, ..] = versions else { return Ok(None) };
    let change = last.step.and_then(|step| file.steps.get(step));
    let change = change.and_then(|step| step.recorded.record.changes.get(step.change));
    let keeps_nothing = change.is_none_or(|change| !change.keeps_before && change.moved_from.is_none());
    let is_kept = ![last.state, before.state].contains(&State::Absent) && file.keeps(before.state);
    if !is_kept || !keeps_nothing {
        return Ok(None);
    }
    let before = before.state;
    let is_forgotten = file.content(call, before).await?.is_some_and(|bytes| is_tombstone(path, &bytes));
    Ok((!is_forgotten).then_some(number))
}

/// Returns the file that had a name until another program removed it.
pub(super) async fn removed_by_others(
    with: &Stores<'_>,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<Option<RelPath>, Error> {
    if with.call.recorder.is_none() {
        return Ok(None);
    }
    match history_of(with, name, kind).await {
        Err(error) if error.code == ErrorCode::Storage => Err(error),
        Ok((path, _)) if last_before_removal(with, &path).await?.is_some() => Ok(Some(path)),
        _ => Ok(None),
    }
}

/// Returns the number of the last version whose text is kept, of a file that another program removed.
pub(crate) async fn last_before_removal(with: &Stores<'_>, path: &RelPath) -> Result<Option<u32>, Error> {
    if with.call.recorder.is_none() {
        return Ok(None);
    }
    let history = records_of(with, path).await?;
    let file = FileHistory::of_item(with.call, &history, path).await?;
    let is_by_others = file.versions.first().is_some_and(|last| last.step.is_none() && last.state == State::Absent);
    let is_kept = |version: &Version| version.state != State::Absent && file.keeps(version.state);
    let last = file.versions.iter().position(is_kept).filter(|_| is_by_others);
    Ok(last.and_then(|place| u32::try_from(place + 1).ok()))
}

/// Returns the number of the version that a file had at a moment.
async fn number_at(call: &Call, history: &History, file: &FileHistory<'_>, at: &Moment) -> Result<u32, Error> {
    let place = file.place_at(call, history.end_of(at, call)?).await?;
    place.and_then(|place| u32::try_from(place + 1).ok()).ok_or_else(|| {
        let message = format!("{} did not exist at that time, or its history begins later", file.path);
        Error::new(ErrorCode::NotFound, message, "`history NAME` lists the versions")
    })
}
