//! `forget-entry`: marks an entry as forgotten in its file, so that it is no longer shown.

use super::removal::bury;
use super::rules::{Base, check_reach};
use super::runs::{Dropped, drop_held};
use super::scope::EntriesScope;
use super::settle::MAX_RACES;
use super::state::{Entries, EntriesCall};
use super::view::{absent, found, look_for};
use crate::changes::Call;
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Forgets an entry. Its file becomes a tombstone, so that older text cannot restore the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetEntry {
    /// Key of the entry, or path of its file.
    pub key: String,
    /// If given, forgets the entry only if it still has this version.
    pub expected_version: Option<String>,
}

/// Result of forgetting an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetEntryReply {
    /// Key of the entry.
    pub key: String,
    /// Path of its file; empty if only a run held it.
    pub path: String,
    /// Version of its file now. With this as the expected version, the same text can be stored again.
    pub version: String,
    /// True if it had been forgotten before.
    pub already_forgotten: bool,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(ForgetEntry "forget-entry" => ForgetEntryReply, Removes, |name| {
    vec![Self { key: name.into(), expected_version: None }]
});

impl Run<EntriesCall<'_>> for ForgetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ForgetEntryReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let (key, base) = (&self.key, &Base::from_version(self.expected_version));
        let dropped = match run {
            Some(run) => drop_held(call, entries, scope, run, key).await?,
            None => Dropped::default(),
        };
        if dropped.only_conversation {
            return Ok(let_go(key));
        }
        match forget(call, entries, scope, key, base).await {
            Err(error) if error.code == ErrorCode::EntryNotFound && dropped.any => Ok(let_go(key)),
            forgotten => forgotten,
        }
    }
}

/// Forgets an entry: marks it in its file, so that it is no longer shown.
async fn forget(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    name: &str,
    base: &Base,
) -> Result<ForgetEntryReply, Error> {
    let mut races = 0;
    loop {
        let (view, key) = look_for(call, entries, scope, name).await?;
        let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
        check_reach(call, &stored.entry.fields)?;
        let (version, already_forgotten) = match bury(call, &view, pool, stored, base).await {
            // The file is gone. It may have moved to another category, so look again.
            Err(error) if error.code == ErrorCode::EntryNotFound && races < MAX_RACES => {
                races += 1;
                continue;
            }
            buried => buried?,
        };
        let path = call.scope.display_path(&stored.path);
        let message = format!("Forgot {key}; `restore` brings it back");
        return Ok(ForgetEntryReply { key, path, version, already_forgotten, message: ForModel::escaped(&message) });
    }
}

/// Builds the reply for an entry that only a run held.
fn let_go(key: &str) -> ForgetEntryReply {
    let message = format!("Forgot {key}, which only the run held");
    ForgetEntryReply {
        key: key.into(),
        path: String::new(),
        version: String::new(),
        already_forgotten: false,
        message: ForModel::escaped(&message),
    }
}
