//! [`meant`]: the item that a name means or meant.

use super::forgotten::forgotten_notes;
use super::restore_version::removed_by_others;
use crate::engine::ambiguous;
use crate::entries;
use crate::journal::{Target, file_size};
use crate::names::{Handle, Stores, handle};
use crate::notebook::{self, ItemKind};
use crate::store::{RelPath, is_below_entries};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Error, ErrorCode};

/// Finds the file of what a name means among the items that there are and those that were forgotten, and whether it is that of an entry.
pub(crate) async fn meant(with: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<(RelPath, bool), Error> {
    let Stores { call, notebook, entries } = with;
    let is_entry = |path: &RelPath| entries.has(path);
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
