//! `pending`: lists the text that waits to be approved.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::types::{PendingItem, TrustCall, named, pending_approvals, pending_item};
use crate::engine::Call;
use crate::entries::is_mark;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::store::RelPath;
use crate::trust::{PendingApproval, sha256};

/// The most items that a listing gives unless told otherwise.
pub const DEFAULT_PENDING_ITEMS: u32 = 50;

/// Lists the text that waits to be approved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// How many at most.
    pub limit: u32,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// Only the one of this name, with its whole text: the key of an entry; the path, name or title of a note.
    pub name: Option<String>,
    /// Only those with this `source`; `tool` and `import` select all of that provenance, the name of a format such
    /// as `claude-code` all that was imported from it.
    pub source: Option<String>,
}

/// A page of what waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingReply {
    /// By path.
    pub items: Vec<PendingItem>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<String>,
    /// How many there are on all pages.
    pub total: u32,
    /// The SHA-256 of the paths and versions on this page: tells whether the same is listed again.
    pub digest: String,
}

impl Request for Pending {
    type Reply = PendingReply;
    const NAME: &'static str = "pending";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let all = Self { limit: 9, ..Self::default() };
        alloc::vec![Self { source: Some(name.into()), ..all.clone() }, all]
    }
}

impl Run<TrustCall<'_>> for Pending {
    async fn run(self, with: &TrustCall<'_>) -> Result<PendingReply, Error> {
        let after = self.cursor.as_deref().map(after).transpose()?;
        let mut pending = pending_approvals(with.call, with.notebook, with.entries).await?;
        if let Some(from) = &self.source {
            pending.retain(|item| is_from(item, from));
        }
        if let Some(name) = &self.name {
            let one = named(with.call, &pending, name).map_err(|reason| not_pending(name, &reason))?;
            let path = one.path.clone();
            pending.retain(|item| item.path == path);
        }
        page(with.call, &pending, &self, after)
    }
}

/// What a cursor begins with, so that no other text passes for one.
const CURSOR: &str = "after:";

/// The path that a page begins after.
fn after(cursor: &str) -> Result<&str, Error> {
    let path = cursor.strip_prefix(CURSOR).filter(|path| RelPath::parse(*path).is_ok());
    path.ok_or_else(|| {
        let message = format!("`{}` is not a cursor", cursor.escape_debug());
        Error::invalid_argument(message, "give the `next` of the page before, or none")
    })
}

fn page(
    call: &Call,
    pending: &[PendingApproval],
    request: &Pending,
    after: Option<&str>,
) -> Result<PendingReply, Error> {
    let rest = pending.iter().filter(|item| after.is_none_or(|after| item.path.as_str() > after));
    let rest: Vec<&PendingApproval> = rest.collect();
    let page: Vec<&PendingApproval> = rest.iter().copied().take(request.limit as usize).collect();
    let lines: Vec<String> = page.iter().map(|item| format!("{} {}\n", item.version, item.path)).collect();
    let with_text = request.name.is_some();
    Ok(PendingReply {
        items: page.iter().map(|item| pending_item(call, item, with_text)).collect::<Result<_, Error>>()?,
        next: page.last().filter(|_| page.len() < rest.len()).map(|last| format!("{CURSOR}{}", last.path)),
        total: u32::try_from(pending.len()).unwrap_or(u32::MAX),
        digest: sha256(&lines.concat()),
    })
}

fn not_pending(name: &str, reason: &str) -> Error {
    let message = format!("`{}`: {reason}", name.escape_debug());
    Error::new(ErrorCode::NotFound, message, "`pending` lists what waits")
}

/// Whether it comes from a source, or is of that provenance or format.
fn is_from(item: &PendingApproval, from: &str) -> bool {
    let source = item.source.as_deref();
    source == Some(from) || source.and_then(format_of) == Some(from) || item.provenance.as_str() == from
}

/// The format in the mark of an import from another agent: `import:claude-code notes/x.md:1 #digest`.
fn format_of(source: &str) -> Option<&str> {
    if !is_mark(source) {
        return None;
    }
    source.strip_prefix("import:")?.split([' ', ':']).next()
}
