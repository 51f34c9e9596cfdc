//! [`Approved`]: text of the store that may go into a prompt.

use super::provenance::{Provenance, TrustState};
use saddlebag_collections::prelude::*;

/// Text of the store that may go into a prompt.
///
/// Prompts take stored text in this type alone. It is made by judging the text of a file, and then is this text, a part or
/// another form of it, or several such texts together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Approved(String);

impl Approved {
    /// Judges the text of a whole file.
    ///
    /// # Errors
    ///
    /// The provenance that keeps it out of prompts.
    pub(crate) fn judge(text: String) -> Result<Self, Provenance> {
        Self::with_state(TrustState::from_text(&text), text)
    }

    /// Judges a part of a file that is too large to be read whole, by the start of the same version of the file.
    ///
    /// # Errors
    ///
    /// As for [`judge`](Self::judge).
    pub(crate) fn judge_part(start: &[u8], part: String) -> Result<Self, Provenance> {
        let start = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Self::with_state(TrustState::from_start(start), part)
    }

    /// Judges text that was parsed from a file together with its record.
    ///
    /// # Errors
    ///
    /// As for [`judge`](Self::judge).
    pub(crate) fn with_state(state: TrustState, text: String) -> Result<Self, Provenance> {
        state.unapproved().map_or(Ok(Self(text)), Err)
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a part or another form of the text.
    pub(crate) fn map(&self, form: impl FnOnce(&str) -> String) -> Self {
        Self(form(&self.0))
    }

    /// Appends other such text.
    pub(crate) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Appends our own text.
    pub(crate) fn push_ours(&mut self, ours: &'static str) {
        self.0.push_str(ours);
    }
}

impl From<&'static str> for Approved {
    fn from(ours: &'static str) -> Self {
        Self(ours.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_that_may_go_into_a_prompt_is_approved() {
        let judge = |text: &str| Approved::judge(text.into()).map(|text| text.as_str().to_owned());
        for text in ["plain", "---\nprovenance: agent\n---\nx", "---\nprovenance: tool\napproved: 2026-05-25\n---\nx"] {
            assert_eq!(judge(text), Ok(text.to_owned()));
        }
        assert_eq!(judge("---\nprovenance: tool\n---\nx"), Err(Provenance::Tool));
        let part = |start: &str| Approved::judge_part(start.as_bytes(), "the end".into());
        assert_eq!(part("plain").map(|text| text.as_str().to_owned()), Ok("the end".to_owned()));
        for start in ["---\nprovenance: import\n---\nx", "---\ntitle: does not end"] {
            assert_eq!(part(start), Err(Provenance::Imported));
        }
    }
}
