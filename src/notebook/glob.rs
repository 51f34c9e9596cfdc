//! [`Glob`]: a pattern for paths.

use core::str::FromStr;
use saddlebag_collections::prelude::*;

/// Maximum length of a pattern in bytes.
pub const MAX_GLOB_BYTES: usize = 1_024;

/// A pattern that must match a whole path, in time linear in the path.
///
/// `*` is any part of one segment, `?` one character of it, `**` any number of whole segments. A set such as `[a-z]` is read
/// as `?` and alternatives such as `{a,b}` as `*`, so that no path is missed by a pattern that was meant to match it. A path with
/// these very characters matches, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    pattern: Vec<char>,
    /// The pattern without sets and alternatives, if it has some.
    wide: Option<Vec<char>>,
}

impl FromStr for Glob {
    type Err = String;

    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// The problem in words.
    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        if pattern.len() > MAX_GLOB_BYTES {
            return Err(format!("the pattern has {} bytes, the limit is {MAX_GLOB_BYTES}", pattern.len()));
        }
        let pattern: Vec<char> = pattern.chars().collect();
        let wide = Some(widened(&pattern)).filter(|wide| *wide != pattern);
        Ok(Self { pattern, wide })
    }
}

impl Glob {
    /// Returns true if the whole of `path` matches.
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        let path = segments(&path);
        let is_stars = |segment: &&[char]| segment.len() > 1 && segment.iter().all(|c| *c == '*');
        let mut patterns = Some(&self.pattern).into_iter().chain(&self.wide);
        patterns.any(|pattern| fits(&segments(pattern), &path, is_stars, |one, segment| fits_chars(one, segment)))
    }

    /// Returns true if the pattern has a set or alternatives, and so matches more than it says.
    pub(super) fn is_widened(&self) -> bool {
        self.wide.is_some()
    }
}

/// Returns the pattern with `?` for each set, `*` for alternatives, and without the backslash of an escape.
fn widened(pattern: &[char]) -> Vec<char> {
    let mut wide = Vec::new();
    let mut rest = pattern;
    while let Some((&c, after)) = rest.split_first() {
        let closing = match c {
            '[' => Some((']', '?')),
            '{' => Some(('}', '*')),
            _ => None,
        };
        let end = closing.and_then(|(close, _)| after.iter().position(|c| *c == close));
        match (closing, end.and_then(|end| after.get(end + 1..))) {
            (Some((_, any)), Some(more)) => {
                wide.push(any);
                rest = more;
            }
            _ => {
                wide.extend(Some(c).filter(|c| *c != '\\'));
                rest = after;
            }
        }
    }
    wide
}

/// Returns true if the whole text matches. `*` is any text, with slashes too, and `?` any character.
pub(super) fn fits_text(pattern: &str, text: &str) -> bool {
    let chars = |text: &str| text.chars().collect::<Vec<char>>();
    fits_chars(&chars(pattern), &chars(text))
}

fn fits_chars(pattern: &[char], text: &[char]) -> bool {
    fits(pattern, text, |c| *c == '*', |wanted, c| *wanted == '?' || wanted == c)
}

fn segments(path: &[char]) -> Vec<&[char]> {
    path.split(|c| *c == '/').collect()
}

/// Returns true if the items of the pattern match all items. A star matches any number of them. Only the last star is
/// tried again with more items, because the stars before it have matched as early as possible.
fn fits<T>(pattern: &[T], items: &[T], is_star: impl Fn(&T) -> bool, fits_one: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut retry = None;
    while let Some(item) = items.get(next) {
        match (pattern.get(at), retry) {
            (Some(star), _) if is_star(star) => {
                at += 1;
                retry = Some((at, next));
            }
            (Some(wanted), _) if fits_one(wanted, item) => {
                (at, next) = (at + 1, next + 1);
            }
            (_, Some((after_star, from))) => {
                retry = Some((after_star, from + 1));
                (at, next) = (after_star, from + 1);
            }
            _ => return false,
        }
    }
    pattern.iter().skip(at).all(is_star)
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
            ("*.excalidraw.md", "a.md.excalidraw.md"),
            ("**/*.md", "a.md"),
            ("**/*.md", "a/b/c.md"),
            ("journal/**", "journal/2026/01.md"),
            ("a/**/z", "a/z"),
            ("a/**/z", "a/b/c/z"),
            ("a/**/b/**/z", "a/x/b/b/z"),
            ("a/*/**/*", "a/b/c"),
            ("a**z", "abz"),
            ("?.md", "日.md"),
            ("app/?q?/p.tsx", "app/[q]/p.tsx"),
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
            ("a/*/**/*", "a/b"),
            ("a**z", "a/z"),
            ("?", "/"),
            ("*/a", "a"),
            ("**/a", "ba"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn sets_and_alternatives_match_at_least_what_they_say() {
        for (pattern, path) in [
            ("*.[ch]", "a.c"),
            ("{a,b}/x", "b/x"),
            ("[Tt]emplates/**", "Templates/a.md"),
            ("app/[q]/p.tsx", "app/[q]/p.tsx"),
            ("a\\*", "a*"),
            ("a[b", "a[b"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        assert!(!matches("*.[ch]", "a.rs") && !matches("app/[q]/p.tsx", "app/ab/p.tsx"));
        assert!(Glob::from_str(&"x".repeat(2_000)).is_err());
    }

    #[test]
    fn stars_do_not_explode() {
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(4_000)));
        assert!(!matches(&format!("{}b", "**/".repeat(200)), &"a/".repeat(1_000)));
    }
}
