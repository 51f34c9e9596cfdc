//! Types that the commands of approval share, and the list of what waits for it.

use crate::changes::Call;
use crate::engine::ambiguous;
use crate::entries::{self, Entries};
use crate::names::{Stores, candidates};
use crate::notebook::{self, Notebook};
use crate::search::{SkipKind, Skipped};
use crate::store::RelPath;
use crate::trust::{Flag, FlagKind, ForModel, PendingApproval, Provenance, add_flags, for_model};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{Outside, head};
use saddlebag_protocol::{Error, ErrorCode};

/// Size of a preview in bytes.
const PREVIEW_BYTES: usize = 160;

/// Maximum number of items in one command.
pub const MAX_NAMES: usize = 1_024;

/// An item to approve or to reject.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApproveItem {
    /// The `name` or `path` of a [`PendingItem`], or another name of it.
    pub name: String,
    /// Version that the person looked at. Nothing is done if its file has another version.
    pub version: String,
}

/// An item that was neither approved nor rejected.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedItem {
    /// Name as the request gave it.
    pub name: String,
    /// Reason in words.
    pub reason: String,
}
/// A note or an entry that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingItem {
    /// Key of the entry or path of the note, made harmless.
    pub name: ForModel,
    /// Path of the file, made harmless.
    pub path: ForModel,
    /// True if it is an entry, false if it is a note.
    pub is_entry: bool,
    /// Origin of the text.
    pub provenance: Provenance,
    /// Projects whose prompts the text goes into. Approved text of an agent goes into all projects, approved text of an
    /// import only into these. Made harmless.
    pub projects: Vec<ForModel>,
    /// `source` of the file, to be read by people; made harmless.
    pub source: Option<ForModel>,
    /// Agent that wrote the text, if the file names one; made harmless.
    pub agent: Option<ForModel>,
    /// Client in which the text was written, if the file names one; made harmless.
    pub client: Option<ForModel>,
    /// Session in which the text was written, if the file names one; made harmless.
    pub session: Option<ForModel>,
    /// Tool that wrote the text, if the file names one; made harmless.
    pub tool: Option<ForModel>,
    /// SHA-256 of the file's bytes. An approval names it.
    pub version: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// First characters of the text, made harmless. Ends in `…` if there is more text.
    pub preview: ForModel,
    /// Whole text, made harmless. Present only if the request named this item.
    pub text: Option<ForModel>,
    /// Findings in text and names: what they hide or imitate, and links that lead out of the store.
    pub findings: Vec<Flag>,
}

/// Items that wait for approval.
pub(super) struct Waiting {
    /// Items, sorted by path.
    pub(super) items: Vec<PendingApproval>,
    /// Files that could not be read, sorted by path.
    pub(super) skipped: Vec<Skipped>,
}

/// Returns everything that waits for approval.
pub(super) async fn pending_approvals(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: &Entries,
) -> Result<Waiting, Error> {
    let (mut items, problems) = entries::pending_approvals(call, entries).await?;
    let (notes, mut skipped) = notebook::pending_approvals(call, notebook).await?;
    items.extend(notes);
    order::sort_slice(&mut items, |a, b| a.path.as_str().cmp(b.path.as_str()));
    for problem in problems {
        if skipped.iter().all(|other| other.path != problem.path) {
            skipped.push(Skipped { path: problem.path, kind: SkipKind::Unreadable, reason: problem.message });
        }
    }
    order::sort_slice(&mut skipped, |a, b| a.path.cmp(&b.path));
    Ok(Waiting { items, skipped })
}

/// Finds the item with this name. If there is not exactly one, the error says why.
pub(super) async fn named<'a>(
    with: &Stores<'_>,
    waiting: &'a Waiting,
    name: &str,
) -> Result<&'a PendingApproval, Error> {
    let Stores { call, notebook, entries } = *with;
    let paths: Vec<RelPath> = [call.scope.whole(name), call.scope.file(name)].into_iter().flatten().collect();
    if let Some(item) = paths.iter().find_map(|path| waiting.items.iter().find(|item| item.path == *path)) {
        return Ok(item);
    }
    let meant = candidates(Stores { call, notebook, entries }, name).await?;
    // Names and paths are listed with hidden characters shown, so that form must match too.
    let is_listed = |item: &PendingApproval| {
        for_model(&item.name).0 == name || for_model(&call.scope.display_path(&item.path)).0 == name
    };
    let is_meant = |item: &&PendingApproval| meant.iter().any(|file| file.path == item.path) || is_listed(item);
    let found: Vec<&PendingApproval> = waiting.items.iter().filter(is_meant).collect();
    match found.as_slice() {
        [one] => return Ok(one),
        [] => {}
        several => {
            return Err(ambiguous(name, several.iter().map(|item| call.scope.display_path(&item.path)).collect()));
        }
    }
    let shown: Vec<String> = paths.iter().map(|path| call.scope.display_path(path)).collect();
    let reason = match waiting.skipped.iter().find(|file| shown.contains(&file.path)) {
        Some(file) => format!("the file could not be read: {}", file.reason),
        None => "no note or entry of this name waits for approval".to_string(),
    };
    Err(Error::new(ErrorCode::NotFound, reason, "`list --pending` lists the names that can be given"))
}

pub(super) fn pending_item(call: &Call, item: &PendingApproval, with_text: bool) -> PendingItem {
    let mut flags = Vec::new();
    let mut harmless = |text: &str| {
        let (text, found) = for_model(text);
        add_flags(&mut flags, found);
        text
    };
    let text = harmless(&item.text);
    let name = harmless(&item.name);
    let path = harmless(&call.scope.display_path(&item.path));
    let source = item.source.as_deref().map(&mut harmless);
    let projects = item.projects.iter().map(|project| harmless(project)).collect();
    let [agent, client, session, tool] = item.writer.fields().map(|(_, name)| name.map(&mut harmless));
    let Outside { links, images, comments } = Outside::from_text(&item.text);
    let outside = [(FlagKind::Link, links), (FlagKind::Image, images), (FlagKind::HtmlComment, comments)];
    flags.extend(outside.into_iter().filter(|(_, counted)| counted.count > 0).map(|(kind, counted)| Flag {
        kind,
        what: for_model(&counted.first).0.into_string(),
        count: counted.count,
    }));
    PendingItem {
        name,
        path,
        is_entry: item.is_entry,
        provenance: item.provenance,
        projects,
        source,
        agent,
        client,
        session,
        tool,
        version: item.version.clone(),
        size: item.size,
        preview: preview(text.as_str()),
        text: with_text.then_some(text),
        findings: flags,
    }
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
