//! `file show`: prints a file of memory, or a part of it.

use clap::Args;
use saddlebag::journal::{Read, ReadReply, TargetRole};

use super::part::{self, Part};
use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// Print a file of memory, or a part of it
#[derive(Debug, Args)]
#[command(after_help = example("file show long_term"))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    source: NamedTarget,
    #[command(flatten)]
    part: Part,
}

impl Ask for ShowArgs {
    type Request = Read;

    fn request(self) -> Result<Read, Failure> {
        Ok(self.part.of(self.source.named(TargetRole::Source)?))
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
