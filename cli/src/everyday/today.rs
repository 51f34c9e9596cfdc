//! `today`: prints today's note.

use saddlebag::notebook::{Today, TodayReply};
use saddlebag::store::Timestamp;

use crate::note::shared::warn;
use crate::prelude::*;
use crate::subcommand::Ask;

/// Print today's note, and create it if it is missing
#[derive(Debug, Args)]
#[command(after_help = example("today"))]
pub(crate) struct TodayArgs;

impl Ask for TodayArgs {
    type Request = Today;

    fn request(self, _: Timestamp) -> Result<Today, Failure> {
        Ok(Today)
    }

    fn print(reply: &TodayReply, output: &mut Output) -> Result<(), Failure> {
        output.text(&reply.text)?;
        Ok(())
    }

    fn warn(reply: &TodayReply, output: &mut Output) -> Result<(), Failure> {
        warn(&reply.warnings, output);
        Ok(())
    }
}
