//! Checks that a result matches its request: the engine does not trust the host.

use super::limits::Limits;
use crate::{
    AppendOutcome, EntryKind, FileContent, FsError, FsOp, FsOutcome, ListOutcome, Listing, MAX_LEFT_OUT_NAMES,
    Precondition, ReadOutcome, RelPath, RemoveOutcome, RenameOutcome, WriteOutcome,
};
use saddlebag_collections::prelude::*;

/// Maximum size of a token of the store in bytes.
const MAX_TOKEN_BYTES: usize = 255;

/// What the engine keeps of an operation in flight, to check its outcome. It has no content of a file.
pub(super) enum Expected {
    Read { offset: u64, max_bytes: u32 },
    List { folder: Option<RelPath>, after: Option<RelPath>, limit: u32, may_be_unchanged: bool },
    Generation,
    Change { operation: &'static str, path: RelPath, is_unconditional: bool },
}

impl Expected {
    pub(super) fn of(op: &FsOp) -> Self {
        let change = |path: &RelPath, precondition: Option<&Precondition>| Self::Change {
            operation: op.name(),
            path: path.clone(),
            is_unconditional: precondition == Some(&Precondition::Any),
        };
        match op {
            FsOp::Read { offset, max_bytes, .. } => Self::Read { offset: *offset, max_bytes: *max_bytes },
            FsOp::ListDirectory { folder, after, limit, unless } => Self::List {
                folder: folder.clone(),
                after: after.clone(),
                limit: *limit,
                may_be_unchanged: unless.is_some(),
            },
            FsOp::Generation => Self::Generation,
            FsOp::Write { path, precondition, .. }
            | FsOp::Append { path, precondition, .. }
            | FsOp::Remove { path, precondition, .. }
            | FsOp::Rename { to: path, precondition, .. } => change(path, Some(precondition)),
            FsOp::MakeDirectory { path } | FsOp::RemoveDirectory { path } => change(path, None),
        }
    }

    /// Returns the file or folder that the operation may change.
    pub(super) fn changes(&self) -> Option<&RelPath> {
        match self {
            Self::Change { path, .. } => Some(path),
            Self::Read { .. } | Self::List { .. } | Self::Generation => None,
        }
    }

    fn operation(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::List { .. } => "list-directory",
            Self::Generation => "generation",
            Self::Change { operation, .. } => operation,
        }
    }

    /// Checks an outcome. The error says how it does not match.
    pub(super) fn check(&self, outcome: &Result<FsOutcome, FsError>, limits: &Limits) -> Result<(), String> {
        let Ok(outcome) = outcome else { return Ok(()) };
        match (self, outcome) {
            (
                Self::Read { offset, max_bytes },
                FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, size, .. })),
            ) => {
                let wanted = size.saturating_sub(*offset).min((*max_bytes).into());
                if bytes.len() as u64 == wanted {
                    return Ok(());
                }
                let given = bytes.len();
                Err(format!("{given} bytes, but at most {max_bytes} from {offset} on of a file of {size} are {wanted}"))
            }
            (Self::List { may_be_unchanged: false, .. }, FsOutcome::ListDirectory(ListOutcome::Unchanged)) => {
                Err("unchanged, but no version was named".into())
            }
            (Self::List { folder, after, limit, .. }, FsOutcome::ListDirectory(ListOutcome::Page(page))) => {
                let limit = (*limit).min(limits.max_list_entries) as usize;
                listing(folder.as_ref(), after.as_ref(), limit, page)
            }
            (Self::Generation, FsOutcome::Generation(token)) => {
                let is_visible = token.bytes().all(|byte| byte.is_ascii_graphic());
                if is_visible && (1..=MAX_TOKEN_BYTES).contains(&token.len()) {
                    return Ok(());
                }
                Err(format!("a token of {} bytes; it has 1 to {MAX_TOKEN_BYTES} visible ASCII characters", token.len()))
            }
            _ if self.operation() != outcome.name() => {
                Err(format!("an outcome of {}, but {} was requested", outcome.name(), self.operation()))
            }
            (Self::Change { is_unconditional: true, .. }, _) if is_stale(outcome) => {
                Err("stale, but the precondition `any` is always met".into())
            }
            _ => Ok(()),
        }
    }
}

fn is_stale(outcome: &FsOutcome) -> bool {
    matches!(
        outcome,
        FsOutcome::Write(WriteOutcome::Stale(_))
            | FsOutcome::Append(AppendOutcome::Stale(_))
            | FsOutcome::Remove(RemoveOutcome::Stale(_))
            | FsOutcome::Rename(RenameOutcome::Stale(_))
    )
}

fn listing(folder: Option<&RelPath>, after: Option<&RelPath>, limit: usize, page: &Listing) -> Result<(), String> {
    if page.entries.len() > limit {
        return Err(format!("{} entries, the limit is {limit}", page.entries.len()));
    }
    let mut previous = after;
    for entry in &page.entries {
        if previous.is_some_and(|previous| *previous >= entry.path) {
            return Err(format!("`{}` is not sorted after the previous entry", entry.path));
        }
        if !entry.path.is_child_of(folder) {
            return Err(format!("`{}` is not in the folder", entry.path));
        }
        if entry.kind == EntryKind::File && entry.version.0.is_empty() {
            return Err(format!("`{}` has no version", entry.path));
        }
        previous = Some(&entry.path);
    }
    let names = &page.left_out.names;
    if names.len() > MAX_LEFT_OUT_NAMES || names.len() > page.left_out.count as usize {
        let (given, count) = (names.len(), page.left_out.count);
        return Err(format!("{given} of {count} left-out names are given, the limit is {MAX_LEFT_OUT_NAMES}"));
    }
    if after.is_some() && page.left_out.count > 0 {
        return Err("left-out names belong on the first page".into());
    }
    if let Some(name) = names.iter().find(|name| !name.path.is_child_of(folder)) {
        return Err(format!("`{}`, which is left out, is not in the folder", name.path));
    }
    match (&page.next, page.entries.last()) {
        (Some(next), Some(last)) if *next != last.path => Err("the cursor is not the last entry".into()),
        (Some(_), None) => Err("a cursor, but no entries".into()),
        _ => Ok(()),
    }
}
