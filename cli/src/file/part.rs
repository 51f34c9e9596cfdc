//! [`Part`]: the part of a file to print.

use clap::Args;
use saddlebag::files::ReadFile;
use saddlebag::journal::{FileState, Read, ReadReply, Target};

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// The part of a file that is printed.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// First byte to print
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
    /// Maximum number of bytes to print
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::journal::DEFAULT_READ_BYTES)]
    max_bytes: u32,
}

impl Part {
    /// Returns the command that reads this part of a target.
    pub(crate) fn of(&self, target: Target) -> Read {
        Read { target, offset: self.offset, max_bytes: self.max_bytes }
    }

    /// Returns the command that reads this part of a file of the scope.
    pub(crate) fn of_file(&self, path: String) -> ReadFile {
        ReadFile { path, offset: self.offset, max_bytes: self.max_bytes }
    }
}

/// Prints the part that was read.
pub(crate) fn print(part: &ReadReply, output: &mut Output) -> Result<(), Failure> {
    if part.state == FileState::Missing {
        return Err(Failure {
            help: "`saddlebag file list` and `saddlebag note list` show what there is".into(),
            ..Failure::nothing(format!("there is no {}", part.path))
        });
    }
    output.text(&part.text)?;
    Ok(())
}

/// Reports an empty file, or the offset of the next part.
pub(crate) fn warn(part: &ReadReply, output: &mut Output) {
    if part.state == FileState::Empty {
        output.note(&format!("{} is empty", part.path));
    }
    if let Some(next) = part.next_offset {
        output.note(&format!("bytes {} to {next} of {}; --offset {next} shows what follows", part.offset, part.size));
    }
}

/// Returns the exit code of a part that was read.
pub(crate) fn exit(part: &ReadReply) -> Exit {
    if part.state == FileState::Missing { Exit::Nothing } else { Exit::Done }
}
