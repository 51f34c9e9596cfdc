//! [`SameTitle`]: existing notes with the title of a new one.

use super::draft::Rendered;
use super::files::{below_notebook, normalized_lines};
use super::index::Notebook;
use super::superseded::is_path;
use super::types::{SUPERSEDES, part_of};
use crate::engine::{Loaded, load};
use crate::search::IndexedFile;
use crate::store::RelPath;
use crate::trust::TrustState;
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_markdown::{Frontmatter, Note, Value, one_line};
use saddlebag_protocol::Error;

/// Existing notes of the same title as a new one.
pub(super) struct SameTitle<'a> {
    new: &'a Rendered<'a>,
    notebook: &'a Notebook,
    notes: Vec<Known>,
    met: SortedSet<RelPath>,
}

pub(super) struct Known {
    pub(super) path: RelPath,
    pub(super) is_same: bool,
    /// True if it has the words of the new one, whatever its links and white space.
    has_words: bool,
    is_unapproved: bool,
    supersedes: Option<String>,
    tags: Vec<String>,
    below: String,
}

impl<'a> SameTitle<'a> {
    pub(super) fn of(new: &'a Rendered<'a>, notebook: &'a Notebook) -> Self {
        Self { new, notebook, notes: Vec::new(), met: SortedSet::default() }
    }

    /// Looks at a file, whose name is that of the attempt with this number. Returns `true` if it exists, whatever it is.
    pub(super) async fn meet(&mut self, path: &RelPath, number: u32) -> Result<bool, Error> {
        if self.met.contains(path) {
            return Ok(true);
        }
        let draft = &self.new.draft;
        let text = match load(&draft.call.fs, path, draft.call.scope.limits.max_file_bytes).await? {
            Loaded::Absent => return Ok(false),
            Loaded::TooLarge(_) => None,
            Loaded::Whole { bytes, .. } => String::from_utf8(bytes).ok(),
        };
        self.met.insert(path.clone());
        let Some(text) = text else { return Ok(true) };
        let note = Note::parse_file(&text, draft.config.tags, path.file_stem());
        if one_line(&note.title) == one_line(draft.title) {
            let supersedes = match note.frontmatter.value(SUPERSEDES) {
                Some(Value::String(old)) => Some(old.clone()),
                _ => None,
            };
            let (is_same, has_words) = compare(&text, &note, &self.new.text_at(path, number, None)?, &draft.content)?;
            let below = below_notebook(draft.call, path).to_string();
            let is_unapproved = TrustState::from_parsed(&note.frontmatter, &text).unapproved().is_some();
            let (path, tags) = (path.clone(), note.tags);
            self.notes.push(Known { path, is_same, has_words, is_unapproved, supersedes, tags, below });
        }
        Ok(true)
    }

    /// Returns a note with the same text.
    pub(super) fn same(&self) -> Option<&Known> {
        self.counted().find(|note| note.is_same)
    }

    /// Returns an unapproved note with the same words.
    pub(super) fn unapproved(&self) -> Option<&Known> {
        self.notes.iter().find(|note| note.is_unapproved && note.has_words)
    }

    /// Returns the note with the same text that is superseded by no other, and is the one at `old` or supersedes it.
    ///
    /// # Errors
    ///
    /// There is one that does neither.
    pub(super) fn same_instead_of(&self, old: &RelPath) -> Result<Option<&Known>, Error> {
        let below = below_notebook(self.new.draft.call, old);
        let is_current = |note: &&Known| note.path == *old || self.newer(&note.path).is_none();
        let Some(same) = self.counted().filter(|note| note.is_same).find(is_current) else { return Ok(None) };
        if same.path == *old || same.supersedes.as_ref().is_some_and(|path| is_path(path, below)) {
            return Ok(Some(same));
        }
        let message = format!("{} says the same, and does not supersede {old}", same.path);
        let help = format!("add `supersedes: \"{below}\"` to its frontmatter, or choose another title");
        Err(Error::invalid_argument(message, help))
    }

    /// Returns the last note that no other one supersedes.
    pub(super) fn newest(&self) -> Option<&Known> {
        let is_superseded = |note: &&Known| self.counted().any(|other| other.supersedes.as_ref() == Some(&note.below));
        self.counted().rev().find(|note| !is_superseded(note)).or(self.counted().last())
    }

    /// Returns the notes that the new one may repeat or supersede. A note that waits for approval is in no prompt, so it
    /// cannot take the place of text that goes into prompts.
    fn counted(&self) -> impl DoubleEndedIterator<Item = &Known> {
        let is_trusted = self.new.draft.provenance.is_trusted();
        self.notes.iter().filter(move |note| !(is_trusted && note.is_unapproved))
    }

    /// Returns the message that a note says the same.
    pub(super) fn message(&self, same: &Known) -> String {
        let path = self.new.draft.call.scope.display_path(&same.path);
        let missing = self.new.draft.tags.iter().filter(|tag| !same.tags.contains(tag));
        let missing: Vec<String> = missing.map(|tag| format!("`{tag}`")).collect();
        let mut message = format!("Already remembered in {path}");
        if !missing.is_empty() {
            message.push_str(&format!(" (without the tags {})", missing.join(", ")));
        }
        if same.is_unapproved {
            message.push_str(
                ", which is not approved: it is in no prompt until a person approves it with `memory approve`",
            );
        }
        if let Some(newer) = self.newer(&same.path) {
            message
                .push_str(&format!("; {newer} supersedes it, so name that in `supersedes` if the older text is right"));
        }
        message
    }

    /// Returns the shown path of the note that supersedes the one at a path.
    pub(super) fn newer(&self, path: &RelPath) -> Option<String> {
        let call = self.new.draft.call;
        let corpus = self.notebook.corpus.borrow();
        let may = |newer: &IndexedFile| newer.path != *path && newer.unapproved.is_none();
        corpus.newer(below_notebook(call, path), may).map(|newer| call.scope.display_path(&newer.path))
    }
}

/// Returns if a note of the same title has the content of the new one: the same text without metadata and links, and every
/// link of the new one. Returns also if it has the same words, whatever the links and the white space.
fn compare(text: &str, note: &Note, rendered: &str, content: &str) -> Result<(bool, bool), Error> {
    // If a part were lost here, two notes could look the same, and the new note would not be written.
    let after = |text: &str, frontmatter: &Frontmatter| -> Result<_, Error> {
        Ok(parts(part_of(text, frontmatter.span.end..text.len())?))
    };
    let (old_lines, old_links) = after(text, &note.frontmatter)?;
    let (new_lines, new_links) = after(rendered, &Frontmatter::parse(rendered))?;
    let has_links = new_links.iter().all(|link| old_links.contains(link));
    let pairs = [(old_lines, new_lines), (parts(part_of(text, note.body.clone())?).0, parts(content).0)];
    let words = |lines: &[String]| lines.join(" ").split_whitespace().map(String::from).collect::<Vec<_>>();
    let is_same = has_links && pairs.iter().any(|(old, new)| old == new);
    Ok((is_same, pairs.iter().any(|(old, new)| words(old) == words(new))))
}

/// Returns the lines of the text, and separately those that are only a link.
fn parts(text: &str) -> (Vec<String>, SortedSet<String>) {
    let mut words = String::new();
    let mut links = SortedSet::default();
    for line in normalized_lines(text) {
        match link_alone(line) {
            Some(link) => {
                links.insert(link.to_string());
            }
            None => {
                words.push_str(line);
                words.push('\n');
            }
        }
    }
    (normalized_lines(&words).into_iter().map(ToString::to_string).collect(), links)
}

fn link_alone(line: &str) -> Option<&str> {
    let link = line.trim();
    let link = link.strip_prefix("- ").unwrap_or(link);
    let link = link.strip_prefix("Supersedes: ").unwrap_or(link);
    let is_wiki = link.starts_with("[[") && link.ends_with("]]");
    let is_markdown = link.starts_with('[') && link.ends_with(')') && link.contains("](");
    (is_wiki || is_markdown).then_some(link)
}
