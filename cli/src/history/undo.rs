//! `undo`: takes operations back.

use clap::Args;
use saddlebag::history::{Undo, UndoReply};
use saddlebag::store::Timestamp;

use super::shared::print_undo;
use crate::failure::Failure;
use crate::help::example;
use crate::input::since;
use crate::output::Output;
use crate::subcommand::Ask;

/// Undo the last operation; run again, it goes further back
///
/// An operation is one command, import or session end, with every file that it changed. `redo` takes the undo back. If a later
/// change touches the same place, nothing is undone, and the later change is named; --skip-conflicts undoes the others.
#[derive(Debug, Args)]
#[command(after_help = example("undo --session 4f1c --dry-run"))]
pub(crate) struct UndoArgs {
    /// Operations, as `history` prints them; the beginning is enough [default: the last one]
    #[arg(value_name = "OPERATION", conflicts_with_all = ["session", "by", "since"])]
    operations: Vec<String>,
    /// All operations of this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// All operations by this agent, client, tool or session, or by `user`, `agent`, `tool` or `import`, as `history --by` takes it
    #[arg(long, value_name = "WHO")]
    by: Option<String>,
    /// All operations at or after this time; with --session or --by, only theirs
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<Timestamp>,
    /// Leave operations that a later change touches, and name them
    #[arg(long)]
    skip_conflicts: bool,
    /// Only print what would be undone
    #[arg(long)]
    dry_run: bool,
}

impl Ask for UndoArgs {
    type Request = Undo;

    fn request(self) -> Result<Undo, Failure> {
        let Self { operations, session, by, since, skip_conflicts, dry_run } = self;
        let since = since.map(|time| time.seconds);
        Ok(Undo { operations, session, by, since, after: None, only_own: false, skip_conflicts, dry_run })
    }

    fn print(reply: &UndoReply, output: &mut Output) -> Result<(), Failure> {
        print_undo(reply, output)
    }
}
