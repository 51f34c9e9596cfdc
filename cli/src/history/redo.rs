//! `redo`: makes what was undone again.

use saddlebag::history::{Undo, UndoReply};
use saddlebag::store::Timestamp;

use super::shared::print_undo;
use crate::prelude::*;
use crate::subcommand::Ask;

/// Make again what the last `undo` took back; run again, the undo before
#[derive(Debug, Args)]
#[command(after_help = example("redo"))]
pub(crate) struct RedoArgs {
    /// Only print what would be made again
    #[arg(long)]
    dry_run: bool,
}

impl Ask for RedoArgs {
    type Request = Undo;

    fn request(self, _: Timestamp) -> Result<Undo, Failure> {
        Ok(Undo { redo: true, dry_run: self.dry_run, ..Undo::default() })
    }

    fn print(reply: &UndoReply, output: &mut Output) -> Result<(), Failure> {
        print_undo(reply, output)
    }
}
