//! `undo`: takes operations back; `redo`: makes them again.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use saddlebag::history::{Undo, UndoReply};
use saddlebag::store::Timestamp;

use super::shared::print_undo;
use crate::input::{Since, since};
use crate::prelude::*;
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
    /// All operations at or after this time; with --session, --by or --agent, only theirs
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<Since>,
    #[command(flatten)]
    typed_agent: TypedAgent,
    /// Leave operations that a later change touches or whose text is gone, and name them
    #[arg(long)]
    skip_conflicts: bool,
    /// Only print what would be undone
    #[arg(long)]
    dry_run: bool,
}

/// Agent of the global option `--agent`, if it is typed. Whoever types it beside a time means the operations of this agent, and not
/// those of everybody in the memory that it opens.
#[derive(Debug, Default)]
struct TypedAgent(Option<String>);

impl Args for TypedAgent {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for TypedAgent {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        const AGENT: &str = "agent";
        let is_typed =
            matches.try_contains_id(AGENT).is_ok() && matches.value_source(AGENT) == Some(ValueSource::CommandLine);
        Ok(Self(is_typed.then(|| matches.get_one::<String>(AGENT).cloned()).flatten()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Ask for UndoArgs {
    type Request = Undo;

    fn request(self, now: Timestamp) -> Result<Undo, Failure> {
        let Self { operations, session, by, since, typed_agent, skip_conflicts, dry_run } = self;
        let by = by.or(typed_agent.0.filter(|_| since.is_some()));
        let since = since.map(|since| since.seconds(now));
        Ok(Undo { operations, session, by, since, after: None, only_own: false, skip_conflicts, dry_run, redo: false })
    }

    fn print(reply: &UndoReply, output: &mut Output) -> Result<(), Failure> {
        print_undo(reply, output)
    }
}

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
