//! Text in the files of exports: it is found as it is, and as JSON spells it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use saddlebag::history::EXPUNGED;

use crate::disk::{DiskError, replace};
use crate::export::ExportPlace;
use crate::regular;

/// Maximum size of a file that is searched, in bytes.
const MAX_SEARCHED_BYTES: u64 = 256 << 20;

/// Returns the spellings of text in a file of an export, the longest first: as it is, or in JSON and the JSON of a page.
fn forms_in(path: &Path, text: &str) -> Vec<String> {
    if !is_json(path) {
        return vec![text.to_string()];
    }
    let json = |text: &str| {
        let json = serde_json::to_string(text).unwrap_or_default();
        json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_string()
    };
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut forms = vec![json(text), json(text).replace('<', "\\u003c"), json(&html)];
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "json" || suffix == "jsonl" || suffix == "html")
}

/// Returns the positions of a spelling in a file. In JSON, a match that begins inside an escape such as `\n` is skipped.
fn places_of(path: &Path, bytes: &[u8], form: &str) -> Vec<usize> {
    let escapes = |end: usize| bytes.iter().take(end).rev().take_while(|byte| **byte == b'\\').count();
    let is_whole = |place: &usize| !is_json(path) || escapes(*place) % 2 == 0;
    memchr::memmem::find_iter(bytes, form).filter(is_whole).collect()
}

/// A file in the place of an export that has the text.
pub(super) struct ExportedText {
    pub(super) path: PathBuf,
    /// Number of places in it.
    pub(super) count: u32,
    /// True if the file is as the export wrote it.
    pub(super) is_written: bool,
}

/// Finds the files of an export that contain the text.
pub(super) fn files_with_text(export: &ExportPlace, text: &str) -> Vec<ExportedText> {
    let has_text = |(path, bytes): (PathBuf, Vec<u8>)| {
        let count: usize = forms_in(&path, text).iter().map(|form| places_of(&path, &bytes, form).len()).sum();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        (count > 0).then(|| ExportedText { path, count, is_written: export.wrote(&bytes) })
    };
    files_of(&export.path).filter_map(has_text).collect()
}

/// Returns the files in the place of an export, with their bytes.
fn files_of(place: &Path) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let files = if regular::is_one(place) { vec![place.to_path_buf()] } else { files_below(place, &|_| true) };
    files.into_iter().filter_map(|path| Some((path.clone(), regular::read(&path, MAX_SEARCHED_BYTES).ok()??)))
}

/// Replaces the text in an exported file. Returns the new bytes.
pub(super) fn without_text(path: &Path, text: &str) -> io::Result<Vec<u8>> {
    let before = fs::read(path)?;
    let mut after = before.clone();
    for form in forms_in(path, text) {
        for place in places_of(path, &after, &form).into_iter().rev() {
            after.splice(place..place + form.len(), EXPUNGED.bytes());
        }
    }
    match replace(path, Some(&before), Some(&after), None) {
        Ok(_) => Ok(after),
        Err(DiskError::Unreadable(error) | DiskError::Unwritable(error)) => Err(error),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// Returns the files below a folder that are not too large to be searched. Links are not followed.
pub(super) fn files_below(folder: &Path, is_searched: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file()
                && is_searched(&path)
                && entry.metadata().is_ok_and(|found| found.len() <= MAX_SEARCHED_BYTES)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
