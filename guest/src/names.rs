//! The host's own names, in every spelling that a file system may take for them.

/// Returns true if the path is a temporary file, or in a folder of the locks of any protocol.
pub(crate) fn is_own(path: &str) -> bool {
    let mut segments = path.split('/').map(end_dropped).filter(|segment| !segment.is_empty());
    let is_short = |segment: &str| spells(segment, "saddle~*") && segment.get(7..).is_some_and(|end| end.bytes().all(is_digit));
    if path.split('/').map(end_dropped).any(|segment| is_short(segment) || spells(segment, ".saddlebag-*.tmp")) {
        return true;
    }
    segments.next().is_some_and(|first| spells(first, ".saddlebag"))
        && segments.next().is_some_and(|second| spells(second, "locks") || spells(second, "locks-*"))
}

/// Removes what Windows drops: the name of a stream, and dots and spaces at the end.
fn end_dropped(segment: &str) -> &str {
    segment.split(':').next().unwrap_or(segment).trim_end_matches(['.', ' '])
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Returns true if the name may be taken for the pattern, in which `*` is any text.
///
/// The case of ASCII letters does not count, and a character above U+007F may be one character of the pattern or none.
fn spells(name: &str, pattern: &str) -> bool {
    let pattern = pattern.as_bytes();
    // The places in the pattern that the name read so far can have reached.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    let pass_stars = |reached: &mut [bool]| {
        for at in 0..pattern.len() {
            reached[at + 1] |= reached[at] && pattern[at] == b'*';
        }
    };
    pass_stars(&mut reached);
    for letter in name.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..=pattern.len()).filter(|&at| reached[at]) {
            next[at] |= !letter.is_ascii();
            if let Some(&wanted) = pattern.get(at) {
                next[at] |= wanted == b'*';
                next[at + 1] |= !letter.is_ascii() || letter.to_ascii_lowercase() == char::from(wanted);
            }
        }
        reached = next;
        pass_stars(&mut reached);
    }
    reached[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_temporary_files_are_own_in_every_spelling() {
        for path in [
            ".saddlebag/locks",
            ".saddlebag/locks/07",
            ".Saddlebag/LOCKS/x",
            ".saddlebag/Locks-2",
            ".saddlebag/locks-33/leases/01/4",
            "notes/.saddlebag-1-2-3.tmp",
            ".\u{17f}addlebag/loc\u{212a}s/07",
            ".saddlebag./locks /07",
            ".sad\u{200d}dlebag/locks",
            "SADDLE~1/locks",
            "notes/saddle~12",
            "a/.SADDLEBAG-1.TMP::$DATA",
        ] {
            assert!(is_own(path), "{path}");
        }
        for path in [
            ".saddlebag/index",
            ".saddlebag",
            ".saddlebag/locksmith",
            "x/.saddlebag/locks",
            ".saddlebag-x.md",
            "notes/é.tmp",
            ".saddlebag-日本",
            "saddle~x",
            "saddlebag",
            "日",
        ] {
            assert!(!is_own(path), "{path}");
        }
    }
}
