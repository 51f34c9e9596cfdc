//! Tests of each rule, and of random inputs.

mod contents;
mod differences;
mod lines;
mod merges;
mod timeline;

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

/// Texts of few different lines, so that they have much in common. The last line may have no end.
fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => proptest::sample::select(vec!["a", "b", "c", "", "# Plan", "- [ ] Buy bread"]),
        1 => Just("ä日本"),
    ];
    (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, has_end)| {
        let text = lines.join("\n");
        if has_end && !text.is_empty() { text + "\n" } else { text }
    })
}

/// Any bytes, or a text.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => texts().prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..200),
        1 => proptest::collection::vec(proptest::sample::select(vec![b'a', b'\n']), 0..60),
    ]
}

/// Numbers that look random and are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}
