//! The subcommands that make text for a prompt.

mod agents_md;
mod args;
mod context;
mod folder;
mod preamble;
mod syncing;

use saddlebag::context::PreambleReply;

use crate::prelude::*;
use crate::subcommand::{Subcommand, subcommands};

pub(crate) use args::ContextArgs;
pub(crate) use syncing::{clear_in, files_in};

subcommands! {
    /// The subcommands of `agents-md`.
    AgentsMd {
        Sync(agents_md::SyncArgs),
    }
}

/// Memory block, or the start of a conversation.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what is printed")]
pub(crate) enum Printed {
    Block(context::Block),
    Preamble(PreambleReply),
}

impl Subcommand for ContextArgs {
    type Json = Printed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.preamble {
            return preamble::run(&self, global, output);
        }
        let with_text = self.append_to.is_some() || self.prompt;
        if self.report && with_text {
            let help = "leave --append-to and --prompt out, or add --preamble";
            return Err(Failure::usage("--report prints the size of the block alone", help));
        }
        if self.append_to.is_some() && self.prompt {
            let help = "leave one of them out, or add --preamble";
            return Err(Failure::usage("--append-to and --prompt exclude each other", help));
        }
        context::run(&self, global, output)
    }
}
