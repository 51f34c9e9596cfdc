//! [`Call`]: a call across the contract, parsed from canonical JSON.

use serde_json::Value;

use super::convert::read_command;
use super::fields::{Fields, Malformed};
use crate::store::Timestamp;
use crate::tools::{CallTool, ToolOptions};
use crate::{Command, Origin, Submission};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{CommandId, FsResult};

/// A call of an open memory.
#[allow(clippy::large_enum_variant, reason = "a call is made once, and taken apart at once")]
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `memory.submit`, or `tools.call`.
    Submit {
        /// Id of the command.
        id: CommandId,
        /// Time of the command.
        now: Timestamp,
        /// The command with its origin.
        submission: Submission<Command>,
    },
    /// `memory.handle-memory-result`.
    HandleMemoryResult(FsResult),
    /// `memory.cancel`.
    Cancel(CommandId),
    /// `take` of the interface of the command.
    Take(CommandId),
}

impl Call {
    /// Names of the calls.
    pub const NAMES: [&str; 5] = ["submit", "call", "handle-memory-result", "cancel", "take"];

    /// Parses the call of this name.
    ///
    /// # Errors
    ///
    /// No call has this name, or its arguments are others.
    pub fn read(name: &str, arguments: Value) -> Result<Self, Malformed> {
        let mut fields = Fields::of(arguments)?;
        let call = match name {
            "submit" => {
                let interface: String = fields.take("interface")?;
                let command = fields.take_value("command")?;
                let command = read_command(&interface, command).map_err(|error| error.below("command"))?;
                Self::submit(&mut fields, command)?
            }
            "call" => {
                let (tool, input) = (fields.take("tool")?, fields.take("input")?);
                let options: Option<ToolOptions> = fields.take("options")?;
                Self::submit(&mut fields, CallTool { tool, input, options: options.unwrap_or_default() }.into())?
            }
            "handle-memory-result" => Self::HandleMemoryResult(fields.take("reply")?),
            "cancel" => Self::Cancel(fields.take("id")?),
            "take" => Self::Take(fields.take("id")?),
            other => return Err(Malformed::wrong(format!("there is no call `{other}`"))),
        };
        fields.end()?;
        Ok(call)
    }

    fn submit(fields: &mut Fields, command: Command) -> Result<Self, Malformed> {
        let origin: Origin = fields.take("origin")?;
        Ok(Self::Submit { id: fields.take("id")?, now: fields.take("now")?, submission: origin.with(command) })
    }
}
