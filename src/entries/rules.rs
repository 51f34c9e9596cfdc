//! Rules of a change: the entry that results when different text is stored under its key.
//!
//! They are computed from the file that the change replaces, which [`read_entry`] parses, and need no operation.

use super::document::{Entry, Fields};
use super::retention::is_expired;
use super::scope::Pool;
use super::types::StoreState;
use crate::changes::Call;
use crate::store::RelPath;
use crate::trust::{Provenance, TrustState};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Precondition of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// No precondition, except that a forgotten text is not stored again.
    #[default]
    Any,
    /// The entry must not exist.
    Absent,
    /// The entry must have this version.
    Version(String),
}

impl Base {
    pub(super) fn from_version(version: Option<String>) -> Self {
        version.map_or(Self::Any, Self::Version)
    }

    pub(super) fn holds(&self, version: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => version.is_none(),
            Self::Version(base) => version == Some(base),
        }
    }
}

/// Parses a file that must hold the entry of a key.
pub(super) fn read_entry<'a>(
    call: &Call,
    pool: &Pool,
    path: &RelPath,
    bytes: &'a [u8],
    key: &str,
) -> Result<(&'a str, Entry), Error> {
    let shown = call.scope.display_path(path);
    let text = core::str::from_utf8(bytes).map_err(|_| Error::not_text(path))?;
    // The time of the file has no effect here: the change writes all fields.
    let entry =
        Entry::parse(&pool.folder, path, text, call.now.epoch_nanoseconds(), pool.shared).map_err(|problem| {
            let message = format!("{shown} cannot be read as an entry: {}", problem.message);
            Error::damaged_file(message, "correct the file, or move it away")
        })?;
    if entry.fields.key != key {
        let message = format!("{shown} has the key `{}`, not `{key}`", entry.fields.key);
        let help = "rename that file, or correct its key";
        return Err(Error::damaged_file(message, help));
    }
    Ok((text, entry))
}

/// Returns true if the entry is forgotten or expired. Storing it then creates it again.
pub(super) fn is_gone(call: &Call, entry: &Entry) -> bool {
    let is_old = is_expired(&entry.fields.category, entry.updated, call.now.epoch_nanoseconds());
    is_old || entry.forgotten.is_some()
}

/// Refuses to replace text that goes into prompts by text of a tool or an import, which would remove it from prompts.
pub(super) fn check_trust_state(before: &Fields, fields: &Fields) -> Result<(), Error> {
    if fields.trust_state.unapproved().is_none() || before.trust_state.unapproved().is_some() || fields.is_same(before)
    {
        return Ok(());
    }
    let provenance = fields.trust_state.provenance;
    let message = format!("text of `{provenance}` cannot replace the text of `{}`", fields.key);
    let help = "store it under another key";
    Err(Error::new(ErrorCode::NotPermitted, message, help))
}

/// Refuses to let an agent of one project change what a person wrote, or approved, for all projects, or what agents wrote in other ones.
pub(super) fn check_reach(call: &Call, before: &Fields) -> Result<(), Error> {
    let TrustState { provenance, approved } = before.trust_state;
    let own = call.scope.layout.own_project();
    let is_for_all = own.is_some() && !before.is_confined() && (provenance == Provenance::User || approved.is_some());
    let of = match before.only_in(own) {
        [] if is_for_all => "all projects".into(),
        projects => projects.join(", "),
    };
    let may_write = call.scope.trust.provenance == Provenance::User || call.scope.layout.writes_for_all_projects();
    if of.is_empty() || may_write {
        return Ok(());
    }
    let message = format!("entry `{}` is for {of}, and an agent of another project may not change it", before.key);
    let help = "store it under another key, or ask a person to change it";
    Err(Error::new(ErrorCode::NotPermitted, message, help))
}

/// Returns true if a person stores text that nobody has approved yet, or not for all projects.
pub(super) fn approves(before: &Fields, fields: &Fields) -> bool {
    let is_withheld = before.trust_state.unapproved().is_some() || before.is_confined();
    fields.trust_state.provenance == Provenance::User && is_withheld
}

/// Returns the reason if nothing is to be written. A change that the caller may not make is an error.
pub(super) fn refusal(call: &Call, before: &Entry, fields: &Fields, base: &Base) -> Result<Option<StoreState>, Error> {
    if is_gone(call, before) {
        return Ok(reason(call, before, fields, base));
    }
    check_trust_state(&before.fields, fields)?;
    let reason = reason(call, before, fields, base);
    // What an agent says in its project, too, is for both.
    if reason.is_none() && !(fields.is_same(&before.fields) && adds_project(&before.fields, fields)) {
        check_reach(call, &before.fields)?;
    }
    Ok(reason)
}

fn reason(call: &Call, before: &Entry, fields: &Fields, base: &Base) -> Option<StoreState> {
    let is_same = fields.is_same(&before.fields);
    let has_more = fields.supersedes.is_some() && fields.supersedes != before.fields.supersedes;
    let is_current = base.holds(Some(&before.version));
    match before.forgotten {
        // A caller that gives the version of the tombstone may store the same text again.
        Some(_) if !is_current || (is_same && *base == Base::Any) => Some(StoreState::Forgotten),
        Some(_) => None,
        None if is_same
            && !has_more
            && !is_gone(call, before)
            && !approves(&before.fields, fields)
            && !adds_project(&before.fields, fields) =>
        {
            Some(StoreState::Unchanged)
        }
        None => (!is_current).then_some(StoreState::Conflict),
    }
}

pub(super) fn new_entry(pool: &Pool, fields: &Fields, now: u64) -> Entry {
    Entry {
        fields: fields.clone(),
        owner: Some(pool.owner.clone()),
        created: now,
        updated: now,
        forgotten: None,
        version: String::new(),
    }
}

/// Returns the entry with its new fields. `updated` changes only with content, category or tags.
pub(super) fn changed(call: &Call, before: &Entry, fields: &Fields, now: u64) -> Entry {
    let mut entry = before.clone();
    let is_gone = is_gone(call, before);
    let is_same = fields.is_same(&before.fields);
    entry.fields = Fields {
        source: fields.source.clone().or_else(|| before.fields.source.clone()),
        supersedes: fields.supersedes.clone().or_else(|| before.fields.supersedes.clone()),
        ..fields.clone()
    };
    let is_repeated = is_same && !is_gone && !approves(&before.fields, fields);
    if is_repeated || repeats_unapproved(&before.fields, fields) {
        keep_trust(&mut entry.fields, &before.fields);
    }
    if is_gone || !is_same {
        entry.updated = now.max(before.updated.saturating_add(1));
    }
    if is_gone {
        (entry.created, entry.forgotten) = (entry.updated, None);
    }
    entry
}

/// Returns the result of changing an existing entry, and what the message adds to it.
pub(super) fn changed_state(call: &Call, before: &Entry, fields: &Fields) -> (StoreState, String) {
    if is_gone(call, before) {
        return (StoreState::Stored, String::new());
    }
    let Fields { category, tags, content, .. } = &before.fields;
    let is_moved = *category != fields.category;
    let mut more = String::from(if is_moved && *content != fields.content { " with another text" } else { "" });
    let removed: Vec<&str> = tags.iter().filter(|tag| !fields.tags.contains(tag)).map(String::as_str).collect();
    if !removed.is_empty() {
        more.push_str(&format!("; removed tags: {}", removed.join(", ")));
    }
    (if is_moved { StoreState::Moved(category.as_str().to_string()) } else { StoreState::Updated }, more)
}

/// Returns true if somebody who is not a person stores the words of unapproved text again. The category, the tags and the
/// white space may differ.
pub(super) fn repeats_unapproved(before: &Fields, fields: &Fields) -> bool {
    before.trust_state.unapproved().is_some()
        && fields.trust_state.provenance != Provenance::User
        && before.content.split_whitespace().eq(fields.content.split_whitespace())
}

/// Gives fields the provenance, the writer and the projects of the text that they repeat.
pub(super) fn keep_trust(fields: &mut Fields, before: &Fields) {
    fields.projects = joined(before, fields);
    fields.trust_state = before.trust_state;
    fields.writer = before.writer.clone();
}

/// Returns true if an agent repeats text that it wrote in other projects only.
pub(super) fn adds_project(before: &Fields, fields: &Fields) -> bool {
    before.is_confined() && fields.projects.iter().any(|project| !before.projects.contains(project))
}

/// Returns the projects of text that is repeated.
fn joined(before: &Fields, fields: &Fields) -> Vec<String> {
    let mut projects = before.projects.clone();
    if adds_project(before, fields) {
        projects.extend(fields.projects.iter().filter(|project| !before.projects.contains(project)).cloned());
    }
    projects
}
