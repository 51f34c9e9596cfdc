//! [`Snapshot`]: the notes of the index at one moment, and finding them by name. [`Names`] keeps their names.

use core::cell::RefCell;

use super::files::below_notebook;
use super::select::{Resolver, notes_named};
use super::types::{NoteView, SESSION, SUPERSEDES};
use crate::changes::Call;
use crate::engine::{ambiguous, prefer_approved};
use crate::journal::Target;
use crate::search::{Corpus, DocId, IndexedFile};
use crate::store::{RelPath, is_of_sessions};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Link, Note};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of notes that an error suggests.
const NAMED_NOTES: usize = 5;

/// Maximum number of links and tags of all notes together. Each takes some 150 bytes, the graph of them as much again, and
/// an instance has 1 GiB.
const MAX_PARTS: usize = 2_000_000;

/// Parsed notes, sorted by path: outlines, as all of them are in memory at once.
pub(super) struct ParsedNotes<'a> {
    notes: Vec<(DocId, &'a IndexedFile, Note)>,
}

impl<'a> ParsedNotes<'a> {
    /// Decodes the notes. Fails if a note cannot be decoded, or if the notes have so many links that they would not
    /// fit into memory.
    pub(super) fn from_corpus(corpus: &'a Corpus) -> Result<Self, Error> {
        let files = &corpus.files;
        let documents = files.by_path().filter_map(|(_, id)| Some((id, files.doc(id)?)));
        let mut notes = Vec::new();
        let mut parts = 0_usize;
        for (id, document) in documents {
            let Some(note) = corpus.outline(document)? else { continue };
            parts += note.links.len() + note.tags.len();
            if parts > MAX_PARTS {
                let message =
                    format!("the notes have more than {MAX_PARTS} links and tags together, up to {}", document.path);
                let help = "leave generated files out of the notebook with `exclude` in `.zk/config.toml`, or move notes to another notebook";
                return Err(Error::new(ErrorCode::TooLarge, message, help));
            }
            notes.push((id, document, note));
        }
        Ok(Self { notes })
    }

    /// Decodes the notes with titles and bodies as zk reads them.
    pub(super) fn from_zk_corpus(corpus: &'a Corpus) -> Result<Self, Error> {
        let notes =
            Self::from_corpus(corpus)?.notes.into_iter().map(|(id, document, note)| (id, document, note.into_zk()));
        Ok(Self { notes: notes.collect() })
    }
}

/// A note with its index number and its whole path.
type Placed<'a> = (NoteView<'a>, DocId, &'a RelPath);

/// Notes of the notebook, sorted by path.
pub(super) struct Snapshot<'a> {
    pub(super) views: Vec<NoteView<'a>>,
    /// Index numbers of the notes.
    pub(super) ids: Vec<DocId>,
    paths: Vec<&'a RelPath>,
    call: &'a Call,
    /// Notes that were found by name, whose names and trust an answer relies on.
    found: RefCell<Vec<DocId>>,
}

impl<'a> Snapshot<'a> {
    pub(super) fn from_notes(parsed: &'a ParsedNotes<'a>, call: &'a Call) -> Self {
        let notes = parsed.notes.iter().filter_map(|(id, document, note)| {
            let path = call.scope.layout.below_notebook(&document.path)?;
            let (date, modified) = (note.stated(), document.modified);
            let is_undated = date.is_none();
            let created = date.map_or(modified, |date| call.now.moment_of(date));
            let calendar = date.map_or(modified, |date| call.now.calendar_of(date));
            let (text, unapproved) = (document.text(), document.unapproved);
            let view = NoteView { path, text, note, modified, created, calendar, is_undated, unapproved };
            Some((view, *id, &document.path))
        });
        Self::of(call, notes)
    }

    /// Creates a snapshot of the notes that zk would index: those with valid frontmatter.
    pub(super) fn from_zk_notes(parsed: &'a ParsedNotes<'a>, call: &'a Call) -> Self {
        let all = Self::from_notes(parsed, call);
        let valid = all.notes().filter(|(view, ..)| view.note.frontmatter.problem.is_none());
        // zk sorts a note without a date by the time of its file.
        Self::of(call, valid.map(|(view, id, path)| (NoteView { is_undated: false, ..view }, id, path)))
    }

    /// Returns the notes before one was renamed: with the given one at the old path, and none at the new path.
    pub(super) fn before<'b>(&self, call: &Call, from: &'b RelPath, to: &RelPath, old: &'b Note) -> Snapshot<'b>
    where
        'a: 'b,
    {
        let (from_below, to_below) = (below_notebook(call, from), below_notebook(call, to));
        let is_renamed = |view: &NoteView<'_>| view.path == from_below || view.path == to_below;
        let unapproved = self.views.iter().find(|view| is_renamed(view)).and_then(|view| view.unapproved);
        let mut notes: Vec<Placed<'b>> = self.notes().filter(|(view, ..)| !is_renamed(view)).collect();
        let place = notes.partition_point(|(view, ..)| view.path < from_below);
        notes.insert(place, (NoteView::named(from_below, old, unapproved), DocId::MAX, from));
        Snapshot::of(self.call, notes)
    }

    fn of(call: &'a Call, notes: impl IntoIterator<Item = Placed<'a>>) -> Self {
        let mut snapshot =
            Self { views: Vec::new(), ids: Vec::new(), paths: Vec::new(), call, found: RefCell::default() };
        for (view, id, path) in notes {
            snapshot.views.push(view);
            snapshot.ids.push(id);
            snapshot.paths.push(path);
        }
        snapshot
    }

    fn notes(&self) -> impl Iterator<Item = Placed<'a>> {
        self.views.iter().zip(&self.ids).zip(&self.paths).map(|((view, id), path)| (*view, *id, *path))
    }

    /// Finds the note that a person names, as [`named`](Self::named) does. Of several, it is the only approved one.
    pub(super) fn find(&self, name: &str) -> Result<usize, Error> {
        let mut notes = self.named(name);
        prefer_approved(&mut notes, |&note| self.unapproved(note).is_ok_and(|from| from.is_none()));
        match notes.as_slice() {
            [] => Err(self.no_note_named(name)),
            [note] => Ok(*note),
            several => {
                let paths = several.iter().map(|&note| self.display_path(note));
                Err(ambiguous(name, paths.collect::<Result<_, Error>>()?))
            }
        }
    }

    /// Returns the notes that a name may mean: by the path (relative to the notebook, or as replies show it), file name, title
    /// or alias, else by a word of the journal such as `daily`, else by the name of a session.
    pub(super) fn named(&self, name: &str) -> Vec<usize> {
        let notes = self.resolve(&Resolver::new(&self.views), name);
        self.rely_on(&notes);
        notes
    }

    /// Records notes that an answer relies on.
    pub(super) fn rely_on(&self, notes: &[usize]) {
        self.found.borrow_mut().extend(notes.iter().filter_map(|&note| self.ids.get(note)));
    }

    /// Returns the notes that were found by name.
    pub(super) fn into_found(self) -> Vec<DocId> {
        self.found.into_inner()
    }

    /// Finds a note like [`find`](Self::find), for a command that changes it. In a project, `MEMORY.md` names the file of all
    /// projects, as in commands that read.
    pub(super) fn find_to_change(&self, name: &str) -> Result<usize, Error> {
        let scope = &self.call.scope;
        let layout = &scope.layout;
        match scope.kept_file(name).filter(|file| layout.below_notebook(file).is_none()) {
            Some(file) => {
                let message =
                    format!("{} is shared by all projects, and is not a note of this one", scope.display_path(file));
                let help = match layout.project_long_term() {
                    Some(own) => format!("give the path of the project's own file, {}", scope.display_path(own)),
                    None => "`edit NAME OLD NEW` removes text from it".to_string(),
                };
                Err(Error::invalid_argument(message, help))
            }
            None => self.find(name),
        }
    }

    /// Resolves a name like [`named`](Self::named), with the resolver of these notes.
    pub(super) fn resolve(&self, resolver: &Resolver<'_>, name: &str) -> Vec<usize> {
        let scope = &self.call.scope;
        let below = || scope.below_notebook(name.trim()).map(|below| resolver.find_exactly(below)).unwrap_or_default();
        let of_word = || match Target::from_name(name) {
            // The title after `page:` may be a word for another file.
            Ok(Target::Page(title)) => resolver.find_exactly(&title),
            word => {
                let path = word.ok().and_then(|word| word.path(self.call).ok());
                let below = path.as_ref().and_then(|path| scope.layout.below_notebook(path));
                below.and_then(|below| resolver.place(below)).into_iter().collect()
            }
        };
        let mut notes = resolver.find_exactly(name);
        if notes.is_empty() {
            notes = below();
        }
        if notes.is_empty() {
            notes = of_word();
        }
        if notes.is_empty() {
            notes = self.of_session(name.trim());
        }
        notes
    }

    /// Returns the notes of a session, whose name their frontmatter has.
    fn of_session(&self, name: &str) -> Vec<usize> {
        let is_named = |(_, view): &(usize, &NoteView<'_>)| {
            is_of_sessions(view.path) && view.note.frontmatter.texts(SESSION).any(|session| session == name)
        };
        self.views.iter().enumerate().filter(is_named).map(|(note, _)| note).collect()
    }

    /// Returns the paths of the notes that a filter names: of those that [`named`](Self::named) finds, else of those whose path
    /// has the name as a part.
    pub(super) fn paths_named(&self, resolver: &Resolver<'_>, name: &str) -> Result<Vec<String>, Error> {
        let mut notes = self.resolve(resolver, name);
        if notes.is_empty() {
            let paths: Vec<&str> = self.views.iter().map(|view| view.path).collect();
            notes = notes_named(&paths, name);
        }
        if notes.is_empty() {
            return Err(self.no_note_named(name));
        }
        notes.into_iter().map(|note| Ok(self.path(note)?.into())).collect()
    }

    /// Returns the note at a position in [`views`](Self::views).
    pub(super) fn view(&self, note: usize) -> Result<&NoteView<'a>, Error> {
        self.views.get(note).ok_or_else(|| no_such_place(note, self.views.len()))
    }

    /// Returns the index number of the note at a position.
    pub(super) fn id(&self, note: usize) -> Result<DocId, Error> {
        self.ids.get(note).copied().ok_or_else(|| no_such_place(note, self.ids.len()))
    }

    /// Returns a link of the note at a position.
    pub(super) fn link(&self, note: usize, link: usize) -> Result<&'a Link, Error> {
        let links = &self.view(note)?.note.links;
        links.get(link).ok_or_else(|| Error::internal(format!("link {link} of a note with {} links", links.len())))
    }

    /// Returns the path relative to the notebook.
    pub(super) fn path(&self, note: usize) -> Result<&'a str, Error> {
        Ok(self.view(note)?.path)
    }

    pub(super) fn title(&self, note: usize) -> Result<&'a str, Error> {
        Ok(self.view(note)?.note.title.as_str())
    }

    /// Returns the provenance of a note that nobody has approved yet.
    pub(super) fn unapproved(&self, note: usize) -> Result<Option<Provenance>, Error> {
        Ok(self.view(note)?.unapproved)
    }

    /// Returns path and title of a note to link to, which the link has. A note that goes into prompts cannot link to one that
    /// waits for approval.
    pub(super) fn link_target(&self, note: usize, is_from_trusted: bool) -> Result<(&'a str, &'a str), Error> {
        let path = self.path(note)?;
        if let Some(provenance) = self.unapproved(note)?.filter(|_| is_from_trusted) {
            let message =
                format!("{path} waits for approval ({provenance}): a link to it would bring its title into prompts");
            let help = "approve it with `memory approve`, then link to it";
            return Err(Error::new(ErrorCode::NeedsConfirmation, message, help));
        }
        Ok((path, self.title(note)?))
    }

    /// Returns the path relative to the root.
    pub(super) fn whole_path(&self, note: usize) -> Result<&'a RelPath, Error> {
        self.paths.get(note).copied().ok_or_else(|| no_such_place(note, self.paths.len()))
    }

    /// Returns the path as replies show it.
    pub(super) fn display_path(&self, note: usize) -> Result<String, Error> {
        Ok(self.call.scope.display_path(self.whole_path(note)?))
    }

    /// Returns the error for a name that no note has.
    fn no_note_named(&self, name: &str) -> Error {
        if let Some(original) = self.call.scope.original(name) {
            return self.call.scope.is_backup(name, &original);
        }
        let not_found = || {
            let message = format!("there is no note `{}`", name.escape_debug());
            Error::new(ErrorCode::NotFound, message, self.similar(name))
        };
        self.call.scope.kept_for_all_projects(name).unwrap_or_else(not_found)
    }

    /// Suggests notes that share a word with a name, else the first ones.
    pub(super) fn similar(&self, name: &str) -> String {
        let words: Vec<String> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).map(str::to_lowercase).collect();
        let has_word = |text: &str| words.iter().any(|word| text.to_lowercase().contains(word));
        let is_alike =
            |note: &usize| self.views.get(*note).is_some_and(|view| has_word(view.path) || has_word(&view.note.title));
        let shown = |notes: &mut dyn Iterator<Item = usize>| -> Vec<String> {
            notes.take(NAMED_NOTES).filter_map(|note| self.display_path(note).ok()).collect()
        };
        let alike = shown(&mut (0..self.views.len()).filter(is_alike));
        if !alike.is_empty() {
            return format!("notes like it: {}", alike.join(", "));
        }
        match self.views.len() {
            0 => "the notebook has no notes".into(),
            count => {
                format!("give the path, file name, title or alias of one of the {count} notes, as a list shows them")
            }
        }
    }
}

/// Names that links can use, while files change.
pub(super) struct Names(Vec<(String, Note, Option<Provenance>)>);

impl Names {
    pub(super) fn from_snapshot(snapshot: &Snapshot<'_>) -> Self {
        let names = snapshot.views.iter().map(|view| {
            let (title, aliases) = (view.note.title.clone(), view.note.aliases.clone());
            let frontmatter = superseding(view.note);
            (view.path.to_string(), Note { title, aliases, frontmatter, ..Note::default() }, view.unapproved)
        });
        Self(names.collect())
    }

    pub(super) fn views(&self) -> Vec<NoteView<'_>> {
        self.0.iter().map(|(path, note, unapproved)| NoteView::named(path, note, *unapproved)).collect()
    }
}

/// Returns the part of the frontmatter that decides between several notes of one title.
fn superseding(note: &Note) -> Frontmatter {
    let entries = note.frontmatter.entries.iter().filter(|(key, _)| key == SUPERSEDES);
    Frontmatter { entries: entries.cloned().collect(), ..Frontmatter::default() }
}

fn no_such_place(note: usize, notes: usize) -> Error {
    Error::internal(format!("note {note} of {notes} notes"))
}
