//! [`Content`]: the amount of text that is shown.

use saddlebag_collections::words;

use super::types::Place;

/// Amount of text and bytes that canonical JSON shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Everything.
    Whole,
    /// Everything except secrets. Text with secrets is `{"redacted": text}`, with the names of the rules in place of
    /// the secrets. Bytes that are not text are `{"left-out": length}` if they have a secret. So are parts of the
    /// index, which has the words of every file.
    WithoutSecrets,
}

words!(Content, "content of a trace" { Whole = "whole", WithoutSecrets = "without-secrets" });

/// Fields that are never written, whatever is shown: keys that the host keeps.
const NEVER_WRITTEN: [(&str, &str, &str); 1] = [("config", "Config", "secret")];

/// Returns true for a field whose value is never written.
pub(super) fn is_never_written(place: &Place) -> bool {
    NEVER_WRITTEN.contains(&(place.interface, place.owner, place.member))
}
