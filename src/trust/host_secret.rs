//! [`HostSecret`]: a key that the host keeps.

use alloc::vec::Vec;
use core::fmt;

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
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.len() == HOST_SECRET_BYTES
    }

    /// Returns its length in bytes.
    #[must_use]
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
