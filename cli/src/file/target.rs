//! [`NamedTarget`]: the argument that names a file of memory.

use clap::Args;
use saddlebag::files::{Item, ItemKind, Resolve};
use saddlebag::journal::Target;
use saddlebag::protocol::ErrorCode;

use crate::failure::Failure;
use crate::input::shown_path;
use crate::output::{Output, single_line};
use crate::store::Store;

#[derive(Debug, Args)]
pub(crate) struct NamedTarget {
    /// long_term (or long), scratchpad, daily, daily:YYYY-MM-DD, note:NAME, a path that another command printed, or the title
    /// of a note
    #[arg(value_parser = shown_path)]
    pub(super) target: String,
}

/// File that the argument names.
pub(super) enum Named {
    /// File that a word such as `scratchpad` names.
    Kept(Target),
    /// Item of the store.
    Item(Item),
}

impl NamedTarget {
    /// Returns the file that the argument names.
    pub(super) fn find(&self, store: &mut Store, output: &mut Output) -> Result<Named, Failure> {
        Ok(match Target::from_name(&self.target)? {
            Target::Page(name) => Named::Item(store.call(Resolve { name, kind: None }, output)?),
            target => Named::Kept(target),
        })
    }

    /// Returns the file that the argument names, for a command that changes it. An entry is refused, and the error names the
    /// command for it: `entry` and the verb.
    pub(super) fn to_change(&self, verb: &str, store: &mut Store, output: &mut Output) -> Result<Target, Failure> {
        match self.find(store, output)? {
            Named::Kept(target) => Ok(target),
            Named::Item(Item { kind: ItemKind::Entry, path, name }) => {
                let message = format!("{} is an entry", single_line(&path));
                let help =
                    format!("use `saddlebag entry {verb}` with the key `{}`; nothing was changed", single_line(&name));
                Err(Failure::new(ErrorCode::InvalidArgument, message, help))
            }
            Named::Item(item) => Ok(Target::Page(item.path)),
        }
    }
}
