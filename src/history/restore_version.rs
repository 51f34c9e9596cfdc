//! `restore-version`: gives a file the text of an earlier version.

use saddlebag_log::{State, unified};

use super::files::{FileHistory, numbered};
use super::list_versions::{CONTEXT_LINES, history_of};
use super::log::{History, complete_interrupted};
use super::types::check_is_kept;
use crate::changes::{Backups, Call, File, is_tombstone};
use crate::entries::with_category_of;
use crate::names::Stores;
use crate::origin::Moment;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Gives a file the text of an earlier version. The text that it had stays in the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreVersion {
    /// Name of the file, as [`ListVersions`](super::ListVersions) takes it.
    pub name: String,
    /// Number of the version, as [`ListVersions`](super::ListVersions) counts: 1 is the newest. Either this or `at`.
    pub version: Option<u32>,
    /// Moment of which the file is restored.
    pub at: Option<Moment>,
    /// If set, makes the same checks, and only reports what would change.
    pub dry_run: bool,
}

/// A restored version.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredVersion {
    /// Path of the file.
    pub path: String,
    /// Number that the version had before.
    pub version: u32,
    /// What the file lost and got, in the form of `git diff`; empty if it had this text.
    pub diff: String,
    /// Identifier of this operation; `None` if nothing was changed.
    pub operation: Option<String>,
    /// Summary.
    pub message: String,
}

request!(RestoreVersion "restore-version" => RestoredVersion, Removes, |name| {
    let same = Self { name: format!("notes/{name}.md"), version: Some(1), ..Self::default() };
    vec![same, Self { name: "scratchpad".into(), version: Some(2), ..Self::default() }]
});

impl Run<Stores<'_>> for RestoreVersion {
    async fn run(self, with: &Stores<'_>) -> Result<RestoredVersion, Error> {
        let call = with.call;
        check_is_kept(call)?;
        call.scope.trust.check_person("restore a version")?;
        if !self.dry_run {
            complete_interrupted(with).await?;
        }
        let (path, mut history) = history_of(with, &self.name, None).await?;
        if matches!(self.at, Some(Moment::Operation(_))) {
            // The operation may be of other files.
            history = History::read(call, with.entries, None).await?;
        }
        let mut file = FileHistory::of_item(call, &history, &path).await?;
        let (number, state) = self.choose(call, &history, &file).await?;
        let bytes = file.content(call, state).await?;
        let shown = call.scope.display_path(&path);
        let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let is_gone = |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| is_tombstone(&path, bytes));
        let restore = |file: &File| {
            let bytes = bytes.clone().map(|bytes| with_category_of(call, with.entries, file, &path, bytes));
            if is_gone(bytes.as_deref()) && !is_gone(file.bytes()) {
                let message = format!("{shown} does not exist in version {number}");
                return Err(Error::invalid_argument(message, "choose another version, or `forget` it"));
            }
            let diff = unified(&text(file.bytes()), &text(bytes.as_deref()), CONTEXT_LINES);
            let is_same = file.bytes() == bytes.as_deref();
            let change = call.screen.revert(file, bytes)?;
            Ok(((!is_same).then_some(change), (is_same, diff)))
        };
        let (is_same, diff) = match self.dry_run {
            true => restore(&file.file)?.1,
            // The version that was chosen stays, although it has another number after a change of others.
            false => call.update(&path, Backups::Keep, restore).await?.0,
        };
        let operation = call.recorded_operation();
        let message = match (self.dry_run, is_same) {
            (_, true) => format!("{shown} already has the text of version {number}"),
            (true, false) => format!("Dry run, nothing is changed: {shown} would get the text of version {number}"),
            (false, false) => format!("Restored version {number} of {shown}; `undo` takes it back"),
        };
        Ok(RestoredVersion { path: shown, version: number, diff, operation, message })
    }
}

impl RestoreVersion {
    /// Returns the number and the state of the version to restore.
    async fn choose(&self, call: &Call, history: &History, file: &FileHistory<'_>) -> Result<(u32, State), Error> {
        let number = match (self.version, &self.at) {
            (Some(number), None) => number,
            (None, Some(at)) => number_at(call, history, file, at).await?,
            _ => {
                let message = "a version is named by a number or by a time, and not by both";
                return Err(Error::invalid_argument(message, "`history NAME` lists the versions"));
            }
        };
        Ok((number, numbered(file, number)?.state))
    }
}

/// Returns the number of the version that a file had at a moment.
async fn number_at(call: &Call, history: &History, file: &FileHistory<'_>, at: &Moment) -> Result<u32, Error> {
    let place = file.place_at(call, history.end_of(at, call)?).await?;
    place.and_then(|place| u32::try_from(place + 1).ok()).ok_or_else(|| {
        let message = format!("{} did not exist at that time, or its history begins later", file.path);
        Error::new(ErrorCode::NotFound, message, "`history NAME` lists the versions".to_string())
    })
}
