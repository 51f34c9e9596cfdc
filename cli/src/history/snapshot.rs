//! `snapshot`: names a point in the history.

use saddlebag::history::{Snapshot, SnapshotTaken};
use saddlebag::store::Timestamp;

use crate::output::single_line;
use crate::prelude::*;
use crate::subcommand::Ask;

/// Name a point in the history, to look at it or to go back to it later
///
/// Nothing is copied: the history has every version. `op restore ID` goes back to a snapshot, `recall --at ID` looks at it.
#[derive(Debug, Args)]
#[command(after_help = example("snapshot -m \"before the import\""))]
pub(crate) struct SnapshotArgs {
    /// Name of the point, for `op log`
    #[arg(long, short = 'm', value_name = "TEXT")]
    message: String,
}

impl Ask for SnapshotArgs {
    type Request = Snapshot;

    fn request(self, _: Timestamp) -> Result<Snapshot, Failure> {
        Ok(Snapshot { message: self.message })
    }

    fn print(reply: &SnapshotTaken, output: &mut Output) -> Result<(), Failure> {
        Ok(output.line(&single_line(&reply.message))?)
    }
}
