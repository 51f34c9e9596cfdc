//! [`HostSecret`]: a key that the host keeps.

use alloc::vec::Vec;
use core::fmt;

/// How long a [`HostSecret`] is, in bytes.
pub const HOST_SECRET_BYTES: usize = 32;

/// A key that the host keeps outside of the store, so that nobody who can write to the store has it. No message, no
/// trace and no file has it.
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
    /// Returns true if it has the length of a key.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.len() == HOST_SECRET_BYTES
    }

    /// How many bytes it has.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// The bytes, for the host that gave them.
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
