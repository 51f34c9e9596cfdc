//! The project slug: the folder under `projects/` that belongs to a path.
//!
//! The rule is zerostack's, v1.7.2, byte for byte, so that an existing store keeps its folders.

use core::fmt;
use core::hash::Hasher;
use core::str::FromStr;

use fnv::FnvHasher;

use saddlebag_collections::prelude::*;
use saddlebag_protocol::MAX_SEGMENT_BYTES;

/// Number of characters that a slug keeps of the folder's name.
const MAX_BASE_CHARS: usize = 40;

/// Base of a slug whose path has no usable last component.
const ROOT: &str = "root";

/// Name of a project's folder: `{base}-{hash}`, for example `api-0db23a34`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectSlug(String);

/// Maximum length of an identifier, such as the name of a machine, in bytes.
pub const MAX_IDENTIFIER_BYTES: usize = 64;

/// Returns true for 1 to [`MAX_IDENTIFIER_BYTES`] ASCII letters, digits, `-` and `_`.
pub(crate) fn is_identifier(text: &str) -> bool {
    (1..=MAX_IDENTIFIER_BYTES).contains(&text.len()) && text.chars().all(is_plain)
}

impl FromStr for ProjectSlug {
    type Err = String;

    /// Parses an existing slug.
    ///
    /// # Errors
    ///
    /// The text itself, unless it is non-empty, has at most 255 bytes, and only ASCII letters, digits, `-` and `_`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = !text.is_empty() && text.len() <= MAX_SEGMENT_BYTES;
        if fits && text.chars().all(is_plain) { Ok(Self(text.into())) } else { Err(text.into()) }
    }
}

impl ProjectSlug {
    /// Computes the slug of the project at `path`, the absolute path as raw bytes.
    ///
    /// The base is the last component, in which every character except ASCII letters, digits, `-` and `_` is replaced by one `-`,
    /// cut to 40. The hash is the low half of FNV-1a (64 bit) over the whole path, so that folders of one name in different places
    /// get different slugs.
    ///
    /// ```
    /// use saddlebag::store::ProjectSlug;
    ///
    /// assert_eq!(ProjectSlug::from_path(b"/home/u/work/api").as_str(), "api-0db23a34");
    /// ```
    pub fn from_path(path: &[u8]) -> Self {
        let base: String = last_component(path)
            .unwrap_or(ROOT)
            .chars()
            .take(MAX_BASE_CHARS)
            .map(|c| if is_plain(c) { c } else { '-' })
            .collect();
        Self(format!("{base}-{:08x}", fnv_1a(path) & 0xffff_ffff))
    }

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectSlug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Returns the last component of a Unix path. Trailing slashes and `.` do not count.
fn last_component(path: &[u8]) -> Option<&str> {
    let mut parts = path.split(|&byte| byte == b'/').rev().filter(|part| !part.is_empty() && *part != b".");
    match parts.next() {
        None | Some(b"..") => None,
        Some(part) => core::str::from_utf8(part).ok(),
    }
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_those_of_the_original() {
        let long = format!("/home/u/{}", "x".repeat(60));
        let long_slug = format!("{}-022efcb6", "x".repeat(40));
        for (path, slug) in [
            ("/home/u/work/api", "api-0db23a34"),
            ("/home/u/other/api", "api-2481712b"),
            ("/", "root-860189fe"),
            ("/home/u/my repo", "my-repo-9a60bee4"),
            ("/home/u/.dotfiles", "-dotfiles-c47ec126"),
            ("/home/u/café", "caf--82e25e24"),
            ("/home/u/日本", "---f54d7c32"),
            ("/home/u/a_b-c.d", "a_b-c-d-975758a2"),
            ("/home/u/work/api/", "api-45d8bbe1"),
            (&long, &long_slug),
            ("/home/u/..", "root-5698ad52"),
            ("C:\\x\\y", "C--x-y-7946acfb"),
        ] {
            assert_eq!(ProjectSlug::from_path(path.as_bytes()).as_str(), slug, "{path}");
        }
        assert!(ProjectSlug::from_path(b"/home/\xff").as_str().starts_with("root-"));
    }

    #[test]
    fn a_slug_is_one_safe_segment() {
        assert!(ProjectSlug::from_str("proj").is_ok());
        for bad in ["", "..", "a/b", "a.b", "a b"] {
            assert!(ProjectSlug::from_str(bad).is_err(), "{bad:?}");
        }
    }
}
