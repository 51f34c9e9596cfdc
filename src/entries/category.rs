//! [`Category`]: lifetime and visibility of an entry; and the errors for names and texts that exceed their limits.

use core::fmt;
use core::str::FromStr;

use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum length of a category in bytes.
pub const MAX_CATEGORY_BYTES: usize = 64;

/// Category of an entry. The four known categories are compared byte for byte, as zombie does: `CORE` is a custom
/// category.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Permanent. Hydrated first and evicted last.
    Core,
    /// Expires 72 hours after its last change.
    Daily,
    /// Belongs to one run and ends with it. It is never stored.
    Conversation,
    /// Shared by all agents of the workspace.
    Workspace,
    /// Any other category. Entries are preferred by recency.
    Custom(String),
}

/// Rank of an entry in hydration and eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Entry of the category `core`.
    Pinned,
    /// Entry of any other category.
    Windowed,
}

impl Category {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Core => "core",
            Self::Daily => "daily",
            Self::Conversation => "conversation",
            Self::Workspace => "workspace",
            Self::Custom(name) => name,
        }
    }

    /// Returns the rank of the category.
    pub fn tier(&self) -> Tier {
        match self {
            Self::Core => Tier::Pinned,
            _ => Tier::Windowed,
        }
    }
}

/// Parses the name of a category.
///
/// # Errors
///
/// The name is empty or longer than [`MAX_CATEGORY_BYTES`].
impl FromStr for Category {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        within("category", name.len(), Limit { least: 1, most: MAX_CATEGORY_BYTES })?;
        Ok(match name {
            "core" => Self::Core,
            "daily" => Self::Daily,
            "conversation" => Self::Conversation,
            "workspace" => Self::Workspace,
            _ => Self::Custom(name.into()),
        })
    }
}

impl fmt::Display for Category {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_name_is_pinned() {
        for (name, tier) in [
            ("core", Tier::Pinned),
            ("daily", Tier::Windowed),
            ("conversation", Tier::Windowed),
            ("workspace", Tier::Windowed),
            ("incident-notes", Tier::Windowed),
            ("CORE", Tier::Windowed),
            ("Core", Tier::Windowed),
            (" core", Tier::Windowed),
        ] {
            let category = Category::from_str(name).unwrap();
            assert_eq!(category.tier(), tier, "{name}");
            assert_eq!(category.as_str(), name);
        }
    }

    #[test]
    fn a_category_has_1_to_64_bytes() {
        assert!(Category::from_str(&"c".repeat(64)).is_ok());
        assert_eq!(Category::from_str("").unwrap_err().message, "category is empty, at least 1 byte is needed");
        let error = Category::from_str(&"c".repeat(65)).unwrap_err();
        assert_eq!(error.message, "category has 65 bytes, the limit is 64: 1 too many");
    }
}

/// Maximum length of a key in bytes.
pub const MAX_KEY_BYTES: usize = 255;

/// Minimum and maximum length in bytes.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// Checks a length in bytes.
pub(super) fn within(what: &str, bytes: usize, limit: Limit) -> Result<(), Error> {
    let Limit { least, most } = limit;
    if bytes < least {
        let message = format!("{what} is empty, at least {least} byte is needed");
        return Err(Error::invalid_argument(message, format!("give it {least} to {most} bytes")));
    }
    over("bytes", what, bytes, most)
}

/// Returns the key if it has 1 to [`MAX_KEY_BYTES`] bytes.
pub(super) fn checked_key(what: &str, key: &str) -> Result<String, Error> {
    within(what, key.len(), Limit { least: 1, most: MAX_KEY_BYTES })?;
    Ok(key.to_string())
}

/// Refuses more than a limit, in bytes or any other unit.
pub(super) fn over(unit: &str, what: &str, given: usize, most: usize) -> Result<(), Error> {
    if given <= most {
        return Ok(());
    }
    let message = format!("{what} has {given} {unit}, the limit is {most}: {} too many", given - most);
    Err(Error::new(ErrorCode::TooLarge, message, "shorten it, or keep it as several entries"))
}
