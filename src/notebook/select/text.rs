//! Notes by their text as it stands.

use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem::Finder;

/// Texts that must all occur, whatever the case of ASCII letters.
pub(super) struct Exact {
    needles: Vec<String>,
}

impl Exact {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self { needles: texts.map(str::to_ascii_lowercase).collect() }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.needles.iter().all(|needle| Finder::new(needle.as_bytes()).find(lower.as_bytes()).is_some())
    }
}
