//! [`Place`]: where in the contract a value is, and the names of `wit/`.

use alloc::format;
use alloc::string::String;

/// The field of the object in the place of a text that was left out: its length in bytes.
pub(super) const LEFT_OUT: &str = "left-out";
/// The field of the object in the place of a text that had secrets: the text without them.
pub(super) const REDACTED: &str = "redacted";

/// A field or a case of the contract, in the spelling of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface, as `agents_md`.
    pub interface: &'static str,
    /// The record or the variant, as `WriteReply`.
    pub owner: &'static str,
    /// The field, as `max_bytes`, or the case, as `LongTerm`.
    pub member: &'static str,
}

impl Place {
    /// In the spelling of `wit/`, as `journal.write-reply.path`.
    #[must_use]
    pub fn in_wit(&self) -> String {
        format!("{}.{}.{}", wit_name(self.interface), wit_name(self.owner), wit_name(self.member))
    }
}

/// A name of the crate as `wit/` spells it: `LongTerm` and `long_term` are `long-term`.
pub(super) fn wit_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        match c {
            '_' => out.push('-'),
            'A'..='Z' => {
                if !out.is_empty() {
                    out.push('-');
                }
                out.push(c.to_ascii_lowercase());
            }
            other => out.push(other),
        }
    }
    out
}
