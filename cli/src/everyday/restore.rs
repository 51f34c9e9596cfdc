//! `restore`: brings back what was forgotten, or the text before the last change.

use clap::Args;
use saddlebag::entries::RestoreEntry;
use saddlebag::journal::{Restore, Target};
use saddlebag::protocol::ErrorCode;

use super::changed::Changed;
use crate::failure::{Code, Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::item::{ItemName, Named};
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Bring back what was forgotten, or the text before the last change
///
/// A forgotten note is named by the path that it had, or by the path of its backup. A second run undoes the first.
#[derive(Debug, Args)]
#[command(after_help = example("restore facts/load-balancer.md"))]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    item: ItemName,
}

impl Subcommand for RestoreArgs {
    type Json = Changed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let restored = match self.item.find(&mut store, output) {
            Ok(Named::Entry(key)) => entry(key, &mut store, output),
            Ok(Named::Target(target)) => file(target, &mut store, output),
            Ok(Named::File(path)) => file(Target::Page(path), &mut store, output),
            // A forgotten item is not found by its name, and a backup is not an item.
            Err(failure) if self.item.kind.is_none() && is_lost(failure.code) => {
                match entry(self.item.name.clone(), &mut store, output) {
                    Err(failure) if is_lost(failure.code) => {
                        file(Target::Page(self.item.without_lines()), &mut store, output)
                    }
                    restored => restored,
                }
            }
            Err(failure) => Err(failure),
        };
        restored?.show(output)
    }
}

/// Returns true if a name does not mean anything that could be changed, so that it may mean an item of another family.
fn is_lost(code: Code) -> bool {
    [ErrorCode::NotFound, ErrorCode::EntryNotFound, ErrorCode::InvalidArgument, ErrorCode::InvalidName]
        .into_iter()
        .any(|lost| code == lost.into())
}

fn entry(key: String, store: &mut Store, output: &mut Output) -> Result<Changed, Failure> {
    Ok(Changed::Entry(store.call(RestoreEntry { key }, output)?))
}

fn file(target: Target, store: &mut Store, output: &mut Output) -> Result<Changed, Failure> {
    Ok(Changed::File(store.call(Restore { target }, output)?))
}
