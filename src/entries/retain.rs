//! The end of an import that replaces all entries: forgets all that were in no imported file.

use super::import::{ImportedFile, MAX_IMPORTED};
use super::intake::name;
use super::removal::bury;
use super::rules::Base;
use super::state::EntriesCall;
use super::types::SkippedEntry;
use super::view::{look, path_of};
use crate::request::{Run, at_most, request};
use crate::trust::ForModel;
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Error, ErrorCode};

/// Forgets all entries that were in no imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainEntries {
    /// Results of all commands of the import.
    pub imported: Vec<ImportedFile>,
    /// If set, only reports what it would forget.
    pub dry_run: bool,
}

/// Result of forgetting the entries that were in no file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetainReply {
    /// Entries that were forgotten.
    pub deleted: Vec<DeletedEntry>,
    /// Entries that could not be forgotten, by key, and files that could not be parsed, by path.
    pub skipped: Vec<SkippedEntry>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// An entry that was in no imported file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedEntry {
    /// Key of the entry.
    pub key: String,
    /// Path that its file has in an export.
    pub path: String,
}

request!(RetainEntries "import-items" => RetainReply, Removes, |_| {
    vec![Self { imported: Vec::new(), dry_run: true }, Self { imported: Vec::new(), dry_run: false }]
});

impl Run<EntriesCall<'_>> for RetainEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<RetainReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let Self { imported, dry_run } = self;
        at_most("files of the import", imported.len(), MAX_IMPORTED)?;
        let view = look(call, entries, scope).await?;
        let now = call.now.epoch_nanoseconds();
        let names = imported.iter().filter_map(|file| Some(name(file.shared, file.key.as_deref()?)));
        let kept: SortedSet<String> = names.collect();
        let mut reply = RetainReply::default();
        reply.skipped.extend(view.problems.iter().map(|problem| SkippedEntry {
            key: problem.key.clone().unwrap_or_else(|| problem.path.clone()),
            reason: problem.message.clone(),
        }));
        for pool in scope.pools() {
            for stored in view.of_pool(pool).filter(|stored| stored.is_live(now)) {
                let key = &stored.entry.fields.key;
                if kept.contains(&name(pool.shared, key)) {
                    continue;
                }
                let buried = match dry_run {
                    true => Ok(()),
                    false => bury(call, &view, pool, stored, &Base::Any).await.map(|_| ()),
                };
                match buried {
                    Ok(()) => {
                        let path = path_of(stored)?.into_string();
                        reply.deleted.push(DeletedEntry { key: key.clone(), path });
                    }
                    Err(error) if error.code == ErrorCode::Storage => return Err(error),
                    Err(error) => reply.skipped.push(SkippedEntry { key: key.clone(), reason: error.into_message() }),
                }
            }
        }
        let done = if dry_run { "Would forget" } else { "Forgot" };
        reply.message = ForModel::escaped(&format!("{done} {}", counted(reply.deleted.len())));
        Ok(reply)
    }
}

fn counted(entries: usize) -> String {
    match entries {
        1 => "1 entry".into(),
        entries => format!("{entries} entries"),
    }
}
