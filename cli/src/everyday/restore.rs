//! `restore`: brings back what was forgotten, or the text before the last change.

use saddlebag::Moment;
use saddlebag::entries::RestoreEntry;
use saddlebag::history::{ChangeKind, ListVersions, MAX_HISTORY_ITEMS, RestoreVersion, RestoredVersion, VersionInfo};
use saddlebag::items::{ItemKind, ListItems, Show};
use saddlebag::journal::{FileState, Restore, Target};
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;

use super::changed::Changed;
use crate::failure::Code;
use crate::item::{ItemName, Named, forgotten_note};
use crate::output::single_line;
use crate::past::moment;
use crate::prelude::*;

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
    /// Only print what would be changed
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

/// What was brought back.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Restored {
    Item(Changed),
    Version(RestoredVersion),
}

impl Subcommand for RestoreArgs {
    type Json = Restored;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        if let Some(at) = self.at.clone() {
            return restore_version(self.item.without_lines(), at, self.dry_run, &mut store, output);
        }
        let restored = match self.item.find(&mut store, output) {
            Ok(Named::Entry(key)) => entry(key, &mut store, output),
            Ok(_) if self.has_version_before(global, &mut store, output)? => {
                let (name, before) = (self.item.without_lines(), Version::Number(2));
                return restore_version(name, before, false, &mut store, output);
            }
            Ok(named) => match file(named.into_target(), &mut store, output) {
                // A path may mean a file that does not exist, and the key of a forgotten entry may look like a path.
                Err(failure) if self.item.kind.is_none() && is_lost(failure.code) => {
                    entry(self.item.name.clone(), &mut store, output).map_err(|_| failure)
                }
                restored => restored,
            },
            // A forgotten item is not found by its name, and a backup is not an item.
            Err(failure) if self.item.kind.is_none() && is_lost(failure.code) => {
                match entry(self.item.name.clone(), &mut store, output) {
                    Err(failure) if is_lost(failure.code) => {
                        let written = self.item.without_lines();
                        let name = match Target::from_name(&written)? {
                            Target::Page(title) => title,
                            _ => written.clone(),
                        };
                        let path = forgotten_note(&name, &mut store, output)?;
                        // The title after `page:` may be a word for another file.
                        if path.is_none() && name != written {
                            return Err(failure);
                        }
                        if path.is_none()
                            && let Some((path, last)) = removed_by_others(&name, &mut store, output)
                        {
                            return restore_version(path, Version::Number(last), false, &mut store, output);
                        }
                        file(Target::Page(path.unwrap_or(name)), &mut store, output)
                    }
                    restored => restored,
                }
            }
            Err(failure) => Err(failure),
        };
        restored?.show(output)
    }
}

impl RestoreArgs {
    /// Returns true if the history has the text of an item before its last change. An append keeps no backup.
    ///
    /// # Errors
    ///
    /// The name may mean a forgotten entry as well.
    fn has_version_before(&self, global: &Global, store: &mut Store, output: &mut Output) -> Result<bool, Failure> {
        let name = self.item.without_lines();
        let asked = Show { kind: self.item.kind, max_bytes: 4, ..Show::new(name.clone()) };
        let shown = match store.call(asked, output) {
            Ok(shown) if shown.state != FileState::Missing => shown.path,
            _ => return Ok(false),
        };
        if self.item.kind.is_none() {
            let (name, kinds) = (Some(name.clone()), vec![ItemKind::Entry]);
            let gone = store.call(ListItems { forgotten: true, name, kinds, ..ListItems::default() }, output);
            if let Some(entry) = gone.ok().and_then(|gone| gone.items.into_iter().next()) {
                let message = format!("`{}` could be {shown}, or the forgotten entry {}", self.item.name, entry.path);
                return Err(Failure::new(ErrorCode::AmbiguousName, single_line(&message), "give a path, or --kind"));
            }
        }
        let list = store.call(ListVersions { name, limit: 2, ..ListVersions::default() }, output);
        let versions = list.map(|list| list.versions).unwrap_or_default();
        let is_person = global.provenance.is_none_or(|provenance| provenance == Provenance::User);
        let is_kept = |version: &VersionInfo| version.size.is_some() && !version.unkept;
        // The text before a rename is that of the old path.
        let is_moved = versions.first().is_some_and(|last| last.kind == ChangeKind::Moved);
        Ok(is_person && !is_moved && versions.len() == 2 && versions.iter().all(is_kept))
    }
}

fn restore_version(
    name: String,
    at: Version,
    dry_run: bool,
    store: &mut Store,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (version, at) = match at {
        Version::Number(number) => (Some(number), None),
        Version::At(moment) => (None, Some(moment)),
    };
    let reply = store.call(RestoreVersion { name, version, at, dry_run }, output)?;
    if !output.json(&reply)? {
        output.line(&single_line(&reply.message))?;
        if dry_run {
            output.text(&reply.diff)?;
        }
    }
    Ok(Exit::Done)
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

/// Returns the path of a file that another program removed, and the number of its last version.
fn removed_by_others(name: &str, store: &mut Store, output: &mut Output) -> Option<(String, u32)> {
    let asked = ListVersions { name: name.to_string(), limit: MAX_HISTORY_ITEMS, ..ListVersions::default() };
    let list = store.call(asked, output).ok()?;
    let removal = list.versions.first()?;
    let is_by_others = removal.operation.is_none() && removal.size.is_none();
    let last = list.versions.iter().find(|version| version.size.is_some() && !version.unkept)?;
    is_by_others.then_some((list.path, last.number))
}

fn file(target: Target, store: &mut Store, output: &mut Output) -> Result<Changed, Failure> {
    Ok(Changed::File(store.call(Restore { target }, output)?))
}
