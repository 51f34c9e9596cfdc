//! `read`: a file of memory, or a part of it.

use clap::Args;
use saddlebag::journal::{FileState, Read, ReadReply, TargetRole};

use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// Print a file of memory, or a part of it
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    source: NamedTarget,
    /// Where to start, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
    /// How many bytes at most
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::journal::DEFAULT_READ_BYTES)]
    limit: u32,
}

impl Ask for ReadArgs {
    type Request = Read;

    fn request(self) -> Result<Read, Failure> {
        Ok(Read { target: self.source.named(TargetRole::Source)?, offset: self.offset, max_bytes: self.limit })
    }

    fn print(part: &ReadReply, output: &mut Output) -> Result<(), Failure> {
        if part.state == FileState::Missing {
            return Err(Failure {
                help: "`list` shows what there is".into(),
                ..Failure::nothing(format!("there is no {}", part.path))
            });
        }
        output.text(&part.text)?;
        Ok(())
    }

    fn warn(part: &ReadReply, output: &mut Output) -> Result<(), Failure> {
        if part.state == FileState::Empty {
            output.note(&format!("{} is empty", part.path));
        }
        if let Some(next) = part.next_offset {
            output
                .note(&format!("bytes {} to {next} of {}; --offset {next} shows what follows", part.offset, part.size));
        }
        Ok(())
    }

    fn exit(part: &ReadReply) -> Exit {
        if part.state == FileState::Missing { Exit::Nothing } else { Exit::Done }
    }
}
