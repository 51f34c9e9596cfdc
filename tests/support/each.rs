//! The cases of a test in a loop: a test that fails says at which of them.

use std::fmt::Debug;
use std::thread;

/// Goes through seeds, crashes or other cases of one test, as in `for seed in each("seed", 0..24)`.
///
/// If the test panics in the loop, wherever that is, stderr says at which case it was.
pub fn each<I>(name: &'static str, cases: I) -> Each<I::IntoIter>
where
    I: IntoIterator,
    I::Item: Clone + Debug,
{
    Each { name, cases: cases.into_iter(), current: None }
}

pub struct Each<I: Iterator<Item: Debug>> {
    name: &'static str,
    cases: I,
    current: Option<I::Item>,
}

impl<I: Iterator<Item: Clone + Debug>> Iterator for Each<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.current = self.cases.next();
        self.current.clone()
    }
}

impl<I: Iterator<Item: Debug>> Drop for Each<I> {
    #[allow(clippy::print_stderr, reason = "the output of a test that fails is shown")]
    fn drop(&mut self) {
        if let Some(case) = self.current.as_ref().filter(|_| thread::panicking()) {
            eprintln!("it fails at {} {case:?}", self.name);
        }
    }
}
