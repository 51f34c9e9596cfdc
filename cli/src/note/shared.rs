//! Output that several subcommands of the notebook share.

use saddlebag::notebook::{Warning, superseded_mark};
use saddlebag::trust::Provenance;

use crate::output::{Output, single_line};

pub(crate) fn warn(warnings: &[Warning], output: &mut Output) {
    warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
}

/// Returns the marks of a superseded note and of one that an agent wrote or edited last, or an empty string.
pub(crate) fn marks(by: Option<&str>, since: Option<&str>, writer: Option<&str>) -> String {
    let newer = superseded_mark(by, since).map(|mark| format!("  [{mark}]")).unwrap_or_default();
    let writer = writer.map(|name| format!("  [by {}]", single_line(name))).unwrap_or_default();
    newer + &writer
}

/// Returns the mark of an unapproved note, or an empty string.
pub(crate) fn mark(unapproved: Option<Provenance>) -> String {
    unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}
