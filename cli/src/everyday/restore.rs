//! `restore`: brings back what was forgotten, or the text before the last change; `unforget`: lifts a rejection too.

use saddlebag::Moment;
use saddlebag::items::{Restore, Restored};
use saddlebag::store::Timestamp;

use crate::input::shown_path;
use crate::item::{ItemName, with_kind};
use crate::output::single_line;
use crate::past::moment;
use crate::prelude::*;
use crate::subcommand::{Ask, ReplyOf};

/// Bring back what was forgotten, or the text before the last change
///
/// A forgotten note is named by its title or by the path that it had: `list --forgotten` lists them. Of an item that exists, the
/// text before the last change comes back, and a second run undoes the first. `--at` brings back any version that
/// `history NAME` lists.
#[derive(Debug, Args)]
#[command(after_help = example("restore facts/load-balancer.md"))]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    item: ItemName,
    /// Number of a version, as `history NAME` counts, or the time or operation at which the item was so
    #[arg(long, value_name = "N|TIME|OPERATION", value_parser = version)]
    at: Option<Version>,
    /// Only print what would be changed; with --at
    #[arg(long, requires = "at")]
    dry_run: bool,
}

/// A version of an item.
#[derive(Clone, Debug)]
enum Version {
    Number(u32),
    At(Moment),
}

fn version(text: &str) -> Result<Version, String> {
    match text.parse() {
        Ok(0) => Err("versions are counted from 1, which is the newest".into()),
        Ok(number) => Ok(Version::Number(number)),
        Err(_) => moment(text).map(Version::At),
    }
}

impl Subcommand for RestoreArgs {
    type Json = Restored;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let (version, at) = match self.at {
            None => (None, None),
            Some(Version::Number(number)) => (Some(number), None),
            Some(Version::At(moment)) => (None, Some(moment)),
        };
        let (name, kind, dry_run) = (self.item.without_lines(), self.item.kind, self.dry_run);
        let reply = store
            .call(Restore { name, kind, version, at, dry_run, ..Restore::default() }, output)
            .map_err(with_kind)?;
        if !output.json(&reply)? {
            output.line(&single_line(reply.message.as_str()))?;
            if dry_run {
                output.text(&reply.diff)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Bring back what was forgotten, and lift the rejection of its value
///
/// A value that `memory reject --for-good` rejected can be stored again. What was purged does not come back, but its value can be
/// stored.
#[derive(Debug, Args)]
#[command(after_help = example("unforget facts/load-balancer.md"))]
pub(crate) struct UnforgetArgs {
    /// Key of an entry, or title or path of a note
    #[arg(value_name = "NAME", allow_hyphen_values = true, value_parser = shown_path)]
    name: String,
}

impl Ask for UnforgetArgs {
    type Request = Restore;

    fn request(self, _: Timestamp) -> Result<Restore, Failure> {
        Ok(Restore { name: self.name, lift_rejection: true, ..Restore::default() })
    }

    fn print(reply: &ReplyOf<Self>, output: &mut Output) -> Result<(), Failure> {
        Ok(output.line(&single_line(reply.message.as_str()))?)
    }
}
