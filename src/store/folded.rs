//! Names as a file system may compare them.
//!
//! On macOS and Windows, and in some folders on Linux, several spellings name one file: case and Unicode normalisation
//! are ignored, invisible characters, trailing dots and spaces are dropped, `a:b` is a stream of `a`, and `WORKSP~1`
//! is the short name of `workspaces`. A reserved name, or one of another memory, is recognised in every spelling that
//! any file system accepts for it. The rule is the same on every host, so that a store that moves stays safe.

use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use super::RelPath;
use saddlebag_collections::{order, prelude::*};

/// Returns true if some file system takes `name` for the reserved name `reserved`, which is in ASCII.
///
/// ```
/// use saddlebag::store::is_name;
///
/// assert!(is_name("WORKSP~1", "workspaces") && is_name("MEMORY.MD::$DATA", "MEMORY.md"));
/// assert!(!is_name("my agents", "agents"));
/// ```
pub fn is_name(name: &str, reserved: &str) -> bool {
    if name.eq_ignore_ascii_case(reserved) {
        return true;
    }
    // The fast path for nearly every name; every file of a store is checked.
    if name.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b':' | b'~')) && !name.ends_with(['.', ' ']) {
        return false;
    }
    let folded = folded_name(name);
    folded.eq_ignore_ascii_case(reserved) || is_short_name_of(&folded, reserved)
}

/// Returns true if some file system treats the two paths as one.
pub(crate) fn is_path(path: &RelPath, reserved: &RelPath) -> bool {
    let mut reserved = reserved.segments();
    let mut segments = path.segments().filter(|segment| !without_ending(segment).is_empty());
    loop {
        match (segments.next(), reserved.next()) {
            (None, None) => return true,
            (Some(name), Some(reserved)) if is_name(name, reserved) => {}
            _ => return false,
        }
    }
}

/// Returns true if some file system hides a file of this name.
pub(crate) fn is_hidden(name: &str) -> bool {
    // Most names begin with a letter, which shows that at once.
    !name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.trim_start_matches(is_ignored).starts_with('.')
}

/// Returns the one spelling that all spellings of a name share, except short names of Windows.
///
/// ```
/// use saddlebag::store::folded_name;
///
/// assert_eq!(folded_name("AGENTS. "), "agents");
/// assert_eq!(folded_name("Cafe\u{301}.md"), folded_name("CAF\u{c9}.MD"));
/// ```
pub fn folded_name(name: &str) -> Cow<'_, str> {
    let name = without_ending(name);
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    // The lower case of the upper case is nearly full case folding, and folds a little more: `ı` is `i`. `ẞ` gets an
    // upper case of several letters only through `ß`.
    let shown = decomposed(name.chars()).into_iter().filter(|&c| !is_ignored(c)).flat_map(char::to_lowercase);
    let folded = decomposed(shown.flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    let folded: String = folded.into_iter().collect();
    Cow::Owned(without_ending(&folded).into())
}

/// Returns the characters in normalisation form D. `UnicodeNormalization::nfd` would also link the tables of the
/// compatibility forms: 60 KB that a component with only the journal does not need.
fn decomposed(characters: impl Iterator<Item = char>) -> Vec<char> {
    let mut decomposed = Vec::new();
    characters.for_each(|c| decompose_canonical(c, |part| decomposed.push(part)));
    for run in decomposed.chunk_by_mut(|_, &next| canonical_combining_class(next) != 0) {
        order::sort_slice(run, |&a, &b| canonical_combining_class(a).cmp(&canonical_combining_class(b)));
    }
    decomposed
}

/// Removes the parts that Windows drops: the name of a stream, and dots and spaces at the end.
fn without_ending(name: &str) -> &str {
    let name = name.split(':').next().unwrap_or(name);
    name.trim_end_matches(['.', ' '])
}

/// Returns true for characters that HFS+ and case-folding folders on Linux ignore in names.
fn is_ignored(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for names such as `AGENTS~1`, `WO1A2B~1` and `SCRATC~1.MD`, if Windows may have made them of `long`.
fn is_short_name_of(name: &str, long: &str) -> bool {
    let Some((start, end)) = short_name_parts(name) else { return false };
    let long = long.trim_start_matches('.');
    let (stem, extension) = long.rsplit_once('.').unwrap_or((long, ""));
    let begins = |text: &str, with: &str| text.get(..with.len()).is_some_and(|text| text.eq_ignore_ascii_case(with));
    let is_hashed = start.len() == 6
        && begins(stem, start.get(..2).unwrap_or_default())
        && start.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
    (begins(stem, start) || is_hashed) && begins(extension, end) && end.len() == extension.len().min(3)
}

/// Returns true for a short name of Windows, which does not tell the long name.
pub(crate) fn is_short_name(name: &str) -> bool {
    short_name_parts(&folded_name(name)).is_some()
}

/// Returns the part before `~` and a number, and the extension.
fn short_name_parts(name: &str) -> Option<(&str, &str)> {
    let (start, rest) = name.split_once('~')?;
    let (number, extension) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !start.is_empty() && start.len() + 1 + number.len() <= 8 && extension.len() <= 3;
    (is_number && fits && !start.contains(['.', ' '])).then_some((start, extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    use unicode_normalization::UnicodeNormalization;

    proptest::proptest! {
        #[test]
        fn names_are_decomposed_as_unicode_says(
            name in "([a-zß가-힣éǆΐ]|[\\u{300}-\\u{36f}\\u{5b0}-\\u{5bd}\\u{1dc0}-\\u{1dff}]|\\PC){0,24}"
        ) {
            let ours: String = decomposed(name.chars()).into_iter().collect();
            proptest::prop_assert_eq!(ours, name.nfd().collect::<String>());
        }
    }

    /// A name that is reserved, or belongs to another memory, is recognised on every host in every
    /// spelling that a file system of Linux, macOS or Windows accepts for it.
    #[test]
    fn every_spelling_of_a_reserved_name_is_known() {
        for (name, reserved) in [
            ("agents", "agents"),
            ("AGENTS", "agents"),
            ("Agents.", "agents"),
            ("agents. .", "agents"),
            ("agents::$INDEX_ALLOCATION", "agents"),
            ("agents:$I30:$INDEX_ALLOCATION", "agents"),
            ("agent\u{17f}", "agents"),
            ("wor\u{212a}spaces", "workspaces"),
            ("ag\u{200c}ents", "agents"),
            ("agents\u{feff}", "agents"),
            ("AGENTS~1", "agents"),
            ("WORKSP~1", "workspaces"),
            ("works~12", "workspaces"),
            ("work~123", "workspaces"),
            ("WO1A2B~1", "workspaces"),
            ("memory.MD", "MEMORY.md"),
            ("MEMORY.md ", "MEMORY.md"),
            ("MEMORY.md::$DATA", "MEMORY.md"),
            ("SCRATC~1.MD", "SCRATCHPAD.md"),
            ("SADDLE~1", ".saddlebag"),
            (".\u{200d}Saddlebag", ".saddlebag"),
        ] {
            assert!(is_name(name, reserved), "{name:?} is not known as {reserved}");
        }
    }

    #[test]
    fn other_names_are_not_reserved() {
        for (name, reserved) in [
            ("agent", "agents"),
            ("agents2", "agents"),
            ("my agents", "agents"),
            (".agents", "agents"),
            ("\u{ff41}gents", "agents"),
            ("memory", "MEMORY.md"),
            ("memory-2.md", "MEMORY.md"),
            ("agents~", "agents"),
            ("agents~x", "agents"),
            ("notes~1", "agents"),
            ("WORKSP~1.MD", "workspaces"),
            ("", "agents"),
            ("...", "agents"),
        ] {
            assert!(!is_name(name, reserved), "{name:?} is taken for {reserved}");
        }
    }

    #[test]
    fn a_path_is_compared_segment_by_segment() {
        let path = |text: &str| RelPath::new(text).expect("a path");
        assert!(is_path(&path("PROJECTS/Api-0DB23A34/memory.md"), &path("projects/api-0db23a34/MEMORY.md")));
        assert!(is_path(&path("projects/.../MEMORY.md"), &path("projects/MEMORY.md")), "Windows drops the dots");
        assert!(!is_path(&path("projects/x/MEMORY.md"), &path("MEMORY.md")));
        assert!(!is_path(&path("MEMORY.md"), &path("projects/x/MEMORY.md")));
    }

    #[test]
    fn normal_forms_and_cases_of_a_name_are_equal() {
        assert_eq!(folded_name("CAF\u{c9}"), folded_name("cafe\u{301}"));
        assert_eq!(folded_name("Straße"), folded_name("STRASSE"));
        assert_eq!(folded_name("\u{fb01}le"), "file");
        assert_eq!(folded_name("Σίσυφος"), folded_name("ΣΊΣΥΦΟΣ"));
        assert_ne!(folded_name("日本"), folded_name("日木"));
        for c in ['a', 'Z', 'ß', 'ǰ', '\u{345}', '\u{1e9e}', '\u{390}', 'İ', 'ﬃ', '한', '記'] {
            let once = folded_name(&format!("x{c}y")).into_owned();
            assert_eq!(folded_name(&once), once, "{c:?}");
        }
    }

    #[test]
    fn a_name_after_invisible_characters_is_hidden() {
        for name in [".x", ".", "\u{200c}.x", "\u{feff}\u{200b}.saddlebag"] {
            assert!(is_hidden(name), "{name:?}");
        }
        for name in ["x", "a.b", "日.md", "\u{200c}x"] {
            assert!(!is_hidden(name), "{name:?}");
        }
    }
}
