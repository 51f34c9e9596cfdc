//! [`Contents`]: contents by their digests.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::fmt;

use crate::delta;
use crate::digest::Digest;
use crate::record::{Change, Content, Stored};

/// Maximum number of bytes that are made on the way to one content, together.
const MOST_WORK: u64 = 4 << 30;

/// Contents by their digests, whole or as differences from others.
///
/// A reader that needs all versions of a file makes the oldest first, and passes each one to [`add_known`](Self::add_known), so
/// that no chain of differences is followed twice.
#[derive(Clone, Debug)]
pub struct Contents {
    max: usize,
    /// The forms of each content. It may be a difference from several others, and only some of them may lead to a whole
    /// content.
    stored: BTreeMap<Digest, Vec<Stored>>,
}

/// Why a content cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The content with this digest is in a separate file: read the file, pass its bytes to [`Contents::add_known`] and try again.
    Blob(Digest),
    /// No record has the content with this digest.
    Unknown(Digest),
    /// The content with this digest was expunged.
    Removed(Digest),
    /// What is stored does not make the content with this digest, or makes one that is too large.
    Damaged(Digest),
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blob(digest) => write!(out, "content {digest} is in a separate file, which was not read"),
            Self::Unknown(digest) => write!(out, "content {digest} is not in the log"),
            Self::Removed(digest) => write!(out, "content {digest} was expunged"),
            Self::Damaged(digest) => write!(out, "content {digest} is damaged or too large"),
        }
    }
}

impl core::error::Error for Missing {}

impl Contents {
    /// Returns an empty set. No content that it makes has more than `max` bytes, such as
    /// [`MAX_CONTENT`](crate::MAX_CONTENT).
    pub fn new(max: usize) -> Self {
        Self { max, stored: BTreeMap::new() }
    }

    /// Adds the contents of a change.
    pub fn add(&mut self, change: &Change) {
        for content in &change.contents {
            self.add_content(content.clone());
        }
    }

    /// Adds a content.
    pub fn add_content(&mut self, content: Content) {
        let forms = self.stored.entry(content.digest).or_default();
        let is_known = |known: &Stored| match (known, &content.stored) {
            (Stored::Delta { from, .. }, Stored::Delta { from: other, .. }) => from == other,
            (known, new) => core::mem::discriminant(known) == core::mem::discriminant(new),
        };
        if !forms.iter().any(is_known) {
            forms.push(content.stored);
        }
    }

    /// Adds a content that the caller has, in place of all other forms. Returns its digest.
    pub fn add_known(&mut self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        // Another form may be damaged.
        self.stored.insert(digest, Vec::from([Stored::Whole(bytes)]));
        digest
    }

    /// Adds all contents of others.
    pub fn add_all(&mut self, others: Self) {
        for (digest, forms) in others.stored {
            for stored in forms {
                self.add_content(Content { digest, stored });
            }
        }
    }

    /// Returns true if a form of the content with this digest was added that is not [`Stored::Removed`]. What the form is made of
    /// may still be missing.
    pub fn has(&self, digest: &Digest) -> bool {
        let is_there = |forms: &Vec<Stored>| forms.iter().any(|form| !matches!(form, Stored::Removed));
        *digest == Digest::of(&[]) || self.stored.get(digest).is_some_and(is_there)
    }

    /// Makes the content with this digest, from the whole content that the fewest differences lead to.
    ///
    /// # Errors
    ///
    /// [`Missing`]: no whole content leads to it, or the result does not have the digest.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, Missing> {
        let empty = Digest::of(&[]);
        if *digest == empty {
            return Ok(Vec::new());
        }
        let damaged = Missing::Damaged(*digest);
        // Breadth first, from the wanted content to those that it is made of.
        let mut made_of: BTreeMap<Digest, (Digest, &[u8])> = BTreeMap::new();
        let mut seen = BTreeSet::from([*digest]);
        let mut queue = VecDeque::from([*digest]);
        let mut missing = None;
        let (mut current, mut bytes) = loop {
            let Some(next) = queue.pop_front() else { return Err(missing.unwrap_or(damaged)) };
            if next == empty {
                break (next, Vec::new());
            }
            let forms = self.stored.get(&next).map(Vec::as_slice).unwrap_or_default();
            if let Some(bytes) = forms.iter().find_map(whole) {
                if bytes.len() > self.max {
                    return Err(damaged);
                }
                break (next, bytes.to_vec());
            }
            let mut reason = forms.is_empty().then_some(Missing::Unknown(next));
            for form in forms {
                match form {
                    Stored::Delta { from, delta } => {
                        if seen.insert(*from) {
                            made_of.insert(*from, (next, delta));
                            queue.push_back(*from);
                        }
                    }
                    Stored::Blob => reason = Some(Missing::Blob(next)),
                    Stored::Removed => reason = reason.or(Some(Missing::Removed(next))),
                    Stored::Whole(_) => {}
                }
            }
            // A separate file can still be read.
            missing = match (missing, reason) {
                (Some(Missing::Blob(digest)), _) => Some(Missing::Blob(digest)),
                (_, Some(Missing::Blob(digest))) => Some(Missing::Blob(digest)),
                (missing, reason) => missing.or(reason),
            };
        };
        let mut work = 0_u64;
        while let Some((next, delta)) = made_of.get(&current) {
            work += bytes.len() as u64;
            if work > MOST_WORK {
                return Err(damaged);
            }
            bytes = delta::decode(&bytes, delta, self.max).ok_or(damaged)?;
            current = *next;
        }
        if current == *digest && Digest::of(&bytes) == *digest { Ok(bytes) } else { Err(damaged) }
    }
}

fn whole(stored: &Stored) -> Option<&[u8]> {
    match stored {
        Stored::Whole(bytes) => Some(bytes),
        _ => None,
    }
}
