//! [`NoteName`]: the name of a note.

use core::fmt;
use core::str::FromStr;

use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode, MAX_SEGMENT_BYTES};

/// Maximum length of the name of a note in bytes. With `.bak` after it, it is still one segment.
pub const MAX_NOTE_NAME_BYTES: usize = MAX_SEGMENT_BYTES - ".bak".len();

/// Extension of all files of memory.
pub const NOTE_SUFFIX: &str = ".md";

/// Name of a note, without folder and extension.
///
/// White space around it and every trailing `.md` are dropped. The rest must not be empty, must have no `/`, `\`, `.`
/// or control character, must not be a device name of Windows, and must have at most [`MAX_NOTE_NAME_BYTES`]. Case,
/// spaces and all scripts are kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteName(String);

/// Reason why text is not a [`NoteName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty, or contains `/`, `\` or `.`. The message is zerostack's.
    #[error("invalid note name (no slashes or dots)")]
    SlashOrDot,
    /// The name contains a control character, which could forge a line in a listing.
    #[error("invalid note name: control character U+{:04X}", u32::from(*.0))]
    ControlCharacter(char),
    /// Windows would open a device instead of a file of this name.
    #[error("invalid note name: `{0}` is a device name on Windows")]
    DeviceName(String),
    /// The name is longer than [`MAX_NOTE_NAME_BYTES`].
    #[error("invalid note name: {0} bytes, the limit is {MAX_NOTE_NAME_BYTES}")]
    TooLong(usize),
}

impl FromStr for NoteName {
    type Err = NameError;

    /// Parses a name.
    ///
    /// ```
    /// use saddlebag::store::NoteName;
    ///
    /// assert_eq!(" auth.md ".parse::<NoteName>()?.as_str(), "auth");
    /// assert!("../x".parse::<NoteName>().is_err());
    /// # Ok::<(), saddlebag::store::NameError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first rule that the name violates.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut name = text.trim();
        while let Some(stem) = name.strip_suffix(NOTE_SUFFIX) {
            name = stem;
        }
        if name.is_empty() || name.contains(['/', '\\', '.']) {
            return Err(NameError::SlashOrDot);
        }
        if let Some(bad) = name.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            return Err(NameError::ControlCharacter(bad));
        }
        if name.len() > MAX_NOTE_NAME_BYTES {
            return Err(NameError::TooLong(name.len()));
        }
        if is_device_name(name) {
            return Err(NameError::DeviceName(name.into()));
        }
        Ok(Self(name.into()))
    }
}

impl NoteName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoteName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        let help = "use letters of any script, digits, spaces, `-` and `_`; `.md` may follow";
        Self::new(ErrorCode::InvalidName, format!("{error}"), help)
    }
}

/// Returns true for a device name without extension. Windows reserves these in any case, and COM and LPT also with
/// superscript digits.
pub fn is_device_name(name: &str) -> bool {
    let name = name.trim_end();
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].iter().any(|device| name.eq_ignore_ascii_case(device)) {
        return true;
    }
    let mut chars = name.chars();
    let prefix: String = chars.by_ref().take(3).map(|c| c.to_ascii_lowercase()).collect();
    let port = matches!(chars.next(), Some('0'..='9' | '¹' | '²' | '³'));
    matches!(prefix.as_str(), "com" | "lpt") && port && chars.next().is_none()
}

/// Returns true for a name that Windows does not accept, or interprets: a stream, a device, an ending that it drops.
pub fn is_special_on_windows(name: &str) -> bool {
    // For a device, the part before the first dot counts: `aux.md` is one.
    let stem = name.split('.').next().unwrap_or(name);
    name.contains(['<', '>', ':', '"', '|', '?', '*']) || name.ends_with(['.', ' ']) || is_device_name(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffix_and_surrounding_space_do_not_count() {
        for text in ["auth", " auth ", "auth.md", "auth.md.md"] {
            assert_eq!(NoteName::from_str(text).as_ref().map(NoteName::as_str), Ok("auth"), "{text:?}");
        }
        assert_eq!(NoteName::from_str("auth .md").as_ref().map(NoteName::as_str), Ok("auth "));
        assert_eq!(NoteName::from_str("-rf").as_ref().map(NoteName::as_str), Ok("-rf"));
    }

    #[test]
    fn names_that_could_leave_the_folder_are_refused() {
        for text in [".md", " .md ", "", "  ", "a/b", "a\\b", ".hidden", "a.b", "..", "../x", "README.MD"] {
            assert_eq!(NoteName::from_str(text), Err(NameError::SlashOrDot), "{text:?}");
        }
    }

    #[test]
    fn names_that_a_file_system_or_a_listing_could_misread_are_refused() {
        assert_eq!(NoteName::from_str("a\nb"), Err(NameError::ControlCharacter('\n')));
        assert_eq!(NoteName::from_str("a\0b"), Err(NameError::ControlCharacter('\0')));
        assert_eq!(NoteName::from_str(&"x".repeat(252)), Err(NameError::TooLong(252)));
        assert!(NoteName::from_str(&"x".repeat(251)).is_ok());
        for device in ["CON", "nul", "Com1", "LPT³", "aux ", "CONIN$"] {
            assert!(matches!(NoteName::from_str(device), Err(NameError::DeviceName(_))), "{device}");
        }
        for fine in ["CONTROL", "com", "com10", "nullable"] {
            assert!(NoteName::from_str(fine).is_ok(), "{fine}");
        }
    }
}
