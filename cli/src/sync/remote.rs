//! The git part of `sync`: commit, fetch, merge, and push, without a change of a file that somebody writes meanwhile.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::Path;

use saddlebag::files::{MergeSides, MergedFile, merge};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{NOTE_SUFFIX, RelPath};
use saddlebag::trust::{SecretPolicy, secrets_in};

use super::args::SyncArgs;
use super::disk::Disk;
use super::report::{ChangeKind, FileChange, LeftOut, Synced};
use crate::failure::{Failure, ProgramCode, set_changes};
use crate::git::repository::{Difference, NewCommit, Repository, Unmerged};
use crate::git::{Ended, said};
use crate::global::Global;
use crate::merge::{KeptReview, REVIEWS};
use crate::output::single_line;
use crate::setup::sharing::{self, is_backup, is_state};

/// How often all is done again because another machine pushed first.
const ATTEMPTS: usize = 5;

/// How often a file is merged again because somebody writes it.
const MERGES: usize = 5;

/// Number of files that an error names.
const MAX_NAMED: usize = 5;

/// The branch that is synchronised.
struct Branch {
    /// Name of the remote repository.
    remote: String,
    /// Name of the branch there.
    name: String,
    /// True if git knows that the checked-out branch follows it.
    is_followed: bool,
}

impl Branch {
    /// Returns the branch that the checked-out one follows; `None` if there is no remote repository.
    fn of(repository: &Repository) -> Result<Option<Self>, Failure> {
        let local = repository.lines(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let Some(local) = local.ok().and_then(|lines| lines.into_iter().next()) else {
            let help = "check out a branch with `git switch`";
            return Err(Failure::new(ErrorCode::Conflict, "the work tree is on no branch", help));
        };
        let remote = repository.setting(&format!("branch.{local}.remote"))?;
        let merged = repository.setting(&format!("branch.{local}.merge"))?;
        if let (Some(remote), Some(name)) =
            (remote, merged.as_deref().and_then(|name| name.strip_prefix("refs/heads/")))
        {
            return Ok(Some(Self { remote, name: name.into(), is_followed: true }));
        }
        let remotes = repository.lines(&["remote"])?;
        let remote = match remotes.as_slice() {
            [] => return Ok(None),
            [remote] => remote,
            several => several.iter().find(|remote| *remote == "origin").ok_or_else(|| {
                let help = format!("run `git branch --set-upstream-to REMOTE/{local}`");
                Failure::new(ErrorCode::Conflict, "there are several remote repositories", help)
            })?,
        };
        Ok(Some(Self { remote: remote.clone(), name: local, is_followed: false }))
    }

    fn shown(&self) -> String {
        format!("{}/{}", self.remote, self.name)
    }

    fn tracking(&self) -> String {
        format!("refs/remotes/{}/{}", self.remote, self.name)
    }
}

/// Commits, fetches, merges and pushes.
pub(super) fn synchronise(
    repository: &mut Repository,
    disk: &mut Disk,
    args: &SyncArgs,
    global: &Global,
    synced: &mut Synced,
) -> Result<(), Failure> {
    let _lock = lock(&repository.state)?;
    let branch = Branch::of(repository)?;
    synced.remote = branch.as_ref().map(Branch::shown);
    for _ in 0..ATTEMPTS {
        let local = local_commit(repository, args, global, synced)?;
        let there = match &branch {
            Some(branch) => fetch(repository, branch, synced)?,
            None => None,
        };
        let merged = match (&local, &there) {
            (Some(local), there) => merged(repository, local, there.as_deref(), global, synced)?,
            (None, Some(there)) => there.clone(),
            (None, None) => return Ok(()),
        };
        let changes = repository.differences(local.as_deref(), &merged)?;
        let received = shown(repository, &changes)?;
        let sent = match &there {
            Some(there) => repository.differences(Some(there), &merged)?,
            None if branch.is_some() => repository.differences(None, &merged)?,
            None => Vec::new(),
        };
        check_deletions(&received, "would be deleted here", args)?;
        let sent_files = shown(repository, &sent)?;
        check_deletions(&sent_files, "would be deleted for the other machines", args)?;
        if synced.not_reached.is_none() {
            check_secrets(repository, &sent, global)?;
        }
        synced.sent = sent_files;
        if args.dry_run {
            synced.received = received;
            return Ok(());
        }
        if let Some(local) = local.as_ref().filter(|local| repository.head.as_ref() != Some(local)) {
            repository.adopt(local, "saddlebag: commit the changes of this machine")?;
            set_changes(true, true);
        }
        if local.as_ref() != Some(&merged) {
            receive(repository, disk, &changes)?;
            repository.adopt(&merged, "saddlebag: merge the changes of other machines")?;
            set_changes(true, true);
            synced.received.extend(received);
        }
        match &branch {
            Some(branch) if synced.not_reached.is_none() && there.as_ref() != Some(&merged) => {
                if push(repository, branch, &merged, synced)? {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
    }
    let message = format!("other machines pushed {ATTEMPTS} times meanwhile");
    Err(Failure::new(ErrorCode::Contention, message, "the changes are committed here; run this again"))
}

/// Keeps a second run away, until this one ends.
fn lock(state: &Path) -> Result<File, Failure> {
    let path = state.join("saddlebag-sync.lock");
    let failed = |cause: String| {
        let message = format!("cannot lock `{}`: {cause}", path.display());
        Failure::new(ProgramCode::Output, message, "check the permissions of the folder of git")
    };
    let file = File::create(&path).map_err(|error| failed(saddlebag_host::io_cause(&error)))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = "another `sync` of this work tree is running";
            Err(Failure::new(ErrorCode::Conflict, message, "wait until it has ended"))
        }
        Err(TryLockError::Error(error)) => Err(failed(saddlebag_host::io_cause(&error))),
    }
}

/// Makes a commit of what changed in the store, and does not check it out. `None` if there is nothing to commit, and no commit.
fn local_commit(
    repository: &Repository,
    args: &SyncArgs,
    global: &Global,
    synced: &mut Synced,
) -> Result<Option<String>, Failure> {
    let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut left_out: Vec<LeftOut> = Vec::new();
    for path in repository.changed()? {
        let Some(shown) = repository.shown(&path).filter(|shown| !is_state(shown) && !is_backup(shown)) else {
            continue;
        };
        if repository.path(&shown).is_none() {
            continue;
        }
        let bytes = repository.bytes(&path);
        if global.secrets != SecretPolicy::Allow
            && let Some(bytes) = &bytes
            && let Some(secret) = secrets_in(&String::from_utf8_lossy(bytes)).first()
        {
            let reason = format!("it has a secret ({}) in it; remove it, or use --secrets allow", secret.rule);
            left_out.push(LeftOut { path: shown, reason });
            continue;
        }
        let change = match (&bytes, repository.files.contains_key(&path)) {
            (None, _) => ChangeKind::Deleted,
            (Some(_), true) => ChangeKind::Changed,
            (Some(_), false) => ChangeKind::Added,
        };
        changes.push(FileChange { path: shown, change });
        let blob = bytes.map(|bytes| repository.blob(&path, &bytes, true)).transpose()?;
        files.insert(path, blob);
    }
    synced.left_out.retain(|left| !left_out.iter().any(|other| other.path == left.path));
    synced.left_out.extend(left_out);
    if files.is_empty() {
        return Ok(repository.head.clone());
    }
    if !args.dry_run {
        let staged = repository.staged(&files)?;
        if let Some(first) = staged.first() {
            let message = format!("changes of the same files are staged: {}", single_line(first));
            return Err(Failure::new(
                ErrorCode::Conflict,
                message,
                "commit them, or unstage them with `git restore --staged FILE`",
            ));
        }
    }
    let count = files.len();
    let machine = global.machine.clone().unwrap_or_else(saddlebag_host::machine_name);
    let plural = if count == 1 { "" } else { "s" };
    let message = format!("Sync {count} file{plural} of memory\n\nSaddlebag-Machine: {}\n", single_line(&machine));
    let files: Vec<(String, Option<String>)> = files.into_iter().collect();
    let committer = committer(repository, global)?;
    synced.committed.extend(changes);
    repository.draft(&committer.of(&message, &files)).map(Some)
}

/// Who commits, and when.
struct Committer {
    author: crate::git::repository::Identity,
    time: saddlebag::store::Timestamp,
    committed: Option<saddlebag::store::Timestamp>,
}

impl Committer {
    fn of<'a>(&'a self, message: &'a str, files: &'a [(String, Option<String>)]) -> NewCommit<'a> {
        NewCommit { message, author: &self.author, time: self.time, committed: self.committed, files }
    }
}

fn committer(repository: &Repository, global: &Global) -> Result<Committer, Failure> {
    repository.identity("GIT_COMMITTER_IDENT")?;
    let author = repository.identity("GIT_AUTHOR_IDENT")?;
    Ok(Committer { author, time: global.now.unwrap_or_else(saddlebag_host::now), committed: global.now })
}

/// Fetches the branch, and returns its commit. A repository that cannot be reached is named in the report.
fn fetch(repository: &Repository, branch: &Branch, synced: &mut Synced) -> Result<Option<String>, Failure> {
    let from = format!("+refs/heads/{}:{}", branch.name, branch.tracking());
    let ended = repository.over_network(&[
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--",
        &branch.remote,
        &from,
    ])?;
    synced.not_reached = None;
    if !ended.status.is_some_and(|status| status.success()) && !ended.error.contains("couldn't find remote ref") {
        synced.not_reached = Some(reason(&ended));
    }
    repository.commit_of(&branch.tracking())
}

/// Pushes a commit. Returns false if another machine pushed first.
fn push(repository: &Repository, branch: &Branch, commit: &str, synced: &mut Synced) -> Result<bool, Failure> {
    let to = format!("{commit}:refs/heads/{}", branch.name);
    let ended = repository.over_network(&["push", "--quiet", "--no-recurse-submodules", "--", &branch.remote, &to])?;
    if !ended.status.is_some_and(|status| status.success()) {
        let is_behind = ["[rejected]", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref"];
        if is_behind.iter().any(|words| ended.error.contains(words)) {
            return Ok(false);
        }
        synced.not_reached = Some(reason(&ended));
        return Ok(true);
    }
    repository.lines(&["update-ref", &branch.tracking(), commit])?;
    if !branch.is_followed {
        repository.lines(&["branch", "--quiet", "--set-upstream-to", &branch.shown()])?;
    }
    Ok(true)
}

fn reason(ended: &Ended) -> String {
    match ended.status {
        Some(status) => single_line(&said(&ended.error, status)),
        None => "git did not end in time".into(),
    }
}

/// Returns the commit that has the changes of both.
fn merged(
    repository: &Repository,
    local: &str,
    there: Option<&str>,
    global: &Global,
    synced: &mut Synced,
) -> Result<String, Failure> {
    let Some(there) = there else { return Ok(local.into()) };
    if repository.is_ancestor(there, local)? {
        return Ok(local.into());
    }
    if repository.is_ancestor(local, there)? {
        return Ok(there.into());
    }
    let work =
        tempfile::tempdir().map_err(|error| Failure::new(ErrorCode::Storage, error.to_string(), "free some space"))?;
    let attributes = work.path().join("attributes");
    let reviews = work.path().join("reviews");
    let made = fs::write(&attributes, format!(".gitignore -merge\n{}\n", sharing::merged_by_git().join("\n")))
        .and_then(|()| fs::create_dir(&reviews));
    made.map_err(|error| Failure::new(ErrorCode::Storage, error.to_string(), "free some space"))?;
    let driver = sharing::driver(&repository.root)?;
    let (tree, unmerged) = repository.merge_tree([local, there], &driver, &attributes, (REVIEWS, &reviews))?;
    let mut files: Vec<(String, Option<String>)> = Vec::new();
    let mut kept: Vec<KeptReview> = kept_reviews(&reviews)?;
    for file in &unmerged {
        let merged = merge_unmerged(repository, file)?;
        let blob = merged.content.map(|content| repository.store(&content)).transpose()?;
        files.push((file.path.clone(), blob));
        kept.extend(merged.review.map(|review| KeptReview { path: review.path, text: review.text }));
    }
    for review in kept {
        if let Some(path) = repository.path(&review.path) {
            files.push((path, Some(repository.store(review.text.as_bytes())?)));
            if !synced.reviews.contains(&review.path) {
                synced.reviews.push(review.path);
            }
        }
    }
    let message = format!("Merge the memory of another machine\n\nMerged: {there}\n");
    let committer = committer(repository, global)?;
    repository.draft_merge(&tree, &[&local.to_string(), &there.to_string()], &committer.of(&message, &files))
}

/// Returns the reviews that the driver kept.
fn kept_reviews(folder: &Path) -> Result<Vec<KeptReview>, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(ErrorCode::Internal, format!("a review of the driver: {error}"), "")
    };
    let mut files: Vec<_> = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(&error))?
        .iter()
        .map(fs::DirEntry::path)
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    };
    files.iter().map(read).collect()
}

/// Merges a file that the driver did not get: one side deleted it, or it is no Markdown.
fn merge_unmerged(repository: &Repository, file: &Unmerged) -> Result<MergedFile, Failure> {
    let by_hand = |reason: &str| {
        let message = format!("`{}` cannot be merged: {reason}", single_line(&file.path));
        Failure::new(ErrorCode::Conflict, message, "merge it by hand with `git pull`; nothing was merged")
    };
    if !file.is_regular {
        return Err(by_hand("it is a link or a repository"));
    }
    let Some(shown) = repository.shown(&file.path) else { return Err(by_hand("it is outside of the store")) };
    let is_ignored = shown == ".gitignore";
    if !shown.ends_with(NOTE_SUFFIX) && !is_ignored && file.ours.is_some() && file.theirs.is_some() {
        return Err(by_hand("both sides changed it, and it is no Markdown"));
    }
    let content = |blob: &Option<String>| -> Result<Option<Vec<u8>>, Failure> {
        match blob {
            Some(blob) => Ok(repository.contents(std::slice::from_ref(blob))?.pop()),
            None => Ok(None),
        }
    };
    let sides =
        MergeSides { ancestor: content(&file.ancestor)?, ours: content(&file.ours)?, theirs: content(&file.theirs)? };
    if is_ignored && sides.ours.is_some() && sides.theirs.is_some() {
        let content = Some(sharing::merge_ignored(&sides)?);
        return Ok(MergedFile { content, ..MergedFile::default() });
    }
    // Without an ancestor, the file is new on one side.
    if sides.ancestor.is_none() && (sides.ours.is_none() || sides.theirs.is_none()) {
        let content = sides.ours.or(sides.theirs);
        return Ok(MergedFile { content, ..MergedFile::default() });
    }
    Ok(merge(&shown, &sides)?)
}

/// Returns the files of the store among differences.
///
/// # Errors
///
/// A file is outside of the store, or no regular file, or belongs to the state of a machine.
fn shown(repository: &Repository, changes: &[Difference]) -> Result<Vec<FileChange>, Failure> {
    let mut files = Vec::new();
    for change in changes {
        let path = single_line(&change.path);
        let refused = |reason: &str, help: &str| Failure::new(ErrorCode::Conflict, format!("`{path}` {reason}"), help);
        let Some(shown) = repository.shown(&change.path) else {
            return Err(refused(
                "is outside of the store, and other machines changed it",
                "run `git pull`, which merges memory too",
            ));
        };
        if change.after.is_some() && (is_state(&shown) || !change.mode.starts_with("100")) {
            let help = "another machine has committed it: remove it from the repository there";
            return Err(refused("is no file of memory, but a link or the state of a machine", help));
        }
        let kind = match (&change.before, &change.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Changed,
            (Some(_), None) => ChangeKind::Deleted,
        };
        files.push(FileChange { path: shown, change: kind });
    }
    Ok(files)
}

fn check_deletions(files: &[FileChange], what: &str, args: &SyncArgs) -> Result<(), Failure> {
    let deleted: Vec<&str> =
        files.iter().filter(|file| file.change == ChangeKind::Deleted).map(|file| file.path.as_str()).collect();
    if deleted.len() <= args.max_deletes {
        return Ok(());
    }
    let named = deleted.iter().take(MAX_NAMED).map(|path| single_line(path)).collect::<Vec<_>>().join(", ");
    let more = deleted.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("{} files {what}, more than {}: {named}{more}", deleted.len(), args.max_deletes);
    let help = format!("if that is right, use --max-deletes {}", deleted.len());
    Err(Failure::new(ErrorCode::NeedsConfirmation, message, help))
}

/// Refuses to send files with secrets.
fn check_secrets(repository: &Repository, sent: &[Difference], global: &Global) -> Result<(), Failure> {
    if global.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    let new: Vec<&Difference> = sent.iter().filter(|change| change.after.is_some()).collect();
    let blobs: Vec<String> = new.iter().filter_map(|change| change.after.clone()).collect();
    for (change, content) in new.iter().zip(repository.contents(&blobs)?) {
        if let Some(secret) = secrets_in(&String::from_utf8_lossy(&content)).first() {
            let message = format!(
                "`{}` has a secret ({}) in it, and would leave this machine",
                single_line(&change.path),
                secret.rule
            );
            let help = "remove it; it may also be in earlier commits. --secrets allow sends it";
            return Err(Failure::new(ErrorCode::Secret, message, help));
        }
    }
    Ok(())
}

/// Writes the merged files. A file that somebody has changed meanwhile is merged with that change, and is committed by the next run.
fn receive(repository: &Repository, disk: &mut Disk, changes: &[Difference]) -> Result<(), Failure> {
    let blobs: Vec<String> =
        changes.iter().flat_map(|change| [&change.before, &change.after]).flatten().cloned().collect();
    let mut contents = repository.contents(&blobs)?.into_iter();
    for change in changes {
        let before = change.before.as_ref().and_then(|_| contents.next());
        let after = change.after.as_ref().and_then(|_| contents.next());
        let shown = repository.shown(&change.path).unwrap_or_default();
        let path = RelPath::new(shown.clone()).map_err(|error| {
            let message = format!("the path `{}` is not possible here: {error}", single_line(&shown));
            Failure::new(ErrorCode::InvalidName, message, "rename the file on the other machine")
        })?;
        receive_one(disk, &path, before, after)?;
    }
    Ok(())
}

fn receive_one(
    disk: &mut Disk,
    path: &RelPath,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
) -> Result<(), Failure> {
    for _ in 0..MERGES {
        let known = disk.read(path)?;
        let now = known.as_ref().map(|known| known.bytes.clone());
        if now == after {
            return Ok(());
        }
        let content = if now == before {
            after.clone()
        } else {
            let sides = MergeSides { ancestor: before.clone(), ours: now.clone(), theirs: after.clone() };
            let merged = merge(path.as_str(), &sides)?;
            if let Some(review) = &merged.review {
                super::copies::write_review(disk, &review.path, &review.text)?;
            }
            merged.content
        };
        if content == now || disk.change(path, known.as_ref(), content)? {
            return Ok(());
        }
    }
    let message = format!("`{}` was changed {MERGES} times meanwhile", single_line(path.as_str()));
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
