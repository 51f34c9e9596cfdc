//! [`Mark`]: place and digests in the source of an adopted entry.

use sha2::{Digest as _, Sha256};

use super::checks::MAX_SOURCE_BYTES;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value, set_field, tail, yaml_scalar};

/// Key of the frontmatter that holds the summary of an entry.
pub(super) const SUMMARY_FIELD: &str = "summary";

/// Parsed source of an adopted entry.
pub(super) struct Mark<'a> {
    pub(super) origin: &'a str,
    pub(super) line: u32,
    pub(super) digest: &'a str,
}

impl<'a> Mark<'a> {
    pub(super) fn from_source(source: &'a str) -> Option<Self> {
        let (place, digest) = source.strip_prefix("import:")?.rsplit_once(" #")?;
        let (origin, line) = place.rsplit_once(':')?;
        Some(Self { origin, line: line.parse().ok()?, digest })
    }

    pub(super) fn source(&self) -> String {
        let Self { origin, line, digest } = self;
        format!("import:{origin}:{line} #{digest}")
    }

    /// Returns text that is equal for two marks that differ only in the line.
    pub(super) fn text(&self) -> String {
        format!("{} {}", self.digest, self.origin)
    }
}

/// Returns true if a source is the mark of an import.
pub(crate) fn is_mark(source: &str) -> bool {
    Mark::from_source(source).is_some()
}

/// Returns format and file. Only the end of a long path is kept.
pub(super) fn place(format: &str, origin: &str, path: &str) -> String {
    let separator = if origin.is_empty() || path.is_empty() || origin.ends_with('/') { "" } else { "/" };
    let whole: String = format!("{origin}{separator}{path}");
    let plain: String = whole.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // The source also holds `import:`, a space, `:4294967295 #` and a digest.
    let room = MAX_SOURCE_BYTES - 7 - format.len() - 1 - 13 - 16;
    if plain.len() <= room {
        return format!("{format} {plain}");
    }
    format!("{format} {}~{}", hash(&[&whole], 4), tail(&plain, room - 9))
}

/// Returns a digest of an entry's text.
pub(super) fn digest(category: &str, tags: &[String], content: &str, summary: Option<&str>) -> String {
    let count = tags.len().to_string();
    let mut parts: Vec<&str> = [category, content, summary.unwrap_or_default(), &count].to_vec();
    parts.extend(tags.iter().map(String::as_str));
    hash(&parts, 8)
}

/// Returns the first bytes of the SHA-256 of the given text, in hexadecimal.
pub(crate) fn hash(parts: &[&str], bytes: usize) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn summary_of(frontmatter: &Frontmatter) -> Option<String> {
    frontmatter.value(SUMMARY_FIELD).and_then(Value::text).filter(|text| !text.is_empty())
}

pub(super) fn with_summary(text: String, summary: Option<&str>) -> String {
    let Some(summary) = summary else { return text };
    set_field(&text, SUMMARY_FIELD, &yaml_scalar(summary))
}
