//! [`original_of`]: the file that a conflict copy was made of, by its name. [`NewNames`]: names that all systems can have.

use std::collections::BTreeMap;

use saddlebag::store::{CONFLICT_WORDS, NOTE_SUFFIX, RelPath, SYNCTHING_MARK, folded_name, is_special_on_windows};

use crate::output::single_line;
use crate::setup::sharing;

/// A conflict copy by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyName {
    /// Name of the file that it is a copy of.
    pub(super) original: String,
    pub(super) doubt: Doubt,
}

/// Certainty with which a name says that its file is a conflict copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// No other file has such a name.
    Sure,
    /// Tools give such names to copies, and to other files too, such as downloads.
    Doubtful,
    /// Copies of Dropbox whose names differ from the original's in case too.
    OfCase,
    /// People give such names to their files.
    Usual,
}

/// Logs in the root of the store.
const LOGS: [&str; 2] = [sharing::REJECTIONS, sharing::EXPUNGED];

/// Words in the name of a file that Dropbox renamed because another name differs from it in case alone.
const OF_CASE: &str = "case conflict";

/// Returns the path of the file that a file is a conflict copy of; `None` if it has another name.
pub(super) fn original_path(copy: &RelPath) -> Option<(RelPath, CopyName)> {
    let mut name = original_of(copy.file_name())?;
    // Only tools give such a name to a log of the program.
    if copy.parent().is_none() && LOGS.contains(&name.original.as_str()) {
        name.doubt = Doubt::Sure;
    }
    let original = match copy.parent() {
        Some(folder) => folder.join(&name.original),
        None => RelPath::new(name.original.clone()),
    };
    Some((original.ok()?, name))
}

/// Returns the file that a file is a conflict copy of, by its name; `None` if it has another name.
///
/// `NAME.sync-conflict-20260530-101112-ABCDEF7.md` is of Syncthing; `NAME (Eva's conflicted copy 2026-05-30).md` of Dropbox, and
/// Obsidian Sync has the same words. `NAME 2.md` is of iCloud and `NAME (1).md` of Google Drive, but may be any other file.
pub(super) fn original_of(name: &str) -> Option<CopyName> {
    let is_end = |end: &str| !end.starts_with(SYNCTHING_MARK.trim_start_matches('.')) && !end.contains([' ', ')']);
    let (stem, suffix) = match name.rsplit_once('.').filter(|(_, end)| is_end(end)) {
        Some((stem, _)) => (stem, name.get(stem.len()..).unwrap_or_default()),
        None => (name, ""),
    };
    let copy = |stem: &str, doubt| {
        let original = format!("{stem}{suffix}");
        let is_copy = doubt == Doubt::Sure || suffix == NOTE_SUFFIX || LOGS.contains(&original.as_str());
        (!stem.is_empty() && is_copy).then_some(CopyName { original, doubt })
    };
    if let Some((original, rest)) = stem.rsplit_once(SYNCTHING_MARK) {
        let parts: Vec<&str> = rest.split('-').collect();
        let is_number =
            |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        return match parts[..] {
            [date, time, device] if is_number(date, 8) && is_number(time, 6) && !device.is_empty() => {
                copy(original, Doubt::Sure)
            }
            _ => None,
        };
    }
    if let Some(inner) = stem.strip_suffix(')') {
        // The mark may have brackets itself, or a number in brackets after it.
        for (place, _) in inner.match_indices(" (") {
            let (original, rest) = inner.split_at(place);
            // macOS may take letters with accents apart.
            let words = rest.to_lowercase().replace("o\u{301}", "ó");
            if CONFLICT_WORDS.iter().any(|word| words.contains(word)) && !is_in_later_brackets(rest) {
                return copy(original, Doubt::Sure);
            }
        }
        let (original, rest) = inner.rsplit_once(" (")?;
        let is_number =
            |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let rest = rest.to_lowercase();
        return match rest.strip_prefix(OF_CASE) {
            Some(number) if number.is_empty() || number.strip_prefix(' ').is_some_and(is_number) => {
                copy(original, Doubt::OfCase)
            }
            None if is_number(&rest) => copy(original, Doubt::Doubtful),
            _ => None,
        };
    }
    let (original, number) = stem.rsplit_once(' ')?;
    let is_count = number.len() == 1 && number.bytes().all(|byte| (b'2'..=b'9').contains(&byte));
    if is_count { copy(original, Doubt::Usual) } else { None }
}

/// Returns true if the brackets with which a text begins end without a mark, and later ones have it: `(draft) (conflicted copy`.
fn is_in_later_brackets(rest: &str) -> bool {
    let first = rest.split_once(") (").map_or(rest, |(first, _)| first).to_lowercase().replace("o\u{301}", "ó");
    !CONFLICT_WORDS.iter().any(|word| first.contains(word))
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
        for (name, original, doubt) in [
            ("plan.sync-conflict-20260530-101112-ABCDEF7.md", "plan.md", Doubt::Sure),
            ("plan (conflicted copy).md", "plan.md", Doubt::Sure),
            ("plan (Eva's conflicted copy 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Conflicted copy phone 202605301012).md", "plan.md", Doubt::Sure),
            ("plan (In Konflikt stehende Kopie von PC 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Evas in Konflikt stehende Kopie 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Konfliktkopie 2026-05-30 101112).md", "plan.md", Doubt::Sure),
            ("plan (Copie en conflit de PC-1 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Copia en conflicto de Ana 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Copia conflictiva de Ana 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Copia in conflitto di MBP-di-Marco.fritz.box 2026-05-30).md", "plan.md", Doubt::Sure),
            ("plan (Cópia em conflito de PC-Casa 2026-05-30 1).md", "plan.md", Doubt::Sure),
            ("plan (Co\u{301}pia em conflito de PC-Casa 2026-05-30).md", "plan.md", Doubt::Sure),
            ("買い物 (Taketan の競合コピー 2026-05-30).md", "買い物.md", Doubt::Sure),
            ("plan 2.md", "plan.md", Doubt::Usual),
            ("plan (1).md", "plan.md", Doubt::Doubtful),
            ("rejections 2.log", "rejections.log", Doubt::Usual),
            ("expunged (1).log", "expunged.log", Doubt::Doubtful),
            ("plan (draft) (1).md", "plan (draft).md", Doubt::Doubtful),
            ("Plan (Case Conflict).md", "Plan.md", Doubt::OfCase),
            ("plan (case conflict 2).md", "plan.md", Doubt::OfCase),
            ("plan (Eva's conflicted copy 2026-05-30) (1).md", "plan.md", Doubt::Sure),
            ("plan (Eva's conflicted copy 2026-05-30 (1)).md", "plan.md", Doubt::Sure),
            ("plan (draft) (conflicted copy).md", "plan (draft).md", Doubt::Sure),
            ("map.sync-conflict-20260530-101112-ABCDEF7.png", "map.png", Doubt::Sure),
            ("map.sync-conflict-20260530-101112-ABCDEF7", "map", Doubt::Sure),
            ("map (conflicted copy).txt", "map.txt", Doubt::Sure),
            ("map (conflicted copy)", "map", Doubt::Sure),
        ] {
            let expected = CopyName { original: original.into(), doubt };
            assert_eq!(original_of(name), Some(expected), "{name}");
        }
        for name in [
            "plan.md",
            "plan 10.md",
            "plan 1.md",
            "plan (draft).md",
            "plan.sync-conflict-x.md",
            ".sync-conflict-20260530-101112-A.md",
            "plan (1).txt",
            "plan (case conflicts).md",
            "plan 2",
            "(1).md",
            "plan ().md",
        ] {
            assert_eq!(original_of(name), None, "{name}");
        }
    }
}
