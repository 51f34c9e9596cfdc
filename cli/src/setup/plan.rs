//! [`Plan`]: the change of one file, worked out from its bytes before anything is written.

use std::path::{Path, PathBuf};

use super::clients::{Client, FilePlan, Scope};
use super::format::Format;
use super::piece::{Piece, added, removed};
use super::record::{Entry, Record, digest};
use crate::disk;

/// Change of one file.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) client: Client,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// Bytes that the file has; `None` if there is no file.
    pub(crate) current: Option<Vec<u8>>,
    /// Bytes that it shall have; `None` if it shall go.
    pub(crate) wanted: Option<Vec<u8>>,
    /// Bytes that `--remove` shall restore: those without our entries.
    pub(crate) restored: Option<Vec<u8>>,
    /// Entries with our name that are not ours.
    pub(crate) foreign: Vec<String>,
    /// Reason why the file is left alone.
    pub(crate) problem: Option<String>,
}

impl Plan {
    /// Returns true if there is something to write.
    pub(crate) fn changes(&self) -> bool {
        self.problem.is_none() && self.current != self.wanted
    }

    /// Returns the plan of a file that is left alone.
    fn left_alone(client: Client, scope: Scope, path: &Path, problem: String) -> Self {
        Self {
            client,
            scope,
            path: path.to_path_buf(),
            current: None,
            wanted: None,
            restored: None,
            foreign: Vec::new(),
            problem: Some(problem),
        }
    }
}

/// Works out how entries are added to a file.
pub(crate) fn addition(client: Client, scope: Scope, file: &FilePlan, record: &Record, force: bool) -> Plan {
    let FilePlan { path, format, pieces } = file;
    let work = || -> Result<Plan, String> {
        let current = disk::read(path).map_err(|error| error.to_string())?;
        let (mark, text) = split(current.as_deref())?;
        let edited = added(text, *format, pieces, force).map_err(|unfit| unfit.to_string())?;
        let wanted = edited.text.map(|text| joined(mark, &text));
        let restored = restored_bytes(file, record, current.as_deref())?;
        let foreign = edited.foreign;
        Ok(Plan { client, scope, path: path.clone(), current, wanted, restored, foreign, problem: None })
    };
    work().unwrap_or_else(|problem| Plan::left_alone(client, scope, path, problem))
}

/// Works out how our entries are removed from a file.
pub(crate) fn removal(client: Client, scope: Scope, file: &FilePlan, record: &Record) -> Plan {
    let FilePlan { path, format, pieces } = file;
    let work = || -> Result<Plan, String> {
        let current = disk::read(path).map_err(|error| error.to_string())?;
        let (wanted, foreign) = without_ours(*format, pieces, record, path, current.as_deref())?;
        let restored = wanted.clone();
        Ok(Plan { client, scope, path: path.clone(), current, wanted, restored, foreign, problem: None })
    };
    work().unwrap_or_else(|problem| Plan::left_alone(client, scope, path, problem))
}

/// Returns the bytes that `--remove` restores after an addition.
fn restored_bytes(file: &FilePlan, record: &Record, current: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
    Ok(without_ours(file.format, &file.pieces, record, &file.path, current)?.0)
}

/// Returns the bytes of a file without our entries, and the foreign entries with our name.
fn without_ours(
    format: Format,
    pieces: &[Piece],
    record: &Record,
    path: &Path,
    current: Option<&[u8]>,
) -> Result<(Option<Vec<u8>>, Vec<String>), String> {
    let Some(bytes) = current else { return Ok((None, Vec::new())) };
    let entry = record.get(path);
    let original = entry.and_then(|entry| record.original(entry));
    if let (Some(Entry { after, .. }), Some(original)) = (entry, &original)
        && *after == digest(bytes)
    {
        return Ok((original.clone(), Vec::new()));
    }
    let (mark, text) = split(Some(bytes))?;
    let before = match &original {
        None => None,
        Some(None) => Some(None),
        Some(Some(bytes)) => Some(Some(disk::text_of(bytes).map_err(|error| error.to_string())?.1)),
    };
    let edited = removed(text.unwrap_or_default(), format, pieces, before).map_err(|unfit| unfit.to_string())?;
    Ok((edited.text.map(|text| joined(mark, &text)), edited.foreign))
}

fn split(bytes: Option<&[u8]>) -> Result<(&'static str, Option<&str>), String> {
    match bytes {
        None => Ok(("", None)),
        Some(bytes) => {
            let (mark, text) = disk::text_of(bytes).map_err(|error| error.to_string())?;
            Ok((mark, Some(text)))
        }
    }
}

fn joined(mark: &str, text: &str) -> Vec<u8> {
    format!("{mark}{text}").into_bytes()
}
