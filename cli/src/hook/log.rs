//! The log of hooks that did nothing.
//!
//! A client shows nothing of a hook that fails, and must not be stopped by it, so this file is where failures are
//! seen. It is private to the user, has no text of prompts or tools, and at most [`MAX_LOG_BYTES`] twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use saddlebag::store::{Timestamp, utc_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trouble::Trouble;
use crate::output::JsonLine;
use crate::regular;

/// Name of the log in the folder of states.
const FILE: &str = "hook.log";
/// Name of the log before the last change of files.
const OLD_FILE: &str = "hook.log.old";
/// Size at which the log is moved aside, in bytes.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// Number of bytes at the end of the log that [`Log::newest_lines`] reads.
const NEWEST_BYTES: u64 = 64 << 10;
/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// One run of a hook that did nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Line {
    /// Time of the run, RFC 3339 in UTC.
    pub(crate) time: String,
    /// Client, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// Event, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
    /// Kind of the failure, one word.
    pub(crate) code: String,
    /// Description for people.
    pub(crate) message: String,
}

impl Line {
    pub(crate) fn new(now: Timestamp, client: Option<&str>, event: Option<&str>, trouble: &Trouble) -> Self {
        let message: String = trouble.message.chars().take(MAX_MESSAGE_CHARS).collect();
        Self {
            time: utc_text(now.seconds.unsigned_abs().saturating_mul(1_000_000_000)),
            client: client.map(str::to_string),
            event: event.map(str::to_string),
            code: trouble.code.to_string(),
            message,
        }
    }
}

/// The log in a folder.
pub(crate) struct Log(PathBuf);

impl Log {
    /// Returns the log of this user. Returns `None` if there is no home folder.
    pub(crate) fn of_user() -> Option<Self> {
        saddlebag_host::state_folder().map(Self)
    }

    /// Returns the log in a folder of states.
    pub(super) fn in_folder(state: &Path) -> Self {
        Self(state.to_path_buf())
    }

    /// Returns the files that have lines of the log, or nothing.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let is_log = |name: &&str| {
            let is_empty = || self.0.join(name).metadata().is_ok_and(|found| found.len() == 0);
            regular::is_one(&self.0.join(name))
                && (is_empty() || self.read(name, NEWEST_BYTES).is_ok_and(|lines| !lines.is_empty()))
        };
        [OLD_FILE, FILE].into_iter().filter(is_log).map(|name| self.0.join(name)).collect()
    }

    /// Returns the files that have lines with a text, each with their number. Removes these lines if `is_removed` is set.
    pub(crate) fn lines_with(&self, text: &str, is_removed: bool) -> io::Result<Vec<(PathBuf, u32)>> {
        let mut found = Vec::new();
        for path in self.files() {
            let mut bytes = Vec::new();
            regular::open(&path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
            let read = String::from_utf8_lossy(&bytes);
            let has_text = |line: &&str| {
                let message = serde_json::from_str::<Line>(line).map(|line| line.message).unwrap_or_default();
                line.contains(text) || message.contains(text)
            };
            let count = read.lines().filter(has_text).count();
            if count == 0 {
                continue;
            }
            if is_removed {
                let kept: String =
                    read.lines().filter(|line| !has_text(line)).map(|line| format!("{line}\n")).collect();
                regular::open_private(&path, OpenOptions::new().write(true).truncate(true))?
                    .write_all(kept.as_bytes())?;
            }
            found.push((path, u32::try_from(count).unwrap_or(u32::MAX)));
        }
        Ok(found)
    }

    /// Appends a line. A line is written at once, so that lines of several processes do not mix.
    pub(crate) fn append(&self, line: &Line) -> io::Result<()> {
        let value = serde_json::to_value(line)?;
        let mut file = self.open()?;
        if file.metadata()?.len() >= MAX_LOG_BYTES {
            fs::rename(self.0.join(FILE), self.0.join(OLD_FILE))?;
            file = self.open()?;
        }
        file.write_all(format!("{}\n", JsonLine::new(&value)).as_bytes())
    }

    /// Returns the lines of both files, the oldest first. A line that cannot be read is left out.
    pub(crate) fn lines(&self) -> io::Result<Vec<Line>> {
        Ok([self.read(OLD_FILE, MAX_LOG_BYTES)?, self.read(FILE, 2 * MAX_LOG_BYTES)?].concat())
    }

    /// Returns the last lines, the oldest first.
    pub(crate) fn newest_lines(&self) -> io::Result<Vec<Line>> {
        self.read(FILE, NEWEST_BYTES)
    }

    /// Returns the lines at the end of a file, in at most so many bytes. A missing file has none.
    fn read(&self, name: &str, most: u64) -> io::Result<Vec<Line>> {
        let mut file = match regular::open(&self.0.join(name), OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(file.metadata()?.len().saturating_sub(most)))?;
        file.take(most).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    fn open(&self) -> io::Result<File> {
        make_private(&self.0)?;
        regular::open_private(&self.0.join(FILE), OpenOptions::new().create(true).append(true))
    }
}

/// Returns the number of failures in the log, and the last one. A log that cannot be read counts as empty.
pub(crate) fn failures() -> (u32, Option<Line>) {
    let lines = Log::of_user().and_then(|log| log.lines().ok()).unwrap_or_default();
    (u32::try_from(lines.len()).unwrap_or(u32::MAX), lines.last().cloned())
}

/// Creates a folder and its parents for this user only, if it is missing.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> Line {
        Line::new(saddlebag_host::now(), Some("codex"), None, &Trouble::input(message))
    }

    #[test]
    fn lines_come_back_in_their_order_and_a_damaged_one_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log(folder.path().join("a/b"));
        assert_eq!(log.lines().unwrap(), []);
        log.append(&line("first\n\u{1b}[31m")).unwrap();
        fs::write(folder.path().join("a/b").join(OLD_FILE), "not JSON\n").unwrap();
        log.append(&line("second")).unwrap();
        let messages: Vec<String> = log.lines().unwrap().into_iter().map(|line| line.message).collect();
        assert_eq!(messages, ["first\n\u{1b}[31m", "second"]);
    }

    #[test]
    fn the_log_never_has_more_than_two_files_of_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log(folder.path().to_path_buf());
        for _ in 0..3 {
            fs::write(folder.path().join(FILE), vec![b'\n'; MAX_LOG_BYTES as usize]).unwrap();
            log.append(&line("next")).unwrap();
        }
        assert_eq!(log.lines().unwrap().len(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(fs::metadata(folder.path().join(FILE)).unwrap().len() < 1_000);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_log() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let log = Log(folder.path().join("state"));
        log.append(&line("x")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&log.0), mode(&log.0.join(FILE))), (0o700, 0o600));
    }
}
