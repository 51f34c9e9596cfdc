//! Facts of the index that a rename needs, and the choice of the new name.

use crate::changes::Call;
use crate::notebook::config::NotebookConfig;
use crate::notebook::draft::safe_name;
use crate::notebook::files::{below_notebook, check_new_note, notebook_file};
use crate::notebook::index::Notebook;
use crate::notebook::links::{encoded_like, joined, relative_path, with_anchor};
use crate::notebook::select::{Resolution, Resolver, fold};
use crate::notebook::slug::slug;
use crate::notebook::snapshot::Snapshot;
use crate::notebook::superseded::supersedes;
use crate::notebook::types::{NoteView, SAME_TITLE, SAME_TITLE_BUT_FOR_CASE, Warning};
use crate::search::list_tree;
use crate::store::{Date, NOTE_SUFFIX, RelPath, is_hidden};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{
    Link, LinkKind, one_line,
    paths::{folder, stem},
};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of notes with one name.
pub(super) const MAX_NAMES: u32 = 10_000;

/// Returns the files that link to a note, or say that they supersede it.
pub(super) fn naming(
    call: &Call,
    snapshot: &Snapshot<'_>,
    resolver: &Resolver<'_>,
    note: usize,
) -> Result<Vec<RelPath>, Error> {
    let old = snapshot.path(note)?;
    let names_it = |from: usize, view: &NoteView<'_>| {
        let leads_there = |link: &Link| resolver.resolve(from, link) == Resolution::To(note);
        view.note.links.iter().any(leads_there) || supersedes(view.note, old)
    };
    let naming = snapshot.views.iter().enumerate().filter(|(from, view)| names_it(*from, view));
    naming.map(|(_, view)| notebook_file(call, view.path)).collect()
}

/// Returns the paths, as replies show them, of the other notes that have the title which a note is to get, and what is the same.
pub(super) fn same_title(
    call: &Call,
    views: &[NoteView<'_>],
    old: &RelPath,
    title: &str,
) -> Result<Vec<String>, Error> {
    let (title, folded) = (title.trim(), fold(title.trim()));
    let is_other = |view: &&NoteView<'_>| fold(&view.note.title) == folded && view.path != below_notebook(call, old);
    let shown = |view: &NoteView<'_>| {
        let same = if view.note.title == title { SAME_TITLE } else { SAME_TITLE_BUT_FOR_CASE };
        Ok(format!("{} {same}", call.scope.display_path(&notebook_file(call, view.path)?)))
    };
    views.iter().filter(is_other).map(shown).collect()
}

/// Returns true if the other notes in the folder of a note are named by their titles instead of slugs.
pub(super) fn has_verbatim_names(snapshot: &Snapshot<'_>, note: usize) -> Result<bool, Error> {
    let own = snapshot.path(note)?;
    let (mut verbatim, mut slugs) = (0_usize, 0_usize);
    for view in snapshot.views.iter().filter(|view| folder(view.path) == folder(own)) {
        let stem = stem(view.path);
        let title = view.note.title.as_str();
        if stem == slug(stem) {
            slugs += usize::from(stem != title);
        } else {
            verbatim += usize::from(stem == title);
        }
    }
    Ok(verbatim > slugs)
}

/// Returns the notes that the index could not read, or whose links it does not know completely.
pub(super) fn unread(call: &Call, notebook: &Notebook) -> Vec<Warning> {
    let corpus = notebook.corpus.borrow();
    let skipped = corpus.skipped(|path| call.scope.display_path(path)).into_iter();
    let skipped = skipped.map(|skipped| Warning::new(&skipped.path, skipped.reason));
    let cut = corpus.problems().filter(|(_, problem)| problem.leaves_out_links());
    skipped
        .chain(cut.map(|(path, problem)| Warning::new(&call.scope.display_path(path), problem.message.clone())))
        .collect()
}

/// Returns the canvases and bases of the notebook that name the file of a note, or that cannot be read.
pub(super) async fn naming_files(call: &Call, old: &RelPath) -> Result<Vec<Warning>, Error> {
    let layout = &call.scope.layout;
    let files = list_tree(&call.fs, layout.project_folder(), &call.scope.limits).await?;
    let below = below_notebook(call, old);
    let path = below.strip_suffix(NOTE_SUFFIX).unwrap_or(below);
    let stem = old.file_stem();
    // A path in JSON or YAML, a link in text.
    let starts = ["[[", "\"", "'", "(", ": "];
    let names = [path, stem].into_iter().flat_map(|name| starts.map(|start| format!("{start}{name}")));
    let names: Vec<String> = names.collect();
    let names_it = |text: &str| {
        // The extension, a heading, a title or the end follows.
        let ends = |rest: &str| {
            rest.starts_with(NOTE_SUFFIX) || !rest.starts_with(|c: char| c.is_alphanumeric() || "-_ .".contains(c))
        };
        let mut places = names.iter().flat_map(|name| text.match_indices(name.as_str()));
        places.any(|(at, name)| text.get(at + name.len()..).is_some_and(ends))
    };
    let mut named = Vec::new();
    let mut files: Vec<RelPath> = files.into_iter().filter(is_canvas_or_base).collect();
    order::sort_slice(&mut files, Ord::cmp);
    for file in &files {
        let problem = match call.load_text(file).await {
            Ok(Some(text)) if names_it(&text) => format!("names {path}; change it in the app that made it"),
            Ok(_) => continue,
            Err(error) => error.into_message(),
        };
        named.push(Warning::new(&call.scope.display_path(file), problem));
    }
    Ok(named)
}

fn is_canvas_or_base(file: &RelPath) -> bool {
    let name = file.file_name().to_ascii_lowercase();
    !file.segments().any(is_hidden) && [".canvas", ".base"].iter().any(|suffix| name.ends_with(suffix))
}

/// Meaning of links before a note was renamed.
pub(super) struct Meaning<'a> {
    resolver: Resolver<'a>,
    paths: Vec<&'a str>,
    old: usize,
}

impl<'a> Meaning<'a> {
    /// Creates the meaning. `old` is the note to rename, one of the views.
    pub(super) fn new(call: &Call, views: &[NoteView<'a>], old: &RelPath) -> Result<Self, Error> {
        let resolver = Resolver::new(views);
        let place = resolver.place(below_notebook(call, old));
        let old = place.ok_or_else(|| Error::internal(format!("{old} is to be renamed but is not among the notes")))?;
        Ok(Self { resolver, paths: views.iter().map(|view| view.path).collect(), old })
    }

    /// Returns the folder and the title that `FOLDER/TITLE` means: in a folder that has notes, or of the note's own title. Any other
    /// title may have a slash.
    pub(super) fn folder_of<'t>(&self, text: &'t str, title: &'t str, old: &RelPath) -> Option<(&'t str, &'t str)> {
        let (folder, name) = text.rsplit_once('/')?;
        let (folder, name) = (folder.trim_matches(['/', ' ']), name.trim());
        let name = if name.is_empty() { title } else { name };
        let has_notes = |path: &&str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let is_own = text.ends_with('/') || name == title || name == old.file_stem();
        (!folder.is_empty() && (is_own || self.paths.iter().any(has_notes))).then_some((folder, name))
    }

    /// Returns a relative link to another file from the place of the renamed note, as its author wrote it from the old one.
    pub(super) fn moved(&self, link: &Link, raw: &str, (from, to): (&str, &str)) -> Option<String> {
        let is_relative = matches!(link.kind, LinkKind::Markdown | LinkKind::Image)
            && !(link.is_external || link.target.is_empty() || link.target.starts_with('/'));
        let target = joined(folder(from), &link.target);
        let is_of_root = || self.resolver.place(&target).is_none() && self.resolver.place(&link.target).is_some();
        if !is_relative || is_of_root() {
            return None;
        }
        let path = raw.split('#').next().unwrap_or_default();
        Some(with_anchor(encoded_like(path, &link.target, relative_path(to, &target)), link))
    }

    pub(super) fn leads_to_old(&self, from: &str, link: &Link) -> bool {
        let from = self.resolver.place(from);
        // This function cannot return an error. The rewritten notes are notes that the same index has named.
        debug_assert!(from.is_some(), "a broken invariant: a link of a note that the index does not have");
        from.is_some_and(|from| self.resolver.resolve(from, link) == Resolution::To(self.old))
    }

    pub(super) fn is_unambiguous(&self, name: &str, new: &str) -> bool {
        let is_the_note = |note: usize| note == self.old || self.paths.get(note) == Some(&new);
        match self.resolver.find(name) {
            Resolution::To(note) => is_the_note(note),
            Resolution::Ambiguous(notes) => notes.into_iter().all(is_the_note),
            Resolution::Dead => true,
            Resolution::External => false,
        }
    }
}

/// New path of a note.
pub(super) enum NewPath {
    /// This path, which may be the old one.
    Free(RelPath),
    /// The name differs from the old one only in case, which is one file here. The note needs another name first.
    SameFile,
}

/// Returns the new path for a stem: the first of its numbered names that no file has and that is not taken. A note that is
/// named by its file gets the very name, or none.
pub(super) async fn new_path(
    call: &Call,
    config: &NotebookConfig,
    old_path: &RelPath,
    (folder, stem): (&str, &str),
    taken: &[RelPath],
    is_named_by_file: bool,
) -> Result<NewPath, Error> {
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let extension = old_path.file_name().strip_prefix(old_path.file_stem()).unwrap_or_default();
    for number in 1..=MAX_NAMES {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{folder}{stem}{number}{extension}");
        let path = notebook_file(call, &name)?;
        if path == *old_path {
            return Ok(NewPath::Free(path));
        }
        if !config.is_indexed(&name) {
            let message = format!("{name} would not be a note: the configuration excludes files of that name");
            return Err(Error::invalid_argument(message, "choose another title"));
        }
        check_new_note(call, &path)?;
        if !taken.contains(&path) && !is_taken(call, &path).await? {
            // The history of a path is that of one note.
            match call.is_forgotten(&path).await? {
                false => return Ok(NewPath::Free(path)),
                true if is_named_by_file => {
                    let message = format!(
                        "{name} is the path of a forgotten note, and the note has no other title than its file name"
                    );
                    let help = "choose another title, or give the note a heading `# …`";
                    return Err(Error::invalid_argument(message, help));
                }
                true => continue,
            }
        }
        // On some systems, a name that differs only in case is the same file.
        let is_same_name = path.as_str().to_lowercase() == old_path.as_str().to_lowercase();
        if is_same_name && !call.list(path.parent().as_ref()).await?.iter().any(|entry| entry.path == path) {
            return Ok(NewPath::SameFile);
        }
        if is_named_by_file {
            let message = format!("{name} exists, and the note has no other title than its file name");
            let help = "choose another title, or give the note a heading `# …`";
            return Err(Error::invalid_argument(message, help));
        }
    }
    Err(no_free_name(stem))
}

/// Returns the error for a stem all of whose names are taken.
pub(super) fn no_free_name(stem: &str) -> Error {
    let message = format!("there is no free name for `{stem}`: {MAX_NAMES} are taken");
    Error::new(ErrorCode::Full, message, "choose another title")
}

async fn is_taken(call: &Call, path: &RelPath) -> Result<bool, Error> {
    match call.load_text(path).await {
        Ok(found) => Ok(found.is_some()),
        Err(error) if error.code == ErrorCode::Storage => Err(error),
        Err(_) => Ok(true),
    }
}

/// Returns the name of a note without its own title: the new title.
///
/// # Errors
///
/// It cannot be a file name as it is. The note would lose a part of its title, which is nowhere else.
pub(super) fn named_by_file(title: &str) -> Result<String, Error> {
    let name = verbatim(title);
    if name == title {
        return Ok(name);
    }
    let message = format!("`{}` cannot be a file name, and the note has no other title", one_line(title));
    let help = if title.contains('/') {
        "a rename keeps the folder: move the file itself, or choose a title without `/`"
    } else {
        "choose a title without `/ \\ : * ? \" < > | # ^ [ ]`, or give the note a heading `# …`"
    };
    Err(Error::invalid_argument(message, help))
}

/// Refuses the note of a day.
pub(super) fn check_not_day(path: &RelPath) -> Result<(), Error> {
    if Date::parse(path.file_stem()).is_some() {
        let message = format!("{path} is the note of a day, which is found by its name");
        return Err(Error::invalid_argument(message, "remember the important part as a new note"));
    }
    Ok(())
}

/// Returns the name for the new title. A prefix before the slug of the old title, such as an id, stays. A note that is
/// called by its title remains so.
pub(super) fn new_stem(path: &RelPath, old_title: &str, title: &str, verbatim_names: bool) -> String {
    let stem = path.file_stem();
    let new = slug(title);
    let old = slug(old_title);
    // A title such as `port` is its own slug, so the other notes of the folder decide.
    if stem == old_title && (stem != old || verbatim_names) {
        return verbatim(title);
    }
    // The number of a second note of the same title is dropped with the title.
    let unnumbered =
        stem.rsplit_once('-').filter(|(_, end)| end.parse::<u32>().is_ok()).map_or(stem, |(start, _)| start);
    if new == old && (stem.ends_with(&old) || unnumbered.ends_with(&old)) {
        return stem.to_string();
    }
    let prefix = stem.strip_suffix(&old).or_else(|| unnumbered.strip_suffix(&old));
    let prefix = prefix.filter(|prefix| !old_title.is_empty() && prefix.ends_with('-') && prefix.len() <= 64);
    format!("{}{new}", prefix.unwrap_or_default())
}

/// Returns the title as a file name, without characters that a file name or a link cannot contain; else its slug.
fn verbatim(title: &str) -> String {
    let is_bad = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '#' | '^' | '[' | ']')
    };
    let plain = one_line(&title.replace(is_bad, " "));
    let plain = plain.trim_start_matches('.').trim_end_matches(['.', ' ']).trim();
    if plain.is_empty() { slug(title) } else { safe_name(plain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notebook::testing::path;

    #[test]
    fn the_name_follows_the_title() {
        let stem = |file: &str, old: &str, new: &str| new_stem(&path(file), old, new, false);
        for (file, old, new, expected) in [
            ("facts/port.md", "Port", "DB port", "db-port"),
            ("facts/port-2.md", "Port", "DB port", "db-port"),
            ("ab12-port.md", "Port", "DB port", "ab12-db-port"),
            ("auth.md", "How we log in", "Login", "login"),
            ("facts/port-2.md", "Port", "port!", "port-2"),
        ] {
            assert_eq!(stem(file, old, new), expected, "{file} {old} {new}");
        }
        assert!(check_not_day(&path("daily/2026-05-25.md")).is_err());
    }

    #[test]
    fn a_note_that_is_called_by_its_title_goes_on_being_called_so() {
        let stem = |file: &str, old: &str, new: &str, near: bool| new_stem(&path(file), old, new, near);
        for (file, old, new, near, expected) in [
            ("Money Back Policy.md", "Money Back Policy", "Refund Policy", false, "Refund Policy"),
            ("a/Ärger.md", "Ärger", "Über: was? \"nun\"", false, "Über was nun"),
            ("A B.md", "A B", "..x/y\\z. ", false, "x y z"),
            ("A B.md", "A B", "CON", false, "note-con"),
            ("A B.md", "A B", "???", false, "note-"),
            ("port.md", "port", "DB port", false, "db-port"),
            ("port.md", "port", "DB port", true, "DB port"),
            ("2-a-b.md", "A B", "C D", true, "2-c-d"),
        ] {
            let got = stem(file, old, new, near);
            assert!(got == expected || expected == "note-" && got.starts_with(expected), "{file} {new}: {got}");
        }
    }
}
