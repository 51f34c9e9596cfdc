//! Types that the commands of a session share.

use saddlebag_collections::{prelude::*, words};

use crate::changes::Call;
use crate::entries::{self, Entries};
use crate::notebook::Notebook;
use crate::origin::{MAX_ORIGIN_NAME_BYTES, Origin};
use crate::search::SearchableEntries;
use crate::store::RelPath;
use crate::trust::sha256;
use saddlebag_protocol::Error;

/// Parts of a memory that the commands of a session need.
pub(crate) struct SessionCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
    pub(crate) origin: &'a Origin,
}

/// Text that a tool has stored in memory. The note of a session names it only if a trusted text has this name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredItem {
    /// An entry, by its key.
    Entry(String),
    /// A note, by its path, name or title.
    Note(String),
    /// Anything else, such as a line of a log. It is not named.
    Other,
}

/// Name of a session, which may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionName {
    name: String,
    digest: String,
}

impl SessionName {
    /// Checks the name of a session.
    pub(super) fn new(name: String) -> Result<Self, Error> {
        if name.is_empty() || name.len() > MAX_ORIGIN_NAME_BYTES || name.chars().any(char::is_control) {
            let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
            let message = format!("`{shown}` is not the name of a session");
            let help = format!("1 to {MAX_ORIGIN_NAME_BYTES} bytes without control characters");
            return Err(Error::invalid_argument(message, help));
        }
        let digest = sha256(&name);
        Ok(Self { name, digest })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the digits in the names of its files.
    pub(super) fn digits(&self, count: usize) -> &str {
        self.digest.get(..count).unwrap_or(&self.digest)
    }
}

/// Returns a file or folder of the scope.
pub(super) fn in_scope(call: &Call, path: &str) -> Result<RelPath, Error> {
    let layout = &call.scope.layout;
    layout.in_notebook(path).map_err(|error| Error::internal(format!("the path `{path}` of a session: {error}")))
}

/// Returns the entries that a recall searches; `None` without an agent.
pub(super) async fn searchable(call: &Call, entries: &Entries) -> Result<Option<SearchableEntries>, Error> {
    match entries.agent().is_ok() {
        true => Ok(Some(entries::searchable(call, entries, true).await?.0)),
        false => Ok(None),
    }
}

/// What becomes of the note of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOffChoice {
    /// The next session begins with it, whatever its age, and even if another session had it.
    Next,
    /// No session begins with it.
    Refused,
}

words!(HandOffChoice, "choice of a hand-off" {
    Next = "next",
    Refused = "refused",
});
