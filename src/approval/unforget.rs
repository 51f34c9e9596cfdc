//! Brings back what was forgotten, and lifts the rejection of its value.

use super::for_good::{Meant, meant};
use crate::entries;
use crate::journal::restore_file;
use crate::names::Stores;
use crate::origin::Origin;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Brings back a note or an entry that was forgotten, and lifts the rejection of its value, also of what was purged. Returns the path of
/// the item, and a summary.
pub(crate) async fn unforget(with: &Stores<'_>, name: &str) -> Result<(RelPath, String), Error> {
    let Stores { call, entries, .. } = *with;
    call.scope.trust.check_person("lift a rejection")?;
    let Meant { path, is_entry, is_forgotten, value, .. } = match meant(with, name).await {
        Err(error) if error.code == ErrorCode::NotFound => return purged(with, name, error).await,
        found => found?,
    };
    call.scope.check_of_this_project(path.as_str())?;
    // The gate would refuse the text before.
    let lifted = call.lift_rejections(value.as_ref(), &path).await?;
    let shown = call.scope.display_path(&path);
    if !is_forgotten && lifted == 0 {
        let message = format!("{shown} is not forgotten, and its value is not rejected");
        let help = "`restore` brings back the text before the last change";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    }
    match (is_forgotten, is_entry) {
        (false, _) => {}
        (true, true) => {
            entries::restore(call, entries, &Origin::default(), &shown).await?;
        }
        (true, false) => {
            restore_file(call, &path).await?;
        }
    }
    let message = match (is_forgotten, lifted) {
        (true, 0) => format!("{shown} is back"),
        (true, _) => format!("{shown} is back, and its value is no longer rejected"),
        (false, _) => format!("The value of {shown} is no longer rejected"),
    };
    Ok((path, message))
}

/// Lifts the rejection of an item of which nothing is left.
async fn purged(with: &Stores<'_>, name: &str, not_found: Error) -> Result<(RelPath, String), Error> {
    let Stores { call, entries, .. } = *with;
    let named = [call.scope.whole(name), call.scope.file(name)];
    let is_meant = |path: &RelPath| {
        named.iter().flatten().any(|named| named == path) || (path.file_stem() == name && entries.has(path))
    };
    let values = call.rejected_values().await?;
    let path = values.paths().filter_map(|path| RelPath::new(path).ok()).find(is_meant).ok_or(not_found)?;
    call.lift_rejections(None, &path).await?;
    let message = format!("The value of {} is no longer rejected", call.scope.display_path(&path));
    Ok((path, message))
}
