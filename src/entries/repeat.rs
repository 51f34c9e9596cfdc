//! Text of a tool or an import that an agent stores again. Repeating words does not approve them.

use super::document::Fields;
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;

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
