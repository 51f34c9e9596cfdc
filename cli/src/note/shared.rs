//! Output that several subcommands of the notebook share.

use saddlebag::notebook::Warning;
use saddlebag::trust::Provenance;

use crate::output::Output;

pub(crate) fn warn(warnings: &[Warning], output: &mut Output) {
    warnings.iter().for_each(|warning| output.warning(&format!("{}: {}", warning.path, warning.message)));
}

/// Returns the mark of an unapproved note, or an empty string.
pub(crate) fn mark(unapproved: Option<Provenance>) -> String {
    unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}
