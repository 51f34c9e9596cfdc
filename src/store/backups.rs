//! [`BackupPlace`]: where replaced text is kept.

use saddlebag_collections::words;

/// Place where the text that a change replaces or removes is kept, so that `restore` brings it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackupPlace {
    /// In the history. Text that the history does not have is kept in a file, as with `Sibling`: if changes are not recorded, if
    /// the text has a secret, or if the file has a backup already.
    #[default]
    History,
    /// In a file, such as `MEMORY.bak` beside `MEMORY.md`.
    Sibling,
}

words!(BackupPlace, "place of backups" { History = "history", Sibling = "sibling" });
