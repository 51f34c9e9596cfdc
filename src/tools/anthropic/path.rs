//! [`MemoryPath`]: a path below `/memories`, as a model writes it.

use super::super::arguments::shown;
use crate::store::is_hidden;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Root of all paths of the tool.
pub(super) const ROOT: &str = "/memories";
/// Name of the folder below `/memories` that holds the entries.
pub(super) const ENTRIES: &str = "entries";

/// Maximum length of a path in bytes, as in Anthropic's own stores.
const MAX_PATH_BYTES: usize = 1_024;

/// A path that stays in `/memories`: no `.` or `..`, no empty, hidden or escaped segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryPath {
    /// Path as the model wrote it.
    pub(super) typed: String,
    /// Segments below `/memories`; empty for the folder itself.
    pub(super) segments: Vec<String>,
}

impl MemoryPath {
    /// Parses a path. A trailing `/` has no effect.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let below = text.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/'));
        let Some(below) = below else {
            if text.starts_with(ROOT) {
                // The reference tool compares letters only at this point, and answers that the path does not exist.
                let missing = format!("The path {} does not exist. Please provide a valid path.", shown(text));
                return Err(exactly(missing));
            }
            return Err(exactly(format!("Path must start with {ROOT}, got: {}", shown(text))));
        };
        if text.len() > MAX_PATH_BYTES {
            return Err(exactly(format!("Path has {} bytes, the limit is {MAX_PATH_BYTES}", text.len())));
        }
        let below = below.strip_prefix('/').unwrap_or_default();
        let below = below.strip_suffix('/').unwrap_or(below);
        let segments: Vec<&str> = if below.is_empty() { Vec::new() } else { below.split('/').collect() };
        // Names of entries are percent-encoded by our own rule and are never decoded into a path.
        let is_entry = segments.first() == Some(&ENTRIES);
        for segment in &segments {
            if leaves(segment) || (!is_entry && is_escaped(segment)) {
                return Err(exactly(format!("Path {} would escape {ROOT} directory", shown(text))));
            }
            if let Some(reason) = refused(segment) {
                return Err(exactly(format!("Path {} is refused: {reason}", shown(text))));
            }
        }
        Ok(Self { typed: text.to_string(), segments: segments.into_iter().map(ToString::to_string).collect() })
    }

    pub(super) fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    pub(super) fn top(&self) -> &str {
        self.segments.first().map(String::as_str).unwrap_or_default()
    }

    /// Returns the path relative to `/memories`.
    pub(super) fn below(&self) -> String {
        self.segments.join("/")
    }
}

/// Returns true if a path leads to the folder itself, even by a detour. Commands that would remove it refuse it by
/// name.
pub(super) fn names_root(text: &str) -> bool {
    let Some(below) = text.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/')) else {
        return false;
    };
    let mut depth = 0_usize;
    for segment in below.split('/') {
        match segment {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    depth == 0
}

fn leaves(segment: &str) -> bool {
    segment == "." || segment == ".." || segment.contains('\\')
}

/// Returns true if a segment has `%2e`, `%2f`, `%5c` or `%25`. Decoded, the first three lead out of a folder; the last
/// one hides a further layer of encoding.
fn is_escaped(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase();
    ["%2e", "%2f", "%5c", "%25", "%00"].iter().any(|escape| lower.contains(escape))
}

fn refused(segment: &str) -> Option<&'static str> {
    if segment.is_empty() {
        Some("one of its names is empty")
    } else if is_hidden(segment) {
        Some("hidden files are not shown")
    } else if segment.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        Some("one of its names has a control character")
    } else if segment.trim() != segment {
        Some("one of its names begins or ends with white space")
    } else if segment.len() > 255 {
        Some("one of its names has more than 255 bytes")
    } else {
        None
    }
}

/// Returns an error that consists of exactly these words, which models know.
pub(super) fn exactly(message: impl Into<String>) -> Error {
    Error::invalid_argument(message, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_stays_in_the_folder_is_valid() {
        for (text, segments) in [
            ("/memories", &[][..]),
            ("/memories/", &[]),
            ("/memories/a.txt", &["a.txt"]),
            ("/memories/x/y/", &["x", "y"]),
            ("/memories/日本.md", &["日本.md"]),
            ("/memories/100%.md", &["100%.md"]),
            ("/memories/entries/core/a%2Fb.md", &["entries", "core", "a%2Fb.md"]),
        ] {
            assert_eq!(MemoryPath::parse(text).unwrap().segments, segments, "{text}");
        }
    }

    /// Paths of Anthropic's tool do not leave the scope.
    #[test]
    fn what_could_leave_it_is_refused() {
        for text in [
            "",
            "/",
            "memories/a",
            "/memoriesZ/q",
            "/etc/passwd",
            "/memories/..",
            "/memories/../a",
            "/memories/a/../../b",
            "/memories/./a",
            "/memories//a",
            "/memories/%2e%2e/a",
            "/memories/%2E%2E%2Fa",
            "/memories/..\\a",
            "/memories/a\\b",
            "/memories/%252e",
            "/memories/a\0b",
            "/memories/a\nb",
            "/memories/.hidden",
            "/memories/ a",
            "/memories/a ",
            "/memories/entries/../a",
        ] {
            assert!(MemoryPath::parse(text).is_err(), "{text:?}");
        }
        assert!(MemoryPath::parse(&format!("/memories/{}", "x/".repeat(600))).is_err());
        assert!(MemoryPath::parse(&format!("/memories/{}", "x".repeat(256))).is_err());
    }

    #[test]
    fn the_folder_itself_is_known_however_it_is_spelt() {
        for text in ["/memories", "/memories/", "/memories/.", "/memories//", "/memories/x/..", "/memories/x/./.."] {
            assert!(names_root(text), "{text}");
        }
        for text in ["/memories/x", "/memories/..", "/memories/../memories", "/memoriesZ", "/"] {
            assert!(!names_root(text), "{text}");
        }
    }
}
