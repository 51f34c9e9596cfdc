//! [`Place`]: the place of a value in the contract, and the spelling of names in `wit/`.

use saddlebag_collections::prelude::*;

/// A field or a case of the contract, in the spelling of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Interface, such as `agents_md`.
    pub interface: &'static str,
    /// Record or variant, such as `WriteReply`.
    pub owner: &'static str,
    /// Field, such as `max_bytes`, or case, such as `LongTerm`.
    pub member: &'static str,
}

impl Place {
    /// Returns the place in the spelling of `wit/`, such as `journal.write-reply.path`.
    pub fn in_wit(&self) -> String {
        format!("{}.{}.{}", wit_name(self.interface), wit_name(self.owner), wit_name(self.member))
    }
}

/// Returns a name of the crate in the spelling of `wit/`: `LongTerm` and `long_term` become `long-term`.
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
