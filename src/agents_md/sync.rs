//! `sync-agents-md`: merges the section of a file with the entries.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::layout::{check_budget, check_end, fit, replaced};
use super::merge::{Merged, merge};
use super::remember::{accepted, generation, record, remember};
use super::section;
use super::sides::{Sides, find, keyed};
use super::types::{
    AgentsMdCall, FactChangeKind, MAX_AGENTS_MD_BYTES, MAX_IDENTITY_BYTES, SyncAgentsMd, SyncAgentsMdReply, Unconfirmed,
};
use super::written::{Ledger, Written};
use crate::changes::Call;
use crate::entries::{self, Entries};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::trust::{ForModel, sha256};

impl Request for SyncAgentsMd {
    type Reply = SyncAgentsMdReply;
    const NAME: &'static str = "sync-agents-md";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        // A name in a section is a key, never a path.
        let quoted = serde_json::Value::from(name);
        let content =
            alloc::format!("<!-- saddlebag:begin agent=a -->\n- `{quoted}`: another text\n<!-- saddlebag:end -->\n");
        let content = Some(content.into_bytes());
        alloc::vec![
            Self { name: name.into(), content, ..Self::default() },
            Self { keys: alloc::vec![name.into()], ..Self::default() }
        ]
    }
}

impl Run<AgentsMdCall<'_>> for SyncAgentsMd {
    async fn run(self, with: &AgentsMdCall<'_>) -> Result<SyncAgentsMdReply, Error> {
        sync(with.call, with.entries, self).await
    }
}

/// Reads edits of the section into entries, and returns the file with the new section.
pub(super) async fn sync(call: &Call, entries: &Entries, request: SyncAgentsMd) -> Result<SyncAgentsMdReply, Error> {
    let text = readable(&request)?;
    check_identity(&request)?;
    let agent = entries.agent()?;
    let section = section::find(text, &request.name)?;
    if let Some(section) = section.as_ref().filter(|section| section.agent != agent) {
        let message = format!(
            "{}, line {}: the section belongs to agent `{}`, and this memory to agent `{agent}`",
            request.name, section.line, section.agent
        );
        return Err(Error::invalid_argument(
            message,
            "open the memory for that agent, or delete the section with its markers",
        ));
    }
    check_budget(&request, &agent, section.as_ref())?;
    if section.is_none() {
        check_end(text, &request.name, &agent)?;
    }
    let ledger = Ledger::from_entries(entries, &request.identity)?;
    let written = ledger.sections(call).await?;
    let (known, problems) = entries::current(call, entries).await?;
    let section = section.as_ref();
    let seen = section.and_then(|section| written.iter().rev().find(|written| written.is(section))).cloned();
    let seen = seen.as_ref();
    let room = entries.room(&known)?;
    let sides =
        Sides { request: &request, text, agent: &agent, section, seen, known: &known, room, problems: &problems };
    let items = keyed(section.map_or(&[], |section| &section.items), &known)?;

    let mut merged = merge(call, entries, &sides, &items, false).await?;
    let unconfirmed = unconfirmed(&sides, &merged, &written)?;
    let is_confirmed = match (&unconfirmed, &request.confirmed) {
        (Some(unconfirmed), Some(confirmed)) => {
            call.scope.trust.check_person("confirm the changes of a section")?;
            unconfirmed.digest == *confirmed
        }
        (Some(_), None) => false,
        (None, _) => true,
    };
    let changes_nothing = request.dry_run || !is_confirmed;
    if merged.is_stored && !changes_nothing {
        merged = merge(call, entries, &sides, &items, true).await?;
    }

    let Merged { changes, listed, kept, not_approved, .. } = merged;
    let unconfirmed = unconfirmed.filter(|_| request.dry_run || !is_confirmed);
    let mut reply = SyncAgentsMdReply { changes, unconfirmed, problems: Vec::new(), ..SyncAgentsMdReply::default() };
    if section.is_some() || !listed.is_empty() {
        let fitted = fit(&sides, listed);
        let new = record(&sides, &fitted, kept, &not_approved);
        let generation = if changes_nothing {
            generation(&sides, &written, &new).0
        } else {
            let accepted = accepted(&sides, &new, &items);
            remember(call, &ledger, &sides, &written, &new, accepted).await?
        };
        let (section_text, _) = sides.render(&fitted.taken, fitted.left_out.len(), generation);
        let content = replaced(text, section, &section_text)?;
        reply.content = (content != text).then(|| content.into_bytes());
        reply.listed = u32::try_from(fitted.taken.len()).unwrap_or(u32::MAX);
        reply.left_out = fitted.left_out;
    }
    reply.left_out.extend(not_approved);
    reply.message = ForModel::escaped(&message(&sides, &reply));
    if reply.unconfirmed.is_some() && !request.dry_run {
        reply.content = None;
    }
    reply.problems = problems;
    Ok(reply)
}

/// Returns the changes that a person must confirm, with the reason; `None` if no confirmation is needed.
fn unconfirmed(sides: &Sides<'_>, merged: &Merged, written: &[Written]) -> Result<Option<Unconfirmed>, Error> {
    let Sides { request, text, agent, section, known, .. } = sides;
    let name = &request.name;
    let newest = written.iter().map(|written| written.generation).max().unwrap_or(0);
    let reason = match (sides.is_foreign(), merged.trusted) {
        (true, _) if newest > 0 => {
            format!("the section of {name} differs from the last one that this store wrote (generation {newest})")
        }
        (true, _) => format!("this store has not written the section of {name}"),
        (false, 0) => return Ok(None),
        (false, 1) => "the section changes 1 entry that goes into prompts".to_string(),
        (false, count) => format!("the section changes {count} entries that go into prompts"),
    };
    let said = match section {
        Some(section) => {
            let said = text.get(section.range.clone());
            said.ok_or_else(|| Error::internal(format!("the section is not in {name}")))?
        }
        None => "",
    };
    let versions: Vec<Option<&str>> =
        merged.changes.iter().map(|change| find(known, &change.key).map(|entry| entry.version.as_str())).collect();
    let SyncAgentsMd { identity, tags, keys, prefer, .. } = request;
    let shown = format!("{:?}", (agent, identity, tags, keys, prefer, said, &merged.changes, versions));
    Ok(Some(Unconfirmed { digest: sha256(&shown), reason }))
}

fn message(sides: &Sides<'_>, reply: &SyncAgentsMdReply) -> String {
    let Sides { request, section, .. } = sides;
    let (name, is_changed) = (&request.name, reply.content.is_some());
    let only_says = request.dry_run || reply.unconfirmed.is_some();
    let mut message = match (is_changed, only_says) {
        (true, true) => format!("{name} would change"),
        (true, false) => format!("{name} changes"),
        (false, _) => format!("{name} is unchanged"),
    };
    message.push_str(&format!(": {} listed, {} not listed", reply.listed, reply.left_out.len()));
    let word = |kind: &FactChangeKind| match kind {
        FactChangeKind::Stored => "stored (to be approved)",
        FactChangeKind::Updated => "updated",
        FactChangeKind::Forgotten => "forgotten",
        FactChangeKind::Conflict(_) => "in conflict",
        FactChangeKind::Refused(_) => "refused",
        _ => "",
    };
    for what in ["stored (to be approved)", "updated", "forgotten", "in conflict", "refused"] {
        let count = reply.changes.iter().filter(|change| word(&change.kind) == what).count();
        if count > 0 {
            message.push_str(&format!(", {count} {what}"));
        }
    }
    if section.is_none() && reply.listed == 0 && sides.names_nothing() {
        message.push_str("; the request names neither tags nor keys, so no fact is written into the file");
    }
    if let Some(unconfirmed) = &reply.unconfirmed {
        message.push_str(&format!("; a person must confirm it: {}", unconfirmed.reason));
    }
    message
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

fn check_identity(request: &SyncAgentsMd) -> Result<(), Error> {
    match request.identity.len() {
        1..=MAX_IDENTITY_BYTES => Ok(()),
        bytes => {
            let message = format!("the identity of {} has {bytes} bytes, not 1 to {MAX_IDENTITY_BYTES}", request.name);
            Err(Error::invalid_argument(message, "name the file by its whole path"))
        }
    }
}
