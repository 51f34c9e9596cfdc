//! [`Words`]: whether a paragraph is an edit of another one.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The words of a paragraph.
pub(crate) struct Words {
    sorted: Vec<String>,
}

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let mut sorted = words(text);
        sorted.sort_unstable();
        Self { sorted }
    }

    /// Returns how similar two paragraphs are, in thousandths of their words; `None` if neither is an edit of the other, because
    /// fewer than three in five of their words are the same.
    pub(crate) fn similarity(&self, other: &Self) -> Option<usize> {
        let (mut one, mut two) = (self.sorted.iter().peekable(), other.sorted.iter().peekable());
        let mut common = 0;
        while let (Some(left), Some(right)) = (one.peek(), two.peek()) {
            match left.cmp(right) {
                Ordering::Less => drop(one.next()),
                Ordering::Greater => drop(two.next()),
                Ordering::Equal => {
                    common += 1;
                    one.next();
                    two.next();
                }
            }
        }
        let all = self.sorted.len() + other.sorted.len();
        (common > 0 && 10 * common >= 3 * all).then(|| 2000 * common / all)
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        // Scripts without spaces: each letter counts as a word.
        if word.chars().all(|letter| letter < '\u{2E80}') {
            words.push(word.to_lowercase());
        } else {
            words.extend(word.chars().map(String::from));
        }
    }
    words
}
