//! [`Trouble`]: the reason why a hook did nothing, in words that may be logged.

use crate::failure::{Code, Failure, ProgramCode};

/// Reason why a hook did nothing. It has no text of a prompt, a file or a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Kind, one word.
    pub(crate) code: &'static str,
    /// Description for people.
    pub(crate) message: String,
}

impl Trouble {
    /// Creates the reason for an input that cannot be used.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { code: "input", message: message.into() }
    }

    /// Creates the reason for an answer that cannot be written.
    pub(crate) fn output(message: impl Into<String>) -> Self {
        Self { code: "output", message: message.into() }
    }

    /// Creates the reason for a command line that cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: "usage", message: message.into() }
    }

    /// Code of a run over its time limit.
    pub(crate) const TIME_LIMIT: &'static str = "time-limit";

    /// Creates the reason for a run over its time limit.
    pub(crate) fn time_limit(milliseconds: u128) -> Self {
        Self { code: Self::TIME_LIMIT, message: format!("gave up after {milliseconds} ms") }
    }

    /// Creates the reason for a fault of the program, at a place of its source.
    pub(crate) fn fault(place: &str) -> Self {
        Self { code: "fault", message: format!("the program has a fault at {place}; please report it") }
    }

    /// Creates the reason for a store that cannot be opened. The message of such a failure names only the store.
    pub(crate) fn opening(failure: &Failure) -> Self {
        Self { code: failure.code.as_str(), message: failure.message.clone() }
    }
}

/// Converts the failure of a command. Its message may repeat text of the memory or of the prompt, so only its code is
/// kept.
impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let message = match failure.code {
            Code::Program(ProgramCode::Trace | ProgramCode::Component | ProgramCode::Engine) => failure.message,
            _ => "the command was refused or failed".to_string(),
        };
        Self { code: failure.code.as_str(), message }
    }
}

#[cfg(test)]
mod tests {
    use saddlebag::protocol::ErrorCode;

    use super::*;

    #[test]
    fn the_message_of_a_command_is_not_kept() {
        let trouble = Trouble::from(Failure::new(ErrorCode::InvalidArgument, "the prompt `secret` is bad", ""));
        assert_eq!(trouble.code, ErrorCode::InvalidArgument.as_str());
        assert!(!trouble.message.contains("secret"));
    }
}
