//! `note rename`: gives a note another title.

use clap::Args;
use saddlebag::notebook::{Rename, RenameReply};

use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::subcommand::Ask;

/// Rename a note, and rewrite every link to it
#[derive(Debug, Args)]
#[command(after_help = example("note rename \"Load balancer\" \"Load balancers\""))]
pub(crate) struct RenameArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    /// New title of the note
    title: String,
}

impl Ask for RenameArgs {
    type Request = Rename;

    fn request(self) -> Result<Rename, Failure> {
        Ok(Rename { note: self.note, title: self.title })
    }

    fn print(reply: &RenameReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }

    fn exit(reply: &RenameReply) -> Exit {
        // The note has its new title, but some links could not be rewritten. Those of canvases and bases never are.
        let is_note = |path: &String| !path.ends_with(".canvas") && !path.ends_with(".base");
        if reply.not_rewritten.iter().any(|file| is_note(&file.path)) { Exit::Failed } else { Exit::Done }
    }
}
