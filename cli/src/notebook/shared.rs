//! Parts of the output that several subcommands of the notebook share.

use saddlebag::notebook::{ListNotesReply, NoteInfo, Warning};

use crate::failure::Failure;
use crate::output::{Output, warn_of_skipped};

/// How many notes are shown unless told otherwise.
pub(super) const USUAL_HITS: u32 = 10;

pub(super) fn warn(warnings: &[Warning], output: &mut Output) {
    warnings.iter().for_each(|warning| output.warning(&format!("{}: {}", warning.path, warning.message)));
}

pub(super) fn warn_of_notes(reply: &ListNotesReply, output: &mut Output) {
    warn(&reply.warnings, output);
    warn_of_skipped(&reply.skipped, output);
}

pub(super) fn print_notes(notes: &[NoteInfo], output: &mut Output) -> Result<(), Failure> {
    for note in notes {
        output.line(&format!("{}  {}{}", note.path, note.title, mark(note)))?;
    }
    Ok(())
}

/// The mark of a note that is in no prompt until it is approved.
pub(super) fn mark(note: &NoteInfo) -> String {
    note.unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}
