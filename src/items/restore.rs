//! `restore`: brings back what was forgotten, the text before the last change, or any earlier version.

use super::types::ItemsCall;
use crate::approval::unforget;
use crate::changes::is_tombstone;
use crate::engine::ambiguous;
use crate::entries::{self, StoreReply, unavailable};
use crate::history::{
    NewText, forgotten_notes, last_before_removal, removed_by_others, restore_version, version_before,
};
use crate::journal::{Target, file_size, restore_file};
use crate::names::{Handle, Stores, handle, kind_rule};
use crate::notebook::{self, ItemKind};
use crate::origin::{Moment, Origin};
use crate::request::{Run, SAMPLE_NAME, request};
use crate::store::{Layout, RelPath, is_below_entries};
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::{order, prelude::*};
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
                let (kind, shown) = (kind_rule(stores, &[&path]).await?(&path), stores.call.scope.display_path(&path));
                let (operation, message) = (stores.call.recorded_operation(), ForModel::escaped(&message));
                Ok(Restored { kind, path: shown, operation, message, ..Restored::default() })
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

impl Restore {
    /// Gives an item the text of a version.
    async fn of_version(self, with: Stores<'_>) -> Result<Restored, Error> {
        let Self { name, kind, version, at, dry_run, .. } = self;
        let NewText { path, version, diff, message } =
            restore_version(&with, (&name, kind), (version, at), dry_run).await?;
        let (kind, shown) = (kind_rule(with, &[&path]).await?(&path), with.call.scope.display_path(&path));
        let (operation, message) = (with.call.recorded_operation(), ForModel::escaped(&message));
        Ok(Restored { kind, path: shown, version: Some(version), diff, operation, message, ..Restored::default() })
    }
}

/// Brings back what was forgotten, or the text before the last change.
async fn restore(with: Stores<'_>, origin: &Origin, Restore { name, kind, .. }: &Restore) -> Result<Restored, Error> {
    let Stores { call, entries, .. } = with;
    let is_person = call.scope.trust.provenance_of(origin.provenance)? == Provenance::User;
    let (path, is_entry) = meant(with, name, *kind).await?;
    let shown = call.scope.display_path(&path);
    if let Some(error) = call.scope.kept_for_all_projects(path.as_str()) {
        return Err(error);
    }
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
    let operation = || call.recorded_operation();
    if is_entry {
        let entry = entries::restore(call, entries, origin, &shown).await.map_err(unavailable)?;
        let (kind, path, message) = (ItemKind::Entry, entry.path.clone(), entry.message.clone());
        return Ok(Restored { kind, path, operation: operation(), entry: Some(entry), message, ..Restored::default() });
    }
    call.screen.check_place(&path)?;
    let kind = kind_rule(with, &[&path]).await?(&path);
    let (backup, message) = restore_file(call, &path).await?;
    Ok(Restored { kind, path: shown, operation: operation(), backup, message, ..Restored::default() })
}

/// Finds the file of what a name means among the items that there are and those that were forgotten, and whether it is that of an entry.
async fn meant(with: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<(RelPath, bool), Error> {
    let Stores { call, notebook, entries } = with;
    let is_entry = |path: &RelPath| entries.folders().any(|folder| folder.has(path));
    if kind != Some(ItemKind::Entry) && !matches!(Target::from_name(name)?, Target::Page(_)) {
        return Ok((handle(with, name, kind).await?.file.path, false));
    }
    let may_be_entry = kind.is_none_or(|kind| kind == ItemKind::Entry);
    // A key may look like the path of a backup.
    let stored = if may_be_entry { entries::stored(call, entries, name).await? } else { None };
    let original = call.scope.original(name).filter(|_| stored.is_none());
    if let Some(path) = &original
        && is_below_entries(path)
    {
        let error = || call.scope.is_backup(name, path);
        return Some((path.clone(), true)).filter(|_| may_be_entry && is_entry(path)).ok_or_else(error);
    }
    let named = original.map_or_else(|| name.to_string(), |path| call.scope.display_path(&path));
    let mut found: Vec<(RelPath, bool)> = Vec::new();
    let mut missing = None;
    if kind != Some(ItemKind::Entry) {
        notebook::settle_rename(call, notebook).await;
        match handle(with, &named, kind).await {
            Ok(Handle { file, .. }) if is_entry(&file.path) => found.push((file.path, true)),
            Ok(Handle { file, .. }) if file_size(call, &file.path).await?.is_some() => found.push((file.path, false)),
            Ok(Handle { file, .. }) => missing = Some(file.path),
            Err(error) if error.code == ErrorCode::NotFound || stored.is_some() => {}
            Err(error) => return Err(error),
        }
        // The path of an item that there is means nothing else.
        if found.iter().all(|(path, _)| call.scope.display_path(path) != named) {
            let title = named.strip_prefix("page:").unwrap_or(&named);
            found.extend(forgotten_notes(&with, Some(title)).await?.into_iter().map(|note| (note.path, false)));
        }
    }
    found.extend(stored.map(|stored| (stored.path, true)));
    order::sort_slice(&mut found, Ord::cmp);
    found.dedup();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => match (removed_by_others(&with, &named, kind).await?, missing) {
            (Some(path), _) | (None, Some(path)) => Ok((path.clone(), is_entry(&path))),
            (None, None) => {
                let kind = kind.map_or("note, entry or file", ItemKind::as_str);
                let message = format!("there is no {kind} `{}`, and none was forgotten", name.escape_debug());
                let help = "`list` and `list --forgotten` list what there is; to undo a rename, rename the note again";
                Err(Error::new(ErrorCode::NotFound, message, help))
            }
        },
        several => Err(ambiguous(name, several.iter().map(|(path, _)| call.scope.display_path(path)).collect())),
    }
}

/// Returns the error of a command for a name. If nothing has the name and a forgotten item had it, the help says so.
pub(crate) async fn why_lost(with: Stores<'_>, (name, kind): (&str, Option<ItemKind>), error: Error) -> Error {
    let is_lost = matches!(error.code, ErrorCode::NotFound | ErrorCode::EntryNotFound);
    if !is_lost || error.help.contains("`restore") || !was_forgotten(with, name, kind).await.unwrap_or(false) {
        return error;
    }
    Error::new(error.code, error.message.clone(), "it was forgotten; `restore` brings it back")
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
