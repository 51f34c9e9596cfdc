//! [`WrittenLogs`]: the logs that a memory was the last to write.

use saddlebag_log::Digest;

use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Version;

/// Number of bytes at the end of a log in which a digest counts as recorded. An older content is recorded again, so that
/// reading a version back needs few records.
pub(super) const RECENT_BYTES: u32 = 64 * 1024;

/// Maximum number of logs. A memory writes one for the project, and one each for the entries of the agent and the workspace.
const MAX_LOGS: usize = 8;
/// Maximum number of contents of a log.
const MAX_CONTENTS: usize = 64;

/// The logs of the history that this memory wrote last. If the version of a log is another one now, others have changed it.
#[derive(Debug, Default)]
pub(crate) struct WrittenLogs(Vec<WrittenLog>);

#[derive(Debug)]
struct WrittenLog {
    log: RelPath,
    version: Version,
    /// Paths and digests of contents that its records can make, the newest last, each with the offset of the first record that
    /// is needed for it.
    contents: Vec<(String, Digest, u64)>,
}

impl WrittenLogs {
    /// Returns the version of a log after the last write of this memory.
    pub(super) fn version(&self, log: &RelPath) -> Option<&Version> {
        self.0.iter().find(|written| written.log == *log).map(|written| &written.version)
    }

    /// Returns the offset from which on a log of this size can make a content of a file; `None` if its end cannot.
    pub(super) fn since(&self, log: &RelPath, size: u64, path: &str, content: &Digest) -> Option<u64> {
        let written = self.0.iter().find(|written| written.log == *log)?;
        let found = written.contents.iter().find(|(file, digest, _)| file == path && digest == content)?;
        Some(found.2).filter(|since| size.saturating_sub(*since) <= RECENT_BYTES.into())
    }

    /// Notes that a record was added to a log, with the content of a file that it can make from an offset on. Without a version,
    /// nothing is known of the log.
    pub(super) fn note(&mut self, log: &RelPath, version: Option<Version>, content: Option<(String, Digest, u64)>) {
        let known = self.0.iter().position(|written| written.log == *log).map(|place| self.0.remove(place));
        let Some(version) = version else { return };
        let mut contents = known.map(|known| known.contents).unwrap_or_default();
        if let Some(content) = content {
            contents.retain(|(file, ..)| *file != content.0);
            contents.push(content);
        }
        let over = contents.len().saturating_sub(MAX_CONTENTS);
        contents.drain(..over);
        let over = (self.0.len() + 1).saturating_sub(MAX_LOGS);
        self.0.drain(..over);
        self.0.push(WrittenLog { log: log.clone(), version, contents });
    }

    pub(super) fn forget(&mut self, log: &RelPath) {
        self.0.retain(|written| written.log != *log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_known_while_all_of_its_records_are_near_the_end_of_the_log() {
        let (log, other) = (RelPath::new("a.log").unwrap(), RelPath::new("b.log").unwrap());
        let (version, first, second) = (Version("v1".into()), Digest::of(b"1"), Digest::of(b"2"));
        let mut written = WrittenLogs::default();
        written.note(&log, Some(version.clone()), Some(("n.md".into(), first, 100)));
        assert_eq!((written.version(&log), written.version(&other)), (Some(&version), None));
        assert_eq!(written.since(&log, 700, "n.md", &first), Some(100));
        assert_eq!(written.since(&log, 700, "m.md", &first), None);
        // The second content is a difference to the first.
        written.note(&log, Some(Version("v2".into())), Some(("n.md".into(), second, 100)));
        assert_eq!(written.since(&log, 900, "n.md", &second), Some(100));
        assert_eq!(written.since(&log, 900, "n.md", &first), None);
        assert_eq!(written.since(&log, 101 + u64::from(RECENT_BYTES), "n.md", &second), None);
        // Who cannot say what the log is now knows nothing of it.
        written.note(&log, None, Some(("n.md".into(), second, 900)));
        assert!(written.version(&log).is_none() && written.since(&log, 900, "n.md", &second).is_none());
    }

    #[test]
    fn the_newest_logs_and_contents_are_kept() {
        let mut written = WrittenLogs::default();
        let log = |number: usize| RelPath::new(format!("{number}.log")).unwrap();
        let version = || Some(Version("v".into()));
        for number in 0..=MAX_LOGS {
            written.note(&log(number), version(), None);
        }
        assert!(written.version(&log(0)).is_none() && written.version(&log(1)).is_some());
        let content = Digest::of(b"x");
        for number in 0..=MAX_CONTENTS {
            written.note(&log(1), version(), Some((format!("{number}.md"), content, 0)));
        }
        assert_eq!(written.since(&log(1), 0, "0.md", &content), None);
        assert_eq!(written.since(&log(1), 0, "1.md", &content), Some(0));
    }
}
