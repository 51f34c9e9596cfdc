//! [`WrittenLogs`]: the logs that a memory was the last to write.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_history::Digest;

use crate::protocol::Version;
use crate::store::RelPath;

/// Number of bytes at the end of a log in which a digest counts as recorded. An older content is recorded again, so that
/// reading a version back needs few records.
pub(super) const RECENT_BYTES: u32 = 64 * 1024;

/// Maximum number of logs. A memory writes one for the project, and one each for the entries of the agent and the workspace.
const MAX_LOGS: usize = 8;
/// Maximum number of contents of a log.
const MAX_CONTENTS: usize = 64;

/// What a memory knows of the logs that it wrote last. A log that others changed since has another version; then its end is read.
#[derive(Debug, Default)]
pub(crate) struct WrittenLogs(Vec<WrittenLog>);

#[derive(Debug)]
struct WrittenLog {
    log: RelPath,
    version: Version,
    /// Paths and digests of contents that its records can make, the newest last, each with the offset of its record.
    contents: Vec<(String, Digest, u64)>,
}

impl WrittenLogs {
    /// Returns the version of a log after the last write of this memory.
    pub(super) fn version(&self, log: &RelPath) -> Option<&Version> {
        self.0.iter().find(|written| written.log == *log).map(|written| &written.version)
    }

    /// Returns true if the end of a log, which has this size, can make a content of a file.
    pub(super) fn has(&self, log: &RelPath, size: u64, path: &str, content: &Digest) -> bool {
        let written = self.0.iter().find(|written| written.log == *log);
        written.is_some_and(|written| {
            let is_it = |(file, digest, offset): &(String, Digest, u64)| {
                file == path && digest == content && size.saturating_sub(*offset) <= RECENT_BYTES.into()
            };
            written.contents.iter().any(is_it)
        })
    }

    /// Notes that a record was added to a log of this size, with the content of a file that it can make. Without a version,
    /// nothing is known of the log.
    pub(super) fn note(
        &mut self,
        log: &RelPath,
        version: Option<Version>,
        size: u64,
        content: Option<(String, Digest)>,
    ) {
        let known = self.0.iter().position(|written| written.log == *log).map(|place| self.0.remove(place));
        let Some(version) = version else { return };
        let mut contents = known.map(|known| known.contents).unwrap_or_default();
        if let Some((path, digest)) = content {
            contents.retain(|(file, ..)| *file != path);
            contents.push((path, digest, size));
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
    fn a_content_is_known_while_its_record_is_near_the_end_of_the_log() {
        let (log, other) = (RelPath::new("a.log").unwrap(), RelPath::new("b.log").unwrap());
        let (version, first, second) = (Version("v1".into()), Digest::of(b"1"), Digest::of(b"2"));
        let mut written = WrittenLogs::default();
        written.note(&log, Some(version.clone()), 100, Some(("n.md".into(), first)));
        assert_eq!((written.version(&log), written.version(&other)), (Some(&version), None));
        assert!(written.has(&log, 700, "n.md", &first) && !written.has(&log, 700, "m.md", &first));
        assert!(!written.has(&log, 101 + u64::from(RECENT_BYTES), "n.md", &first));
        written.note(&log, Some(Version("v2".into())), 700, Some(("n.md".into(), second)));
        assert!(written.has(&log, 900, "n.md", &second) && !written.has(&log, 900, "n.md", &first));
        // Who cannot say what the log is now knows nothing of it.
        written.note(&log, None, 900, Some(("n.md".into(), second)));
        assert!(written.version(&log).is_none() && !written.has(&log, 900, "n.md", &second));
    }

    #[test]
    fn the_newest_logs_and_contents_are_kept() {
        let mut written = WrittenLogs::default();
        let log = |number: usize| RelPath::new(alloc::format!("{number}.log")).unwrap();
        for number in 0..=MAX_LOGS {
            written.note(&log(number), Some(Version("v".into())), 0, None);
        }
        assert!(written.version(&log(0)).is_none() && written.version(&log(1)).is_some());
        for number in 0..=MAX_CONTENTS {
            let path = alloc::format!("{number}.md");
            written.note(&log(1), Some(Version("v".into())), 0, Some((path, Digest::of(b"x"))));
        }
        assert!(
            !written.has(&log(1), 0, "0.md", &Digest::of(b"x")) && written.has(&log(1), 0, "1.md", &Digest::of(b"x"))
        );
    }
}
