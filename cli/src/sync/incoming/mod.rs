//! [`Incoming`]: the one way by which text of other machines and tools comes in, through git or in a conflict copy.
//!
//! [`Incoming::ask`] compares a text with what was expunged. Only an [`Admitted`] text can be merged, and `Disk::change` writes
//! nothing else. There it is compared with what was rejected: a value that the file had before stays, so that answer needs the result
//! of the merge. [`merge_sides()`] merges two versions of any file.

mod expunged_texts;
mod merge_sides;

use saddlebag::history::{MergeSides, MergedFile, merge};
use saddlebag::protocol::Error;
use saddlebag::store::RelPath;

pub(crate) use self::expunged_texts::Received;
pub(super) use self::expunged_texts::{COMMAND, ExpungedTexts};
pub(super) use self::merge_sides::BothKept;
use self::merge_sides::{MergedSides, merge_sides};
use super::digests::ExpungedLine;

/// A version of a file that was compared with what was expunged; without bytes if the file is deleted. Nothing outside of this module
/// can make one.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Admitted(Option<Vec<u8>>);

/// A file after a merge, and what lies beside it.
pub(super) struct Merged {
    pub(super) content: Admitted,
    /// Number of parts that both sides changed.
    pub(super) conflicts: usize,
    /// Path of the review of these parts.
    pub(super) review: Option<String>,
    /// New files with their paths: the review, and a version that does not have the file's path.
    pub(super) beside: Vec<(String, Admitted)>,
    /// Entry of the report for a file that could not be merged.
    pub(super) both_kept: Option<BothKept>,
}

/// Answer for text that comes in.
pub(super) enum Asked {
    Admitted(Admitted),
    /// It would bring expunged text back.
    Expunged(Held),
}

/// Text that would bring expunged text back.
pub(super) struct Held {
    content: Vec<u8>,
    /// Line of the note, if it is a version of a note that was expunged as a whole.
    note: Option<ExpungedLine>,
}

impl Held {
    /// Returns why it is left out, with the way out.
    pub(super) fn reason(&self) -> String {
        let what = if self.note.is_some() { "is a version of a note" } else { "has text" };
        format!("it {what} that was expunged; {COMMAND}")
    }
}

/// Compares each text with what was expunged, before it comes in.
pub(super) struct Incoming<'a>(pub(super) &'a mut ExpungedTexts);

impl Incoming<'_> {
    /// Asks whether a version of a file may come in. `path` is that of the file, also for a version that lies elsewhere.
    pub(super) fn ask(&mut self, path: &str, content: Option<Vec<u8>>) -> Asked {
        let Some(content) = content else { return Asked::Admitted(Admitted(None)) };
        let note = self.0.line_of_note(path, &content);
        match note.is_some() || self.0.is_in(&content) {
            true => Asked::Expunged(Held { content, note }),
            false => Asked::Admitted(Admitted(Some(content))),
        }
    }

    /// Returns a version that commits of git have already, with `(expunged)` in the place of expunged texts. It comes in even if it is a
    /// version of a note that was expunged, because the file must be as the commit says.
    pub(super) fn committed(&mut self, path: &str, content: Option<Vec<u8>>) -> Admitted {
        Admitted(content.map(|content| self.0.replaced_in(path, content)))
    }

    /// Returns a version that commits of git have already, and that is written to a file. The report names it if it was expunged.
    pub(super) fn received(&mut self, path: &RelPath, content: Option<Vec<u8>>) -> Admitted {
        match self.ask(path.as_str(), content) {
            Asked::Admitted(admitted) => admitted,
            Asked::Expunged(held) => {
                self.report(&held, path);
                Admitted(Some(held.content))
            }
        }
    }

    /// Names a text in the report. The file at `path` has it.
    pub(super) fn report(&mut self, held: &Held, path: &RelPath) {
        self.0.report(path, held.note.clone(), &held.content);
    }

    /// Merges what came in into a file that a person or git named.
    pub(super) fn merge_named(
        &mut self,
        path: &str,
        ancestor: Option<Vec<u8>>,
        ours: Vec<u8>,
        theirs: Admitted,
    ) -> Result<(MergedFile, Admitted), Error> {
        let ancestor = self.0.without(ancestor);
        let merged = merge(path, &MergeSides { ancestor, ours: Some(ours), theirs: theirs.0 })?;
        let content = Admitted(merged.content.clone());
        Ok((merged, content))
    }

    /// Merges what came in with the version of this machine. The result is the same whichever side merges.
    pub(super) fn merge(
        &mut self,
        path: &str,
        ancestor: Option<Vec<u8>>,
        ours: Option<Vec<u8>>,
        theirs: Admitted,
    ) -> Merged {
        // A review shows the version that both sides had.
        let ancestor = self.0.without(ancestor);
        let merged = merge_sides(path, MergeSides { ancestor, ours, theirs: theirs.0 });
        let MergedSides { content, conflicts, review, beside, both_kept } = merged;
        let beside = beside.into_iter().map(|(path, content)| (path, Admitted(Some(content)))).collect();
        Merged { content: Admitted(content), conflicts, review, beside, both_kept }
    }
}

impl Admitted {
    /// Returns the content of a file that is removed, because another file has its text.
    pub(super) fn nothing() -> Self {
        Self(None)
    }

    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        self.0
    }
}
