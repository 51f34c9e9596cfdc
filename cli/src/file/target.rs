//! [`NamedTarget`]: the argument that names a file of memory.

use clap::Args;
use saddlebag::journal::{Target, TargetRole};

use crate::failure::Failure;
use crate::input::{self, shown_path};

#[derive(Debug, Args)]
pub(crate) struct NamedTarget {
    /// long_term (or long), scratchpad, daily, daily:YYYY-MM-DD, note:NAME, or a path that another command printed
    #[arg(value_parser = shown_path)]
    target: String,
}

impl NamedTarget {
    /// Returns the file that the argument names.
    pub(super) fn named(&self, role: TargetRole) -> Result<Target, Failure> {
        input::target(&self.target, role)
    }
}
