//! What a person lets into prompts: notes and entries whose text is of tools or imports.
//!
//! [`TrustCommand`] is what can be done, [`TrustReply`] what comes of it. To approve sets a field of the
//! frontmatter and nothing else, under the version that was looked at: text that changed meanwhile waits on.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::document::head;
use crate::engine::{Backups, Call, Change, update};
use crate::entries::{self, Entries};
use crate::notebook::{self, Notebook};
use crate::order;
use crate::protocol::{Error, ErrorCode};
use crate::store::RelPath;
use crate::trust::{Flag, Provenance, Waiting, approve as approved_text, for_model, version_of};

/// How many names one command may have.
pub const MAX_NAMES: usize = 1_024;
/// How much of a text is shown, in bytes.
const PREVIEW_BYTES: usize = 160;

/// What a person decides about text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustCommand {
    /// What waits to be approved.
    Pending {
        /// How many at most.
        limit: u32,
        /// The `next` of the page before.
        cursor: Option<String>,
    },
    /// Lets text into prompts.
    Approve(ApproveRequest),
}

/// What came of a [`TrustCommand`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustReply {
    /// Of `Pending`.
    Pending(PendingReply),
    /// Of `Approve`.
    Approved(ApproveReply),
}

impl TrustCommand {
    /// The name of the command, as its context keys begin.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Approve(_) => "approve",
        }
    }
}

/// What to approve: what is named, and all that comes from a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApproveRequest {
    /// Keys of entries; paths, names or titles of notes. At most [`MAX_NAMES`].
    pub names: Vec<String>,
    /// All with this `source`; `tool` and `import` stand for all of that provenance, the name of a format such as
    /// `claude-code` for all that was imported from it.
    pub from: Option<String>,
    /// Only if it still has this version; with one name alone.
    pub base: Option<String>,
    /// Only says what would be approved.
    pub dry_run: bool,
}

/// Something that waits to be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingItem {
    /// The key of an entry, the path of a note.
    pub name: String,
    /// The file.
    pub path: String,
    /// Whether it is an entry, not a note.
    pub is_entry: bool,
    /// Where its text comes from.
    pub provenance: Provenance,
    /// Its `source`, for people.
    pub source: Option<String>,
    /// Of its bytes: to approve can be held to it.
    pub version: String,
    /// The size of its file in bytes.
    pub size: u64,
    /// The first characters of its text, made harmless.
    pub preview: String,
    /// What its text hides or poses as.
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
pub(crate) async fn run(
    call: &Call,
    notebook: &Rc<Notebook>,
    entries: &Entries,
    command: TrustCommand,
) -> Result<TrustReply, Error> {
    Ok(match command {
        TrustCommand::Pending { limit, cursor } => {
            let after = cursor.as_deref().map(after).transpose()?;
            let waiting = waiting(call, notebook, entries).await?;
            TrustReply::Pending(page(call, &waiting, limit as usize, after))
        }
        TrustCommand::Approve(request) => {
            check(call, &request)?;
            let waiting = waiting(call, notebook, entries).await?;
            TrustReply::Approved(approve(call, &waiting, &request).await?)
        }
    })
}

/// All that waits, by path.
async fn waiting(call: &Call, notebook: &Rc<Notebook>, entries: &Entries) -> Result<Vec<Waiting>, Error> {
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

fn page(call: &Call, waiting: &[Waiting], limit: usize, after: Option<&str>) -> PendingReply {
    let rest = waiting.iter().filter(|item| after.is_none_or(|after| item.path.as_str() > after));
    let rest: Vec<&Waiting> = rest.collect();
    let page = rest.get(..limit.min(rest.len())).unwrap_or_default();
    PendingReply {
        items: page.iter().map(|item| shown(call, item)).collect(),
        next: page.last().filter(|_| page.len() < rest.len()).map(|last| format!("{CURSOR}{}", last.path)),
        total: u32::try_from(waiting.len()).unwrap_or(u32::MAX),
    }
}

fn shown(call: &Call, item: &Waiting) -> PendingItem {
    let (text, flags) = for_model(&item.text);
    PendingItem {
        name: item.names.first().cloned().unwrap_or_default(),
        path: call.scope.shown(&item.path),
        is_entry: item.is_entry,
        provenance: item.provenance,
        source: item.source.clone(),
        version: item.version.clone(),
        size: item.size,
        preview: head(text.trim(), PREVIEW_BYTES).to_string(),
        flags,
    }
}

fn check(call: &Call, request: &ApproveRequest) -> Result<(), Error> {
    call.scope.trust.check_person("to approve")?;
    if request.names.len() > MAX_NAMES {
        let message = format!("{} names, the limit is {MAX_NAMES}", request.names.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "approve in parts; nothing was changed"));
    }
    if request.names.is_empty() && request.from.is_none() {
        let help = "name keys or paths, or a source; `pending` lists what waits";
        return Err(Error::invalid_argument("nothing is named to approve", help));
    }
    if request.base.is_some() && (request.names.len() != 1 || request.from.is_some()) {
        let message = format!("one version, and {} names or all of a source", request.names.len());
        return Err(Error::invalid_argument(message, "give a version with one name alone; nothing was changed"));
    }
    Ok(())
}

async fn approve(call: &Call, waiting: &[Waiting], request: &ApproveRequest) -> Result<ApproveReply, Error> {
    let mut reply = ApproveReply::default();
    let mut meant: Vec<&Waiting> = Vec::new();
    for name in &request.names {
        let mut named: Vec<&Waiting> =
            waiting.iter().filter(|item| item.names.iter().any(|known| known == name)).collect();
        // A path or a key is meant before a title that happens to read like it.
        if named.iter().any(|item| item.names.first() == Some(name)) {
            named.retain(|item| item.names.first() == Some(name));
        }
        let reason = match named.as_slice() {
            [one] if request.base.as_ref().is_some_and(|base| *base != one.version) => changed(one),
            [one] => {
                meant.push(one);
                continue;
            }
            [] => "nothing of this name waits to be approved".to_string(),
            several => {
                format!("it could be {}", several.iter().map(|item| item.path.as_str()).collect::<Vec<_>>().join(", "))
            }
        };
        reply.skipped.push(SkippedItem { name: name.clone(), reason });
    }
    if let Some(from) = &request.from {
        let is_from = |item: &&Waiting| {
            let source = item.source.as_deref();
            let is_format = source.and_then(format_of).is_some_and(|format| format == from);
            source == Some(from) || is_format || item.provenance.as_str() == from
        };
        meant.extend(waiting.iter().filter(is_from));
    }
    let mut done: Vec<&Waiting> = Vec::new();
    for item in meant {
        if done.iter().any(|other| other.path == item.path) {
            continue;
        }
        done.push(item);
        let written = if request.dry_run { Ok(()) } else { write(call, item).await };
        match written {
            Ok(()) => reply.approved.push(shown(call, item)),
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
    let contention = || Error::new(ErrorCode::Contention, changed(item), "look at it again; nothing was changed");
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

fn changed(item: &Waiting) -> String {
    format!("its text is another one now: its version was {}", item.version)
}
