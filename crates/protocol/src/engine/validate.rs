//! Checks that a result matches its request: the engine does not trust the host.

use alloc::format;
use alloc::string::String;

use super::limits::Limits;
use crate::{
    AppendOutcome, EntryKind, FileContent, FsError, FsOp, FsOutcome, ListOutcome, Listing, MAX_LEFT_OUT_NAMES,
    Precondition, ReadOutcome, RelPath, RemoveOutcome, RenameOutcome, WriteOutcome,
};

/// Checks an outcome. The error says how it does not match.
pub(super) fn outcome(op: &FsOp, outcome: &Result<FsOutcome, FsError>, limits: &Limits) -> Result<(), String> {
    let Ok(outcome) = outcome else { return Ok(()) };
    match (op, outcome) {
        (
            FsOp::Read { offset, max_bytes, .. },
            FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, size, .. })),
        ) => {
            let wanted = size.saturating_sub(*offset).min((*max_bytes).into());
            if bytes.len() as u64 == wanted {
                return Ok(());
            }
            let given = bytes.len();
            Err(format!("{given} bytes, but at most {max_bytes} from {offset} on of a file of {size} are {wanted}"))
        }
        (FsOp::ListDirectory { unless: None, .. }, FsOutcome::ListDirectory(ListOutcome::Unchanged)) => {
            Err("unchanged, but no version was named".into())
        }
        (FsOp::ListDirectory { folder, after, limit, .. }, FsOutcome::ListDirectory(ListOutcome::Page(page))) => {
            let limit = (*limit).min(limits.max_list_entries) as usize;
            listing(folder.as_ref(), after.as_ref(), limit, page)
        }
        (FsOp::Score { texts, .. }, FsOutcome::Score(scores)) => {
            if scores.0.len() != texts.len() {
                return Err(format!("{} scores of {} texts", scores.0.len(), texts.len()));
            }
            match scores.0.iter().find(|score| !score.is_finite()) {
                Some(score) => Err(format!("`{score}` is not a score, which is finite")),
                None => Ok(()),
            }
        }
        _ if op.name() != outcome.name() => {
            Err(format!("an outcome of {}, but {} was requested", outcome.name(), op.name()))
        }
        _ if is_unconditional(op) && is_stale(outcome) => Err("stale, but the precondition `any` is always met".into()),
        _ => Ok(()),
    }
}

fn is_unconditional(op: &FsOp) -> bool {
    match op {
        FsOp::Write { precondition, .. }
        | FsOp::Append { precondition, .. }
        | FsOp::Remove { precondition, .. }
        | FsOp::Rename { precondition, .. } => *precondition == Precondition::Any,
        _ => false,
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
