//! Conflict copies of tools that synchronise folders: they are found by their names, merged, and removed.

use std::collections::BTreeSet;

use saddlebag::document::{Note, TagSyntax};
use saddlebag::files::{MergeSides, common_version, merge};
use saddlebag::store::{Date, RelPath};

use super::disk::{Change, Disk, Known, write_new};
use super::memories::versions;
use super::names::{CopyName, original_of};
use super::report::{LeftOut, MergedCopy};
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;

/// How often a file is read again because others change it.
const ATTEMPTS: usize = 5;

/// Merges the conflict copies of the store, and removes each when the merged text is on disk.
pub(super) fn merge_copies(
    disk: &mut Disk<'_>,
    global: &Global,
    dry_run: bool,
    left_out: &mut Vec<LeftOut>,
    output: &mut Output,
) -> Result<Vec<MergedCopy>, Failure> {
    let files = disk.files()?;
    let known: BTreeSet<&RelPath> = files.iter().collect();
    let mut merged = Vec::new();
    // A copy of a copy is merged into that first.
    let mut copies: Vec<&RelPath> = files.iter().collect();
    copies.sort_by_key(|path| std::cmp::Reverse(path.file_name().len()));
    let mut finder = Copies { disk, global, dry_run, seen: Vec::new() };
    for copy in copies {
        let Some((original, name)) = original(copy) else { continue };
        if !known.contains(&original) {
            if !name.is_doubtful {
                let reason =
                    format!("it is a conflict copy of `{original}`, which does not exist; rename it to keep it");
                left_out.push(LeftOut { path: copy.to_string(), reason });
            }
            continue;
        }
        match finder.merge(copy, &original, &name, output) {
            Ok(done) => merged.extend(done),
            Err(failure) => left_out.push(LeftOut { path: copy.to_string(), reason: failure.message }),
        }
    }
    Ok(merged)
}

fn original(copy: &RelPath) -> Option<(RelPath, CopyName)> {
    let name = original_of(copy.file_name())?;
    let original = match copy.parent() {
        Some(folder) => folder.join(&name.original),
        None => RelPath::new(name.original.clone()),
    };
    Some((original.ok()?, name))
}

/// What copies are merged with.
struct Copies<'a, 'd> {
    disk: &'a mut Disk<'d>,
    global: &'a Global,
    dry_run: bool,
    /// Files with the texts that they were merged with.
    seen: Vec<(RelPath, Vec<u8>)>,
}

impl Copies<'_, '_> {
    /// Merges one copy; `None` if it is not a copy.
    fn merge(
        &mut self,
        copy: &RelPath,
        original: &RelPath,
        name: &CopyName,
        output: &mut Output,
    ) -> Result<Option<MergedCopy>, Failure> {
        let versions = versions(original, self.global, output);
        for _ in 0..ATTEMPTS {
            let (Some(ours), Some(theirs)) = (self.disk.read(original)?, self.disk.read(copy)?) else {
                return Ok(None);
            };
            if name.is_doubtful && !is_same_note(original, &ours, &theirs) {
                return Ok(None);
            }
            // Another copy of the same text is merged already.
            let ancestor = match self.seen.contains(&(original.clone(), theirs.bytes.clone())) {
                true => Some(theirs.bytes.clone()),
                false => common_version(&versions, &ours.bytes, &theirs.bytes)?
                    .and_then(|place| versions.get(place as usize).cloned()),
            };
            let has_ancestor = ancestor.is_some();
            let sides = MergeSides { ancestor, ours: Some(ours.bytes.clone()), theirs: Some(theirs.bytes.clone()) };
            let merged = merge(original.as_str(), &sides)?;
            let done = MergedCopy {
                copy: copy.to_string(),
                of: original.to_string(),
                has_ancestor,
                conflicts: merged.conflicts.len(),
                review: merged.review.as_ref().map(|review| review.path.clone()),
            };
            if self.dry_run {
                self.seen.push((original.clone(), theirs.bytes));
                return Ok(Some(done));
            }
            if let Some(review) = &merged.review {
                write_new(self.disk, &review.path, review.text.clone().into_bytes())?;
            }
            let written = match merged.content.as_ref() == Some(&ours.bytes) {
                true => Change::Made,
                false => self.disk.change(original, Some(&ours), merged.content)?,
            };
            if written == Change::Refused {
                return Ok(None);
            }
            if written == Change::Made && self.disk.change(copy, Some(&theirs), None)? == Change::Made {
                self.seen.push((original.clone(), theirs.bytes));
                return Ok(Some(done));
            }
        }
        let message = format!("`{original}` or its copy was changed {ATTEMPTS} times meanwhile");
        Err(Failure::new(saddlebag::protocol::ErrorCode::Contention, message, "run this again"))
    }
}

/// Returns true if a file that may be a note of its own is a copy: it has the title of the other, or is in the place of a log.
fn is_same_note(original: &RelPath, ours: &Known, theirs: &Known) -> bool {
    let is_day = original.file_name().strip_suffix(".md").and_then(Date::parse).is_some();
    let title = |file: &Known| Note::parse(&String::from_utf8_lossy(&file.bytes), TagSyntax::default()).title;
    let (one, other) = (title(ours), title(theirs));
    is_day || (!one.is_empty() && one == other)
}
