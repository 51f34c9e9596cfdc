//! `forget-entry`: the file of an entry says from now on that it is forgotten, and nobody is shown it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::limits::checked_key;
use super::removal::bury;
use super::rules::Base;
use super::runs::{Dropped, drop_held};
use super::scope::EntriesScope;
use super::settle::MAX_RACES;
use super::state::{Entries, EntriesCall};
use super::view::{absent, found, look_for};
use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::trust::ForModel;

/// Forgets an entry. Its file says so, and what was known before does not bring it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetEntry {
    /// The key.
    pub key: String,
    /// Only if it still has this version.
    pub expected_version: Option<String>,
}

/// What came of forgetting an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetEntryReply {
    /// The entry.
    pub key: String,
    /// Its file; empty for what was held by a run alone.
    pub path: String,
    /// The version of its file now: with it as the expected version, the same can be stored again.
    pub version: String,
    /// Whether it was forgotten before.
    pub already_forgotten: bool,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

impl Request for ForgetEntry {
    type Reply = ForgetEntryReply;
    const NAME: &'static str = "forget-entry";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { key: name.into(), expected_version: None }]
    }
}

impl Run<EntriesCall<'_>> for ForgetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ForgetEntryReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let (key, base) = (&self.key, &Base::of(self.expected_version));
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

/// Forgets an entry: its file says so from now on, and nobody is shown it.
async fn forget(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    key: &str,
    base: &Base,
) -> Result<ForgetEntryReply, Error> {
    let key = checked_key("key", key)?;
    let mut races = 0;
    loop {
        let view = look_for(call, entries, scope, &key).await?;
        let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
        let (version, already_forgotten) = match bury(call, &view, pool, stored, base).await {
            // Its file is gone. Somebody may have moved it to another category.
            Err(error) if error.code == ErrorCode::EntryNotFound && races < MAX_RACES => {
                races += 1;
                continue;
            }
            buried => buried?,
        };
        let path = call.scope.display_path(&stored.path);
        let message = format!("Forgot {key}; `purge` removes it for good");
        return Ok(ForgetEntryReply { key, path, version, already_forgotten, message: ForModel::escaped(&message) });
    }
}

/// The reply for what a run alone had.
fn let_go(key: &str) -> ForgetEntryReply {
    let message = format!("Forgot {key}, which the run alone had");
    ForgetEntryReply {
        key: key.into(),
        path: String::new(),
        version: String::new(),
        already_forgotten: false,
        message: ForModel::escaped(&message),
    }
}
