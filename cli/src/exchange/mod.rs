//! `import --from` and `export --to`: memory from and for other agents.

mod export;
mod import;
mod known;
mod sources;

use crate::entries::{self, Command, FormatName, ImportArgs, ModeName};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;

/// Runs a subcommand of entries; `import` and `export` may mean the files of another agent.
pub(crate) fn run(command: Command, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let foreign = match &command {
        Command::Export(args) => export::run(args, global, output)?,
        Command::Import(args) => import(args, global, output)?,
        _ => None,
    };
    match foreign {
        Some(exit) => Ok(exit),
        None => entries::run(command, global, output),
    }
}

fn import(args: &ImportArgs, global: &Global, output: &mut Output) -> Result<Option<Exit>, Failure> {
    if args.format == FormatName::Markdown {
        return Ok(None);
    }
    if args.mode != ModeName::Upsert {
        let help = "an import from another agent forgets nothing; nothing was changed";
        return Err(Failure::usage("--mode replace is of files of entries alone", help));
    }
    import::run(args, global, output)
}
