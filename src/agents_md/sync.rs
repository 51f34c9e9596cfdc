//! `sync-agents-md`: writes facts into the section of a file.

use core::cmp::Reverse;

use super::item;
use super::section::{self, Contents, Section};
use crate::changes::Call;
use crate::context::{LeftOut, LeftOutReason};
use crate::entries::{self, Entries, EntryInfo, EntryProblem, OutReason};
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Error, ErrorCode};

/// Parts of a memory that the commands about AGENTS.md need.
#[derive(Clone, Copy)]
pub(crate) struct AgentsMdCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
}

/// Default size limit of a section in bytes.
pub const DEFAULT_SECTION_BYTES: u32 = 8_192;

/// Maximum size of the file in bytes.
pub const MAX_AGENTS_MD_BYTES: u32 = 1 << 20;

/// Writes facts into the managed section of a file such as AGENTS.md. The store does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncAgentsMd {
    /// Name of the file in messages.
    pub name: String,
    /// Bytes of the whole file, at most [`MAX_AGENTS_MD_BYTES`]; `None` if the file does not exist.
    pub content: Option<Vec<u8>>,
    /// Tags of the facts to list: one of them is enough.
    pub tags: Vec<String>,
    /// Keys of further facts to list. A request without tags and keys is an error.
    pub keys: Vec<String>,
    /// Size limit of the section with its markers, in bytes. Facts that do not fit are counted in the section and
    /// named in the reply.
    pub max_bytes: u32,
}

impl Default for SyncAgentsMd {
    fn default() -> Self {
        Self {
            name: "AGENTS.md".into(),
            content: None,
            tags: Vec::new(),
            keys: Vec::new(),
            max_bytes: DEFAULT_SECTION_BYTES,
        }
    }
}

/// The new section.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncAgentsMdReply {
    /// New bytes of the file; `None` if the file is unchanged.
    #[serde(serialize_with = "crate::json::text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub content: Option<Vec<u8>>,
    /// Number of facts in the section.
    pub listed: u32,
    /// Selected facts that are not listed: they do not fit the budget, or need approval.
    pub left_out: Vec<LeftOut>,
    /// Files that could not be parsed as entries.
    pub problems: Vec<EntryProblem>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(SyncAgentsMd "sync-agents-md" => SyncAgentsMdReply, Reads, |name| {
    // A name is a key or a tag, never a path.
    let content = Some(format!("# {name}\n").into_bytes());
    vec![
        Self { name: name.into(), content, tags: vec![name.into()], ..Self::default() },
        Self { keys: vec![name.into()], ..Self::default() }
    ]
});

impl Run<AgentsMdCall<'_>> for SyncAgentsMd {
    async fn run(self, with: &AgentsMdCall<'_>) -> Result<SyncAgentsMdReply, Error> {
        sync(with.call, with.entries, &self).await
    }
}

/// Returns the file with the new section.
async fn sync(call: &Call, entries: &Entries, request: &SyncAgentsMd) -> Result<SyncAgentsMdReply, Error> {
    let text = readable(request)?;
    if request.tags.is_empty() && request.keys.is_empty() {
        return Err(Error::invalid_argument("neither tags nor keys select facts to list", "give a tag or a key"));
    }
    let agent = entries.agent()?;
    let section = section::find(text, &request.name)?;
    match &section {
        Some(section) => check_section(section, &request.name, &agent)?,
        None => check_end(text, &request.name, &agent)?,
    }
    let (known, problems) = entries::current(call, entries).await?;
    let (facts, mut unapproved) = selected(request, &known);
    let mut reply = SyncAgentsMdReply { problems, ..SyncAgentsMdReply::default() };
    if section.is_some() || !facts.is_empty() {
        let line_ending = section::line_ending(section.as_ref().map_or(text, |section| section.said));
        let fitted = fit(request, &agent, line_ending, facts)?;
        let items: Vec<&str> = fitted.taken.iter().map(|(_, item)| item.as_str()).collect();
        let contents = Contents { agent: &agent, items: &items, not_listed: fitted.left_out.len() };
        let new = contents.render().replace('\n', line_ending);
        let content = replaced(text, section.as_ref(), &new)?;
        reply.content = (content != text).then(|| content.into_bytes());
        reply.listed = u32::try_from(items.len()).unwrap_or(u32::MAX);
        reply.left_out = fitted.left_out;
    }
    reply.left_out.append(&mut unapproved);
    let is_changed = if reply.content.is_some() { "changes" } else { "is unchanged" };
    let SyncAgentsMdReply { listed, left_out, .. } = &reply;
    let message = format!("{} {is_changed}: {listed} listed, {} not listed", request.name, left_out.len());
    reply.message = ForModel::escaped(&message);
    Ok(reply)
}

/// Checks that this memory may replace a section.
fn check_section(section: &Section<'_>, name: &str, agent: &str) -> Result<(), Error> {
    let Section { line, agent: owner, .. } = section;
    if owner != agent {
        let message =
            format!("{name}, line {line}: the section belongs to agent `{owner}`, and this memory to agent `{agent}`");
        let help = "open the memory for that agent, or delete the section with its markers";
        return Err(Error::invalid_argument(message, help));
    }
    if section.is_edited {
        let message = format!("{name}, line {line}: the section was edited by hand, so it stays as it is");
        let help = "store its text as facts or move it out of the section, then delete the section with its markers";
        return Err(Error::new(ErrorCode::Conflict, message, help));
    }
    Ok(())
}

/// A selected fact, and its item in the section.
type Fact<'a> = (&'a EntryInfo, String);

/// Returns the facts that the request selects, and those of them that may not be written.
fn selected<'a>(request: &SyncAgentsMd, known: &'a [EntryInfo]) -> (Vec<Fact<'a>>, Vec<LeftOut>) {
    let SyncAgentsMd { tags, keys, .. } = request;
    let (mut facts, mut unapproved) = (Vec::new(), Vec::new());
    for entry in known {
        let is_selected = keys.contains(&entry.key) || tags.iter().any(|tag| entry.tags.contains(tag));
        if is_selected && entry.marks.is_withheld() {
            // AGENTS.md is read like a prompt, so unapproved text stays out of it.
            let reason = match entry.marks.unapproved {
                Some(_) => LeftOutReason::Unapproved,
                None => LeftOutReason::NotHydrated(OutReason::OtherProject.to_string()),
            };
            unapproved.push(left_out_of(request, entry, reason, entry.content.len()));
        } else if is_selected {
            facts.push((entry, item::render(&entry.key, &entry.content)));
        }
    }
    (facts, unapproved)
}

/// Facts that fit the budget, sorted by key, and the others.
struct Fitted<'a> {
    taken: Vec<Fact<'a>>,
    left_out: Vec<LeftOut>,
}

/// Selects the facts that fit the budget.
fn fit<'a>(request: &SyncAgentsMd, agent: &str, line_ending: &str, facts: Vec<Fact<'a>>) -> Result<Fitted<'a>, Error> {
    let size = |text: &str| text.len() + text.matches('\n').count() * (line_ending.len() - 1);
    let empty = size(&Contents { agent, items: &[], not_listed: facts.len() }.render());
    let mut room = (request.max_bytes as usize).checked_sub(empty).ok_or_else(|| {
        let message = format!("a section without facts takes {empty} bytes, the budget is {}", request.max_bytes);
        Error::new(ErrorCode::TooLarge, message, "raise the budget")
    })?;
    // The last changed facts come first. Facts that were stored together were stored in the order of their keys.
    let mut by_age = facts;
    order::sort_slice(&mut by_age, |(a, _), (b, _)| {
        Reverse(a.updated).cmp(&Reverse(b.updated)).then_with(|| b.key.cmp(&a.key))
    });
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for (entry, item) in by_age {
        match room.checked_sub(size(&item) + line_ending.len()) {
            Some(rest) => {
                room = rest;
                taken.push((entry, item));
            }
            None => left_out.push(left_out_of(request, entry, LeftOutReason::Budget, item.len())),
        }
    }
    order::sort_slice(&mut taken, |(a, _), (b, _)| a.key.cmp(&b.key));
    order::sort_slice(&mut left_out, |a, b| a.key.cmp(&b.key));
    Ok(Fitted { taken, left_out })
}

/// Builds the report on a fact that is not in the section, with its size.
fn left_out_of(request: &SyncAgentsMd, entry: &EntryInfo, reason: LeftOutReason, bytes: usize) -> LeftOut {
    let whole = LeftOut::whole(&entry.path, request.name.as_str(), reason, bytes as u64);
    LeftOut { key: Some(entry.key.clone()), ..whole }
}

/// Checks that a section after this text would be read as one: no code block or comment is left open.
fn check_end(text: &str, name: &str, agent: &str) -> Result<(), Error> {
    let section = Contents { agent, items: &[], not_listed: 0 }.render();
    match section::find(&replaced(text, None, &section)?, name) {
        Ok(Some(_)) => Ok(()),
        // The text itself has no wrong marker.
        Ok(None) | Err(_) => {
            let message = format!("{name} ends inside a code block or a comment that is not closed");
            Err(Error::damaged_file(message, "close it"))
        }
    }
}

/// Returns the file with the new section in place of the old one, or at the end.
pub(super) fn replaced(text: &str, section: Option<&Section<'_>>, new: &str) -> Result<String, Error> {
    if let Some(section) = section {
        let around = text.get(..section.range.start).zip(text.get(section.range.end..));
        // Without this check, everything except the section would be lost.
        let (before, after) = around.ok_or_else(|| Error::internal("the section is not in the file"))?;
        return Ok([before, new, after].concat());
    }
    let line_ending = section::line_ending(text);
    let said = text.trim_start_matches('\u{feff}');
    if said.is_empty() {
        return Ok(format!("{text}{new}{line_ending}"));
    }
    let blank = if said.ends_with('\n') { line_ending.to_string() } else { line_ending.repeat(2) };
    let end = if said.ends_with('\n') { line_ending } else { "" };
    Ok([text, &blank, new, end].concat())
}

fn readable(request: &SyncAgentsMd) -> Result<&str, Error> {
    let bytes = request.content.as_deref().unwrap_or_default();
    if bytes.len() > MAX_AGENTS_MD_BYTES as usize {
        let message = format!("{}: {} bytes, the limit is {MAX_AGENTS_MD_BYTES}", request.name, bytes.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "move a part of it to another file"));
    }
    core::str::from_utf8(bytes).map_err(|error| {
        let message = format!("{}: not UTF-8 text (at byte {})", request.name, error.valid_up_to());
        Error::new(ErrorCode::NotText, message, "convert it to UTF-8")
    })
}
