//! What a person lets into prompts: notes and entries whose text is of tools or imports.
//!
//! [`TrustCommand`] is what can be done, [`TrustReply`] what comes of it. To approve sets a field of the
//! frontmatter and nothing else, under the version that was looked at, which every item names: text that changed, or came,
//! meanwhile waits on.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::catalogue::SAMPLE_WAITING;
use crate::document::{Outside, head};
use crate::engine::{Backups, Call, Change, update};
use crate::entries::{self, Entries};
use crate::notebook::{self, Notebook};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run, family};
use crate::store::RelPath;
use crate::trust::{
    Flag, FlagKind, ForModel, Provenance, Waiting, add_flags, approve as approved_text, for_model, sha256, version_of,
};

/// How many names one command may have.
pub const MAX_NAMES: usize = 1_024;
/// How much of a text is shown, in bytes.
const PREVIEW_BYTES: usize = 160;

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
    pub from: Option<String>,
}

/// Lets text into prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approve {
    /// At most [`MAX_NAMES`].
    pub items: Vec<ApproveItem>,
    /// Only says what would be approved.
    pub dry_run: bool,
}

/// A text to approve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproveItem {
    /// Its name or path in [`PendingItem`]; or another path, name or title of a note.
    pub name: String,
    /// The version that was looked at. Any other text is not approved.
    pub base: String,
}

impl Request for Pending {
    type Reply = PendingReply;
    const NAME: &'static str = "pending";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let all = Self { limit: 9, ..Self::default() };
        alloc::vec![Self { from: Some(name.into()), ..all.clone() }, all]
    }
}

impl Request for Approve {
    type Reply = ApproveReply;
    const NAME: &'static str = "approve";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        let item = |name: String, base: String| ApproveItem { name, base };
        let waits = core::str::from_utf8(SAMPLE_WAITING).unwrap_or_default();
        let items = alloc::vec![
            item(name.into(), "0".repeat(64)),
            item(format!("{name}.md"), "0".repeat(64)),
            item("waits".into(), version_of(waits)),
        ];
        alloc::vec![Self { items, dry_run: false }]
    }
}

/// The parts of a memory that the commands of approval share.
pub(crate) struct TrustCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
}

family! {
    "trust" in Trust, run with TrustCall<'_>;
    /// A decision of a person about text.
    TrustCommand =>
    /// The reply of a [`TrustCommand`].
    TrustReply {
        Pending,
        Approve,
    }
}

/// Something that waits to be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub flags: Vec<Flag>,
}

/// A page of what waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// What came of approving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApproveReply {
    /// What is approved now.
    pub approved: Vec<PendingItem>,
    /// What is not, with the reasons.
    pub skipped: Vec<SkippedItem>,
    /// All of this for a person.
    pub message: String,
}

/// Something that was not approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedItem {
    /// As it was named.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Runs a command.
pub(crate) async fn run(with: &TrustCall<'_>, command: TrustCommand) -> Result<TrustReply, Error> {
    command.run(with).await
}

impl Run<TrustCall<'_>> for Pending {
    async fn run(self, with: &TrustCall<'_>) -> Result<PendingReply, Error> {
        let after = self.cursor.as_deref().map(after).transpose()?;
        let mut waiting = waiting(with.call, with.notebook, with.entries).await?;
        if let Some(from) = &self.from {
            waiting.retain(|item| is_from(item, from));
        }
        if let Some(name) = &self.name {
            let one = named(with.call, &waiting, name).map_err(|reason| not_waiting(name, &reason))?;
            let path = one.path.clone();
            waiting.retain(|item| item.path == path);
        }
        Ok(page(with.call, &waiting, &self, after))
    }
}

impl Run<TrustCall<'_>> for Approve {
    async fn run(self, with: &TrustCall<'_>) -> Result<ApproveReply, Error> {
        check(with.call, &self)?;
        let waiting = waiting(with.call, with.notebook, with.entries).await?;
        approve(with.call, &waiting, &self).await
    }
}

/// All that waits, by path.
async fn waiting(call: &Call, notebook: &Arc<Notebook>, entries: &Entries) -> Result<Vec<Waiting>, Error> {
    let mut waiting = entries::waiting(call, entries).await?;
    waiting.extend(notebook::waiting(call, notebook).await?);
    order::sort_slice(&mut waiting, |a, b| a.path.as_str().cmp(b.path.as_str()));
    Ok(waiting)
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

fn page(call: &Call, waiting: &[Waiting], request: &Pending, after: Option<&str>) -> PendingReply {
    let rest = waiting.iter().filter(|item| after.is_none_or(|after| item.path.as_str() > after));
    let rest: Vec<&Waiting> = rest.collect();
    let page = rest.get(..(request.limit as usize).min(rest.len())).unwrap_or_default();
    let lines: Vec<String> = page.iter().map(|item| format!("{} {}\n", item.version, item.path)).collect();
    let with_text = request.name.is_some();
    PendingReply {
        items: page.iter().map(|item| shown(call, item, with_text)).collect(),
        next: page.last().filter(|_| page.len() < rest.len()).map(|last| format!("{CURSOR}{}", last.path)),
        total: u32::try_from(waiting.len()).unwrap_or(u32::MAX),
        digest: sha256(&lines.concat()),
    }
}

fn shown(call: &Call, item: &Waiting, with_text: bool) -> PendingItem {
    let mut flags = Vec::new();
    let mut harmless = |text: &str| {
        let (text, found) = for_model(text);
        add_flags(&mut flags, found);
        text
    };
    let text = harmless(&item.text);
    let name = harmless(item.names.first().map(String::as_str).unwrap_or_default());
    let path = harmless(&call.scope.shown(&item.path));
    let source = item.source.as_deref().map(harmless);
    let Outside { links, images, comments } = Outside::of(&item.text);
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
        source,
        version: item.version.clone(),
        size: item.size,
        preview: preview(&text),
        text: with_text.then_some(text),
        flags,
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

/// The one that a name means, or why it means none.
fn named<'a>(call: &Call, waiting: &'a [Waiting], name: &str) -> Result<&'a Waiting, String> {
    let is_path = |item: &Waiting| item.path.as_str() == name || call.scope.shown(&item.path) == name;
    // As it was listed: with hidden characters shown.
    let is_listed = |item: &Waiting| {
        let first = item.names.first().map(String::as_str).unwrap_or_default();
        for_model(first).0 == name || for_model(&call.scope.shown(&item.path)).0 == name
    };
    // A path or a key is meant before a title that happens to read like it.
    let meanings: [&dyn Fn(&Waiting) -> bool; 3] = [
        &|item| is_path(item) || item.names.first().is_some_and(|first| first == name),
        &|item| item.names.iter().any(|known| known == name),
        &is_listed,
    ];
    for means in meanings {
        let found: Vec<&Waiting> = waiting.iter().filter(|item| means(item)).collect();
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

fn not_waiting(name: &str, reason: &str) -> Error {
    let message = format!("`{}`: {reason}", name.escape_debug());
    Error::new(ErrorCode::NotFound, message, "`pending` lists what waits")
}

/// Whether it comes from a source, or is of that provenance or format.
fn is_from(item: &Waiting, from: &str) -> bool {
    let source = item.source.as_deref();
    source == Some(from) || source.and_then(format_of) == Some(from) || item.provenance.as_str() == from
}

fn check(call: &Call, request: &Approve) -> Result<(), Error> {
    call.scope.trust.check_person("to approve")?;
    if request.items.len() > MAX_NAMES {
        let message = format!("{} names, the limit is {MAX_NAMES}", request.items.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "approve in parts; nothing was changed"));
    }
    if request.items.is_empty() {
        let help = "name keys or paths with the versions that `pending` shows";
        return Err(Error::invalid_argument("nothing is named to approve", help));
    }
    Ok(())
}

async fn approve(call: &Call, waiting: &[Waiting], request: &Approve) -> Result<ApproveReply, Error> {
    let mut reply = ApproveReply::default();
    let mut meant: Vec<&Waiting> = Vec::new();
    for ApproveItem { name, base } in &request.items {
        let reason = match named(call, waiting, name) {
            Ok(one) if one.version == *base => {
                meant.push(one);
                continue;
            }
            Ok(_) => changed(base),
            Err(reason) => reason,
        };
        reply.skipped.push(SkippedItem { name: name.clone(), reason });
    }
    let mut done: Vec<&Waiting> = Vec::new();
    for item in meant {
        if done.iter().any(|other| other.path == item.path) {
            continue;
        }
        done.push(item);
        let written = if request.dry_run { Ok(()) } else { write(call, item).await };
        match written {
            Ok(()) => reply.approved.push(shown(call, item, false)),
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => {
                let name = item.names.first().cloned().unwrap_or_default();
                reply.skipped.push(SkippedItem { name, reason: error.message });
            }
        }
    }
    let (approved, skipped) = (reply.approved.len(), reply.skipped.len());
    let verb = if request.dry_run { "Would approve" } else { "Approved" };
    reply.message = format!("{verb} {approved}, skipped {skipped}");
    Ok(reply)
}

/// The format in the mark of an import from another agent: `import:claude-code notes/x.md:1 #digest`.
fn format_of(source: &str) -> Option<&str> {
    if !entries::is_mark(source) {
        return None;
    }
    source.strip_prefix("import:")?.split([' ', ':']).next()
}

/// Sets the moment, if the text is still the one that was looked at.
async fn write(call: &Call, item: &Waiting) -> Result<(), Error> {
    let contention =
        || Error::new(ErrorCode::Contention, changed(&item.version), "look at it again; nothing was changed");
    let change = |bytes: Option<&[u8]>| {
        let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).ok_or_else(contention)?;
        if version_of(text) != item.version {
            return Err(contention());
        }
        let approved = approved_text(text, call.now.epoch_nanoseconds()).ok_or_else(|| {
            let message = format!("the frontmatter of {} cannot say that it is approved", call.scope.shown(&item.path));
            Error::invalid_argument(message, "write `approved: ` and the moment into it by hand")
        })?;
        Ok(Change::Write(call.screen.moved(&item.path, bytes, approved.into_bytes())?, ()))
    };
    update(&call.fs, &item.path, call.scope.limits.max_file_bytes, Backups::Off, change).await.map(|_| ())
}

fn changed(base: &str) -> String {
    format!("its text is not the one of version `{}`", head(base, 64).escape_debug())
}
