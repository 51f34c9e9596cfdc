//! Parts of a store: paths, names, dates, and the place of each file.
//!
//! [`RelPath`] names a file, [`NoteName`] and [`ProjectSlug`] are names that people and agents give, [`Timestamp`] is
//! the time that the host passes, [`Layout`] has the paths of a scope, and [`EntryFolder`] the paths of an agent's or a
//! workspace's entries.

mod backups;
mod copies;
mod dates;
mod entries;
mod folded;
mod history;
mod instructions;
mod layout;
mod names;
mod slug;

pub use backups::BackupPlace;
pub(crate) use copies::is_conflict_copy;
pub use copies::{CONFLICT_WORDS, SYNCTHING_MARK};
pub(crate) use dates::rfc3339;
#[cfg(test)]
pub(crate) use dates::utc_day;
pub use dates::{Date, LocalTime, Timestamp, utc_text};
pub use entries::text_of_name;
pub use entries::{
    AGENTS_FOLDER, ENTRIES_FOLDER, EntryFolder, WORKSPACES_FOLDER, file_stem, is_of_entries, portable_path,
};
pub(crate) use folded::is_hidden;
pub use folded::{folded_name, is_name};
pub(crate) use history::{HistoryFile, HistoryFolder, is_month};
pub use instructions::is_instructions;
pub use layout::{
    DAILY_FOLDER, DECISIONS_FOLDER, FACTS_FOLDER, LONG_TERM_FILE, Layout, LongTermScope, NOTES_FOLDER, PROJECTS_FOLDER,
    SCOPE_FOLDERS, SCRATCHPAD_FILE, SESSIONS_FOLDER, TEMPLATES_FOLDER, USER_FOLDER, ZK_FOLDER,
};
pub(crate) use layout::{
    SCOPE_PATTERNS, SESSION_STATE_SUFFIX, SESSION_STATES, is_below_entries, is_fact, is_in_folder, is_of_sessions,
};
pub use names::{MAX_NOTE_NAME_BYTES, NOTE_SUFFIX, NameError, NoteName, is_device_name, is_special_on_windows};
pub use saddlebag_protocol::{MAX_PATH_BYTES, MAX_SEGMENT_BYTES, PathError, RelPath};
pub(crate) use slug::is_identifier;
pub use slug::{MAX_IDENTIFIER_BYTES, ProjectSlug};
