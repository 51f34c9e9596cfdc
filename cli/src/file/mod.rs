//! `file`: the files of memory, by name or path.

mod path;
mod write;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of files.
    Command {
        Write(write::WriteArgs),
        Path(path::PathArgs),
    }
}
