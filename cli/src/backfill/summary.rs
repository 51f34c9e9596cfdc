//! [`Backfilled`]: the output of `backfill`, as text and as JSON.

use saddlebag::notebook::{NoteImport, NoteImportState};

use super::note::{Candidate, LeftOut};
use crate::output::single_line;
use crate::prelude::*;

/// Result of a backfill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Backfilled {
    /// True if nothing was changed.
    dry_run: bool,
    /// Source, as `--from` names it.
    source: &'static str,
    /// Folder of transcripts.
    place: String,
    /// Number of notes that were stored.
    upserted: usize,
    /// Number of new notes among them.
    stored: usize,
    /// Number of notes whose text changed at the source.
    updated: usize,
    /// Number of items that a note already has.
    unchanged: usize,
    /// Notes that were stored.
    notes: Vec<Stored>,
    /// Notes that the backfill left as they are, because a person has edited, approved or forgotten them.
    kept: Vec<Kept>,
    /// Items that cannot be notes, and files that cannot be read.
    rejected: Vec<Rejected>,
    /// Items of the source that are skipped.
    left_out: Vec<LeftOutTexts>,
}

/// Note that was stored.
#[derive(Serialize, JsonSchema)]
struct Stored {
    /// Path of the note.
    path: String,
    /// Title of the note.
    title: String,
}

/// Note that was left as it is.
#[derive(Serialize, JsonSchema)]
struct Kept {
    /// Path of the note, or of the backup of a forgotten note.
    path: String,
    /// Reason why it was left as it is.
    reason: String,
}

/// Text that cannot be a note, or file that cannot be read.
#[derive(Serialize, JsonSchema)]
struct Rejected {
    /// Id of the text, or path of the file.
    path: String,
    /// Reason for the rejection.
    reason: String,
}

/// Items that are skipped for the same reason.
#[derive(Serialize, JsonSchema)]
struct LeftOutTexts {
    /// Reason.
    reason: String,
    /// Number of items.
    count: usize,
    /// One of them.
    first: String,
}

impl Backfilled {
    pub(super) fn new(
        dry_run: bool,
        source: &'static str,
        place: String,
        notes: &[Candidate],
        done: Vec<NoteImport>,
        unreadable: Vec<(String, String)>,
        left_out: &LeftOut,
    ) -> Self {
        let rejected = unreadable.into_iter().map(|(path, reason)| Rejected { path, reason }).collect();
        let left_out = left_out.iter().map(|(reason, count, first)| LeftOutTexts {
            reason: reason.into(),
            count,
            first: first.into(),
        });
        let left_out = left_out.collect();
        let (upserted, stored, updated, unchanged) = (0, 0, 0, 0);
        let (kept, stored_notes) = (Vec::new(), Vec::new());
        let mut summary = Self {
            dry_run,
            source,
            place,
            upserted,
            stored,
            updated,
            unchanged,
            notes: stored_notes,
            kept,
            rejected,
            left_out,
        };
        for (note, NoteImport { id, path, state }) in notes.iter().zip(done) {
            let title = note.title.clone();
            match state {
                NoteImportState::Created => {
                    summary.stored += 1;
                    summary.notes.push(Stored { path, title });
                }
                NoteImportState::Updated => {
                    summary.updated += 1;
                    summary.notes.push(Stored { path, title });
                }
                NoteImportState::Kept(reason) => summary.kept.push(Kept { path, reason: reason.into_string() }),
                NoteImportState::Rejected(reason) => {
                    summary.rejected.push(Rejected { path: id, reason: reason.into_string() });
                }
                _ => summary.unchanged += 1,
            }
        }
        summary.upserted = summary.stored + summary.updated;
        summary
    }

    /// Prints the result. Returns the exit code, as an import does.
    pub(super) fn show(&self, output: &mut Output) -> Result<Exit, Failure> {
        if !output.json(self)? {
            self.print(output)?;
            if self.upserted > 0 && !self.dry_run {
                crate::trust::note_pending(output)?;
            }
        }
        Ok(if self.rejected.is_empty() { Exit::Done } else { Exit::Failed })
    }

    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if self.dry_run {
            for Stored { path, title } in &self.notes {
                output.line(&format!("{}  {}", single_line(path), single_line(title)))?;
            }
        }
        for Kept { path, reason } in &self.kept {
            output.line(&format!("kept {}: {}", single_line(path), single_line(reason)))?;
        }
        for Rejected { path, reason } in &self.rejected {
            output.line(&format!("rejected {}: {}", single_line(path), single_line(reason)))?;
        }
        for LeftOutTexts { reason, count, first } in &self.left_out {
            let such_as = if first.is_empty() { String::new() } else { format!(", such as {}", single_line(first)) };
            output.line(&format!("left out {count}: {}{such_as}", single_line(reason)))?;
        }
        let done = if self.dry_run { "Would import" } else { "Imported" };
        let left_out: usize = self.left_out.iter().map(|texts| texts.count).sum();
        let (upserted, unchanged) = (self.upserted, self.unchanged);
        let (kept, rejected) = (self.kept.len(), self.rejected.len());
        output.line(&format!(
            "{done}: {upserted} upserted, {unchanged} unchanged, {kept} kept, {rejected} rejected, {left_out} left out"
        ))?;
        Ok(())
    }
}
