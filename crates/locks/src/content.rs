//! The content of a lock: the line of its holder, and the record of what it is doing.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::names::is_temporary;

/// Beginning of a lock that nobody holds.
pub(crate) const FREE: &[u8] = b"free";

/// Who holds a lock, as others read it. A host makes one for each store that it opens.
#[derive(Debug)]
pub struct Identity {
    process: String,
    program: String,
    random: u64,
    count: AtomicU64,
}

impl Identity {
    /// `process` and `program` are for people. No two identities may have one `random`: it makes each line different from all
    /// lines that any host ever writes.
    pub fn new(process: &str, program: &str, random: u64) -> Self {
        let shown = |text: &str| -> String { text.chars().filter(|letter| !letter.is_control()).take(64).collect() };
        Self { process: shown(process), program: shown(program), random, count: AtomicU64::new(0) }
    }

    /// Returns a new first line. A later one is at least as long.
    pub(crate) fn line(&self) -> String {
        let Self { process, program, random, count } = self;
        format!("held\t{process}\t{program}\t{random:016x}-{}\n", count.fetch_add(1, Ordering::Relaxed))
    }
}

/// Returns true if a lock that has this content is free. An empty lock file is, and an empty lease is not.
pub(crate) fn is_free(content: &[u8]) -> bool {
    content.starts_with(FREE)
}

/// Returns the holder that the content of a lock names, for a person.
pub(crate) fn holder_of(content: &[u8]) -> Option<String> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    let line = core::str::from_utf8(line).ok()?;
    // Before protocol 3, the line began with the process.
    let mut fields = line.strip_prefix("held\t").unwrap_or(line).split('\t');
    match (fields.next(), fields.next()) {
        (Some(process), Some(program)) if !process.is_empty() && !program.is_empty() => {
            Some(format!("process {process} ({program})"))
        }
        _ => None,
    }
}

/// The change that a holder has begun: the second line of its lock. If the holder dies, the next one finishes the change or
/// undoes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The temporary file was never at the name of the file, so only its writer has written to it: remove it.
    Staged {
        /// Path of the temporary file.
        temporary: &'a str,
        /// Path of the file.
        path: &'a str,
    },
    /// The temporary file is being exchanged with the file: it is the new file, the old one, or text of somebody else, which
    /// must not be lost.
    Placing {
        /// Path of the temporary file.
        temporary: &'a str,
        /// Path of the file.
        path: &'a str,
        /// The new file, as its host names it.
        new: &'a str,
        /// Version of the old file.
        old: &'a str,
        /// Path under which the old file is kept.
        keep_as: Option<&'a str>,
    },
    /// The temporary file is about to replace the file, which has a [second name](second_name) and is kept.
    Keeping {
        /// Path of the temporary file.
        temporary: &'a str,
        /// Path of the file.
        path: &'a str,
        /// Path under which the old file is kept.
        keep_as: &'a str,
    },
}

impl<'a> Record<'a> {
    /// Returns the record in the content of a lock; `None` if there is none that was written to its end. The step after an
    /// incomplete record was not begun. Anyone can write to a lock, so the temporary file must have the name of one.
    pub fn of(content: &'a str) -> Option<Self> {
        let line = content.split_inclusive('\n').nth(1)?.strip_suffix('\n')?;
        let mut fields = line.split('\t');
        let (stage, temporary, path) = (fields.next()?, fields.next()?, fields.next()?);
        if !is_temporary(temporary.rsplit('/').next()?) {
            return None;
        }
        match stage {
            "staged" => Some(Self::Staged { temporary, path }),
            "placing" => {
                let (new, old) = (fields.next()?, fields.next()?);
                Some(Self::Placing { temporary, path, new, old, keep_as: fields.next() })
            }
            "keeping" => Some(Self::Keeping { temporary, path, keep_as: fields.next()? }),
            _ => None,
        }
    }
}

/// The line of the record, with its end.
impl fmt::Display for Record<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Staged { temporary, path } => writeln!(out, "staged\t{temporary}\t{path}"),
            Self::Placing { temporary, path, new, old, keep_as: None } => {
                writeln!(out, "placing\t{temporary}\t{path}\t{new}\t{old}")
            }
            Self::Placing { temporary, path, new, old, keep_as: Some(keep_as) } => {
                writeln!(out, "placing\t{temporary}\t{path}\t{new}\t{old}\t{keep_as}")
            }
            Self::Keeping { temporary, path, keep_as } => writeln!(out, "keeping\t{temporary}\t{path}\t{keep_as}"),
        }
    }
}

/// Returns the name that an old file has beside the temporary file, while it is [kept](Record::Keeping).
pub fn second_name(temporary: &str) -> String {
    temporary.strip_suffix(".tmp").map_or_else(|| temporary.to_owned(), |stem| format!("{stem}-old.tmp"))
}
