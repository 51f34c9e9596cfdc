//! `file`: the files of memory, by name or path.

mod edit;
mod forget;
mod list;
pub(crate) mod part;
mod path;
mod restore;
mod show;
mod target;
mod write;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of files.
    Command {
        List(list::ListArgs),
        Show(show::ShowArgs),
        Write(write::WriteArgs),
        Edit(edit::EditArgs),
        Forget(forget::ForgetArgs),
        Restore(restore::RestoreArgs),
        Path(path::PathArgs),
    }
}
