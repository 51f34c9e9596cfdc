//! Output that several subcommands of the notebook share.

use saddlebag::notebook::{ListNotesReply, NoteInfo, Warning};

use clap::Args;
use saddlebag::trust::Provenance;
use saddlebag::{Answered, Request};

use crate::failure::{Exit, Failure};
use crate::output::{Output, warn_of_skipped};
use crate::subcommand::Ask;

/// Remark on a listing without a note.
pub(super) const NO_NOTES: &str = "there are no such notes";

/// Subcommand that lists notes.
pub(crate) trait ListsNotes: Args {
    /// Command that the subcommand runs.
    type Request: Answered<Request: Request<Reply = ListNotesReply>>;

    /// Returns the command for the arguments.
    fn request(self) -> Result<Self::Request, Failure>;
}

impl<L: ListsNotes> Ask for L {
    type Request = L::Request;

    fn request(self) -> Result<Self::Request, Failure> {
        ListsNotes::request(self)
    }

    fn print(reply: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
        print_notes(&reply.notes, output)
    }

    fn exit(reply: &ListNotesReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }

    fn warn(reply: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
        if reply.notes.is_empty() {
            output.note(NO_NOTES);
        }
        warn_of_notes(reply, output);
        Ok(())
    }
}

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
