//! [`merge_commits`]: the files that the merge of two commits changes.

use std::collections::BTreeMap;

use saddlebag::document::{Note, TagSyntax};
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::without_rejected;

use super::expunged::brings_back;
use super::incoming::{ExpungedTexts, Incoming};
use super::renames::{Renames, scope};
use super::report::{ForgottenAndRenamed, Synced};
use crate::failure::Failure;
use crate::git::repository::{Difference, FileVersion, Repository};
use crate::output::single_line;

/// Number of contents of git that are in memory at once.
const READ_AT_ONCE: usize = 500;

/// Merges the changes that ours and theirs made since a common commit. Returns the files that differ from ours. Texts are compared
/// with those that were expunged, and reviews with the log of what was rejected.
pub(super) fn merge_commits(
    repository: &Repository,
    common: Option<&str>,
    [ours, theirs]: [&str; 2],
    (expunged, rejected): (&mut ExpungedTexts, &str),
    synced: &mut Synced,
) -> Result<Vec<FileVersion>, Failure> {
    let changes = |to: &str| -> Result<Changes, Failure> {
        let changes = repository.differences(common, to)?;
        Ok(changes.into_iter().map(|change| (change.path.clone(), change)).collect())
    };
    let mut merge = Merge {
        repository,
        expunged,
        rejected,
        synced,
        sides: [changes(ours)?, changes(theirs)?],
        contents: BTreeMap::new(),
        renames: Renames::default(),
        files: Vec::new(),
        stored: Vec::new(),
    };
    if !merge.expunged.digests.lines().is_empty() {
        merge.load_theirs()?;
    }
    let moves = match common {
        Some(common) => [repository.moves(common, ours)?, repository.moves(common, theirs)?],
        None => [Vec::new(), Vec::new()],
    };
    merge.load(&moves)?;
    let mut renames = merge.renames(&moves);
    merge.moved(&moves, &mut renames)?;
    if !renames.is_empty() {
        merge.load_all()?;
    }
    merge.renames = renames;
    let [ours, theirs] = std::mem::take(&mut merge.sides);
    for (path, ours) in ours.iter().filter(|(path, _)| !theirs.contains_key(*path)) {
        if let Some(content) = merge.relinked(path, &ours.after) {
            merge.write(path.clone(), ours.mode.clone(), Some(content));
        }
    }
    for (path, theirs) in theirs {
        match ours.get(&path) {
            None => match merge.taken(&path, &theirs) {
                Some(content) => merge.write(path, theirs.mode, Some(content)),
                None => merge.files.push(FileVersion { path, mode: theirs.mode, blob: theirs.after }),
            },
            Some(ours) if ours.after == theirs.after => {}
            // A link or another repository is not a version of a file.
            Some(ours) if ours.is_regular() && !theirs.is_regular() => {}
            Some(ours) if !ours.is_regular() => {
                merge.files.push(FileVersion { path, mode: theirs.mode, blob: theirs.after });
            }
            Some(ours) => {
                let mode = if ours.after.is_some() { &ours.mode } else { &theirs.mode };
                let content = merge.merge(&path, [&theirs.before, &ours.after, &theirs.after])?;
                merge.write(path, mode.clone(), content);
            }
        }
    }
    merge.finish()
}

/// Returns the files that have expunged texts among those that theirs changed since ours, a commit that it comes from, with
/// `(expunged)` in the place of the texts.
pub(super) fn without_expunged(
    repository: &Repository,
    [ours, theirs]: [&str; 2],
    expunged: &mut ExpungedTexts,
) -> Result<Vec<FileVersion>, Failure> {
    if expunged.digests.lines().is_empty() {
        return Ok(Vec::new());
    }
    let (mut files, mut stored) = (Vec::new(), Vec::new());
    let mut changes = repository.differences(Some(ours), theirs)?;
    changes.retain(|change| change.after.is_some() && change.is_regular());
    for some in changes.chunks(READ_AT_ONCE) {
        let blobs: Vec<String> =
            some.iter().flat_map(|change| [&change.before, &change.after]).flatten().cloned().collect();
        let mut contents = repository.contents(&blobs)?.into_iter();
        for Difference { path, mode, before, .. } in some {
            let before = before.as_ref().and_then(|_| contents.next());
            let (Some(content), Some(shown)) = (contents.next(), repository.shown(path)) else { continue };
            expunged.look_beside(&before.unwrap_or_default(), &content);
            let replaced = expunged.replaced_in(&shown, content.clone());
            if replaced != content {
                files.push(FileVersion { path: path.clone(), mode: mode.clone(), blob: None });
                stored.push(replaced);
            }
        }
    }
    for (file, blob) in files.iter_mut().zip(repository.store(&stored)?) {
        file.blob = Some(blob);
    }
    Ok(files)
}

/// The changes of one side, by path.
type Changes = BTreeMap<String, Difference>;

struct Merge<'a> {
    repository: &'a Repository,
    expunged: &'a mut ExpungedTexts,
    /// Log of the values that were rejected for good.
    rejected: &'a str,
    synced: &'a mut Synced,
    /// The changes of ours and of theirs.
    sides: [Changes; 2],
    /// Contents of the blobs that both sides changed.
    contents: BTreeMap<String, Vec<u8>>,
    /// Notes that one side renamed, once all moves are known.
    renames: Renames,
    files: Vec<FileVersion>,
    /// New contents, with the places of their files.
    stored: Vec<(usize, Vec<u8>)>,
}

impl Merge<'_> {
    /// Reads what is merged. A process for each file would be slow.
    fn load(&mut self, moves: &[Vec<(String, String)>; 2]) -> Result<(), Failure> {
        let [ours, theirs] = &self.sides;
        let moved = moves.iter().flatten().flat_map(|(old, new)| [old, new]);
        let both = ours.keys().filter(|path| theirs.contains_key(*path)).chain(moved);
        let changes = both.flat_map(|path| [ours.get(path), theirs.get(path)]).flatten();
        let regular = changes.filter(|change| change.is_regular());
        let mut blobs: Vec<String> =
            regular.flat_map(|change| [&change.before, &change.after]).flatten().cloned().collect();
        self.read(&mut blobs)
    }

    /// Reads all that changed: links in it may have to follow a rename.
    fn load_all(&mut self) -> Result<(), Failure> {
        let changes = self.sides.iter().flat_map(BTreeMap::values).filter(|change| change.is_regular());
        let mut blobs: Vec<String> = changes.filter_map(|change| change.after.clone()).collect();
        self.read(&mut blobs)
    }

    /// Reads all that theirs changed: it may have text that was expunged.
    fn load_theirs(&mut self) -> Result<(), Failure> {
        let changes = self.sides.iter().skip(1).flat_map(BTreeMap::values);
        let regular = changes.filter(|change| change.is_regular());
        let mut blobs: Vec<String> =
            regular.flat_map(|change| [&change.before, &change.after]).flatten().cloned().collect();
        self.read(&mut blobs)
    }

    fn read(&mut self, blobs: &mut Vec<String>) -> Result<(), Failure> {
        blobs.retain(|blob| !self.contents.contains_key(blob));
        blobs.sort_unstable();
        blobs.dedup();
        let contents = self.repository.contents(blobs)?;
        self.contents.extend(blobs.drain(..).zip(contents));
        Ok(())
    }

    fn content(&self, blob: &Option<String>) -> Option<&[u8]> {
        blob.as_ref().and_then(|blob| self.contents.get(blob)).map(Vec::as_slice)
    }

    /// Returns a file with its links to renamed notes changed; `None` if it has none.
    fn relinked(&self, path: &str, blob: &Option<String>) -> Option<Vec<u8>> {
        self.renames.relinked(path, self.content(blob)?)
    }

    /// Returns a file that theirs alone changed, with its links to renamed notes changed and without expunged texts; `None` if it
    /// stays as it is.
    fn taken(&mut self, path: &str, theirs: &Difference) -> Option<Vec<u8>> {
        let relinked = self.relinked(path, &theirs.after);
        let content = relinked.clone().or_else(|| self.content(&theirs.after).map(<[u8]>::to_vec))?;
        // What is before the text may differ, so that only the earlier version leads to it.
        let before = self.content(&theirs.before).map(<[u8]>::to_vec);
        self.expunged.without(before);
        let shown = self.repository.shown(path)?;
        let replaced = self.expunged.replaced_in(&shown, content.clone());
        (relinked.is_some() || replaced != content).then_some(replaced)
    }

    /// Returns the notes that one side renamed.
    fn renames(&self, moves: &[Vec<(String, String)>; 2]) -> Renames {
        let mut renames = Renames::default();
        for (side, moves) in self.sides.iter().zip(moves) {
            for (old, new) in moves {
                let before = side.get(old).and_then(|change| self.content(&change.before));
                let after = side.get(new).and_then(|change| self.content(&change.after));
                if let (Some(before), Some(after)) = (before, after) {
                    renames.add([old, new], [before, after]);
                }
            }
        }
        renames
    }

    /// Merges the files that one side moved within a scope, and that the other one edited or moved too, and takes them out.
    fn moved(&mut self, moves: &[Vec<(String, String)>; 2], renames: &mut Renames) -> Result<(), Failure> {
        for (mover, moves_of_one) in moves.iter().enumerate() {
            for (old, new) in moves_of_one {
                let other = moves.get(1 - mover).and_then(|moves| moves.iter().find(|(known, _)| known == old));
                // Two moves of one file are one pair.
                if scope(old) != scope(new) || (mover == 1 && other.is_some()) {
                    continue;
                }
                let there = other.map_or(old, |(_, there)| there);
                if scope(old) != scope(there) {
                    continue;
                }
                let [one, two] = if mover == 0 { [0, 1] } else { [1, 0] };
                let change = |side: usize, path: &String| self.sides.get(side).and_then(|side| side.get(path)).cloned();
                let (Some(moved), Some(edited), Some(left)) = (change(one, new), change(two, there), change(one, old))
                else {
                    continue;
                };
                // Another file may have one of the new paths on the other side.
                let is_taken = (there != new && change(two, new).is_some())
                    || (there != new && there != old && change(one, there).is_some());
                if edited.after.is_none() && renames.has(old, new) {
                    self.name_forgotten(old, new);
                }
                if edited.after.is_none() || is_taken {
                    continue;
                }
                let (ours, theirs) =
                    if mover == 0 { (&moved.after, &edited.after) } else { (&edited.after, &moved.after) };
                // Both machines choose the same one of two new paths: that of the title which the merge takes.
                let first = if there == old { new } else { new.min(there) };
                let content = self.merge(first, [&left.before, ours, theirs])?;
                let is_of = |blob: &Option<String>| title(self.content(blob)) == title(content.as_deref());
                let path = match (is_of(&moved.after), is_of(&edited.after)) {
                    (true, false) => new,
                    (false, true) if there != old => there,
                    _ => first,
                };
                if there != old && there != new {
                    let (lost, blob) = if path == new { (there, &edited.after) } else { (new, &moved.after) };
                    let after = content.as_deref().unwrap_or_default();
                    renames.choose([old, lost, path], [self.content(blob).unwrap_or_default(), after]);
                }
                for gone in [old, new, there] {
                    for side in &mut self.sides {
                        side.remove(gone);
                    }
                    if gone != path {
                        let mode = moved.mode.clone();
                        self.files.push(FileVersion { path: gone.clone(), mode, blob: None });
                    }
                }
                self.write(path.clone(), moved.mode, content);
            }
        }
        Ok(())
    }

    /// Puts a note that one side forgot and the other one renamed into the report.
    fn name_forgotten(&mut self, old: &str, new: &str) {
        let [from, to] = [old, new].map(|path| self.repository.shown(path));
        let named = from.zip(to).map(|(from, to)| ForgottenAndRenamed { from, to });
        let named = named.filter(|named| !self.synced.forgotten_and_renamed.contains(named));
        self.synced.forgotten_and_renamed.extend(named);
    }

    /// Merges a file that both sides changed: its blobs are the common one, ours and theirs. A review is added to the files.
    /// Returns the new content.
    fn merge(&mut self, path: &str, blobs: [&Option<String>; 3]) -> Result<Option<Vec<u8>>, Failure> {
        let [ancestor, ours, theirs] =
            blobs.map(|blob| self.relinked(path, blob).or_else(|| self.content(blob).map(<[u8]>::to_vec)));
        let Some(shown) = self.repository.shown(path) else {
            let message = format!("`{}` cannot be merged: it is outside of the store", single_line(path));
            return Err(Failure::new(ErrorCode::Conflict, message, "merge it by hand with `git pull`"));
        };
        match (&ours, &theirs) {
            (Some(ours), None) if self.expunged.is_note(&shown, ours) => return Err(brings_back(&shown)),
            // A review would have its text.
            (Some(content), None) | (None, Some(content)) if self.expunged.was_note(&shown, content) => {
                return Ok(None);
            }
            _ => {}
        }
        // The version that both had leads to the text, if theirs has changed what is before it.
        let ancestor = self.expunged.without(ancestor);
        let mut incoming = Incoming(self.expunged);
        let theirs = incoming.committed(&shown, theirs);
        let merged = incoming.merge(&shown, ancestor, ours, theirs);
        self.synced.add_merged(&merged);
        for (shown, content) in merged.beside {
            if let Some(path) = self.repository.path(&shown) {
                let mode = self.repository.mode(&path);
                let mut content = content.into_bytes();
                // A review is new on all machines, so that none of them has looked for rejected values in it.
                if merged.review.as_ref() == Some(&shown) {
                    let text = content.as_deref().and_then(|content| std::str::from_utf8(content).ok());
                    let rest = text.and_then(|text| without_rejected(self.rejected.as_bytes(), &shown, text, ""));
                    content = rest.map(String::into_bytes);
                }
                if content.is_some() {
                    self.write(path, mode, content);
                }
            }
        }
        Ok(merged.content.into_bytes())
    }

    fn write(&mut self, path: String, mode: String, content: Option<Vec<u8>>) {
        self.stored.extend(content.map(|content| (self.files.len(), content)));
        self.files.push(FileVersion { path, mode, blob: None });
    }

    /// Stores the new contents, and returns the files.
    fn finish(mut self) -> Result<Vec<FileVersion>, Failure> {
        let (places, contents): (Vec<usize>, Vec<Vec<u8>>) = std::mem::take(&mut self.stored).into_iter().unzip();
        for (place, blob) in places.into_iter().zip(self.repository.store(&contents)?) {
            if let Some(file) = self.files.get_mut(place) {
                file.blob = Some(blob);
            }
        }
        Ok(self.files)
    }
}

fn title(content: Option<&[u8]>) -> String {
    Note::parse(&String::from_utf8_lossy(content.unwrap_or_default()), TagSyntax::default()).title
}
