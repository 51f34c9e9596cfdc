//! `memory import`: imports files as entries, in our format or another agent's.

mod args;
mod foreign;
mod known;
mod own;
mod sources;

use saddlebag::entries::ImportMode;

use crate::failure::set_changes;
use crate::formats::ImportFormat;
use crate::prelude::*;

pub(crate) use args::ImportArgs;
pub(crate) use known::{claude_folder, gemini_digest};
pub(crate) use sources::place;

/// JSON output of an import.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Imported {
    Own(own::Imported),
    Foreign(foreign::Imported),
    Machine(foreign::OfMachine),
}

impl Subcommand for ImportArgs {
    type Json = Imported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        set_changes(true, false);
        if self.format != ImportFormat::Markdown {
            if self.mode != ImportMode::Upsert {
                let help = "an import from another agent forgets nothing";
                return Err(Failure::usage("--mode replace works only with files of entries", help));
            }
            if let Some(exit) = foreign::run(&self, global, output)? {
                return Ok(exit);
            }
        }
        own::run(&self, global, output)
    }
}
