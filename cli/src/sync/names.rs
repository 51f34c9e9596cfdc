//! [`original_of`]: the file that a conflict copy was made of, by its name. [`NewNames`]: names that all systems can have.

use std::collections::BTreeMap;

use saddlebag::store::{folded_name, is_special_on_windows};

use crate::output::single_line;

/// A conflict copy by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyName {
    /// Name of the file that it is a copy of.
    pub(super) original: String,
    /// True if a file of its own may have such a name, too.
    pub(super) is_doubtful: bool,
}

const SUFFIX: &str = ".md";

/// Mark in the name of a copy of Syncthing. The date, the time and the beginning of the device's name follow.
const OF_SYNCTHING: &str = ".sync-conflict-";

/// Words in the name of a copy of Dropbox, Obsidian Sync, Nextcloud or OneDrive, in lower case: in English, German, French, Spanish,
/// Italian, Portuguese and Japanese.
const WORDS: [&str; 11] = [
    "conflicted copy",
    "conflict copy",
    "in konflikt stehende kopie",
    "konfliktkopie",
    "copie en conflit",
    "copia en conflicto",
    "copia conflictiva",
    "copia in conflitto",
    "cópia em conflito",
    "の競合コピー",
    "問題のあるコピー",
];

/// Returns the file that a file is a conflict copy of, by its name; `None` if it has another name.
///
/// `NAME.sync-conflict-20260530-101112-ABCDEF7.md` is of Syncthing; `NAME (Eva's conflicted copy 2026-05-30).md` of Dropbox, and
/// Obsidian Sync has the same words. `NAME 2.md` is of iCloud and `NAME (1).md` of Google Drive, but may be any other file.
pub(super) fn original_of(name: &str) -> Option<CopyName> {
    let stem = name.strip_suffix(SUFFIX)?;
    let copy = |stem: &str, is_doubtful| {
        (!stem.is_empty()).then(|| CopyName { original: format!("{stem}{SUFFIX}"), is_doubtful })
    };
    if let Some((original, rest)) = stem.rsplit_once(OF_SYNCTHING) {
        let parts: Vec<&str> = rest.split('-').collect();
        let is_number =
            |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        return match parts[..] {
            [date, time, device] if is_number(date, 8) && is_number(time, 6) && !device.is_empty() => {
                copy(original, false)
            }
            _ => None,
        };
    }
    if let Some((original, rest)) = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once(" (")) {
        let rest_is_number = !rest.is_empty() && rest.len() <= 2 && rest.bytes().all(|byte| byte.is_ascii_digit());
        // macOS may take letters with accents apart.
        let words = rest.to_lowercase().replace("o\u{301}", "ó");
        return match WORDS.iter().any(|word| words.contains(word)) {
            true => copy(original, false),
            false if rest_is_number => copy(original, true),
            false => None,
        };
    }
    let (original, number) = stem.rsplit_once(' ')?;
    let is_count = number.len() == 1 && number.bytes().all(|byte| (b'2'..=b'9').contains(&byte));
    if is_count { copy(original, true) } else { None }
}

/// The names of a work tree, with which those of new files are compared.
pub(super) struct NewNames {
    /// Paths by what a system that ignores case takes them for.
    taken: BTreeMap<String, String>,
}

impl NewNames {
    /// Takes the paths of the files that others have already.
    pub(super) fn new<'a>(paths: impl Iterator<Item = &'a String>) -> Self {
        Self { taken: paths.map(|path| (folded(path), path.clone())).collect() }
    }

    /// Adds a new file.
    ///
    /// # Errors
    ///
    /// The reason why another system cannot have it.
    pub(super) fn add(&mut self, path: &str) -> Result<(), String> {
        if let Some(name) = path.split('/').find(|name| !is_portable(name)) {
            return Err(format!("another system cannot have the name `{}`; rename it", single_line(name)));
        }
        let known = self.taken.entry(folded(path)).or_insert_with(|| path.into());
        if known == path {
            return Ok(());
        }
        Err(format!("another system would take it for `{}`; rename it", single_line(known)))
    }
}

fn folded(path: &str) -> String {
    path.split('/').map(folded_name).collect::<Vec<_>>().join("/")
}

fn is_portable(name: &str) -> bool {
    let is_bad = |character: char| character == '\\' || character.is_control();
    !name.contains(is_bad) && !is_special_on_windows(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_another_system_cannot_have_is_refused_and_so_is_one_that_it_would_take_for_another() {
        let known = ["a/Plan.md".to_string()];
        let mut names = NewNames::new(known.iter());
        for name in ["a/q?.md", "a:b/c.md", "aux.md", "a/COM1", "a/b\\c.md", "a/b.", "a /b.md", "a/b\u{7}.md"] {
            let refused = names.add(name).expect_err(name);
            assert!(refused.contains("cannot have the name"), "{refused}");
        }
        for name in ["a/plan.md", "A/Plan.md"] {
            let refused = names.add(name).expect_err(name);
            assert!(refused.contains("a/Plan.md"), "{refused}");
        }
        for name in ["b/plan.md", "a/Größe 🚀.md", "auxiliary.md", ".gitignore", "caf\u{e9}.md"] {
            assert_eq!(names.add(name), Ok(()), "{name}");
        }
        assert!(names.add("cafe\u{301}.md").is_err());
    }

    #[test]
    fn copies_of_each_tool_are_known_by_their_names() {
        for (name, original, is_doubtful) in [
            ("plan.sync-conflict-20260530-101112-ABCDEF7.md", "plan.md", false),
            ("plan (conflicted copy).md", "plan.md", false),
            ("plan (Eva's conflicted copy 2026-05-30).md", "plan.md", false),
            ("plan (Conflicted copy phone 202605301012).md", "plan.md", false),
            ("plan (In Konflikt stehende Kopie von PC 2026-05-30).md", "plan.md", false),
            ("plan (Evas in Konflikt stehende Kopie 2026-05-30).md", "plan.md", false),
            ("plan (Konfliktkopie 2026-05-30 101112).md", "plan.md", false),
            ("plan (Copie en conflit de PC-1 2026-05-30).md", "plan.md", false),
            ("plan (Copia en conflicto de Ana 2026-05-30).md", "plan.md", false),
            ("plan (Copia conflictiva de Ana 2026-05-30).md", "plan.md", false),
            ("plan (Copia in conflitto di MBP-di-Marco.fritz.box 2026-05-30).md", "plan.md", false),
            ("plan (Cópia em conflito de PC-Casa 2026-05-30 1).md", "plan.md", false),
            ("plan (Co\u{301}pia em conflito de PC-Casa 2026-05-30).md", "plan.md", false),
            ("買い物 (Taketan の競合コピー 2026-05-30).md", "買い物.md", false),
            ("plan 2.md", "plan.md", true),
            ("plan (1).md", "plan.md", true),
        ] {
            let expected = CopyName { original: original.into(), is_doubtful };
            assert_eq!(original_of(name), Some(expected), "{name}");
        }
        for name in [
            "plan.md",
            "plan 10.md",
            "plan 1.md",
            "plan (draft).md",
            "plan.sync-conflict-x.md",
            ".sync-conflict-20260530-101112-A.md",
            "plan (conflicted copy).txt",
            "plan 2",
            "(1).md",
            "plan ().md",
        ] {
            assert_eq!(original_of(name), None, "{name}");
        }
    }
}
