//! [`Record`]: the changes of an operation, written to the log before they are made.

use alloc::string::String;
use alloc::vec::Vec;

use crate::delta;
use crate::digest::Digest;

/// A file before or after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The file does not exist.
    #[default]
    Absent,
    /// The file has the content of this digest.
    Bytes(Digest),
    /// The file has this many bytes, and is too large to be digested. Only appends to such a file are recorded.
    Size(u64),
}

impl State {
    /// Returns the state of a file that has this content; `None` if it does not exist.
    pub fn of(content: Option<&[u8]>) -> Self {
        content.map_or(Self::Absent, |content| Self::Bytes(Digest::of(content)))
    }
}

/// One line of the log. It is written before its changes are made, so they may never have happened: [`versions`](crate::versions)
/// finds out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Identifier of the operation: one command, session, import or merge. An operation may have several records.
    pub operation: String,
    /// Nanoseconds since the beginning of 1970, UTC.
    pub time_ns: i64,
    /// Offset of the writer's local time from UTC, in seconds; positive in the east.
    pub utc_offset_seconds: i32,
    /// The command, for people.
    pub command: String,
    /// Who made the changes.
    pub writer: Writer,
    /// Why, in the writer's words.
    pub reason: Option<String>,
    /// Operations that this one undoes.
    pub undoes: Vec<String>,
    /// Operations whose undo this one takes back.
    pub redoes: Vec<String>,
    /// The files that change.
    pub changes: Vec<Change>,
    /// Changes that were not made, because another writer was faster, without contents. Each means the newest earlier record in the
    /// same log that has the same operation, path and states, and that no other record means. Two processes that finish one operation
    /// record a change twice, and make it once.
    pub lost: Vec<Change>,
}

/// Who made a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// Kind of the writer, such as `user` or `tool`.
    pub provenance: String,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Program through which the agent called.
    pub client: Option<String>,
    /// Tool that was called.
    pub tool: Option<String>,
    /// Session in which it was called.
    pub session: Option<String>,
}

/// The change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Path of the file, relative to the root of the store.
    pub path: String,
    /// The file before the change.
    pub before: State,
    /// The file after the change.
    pub after: State,
    /// Size before the change, in bytes; 0 if the file did not exist.
    pub before_size: u64,
    /// Size after the change, in bytes; 0 if the file does not exist.
    pub after_size: u64,
    /// Path at which the content was before this operation.
    pub moved_from: Option<String>,
    /// True if only the history keeps the content before, for whoever wants it back: no backup was written.
    pub keeps_before: bool,
    /// The contents before and after, as far as this record keeps them.
    pub contents: Vec<Content>,
}

/// One content in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Digest of the content.
    pub digest: Digest,
    /// Form in which the record keeps it.
    pub stored: Stored,
}

/// Form in which a record keeps a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// All bytes are in the record.
    Whole(Vec<u8>),
    /// The record has the difference from another content.
    Delta {
        /// Digest of the other content.
        from: Digest,
        /// Difference, for [`delta::decode`](crate::delta::decode).
        delta: Vec<u8>,
    },
    /// The bytes are in a separate file, named by the digest. The caller writes that file.
    Blob,
    /// The bytes were expunged.
    Removed,
}

impl Change {
    /// Returns the change of a file from `before` to `after`; `None` if it does not exist.
    ///
    /// These contents are kept:
    ///
    /// * the content before, whole, unless it is known: `is_before_known` says that an earlier record keeps it;
    /// * the content after, if it is different: as a difference from the content before if that has at most 3/4 of its size,
    ///   else whole.
    ///
    /// A content of more than `max_inline` bytes that would be kept whole becomes a [`Stored::Blob`]. An empty content is known
    /// without being kept.
    pub fn of(
        path: &str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        is_before_known: bool,
        max_inline: usize,
    ) -> Self {
        let size = |content: Option<&[u8]>| content.map_or(0, |content| content.len() as u64);
        let mut change = Self {
            path: path.into(),
            before: State::of(before),
            after: State::of(after),
            before_size: size(before),
            after_size: size(after),
            moved_from: None,
            keeps_before: false,
            contents: Vec::new(),
        };
        let whole = |bytes: &[u8]| if bytes.len() > max_inline { Stored::Blob } else { Stored::Whole(bytes.into()) };
        let before = before.unwrap_or_default();
        if let State::Bytes(digest) = change.before
            && !is_before_known
            && !before.is_empty()
        {
            change.contents.push(Content { digest, stored: whole(before) });
        }
        let after = after.unwrap_or_default();
        if let State::Bytes(digest) = change.after
            && change.before != change.after
            && !after.is_empty()
        {
            let delta = match change.before {
                State::Bytes(from) if !before.is_empty() => Some((from, delta::encode(before, after))),
                _ => None,
            };
            // Without overflow: no slice has more than `isize::MAX` bytes.
            let is_small = |delta: &[u8]| delta.len() <= after.len() - after.len().div_ceil(4);
            let stored = match delta {
                Some((from, delta)) if is_small(&delta) => Stored::Delta { from, delta },
                _ => whole(after),
            };
            change.contents.push(Content { digest, stored });
        }
        change
    }

    /// Returns the change without its contents.
    pub fn without_contents(&self) -> Self {
        let &Self { before, after, before_size, after_size, keeps_before, ref path, ref moved_from, contents: _ } =
            self;
        let (path, moved_from) = (path.clone(), moved_from.clone());
        Self { path, before, after, before_size, after_size, moved_from, keeps_before, contents: Vec::new() }
    }

    /// Returns an append to a file whose content before is not in the log: only the difference of the two contents, in both directions. The
    /// file itself has both, so no record has to repeat it.
    pub fn append_to(path: &str, before: &[u8], after: &[u8]) -> Self {
        let mut change = Self::of(path, Some(before), Some(after), true, usize::MAX);
        if let (State::Bytes(old), State::Bytes(new)) = (change.before, change.after) {
            let delta = |digest, from, delta| Content { digest, stored: Stored::Delta { from, delta } };
            change.contents = Vec::from([
                delta(old, new, delta::encode(after, before)),
                delta(new, old, delta::encode(before, after)),
            ]);
        }
        change
    }

    /// Returns an append to a file of `before_size` bytes that is too large to be digested.
    ///
    /// `added` is everything that is written, including a line end before the new text. It becomes the only content, under
    /// the digest of the added bytes.
    pub fn append(path: &str, before_size: u64, added: &[u8]) -> Self {
        let after_size = before_size.saturating_add(added.len() as u64);
        Self {
            path: path.into(),
            before: State::Size(before_size),
            after: State::Size(after_size),
            before_size,
            after_size,
            moved_from: None,
            keeps_before: false,
            contents: Vec::from([Content { digest: Digest::of(added), stored: Stored::Whole(added.into()) }]),
        }
    }
}
