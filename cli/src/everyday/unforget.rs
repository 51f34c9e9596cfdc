//! `unforget`: brings back what was forgotten, and lifts the rejection of its value.

use saddlebag::items::Restore;
use saddlebag::store::Timestamp;

use crate::input::shown_path;
use crate::output::single_line;
use crate::prelude::*;
use crate::subcommand::{Ask, ReplyOf};

/// Bring back what was forgotten, and lift the rejection of its value
///
/// A value that `memory reject --for-good` rejected can be stored again. What was purged does not come back, but its value can be
/// stored.
#[derive(Debug, Args)]
#[command(after_help = example("unforget facts/load-balancer.md"))]
pub(crate) struct UnforgetArgs {
    /// Key of an entry, or title or path of a note
    #[arg(value_name = "NAME", allow_hyphen_values = true, value_parser = shown_path)]
    name: String,
}

impl Ask for UnforgetArgs {
    type Request = Restore;

    fn request(self, _: Timestamp) -> Result<Restore, Failure> {
        Ok(Restore { name: self.name, lift_rejection: true, ..Restore::default() })
    }

    fn print(reply: &ReplyOf<Self>, output: &mut Output) -> Result<(), Failure> {
        output.line(&single_line(reply.message.as_str()))?;
        Ok(())
    }
}
