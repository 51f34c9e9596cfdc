//! [`Synced`]: what a synchronisation did.

use schemars::JsonSchema;
use serde::Serialize;

use super::disk::{Disk, Refused, RefusedFiles};
use super::expunged::COMMAND;
use super::merge_sides::{BothKept, MergedSides};
use crate::failure::Failure;
use crate::output::{Output, single_line};

/// Number of files that the text names.
const MAX_NAMED: usize = 20;

/// What a synchronisation did.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Synced {
    /// True if nothing was changed because of --dry-run.
    pub(super) dry_run: bool,
    /// Conflict copies that were merged.
    pub(super) copies: Vec<MergedCopy>,
    /// Files that were committed on this machine.
    pub(super) committed: Vec<FileChange>,
    /// Files that others changed, and that were changed here.
    pub(super) received: Vec<FileChange>,
    /// Files that were sent.
    pub(super) sent: Vec<FileChange>,
    /// Files with parts that both sides changed. They wait in the inbox.
    pub(super) reviews: Vec<String>,
    /// Files that both sides changed and that cannot be merged.
    pub(super) both_kept: Vec<BothKept>,
    /// Files whose new text has a value that was rejected for good. They were written without its lines.
    pub(super) rejected: Vec<Refused>,
    /// Files with a secret, or with text that memory refuses for another reason. They are as the other side has them, without a
    /// record in the history.
    pub(super) unrecorded: Vec<Refused>,
    /// Files in which text was that another machine expunged, and that is still here, perhaps only in the history.
    pub(super) expunged: Vec<String>,
    /// Remote repository and its branch, such as `origin/main`; `null` if there is none.
    pub(super) remote: Option<String>,
    /// Reason why the remote repository was not reached.
    pub(super) not_reached: Option<String>,
    /// Files that were left out, with the reasons.
    pub(super) left_out: Vec<LeftOut>,
    /// Summary.
    pub(super) message: String,
}

/// A conflict copy.
#[derive(Serialize, JsonSchema)]
pub(super) struct MergedCopy {
    /// Path of the copy.
    pub(super) copy: String,
    /// Path of the file that it was a copy of.
    pub(super) of: String,
    /// True if the history has a version that both come from. Without one, nothing counts as deleted.
    pub(super) has_ancestor: bool,
    /// Number of parts that both sides changed.
    pub(super) conflicts: usize,
    /// Path of the review of these parts.
    pub(super) review: Option<String>,
}

/// A file that differs.
#[derive(Serialize, JsonSchema)]
pub(super) struct FileChange {
    /// Path relative to the root of the store.
    pub(super) path: String,
    /// What happened to it.
    pub(super) change: ChangeKind,
}

/// What happened to a file.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ChangeKind {
    /// It is new.
    Added,
    /// It has another content.
    Changed,
    /// It is gone.
    Deleted,
}

/// A file that was left out.
#[derive(Serialize, JsonSchema)]
pub(super) struct LeftOut {
    /// Path relative to the root of the store.
    pub(super) path: String,
    /// Reason.
    pub(super) reason: String,
}

impl Synced {
    /// Returns the summary.
    pub(super) fn told(&self) -> String {
        let files = |count: usize| format!("{count} file{}", if count == 1 { "" } else { "s" });
        let mut parts = Vec::new();
        if !self.copies.is_empty() {
            parts.push(format!("{} merged with its conflict copy", files(self.copies.len())));
        }
        if !self.committed.is_empty() {
            parts.push(format!("{} committed", files(self.committed.len())));
        }
        if !self.received.is_empty() {
            parts.push(format!("{} received", files(self.received.len())));
        }
        if !self.sent.is_empty() {
            parts.push(format!("{} sent", files(self.sent.len())));
        }
        let parts = if parts.is_empty() { "everything is up to date".to_string() } else { parts.join(", ") };
        let with = match (&self.remote, &self.not_reached) {
            (Some(remote), None) => format!(" with {}", single_line(remote)),
            (Some(remote), Some(_)) => format!("; {} was not reached", single_line(remote)),
            (None, _) => String::new(),
        };
        let dry = if self.dry_run { "Dry run, nothing is changed: " } else { "" };
        format!("{dry}{parts}{with}")
    }

    /// Notes what is left of a merge: a review, or a file of which both versions are kept.
    pub(super) fn add_merged(&mut self, merged: &MergedSides) {
        if let Some(review) = merged.review.as_ref().filter(|review| !self.reviews.contains(&review.path)) {
            self.reviews.push(review.path.clone());
        }
        if let Some(both) = merged.both_kept.as_ref().filter(|both| !self.both_kept.contains(both)) {
            self.both_kept.push(both.clone());
        }
    }

    pub(super) fn take_refused(&mut self, disk: &mut Disk<'_>) {
        RefusedFiles { rejected: self.rejected, unrecorded: self.unrecorded } = disk.take_refused();
    }

    /// Names the files whose text their memories refused, also if the synchronisation fails later.
    pub(super) fn name_refused(&self, output: &mut Output) {
        for Refused { path, reason } in &self.rejected {
            output.note(&format!("a part of {} is not written here: {}", single_line(path), single_line(reason)));
        }
        for Refused { path, reason } in &self.unrecorded {
            let (path, reason) = (single_line(path), single_line(reason));
            output.note(&format!("{path} is as the other side has it, and `undo` does not take it back: {reason}"));
        }
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            return Ok(output.object(self)?);
        }
        output.line(&self.message)?;
        for MergedCopy { copy, of, has_ancestor, .. } in &self.copies {
            let how = if *has_ancestor { "" } else { ", without a common version" };
            output.line(&format!("  merged    {}  from {}{how}", single_line(of), single_line(copy)))?;
        }
        let lists = [("committed", &self.committed), ("received", &self.received), ("sent", &self.sent)];
        for (word, files) in lists {
            for FileChange { path, change } in files.iter().take(MAX_NAMED) {
                let mark = match change {
                    ChangeKind::Added => '+',
                    ChangeKind::Changed => '~',
                    ChangeKind::Deleted => '-',
                };
                output.line(&format!("  {word:<9} {mark} {}", single_line(path)))?;
            }
            if files.len() > MAX_NAMED {
                output.line(&format!("  {word:<9} and {} more; --json lists all", files.len() - MAX_NAMED))?;
            }
        }
        output.flush()?;
        for path in &self.reviews {
            output.note(&format!("both sides changed the same part: see {}, or `review`", single_line(path)));
        }
        for BothKept { path, other } in &self.both_kept {
            let path = single_line(path);
            output.note(&match other {
                Some(other) => {
                    let other = single_line(other);
                    format!("both sides changed {path}, which cannot be merged: the other version is {other}")
                }
                None => format!("one side deleted {path} and the other changed it: it stays"),
            });
        }
        self.name_refused(output);
        for path in &self.expunged {
            let path = single_line(path);
            output.note(&format!("another machine expunged text of {path}, and it is here: {COMMAND}"));
        }
        for LeftOut { path, reason } in &self.left_out {
            output.note(&format!("left out: {}: {}", single_line(path), single_line(reason)));
        }
        if let Some(reason) = &self.not_reached {
            output.note(&format!("not reached: {}; run this again", single_line(reason)));
        }
        Ok(())
    }
}
