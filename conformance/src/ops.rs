//! Operations as JSON, so that a case can ask for a path that this program could not hold.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::protocol::{
    AppendOutcome, FsError, FsOutcome, ListOutcome, ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome,
    Version, WriteOutcome,
};
use serde_json::{Value, json};

use crate::driver::Answer;

/// Returns the precondition that a file has a version.
pub(crate) fn matches(version: &Version) -> Value {
    json!({ "matches": version.0 })
}

pub(crate) fn read(path: &str, offset: u64, max_bytes: u32) -> Value {
    json!({ "read": { "path": path, "offset": offset.to_string(), "max-bytes": max_bytes } })
}

pub(crate) fn write(path: &str, content: &[u8], precondition: impl Into<Value>) -> Value {
    write_with(path, content, precondition, None, None)
}

pub(crate) fn write_with(
    path: &str,
    content: &[u8],
    precondition: impl Into<Value>,
    keep_as: Option<&str>,
    like: Option<&str>,
) -> Value {
    let (content, precondition) = (BASE64_STANDARD.encode(content), precondition.into());
    json!({ "write": {
        "path": path, "content": content, "precondition": precondition, "keep-as": keep_as, "like": like,
    } })
}

pub(crate) fn append(path: &str, content: &[u8], newline_first: bool, precondition: impl Into<Value>) -> Value {
    let (content, precondition) = (BASE64_STANDARD.encode(content), precondition.into());
    json!({ "append": {
        "path": path, "content": content, "newline-first": newline_first, "precondition": precondition,
        "may-tear": false, "may-vanish": false,
    } })
}

/// Returns the operation that adds a line to a log.
pub(crate) fn append_to_log(path: &str, line: &[u8], may_vanish: bool) -> Value {
    let mut op = append(path, line, true, "any");
    op["append"]["may-tear"] = true.into();
    op["append"]["may-vanish"] = may_vanish.into();
    op
}

pub(crate) fn list(folder: Option<&str>, after: Option<&str>, limit: u32, unless: Option<&Version>) -> Value {
    let unless = unless.map(|version| version.0.as_str());
    json!({ "list-directory": { "folder": folder, "after": after, "limit": limit, "unless": unless } })
}

pub(crate) fn remove(path: &str, precondition: impl Into<Value>) -> Value {
    remove_with(path, precondition, None, false)
}

pub(crate) fn remove_with(
    path: &str,
    precondition: impl Into<Value>,
    keep_as: Option<&str>,
    may_return: bool,
) -> Value {
    let precondition = precondition.into();
    json!({ "remove": {
        "path": path, "precondition": precondition, "keep-as": keep_as, "may-return": may_return,
    } })
}

pub(crate) fn rename(path: &str, to: &str, precondition: impl Into<Value>) -> Value {
    json!({ "rename": { "path": path, "to": to, "precondition": precondition.into() } })
}

pub(crate) fn make_directory(path: &str) -> Value {
    json!({ "make-directory": { "path": path } })
}

pub(crate) fn remove_directory(path: &str) -> Value {
    json!({ "remove-directory": { "path": path } })
}

/// Returns the word of a result, as the page for authors of hosts spells it.
pub(crate) fn word(answer: &Answer) -> &'static str {
    match answer {
        Ok(FsOutcome::Read(ReadOutcome::Content(_))) => "content",
        Ok(
            FsOutcome::Read(ReadOutcome::Absent)
            | FsOutcome::Rename(RenameOutcome::Absent)
            | FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent),
        ) => "absent",
        Ok(FsOutcome::Write(WriteOutcome::Written(_)) | FsOutcome::Append(AppendOutcome::Written(_))) => "written",
        Ok(FsOutcome::Write(WriteOutcome::Stale(None)) | FsOutcome::Append(AppendOutcome::Stale(None))) => {
            "stale(none)"
        }
        Ok(
            FsOutcome::Write(WriteOutcome::Stale(Some(_)))
            | FsOutcome::Append(AppendOutcome::Stale(Some(_)))
            | FsOutcome::Remove(RemoveOutcome::Stale(_))
            | FsOutcome::Rename(RenameOutcome::Stale(_)),
        ) => "stale(v)",
        Ok(FsOutcome::Write(WriteOutcome::Unknown) | FsOutcome::Append(AppendOutcome::Unknown(_))) => "unknown",
        Ok(FsOutcome::Rename(RenameOutcome::Exists)) => "exists",
        Ok(
            FsOutcome::Remove(RemoveOutcome::Done) | FsOutcome::Rename(RenameOutcome::Done) | FsOutcome::MakeDirectory,
        ) => "done",
        Ok(FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Removed)) => "removed",
        Ok(FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::NotEmpty)) => "not-empty",
        Ok(FsOutcome::ListDirectory(ListOutcome::Page(page))) if page.entries.is_empty() => "a page without entries",
        Ok(FsOutcome::ListDirectory(ListOutcome::Page(_))) => "page",
        Ok(FsOutcome::ListDirectory(ListOutcome::Unchanged)) => "unchanged",
        Ok(FsOutcome::Generation(_)) => "generation",
        Err(error) => error_word(error),
    }
}

fn error_word(error: &FsError) -> &'static str {
    match error {
        FsError::Denied => "denied",
        FsError::TimedOut => "timed-out",
        FsError::Cancelled => "cancelled",
        FsError::InvalidPath(_) => "invalid-path",
        FsError::SymbolicLink => "symbolic-link",
        FsError::IsDirectory => "is-directory",
        FsError::NotDirectory => "not-directory",
        FsError::NotRegular => "not-regular",
        FsError::TooLarge(_) => "too-large",
        FsError::NoSpace => "no-space",
        FsError::ReadOnly => "read-only",
        FsError::Unsupported => "unsupported",
        FsError::NotDurable(_) => "not-durable",
        FsError::Locked(_) => "locked",
        FsError::Other(_) => "other",
    }
}

/// Returns the version that a result names, if it names the version of one file.
pub(crate) fn version(answer: &Answer) -> Option<&Version> {
    match answer {
        Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Some(&content.version),
        Ok(
            FsOutcome::Write(WriteOutcome::Written(version) | WriteOutcome::Stale(Some(version)))
            | FsOutcome::Append(AppendOutcome::Written(version) | AppendOutcome::Stale(Some(version)))
            | FsOutcome::Remove(RemoveOutcome::Stale(version))
            | FsOutcome::Rename(RenameOutcome::Stale(version)),
        ) => Some(version),
        _ => None,
    }
}
