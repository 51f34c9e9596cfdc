//! Paths of filters: which notes they name, by zk's rules.

use saddlebag_markdown::paths::{normalize, without_extension};

use crate::notebook::types::NoteView;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Error, ErrorCode};

/// Returns true if a path is, begins with, or is below `href`: `x.md`, `x`, `daily/2026-01`, `facts`.
fn fits(path: &str, href: &str) -> bool {
    href.is_empty()
        || path
            .strip_prefix(href)
            .is_some_and(|rest| rest.starts_with('/') || href.ends_with('/') || !rest.contains('/'))
}

/// The notes that a path names: the note itself, else all that it begins or that are below it.
pub(super) fn listed(notes: &[NoteView<'_>], path: &str) -> Vec<usize> {
    // Nothing is above the root.
    let Some(href) = normalize(path) else { return Vec::new() };
    first_that_finds(&paths_of(notes), &[&|path| is_note(path, &href), &|path| fits(path, &href)])
}

/// The notes that the paths of a filter such as `--linked-by` name, ascending.
///
/// # Errors
///
/// A path that names no note.
pub(super) fn named(notes: &[NoteView<'_>], paths: &[&str]) -> Result<Vec<usize>, Error> {
    let of_notes = paths_of(notes);
    let mut named = Vec::new();
    for &path in paths {
        let found = notes_named(&of_notes, path);
        if found.is_empty() {
            let help = "give the path of a note below the root of the notebook, or a part of its name";
            return Err(Error::new(ErrorCode::NotFound, format!("could not find notes at: {path}"), help));
        }
        named.extend(found);
    }
    order::sort_slice(&mut named, Ord::cmp);
    named.dedup();
    Ok(named)
}

/// Returns the places of the notes that a filter such as `--linked-by` names, among the paths of all notes.
///
/// A path names the note at this path. If there is no such note, it names those whose file name has it as a part, and
/// if there are none, those whose path has it as a part.
pub(crate) fn notes_named(paths: &[&str], path: &str) -> Vec<usize> {
    let Some(href) = normalize(path).filter(|href| !href.is_empty()) else { return Vec::new() };
    let in_name = |path: &str| {
        let after = path.rfind(&href).and_then(|at| path.get(at + href.len()..));
        after.is_some_and(|after| !after.contains('/'))
    };
    first_that_finds(paths, &[&|path| is_note(path, &href), &in_name, &|path| path.contains(&href)])
}

fn is_note(path: &str, href: &str) -> bool {
    path == href || without_extension(path) == href
}

fn paths_of<'a>(notes: &[NoteView<'a>]) -> Vec<&'a str> {
    notes.iter().map(|view| view.path).collect()
}

fn first_that_finds(paths: &[&str], rules: &[&dyn Fn(&str) -> bool]) -> Vec<usize> {
    let found = |rule: &&dyn Fn(&str) -> bool| -> Vec<usize> {
        paths.iter().enumerate().filter(|(_, path)| rule(path)).map(|(number, _)| number).collect()
    };
    rules.iter().map(found).find(|notes| !notes.is_empty()).unwrap_or_default()
}

/// Notes in the order in which zk indexes and numbers them: by path, a folder before what only begins
/// like it.
pub(super) fn index_order(notes: &[NoteView<'_>]) -> Vec<usize> {
    let mut notes_in_order: Vec<usize> = (0..notes.len()).collect();
    let key = |byte: u8| if byte == b'/' { 1 } else { byte };
    let path = |note: usize| notes.get(note).map(|view| view.path.bytes().map(key)).into_iter().flatten();
    order::sort_slice(&mut notes_in_order, |&a, &b| path(a).cmp(path(b)));
    notes_in_order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_a_note_a_folder_or_the_beginning_of_a_name() {
        for (path, href, expected) in [
            ("facts/a.md", "facts", true),
            ("facts/a.md", "facts/a", true),
            ("facts/a.md", "facts/a.md", true),
            ("facts/a.md", "fact", false),
            ("daily/2026-01-05.md", "daily/2026-01", true),
            ("a.md", "", true),
            ("a.md", "nope", false),
        ] {
            assert_eq!(fits(path, href), expected, "{path} {href}");
        }
    }

    #[test]
    fn a_name_means_a_path_then_a_part_of_a_file_name_then_a_part_of_a_path() {
        let paths = ["facts/port.md", "ports/list.md", "ports/old.md"];
        assert_eq!(notes_named(&paths, "facts/port"), [0]);
        assert_eq!(notes_named(&paths, "port"), [0]);
        assert_eq!(notes_named(&paths, "ports"), [1, 2]);
        assert!(notes_named(&paths, "list.txt").is_empty());
    }
}
