//! Damaged inputs for parsers: samples with flipped, cut, spliced and repeated parts.
//!
//! The same seed gives the same inputs. A test that fails prints its seed, the number of the input, and the input.

use std::ops::Range;

/// Maximum size of an input in bytes.
const MAX_BYTES: usize = 64 << 10;

/// Bytes that formats give a meaning to.
const MARKS: &[u8] = b"\0\n\r\t \"'#&()*,-./:;<=>?@[\\]^`{|}~\x7f\xff\xc3\xe2\x80";

/// Calls `check` with `count` damaged inputs, and with each sample as it is. `PROPTEST_CASES` sets another number.
///
/// # Panics
///
/// If there is no sample.
pub fn each_mutation(seed: u64, samples: &[&[u8]], count: u32, mut check: impl FnMut(&[u8])) {
    let count = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    let mut mutator = Mutator { samples, state: seed | 1 };
    let damaged = (0..count).map(|_| mutator.next_input());
    for (number, input) in samples.iter().map(|sample| sample.to_vec()).chain(damaged).enumerate() {
        let shown = Shown { seed, number, input: &input };
        check(&input);
        drop(shown);
    }
}

/// An input that is printed if the test panics.
struct Shown<'a> {
    seed: u64,
    number: usize,
    input: &'a [u8],
}

impl Drop for Shown<'_> {
    #[allow(clippy::print_stderr, reason = "the output of a test that fails is shown")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, number, input } = self;
            eprintln!("it fails at input {number} of the seed {seed}: b\"{}\"", input.escape_ascii());
        }
    }
}

struct Mutator<'a> {
    samples: &'a [&'a [u8]],
    state: u64,
}

impl<'a> Mutator<'a> {
    fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.sample().to_vec();
        for _ in 0..=self.below(4) {
            self.damage(&mut input);
            input.truncate(MAX_BYTES);
        }
        input
    }

    fn damage(&mut self, input: &mut Vec<u8>) {
        match self.below(7) {
            0 if !input.is_empty() => {
                let at = self.below(input.len());
                input[at] ^= 1 << self.below(8);
            }
            1 if !input.is_empty() => {
                let at = self.below(input.len());
                input[at] = MARKS[self.below(MARKS.len())];
            }
            2 => {
                let cut = self.range(input);
                input.drain(cut);
            }
            3 => {
                let at = self.below(input.len() + 1);
                input.truncate(at);
            }
            4 => {
                let other = self.sample();
                let part = other[self.range(other)].to_vec();
                let at = self.range(input);
                input.splice(at, part);
            }
            5 => {
                let part = input[self.range(input)].to_vec();
                let at = self.below(input.len() + 1);
                let times = 1 + self.below(if part.len() < 9 { 1_000 } else { 4 });
                input.splice(at..at, part.repeat(times));
            }
            _ => {
                let at = self.below(input.len() + 1);
                input.insert(at, MARKS[self.below(MARKS.len())]);
            }
        }
    }

    fn sample(&mut self) -> &'a [u8] {
        self.samples[self.below(self.samples.len())]
    }

    /// Returns a range of the bytes, which is often short.
    fn range(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.below(bytes.len() + 1);
        let rest = bytes.len() - start;
        let length = if self.below(2) == 0 { self.below(rest.min(16) + 1) } else { self.below(rest + 1) };
        start..start + length
    }

    fn below(&mut self, bound: usize) -> usize {
        // The generator xorshift64.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % bound as u64).expect("below the bound")
    }
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let inputs = |seed| {
        let mut inputs = Vec::new();
        each_mutation(seed, &[b"a: [b]\n", b"# Title"], 500, |input| inputs.push(input.to_vec()));
        inputs
    };
    let first = inputs(7);
    assert_eq!(first, inputs(7));
    assert_ne!(first, inputs(9));
    assert!(first.iter().all(|input| input.len() <= MAX_BYTES));
    let different: std::collections::BTreeSet<&Vec<u8>> = first.iter().collect();
    assert!(different.len() > first.len() / 2, "{} of {} inputs are different", different.len(), first.len());
}
