//! [`Changed`]: the reply to a change of an item of any kind.

use saddlebag::entries::{StoreReply, StoreState};
use saddlebag::items::EditReply;
use saddlebag::journal::WriteReply;

use crate::output::single_line;
use crate::prelude::*;

/// Note or other file, or entry.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Changed {
    Edited(EditReply),
    Entry(StoreReply),
    /// File that was empty.
    #[schemars(skip)]
    Written(WriteReply),
}

impl Changed {
    /// Prints the reply, and returns the exit code.
    pub(super) fn show(&self, output: &mut Output) -> Result<Exit, Failure> {
        let message = match self {
            Self::Edited(reply) => &reply.message,
            Self::Entry(reply) => &reply.message,
            Self::Written(reply) => &reply.message,
        };
        output.object_or_line(self, &single_line(message.as_str()))?;
        Ok(if self.is_refused() { Exit::Failed } else { Exit::Done })
    }

    /// Returns true if an entry was not stored, because others had changed or forgotten it.
    pub(super) fn is_refused(&self) -> bool {
        let entry = match self {
            Self::Entry(reply) => Some(reply),
            Self::Edited(reply) => reply.entry.as_ref(),
            Self::Written(_) => None,
        };
        entry.is_some_and(|reply| matches!(reply.state, StoreState::Forgotten | StoreState::Conflict))
    }
}
