//! [`ItemName`]: the argument that names an item of memory, and the item that it means.

use saddlebag::entries::EntryInfo;
use saddlebag::items::{Item, ItemKind, Resolve, Show};
use saddlebag::journal::{FileState, Target};
use saddlebag::protocol::ErrorCode;
use saddlebag::{Limits, Request as _};

use crate::failure::set_changes;
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

/// Item that a name means, as the commands of its family take it.
pub(crate) enum Named {
    /// Entry, by its key or the path of its file.
    Entry(String),
    /// Any other file.
    Target(Target),
}

impl Named {
    /// Returns the file, for a command that takes no entries otherwise.
    pub(crate) fn into_target(self) -> Target {
        match self {
            Self::Target(target) => target,
            Self::Entry(path) => Target::Page(path),
        }
    }
}

impl ItemName {
    /// Returns the item that the name means.
    pub(crate) fn find(&self, store: &mut Store, output: &mut Output) -> Result<Named, Failure> {
        let name = self.without_lines();
        match self.kind {
            // The commands of these families take names that items of other kinds hide, and name what they do not find.
            Some(ItemKind::Entry) => return Ok(Named::Entry(self.name.clone())),
            Some(ItemKind::Note) => return Ok(Named::Target(Target::Page(name))),
            Some(_) | None => {}
        }
        let resolved = |store: &mut Store, output: &mut Output| {
            store.call(Resolve { name: name.clone(), kind: self.kind }, output).map_err(with_kind)
        };
        Ok(match Target::from_name(&name)? {
            Target::Page(name) => {
                let Item { kind, path, .. } = resolved(store, output)?;
                // The command gets the name as it is: the path of an entry says whose it is, and a note may get another
                // path when a change first finishes a rename that was interrupted.
                match kind {
                    ItemKind::Entry => Named::Entry(name),
                    ItemKind::File => Named::Target(Target::Page(path)),
                    _ => Named::Target(Target::Page(name)),
                }
            }
            target => {
                // A word such as `daily` names one file, which is of another kind than the one that was asked for.
                if self.kind.is_some() {
                    resolved(store, output)?;
                }
                Named::Target(target)
            }
        })
    }

    /// Returns the command that reads the item, or a part of its file.
    pub(crate) fn show(&self) -> Show {
        Show { kind: self.kind, ..Show::new(self.without_lines()) }
    }

    /// Returns the item that the name means, for a command that changes it.
    pub(crate) fn find_to_change(&self, store: &mut Store, output: &mut Output) -> Result<Named, Failure> {
        // The error says that nothing was changed, although finding the item only reads.
        self.find(store, output).inspect_err(|_| set_changes(true, false))
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
