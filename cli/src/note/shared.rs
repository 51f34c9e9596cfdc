//! Output that several subcommands of the notebook share.

use saddlebag::notebook::Warning;
use saddlebag::trust::{Marks, Provenance};

use crate::output::{Output, single_line};

pub(crate) fn warn(warnings: &[Warning], output: &mut Output) {
    warnings.iter().for_each(|warning| output.warning(&warning.to_string()));
}

/// Returns the marks of an item as they follow its line.
pub(crate) fn marked(marks: &Marks) -> String {
    marks.texts().iter().map(|mark| format!("  [{}]", single_line(mark))).collect()
}

/// Returns the mark of an unapproved note, or an empty string.
pub(crate) fn mark(unapproved: Option<Provenance>) -> String {
    unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}
