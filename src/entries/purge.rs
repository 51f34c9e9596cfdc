//! `purge-entries`: removes forgotten entries and outdated files for good.

use super::category::Category;
use super::removal::{discard, removal_of};
use super::scope::Pool;
use super::state::EntriesCall;
use super::view::{Stored, absent, found, look, look_for};
use crate::changes::{Call, Change};
use crate::request::{Run, request};
use crate::store::{Layout, RelPath};
use crate::trust::ForModel;
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{EntryKind, Error, ErrorCode};

/// Removes forgotten entries for good, and files of a key that a newer file of the same key replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeEntries {
    /// Key of the entry to purge, or path of its file; `None` for all.
    pub key: Option<String>,
}

/// Result of a purge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PurgeReply {
    /// Keys that were removed.
    pub purged: Vec<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(PurgeEntries "purge-entries" => PurgeReply, Removes, |_| {
    vec![Self { key: None }, Self { key: Some("forgotten".into()) }]
});

impl Run<EntriesCall<'_>> for PurgeEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<PurgeReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let (view, key) = match &self.key {
            None => (look(call, entries, scope).await?, None),
            Some(name) => look_for(call, entries, scope, name).await.map(|(view, key)| (view, Some(key)))?,
        };
        let is_meant = |stored: &&Stored| key.as_ref().is_none_or(|key| stored.entry.fields.key == *key);
        let copies: Vec<&Stored> = view.outdated.iter().filter(is_meant).collect();
        if let Some(key) = &key {
            let Some((_, stored)) = found(&view, scope, key) else { return Err(absent(&view, key)) };
            if stored.entry.forgotten.is_none() && copies.is_empty() {
                let message = format!("`{key}` is not forgotten");
                return Err(Error::invalid_argument(message, "forget it first"));
            }
            removal_of(call, stored).await?;
        }
        // Entries that this memory may not remove are kept and counted.
        let mut kept = 0;
        // Older files of a key go first. Without the tombstone, one of them would count again.
        let mut copied: Vec<&str> = Vec::new();
        let mut removed: Vec<RelPath> = Vec::new();
        for stored in copies {
            let Some(removal) = permitted(removal_of(call, stored).await, &mut kept)? else { continue };
            if call.apply(&removal).await? {
                copied.push(&stored.entry.fields.key);
                removed.push(stored.path.clone());
            }
        }
        let mut purged = Vec::new();
        for pool in scope.pools() {
            let forgotten = view.of_pool(pool).filter(is_meant).filter(|stored| stored.entry.forgotten.is_some());
            for stored in forgotten {
                // An entry that was stored again meanwhile stays.
                let removal = permitted(removal_of(call, stored).await, &mut kept)?;
                if discard(call, pool, removal, &stored.entry.fields).await? {
                    purged.push(stored.entry.fields.key.clone());
                    removed.push(stored.path.clone());
                }
            }
        }
        for pool in scope.pools().filter(|pool| !pool.shared && !purged.is_empty()) {
            removed.extend(remove_stray_backups(call, pool, &purged).await?);
        }
        // Removes the folders of categories, which only entries name. The folder of all entries stays.
        let is_category = |folder: &RelPath| scope.pools().any(|pool| folder.is_below(pool.folder.root()));
        call.remove_emptied(removed.iter(), is_category).await;
        // A file that could not be read may be the tombstone.
        if let (None, Some((_, error))) = (&key, view.unread.first()) {
            return Err(error.clone());
        }
        let mut message = match (purged.as_slice(), copied.as_slice()) {
            ([], []) => "Nothing to purge".to_string(),
            ([], _) => String::new(),
            ([key], _) => format!("Purged {key}"),
            (keys, _) => format!("Purged {} entries", keys.len()),
        };
        if !copied.is_empty() {
            let begin = if message.is_empty() { "Removed" } else { "; removed" };
            let files = if copied.len() == 1 {
                "1 outdated file".to_string()
            } else {
                format!("{} outdated files", copied.len())
            };
            copied.dedup();
            message.push_str(&format!("{begin} {files} of {}", copied.join(", ")));
        }
        if kept > 0 {
            message.push_str(&format!("; kept {kept} whose text is trusted, which this memory may not remove"));
        }
        Ok(PurgeReply { purged, message: ForModel::escaped(&message) })
    }
}

/// Removes backups of purged keys from the folders of other categories, where outdated files and lost races leave them. Returns
/// their paths.
async fn remove_stray_backups(call: &Call, pool: &Pool, purged: &[String]) -> Result<Vec<RelPath>, Error> {
    let names = purged.iter().map(|key| Ok(pool.file(Category::Core.as_str(), key)?.file_name().to_string()));
    let names: SortedSet<String> = names.collect::<Result<_, Error>>()?;
    let mut removed = Vec::new();
    for folder in
        call.list(Some(pool.folder.root())).await?.into_iter().filter(|entry| entry.kind == EntryKind::Directory)
    {
        let files = call.list(Some(&folder.path)).await?;
        for file in &files {
            let of_purged = Layout::original_of(&file.path).filter(|original| names.contains(original.file_name()));
            // The key may have been stored again meanwhile.
            let Some(original) = of_purged.filter(|original| files.iter().all(|file| file.path != *original)) else {
                continue;
            };
            if call.apply(&Change::backup_removal(&original, true)).await? {
                removed.push(original);
            }
        }
    }
    Ok(removed)
}

/// Counts an entry that this memory may not remove, and keeps it.
fn permitted(removal: Result<Option<Change>, Error>, kept: &mut u32) -> Result<Option<Change>, Error> {
    match removal {
        Err(error) if error.code == ErrorCode::NotPermitted => {
            *kept += 1;
            Ok(None)
        }
        removal => removal,
    }
}
