//! The tokens that a block takes from a conversation.

use crate::trust::estimate_tokens;

/// Returns the number of tokens to reserve beside a conversation: `base` and the block.
#[must_use]
pub fn effective_reserve(base: u64, block: Option<&str>) -> u64 {
    base.saturating_add(block.map_or(0, estimate_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn the_reserve_grows_by_the_block() {
        assert_eq!(effective_reserve(1000, None), 1000);
        assert_eq!(effective_reserve(1000, Some(&String::from("x").repeat(400))), 1100);
        assert_eq!(effective_reserve(u64::MAX, Some("x")), u64::MAX);
    }
}
