//! Checks of stored and imported entries against the policy of the memory.

use super::category::Category;
use super::checks::NewEntry;
use super::document::Fields;
use super::rules::{keep_trust, repeats_unapproved};
use super::view::View;
use crate::changes::{Call, InputPolicy};
use crate::trust::{Provenance, TrustState, Writer};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Returns an entry as it may be stored.
pub(super) fn screened(call: &Call, entry: &NewEntry, provenance: Option<Provenance>) -> Result<Fields, Error> {
    let provenance = call.scope.trust.provenance_of(provenance)?;
    let screen = &call.screen;
    let mut fields = entry.checked()?;
    names(screen, &fields)?;
    fields.content = screen.text("content", fields.content)?;
    fields.trust_state = TrustState::new(provenance);
    fields.writer = writer(call, &fields)?;
    fields.projects = projects(call, provenance);
    Ok(fields)
}

/// Returns the projects that text of this provenance goes into the prompts of; empty for all projects.
///
/// Text of tools and imports does not go into a prompt before a person approves it, and an approval is for all projects.
fn projects(call: &Call, provenance: Provenance) -> Vec<String> {
    let project = call.scope.layout.own_project().filter(|_| provenance == Provenance::Agent);
    project.map(String::from).into_iter().collect()
}

/// Keeps the trust of unapproved text that an agent stores again under its key, also from the workspace or into it.
pub(super) fn keep_trust_of_key(view: &View, shared: bool, fields: &mut Fields) {
    let known = view.of_key(shared, &fields.key).or_else(|| view.of_key(!shared, &fields.key));
    if let Some(known) = known.filter(|known| repeats_unapproved(&known.entry.fields, fields)) {
        keep_trust(fields, &known.entry.fields);
    }
}

/// Returns the provenance to mark imported files with; `None` if their own is believed.
pub(super) fn of_files(call: &Call, asked: Option<Provenance>) -> Result<Option<Provenance>, Error> {
    let config = call.scope.trust;
    match asked {
        Some(Provenance::User) => config.check_person("accept the provenance that imported files give").map(|()| None),
        Some(Provenance::Agent) => {
            let message =
                "imported files cannot have the provenance `agent`: an agent that imports a file did not write it";
            Err(Error::invalid_argument(message, "leave the provenance out, or give tool or import"))
        }
        Some(Provenance::Tool) => Ok(Some(Provenance::Tool.max(config.provenance))),
        Some(Provenance::Imported) | None => Ok(Some(Provenance::Imported)),
    }
}

/// Returns a file as it may be imported.
pub(super) fn imported(call: &Call, fields: &Fields, text: String) -> Result<String, Error> {
    let screen = &call.screen;
    names(screen, fields)?;
    screen.without_secrets("content", text)
}

/// Returns an entry of another format as it may be imported.
pub(super) fn adopted(call: &Call, entry: &NewEntry) -> Result<Fields, Error> {
    let screen = &call.screen;
    let mut fields = entry.checked()?;
    names(screen, &fields)?;
    fields.content = screen.without_secrets("content", fields.content)?;
    fields.writer = writer(call, &fields)?;
    Ok(fields)
}

/// Returns the names to sign an entry with. An entry of the agent has the agent's name already.
pub(super) fn writer(call: &Call, fields: &Fields) -> Result<Writer, Error> {
    let writer = call.signature()?;
    let agent = writer.agent.filter(|_| fields.category == Category::Workspace);
    Ok(Writer { agent, ..writer })
}

fn names(screen: &InputPolicy, fields: &Fields) -> Result<(), Error> {
    screen.name("key", &fields.key)?;
    screen.name("category", fields.category.as_str())?;
    fields.tags.iter().try_for_each(|tag| screen.name("tag", tag))?;
    fields.source.iter().try_for_each(|source| screen.name("source", source))?;
    fields.supersedes.iter().try_for_each(|key| screen.name("superseded key", key))
}
