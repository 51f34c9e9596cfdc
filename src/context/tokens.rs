//! Estimates of token counts.

/// Estimates the tokens of a text: wide characters at nine tenths each, the others at a quarter, at
/// least 1.
///
/// ```
/// assert_eq!(saddlebag::context::estimate_tokens("abcd"), 1);
/// assert_eq!(saddlebag::context::estimate_tokens("今天天氣很好真開心"), 8);
/// ```
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    let (wide, narrow) = text
        .chars()
        .fold((0_u64, 0_u64), |(wide, narrow), c| if is_wide(c) { (wide + 1, narrow) } else { (wide, narrow + 1) });
    (wide * 9 / 10 + narrow / 4).max(1)
}

/// Returns the number of tokens to reserve beside a conversation: `base` and the block.
#[must_use]
pub fn effective_reserve(base: u64, block: Option<&str>) -> u64 {
    base.saturating_add(block.map_or(0, estimate_tokens))
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x9fff | 0xa000..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff00..=0xffef
        | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn estimates_are_those_of_the_original() {
        let cases: [(&str, u64); 8] = [
            ("", 1),
            ("abcd", 1),
            (&"x".repeat(100), 25),
            ("今天天氣很好真開心", 8),
            ("ab今", 1),
            ("éééééééé", 2),
            ("가나다라", 3),
            ("🙂🙂🙂🙂", 1),
        ];
        for (text, tokens) in cases {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn the_reserve_grows_by_the_block() {
        assert_eq!(effective_reserve(1000, None), 1000);
        assert_eq!(effective_reserve(1000, Some(&String::from("x").repeat(400))), 1100);
        assert_eq!(effective_reserve(u64::MAX, Some("x")), u64::MAX);
    }
}
