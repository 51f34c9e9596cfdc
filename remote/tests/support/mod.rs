//! Short spellings of operations.

#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "postgres")]
#[allow(unused_imports, reason = "each test uses a part of it")]
pub(crate) use postgres::{Server, sql};
use saddlebag::protocol::{
    AppendOutcome, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, RemoveOutcome, RenameOutcome,
    Version, WriteOutcome,
};
use saddlebag::store::RelPath;
use saddlebag_host::Executor;

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::new(text).unwrap()
}

/// One method for each operation.
#[allow(dead_code, reason = "each test uses a part of it")]
pub(crate) trait Ask: Executor {
    fn read(&mut self, at: &str) -> Option<(String, Version)> {
        let op = FsOp::Read { path: path(at), offset: 0, max_bytes: u32::MAX };
        match self.perform(&op).unwrap() {
            FsOutcome::Read(ReadOutcome::Content(content)) => {
                Some((String::from_utf8(content.bytes).unwrap(), content.version))
            }
            FsOutcome::Read(ReadOutcome::Absent) => None,
            other => panic!("{other:?}"),
        }
    }

    fn text(&mut self, at: &str) -> Option<String> {
        self.read(at).map(|(text, _)| text)
    }

    fn write(&mut self, at: &str, text: &str, precondition: Precondition) -> Result<WriteOutcome, FsError> {
        match self.perform(&FsOp::write(path(at), text.into(), precondition))? {
            FsOutcome::Write(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn replace(&mut self, at: &str, text: &str, keep_as: &str) -> Result<WriteOutcome, FsError> {
        let (path, content, precondition) = (path(at), text.into(), Precondition::Any);
        let keep_as = Some(self::path(keep_as));
        match self.perform(&FsOp::Write { path, content, precondition, keep_as, like: None })? {
            FsOutcome::Write(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn append(&mut self, at: &str, text: &str) -> Result<AppendOutcome, FsError> {
        match self.perform(&FsOp::append(path(at), text.into(), true, Precondition::Any))? {
            FsOutcome::Append(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn remove(&mut self, at: &str) -> Result<RemoveOutcome, FsError> {
        match self.perform(&FsOp::remove(path(at), Precondition::Any))? {
            FsOutcome::Remove(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<RenameOutcome, FsError> {
        match self.perform(&FsOp::Rename { path: path(from), to: path(to), precondition: Precondition::Any })? {
            FsOutcome::Rename(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn list(&mut self, folder: &str) -> Vec<String> {
        let folder = (!folder.is_empty()).then(|| path(folder));
        match self.perform(&FsOp::ListDirectory { folder, after: None, limit: 1000, unless: None }).unwrap() {
            FsOutcome::ListDirectory(ListOutcome::Page(page)) => {
                page.entries.iter().map(|entry| entry.path.to_string()).collect()
            }
            other => panic!("{other:?}"),
        }
    }
}

impl<E: Executor + ?Sized> Ask for E {}

/// Returns the address of a new store of the server in a variable.
#[allow(dead_code, clippy::print_stderr, reason = "a test in memory has no server; one that is left out says so")]
pub(crate) fn address(variable: &str, name: &str) -> Option<String> {
    let Ok(server) = std::env::var(variable) else {
        eprintln!("left out: {variable} names no server; `cargo xtask test --remote` starts one");
        return None;
    };
    let unique = format!("{name}-{}-{}", std::process::id(), saddlebag_host::new_operation());
    let separator = if server.starts_with("s3:") { "/" } else { "&space=" };
    Some(format!("{server}{separator}{unique}"))
}
