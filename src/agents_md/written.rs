//! Record of the sections that the store wrote: one small file per AGENTS.md, beside the entries of the agent.
//!
//! A section in a file proves nothing: anyone who can write the file can write any section, or restore an old one.
//! Therefore the base of a merge, and the list of facts that may be written into the file, come from this record. A
//! host may fail to write a section, so the last few are kept, and the file tells which of them it has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::section::{Mark, Section};
use crate::changes::{Backups, Call, File};
use crate::engine::{Loaded, load};
use crate::entries::Entries;
use crate::order;
use crate::protocol::Error;
use crate::store::RelPath;
use crate::trust::sha256;

/// Name of the folder of these files, in the folder of the agent.
const FOLDER: &str = "agents-md";
/// Version of the format. Any other content of a file gets another number.
const FORMAT: u32 = 1;
/// Maximum number of sections that are remembered per file.
const MAX_SECTIONS: usize = 4;

/// Facts of a section by key.
pub(super) type Facts = Vec<(String, WrittenFact)>;

/// A section that the store wrote, or that a person accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// Number of the section, counted per file. It is 0 if a person accepted the section of another store.
    pub(super) generation: u64,
    /// SHA-256 of its text above the last marker.
    pub(super) digest: String,
    /// Facts of the section, sorted by key.
    pub(super) facts: Facts,
    /// Sorted keys of facts that belong into the section but were left out: they did not fit, or waited for approval.
    pub(super) left_out: Vec<String>,
}

/// A fact of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFact {
    /// SHA-256 of its content.
    content: String,
    /// True if the store writes later changes into the file, because a tag or a key selected the fact. Facts that were
    /// added in the file are not followed; otherwise anyone who can write the file could ask for the next text of any
    /// key.
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
    /// Returns true if a section of a file is this one, edited or not.
    pub(super) fn is(&self, section: &Section) -> bool {
        let claims = self.generation > 0 && section.mark.as_ref() == Some(&Mark::new(self.generation, &self.digest));
        claims || self.digest == section.digest
    }

    /// Returns true if it equals another one except for the generation.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest && self.facts == other.facts && self.left_out == other.left_out
    }
}

/// Record of one AGENTS.md.
pub(super) struct Ledger {
    path: RelPath,
    identity: String,
}

/// Content of the record, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    format: u32,
    /// Path of the AGENTS.md, for people.
    file: String,
    sections: Vec<Written>,
}

impl Ledger {
    pub(super) fn from_entries(entries: &Entries, identity: &str) -> Result<Self, Error> {
        let path = entries.file_beside(FOLDER, &format!("{}.json", sha256(identity)))?;
        Ok(Self { path, identity: identity.into() })
    }

    /// Returns the recorded sections, oldest first.
    pub(super) async fn sections(&self, call: &Call) -> Result<Vec<Written>, Error> {
        let limit = call.scope.limits.max_file_bytes;
        match load(&call.fs, &self.path, limit).await? {
            Loaded::Absent => Ok(Vec::new()),
            Loaded::Whole { bytes, .. } => self.parse(call, Some(&bytes)),
            Loaded::TooLarge(_) => Err(self.damaged(call)),
        }
    }

    /// Records sections and drops those before `seen`, which the file has, so that an older section cannot come back.
    /// Returns `false` if another program took the generation; nothing is recorded then.
    pub(super) async fn remember(&self, call: &Call, seen: Option<&Written>, new: &[Written]) -> Result<bool, Error> {
        let change = |file: &File| {
            let mut sections = self.parse(call, file.bytes())?;
            let newest = sections.iter().map(|section| section.generation).max().unwrap_or(0);
            let is_taken = new.iter().any(|section| section.generation > 0 && section.generation <= newest);
            if is_taken {
                return Ok((None, false));
            }
            if let Some(at) = seen.and_then(|seen| sections.iter().position(|section| section == seen)) {
                sections.drain(..at);
            }
            sections.extend(new.iter().cloned());
            // The first section may be the one in the file, if no later one was written.
            let surplus = sections.len().saturating_sub(MAX_SECTIONS);
            sections.drain(1..=surplus);
            Ok((Some(call.screen.rewrite(file, self.render(sections)?)?), true))
        };
        let done = call.update(&self.path, Backups::Off, change).await?;
        Ok(done.0)
    }

    fn parse(&self, call: &Call, bytes: Option<&[u8]>) -> Result<Vec<Written>, Error> {
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        let file: Record = serde_json::from_slice(bytes).map_err(|_| self.damaged(call))?;
        if file.format != FORMAT || file.file != self.identity {
            return Err(self.damaged(call));
        }
        let mut sections = file.sections;
        for Written { facts, left_out, .. } in &mut sections {
            // Others may have written the record.
            order::sort_slice(facts, |a, b| a.0.cmp(&b.0));
            order::sort_slice(left_out, Ord::cmp);
        }
        Ok(sections)
    }

    fn render(&self, sections: Vec<Written>) -> Result<String, Error> {
        let file = Record { format: FORMAT, file: self.identity.clone(), sections };
        let text = serde_json::to_string(&file)
            .map_err(|error| Error::internal(format!("the record of {} cannot be written: {error}", self.identity)))?;
        Ok(text + "\n")
    }

    fn damaged(&self, call: &Call) -> Error {
        let message = format!("{} is not the record of a section of AGENTS.md", call.scope.display_path(&self.path));
        let help = "remove it; the section then counts as foreign";
        Error::damaged_file(message, help)
    }
}
