//! [`Glob`]: a pattern for paths in the configuration of a notebook.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;

/// Maximum length of a pattern in bytes.
pub const MAX_GLOB_BYTES: usize = 1_024;

/// Maximum number of patterns without alternatives that one pattern may mean.
const MAX_PATTERNS: usize = 256;

/// A pattern that must match a whole path, in time linear in the path.
///
/// A pattern with brackets or braces also matches the path that has them. `*` is any part of one segment, `?` one character of it, `**` any number of whole segments, `[a-z]`, `[^a-z]` and
/// `[!a-z]` one character of a set, `{a,b}` one of several patterns; `\` escapes the character after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// Patterns without alternatives, one of which must match.
    patterns: Vec<Vec<Part>>,
}

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Exactly this character.
    Literal(char),
    /// One character except `/`.
    One,
    /// A character in one of the ranges, or outside of all of them; never `/`.
    Set { ranges: Vec<(char, char)>, negated: bool },
    /// Any number of characters except `/`.
    InSegment,
    /// Any number of characters.
    Anything,
    /// Any number of segments, each with a `/` after it.
    Segments,
}

impl FromStr for Glob {
    type Err = String;

    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The problem in words: a bracket without its end, too many alternatives, a pattern that is too long.
    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        if pattern.len() > MAX_GLOB_BYTES {
            return Err(format!("the pattern has {} bytes, the limit is {MAX_GLOB_BYTES}", pattern.len()));
        }
        let mut open: Vec<Vec<char>> = vec![pattern.chars().collect()];
        // A name of a file may have brackets, and a pattern that is a path is meant to match it.
        open.extend(Some(without_sets(pattern)).filter(|literal| literal.len() > pattern.chars().count()));
        let mut patterns = Vec::new();
        while let Some(chars) = open.pop() {
            if open.len() + patterns.len() >= MAX_PATTERNS {
                return Err(format!("it means more than {MAX_PATTERNS} patterns"));
            }
            match alternatives(&chars)? {
                Some(expanded) => open.extend(expanded),
                None => patterns.push(Parser { chars: &chars, at: 0 }.parts()?),
            }
        }
        Ok(Self { patterns })
    }
}

impl Glob {
    /// Returns true if the whole of `path` matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.patterns.iter().any(|parts| fits(parts, path))
    }
}

/// Returns the pattern in which brackets and braces mean themselves.
fn without_sets(pattern: &str) -> Vec<char> {
    let mut literal = Vec::new();
    let mut is_escaped = false;
    for c in pattern.chars() {
        if "[{}".contains(c) && !is_escaped {
            literal.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        literal.push(c);
    }
    literal
}

/// Returns true if the parts match the whole path. All ways to match are followed at once: `open[n]` says that the parts
/// from `n` on may match the rest.
fn fits(parts: &[Part], path: &str) -> bool {
    let mut chars = path.chars();
    let mut start = 0;
    // Most paths differ from the plain text at the beginning of a pattern.
    while let Some(Part::Literal(expected)) = parts.get(start) {
        if chars.next() != Some(*expected) {
            return false;
        }
        start += 1;
    }
    let mut open = vec![false; parts.len() + 1];
    let mut next = open.clone();
    enter(parts, start, &mut open);
    for c in chars {
        next.fill(false);
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| open.get(*at) == Some(&true)) {
            match part {
                Part::Literal(expected) if c == *expected => enter(parts, at + 1, &mut next),
                Part::One if c != '/' => enter(parts, at + 1, &mut next),
                Part::Set { ranges, negated }
                    if c != '/' && ranges.iter().any(|&(from, to)| (from..=to).contains(&c)) != *negated =>
                {
                    enter(parts, at + 1, &mut next);
                }
                Part::InSegment if c != '/' => enter(parts, at, &mut next),
                Part::Anything => enter(parts, at, &mut next),
                Part::Segments => {
                    // A segment that has begun must end before the next part.
                    next.iter_mut().skip(at).take(1).for_each(|open| *open = true);
                    if c == '/' {
                        enter(parts, at + 1, &mut next);
                    }
                }
                _ => {}
            }
        }
        core::mem::swap(&mut open, &mut next);
    }
    open.last() == Some(&true)
}

/// Opens a part, and those that follow if it may match nothing.
fn enter(parts: &[Part], at: usize, open: &mut [bool]) {
    let optional = parts.get(at..).unwrap_or_default().iter();
    let optional = optional.take_while(|part| matches!(part, Part::InSegment | Part::Anything | Part::Segments));
    let last = at + optional.count();
    open.iter_mut().take(last + 1).skip(at).for_each(|open| *open = true);
}

/// Returns the patterns that a pattern with `{a,b}` means, by its first such alternatives; `None` without any.
fn alternatives(chars: &[char]) -> Result<Option<Vec<Vec<char>>>, String> {
    let mut depth = 0;
    // Starts of the alternatives and the end of the last, each with the character before it.
    let mut borders = Vec::new();
    let mut parser = Parser { chars, at: 0 };
    while let Some(c) = parser.next() {
        match c {
            '\\' => parser.at += 1,
            '[' => {
                parser.set()?;
            }
            '{' => {
                depth += 1;
                if depth == 1 {
                    borders.push(parser.at);
                }
            }
            ',' if depth == 1 => borders.push(parser.at),
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    borders.push(parser.at);
                    break;
                }
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a `{` without its `}`".into());
    }
    let (Some(first), Some(last)) = (borders.first(), borders.last()) else { return Ok(None) };
    let (before, after) = (chars.get(..first - 1).unwrap_or_default(), chars.get(*last..).unwrap_or_default());
    let inner = borders.windows(2).map(|border| match border {
        [from, to] => chars.get(*from..to - 1).unwrap_or_default(),
        _ => &[],
    });
    Ok(Some(inner.map(|inner| [before, inner, after].concat()).collect()))
}

/// Pattern without alternatives.
struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn parts(mut self) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.next() {
            parts.push(match c {
                '*' => self.stars(),
                '?' => Part::One,
                '[' => self.set()?,
                '\\' => Part::Literal(self.next().ok_or("a `\\` with nothing after it")?),
                c => Part::Literal(c),
            });
        }
        Ok(parts)
    }

    /// Parses stars, after the first. Two or more match whole segments if they are alone between slashes, else they count
    /// as one star.
    fn stars(&mut self) -> Part {
        let first = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let begins = first == 0 || self.chars.get(first - 1) == Some(&'/');
        match self.peek() {
            _ if self.at == first + 1 || !begins => Part::InSegment,
            Some('/') => {
                self.at += 1;
                Part::Segments
            }
            None => Part::Anything,
            Some(_) => Part::InSegment,
        }
    }

    /// Parses a set, after its `[`.
    fn set(&mut self) -> Result<Part, String> {
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
        Ok(Part::Set { ranges, negated })
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
            ("app/[q]/p.tsx", "app/[q]/p.tsx"),
            ("app/[q]/*", "app/[q]/p.tsx"),
            ("app/[...q]/{id}.ts", "app/[...q]/{id}.ts"),
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
        assert!(Glob::from_str(&"{a,b}".repeat(20)).is_err());
        assert!(Glob::from_str(&"x".repeat(2_000)).is_err());
    }

    #[test]
    fn stars_do_not_explode() {
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(4_000)));
        assert!(!matches(&format!("{}b", "**/".repeat(200)), &"a/".repeat(1_000)));
    }
}
