//! `file show`: prints a file of memory, or a part of it.

use clap::Args;
use saddlebag::files::{Item, ItemKind};
use saddlebag::journal::{ReadReply, Target};

use super::part::{self, Part};
use super::target::{Named, NamedTarget};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Print a file of memory, or a part of it
#[derive(Debug, Args)]
#[command(after_help = example("file show long_term"))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    source: NamedTarget,
    #[command(flatten)]
    part: Part,
}

impl Subcommand for ShowArgs {
    type Json = ReadReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let reply = match self.source.find(&mut store, output)? {
            Named::Kept(target) => store.call(self.part.of(target), output)?,
            Named::Item(Item { kind: ItemKind::Note, path, .. }) => {
                store.call(self.part.of(Target::Page(path)), output)?
            }
            Named::Item(item) => store.call(self.part.of_file(item.path), output)?,
        };
        if output.is_json() {
            output.object(&reply)?;
        } else {
            part::print(&reply, output)?;
            output.flush()?;
            part::warn(&reply, output);
        }
        Ok(part::exit(&reply))
    }
}
