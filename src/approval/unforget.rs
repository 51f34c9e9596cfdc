//! `unforget`: brings back what was forgotten, and lifts the rejection of its value.

use super::for_good::{Meant, meant};
use crate::entries;
use crate::journal::restore_file;
use crate::names::Stores;
use crate::origin::Origin;
use crate::request::{Run, SAMPLE_NAME, request};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Brings back a note or an entry that was forgotten, and lifts the rejection of its value. The rejection of what was purged is
/// lifted as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unforget {
    /// Key of an entry, path of an entry or a note, or path of the backup of a note.
    pub name: String,
}

/// Result of [`Unforget`].
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnforgetReply {
    /// Path of the item.
    pub path: String,
    /// True if it was forgotten, and is back.
    pub restored: bool,
    /// Number of rejections that were lifted.
    pub lifted: u32,
    /// Summary of the reply, to be read by a person.
    pub message: String,
}

request!(Unforget "unforget" => UnforgetReply, Replaces, |name| {
    // The sample store has an entry of this key that is forgotten.
    let name = if name == SAMPLE_NAME { "forgotten" } else { name };
    vec![Self { name: name.into() }]
});

impl Run<Stores<'_>> for Unforget {
    async fn run(self, with: &Stores<'_>) -> Result<UnforgetReply, Error> {
        let Stores { call, entries, .. } = *with;
        call.scope.trust.check_person("lift a rejection")?;
        let Meant { path, is_entry, is_forgotten, value, .. } = match meant(with, &self.name).await {
            Err(error) if error.code == ErrorCode::NotFound => return purged(with, &self.name, error).await,
            found => found?,
        };
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
        Ok(reply(shown, is_forgotten, lifted))
    }
}

/// Lifts the rejection of an item of which nothing is left.
async fn purged(with: &Stores<'_>, name: &str, not_found: Error) -> Result<UnforgetReply, Error> {
    let Stores { call, entries, .. } = *with;
    let named = [call.scope.whole(name), call.scope.file(name)];
    let is_meant = |path: &RelPath| {
        named.iter().flatten().any(|named| named == path)
            || (path.file_stem() == name && entries.folders().any(|folder| folder.has(path)))
    };
    let values = call.rejected_values().await?;
    let path = values.paths().filter_map(|path| RelPath::new(path).ok()).find(is_meant).ok_or(not_found)?;
    let lifted = call.lift_rejections(None, &path).await?;
    Ok(reply(call.scope.display_path(&path), false, lifted))
}

fn reply(path: String, restored: bool, lifted: usize) -> UnforgetReply {
    let lifted = u32::try_from(lifted).unwrap_or(u32::MAX);
    let message = match (restored, lifted) {
        (true, 0) => format!("{path} is back"),
        (true, _) => format!("{path} is back, and its value is no longer rejected"),
        (false, _) => format!("The value of {path} is no longer rejected"),
    };
    UnforgetReply { path, restored, lifted, message }
}
