//! `list-versions`: lists the versions of a file, newest first.

use saddlebag_log::{State, unified};

use super::files::{FileHistory, StepOf, numbered};
use super::forgotten::find_forgotten;
use super::list_operations::is_by;
use super::log::History;
use super::types::{ChangeKind, MAX_HISTORY_ITEMS, OperationInfo, file_change, operation_info};
use crate::names::{Stores, handle, kind_rule};
use crate::notebook::{ItemKind, slug};
use crate::request::{Run, request};
use crate::store::{RelPath, text_of_name};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Lines of context around a difference.
pub(super) const CONTEXT_LINES: usize = 3;

/// Lists the versions of a file, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListVersions {
    /// Name of the file, as [`Resolve`](crate::items::Show) takes it, or the name of a file that is gone.
    pub name: String,
    /// Maximum number of versions, at most [`MAX_HISTORY_ITEMS`].
    pub limit: u32,
    /// Only versions that operations made at or after this time, in seconds since 1970-01-01T00:00:00Z.
    pub since: Option<i64>,
    /// Only versions by this agent, client, tool or session, or with text of this provenance.
    pub by: Option<String>,
    /// Only versions that this operation made.
    pub operation: Option<String>,
    /// If set, adds the difference from the version before to each version.
    pub patch: bool,
}

/// Versions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionList {
    /// Path of the file.
    pub path: String,
    /// Versions, newest first.
    pub versions: Vec<VersionInfo>,
    /// Number of all versions that were asked for.
    pub total: u32,
    /// Number of damaged lines in the logs, which were left out.
    pub damaged: u32,
    /// True if the logs are too large, and their oldest months were not read.
    pub cut: bool,
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionInfo {
    /// Number of the version: 1 is the newest.
    pub number: u32,
    /// What made it of the version before.
    pub kind: ChangeKind,
    /// Size in bytes; `None` if the file does not exist in this version, or the size is unknown.
    pub size: Option<u64>,
    /// True if the history does not have its text: it was too large, had a secret in it, or was expunged.
    pub unkept: bool,
    /// Operation that made it, without files; `None` if an editor or another program did.
    pub operation: Option<OperationInfo>,
    /// Difference from the version before, in the form of `git diff`; only if it was asked for and both texts are kept.
    pub patch: Option<String>,
}

request!(ListVersions "list-versions" => VersionList, Reads, |name| {
    vec![Self { name: format!("notes/{name}.md"), limit: 9, patch: true, ..Self::default() }]
});

impl Run<Stores<'_>> for ListVersions {
    async fn run(self, with: &Stores<'_>) -> Result<VersionList, Error> {
        let Stores { call, entries, .. } = *with;
        let (path, history) = history_of(with, &self.name, None).await?;
        let mut file = FileHistory::of_item(call, &history, &path).await?;
        let undone = history.undone();
        let limit = self.limit.clamp(1, MAX_HISTORY_ITEMS) as usize;
        let only = self.operation.as_deref().map(|given| history.operation(given)).transpose()?;
        let since = self.since.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let (mut versions, mut total) = (Vec::new(), 0_u32);
        for (index, version) in file.versions.clone().into_iter().enumerate() {
            let before = file.versions.get(index + 1).map_or(State::Absent, |before| before.state);
            let step = version.step.and_then(|step| file.steps.get(step)).copied();
            let change = step.and_then(|step| step.recorded.record.changes.get(step.change));
            let operation = step.map(|step| {
                let info = operation_info(call, entries, &step.recorded.record);
                OperationInfo { undone: undone.contains(&info.operation.as_str()), ..info }
            });
            let is_asked = |(step, info): (StepOf<'_>, &OperationInfo)| {
                only.is_none_or(|only| info.operation == only)
                    && since.is_none_or(|since| step.recorded.record.time_ns >= since)
                    && self.by.as_deref().is_none_or(|by| is_by(info, by))
            };
            let is_any = only.is_none() && since.is_none() && self.by.is_none();
            if !step.zip(operation.as_ref()).map_or(is_any, is_asked) {
                continue;
            }
            total = total.saturating_add(1);
            if versions.len() >= limit {
                continue;
            }
            let kind = change
                .and_then(|change| file_change(call, &path, change))
                .map_or_else(|| kind(before, version.state), |file| file.kind);
            let size = match version.state {
                State::Absent => None,
                State::Size(size) => Some(size),
                State::Bytes(_) => change.map(|change| change.after_size).or_else(|| size_of(&file, version.state)),
            };
            let patch = match self.patch {
                true => patch(with, &mut file, before, version.state).await,
                false => None,
            };
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let unkept = !file.keeps(version.state);
            versions.push(VersionInfo { number, kind, size, unkept, operation, patch });
        }
        let path = call.scope.display_path(&path);
        Ok(VersionList { path, versions, total, damaged: history.damaged, cut: history.is_cut })
    }
}

/// Returns the file of a name, and the records of this file, with those of its earlier paths.
pub(super) async fn history_of(
    with: &Stores<'_>,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<(RelPath, History), Error> {
    let call = with.call;
    let path = match handle(*with, name, kind).await {
        Ok(found) => found.file.path,
        // A key may look like the path of a backup.
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::InvalidArgument) => {
            let path = gone(with, name, kind, error.clone()).await?;
            let is_other = matches!(kind, Some(kind) if !kind_rule(*with, &[&path]).await?(&path).is(kind));
            Some(path).filter(|_| !is_other).ok_or(error)?
        }
        Err(error) => return Err(error),
    };
    // Its records are in the memory for all projects.
    call.scope.check_of_this_project(path.as_str())?;
    let history = records_of(with, &path).await?;
    Ok((path, history))
}

/// Returns the records of a file, with those of its earlier paths.
pub(super) async fn records_of(with: &Stores<'_>, path: &RelPath) -> Result<History, Error> {
    let history = History::read(with.call, with.entries, Some(path)).await?;
    match history.is_moved(path) {
        true => History::read(with.call, with.entries, None).await,
        false => Ok(history),
    }
}

/// Returns the file of a name, and the text that it has in a version; `None` if it does not exist in this version. Bytes that are
/// not UTF-8 are replaced by U+FFFD.
pub(crate) async fn text_of_version(
    with: &Stores<'_>,
    name: &str,
    kind: Option<ItemKind>,
    number: u32,
) -> Result<(RelPath, Option<String>), Error> {
    let (path, history) = history_of(with, name, kind).await?;
    let mut file = FileHistory::of_item(with.call, &history, &path).await?;
    let version = numbered(&file, number)?;
    let bytes = file.content(with.call, version.state).await?;
    Ok((path, bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

/// Returns the file that is gone and had this name. `error` says that no file has it now.
async fn gone(with: &Stores<'_>, name: &str, kind: Option<ItemKind>, error: Error) -> Result<RelPath, Error> {
    let Stores { call, entries, .. } = *with;
    let is_entry = |path: &RelPath| entries.has(path);
    let is_of_kind = |path: &RelPath| kind.is_none_or(|kind| is_entry(path) == (kind == ItemKind::Entry));
    if let Some(forgotten) = find_forgotten(with, name).await?.filter(is_of_kind) {
        return Ok(forgotten);
    }
    let history = History::read(call, entries, None).await?;
    let wanted = name.strip_suffix(".md").unwrap_or(name);
    let title = slug(wanted);
    let is_named = |path: &RelPath| {
        // The name of the file of an entry is its key, encoded.
        if is_entry(path) && text_of_name(path.file_stem()) == name {
            return true;
        }
        let path = path.as_str().strip_suffix(".md").unwrap_or(path.as_str());
        let stem = path.rsplit('/').next().unwrap_or(path);
        stem == wanted || stem == title || path.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('/'))
    };
    let is_gone = |path: &&RelPath| is_named(path) && is_of_kind(path) && !history.has_left(path);
    let mut paths: Vec<&RelPath> = history.paths().filter(is_gone).collect();
    paths.dedup();
    match paths.as_slice() {
        [path] => Ok((*path).clone()),
        [] => Err(error),
        several => {
            Err(crate::engine::ambiguous(name, several.iter().map(|path| call.scope.display_path(path)).collect()))
        }
    }
}

fn kind(before: State, after: State) -> ChangeKind {
    match (before, after) {
        (State::Absent, _) => ChangeKind::Created,
        (_, State::Absent) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    }
}

/// Returns the size of a state that the records name as one before a change.
fn size_of(file: &FileHistory<'_>, state: State) -> Option<u64> {
    if State::of(file.file.bytes()) == state {
        return file.file.bytes().map(|bytes| bytes.len() as u64);
    }
    let mut changes = file.steps.iter().filter_map(|step| step.recorded.record.changes.get(step.change));
    changes.find(|change| change.before == state).map(|change| change.before_size)
}

async fn patch(with: &Stores<'_>, file: &mut FileHistory<'_>, before: State, after: State) -> Option<String> {
    let before = file.content(with.call, before).await.ok()?.unwrap_or_default();
    let after = file.content(with.call, after).await.ok()?.unwrap_or_default();
    Some(unified(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(&after), CONTEXT_LINES))
}
