//! `note restore`: restores the backup of a note.

use clap::Args;
use saddlebag::journal::{ChangedFile, Read, Target};
use saddlebag::notebook::RestoreNote;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::NOTE_SUFFIX;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Size of the part that is read to learn the path of a note: the smallest allowed, in bytes.
const LITTLE: u32 = 4;

/// Restore a note from its backup, after an edit or `note forget`
#[derive(Debug, Args)]
#[command(after_help = example("note restore facts/load-balancer.md"))]
pub(crate) struct RestoreArgs {
    /// Path of the note; its name, title or alias only if the note still exists
    #[arg(value_parser = shown_path)]
    note: String,
}

impl Subcommand for RestoreArgs {
    type Json = ChangedFile;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let note = path_of(self.note, &mut store, output)?;
        let reply = store.call(RestoreNote { note }, output)?;
        output.object_or_line(&reply, &reply.message)?;
        Ok(Exit::Done)
    }
}

/// Returns the path of a note. A forgotten note can be named only by its path.
fn path_of(note: String, store: &mut Store, output: &mut Output) -> Result<String, Failure> {
    if note.contains('/') || note.ends_with(NOTE_SUFFIX) {
        return Ok(note);
    }
    let read = Read { target: Target::Page(note), offset: 0, max_bytes: LITTLE };
    let found = store.call(read, output).map_err(|failure| match failure.code == ErrorCode::NotFound.into() {
        true => Failure { help: "give its path, as `saddlebag note forget` printed it".into(), ..failure },
        false => failure,
    })?;
    Ok(found.path)
}
