//! [`NamedTarget`]: the arguments that name a file of memory.

use clap::Args;
use saddlebag::journal::{Target, TargetRole};

use crate::failure::Failure;
use crate::input;

#[derive(Debug, Args)]
pub(crate) struct NamedTarget {
    /// long_term (or long), scratchpad, daily, note or note:NAME
    target: String,
    /// The name of the note, or the date of the log as YYYY-MM-DD
    name: Option<String>,
    /// The same as an option
    #[arg(long = "name", value_name = "NAME", conflicts_with = "name", allow_hyphen_values = true)]
    named: Option<String>,
}

impl NamedTarget {
    /// The file that the arguments name.
    pub(super) fn named(&self, role: TargetRole) -> Result<Target, Failure> {
        input::target(&self.target, self.name.as_deref().or(self.named.as_deref()), role)
    }
}
