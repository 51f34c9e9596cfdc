//! What the store remembers of the sections that it gave out: one small file for each AGENTS.md, beside the entries of
//! the agent.
//!
//! A section in a file proves nothing: whoever can write the file can write any section, or put an old one back. So
//! the base of a merge, and which facts may be written into the file, come from here. A host may fail to write what it
//! was given; the last few sections are kept, and the file tells which of them it has.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::section::{Mark, Section};
use crate::engine::{Backups, Call, Change, Loaded, load, update};
use crate::entries::{Entries, unavailable};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::store::RelPath;
use crate::trust::{Screened, sha256};

/// The folder of these files, in that of the agent.
const FOLDER: &str = "agents-md";
/// What else a file may say one day has another number.
const FORMAT: u32 = 1;
/// How many sections of a file are remembered.
const MAX_SECTIONS: usize = 4;

/// The facts of a section by key.
pub(super) type Facts = Vec<(String, WrittenFact)>;

/// A section that the store wrote, or that a person accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// Counts the sections of a file. One that a person accepted is 0: another store has written it.
    pub(super) generation: u64,
    /// The SHA-256 of its text above the last marker.
    pub(super) digest: String,
    /// The facts that it has, in the order of their keys.
    pub(super) facts: Facts,
    /// The keys of facts that belong into it and are not there, in order: it had no room for them, or they waited to
    /// be approved.
    pub(super) left_out: Vec<String>,
}

/// A fact of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFact {
    /// The SHA-256 of its content.
    content: String,
    /// The store writes its changes into the file, as a tag or a key has named it. What was added in the file is not
    /// followed: else whoever can write the file could ask for the next text of any key.
    pub(super) is_followed: bool,
}

impl WrittenFact {
    pub(super) fn new(content: &str, is_followed: bool) -> Self {
        Self { content: sha256(content), is_followed }
    }

    pub(super) fn says(&self, content: &str) -> bool {
        self.content == sha256(content)
    }
}

impl Written {
    /// Whether a section of a file is this one, edited or not.
    pub(super) fn is(&self, section: &Section) -> bool {
        let claims = self.generation > 0 && section.mark.as_ref() == Some(&Mark::new(self.generation, &self.digest));
        claims || self.digest == section.digest
    }

    /// Whether it says and means the same as another one, whatever their generations.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest && self.facts == other.facts && self.left_out == other.left_out
    }
}

/// The file of one AGENTS.md.
pub(super) struct Ledger {
    path: RelPath,
    identity: String,
}

/// The file, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    /// Of the AGENTS.md, for people.
    file: String,
    sections: Vec<Written>,
}

impl Ledger {
    pub(super) fn of(entries: &Entries, identity: &str) -> Result<Self, Error> {
        let path = entries.file_beside(FOLDER, &format!("{}.json", sha256(identity)))?;
        Ok(Self { path, identity: identity.into() })
    }

    /// The sections that are remembered, the oldest first.
    pub(super) async fn sections(&self, call: &Call) -> Result<Vec<Written>, Error> {
        let limit = call.scope.limits.max_file_bytes;
        match load(&call.fs, &self.path, limit).await.map_err(unavailable)? {
            Loaded::Absent => Ok(Vec::new()),
            Loaded::Whole { bytes, .. } => self.parse(call, Some(&bytes)),
            Loaded::TooLarge(_) => Err(self.damaged(call)),
        }
    }

    /// Remembers sections after `seen`, which the file has: older ones cannot come back by themselves. `false`:
    /// another program has taken the generation, and nothing was remembered.
    pub(super) async fn remember(&self, call: &Call, seen: Option<&Written>, new: &[Written]) -> Result<bool, Error> {
        let change = |bytes: Option<&[u8]>| {
            let mut sections = self.parse(call, bytes)?;
            let newest = sections.iter().map(|section| section.generation).max().unwrap_or(0);
            let is_taken = new.iter().any(|section| section.generation > 0 && section.generation <= newest);
            if is_taken {
                return Ok(Change::Keep(false));
            }
            if let Some(at) = seen.and_then(|seen| sections.iter().position(|section| section == seen)) {
                sections.drain(..at);
            }
            sections.extend(new.iter().cloned());
            // The first may be the one that the file has, if nothing that it was given since was written.
            let surplus = sections.len().saturating_sub(MAX_SECTIONS);
            sections.drain(1..=surplus);
            Ok(Change::Write(Screened::ours(self.render(sections)?.into_bytes()), true))
        };
        let limit = call.scope.limits.max_file_bytes;
        let done = update(&call.fs, &self.path, limit, Backups::Off, change).await.map_err(unavailable)?;
        Ok(done.0)
    }

    fn parse(&self, call: &Call, bytes: Option<&[u8]>) -> Result<Vec<Written>, Error> {
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        let file: File = serde_json::from_slice(bytes).map_err(|_| self.damaged(call))?;
        if file.format != FORMAT || file.file != self.identity {
            return Err(self.damaged(call));
        }
        let mut sections = file.sections;
        for Written { facts, left_out, .. } in &mut sections {
            // Others may have written the file.
            order::sort_slice(facts, |a, b| a.0.cmp(&b.0));
            order::sort_slice(left_out, Ord::cmp);
        }
        Ok(sections)
    }

    fn render(&self, sections: Vec<Written>) -> Result<String, Error> {
        let file = File { format: FORMAT, file: self.identity.clone(), sections };
        let text = serde_json::to_string(&file)
            .map_err(|error| Error::internal(format!("the memory of {} cannot be written: {error}", self.identity)))?;
        Ok(text + "\n")
    }

    fn damaged(&self, call: &Call) -> Error {
        let message = format!("{} is not the memory of a section of AGENTS.md", call.scope.display_path(&self.path));
        let help = "remove it: the section then counts as one that this store has not written; nothing was changed";
        Error::new(ErrorCode::InvalidArgument, message, help.to_string())
    }
}
