//! [`Notice`]: says at the start of a session that hooks failed since the last start that said so. Nothing else says
//! so: a client shows nothing of a hook that fails.
//!
//! The text goes to a model, so it has only words of this program: the number of failures, and a reason for the code of the
//! last one.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::log::{Line, Log, make_private};
use crate::regular;

/// Name of the file with the time of the last failure that was told, in the folder of states.
const TOLD: &str = "hook-told";
/// Length of a time in UTC: `2026-11-02T09:00:00Z`.
const TIME_BYTES: usize = 20;
/// Share of the text at a start that a notice may take.
const LARGEST_SHARE: u32 = 4;

/// Failures that no start of a session has reported yet.
pub(super) struct Notice {
    told: PathBuf,
    last: String,
    text: String,
}

impl Notice {
    /// Returns the notice about the failures of this user's hooks; `None` if there is none to tell.
    pub(super) fn of_user() -> Option<Self> {
        let told = saddlebag_host::state_folder()?.join(TOLD);
        let lines = Log::of_user()?.newest_lines().ok()?;
        let before = time_in(&told).unwrap_or_default();
        let new: Vec<&Line> = lines.iter().filter(|line| is_time(&line.time) && line.time > before).collect();
        let (first, last) = (new.first()?, new.last()?);
        let number = new.len();
        let plural = if number == 1 { "" } else { "s" };
        let text = format!(
            "Note from saddlebag: {number} hook{plural} of this memory failed since {}, so what happened then may be \
             missing here. Last reason: {}. `saddlebag hook log` lists them.",
            first.time,
            reason(&last.code)
        );
        Some(Self { told, last: last.time.clone(), text })
    }

    /// Returns the size of the text with a line break, in bytes; 0 if it would take too much of `room`.
    pub(super) fn bytes(&self, room: u32) -> u32 {
        let bytes = u32::try_from(self.text.len() + 1).unwrap_or(u32::MAX);
        if bytes > room / LARGEST_SHARE { 0 } else { bytes }
    }

    /// Returns the text, and records that it was told.
    pub(super) fn tell(self) -> String {
        let written = self.told.parent().map_or(Ok(()), make_private).and_then(|()| {
            let mut options = OpenOptions::new();
            let mut file = regular::open_private(&self.told, options.write(true).create(true))?;
            file.set_len(0)?;
            file.write_all(self.last.as_bytes())
        });
        // A start that cannot record it says it again.
        let _ = written;
        self.text
    }
}

/// Returns the file of a folder of states that says what was told, if there is one.
pub(super) fn files_in(state: &Path) -> Option<PathBuf> {
    Some(state.join(TOLD)).filter(|told| time_in(told).is_some())
}

/// Returns the time in a file.
fn time_in(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = regular::open(path, OpenOptions::new().read(true)).ok()?;
    file.take(TIME_BYTES as u64 + 1).read_to_string(&mut text).ok()?;
    is_time(&text).then_some(text)
}

/// Returns true for a time as the log writes it. Anyone who can write the log could write anything else.
fn is_time(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    text.len() == TIME_BYTES && text.chars().all(|c| is_digit(c) || matches!(c, '-' | ':' | 'T' | 'Z'))
}

/// Returns the meaning of a code of the log.
fn reason(code: &str) -> &'static str {
    match code {
        "time-limit" => "a hook took too long and was ended",
        "fault" => "the program has a fault",
        "input" => "the client's event could not be read",
        "output" => "the client did not take the answer",
        "usage" => "the command line of the hook is invalid",
        "storage" => "the memory could not be opened, read or written",
        "component" | "engine" => "the engine of the memory did not run",
        "secret" => "text looked like a secret",
        _ => "a command of the memory was refused or failed",
    }
}
