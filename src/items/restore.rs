//! `restore`: brings back what was forgotten, the text before the last change, or any earlier version.

use super::types::ItemsCall;
use crate::approval::unforget;
use crate::changes::is_tombstone;
use crate::entries::{self, StoreReply, unavailable};
use crate::history::{NewText, forgotten_notes, last_before_removal, meant, restore_version, version_before};
use crate::journal::{Target, restore_file};
use crate::names::{Stores, kind_rule};
use crate::notebook::ItemKind;
use crate::origin::{Moment, Origin};
use crate::request::{Run, SAMPLE_NAME, request};
use crate::store::{Layout, RelPath};
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Brings back what was forgotten. An item that exists gets the text before its last change, and a second restore undoes the first.
/// With a version or a moment, an item gets the text that it had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restore {
    /// Name of the item, as [`Show`](super::Show) takes it; the key, the title or the path that it had when it was forgotten; or
    /// the path of its backup.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// Number of the version, as [`ListVersions`](crate::history::ListVersions) counts: 1 is the newest. Not together with `at`.
    pub version: Option<u32>,
    /// Moment of which the item is restored. Only a person may restore a version or a moment.
    pub at: Option<Moment>,
    /// If set, makes the same checks, and only reports what would change. Only with a version or a moment.
    pub dry_run: bool,
    /// If set, only brings back what was forgotten, and lifts the rejection of its value, also of what was purged. Only for a person.
    pub lift_rejection: bool,
}

/// An item that was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restored {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Path of the file.
    pub path: String,
    /// Number that the version had before; `None` if the text came from a backup or was only marked as forgotten.
    pub version: Option<u32>,
    /// What the file lost and got, in the form of `git diff`; only of a version.
    pub diff: String,
    /// Identifier of the operation; `None` if nothing was changed, or if no history is kept.
    pub operation: Option<String>,
    /// Backup with the replaced text; `None` if there was none, or if the history keeps the text.
    pub backup: Option<String>,
    /// What became of the entry; `None` for every other kind, and for a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<StoreReply>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Restore "restore" => Restored, Removes, |name| {
    let restore = |name: &str| Self { name: name.into(), ..Self::default() };
    let files = ["long_term", "scratchpad", "daily:2026-05-24", &format!("note:{name}")].map(restore);
    let same = Self { version: Some(1), ..restore(&format!("notes/{name}.md")) };
    let versions = [same, Self { version: Some(2), ..restore("scratchpad") }];
    let entry = Self { kind: Some(ItemKind::Entry), ..restore(name) };
    // The sample store has an entry of this key that is forgotten.
    let forgotten = if name == SAMPLE_NAME { "forgotten" } else { name };
    let lifted = Self { lift_rejection: true, ..restore(forgotten) };
    files.into_iter().chain(versions).chain([entry, lifted]).collect()
});

impl Run<ItemsCall<'_>> for Restore {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Restored, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        let is_of_now = self.version.is_none() && self.at.is_none() && !self.dry_run && self.kind.is_none();
        match (&self.version, &self.at) {
            _ if self.lift_rejection && is_of_now => {
                let (path, message) = unforget(&stores, &self.name).await?;
                Restored::of(stores, &path, &message).await
            }
            _ if self.lift_rejection => {
                let message = "a rejection is lifted by name alone";
                Err(Error::invalid_argument(message, "leave the kind, the version, the time and the dry run out"))
            }
            (None, None) if self.dry_run => {
                let help = "give the version or the time, or restore and `undo` it";
                Err(Error::invalid_argument("a dry run of a restore needs a version or a time", help))
            }
            (None, None) if self.kind == Some(ItemKind::Entry) => {
                restore(stores, origin, &self).await.map_err(unavailable)
            }
            (None, None) => restore(stores, origin, &self).await,
            _ => self.of_version(stores).await,
        }
    }
}

impl Restored {
    async fn of(with: Stores<'_>, path: &RelPath, message: &str) -> Result<Self, Error> {
        let (kind, operation) = (kind_rule(with, &[path]).await?(path), with.call.recorded_operation());
        let (path, message) = (with.call.scope.display_path(path), ForModel::escaped(message));
        Ok(Self { kind, path, operation, message, ..Self::default() })
    }
}

impl Restore {
    /// Gives an item the text of a version.
    async fn of_version(self, with: Stores<'_>) -> Result<Restored, Error> {
        let Self { name, kind, version, at, dry_run, .. } = self;
        let NewText { path, version, diff, message } =
            restore_version(&with, (&name, kind), (version, at), dry_run).await?;
        Ok(Restored { version: Some(version), diff, ..Restored::of(with, &path, &message).await? })
    }
}

/// Brings back what was forgotten, or the text before the last change.
async fn restore(with: Stores<'_>, origin: &Origin, Restore { name, kind, .. }: &Restore) -> Result<Restored, Error> {
    let Stores { call, entries, .. } = with;
    let is_person = call.scope.trust.provenance_of(origin.provenance)? == Provenance::User;
    let (path, is_entry) = meant(with, name, *kind).await?;
    let shown = call.scope.display_path(&path);
    call.scope.check_of_this_project(path.as_str())?;
    let version = match call.load(&path).await?.bytes() {
        None if call.find_kept(&path, &Layout::backup_of(&path)).await?.is_some() => None,
        None => last_before_removal(&with, &path).await?,
        Some(bytes) if !is_person || (is_entry && is_tombstone(&path, bytes)) => None,
        // An append and an editor keep no backup, but the history has the text before them.
        Some(_) => version_before(&with, &path).await?,
    };
    if version.is_some() {
        return Restore { name: shown, version, ..Restore::default() }.of_version(with).await;
    }
    if is_entry {
        let entry = entries::restore(call, entries, origin, &shown).await?;
        let (path, message, operation) = (entry.path.clone(), entry.message.clone(), call.recorded_operation());
        return Ok(Restored {
            kind: ItemKind::Entry,
            path,
            operation,
            entry: Some(entry),
            message,
            ..Restored::default()
        });
    }
    call.screen.check_place(&path)?;
    let (backup, message) = restore_file(call, &path).await?;
    Ok(Restored { backup, message, ..Restored::of(with, &path, "").await? })
}

/// Returns the error of a command that took these names. If nothing has one of them and a forgotten item had it, the help says so.
pub(crate) async fn why_lost(with: Stores<'_>, names: &[String], kind: Option<ItemKind>, error: Error) -> Error {
    let is_lost = matches!(error.code, ErrorCode::NotFound | ErrorCode::EntryNotFound);
    if is_lost && !error.help.contains("`restore") {
        for name in names.iter().filter(|name| error.message.contains(&*name.escape_debug().to_string())) {
            if was_forgotten(with, name, kind).await.unwrap_or(false) {
                return Error::new(error.code, error.message.clone(), "it was forgotten; `restore` brings it back");
            }
        }
    }
    error
}

/// Returns true if a forgotten item had a name.
async fn was_forgotten(with: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<bool, Error> {
    let Stores { call, entries, .. } = with;
    if kind.is_none_or(|kind| kind == ItemKind::Entry)
        && entries::stored(call, entries, name).await?.is_some_and(|entry| entry.is_forgotten)
    {
        return Ok(true);
    }
    let title = match Target::from_name(name)? {
        Target::Page(title) => title,
        word => call.scope.display_path(&word.path(call)?),
    };
    Ok(kind != Some(ItemKind::Entry) && !forgotten_notes(&with, Some(&title)).await?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::{Forget, ItemsReply};
    use crate::notebook::testing::{Store, run_items};

    fn restored(name: &str) -> (Result<ItemsReply, Error>, Store) {
        let replaced = ["facts/db.md", "templates/fact.md", "MEMORY.md"].map(|path| (path, "new\n"));
        let backups = [".saddlebag/backups/facts/db.bak", ".saddlebag/backups/templates/fact.bak", "MEMORY.bak"];
        let gone = [(".saddlebag/backups/facts/port.bak", "forgotten\n")];
        let mut store = Store::with(&[&replaced[..], &backups.map(|path| (path, "old\n")), &gone].concat());
        let restore = Restore { name: name.into(), ..Restore::default() };
        (store.run(|fs| run_items(fs, restore)), store)
    }

    #[test]
    fn a_page_is_restored_by_every_name_that_it_has_or_had() {
        for (name, path, text) in [
            ("facts/port.md", "facts/port.md", "forgotten\n"),
            ("facts/port", "facts/port.md", "forgotten\n"),
            (".saddlebag/backups/facts/port.bak", "facts/port.md", "forgotten\n"),
            ("facts/db.md", "facts/db.md", "old\n"),
            ("db", "facts/db.md", "old\n"),
            // The file is left out of the notebook, but can be edited as a page, and so restored.
            ("templates/fact.md", "templates/fact.md", "old\n"),
            ("MEMORY.md", "MEMORY.md", "old\n"),
        ] {
            let (page, store) = restored(name);
            let Ok(ItemsReply::Restore(Restored { path: found, .. })) = page else { panic!("{page:?}") };
            assert_eq!((found.as_str(), store.text(path)), (path, text.to_string()), "{name}");
        }
    }

    #[test]
    fn the_path_of_a_backup_names_no_page_to_forget() {
        let (_, mut store) = restored("db");
        store.writes.clear();
        let forget = Forget::new(".saddlebag/backups/facts/db.bak");
        let error = store.run(|fs| run_items(fs, forget)).unwrap_err();
        assert_eq!(error.message, "`.saddlebag/backups/facts/db.bak` is the backup of facts/db.md");
        assert!(error.help.starts_with("`restore` puts it back") && store.writes.is_empty(), "{}", error.help);
    }

    #[test]
    fn what_is_not_the_path_of_a_page_is_refused() {
        let entries = ["workspaces/w/entries/core/k.md", "agents/main/entries/core/k.md"];
        for name in entries.into_iter().chain(["../facts/port.md", ".zk/config.toml", "projects/x-0db23a34/a.md", ""]) {
            let (page, store) = restored(name);
            assert!(page.is_err() && store.writes.is_empty(), "{name}: {page:?}");
        }
    }

    #[test]
    fn a_note_whose_name_has_no_room_for_a_backup_is_kept_and_can_be_restored() {
        let name = format!("{}.md", "x".repeat(252));
        let mut store = Store::with(&[(&name, "# Long\n\ntext\n")]);
        let forget = Forget::new(&name);
        let Ok(ItemsReply::Forget(gone)) = store.run(|fs| run_items(fs, forget)) else { panic!("not forgotten") };
        assert_eq!((store.has(&name), store.text(&gone.backup.unwrap()).as_str()), (false, "# Long\n\ntext\n"));
        let restore = Restore { name: name.clone(), ..Restore::default() };
        store.run(|fs| run_items(fs, restore)).expect("restored");
        assert_eq!(store.text(&name), "# Long\n\ntext\n");
    }
}
