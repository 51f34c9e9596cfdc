//! Conflict copies of tools that synchronise folders: they are found by their names, merged, and removed.

use std::collections::{BTreeMap, BTreeSet};

use saddlebag::document::{Note, TagSyntax};
use saddlebag::history::common_version;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Date, NOTE_SUFFIX, RelPath, folded_name};

use super::disk::{Change, Disk, Known, write_new};
use super::expunged::Expunges;
use super::incoming::{Admitted, Asked, Incoming, Merged};
use super::memories::versions;
use super::names::{CopyName, Doubt, original_path};
use super::rejections;
use super::report::{LeftOut, MergedCopy, Synced};
use crate::prelude::*;
use crate::setup::sharing;

/// How often a file is read again because others change it.
const ATTEMPTS: usize = 5;

/// Merges the conflict copies of a store, one after the other.
pub(super) struct Copies<'a, 'd> {
    pub(super) disk: &'a mut Disk<'d>,
    pub(super) expunges: &'a mut Expunges<'d>,
    pub(super) global: &'a Global,
    pub(super) dry_run: bool,
    /// Scopes that this machine shares.
    shared: &'a BTreeSet<String>,
    /// Files with the texts that they were merged with.
    seen: Vec<(RelPath, Vec<u8>)>,
    /// Files as a dry run would have left them, with the versions that the history would have got.
    planned: BTreeMap<RelPath, Planned>,
}

#[derive(Default)]
struct Planned {
    content: Option<Vec<u8>>,
    versions: Vec<Vec<u8>>,
}

/// Bytes of a file, and how it was read; not read if a dry run has planned it.
type Content = (Vec<u8>, Option<Known>);

/// Outcome of the merge of one copy.
enum Done {
    Merged(MergedCopy),
    /// It stays, and this is why.
    LeftOut(String),
    /// It is another file, or gone, or the report of the disk names it.
    Nothing,
}

impl<'a, 'd> Copies<'a, 'd> {
    pub(super) fn new(
        disk: &'a mut Disk<'d>,
        expunges: &'a mut Expunges<'d>,
        global: &'a Global,
        dry_run: bool,
        shared: &'a BTreeSet<String>,
    ) -> Self {
        Self { disk, expunges, global, dry_run, shared, seen: Vec::new(), planned: BTreeMap::new() }
    }

    /// Merges the conflict copies of the store, and removes each when the merged text is on disk.
    pub(super) fn merge_all(&mut self, synced: &mut Synced, output: &mut Output) -> Result<(), Failure> {
        let files = self.disk.files()?;
        self.learn(&files, output)?;
        let folded = |path: &RelPath| (path.parent(), folded_name(path.file_name()).into_owned());
        let names: BTreeMap<(Option<RelPath>, String), &RelPath> =
            files.iter().map(|path| (folded(path), path)).collect();
        let mut copies: Vec<(&RelPath, RelPath, CopyName)> = files
            .iter()
            .filter_map(|copy| original_path(copy).map(|(original, name)| (copy, original, name)))
            .collect();
        // A copy of a copy is merged into that first.
        copies.sort_by_key(|(copy, ..)| std::cmp::Reverse(copy.file_name().len()));
        for (copy, original, name) in copies {
            let other_case = || names.get(&folded(&original)).map(|path| (*path).clone());
            let existing = match files.binary_search(&original) {
                Ok(_) => Some(original.clone()),
                Err(_) if name.doubt == Doubt::OfCase => other_case(),
                Err(_) => None,
            };
            let done = match existing {
                Some(original) => self.merge(copy, &original, &name, output),
                None => self.without_original(copy, &original, &name),
            };
            let reason = match done {
                Ok(Done::Merged(done)) => {
                    synced.copies.push(done);
                    continue;
                }
                Ok(Done::Nothing) => continue,
                Ok(Done::LeftOut(reason)) => reason,
                Err(failure) => failure.message,
            };
            synced.left_out.push(LeftOut { path: copy.to_string(), reason });
        }
        Ok(())
    }

    /// Reads the log of rejections, and the conflict copies of both logs, so that each copy is compared with all their lines.
    fn learn(&mut self, files: &[RelPath], output: &mut Output) -> Result<(), Failure> {
        for file in files.iter().filter(|path| path.parent().is_none()) {
            let original = original_path(file).map(|(original, _)| original);
            let is_copy = original.is_some();
            let log = original.unwrap_or_else(|| file.clone());
            let is_wanted = match log.as_str() {
                sharing::EXPUNGED => is_copy,
                sharing::REJECTIONS => !self.dry_run,
                _ => false,
            };
            let Some(known) = is_wanted.then(|| self.disk.read(file)).transpose()?.flatten() else { continue };
            let lines = String::from_utf8_lossy(&known.bytes);
            match log.as_str() {
                sharing::EXPUNGED => self.expunges.learn(&lines, self.disk, output)?,
                _ => drop(rejections::learn(self.disk, &lines, self.shared)?),
            }
        }
        Ok(())
    }

    fn without_original(&mut self, copy: &RelPath, original: &RelPath, name: &CopyName) -> Result<Done, Failure> {
        if name.doubt != Doubt::Sure {
            return Ok(Done::Nothing);
        }
        let content = self.disk.read(copy)?.map(|known| known.bytes);
        Ok(Done::LeftOut(match self.ask(original, copy, content) {
            Ok(_) => format!("it is a conflict copy of `{original}`, which does not exist; rename it to keep it"),
            Err(reason) => reason,
        }))
    }

    /// Asks whether a version of a file may be merged. `place` has it.
    fn ask(&mut self, path: &RelPath, place: &RelPath, content: Option<Vec<u8>>) -> Result<Admitted, String> {
        let mut incoming = Incoming(&mut self.expunges.texts);
        match incoming.ask(path.as_str(), content) {
            Asked::Admitted(admitted) => Ok(admitted),
            Asked::Expunged(held) => {
                incoming.report(&held, place);
                Err(held.reason())
            }
        }
    }

    /// Reads a file, as a dry run would have left it.
    fn bytes(&mut self, path: &RelPath) -> Result<Option<Content>, Failure> {
        if let Some(planned) = self.planned.get(path) {
            return Ok(planned.content.clone().map(|content| (content, None)));
        }
        Ok(self.disk.read(path)?.map(|known| (known.bytes.clone(), Some(known))))
    }

    /// Returns the versions that the history has of a file, the oldest first.
    fn versions(&self, path: &RelPath, output: &mut Output) -> Vec<Vec<u8>> {
        let mut versions = versions(path, self.global, output);
        if let Some(planned) = self.planned.get(path) {
            for version in &planned.versions {
                if versions.last() != Some(version) {
                    versions.push(version.clone());
                }
            }
        }
        versions
    }

    fn merge(
        &mut self,
        copy: &RelPath,
        original: &RelPath,
        name: &CopyName,
        output: &mut Output,
    ) -> Result<Done, Failure> {
        for _ in 0..ATTEMPTS {
            let (Some((ours, known)), Some((theirs, known_copy))) = (self.bytes(original)?, self.bytes(copy)?) else {
                return Ok(Done::Nothing);
            };
            if name.doubt != Doubt::Sure && !is_same_note(original, &ours, &theirs) {
                let reason =
                    format!("it may be a conflict copy of `{original}`, but has another title; merge it by hand");
                return Ok(if name.doubt == Doubt::Usual { Done::Nothing } else { Done::LeftOut(reason) });
            }
            self.expunges.texts.look_beside(&ours, &theirs);
            let admitted = match self.ask(original, copy, Some(theirs.clone())) {
                Ok(admitted) => admitted,
                Err(reason) => return Ok(Done::LeftOut(reason)),
            };
            // The review would have the text of either side.
            if let Err(reason) = self.ask(original, original, Some(ours.clone())) {
                return Ok(Done::LeftOut(format!("it is a conflict copy of `{original}`: {reason}")));
            }
            let is_text = original.file_name().ends_with(NOTE_SUFFIX);
            // Another copy of the same text may be merged already.
            let ancestor = match ours == theirs || self.seen.contains(&(original.clone(), theirs.clone())) {
                true => Some(theirs.clone()),
                false if is_text => {
                    let versions = self.versions(original, output);
                    common_version(&versions, &ours, &theirs)?.and_then(|place| versions.get(place as usize).cloned())
                }
                false => None,
            };
            let has_ancestor = ancestor.is_some();
            let merged = match ours == theirs {
                true => None,
                false => Some(Incoming(&mut self.expunges.texts).merge(
                    original.as_str(),
                    ancestor,
                    Some(ours.clone()),
                    admitted,
                )),
            };
            if merged.as_ref().is_some_and(|merged| merged.both_kept.is_some()) {
                let why = if is_text { "one of them is not UTF-8 or too large" } else { "it is not Markdown" };
                let help = "keep one of the two files, or rename it";
                return Ok(Done::LeftOut(format!(
                    "it is a conflict copy of `{original}` and not merged: {why}; {help}"
                )));
            }
            let done = MergedCopy {
                copy: copy.to_string(),
                of: original.to_string(),
                has_ancestor,
                conflicts: merged.as_ref().map_or(0, |merged| merged.conflicts),
                review: merged.as_ref().and_then(|merged| merged.review.clone()),
            };
            let (Some(known), Some(known_copy), false) = (&known, known_copy, self.dry_run) else {
                self.plan(copy, original, merged, [ours, theirs]);
                return Ok(Done::Merged(done));
            };
            match self.write(original, known, merged)? {
                Change::Refused => return Ok(Done::Nothing),
                Change::Stale => continue,
                Change::Made => {}
            }
            if self.remove(copy, known_copy)? {
                self.seen.push((original.clone(), theirs));
                return Ok(Done::Merged(done));
            }
        }
        let message = format!("`{original}` or its copy was changed {ATTEMPTS} times meanwhile");
        Err(Failure::new(ErrorCode::Contention, message, "run this again"))
    }

    /// Writes a merged file, and before it the review.
    fn write(&mut self, original: &RelPath, known: &Known, merged: Option<Merged>) -> Result<Change, Failure> {
        let Some(merged) = merged else { return Ok(Change::Made) };
        for (path, content) in merged.beside {
            write_new(self.disk, &path, content)?;
        }
        if merged.content.bytes() == Some(known.bytes.as_slice()) {
            return Ok(Change::Made);
        }
        self.disk.change(original, Some(known), merged.content)
    }

    /// Removes a copy whose text is in the merged file. Returns false if somebody has changed it.
    fn remove(&mut self, copy: &RelPath, mut known: Known) -> Result<bool, Failure> {
        for _ in 0..ATTEMPTS {
            if self.disk.change(copy, Some(&known), Admitted::nothing())? == Change::Made {
                return Ok(true);
            }
            // The version of a file that was just written can change, although its text does not.
            match self.disk.read(copy)? {
                Some(now) if now.bytes == known.bytes => known = now,
                now => return Ok(now.is_none()),
            }
        }
        Ok(false)
    }

    /// Notes what a run would have written.
    fn plan(&mut self, copy: &RelPath, original: &RelPath, merged: Option<Merged>, [ours, theirs]: [Vec<u8>; 2]) {
        self.seen.push((original.clone(), theirs));
        self.planned.insert(copy.clone(), Planned::default());
        let content = merged.map_or_else(|| Some(ours.clone()), |merged| merged.content.into_bytes());
        let planned = self.planned.entry(original.clone()).or_default();
        if content.as_ref() != Some(&ours) {
            planned.versions.extend([Some(ours), content.clone()].into_iter().flatten());
        }
        planned.content = content;
    }
}

/// Returns true if a file that may be a separate note is a copy: it has the title of the other, or is in the place of a log.
fn is_same_note(original: &RelPath, ours: &[u8], theirs: &[u8]) -> bool {
    let is_day = original.file_name().strip_suffix(".md").and_then(Date::parse).is_some();
    let title = |file: &[u8]| Note::parse(&String::from_utf8_lossy(file), TagSyntax::default()).title;
    let (one, other) = (title(ours), title(theirs));
    is_day || (!one.is_empty() && one == other)
}
