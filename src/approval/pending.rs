//! `pending`: lists the items that wait for approval.

use super::types::{PendingItem, Waiting, named, pending_approvals, pending_item};
use crate::changes::Call;
use crate::entries::is_mark;
use crate::names::Stores;
use crate::request::{Run, request};
use crate::search::{SkipKind, Skipped};
use crate::store::{Layout, RelPath};
use crate::trust::{PendingApproval, sha256};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Default number of items on a page.
pub const DEFAULT_PENDING_ITEMS: u32 = 50;

/// Lists the items that wait for approval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Maximum number of items.
    pub limit: u32,
    /// The `next` of the previous page.
    pub cursor: Option<String>,
    /// Name of a single item, which is listed with its whole text: the key of an entry, or the path, name or title of
    /// a note.
    pub name: Option<String>,
    /// Filter by source. `tool` and `import` select all items of that provenance; `agent` selects the entries that go
    /// into the prompts of one project only, which no other filter lists; the name of a format such as `claude-code`
    /// selects all items imported from it; any other value must equal the item's `source`.
    pub source: Option<String>,
}

/// A page of items that wait for approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingReply {
    /// Items, sorted by path.
    pub items: Vec<PendingItem>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of items on all pages.
    pub total: u32,
    /// SHA-256 of the paths and versions on this page. Two pages with the same digest list the same items.
    pub digest: String,
    /// Files that could not be read, so that it is not known if they wait; only on the first page of all items.
    pub skipped: Vec<Skipped>,
}

request!(Pending "pending" => PendingReply, Reads, |name| {
    let all = Self { limit: 9, ..Self::default() };
    vec![Self { source: Some(name.into()), ..all.clone() }, all]
});

impl Run<Stores<'_>> for Pending {
    async fn run(self, with: &Stores<'_>) -> Result<PendingReply, Error> {
        let after = self.cursor.as_deref().map(after).transpose()?;
        let mut waiting = pending_approvals(with.call, with.notebook, with.entries).await?;
        match (&self.source, &self.name) {
            (Some(from), _) => waiting.items.retain(|item| is_from(item, from)),
            (None, Some(_)) => {}
            (None, None) => waiting.items.retain(PendingApproval::is_waiting),
        }
        if let Some(name) = &self.name {
            let one = named(with, &waiting, name).await?;
            let path = one.path.clone();
            waiting.items.retain(|item| item.path == path);
            waiting.skipped.clear();
        }
        let mut page = page(with.call, waiting, &self, after)?;
        if self.name.is_none() && self.cursor.is_none() {
            page.skipped.extend(damaged_rejections(with.call).await?);
        }
        Ok(page)
    }
}

/// Returns the log of rejected values, if it has lines that cannot be read and have no effect.
async fn damaged_rejections(call: &Call) -> Result<Option<Skipped>, Error> {
    let damaged = call.rejected_values().await?.damaged_lines;
    let path = Layout::rejected_log().map_err(|_| Error::internal("the log of rejected values has no path"))?;
    Ok((damaged > 0).then(|| Skipped {
        path: call.scope.display_path(&path),
        kind: SkipKind::Unreadable,
        reason: format!("{damaged} of its lines are damaged, and have no effect"),
    }))
}

/// Prefix of every cursor, so that other text is not accepted as one.
const CURSOR: &str = "after:";

/// Returns the path that the previous page ended with.
fn after(cursor: &str) -> Result<&str, Error> {
    let path = cursor.strip_prefix(CURSOR).filter(|path| RelPath::new(*path).is_ok());
    path.ok_or_else(|| {
        let message = format!("`{}` is not a cursor", cursor.escape_debug());
        Error::invalid_argument(message, "give the `next` of the previous page, or leave it out")
    })
}

fn page(call: &Call, waiting: Waiting, request: &Pending, after: Option<&str>) -> Result<PendingReply, Error> {
    let Waiting { items: pending, skipped } = waiting;
    let rest = pending.iter().filter(|item| after.is_none_or(|after| item.path.as_str() > after));
    let rest: Vec<&PendingApproval> = rest.collect();
    let page: Vec<&PendingApproval> = rest.iter().copied().take(request.limit as usize).collect();
    let lines: Vec<String> = page.iter().map(|item| format!("{} {}\n", item.version, item.path)).collect();
    let with_text = request.name.is_some();
    Ok(PendingReply {
        items: page.iter().map(|item| pending_item(call, item, with_text)).collect(),
        next: page.last().filter(|_| page.len() < rest.len()).map(|last| format!("{CURSOR}{}", last.path)),
        total: u32::try_from(pending.len()).unwrap_or(u32::MAX),
        digest: sha256(&lines.concat()),
        skipped: if after.is_some() { Vec::new() } else { skipped },
    })
}

/// Returns true if the item has this source, provenance or format.
fn is_from(item: &PendingApproval, from: &str) -> bool {
    if !item.is_waiting() {
        return item.provenance.as_str() == from;
    }
    let source = item.source.as_deref();
    source == Some(from) || source.and_then(format_of) == Some(from) || item.provenance.as_str() == from
}

/// Returns the format that the mark of an import names: `claude-code` in `import:claude-code notes/x.md:1 #digest`.
fn format_of(source: &str) -> Option<&str> {
    if !is_mark(source) {
        return None;
    }
    source.strip_prefix("import:")?.split([' ', ':']).next()
}
