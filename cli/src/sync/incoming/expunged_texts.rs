//! [`ExpungedTexts`]: the texts that were expunged on any machine, and those of them that are here.

use std::collections::{BTreeMap, BTreeSet};

use saddlebag::store::RelPath;

use crate::sync::digests::{Digests, ExpungedLine};

/// The command that a person runs.
pub(in crate::sync) const COMMAND: &str = "`saddlebag expunge --received` lists where it is, and removes it with --yes";

/// The texts that were expunged on any machine, and those of them that are here.
pub(in crate::sync) struct ExpungedTexts {
    pub(in crate::sync) digests: Digests,
    /// Lines that nothing is left to do for.
    own: String,
    /// Texts that came again.
    returned: BTreeSet<String>,
    /// Files here that are versions of notes which were expunged as a whole, with their lines.
    pub(in crate::sync) notes: BTreeMap<RelPath, ExpungedLine>,
    /// Paths of the files that came with expunged texts, which were replaced.
    pub(in crate::sync) replaced: BTreeSet<String>,
}

/// Text or a file that another machine expunged, and that is still here. A person removes it.
pub(crate) struct Received {
    pub(crate) line: ExpungedLine,
    pub(crate) text: String,
    /// File that is removed as a whole; `None` for text.
    pub(crate) item: Option<RelPath>,
}

impl ExpungedTexts {
    /// `own` is the log of what nothing is left to do for.
    pub(in crate::sync) fn new(own: String) -> Self {
        Self {
            digests: Digests::default(),
            own,
            returned: BTreeSet::new(),
            notes: BTreeMap::new(),
            replaced: BTreeSet::new(),
        }
    }

    pub(in crate::sync) fn own(&self) -> &str {
        &self.own
    }

    /// Returns the line of a note that was expunged as a whole, if a content is a version of it. Where nothing was left of the note, only
    /// its date says so: a later note without a date may have its path.
    pub(in crate::sync) fn line_of_note(&self, path: &str, content: &[u8]) -> Option<ExpungedLine> {
        let is_it = |line: &&ExpungedLine| {
            line.note().is_some_and(|note| {
                note.path == path
                    && note.is_in(content)
                    && (note.is_dated() || self.open_lines().any(|open| open == *line))
            })
        };
        self.digests.lines().iter().find(is_it).cloned()
    }

    /// Returns true if a content of a file is a version of a note that another machine expunged as a whole, and must not leave this
    /// machine.
    pub(in crate::sync) fn is_note(&self, path: &str, content: &[u8]) -> bool {
        let is_it = |line: &ExpungedLine| line.note().is_some_and(|note| note.is_in(content));
        self.open_lines().any(|line| is_it(line) && line.note().is_some_and(|note| note.path == path))
            || self.notes.iter().any(|(known, line)| known.as_str() == path && is_it(line))
    }

    /// Returns true if a content of a file is a version of a note that any machine expunged as a whole.
    pub(in crate::sync) fn was_note(&self, path: &str, content: &[u8]) -> bool {
        let notes = || self.digests.lines().iter().filter_map(ExpungedLine::note);
        notes().any(|note| note.path == path && note.is_in(content))
    }

    /// Returns the lines that something may be left to do for.
    pub(in crate::sync) fn open_lines(&self) -> impl Iterator<Item = &ExpungedLine> {
        self.digests.lines().iter().filter(|line| !self.own.contains(&line.line()))
    }

    /// Returns true if a content has an expunged text, and must not leave this machine.
    pub(in crate::sync) fn is_in(&mut self, content: &[u8]) -> bool {
        self.digests.is_in(content)
    }

    /// Looks for expunged texts in a version of a file, at the places that another version names.
    pub(in crate::sync) fn look_beside(&mut self, expunged: &[u8], content: &[u8]) {
        self.digests.look_beside(expunged, content);
    }

    /// Returns the version that both sides of a merge had, without the expunged texts. It is compared, and shown in a review.
    pub(in crate::sync) fn without(&mut self, ancestor: Option<Vec<u8>>) -> Option<Vec<u8>> {
        ancestor.map(|ancestor| self.digests.without(ancestor))
    }

    /// Returns a version of a file that another machine committed, without the expunged texts.
    pub(in crate::sync) fn replaced_in(&mut self, path: &str, content: Vec<u8>) -> Vec<u8> {
        if !self.digests.is_in(&content) {
            return content;
        }
        let without = self.digests.without(content.clone());
        if without != content {
            self.replaced.insert(path.into());
        }
        without
    }

    /// Puts the expunged texts of a file that came, or the note that it is a version of, into the report.
    pub(in crate::sync) fn report(&mut self, path: &RelPath, note: Option<ExpungedLine>, content: &[u8]) {
        self.notes.extend(note.map(|note| (path.clone(), note)));
        if self.digests.is_in(content) {
            let has_it = |text: &&str| memchr::memmem::find(content, text.as_bytes()).is_some();
            let texts: Vec<String> =
                self.digests.found().map(|(_, text)| text).filter(has_it).map(String::from).collect();
            self.returned.extend(texts);
        }
    }

    /// Returns the texts that are here and that a person has to remove, with their lines.
    pub(in crate::sync) fn left(&self) -> Vec<Received> {
        let is_open = |line: &ExpungedLine| self.open_lines().any(|open| open == line);
        let found = self.digests.found().filter(|(line, text)| is_open(line) || self.returned.contains(*text));
        let texts = found.map(|(line, text)| Received { line: line.clone(), text: text.to_string(), item: None });
        let note = |(path, line): (&RelPath, &ExpungedLine)| Received {
            line: line.clone(),
            text: String::new(),
            item: Some(path.clone()),
        };
        // The text of a note is found in its file, so the file goes first.
        self.notes.iter().map(note).chain(texts).collect()
    }
}
