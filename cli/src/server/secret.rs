//! [`Secret`]: random text that cannot be guessed.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::failure::{Failure, ProgramCode};

/// Number of random bytes in a secret.
const RANDOM_BYTES: usize = 32;

/// Random text that cannot be guessed.
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            let help = "start the program again when the system is up";
            Failure::new(ProgramCode::Token, format!("the system gives no random bytes: {error}"), help)
        })?;
        Ok(Self(BASE64_URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that depends only on the length of the text, not on how much of it is right.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        bool::from(shown.ct_eq(self.0.as_bytes()))
    }
}
