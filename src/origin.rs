//! [`Origin`]: the caller of a command. [`Submission`]: a command with its origin.

use crate::store::{MAX_IDENTIFIER_BYTES, is_identifier};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum length of a name in an [`Origin`] in bytes.
pub const MAX_ORIGIN_NAME_BYTES: usize = 255;

/// Maximum length of [`Origin::reason`] in bytes.
pub const MAX_REASON_BYTES: usize = 1024;

/// Caller of a command, and its purpose. By default, the caller that the memory was opened for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Agent. It can only confirm the configuration; a command for another agent is refused.
    pub agent: Option<String>,
    /// Workspace. It can only confirm the configuration.
    pub workspace: Option<String>,
    /// Run that the command belongs to; it must be open. Commands of the entries, and blocks with entries, see the
    /// entries that the run holds, and store into the run. Other commands ignore it.
    pub run: Option<String>,
    /// Client program, such as `claude-code`. Notes and entries that the command writes name it in their frontmatter, and
    /// `list --pending` shows it.
    pub client: Option<String>,
    /// Session of the client. It is recorded like the client.
    pub session: Option<String>,
    /// Tool that gives the command, such as the name of an MCP tool. It is recorded like the client.
    pub tool: Option<String>,
    /// Provenance of the text that the command stores. It cannot be more trusted than the configuration. `None` means
    /// that of the configuration; for imports it means [`Provenance::Imported`]. [`Provenance::User`] in an import
    /// means that the files are believed, for which the memory must be opened for a person.
    pub provenance: Option<Provenance>,
    /// Operation that the command belongs to: 1 to [`MAX_IDENTIFIER_BYTES`](crate::store::MAX_IDENTIFIER_BYTES) ASCII letters, digits, `-` and
    /// `_`. Commands with the same value are one operation of the history, and are undone together. `None`: the command is
    /// a separate operation.
    pub operation: Option<String>,
    /// Reason for the change, for the history: 1 to [`MAX_REASON_BYTES`] bytes. The policy for secrets applies to it.
    pub reason: Option<String>,
    /// Moment at which the command sees the store: its files as they were then, and this time as its clock. Only for a
    /// command that changes nothing. `None`: now.
    pub at: Option<Moment>,
}

/// A moment in the history of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// End of a second, in seconds since 1970-01-01T00:00:00Z.
    Second(i64),
    /// Just after an operation, named by its identifier or by the beginning of it.
    Operation(String),
}

impl Origin {
    /// Creates the origin of a command in a run.
    pub fn from_run(run: impl Into<String>) -> Self {
        Self { run: Some(run.into()), ..Self::default() }
    }

    /// Creates the origin of a command that stores text of this provenance.
    pub fn from_provenance(provenance: Provenance) -> Self {
        Self { provenance: Some(provenance), ..Self::default() }
    }

    /// Returns the command with this origin.
    pub fn with<C>(self, command: C) -> Submission<C> {
        Submission { origin: self, command }
    }

    /// Refuses names that are too long or have control characters. Agent, workspace and run are checked where they are
    /// used.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let names = [("client", &self.client), ("session", &self.session), ("tool", &self.tool)];
        for (what, name) in names.into_iter().filter_map(|(what, name)| Some((what, name.as_ref()?))) {
            if name.is_empty() || name.len() > MAX_ORIGIN_NAME_BYTES || name.chars().any(char::is_control) {
                let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
                let message = format!("`{shown}` is not the name of a {what}");
                let help = format!("1 to {MAX_ORIGIN_NAME_BYTES} bytes without control characters");
                return Err(Error::new(ErrorCode::InvalidArgument, message, help));
            }
        }
        if let Some(operation) = self.operation.as_ref().filter(|operation| !is_identifier(operation)) {
            let message = format!("`{}` is not the name of an operation", operation.escape_debug());
            let help = format!("1 to {MAX_IDENTIFIER_BYTES} ASCII letters, digits, `-` and `_`");
            return Err(Error::new(ErrorCode::InvalidArgument, message, help));
        }
        if let Some(size) = self.reason.as_ref().map(String::len).filter(|size| !(1..=MAX_REASON_BYTES).contains(size))
        {
            let message = format!("the reason has {size} bytes");
            let help = format!("1 to {MAX_REASON_BYTES} bytes");
            return Err(Error::new(ErrorCode::InvalidArgument, message, help));
        }
        Ok(())
    }
}

/// A command with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission<C> {
    /// Origin of the command.
    pub origin: Origin,
    /// The command.
    pub command: C,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_a_name_that_can_be_shown() {
        let check = |name: &str| Origin { session: Some(name.into()), ..Origin::default() }.check();
        assert_eq!(check("a session"), Ok(()));
        for refused in ["", "a\nb", &"x".repeat(256)] {
            assert_eq!(check(refused).unwrap_err().code, ErrorCode::InvalidArgument);
        }
    }
}
