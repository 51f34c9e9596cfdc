//! `today`: today's note.

use clap::Args;
use saddlebag::notebook::{Today, TodayReply};

use super::shared::warn;
use crate::failure::Failure;
use crate::output::Output;
use crate::subcommand::Ask;

/// Print today's note, and make it first if it is missing
#[derive(Debug, Args)]
pub(crate) struct TodayArgs;

impl Ask for TodayArgs {
    type Request = Today;

    fn request(self) -> Result<Today, Failure> {
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
