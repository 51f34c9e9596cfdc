//! [`ItemKind`]: what a file of memory is.

use saddlebag_collections::words;

use crate::search::day_of_log;
use crate::store::{Date, Layout, RelPath, SESSIONS_FOLDER};

/// Kind of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ItemKind {
    /// A note of the notebook. Asked for, it means daily logs and notes of sessions too.
    #[default]
    Note,
    /// A daily log.
    Log,
    /// The note of a session.
    Session,
    /// An entry of the agent or its workspace.
    Entry,
    /// Long-term memory, the scratchpad, or another file that is neither a note nor an entry.
    File,
}

words!(ItemKind, "kind of an item" {
    Note = "note", Log = "log", Session = "session", Entry = "entry", File = "file",
});

impl ItemKind {
    /// Returns the kind of a file of a notebook, or of the notes for all projects.
    pub(crate) fn of_note(layout: &Layout, path: &RelPath) -> Self {
        let is_session = || {
            let below = layout.below_any_notebook(path.as_str())?.0.strip_prefix(SESSIONS_FOLDER)?;
            // Its name begins with a date.
            Date::parse(below.strip_prefix('/')?.get(..10)?)
        };
        match () {
            () if layout.is_kept(path) => Self::File,
            () if day_of_log(path).is_some() => Self::Log,
            () if is_session().is_some() => Self::Session,
            () => Self::Note,
        }
    }

    /// Returns true for a log, the note of a session and every other note.
    pub const fn is_note(self) -> bool {
        matches!(self, Self::Note | Self::Log | Self::Session)
    }

    /// Returns true if someone who asks for these kinds means items of this kind; without kinds, all are meant.
    pub(crate) fn is_one_of(self, asked: &[Self]) -> bool {
        asked.is_empty() || asked.iter().any(|&asked| self.is(asked))
    }

    /// Returns true if someone who asks for items of kind `asked` means items of this kind too.
    pub(crate) fn is(self, asked: Self) -> bool {
        self == asked || (asked == Self::Note && self.is_note())
    }
}
