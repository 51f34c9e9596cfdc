//! Output that several subcommands of the notebook share.

use saddlebag::notebook::{ListNotesReply, NoteInfo, Warning};
use saddlebag::trust::Provenance;

use crate::failure::Failure;
use crate::output::{Output, warn_of_skipped};

/// Remark on a listing without a note.
pub(super) const NO_NOTES: &str = "there are no such notes";

pub(crate) fn warn(warnings: &[Warning], output: &mut Output) {
    warnings.iter().for_each(|warning| output.warning(&format!("{}: {}", warning.path, warning.message)));
}

pub(super) fn warn_of_notes(reply: &ListNotesReply, output: &mut Output) {
    warn(&reply.warnings, output);
    warn_of_skipped(&reply.skipped, output);
}

pub(super) fn print_notes(notes: &[NoteInfo], output: &mut Output) -> Result<(), Failure> {
    for note in notes {
        output.line(&format!("{}  {}{}", note.path, note.title, mark(note.unapproved)))?;
    }
    Ok(())
}

/// Returns the mark of an unapproved note, or an empty string.
pub(super) fn mark(unapproved: Option<Provenance>) -> String {
    unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}
