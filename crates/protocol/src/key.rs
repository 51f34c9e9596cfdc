//! [`ContextKey`]: connects a result with its request.

use core::fmt;
use saddlebag_collections::prelude::*;

/// Id of a command. The host chooses it; each must be larger than the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// Key of a request: `operation/epoch.command.request`, for example `search/3.17.2`.
///
/// Opaque to the host, which returns it verbatim. It is unique for the life of the store, if the host never opens the
/// store twice with one epoch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextKey(String);

impl ContextKey {
    /// Creates the key of one request.
    pub(crate) fn mint(operation: &str, epoch: u64, command: CommandId, request: u32) -> Self {
        Self(format!("{operation}/{epoch}.{}.{request}", command.0))
    }

    /// Parses the epoch, the command and the request; `None` if `text` does not have the form of a key.
    pub(crate) fn parse(text: &str) -> Option<(u64, CommandId, u32)> {
        let (_, numbers) = text.split_once('/')?;
        let mut numbers = numbers.split('.').map(str::parse::<u64>);
        let epoch = numbers.next()?.ok()?;
        let command = numbers.next()?.ok()?;
        let request = u32::try_from(numbers.next()?.ok()?).ok()?;
        numbers.next().is_none().then_some((epoch, CommandId(command), request))
    }

    /// Returns the key as a `String`.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ContextKey {
    /// Wraps the key of a request that came over the contract.
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ContextKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
