//! [`Renames`]: links to notes that one side renamed, in files that the other side changed meanwhile.

use std::collections::BTreeSet;

use saddlebag::document::{Link, LinkKind, Note, TagSyntax};
use saddlebag::store::{NOTE_SUFFIX, SCOPE_FOLDERS};

/// Fields with the time when a note was made. A renamed note keeps them.
const MADE: [&str; 2] = ["date:", "created:"];

/// Returns true for a line that says when a note was made.
pub(super) fn is_made(line: &str) -> bool {
    MADE.iter().any(|field| line.starts_with(field))
}

/// Notes that were renamed.
#[derive(Default)]
pub(super) struct Renames(Vec<Rename>);

struct Rename {
    old: String,
    new: String,
    old_title: String,
    new_title: String,
}

impl Renames {
    /// Adds a file that git takes for a renamed one, by its paths and contents, if it is the same note.
    pub(super) fn add(&mut self, [old, new]: [&str; 2], [before, after]: [&[u8]; 2]) {
        let [before, after] = [before, after].map(String::from_utf8_lossy);
        let made = before.lines().filter(|line| is_made(line));
        let is_same = made.clone().count() > 0 && made.into_iter().all(|line| after.lines().any(|other| other == line));
        if is_same && old.ends_with(NOTE_SUFFIX) && scope(old) == scope(new) {
            let title = |text: &str| Note::parse(text, TagSyntax::default()).title;
            let (old_title, new_title) = (title(&before), title(&after));
            self.0.push(Rename { old: old.into(), new: new.into(), old_title, new_title });
        }
    }

    /// Gives a note that both sides renamed one of its new names: `[old, lost, chosen]` are its paths, and the contents are those of
    /// the lost and the chosen one.
    pub(super) fn choose(&mut self, [old, lost, chosen]: [&str; 3], [of_lost, of_chosen]: [&[u8]; 2]) {
        self.0.retain(|rename| rename.old != old || rename.new != lost);
        self.add([lost, chosen], [of_lost, of_chosen]);
    }

    pub(super) fn has(&self, old: &str, new: &str) -> bool {
        self.0.iter().any(|rename| rename.old == old && rename.new == new)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a file with links to the new names; `None` if it has none to the old ones.
    pub(super) fn relinked(&self, path: &str, content: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(content).ok().filter(|_| path.ends_with(NOTE_SUFFIX) && !self.is_empty())?;
        let renames: Vec<&Rename> = self.0.iter().filter(|rename| scope(&rename.old) == scope(path)).collect();
        let mut links = Note::parse(text, TagSyntax::default()).links;
        links.sort_by_key(|link| std::cmp::Reverse(link.target_span.start));
        let (mut text, mut seen) = (text.to_string(), BTreeSet::new());
        for link in links.iter().filter(|link| !link.is_external) {
            let span = link.target_span.clone();
            let Some(written) = text.get(span.clone()) else { continue };
            let target = written.split('#').next().unwrap_or_default();
            let Some(new) = renames.iter().find_map(|rename| rename.target(path, link, target)) else { continue };
            // Several reference links have one definition.
            if seen.insert(span.start) {
                text.replace_range(span.start..span.start + target.len(), &new);
            }
        }
        (!seen.is_empty()).then(|| text.into_bytes())
    }
}

impl Rename {
    /// Returns the new target of a link in a file; `None` if it is a link to another note.
    fn target(&self, path: &str, link: &Link, written: &str) -> Option<String> {
        let is_wiki = matches!(link.kind, LinkKind::Wiki | LinkKind::Embed | LinkKind::Property);
        let plain = !self.new_title.contains(['|', '#', '[', ']', '"', '\\']);
        if is_wiki && plain && !self.old_title.is_empty() && link.target.to_lowercase() == self.old_title.to_lowercase()
        {
            return Some(self.new_title.clone());
        }
        let (folder, old) = split(&self.old);
        let (new_folder, new) = split(&self.new);
        let stem = |name: &'_ str| name.strip_suffix(NOTE_SUFFIX).unwrap_or(name).to_string();
        let before = written.strip_suffix(old).map(|before| (before, new.to_string()));
        let (before, name) = before.or_else(|| Some((written.strip_suffix(&stem(old))?, stem(new))))?;
        // A wiki link may be a part of the path, and another link is relative to the folder of its file.
        let is_it = match is_wiki {
            true => before.is_empty() || format!("/{folder}/").ends_with(&format!("/{before}")),
            false => resolved(split(path).0, before).as_deref() == Some(folder),
        };
        (is_it && folder == new_folder).then(|| format!("{before}{name}"))
    }
}

/// Returns the folder and the name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the folder that a relative one is; `None` if it is above all.
fn resolved(from: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the folder of the project or of the owner that a path is in; none for the notebook in the root.
pub(super) fn scope(path: &str) -> Option<(&str, &str)> {
    let mut parts = path.split('/');
    let first = parts.next().filter(|first| SCOPE_FOLDERS.contains(first))?;
    Some((first, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_link_gets_the_new_name() {
        let mut renames = Renames::default();
        let note = |title: &str| format!("---\ntitle: {title}\ndate: 2026-05-30\n---\n\nText.\n").into_bytes();
        let paths = ["projects/p/facts/port.md", "projects/p/facts/harbour.md"];
        renames.add(paths, [&note("Port"), &note("Harbour")]);
        // Another note that only looks like it.
        renames.add(["projects/p/facts/a.md", "projects/p/facts/b.md"], [b"# A\n", b"# B\n"]);
        let text = "[[Port]] [[port|here]] [[Port#Depth]] [[facts/port]] [to](../facts/port.md#depth) `[[Port]]` [[Ports]] \
                    [no](port.md) [out](https://example.org/port.md) [[A]]\n";
        let expected = "[[Harbour]] [[Harbour|here]] [[Harbour#Depth]] [[facts/harbour]] [to](../facts/harbour.md#depth) \
                        `[[Port]]` [[Ports]] [no](port.md) [out](https://example.org/port.md) [[A]]\n";
        let relinked = renames.relinked("projects/p/notes/a.md", text.as_bytes()).expect("relinked");
        assert_eq!(String::from_utf8(relinked).expect("text"), expected);
        assert_eq!(renames.relinked("projects/q/notes/a.md", text.as_bytes()), None, "of another project");
        assert_eq!(renames.relinked("projects/p/notes/a.md", b"[[Other]]\n"), None);
        let mut of_root = Renames::default();
        of_root.add(["facts/port.md", "facts/harbour.md"], [&note("Port"), &note("Harbour")]);
        let relinked = of_root.relinked("a.md", b"[[facts/port]] [[acts/port]]\n").expect("relinked");
        assert_eq!(String::from_utf8(relinked).expect("text"), "[[facts/harbour]] [[acts/port]]\n");
    }
}
