//! [`Mark`]: what the source of an adopted entry says of where it came from, and the digests in it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

use super::checks::MAX_SOURCE_BYTES;
use crate::document::{Frontmatter, Note, Value, set_field, tail, yaml_scalar};

/// The key of the frontmatter with what an entry is about in one line.
pub(super) const SUMMARY_FIELD: &str = "summary";

/// What the source of an adopted entry says.
pub(super) struct Mark<'a> {
    pub(super) origin: &'a str,
    pub(super) line: u32,
    pub(super) digest: &'a str,
}

impl<'a> Mark<'a> {
    pub(super) fn of(source: &'a str) -> Option<Self> {
        let (place, digest) = source.strip_prefix("import:")?.rsplit_once(" #")?;
        let (origin, line) = place.rsplit_once(':')?;
        Some(Self { origin, line: line.parse().ok()?, digest })
    }

    pub(super) fn source(&self) -> String {
        let Self { origin, line, digest } = self;
        format!("import:{origin}:{line} #{digest}")
    }

    /// The same for two marks that differ in nothing but the line.
    pub(super) fn text(&self) -> String {
        format!("{} {}", self.digest, self.origin)
    }
}

/// Whether a source is the mark of an import.
pub(crate) fn is_mark(source: &str) -> bool {
    Mark::of(source).is_some()
}

/// The format, and the file below where it comes from; of a long path the end.
pub(super) fn place(format: &str, origin: &str, path: &str) -> String {
    let separator = if origin.is_empty() || path.is_empty() || origin.ends_with('/') { "" } else { "/" };
    let whole: String = format!("{origin}{separator}{path}");
    let plain: String = whole.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // `import:`, a space, `:4294967295 #` and a digest come on top.
    let room = MAX_SOURCE_BYTES - 7 - format.len() - 1 - 13 - 16;
    if plain.len() <= room {
        return format!("{format} {plain}");
    }
    format!("{format} {}~{}", hash(&[&whole], 4), tail(&plain, room - 9))
}

/// Tells what an entry says from anything else.
pub(super) fn digest(category: &str, tags: &[String], content: &str, summary: Option<&str>) -> String {
    let count = tags.len().to_string();
    let mut parts: Vec<&str> = [category, content, summary.unwrap_or_default(), &count].to_vec();
    parts.extend(tags.iter().map(String::as_str));
    hash(&parts, 8)
}

/// The first bytes of the SHA-256 of texts, as hexadecimal digits.
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
    let note = Note { frontmatter: Frontmatter::parse(&text), ..Note::default() };
    set_field(&text, &note, SUMMARY_FIELD, &yaml_scalar(summary))
}
