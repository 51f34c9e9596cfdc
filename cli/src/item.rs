//! [`ItemName`]: the argument that names an item of memory, and the item that it means.

use saddlebag::entries::EntryInfo;
use saddlebag::items::{ItemKind, Show};
use saddlebag::journal::FileState;
use saddlebag::protocol::ErrorCode;
use saddlebag::{Limits, Request as _};

use crate::input;
use crate::prelude::*;
use crate::word::word;

/// Help of a name.
pub(crate) const NAME: &str = "Path, title or alias of a note, key of an entry, a path that another command printed, \
                               long_term (or long), scratchpad, daily, daily:YYYY-MM-DD, or note:NAME";
/// Help of the kind of a name.
pub(crate) const KIND: &str = "Kind of the item, if items of several kinds have the name";

#[derive(Debug, Args)]
pub(crate) struct ItemName {
    #[arg(allow_hyphen_values = true, help = NAME)]
    pub(crate) name: String,
    #[arg(long, value_name = "KIND", value_parser = word::<ItemKind>(), help = KIND)]
    pub(crate) kind: Option<ItemKind>,
}

impl ItemName {
    /// Returns the command that reads the item, or a part of its file.
    pub(crate) fn show(&self) -> Show {
        Show { kind: self.kind, ..Show::new(self.without_lines()) }
    }

    /// Returns the name without the line numbers that commands print after a path.
    pub(crate) fn without_lines(&self) -> String {
        input::shown_path(&self.name).unwrap_or_else(|never| match never {})
    }
}

/// Returns the entry of a key, or the one whose file has this path.
pub(crate) fn entry(key: String, store: &mut Store, output: &mut Output) -> Result<EntryInfo, Failure> {
    let shown = store.call(Show { kind: Some(ItemKind::Entry), ..Show::new(key) }, output)?;
    shown.entry.ok_or_else(|| Failure::wrong_reply(Show::NAME))
}

/// Returns the whole text of a version of a file; `None` if the file does not exist in this version.
pub(crate) fn text_of_version(
    name: &str,
    version: u32,
    store: &mut Store,
    output: &mut Output,
) -> Result<Option<String>, Failure> {
    let (version, max_bytes) = (Some(version), Limits::default().max_file_bytes);
    let shown = store.call(Show { version, max_bytes, ..Show::new(name) }, output)?;
    Ok(Some(shown.text).filter(|_| shown.state != FileState::Missing))
}

/// Adds `--kind` to the ways out of an ambiguous name.
pub(crate) fn with_kind(failure: Failure) -> Failure {
    let is_ambiguous = failure.code == ErrorCode::AmbiguousName.into();
    let help = if is_ambiguous { format!("{}, or --kind if they differ in it", failure.help) } else { failure.help };
    Failure { help, ..failure }
}
