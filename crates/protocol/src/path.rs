//! [`RelPath`]: the only way to name a file.

use core::fmt;
use saddlebag_collections::prelude::*;

/// Maximum length of a segment in bytes: the limit of common file systems for one name.
pub const MAX_SEGMENT_BYTES: usize = 255;

/// Maximum length of a path in bytes.
pub const MAX_PATH_BYTES: usize = 4096;

/// A path relative to the root of a store: `/`-separated, never absolute, never with `..`.
///
/// A value of this type is always valid: every segment is non-empty, at most [`MAX_SEGMENT_BYTES`] long, neither `.` nor `..`,
/// and free of `\`, NUL and control characters. Both sides of the contract parse paths into it; neither trusts the other.
///
/// ```
/// use saddlebag_protocol::RelPath;
///
/// let path = RelPath::new("projects/api/notes/auth.md")?;
/// assert_eq!(path.file_name(), "auth.md");
/// assert!(RelPath::new("../etc/passwd").is_err());
/// # Ok::<(), saddlebag_protocol::PathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

impl core::borrow::Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Reason why text is not a [`RelPath`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The path is empty, or has two slashes in a row, or one at an end.
    #[error("path has an empty segment (paths are relative, without a leading or trailing slash)")]
    EmptySegment,
    /// A segment is `.` or `..`.
    #[error("path has the segment `{0}`, which would leave its folder")]
    DotSegment(&'static str),
    /// A segment holds `\`, NUL or another control character.
    #[error("path has the forbidden character U+{:04X}", u32::from(*.0))]
    ForbiddenCharacter(char),
    /// A segment is longer than [`MAX_SEGMENT_BYTES`].
    #[error("path has a segment of {0} bytes, the limit is {MAX_SEGMENT_BYTES}")]
    SegmentTooLong(usize),
    /// The path is longer than [`MAX_PATH_BYTES`].
    #[error("path has {0} bytes, the limit is {MAX_PATH_BYTES}")]
    PathTooLong(usize),
}

impl RelPath {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// The first rule that `text` violates, from left to right.
    pub fn new(text: impl Into<String>) -> Result<Self, PathError> {
        let text = text.into();
        Self::check(&text)?;
        Ok(Self(text))
    }

    /// Checks that `text` is a path, without keeping it.
    ///
    /// # Errors
    ///
    /// Those of [`RelPath::new`].
    pub fn check(text: &str) -> Result<(), PathError> {
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::PathTooLong(text.len()));
        }
        text.split('/').try_for_each(check_segment)
    }

    /// Returns this path with one more segment.
    ///
    /// # Errors
    ///
    /// Those of [`RelPath::new`]: `name` must be a valid segment.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        check_segment(name)?;
        if name.contains('/') {
            return Err(PathError::ForbiddenCharacter('/'));
        }
        Self::new(format!("{}/{name}", self.0))
    }

    /// Returns the path as a `String`.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the segments, outermost first; at least one.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the last segment without its extension: `auth` for `notes/auth.md`.
    pub fn file_stem(&self) -> &str {
        let name = self.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// Returns the folder of the file; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Returns true if the path is in `folder`, at any depth.
    pub fn is_below(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns true if the file is directly in `folder` (`None` for the root).
    pub fn is_child_of(&self, folder: Option<&Self>) -> bool {
        match (folder, self.0.rsplit_once('/')) {
            (None, None) => true,
            (Some(folder), Some((parent, _))) => parent == folder.0,
            _ => false,
        }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

fn check_segment(segment: &str) -> Result<(), PathError> {
    match segment {
        "" => return Err(PathError::EmptySegment),
        "." => return Err(PathError::DotSegment(".")),
        ".." => return Err(PathError::DotSegment("..")),
        _ => {}
    }
    if let Some(bad) = segment.chars().find(|&c| c == '\\' || c.is_control()) {
        return Err(PathError::ForbiddenCharacter(bad));
    }
    if segment.len() > MAX_SEGMENT_BYTES {
        return Err(PathError::SegmentTooLong(segment.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_of_every_script() {
        for text in ["a", "a/b", "projects/caf--82e25e24/notes/日本.md", "a b/-rf", "...", ".zk/config.toml"] {
            assert_eq!(RelPath::new(text).map(|p| p.to_string()), Ok(text.to_string()));
        }
    }

    #[test]
    fn refuses_what_could_leave_the_root() {
        for text in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\\b", "a\0b", "a\nb", "\u{85}"] {
            assert!(RelPath::new(text).is_err(), "{text:?}");
        }
        assert_eq!(RelPath::new("x".repeat(256)), Err(PathError::SegmentTooLong(256)));
        assert_eq!(RelPath::new("x/".repeat(2049)), Err(PathError::PathTooLong(4098)));
    }

    #[test]
    fn join_takes_one_segment() {
        let folder = RelPath::new("notes").expect("valid");
        assert_eq!(folder.join("a.md").map(|p| p.to_string()), Ok("notes/a.md".to_string()));
        assert!(folder.join("a/b").is_err());
        assert!(folder.join("..").is_err());
    }

    #[test]
    fn a_child_is_directly_in_its_folder() {
        let path = RelPath::new("notes/sub/a.md").expect("valid");
        assert!(path.is_child_of(RelPath::new("notes/sub").ok().as_ref()));
        assert!(!path.is_child_of(RelPath::new("notes").ok().as_ref()));
        assert!(!path.is_child_of(None));
        assert_eq!(path.file_stem(), "a");
    }
}
