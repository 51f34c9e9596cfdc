//! Options of `saddlebag hook`.

use clap::Args;
use saddlebag::notebook::Glob;

use super::event::Client;
use super::paths::{checked_glob, exclusion};
use crate::help::example;
use crate::word::word;

/// Word in place of an event that prints the log.
const LOG: &str = "log";
/// Maximum score that `--min-score` takes.
const MAX_SCORE: f64 = 100.0;

/// Handle an event of a client: keep and recall memory
#[derive(Debug, Args)]
#[command(after_help = example("hook log"))]
pub(crate) struct HookArgs {
    /// Event: start, prompt, before-tool, tool, compact, stop, end, or the client's name for it [default: from the payload]; `log`
    /// prints the last failures
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// Client, if the payload does not show which one it is
    #[arg(long, value_name = "CLIENT", value_parser = word::<Client>())]
    pub(crate) client: Option<Client>,
    /// Maximum size of the text for the model, in bytes [default: 8000 at the start, 1500 for a prompt, 400 before a
    /// tool; at most the client's limit]
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_bytes: Option<u32>,
    /// Minimum score of notes and entries that are recalled for a prompt, at most 100 [default: 1]
    #[arg(long, value_name = "SCORE", value_parser = thousandths)]
    pub(crate) min_score: Option<u32>,
    /// Notes that are never recalled for a prompt, relative to the notebook; a folder keeps out all that is in it; repeatable
    #[arg(long, value_name = "GLOB", value_parser = checked_glob)]
    pub(crate) keep_out: Vec<String>,
    /// Say nothing about the file or the command that a tool is about to use
    #[arg(long)]
    pub(crate) without_before_tool: bool,
    /// Paths that are never recorded, relative to the project; repeatable
    #[arg(long, value_name = "GLOB", value_parser = exclusion)]
    pub(crate) exclude: Vec<Glob>,
    /// Print the last failures, as `hook log` does
    #[arg(long)]
    pub(crate) log: bool,
}

impl HookArgs {
    /// Returns true if the log is printed and no event handled.
    pub(crate) fn prints_log(&self) -> bool {
        self.log || self.event.as_deref() == Some(LOG)
    }
}

/// Parses a score as thousandths.
fn thousandths(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        Ok(score) if (0.0..=MAX_SCORE).contains(&score) => Ok((score * 1_000.0).round() as u32),
        _ => Err(format!("not a number from 0 to {MAX_SCORE}")),
    }
}
