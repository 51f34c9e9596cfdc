//! [`Glob`]: patterns for paths, as configurations of notebooks write them.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The longest pattern, in bytes.
pub const MAX_GLOB_BYTES: usize = 1_024;

/// The greatest depth of nested alternatives.
const MAX_DEPTH: u32 = 16;

/// A pattern that a whole path is held against, in time linear in the path.
///
/// `*` is any part of one segment, `?` one character of it, `**` any number of whole segments,
/// `[a-z]`, `[^a-z]` and `[!a-z]` one character of a set, `{a,b}` one of several patterns; `\` takes
/// the meaning from the character behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    program: Vec<Step>,
}

/// One step of a pattern. The numbers are places in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// This character.
    Literal(char),
    /// Any character but `/`.
    InSegment,
    /// Any character.
    Anything,
    /// A character in one of the ranges, or in none of them; never `/`.
    Set { ranges: Vec<(char, char)>, negated: bool },
    /// Goes on at both places.
    Fork(usize, usize),
    /// Goes on there.
    Jump(usize),
    /// The pattern ends.
    End,
}

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The problem, in words: a bracket without its end, alternatives nested too deep, too long.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_GLOB_BYTES {
            return Err(format!("pattern of {} bytes, the limit is {MAX_GLOB_BYTES}", pattern.len()));
        }
        let mut parser = Parser { chars: pattern.chars().collect(), at: 0, program: Vec::new() };
        parser.sequence(0)?;
        parser.program.push(Step::End);
        Ok(Self { program: parser.program })
    }

    /// Returns true if the whole of `path` fits.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let mut current = States::new(self.program.len());
        let mut next = States::new(self.program.len());
        self.enter(0, &mut current);
        for c in path.chars() {
            next.clear();
            for &at in &current.list {
                let taken = match self.program.get(at) {
                    Some(Step::Literal(expected)) => c == *expected,
                    Some(Step::InSegment) => c != '/',
                    Some(Step::Anything) => true,
                    Some(Step::Set { ranges, negated }) => {
                        c != '/' && ranges.iter().any(|&(from, to)| (from..=to).contains(&c)) != *negated
                    }
                    _ => false,
                };
                if taken {
                    self.enter(at + 1, &mut next);
                }
            }
            core::mem::swap(&mut current, &mut next);
            if current.list.is_empty() {
                return false;
            }
        }
        current.list.iter().any(|&at| self.program.get(at) == Some(&Step::End))
    }

    /// Adds the place and those that it leads to without a character.
    fn enter(&self, at: usize, states: &mut States) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if !states.add(at) {
                continue;
            }
            match self.program.get(at) {
                Some(&Step::Fork(a, b)) => open.extend([a, b]),
                Some(&Step::Jump(to)) => open.push(to),
                _ => {}
            }
        }
    }
}

/// A set of places.
struct States {
    list: Vec<usize>,
    has: Vec<bool>,
}

impl States {
    fn new(size: usize) -> Self {
        Self { list: Vec::new(), has: vec![false; size] }
    }

    fn add(&mut self, at: usize) -> bool {
        match self.has.get_mut(at) {
            Some(has) if !*has => {
                *has = true;
                self.list.push(at);
                true
            }
            _ => false,
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.has.fill(false);
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    program: Vec<Step>,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Up to the end, or inside of alternatives up to the `,` or `}` that ends this one.
    fn sequence(&mut self, depth: u32) -> Result<(), String> {
        while let Some(c) = self.peek() {
            if depth > 0 && matches!(c, ',' | '}') {
                return Ok(());
            }
            self.at += 1;
            match c {
                '*' if self.peek() == Some('*') => self.stars(),
                '*' => self.repeat(Step::InSegment),
                '?' => self.program.push(Step::InSegment),
                '[' => self.set()?,
                '{' => self.alternatives(depth + 1)?,
                '\\' => {
                    let literal = self.peek().ok_or("a `\\` with nothing behind it")?;
                    self.at += 1;
                    self.program.push(Step::Literal(literal));
                }
                _ => self.program.push(Step::Literal(c)),
            }
        }
        Ok(())
    }

    /// Two or more stars: whole segments where they stand alone between slashes, else as one star.
    fn stars(&mut self) {
        let first = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let begins = first == 0 || matches!(self.chars.get(first - 1), Some('/' | '{' | ','));
        match self.peek() {
            // Any number of `segment/`, none included.
            Some('/') if begins => {
                self.at += 1;
                let start = self.program.len();
                self.program.push(Step::Fork(start + 1, start + 5));
                self.repeat(Step::Anything);
                self.program.push(Step::Literal('/'));
            }
            None | Some(',' | '}') if begins => self.repeat(Step::Anything),
            _ => self.repeat(Step::InSegment),
        }
    }

    /// The step, any number of times.
    fn repeat(&mut self, step: Step) {
        let start = self.program.len();
        self.program.push(Step::Fork(start + 1, start + 3));
        self.program.push(step);
        self.program.push(Step::Jump(start));
    }

    /// Behind a `[`.
    fn set(&mut self) -> Result<(), String> {
        let mut ranges = Vec::new();
        let negated = matches!(self.peek(), Some('^' | '!'));
        self.at += usize::from(negated);
        let mut first = true;
        loop {
            let from = match self.next_of_set()? {
                (']', false) if !first => break,
                (c, _) => c,
            };
            first = false;
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|&c| c != ']');
            let to = if is_range {
                self.at += 1;
                self.next_of_set()?.0
            } else {
                from
            };
            ranges.push((from, to));
        }
        self.program.push(Step::Set { ranges, negated });
        Ok(())
    }

    /// A character of a set, and whether it was escaped.
    fn next_of_set(&mut self) -> Result<(char, bool), String> {
        let unclosed = || String::from("a `[` without its `]`");
        let c = self.peek().ok_or_else(unclosed)?;
        self.at += 1;
        if c != '\\' {
            return Ok((c, false));
        }
        let literal = self.peek().ok_or_else(unclosed)?;
        self.at += 1;
        Ok((literal, true))
    }

    /// Behind a `{`.
    fn alternatives(&mut self, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("`{{` nested more than {MAX_DEPTH} deep"));
        }
        let mut ends = Vec::new();
        loop {
            let fork = self.program.len();
            self.program.push(Step::End);
            self.sequence(depth)?;
            let end = self.peek().ok_or("a `{` without its `}`")?;
            self.at += 1;
            if end == '}' {
                // The last of them has nothing beside it.
                self.place(fork, Step::Jump(fork + 1));
                break;
            }
            ends.push(self.program.len());
            self.program.push(Step::End);
            self.place(fork, Step::Fork(fork + 1, self.program.len()));
        }
        let behind = self.program.len();
        for end in ends {
            self.place(end, Step::Jump(behind));
        }
        Ok(())
    }

    fn place(&mut self, at: usize, step: Step) {
        if let Some(place) = self.program.get_mut(at) {
            *place = step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Glob::parse(pattern).expect("valid").matches(path)
    }

    #[test]
    fn a_pattern_fits_as_doublestar_has_it() {
        for (pattern, path) in [
            ("facts", "facts"),
            ("*.md", "a.md"),
            ("**/*.md", "a.md"),
            ("**/*.md", "a/b/c.md"),
            ("journal/**", "journal/2026/01.md"),
            ("a/**/z", "a/z"),
            ("a/**/z", "a/b/c/z"),
            ("?.md", "日.md"),
            ("[a-c]x", "bx"),
            ("[^a-c]x", "dx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("[a-]", "-"),
            ("{facts,dec*}/x", "decisions/x"),
            ("{a,{b,c}d}", "cd"),
            ("x{,y}", "x"),
            ("{**/a,b}", "x/a"),
            ("\\*", "*"),
            ("", ""),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_fits_the_whole_path_alone() {
        for (pattern, path) in [
            ("facts", "facts/a"),
            ("*.md", "a/b.md"),
            ("a/**/z", "az"),
            ("a**z", "a/z"),
            ("?", "/"),
            ("[^a]", "/"),
            ("[a-c]x", "dx"),
            ("{a,b}", "ab"),
            ("\\*", "x"),
            ("**/a", "ba"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_said() {
        for (pattern, message) in [
            ("[a", "a `[` without its `]`"),
            ("{a,b", "a `{` without its `}`"),
            ("a\\", "a `\\` with nothing behind it"),
        ] {
            assert_eq!(Glob::parse(pattern).expect_err("invalid"), message);
        }
        assert!(Glob::parse(&"{".repeat(100)).is_err());
        assert!(Glob::parse(&"x".repeat(2_000)).is_err());
    }

    #[test]
    fn stars_do_not_explode() {
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(4_000)));
        assert!(!matches(&format!("{}b", "**/".repeat(200)), &"a/".repeat(1_000)));
    }
}
