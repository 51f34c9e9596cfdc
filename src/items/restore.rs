//! `restore`: brings back what was forgotten, the text before the last change, or any earlier version.

use super::types::ItemsCall;
use crate::engine::ambiguous;
use crate::entries::{self, ForgottenEntry, StoreReply, unavailable};
use crate::history::{NewText, forgotten_notes, removed_by_others, restore_version, version_before};
use crate::journal::{Target, file_size, restore_file};
use crate::names::{Handle, Stores, handle, kind_rule};
use crate::notebook::{self, ItemKind};
use crate::origin::{Moment, Origin};
use crate::request::{Run, request};
use crate::store::{RelPath, is_below_entries};
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Brings back what was forgotten. An item that exists gets the text before its last change, and a second restore undoes the first.
/// With a version or a moment, an item gets the text that it had then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restore {
    /// Name of the item, as [`Resolve`](super::Resolve) takes it; the key, the title or the path that it had when it was forgotten; or
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
    files.into_iter().chain(versions).chain([entry]).collect()
});

impl Run<ItemsCall<'_>> for Restore {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Restored, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        match (&self.version, &self.at) {
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
        let Self { name, kind, version, at, dry_run } = self;
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
    let (path, version) = match meant(with, name, *kind).await? {
        Meant::Entry(name) => {
            let entry = entries::restore(call, entries, origin, &name).await.map_err(unavailable)?;
            let (kind, path, message) = (ItemKind::Entry, entry.path.clone(), entry.message.clone());
            let operation = call.recorded_operation();
            return Ok(Restored { kind, path, operation, entry: Some(entry), message, ..Restored::default() });
        }
        Meant::RemovedByOthers(path, version) => (path, Some(version)),
        // An append keeps no backup, but the history has the text before it.
        Meant::File(path) if call.scope.trust.provenance_of(origin.provenance)? == Provenance::User => {
            let before = version_before(&with, &path).await?;
            (path, before)
        }
        Meant::File(path) => (path, None),
    };
    call.screen.check_place(&path)?;
    if version.is_some() {
        let name = call.scope.display_path(&path);
        return Restore { name, version, ..Restore::default() }.of_version(with).await;
    }
    let kind = kind_rule(with, &[&path]).await?(&path);
    let (backup, message) = restore_file(call, &path).await?;
    let (operation, path) = (call.recorded_operation(), call.scope.display_path(&path));
    Ok(Restored { kind, path, operation, backup, message, ..Restored::default() })
}

/// What a name means to a restore.
enum Meant {
    /// Entry, by its key or the path of its file or backup.
    Entry(String),
    File(RelPath),
    /// File that another program removed, and the number of its last version.
    RemovedByOthers(RelPath, u32),
}

/// Finds what a name means among the items that there are and those that were forgotten.
async fn meant(with: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<Meant, Error> {
    let Stores { call, notebook, entries } = with;
    let original = call.scope.original(name);
    match &original {
        Some(path) if entries.folders().any(|folder| folder.has(path)) => return Ok(Meant::Entry(name.into())),
        Some(path) if is_below_entries(path) => return Err(call.scope.is_backup(name, path)),
        _ => {}
    }
    let named = original.map_or_else(|| name.to_string(), |path| call.scope.display_path(&path));
    let target = if kind == Some(ItemKind::Entry) { Target::Page(named.clone()) } else { Target::from_name(&named)? };
    if kind != Some(ItemKind::Entry) && matches!(target, Target::Page(_)) {
        notebook::settle_rename(call, notebook).await;
    }
    let found = match handle(with, &named, kind).await {
        Err(error) if error.code == ErrorCode::NotFound => Err(error),
        found => Ok(found?),
    };
    let Target::Page(title) = &target else { return Ok(Meant::File(found?.file.path)) };
    let mut paths: Vec<(RelPath, bool)> = Vec::new();
    if let Ok(Handle { kind, file }) = &found
        && (*kind == ItemKind::Entry || file_size(call, &file.path).await?.is_some())
    {
        paths.push((file.path.clone(), *kind == ItemKind::Entry));
    }
    // The path of an item that there is means nothing else.
    if !paths.iter().any(|(path, _)| call.scope.display_path(path) == *title) {
        for lost in forgotten(with, title, kind).await? {
            if paths.iter().all(|(path, _)| *path != lost.0) {
                paths.push(lost);
            }
        }
    }
    match (paths.as_slice(), found) {
        ([(path, true)], _) => Ok(Meant::Entry(call.scope.display_path(path))),
        ([(path, false)], _) => Ok(Meant::File(path.clone())),
        ([], found) => match (removed_by_others(&with, &named).await?, found) {
            (Some((path, version)), _) => Ok(Meant::RemovedByOthers(path, version)),
            (None, Ok(found)) => Ok(Meant::File(found.file.path)),
            (None, Err(error)) => {
                let message = format!("{}, and nothing of this name was forgotten", error.message);
                let help = "`list --forgotten` lists what was forgotten; to undo a rename, rename the note again";
                let help = if error.help.is_empty() { help.into() } else { format!("{}; {help}", error.help) };
                Err(Error::new(error.code, message, help))
            }
        },
        (several, _) => Err(ambiguous(name, several.iter().map(|(path, _)| call.scope.display_path(path)).collect())),
    }
}

/// Returns the files of the forgotten items that a name means, and whether each is that of an entry.
async fn forgotten(with: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<Vec<(RelPath, bool)>, Error> {
    let Stores { call, entries, .. } = with;
    let mut found = Vec::new();
    if kind != Some(ItemKind::Entry) {
        found.extend(forgotten_notes(&with, Some(name)).await?.into_iter().map(|note| (note.path, false)));
    }
    if kind.is_none_or(|kind| kind == ItemKind::Entry) && entries.agent().is_ok() {
        let (forgotten, _) = entries::forgotten(call, entries).await.map_err(unavailable)?;
        let is_meant =
            |lost: &ForgottenEntry| lost.entry.fields.key == name || call.scope.display_path(&lost.path) == name;
        found.extend(forgotten.into_iter().filter(is_meant).map(|lost| (lost.path, true)));
    }
    Ok(found)
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
