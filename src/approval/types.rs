//! The words that the commands of approval share, and what waits.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::document::{Outside, head};
use crate::engine::Call;
use crate::entries::{self, Entries};
use crate::notebook::{self, Notebook};
use crate::order;
use crate::protocol::Error;
use crate::trust::{Flag, FlagKind, ForModel, PendingApproval, Provenance, add_flags, for_model};

/// How much of a text is shown, in bytes.
const PREVIEW_BYTES: usize = 160;

/// The parts of a memory that the commands of approval share.
pub(crate) struct TrustCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
}

/// Something that waits to be approved.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingItem {
    /// The key of an entry, the path of a note; made harmless.
    pub name: ForModel,
    /// The file; made harmless.
    pub path: ForModel,
    /// Whether it is an entry, not a note.
    pub is_entry: bool,
    /// Where its text comes from.
    pub provenance: Provenance,
    /// Its `source`, for people; made harmless.
    pub source: Option<ForModel>,
    /// The SHA-256 of its bytes: it is approved by that.
    pub version: String,
    /// The size of its file in bytes.
    pub size: u64,
    /// The first characters of its text, made harmless; it ends in `…` if there is more.
    pub preview: ForModel,
    /// The whole text, made harmless; only where one is asked for by its name.
    pub text: Option<ForModel>,
    /// What its text, its name and its source hide or pose as, and what in it leads out of the store.
    pub findings: Vec<Flag>,
}

/// All that waits, by path.
pub(super) async fn pending_approvals(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: &Entries,
) -> Result<Vec<PendingApproval>, Error> {
    let mut pending = entries::pending_approvals(call, entries).await?;
    pending.extend(notebook::pending_approvals(call, notebook).await?);
    order::sort_slice(&mut pending, |a, b| a.path.as_str().cmp(b.path.as_str()));
    Ok(pending)
}

/// The one that a name means, or why it means none.
pub(super) fn named<'a>(
    call: &Call,
    pending: &'a [PendingApproval],
    name: &str,
) -> Result<&'a PendingApproval, String> {
    let is_path = |item: &PendingApproval| item.path.as_str() == name || call.scope.display_path(&item.path) == name;
    // As it was listed: with hidden characters shown.
    let is_listed = |item: &PendingApproval| {
        item.names.first().is_some_and(|first| for_model(first).0 == name)
            || for_model(&call.scope.display_path(&item.path)).0 == name
    };
    // A path or a key is meant before a title that happens to read like it.
    let meanings: [&dyn Fn(&PendingApproval) -> bool; 3] = [
        &|item| is_path(item) || item.names.first().is_some_and(|first| first == name),
        &|item| item.names.iter().any(|known| known == name),
        &is_listed,
    ];
    for means in meanings {
        let found: Vec<&PendingApproval> = pending.iter().filter(|item| means(item)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => {
                let paths: Vec<ForModel> = several.iter().map(|item| ForModel::escaped(item.path.as_str())).collect();
                return Err(format!(
                    "it could be {}",
                    paths.iter().map(ForModel::as_str).collect::<Vec<_>>().join(", ")
                ));
            }
        }
    }
    Err("nothing of this name waits to be approved".to_string())
}

pub(super) fn pending_item(call: &Call, item: &PendingApproval, with_text: bool) -> Result<PendingItem, Error> {
    let mut flags = Vec::new();
    let mut harmless = |text: &str| {
        let (text, found) = for_model(text);
        add_flags(&mut flags, found);
        text
    };
    let text = harmless(&item.text);
    let name = harmless(item.name()?);
    let path = harmless(&call.scope.display_path(&item.path));
    let source = item.source.as_deref().map(harmless);
    let Outside { links, images, comments } = Outside::of(&item.text);
    let outside = [(FlagKind::Link, links), (FlagKind::Image, images), (FlagKind::HtmlComment, comments)];
    flags.extend(outside.into_iter().filter(|(_, counted)| counted.count > 0).map(|(kind, counted)| Flag {
        kind,
        what: for_model(&counted.first).0.into_string(),
        count: counted.count,
    }));
    Ok(PendingItem {
        name,
        path,
        is_entry: item.is_entry,
        provenance: item.provenance,
        source,
        version: item.version.clone(),
        size: item.size,
        preview: preview(&text),
        text: with_text.then_some(text),
        findings: flags,
    })
}

fn preview(text: &str) -> ForModel {
    let text = text.trim();
    let shown = head(text, PREVIEW_BYTES);
    let mut preview = ForModel::escaped(shown);
    if shown.len() < text.len() {
        preview.push_ours("…");
    }
    preview
}
