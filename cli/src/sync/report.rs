//! [`Synced`]: what a synchronisation did.

use super::disk::{Disk, Refused, RefusedFiles};
use super::incoming::{BothKept, COMMAND, Merged};
use super::memories::MadeOperation;
use crate::output::single_line;
use crate::prelude::*;

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
    /// Files with a secret, or with text that memory refuses for another reason. They were written without a record
    /// in the history.
    pub(super) unrecorded: Vec<Refused>,
    /// Files with expunged text that is here, perhaps only in the history.
    pub(super) expunged: Vec<String>,
    /// Files that came with expunged text. They have `(expunged)` in its place.
    pub(super) replaced: Vec<String>,
    /// Remote repository and its branch, such as `origin/main`; `null` if there is none.
    pub(super) remote: Option<String>,
    /// Reason why the remote repository was not reached.
    pub(super) not_reached: Option<String>,
    /// Reason why the remote repository was reached and took nothing.
    pub(super) not_sent: Option<String>,
    /// Number of commits that the remote repository does not have, as far as this machine knows; `null` if it has all.
    pub(super) not_sent_commits: Option<usize>,
    /// Notes that one machine forgot and another one renamed: they are there under the new name.
    pub(super) forgotten_and_renamed: Vec<ForgottenAndRenamed>,
    /// Operations of the history that this run made.
    pub(super) operations: Vec<MadeOperation>,
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

/// A note that one machine forgot and another one renamed.
#[derive(PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ForgottenAndRenamed {
    /// Path that the note had.
    pub(super) from: String,
    /// Path that it has now.
    pub(super) to: String,
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
        let nothing = if self.not_sent_commits.is_some() { "nothing new" } else { "everything is up to date" };
        let parts = if parts.is_empty() { nothing.to_string() } else { parts.join(", ") };
        let waiting = match self.not_sent_commits {
            Some(1) => ", 1 commit is not sent".to_string(),
            Some(count) if count > 1 => format!(", {count} commits are not sent"),
            _ => String::new(),
        };
        let with = match &self.remote {
            Some(remote) => {
                let remote = single_line(remote);
                match (&self.not_reached, &self.not_sent) {
                    (None, None) => format!(" with {remote}"),
                    (Some(_), _) => format!("; {remote} was not reached{waiting}"),
                    (None, Some(_)) => format!("; {remote} did not take the push{waiting}"),
                }
            }
            None if self.not_sent_commits.is_some() => format!("; there is no remote repository{waiting}"),
            None => String::new(),
        };
        let dry = if self.dry_run { "Dry run, nothing is changed: " } else { "" };
        format!("{dry}{parts}{with}")
    }

    /// Notes what is left of a merge: a review, or a file of which both versions are kept.
    pub(super) fn add_merged(&mut self, merged: &Merged) {
        if let Some(review) = merged.review.as_ref().filter(|review| !self.reviews.contains(review)) {
            self.reviews.push(review.clone());
        }
        if let Some(both) = merged.both_kept.as_ref().filter(|both| !self.both_kept.contains(both)) {
            self.both_kept.push(both.clone());
        }
    }

    /// Names files that are left out, each once.
    pub(super) fn leave_out(&mut self, left_out: Vec<LeftOut>) {
        self.left_out.retain(|left| !left_out.iter().any(|other| other.path == left.path));
        self.left_out.extend(left_out);
    }

    pub(super) fn take_refused(&mut self, disk: &mut Disk<'_>) {
        RefusedFiles { rejected: self.rejected, unrecorded: self.unrecorded } = disk.take_refused();
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.json(self)? {
            return Ok(());
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
        name_refused(&self.rejected, &self.unrecorded, output);
        for path in &self.expunged {
            let path = single_line(path);
            output.note(&format!("text of {path} was expunged, and it is here: {COMMAND}"));
        }
        for path in &self.replaced {
            output
                .note(&format!("{} came with text that was expunged: `(expunged)` is in its place", single_line(path)));
        }
        for LeftOut { path, reason } in self.left_out.iter().take(MAX_NAMED) {
            output.note(&format!("left out: {}: {}", single_line(path), single_line(reason)));
        }
        if self.left_out.len() > MAX_NAMED {
            output.note(&format!("left out: {} more files; --json lists all", self.left_out.len() - MAX_NAMED));
        }
        for ForgottenAndRenamed { from, to } in &self.forgotten_and_renamed {
            let (from, to) = (single_line(from), single_line(to));
            output.note(&format!("one machine forgot {from}, and another one renamed it: it is there as {to}"));
        }
        name_operations(&self.operations, output);
        if let Some(reason) = &self.not_sent {
            let reason = single_line(reason);
            output.note(&format!("nothing was sent: {reason}; the commits are here, and the next run sends them"));
        }
        if let Some(reason) = &self.not_reached {
            output.note(&format!("not reached: {}; run this again", single_line(reason)));
        }
        Ok(())
    }
}

/// Names the files whose text their memories refused, also if the command fails later.
pub(crate) fn name_refused(rejected: &[Refused], unrecorded: &[Refused], output: &mut Output) {
    for Refused { path, reason } in rejected {
        output.note(&format!("a part of {} is not written here: {}", single_line(path), single_line(reason)));
    }
    for Refused { path, reason } in unrecorded {
        let (path, reason) = (single_line(path), single_line(reason));
        output.note(&format!("{path} is written without a record, so that `undo` does not take it back: {reason}"));
    }
}

/// Names the commands that take a run back, unless plain `undo` takes all of it back.
pub(crate) fn name_operations(operations: &[MadeOperation], output: &mut Output) {
    let is_all = |made: &MadeOperation| made.project.is_none() && made.undo.starts_with("saddlebag undo ");
    if operations.len() < 2 && operations.iter().all(is_all) {
        return;
    }
    let commands = operations.iter().map(|MadeOperation { undo, project, .. }| {
        let place = project.as_ref().map(|project| format!(" in the folder of `{}`", single_line(project)));
        format!("`{undo}`{}", place.unwrap_or_default())
    });
    let commands = commands.collect::<Vec<_>>().join(", ");
    output.note(&match operations.len() {
        1 => format!("plain `undo` does not take this run back; this does: {commands}"),
        _ => format!("plain `undo` takes back only a part of this run; these take back all: {commands}"),
    });
}
