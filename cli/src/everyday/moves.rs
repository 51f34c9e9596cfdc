//! `move`: gives a note another title.

use saddlebag::items::{ItemKind, Show};
use saddlebag::notebook::{Rename, RenameReply};
use saddlebag::protocol::ErrorCode;

use crate::input::shown_path;
use crate::output::single_line;
use crate::prelude::*;

/// Rename a note, and rewrite every link to it
#[derive(Debug, Args)]
#[command(after_help = example("move \"Load balancer\" \"Load balancers\""))]
pub(crate) struct MoveArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    /// New title of the note
    title: String,
}

impl Subcommand for MoveArgs {
    type Json = RenameReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let Self { note, title } = self;
        let mut store = Store::open(global)?;
        // The command finishes a rename that was interrupted, whose note may only then have its name.
        let reply = match store.call(Rename { note: note.clone(), title }, output) {
            Err(failure) if failure.code == ErrorCode::NotFound.into() => {
                return Err(why_not(note, &mut store, output).unwrap_or(failure));
            }
            reply => reply?,
        };
        output.object_or_line(&reply, reply.message.as_str())?;
        // The note has its new title, but some links could not be rewritten. Those of canvases and bases never are.
        let is_note = |path: &String| !path.ends_with(".canvas") && !path.ends_with(".base");
        let is_partial = reply.not_rewritten.iter().any(|file| is_note(&file.path));
        Ok(if is_partial { Exit::Failed } else { Exit::Done })
    }
}

/// Returns the failure for a name that is the key of an entry.
fn why_not(name: String, store: &mut Store, output: &mut Output) -> Option<Failure> {
    let entry = store.call(Show::item(name, Some(ItemKind::Entry)), output).ok()?;
    let message = format!("`{}` is an entry, and only a note can be renamed", single_line(&entry.name));
    Some(Failure::usage(
        message,
        "store its text under another key with `saddlebag remember --key KEY`, and `forget` this one",
    ))
}
