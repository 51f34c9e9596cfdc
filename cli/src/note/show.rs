//! `note show`: prints a note, or a part of it.

use clap::Args;
use saddlebag::journal::{Read, ReadReply, Target};

use crate::failure::{Exit, Failure};
use crate::file::part::{self, Part};
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::subcommand::Ask;

/// Print a note, or a part of it
#[derive(Debug, Args)]
#[command(after_help = example("note show \"Load balancer\""))]
pub(crate) struct ShowArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    #[command(flatten)]
    part: Part,
}

impl Ask for ShowArgs {
    type Request = Read;

    fn request(self) -> Result<Read, Failure> {
        Ok(self.part.of(Target::Page(self.note)))
    }

    fn print(reply: &ReadReply, output: &mut Output) -> Result<(), Failure> {
        part::print(reply, output)
    }

    fn warn(reply: &ReadReply, output: &mut Output) -> Result<(), Failure> {
        part::warn(reply, output);
        Ok(())
    }

    fn exit(reply: &ReadReply) -> Exit {
        part::exit(reply)
    }
}
