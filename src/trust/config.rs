//! [`TrustConfig`] and [`HostSecret`]: the policy of a memory for incoming text, and the key that the host keeps.

use core::fmt;

use saddlebag_collections::{prelude::*, words};

use super::provenance::Provenance;
use saddlebag_protocol::{Error, ErrorCode};

/// Policy for the text that a memory accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustConfig {
    /// Provenance of the text in commands. A command can name a less trusted provenance, never a more trusted one.
    /// Only a memory that is opened for a person can approve.
    pub provenance: Provenance,
    /// Policy for secrets.
    pub secrets: SecretPolicy,
}

/// Policy for text with a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// Refuses the text. The error names the rule.
    #[default]
    Refuse,
    /// Stores the text with `[redacted: RULE]` in place of the secret.
    Redact,
    /// Stores the text unchanged.
    Allow,
}

words!(SecretPolicy, "policy for secrets" { Refuse = "refuse", Redact = "redact", Allow = "allow" });

impl TrustConfig {
    /// Returns the provenance of a tool's text: `tool`, or a less trusted one if that is configured.
    pub(crate) fn of_tool(self) -> Provenance {
        self.provenance.max(Provenance::Tool)
    }

    /// Returns the provenance of a command's text.
    pub(crate) fn provenance_of(&self, asked: Option<Provenance>) -> Result<Provenance, Error> {
        match asked {
            Some(asked) if asked < self.provenance => {
                let own = self.provenance;
                let message = format!("the provenance `{asked}` is not permitted: this memory was opened for `{own}`");
                Err(Error::new(
                    ErrorCode::NotPermitted,
                    message,
                    "leave the provenance out, or give a less trusted one",
                ))
            }
            asked => Ok(asked.unwrap_or(self.provenance)),
        }
    }

    /// Refuses an action that is reserved for a person. `what` is a verb with its object.
    pub(crate) fn check_person(&self, what: &str) -> Result<(), Error> {
        match self.provenance {
            Provenance::User => Ok(()),
            other => {
                let message = format!("only a person may {what}, and this memory was opened for `{other}`");
                Err(Error::new(ErrorCode::NotPermitted, message, "ask the person who owns the memory to do it"))
            }
        }
    }
}

/// Length of a [`HostSecret`] in bytes.
pub const HOST_SECRET_BYTES: usize = 32;

/// A key that the host keeps outside of the store, so that writing to the store does not reveal it. It never appears in a
/// message, a trace or a file.
///
/// ```
/// use saddlebag::trust::HostSecret;
///
/// let secret = HostSecret::from(vec![7; 32]);
/// assert_eq!(format!("{secret:?}"), "HostSecret(32 bytes)");
/// assert!(secret.is_valid() && !HostSecret::from(vec![7; 31]).is_valid());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct HostSecret(Vec<u8>);

impl HostSecret {
    /// Returns true if the key has the right length.
    pub fn is_valid(&self) -> bool {
        self.0.len() == HOST_SECRET_BYTES
    }

    /// Returns its length in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes, for the host that gave them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for HostSecret {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for HostSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HostSecret({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_only_name_what_is_trusted_less() {
        for own in Provenance::ALL {
            let config = TrustConfig { provenance: own, ..TrustConfig::default() };
            assert_eq!(config.provenance_of(None), Ok(own));
            for asked in Provenance::ALL {
                assert_eq!(config.provenance_of(Some(asked)).is_ok(), asked >= own, "{asked} of {own}");
            }
            assert_eq!(config.check_person("approve text").is_ok(), own == Provenance::User);
        }
    }
}
