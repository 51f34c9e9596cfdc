//! [`ContextKey`]: what ties a result to the request it answers.

use alloc::string::String;
use core::fmt;

use super::CommandId;

/// `operation/epoch.command.request`, for example `search/3.17.2`.
///
/// Opaque to the host, which echoes it verbatim. Unique for the life of the store as long as the
/// host never opens the store twice with one epoch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextKey(String);

impl ContextKey {
    /// The key of one request.
    pub(crate) fn mint(operation: &str, epoch: u64, command: CommandId, request: u32) -> Self {
        Self(alloc::format!("{operation}/{epoch}.{}.{request}", command.0))
    }

    /// The epoch, the command and the request that `text` names, if it has the shape of a key.
    pub(crate) fn parse(text: &str) -> Option<(u64, CommandId, u32)> {
        let (_, numbers) = text.split_once('/')?;
        let mut numbers = numbers.split('.').map(str::parse::<u64>);
        let epoch = numbers.next()?.ok()?;
        let command = numbers.next()?.ok()?;
        let request = u32::try_from(numbers.next()?.ok()?).ok()?;
        numbers.next().is_none().then_some((epoch, CommandId(command), request))
    }

    /// The key as text of its own.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ContextKey {
    /// The key of a request that came over the contract.
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ContextKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
