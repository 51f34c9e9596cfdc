//! [`Glob`]: a pattern for paths in the configuration of a notebook.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;

/// Maximum length of a pattern in bytes.
pub const MAX_GLOB_BYTES: usize = 1_024;

/// Maximum depth of nested alternatives.
const MAX_DEPTH: u32 = 16;

/// A pattern that must match a whole path, in time linear in the path.
///
/// `*` is any part of one segment, `?` one character of it, `**` any number of whole segments, `[a-z]`, `[^a-z]` and
/// `[!a-z]` one character of a set, `{a,b}` one of several patterns; `\` escapes the character after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    program: Vec<Step>,
}

/// One step of a pattern. Numbers are positions in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Exactly this character.
    Literal(char),
    /// Any character except `/`.
    InSegment,
    /// Any character.
    Anything,
    /// A character in one of the ranges, or outside of all of them; never `/`.
    Set { ranges: Vec<(char, char)>, negated: bool },
    /// Continues at both positions.
    Fork(usize, usize),
    /// Continues at this position.
    Jump(usize),
    /// End of the pattern.
    End,
}

impl FromStr for Glob {
    type Err = String;

    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The problem in words: a bracket without its end, alternatives nested too deep, a pattern that is too long.
    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        if pattern.len() > MAX_GLOB_BYTES {
            return Err(format!("the pattern has {} bytes, the limit is {MAX_GLOB_BYTES}", pattern.len()));
        }
        let mut parser = Parser { chars: pattern.chars().collect(), at: 0, program: Vec::new() };
        parser.sequence(0)?;
        parser.program.push(Step::End);
        Ok(Self { program: parser.program })
    }
}

impl Glob {
    /// Returns true if the whole of `path` matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        // Most paths differ from the plain text at the beginning of a pattern.
        let (mut start, mut chars) = (0, path.chars());
        while let Some(Step::Literal(expected)) = self.program.get(start) {
            if chars.next() != Some(*expected) {
                return false;
            }
            start += 1;
        }
        let mut current = States::new(self.program.len());
        let mut next = States::new(self.program.len());
        self.enter(start, &mut current);
        for c in chars {
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

    /// Adds the position, and those that it leads to without reading a character.
    fn enter(&self, at: usize, states: &mut States) {
        let mut at = at;
        loop {
            let step = if states.add(at) { self.program.get(at) } else { None };
            at = match step {
                Some(&Step::Fork(first, second)) => {
                    states.open.push(second);
                    first
                }
                Some(&Step::Jump(to)) => to,
                _ => match states.open.pop() {
                    Some(at) => at,
                    None => return,
                },
            };
        }
    }
}

/// A set of positions.
struct States {
    list: Vec<usize>,
    has: Vec<bool>,
    /// Positions that were not entered yet; empty except while positions are added.
    open: Vec<usize>,
}

impl States {
    fn new(size: usize) -> Self {
        Self { list: Vec::new(), has: vec![false; size], open: Vec::new() }
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

    /// Parses up to the end, or inside of alternatives up to the `,` or `}` that ends the current one.
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
                    let literal = self.peek().ok_or("a `\\` with nothing after it")?;
                    self.at += 1;
                    self.program.push(Step::Literal(literal));
                }
                _ => self.program.push(Step::Literal(c)),
            }
        }
        Ok(())
    }

    /// Parses two or more stars. They match whole segments if they are alone between slashes, else they count as one
    /// star.
    fn stars(&mut self) {
        let first = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let begins = first == 0 || matches!(self.chars.get(first - 1), Some('/' | '{' | ','));
        match self.peek() {
            // Any number of `segment/`, zero included.
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

    /// Adds the step, repeated any number of times.
    fn repeat(&mut self, step: Step) {
        let start = self.program.len();
        self.program.push(Step::Fork(start + 1, start + 3));
        self.program.push(step);
        self.program.push(Step::Jump(start));
    }

    /// Parses a set, after its `[`.
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

    /// Returns the next character of a set, and true if it was escaped.
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

    /// Parses alternatives, after their `{`.
    fn alternatives(&mut self, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("`{{` nested more than {MAX_DEPTH} levels deep"));
        }
        let mut ends = Vec::new();
        loop {
            let fork = self.program.len();
            self.program.push(Step::End);
            self.sequence(depth)?;
            let end = self.peek().ok_or("a `{` without its `}`")?;
            self.at += 1;
            if end == '}' {
                // The last alternative needs no fork.
                self.place(fork, Step::Jump(fork + 1));
                break;
            }
            ends.push(self.program.len());
            self.program.push(Step::End);
            self.place(fork, Step::Fork(fork + 1, self.program.len()));
        }
        let after = self.program.len();
        for end in ends {
            self.place(end, Step::Jump(after));
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
        Glob::from_str(pattern).expect("valid").matches(path)
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
    fn an_invalid_pattern_has_a_reason() {
        for (pattern, message) in [
            ("[a", "a `[` without its `]`"),
            ("{a,b", "a `{` without its `}`"),
            ("a\\", "a `\\` with nothing after it"),
        ] {
            assert_eq!(Glob::from_str(pattern).expect_err("invalid"), message);
        }
        assert!(Glob::from_str(&"{".repeat(100)).is_err());
        assert!(Glob::from_str(&"x".repeat(2_000)).is_err());
    }

    #[test]
    fn stars_do_not_explode() {
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(4_000)));
        assert!(!matches(&format!("{}b", "**/".repeat(200)), &"a/".repeat(1_000)));
    }
}
