//! Numbers of locks, and names that belong to the host.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

use fnv::FnvHasher;

/// Number of locks of the files of people.
pub const LOCKS_OF_FILES: u8 = 64;

/// Number of a lock, 0 to 127. It is written with at least two digits.
///
/// ```
/// use saddlebag_locks::Number;
///
/// assert_eq!(Number::of("MEMORY.md").to_string(), "09");
/// assert_eq!(Number::of("memory.MD"), Number::of("MEMORY.md"));
/// assert_eq!(Number::of(".saddlebag/a").to_string(), "80");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(u8);

impl Number {
    /// Returns the number of a path: FNV-1a over its ASCII bytes, in small letters, as some file systems ignore case. Hosts whose
    /// Unicode tables differ disagree about the small letters of other characters, so these do not count.
    pub fn of(path: &str) -> Self {
        let mut hasher = FnvHasher::default();
        path.bytes().filter(u8::is_ascii).for_each(|byte| hasher.write(&[byte.to_ascii_lowercase()]));
        let in_state = path.split('/').any(|segment| segment.eq_ignore_ascii_case(".saddlebag"));
        let number = (hasher.finish() % u64::from(LOCKS_OF_FILES)) as u8;
        Self(if in_state { number + LOCKS_OF_FILES } else { number })
    }

    /// Returns the numbers of some paths, each once and in ascending order, in which everybody takes locks. Otherwise two renames
    /// in opposite directions would wait for each other, and a second attempt to take one lock for the first.
    pub fn of_all<'p>(paths: impl IntoIterator<Item = &'p str>) -> Vec<Self> {
        let mut numbers: Vec<Self> = paths.into_iter().map(Self::of).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns all numbers, in ascending order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..2 * LOCKS_OF_FILES).map(Self)
    }

    /// Returns the locks of the files of people: those outside of every folder `.saddlebag`.
    pub fn of_files() -> impl Iterator<Item = Self> {
        (0..LOCKS_OF_FILES).map(Self)
    }

    /// Returns the number that a lock file has as its name.
    pub fn from_name(name: &str) -> Option<Self> {
        let number = name.parse().ok().filter(|number| *number < 2 * LOCKS_OF_FILES).map(Self)?;
        (format!("{number}") == name).then_some(number)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:02}", self.0)
    }
}

/// Returns true if a path is one of the host's own: the locks of any protocol and everything in them, and temporary files.
///
/// Some file systems take other spellings for these names. Without a Unicode table, a character above U+007F counts as any one
/// character of the name, or as none.
///
/// ```
/// use saddlebag_locks::is_own;
///
/// assert!(is_own(".saddlebag/locks-3/09") && is_own("notes/.saddlebag-1-2-3.tmp"));
/// assert!(!is_own(".saddlebag/index") && !is_own("notes/plan.md"));
/// ```
pub fn is_own(path: &str) -> bool {
    let mut segments = path.split('/');
    let in_state = segments.next().is_some_and(|first| is_spelling(first, ".saddlebag"));
    in_state && segments.next().is_some_and(is_locks) || path.split('/').any(is_temporary)
}

/// Returns true if a name in `.saddlebag` belongs to the locks of some protocol.
pub fn is_locks(name: &str) -> bool {
    is_spelling(name, "locks") || is_spelling(name, "locks-#")
}

/// Returns true if a segment is the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    [".saddlebag-*.tmp", SHORT_NAME, "saddle~#.tmp"].iter().any(|own| is_spelling(name, own))
}

/// Short name of Windows for a name that begins with `.saddlebag`.
const SHORT_NAME: &str = "saddle~#";

/// Returns true if some file system may take `name` for `own`, in which `*` means any characters and `#` digits.
///
/// At least one ASCII letter must be equal: a name that is written in another script throughout is not taken for this one.
pub fn is_spelling(name: &str, own: &str) -> bool {
    let is_short = own == ".saddlebag" && is_spelling(name, SHORT_NAME);
    // Nearly every name ends here: every file of a store is looked at.
    if !is_short && !may_be(name.bytes().next(), own.bytes().next()) {
        return false;
    }
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    is_short || matches(name, own.as_bytes())
}

/// Follows all ways to read `name` at once. A set of places in `own` has a bit for each.
fn matches(name: &str, own: &[u8]) -> bool {
    if !may_be(name.bytes().last(), own.last().copied()) {
        return false;
    }
    let places = |wanted: &dyn Fn(u8) -> bool| {
        own.iter()
            .enumerate()
            .filter(|(_, token)| wanted(**token))
            .fold(0_u32, |places, (place, _)| places | 1 << place)
    };
    let stars = places(&|token| token == b'*');
    let skip_stars = |reached: u32| reached | (reached & stars) << 1;
    // Places that are reached without an equal letter, and with one.
    let (mut without, mut with) = (skip_stars(1), 0);
    for letter in name.chars() {
        let is_token = |token: u8| char::from(token.to_ascii_lowercase()) == letter.to_ascii_lowercase();
        let equal = places(&|token| token.is_ascii_alphabetic() && is_token(token));
        let (stays, fits) = if letter.is_ascii() {
            let digits = places(&|token| token == b'#' && letter.is_ascii_digit());
            (stars | digits, digits | places(&|token| !token.is_ascii_alphabetic() && is_token(token)))
        } else {
            (u32::MAX, !stars)
        };
        with = skip_stars(with & stays | (with & (fits | equal)) << 1 | (without & equal) << 1);
        without = skip_stars(without & stays | (without & fits) << 1);
        if with | without == 0 {
            return false;
        }
    }
    with & 1 << own.len() != 0
}

/// Returns true if a byte of a name may belong to this token.
fn may_be(byte: Option<u8>, token: Option<u8>) -> bool {
    byte.zip(token).is_some_and(|(byte, token)| {
        !byte.is_ascii() || byte.eq_ignore_ascii_case(&token) || token == b'#' && byte.is_ascii_digit()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;

    /// No data file is ever locked, because a write puts another file in its place, and writers of
    /// different releases agree on the lock of a path.
    #[test]
    fn the_numbers_of_paths_stay_what_they_are() {
        let numbers = ["MEMORY.md", "memory.MD", "daily/2026-05-30.md", ".saddlebag/a", "a/.SADDLEBAG/a"];
        assert_eq!(numbers.map(|path| Number::of(path).0), [9, 9, 48, 80, 108]);
        for number in Number::all() {
            assert_eq!(Number::from_name(&number.to_string()), Some(number));
        }
        for name in ["9", "128", "099", "+9", "x"] {
            assert_eq!(Number::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_character_that_hosts_lower_differently_does_not_count() {
        for path in ["notes/Ɤ.md", "notes/ɤ.md", "notes/é.md", "notes/笔记.MD", "Notes/.md"] {
            assert_eq!(Number::of(path).0, 42, "{path}");
        }
    }

    #[test]
    fn two_paths_of_one_number_have_one_lock() {
        assert_eq!(Number::of_all(["notes/笔.md", "notes/记.md"]).len(), 1);
        let [first, second] = Number::of_all(["MEMORY.md", ".saddlebag/a"])[..] else { panic!() };
        assert!(first < second);
    }

    #[test]
    fn own_names_are_found_in_every_spelling() {
        for path in [
            ".saddlebag/locks",
            ".saddlebag/locks/07",
            ".saddlebag/locks-3/leases/07/1",
            ".Saddlebag/LOCKS-12/x",
            "notes/.saddlebag-1-2-3.tmp",
            // The long s, the Kelvin sign, and a letter with its accent apart.
            ".\u{17f}addlebag/loc\u{212a}s/07",
            ".sa\u{301}ddlebag/locks\u{301}",
            // A joiner that some file systems leave out, and letters of full width.
            ".sad\u{200d}dlebag/\u{200d}locks-\u{200d}2",
            "\u{feff}.saddlebag/\u{ff4c}ocks-\u{ff12}",
            // Streams, dropped endings and short names.
            ".saddlebag./locks /07",
            ".saddlebag:x/locks::$INDEX_ALLOCATION",
            "SADDLE~1/locks",
            "a/.SADDLEBAG-1.TMP::$DATA",
            "a/.saddlebag-1.tmp. .",
            "a/Saddle~12",
            "a/SADDLE~1.TMP/b",
        ] {
            assert!(is_own(path), "{path}");
        }
    }

    #[test]
    fn other_names_are_not_taken_for_own_ones() {
        for path in [
            ".saddlebag/index",
            ".saddlebag/locksmith",
            ".saddlebag/locks-",
            ".saddlebag/locks-x",
            ".saddlebag",
            "x/.saddlebag/locks",
            ".saddlebag-x.md",
            ".saddlebag-日本",
            "notes/é.tmp",
            "notes/saddle~.md",
            "saddle~x",
            // As long as the name of a temporary file, in another script.
            "Конфиденциальные-документы/план.md",
            "日本語で書かれたとても長いフォルダの名前/a.md",
        ] {
            assert!(!is_own(path), "{path}");
        }
    }
}
