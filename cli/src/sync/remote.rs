//! The git part of `sync`: commit, fetch, merge, and push, without a change of a file that somebody writes meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use saddlebag::history::MAX_MERGED_BYTES;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;
use saddlebag::trust::{SecretPolicy, secrets_in};

use super::args::SyncArgs;
use super::disk::Disk;
use super::expunged::Expunges;
use super::fetch::{Branch, MAX_NAMED, fetch, reason};
use super::incoming::COMMAND;
use super::left_out::{NOT_SHARED, Withheld};
use super::locks::{check_locks, lock};
use super::merge_commits::{merge_commits, without_expunged};
use super::names::{Doubt, NewNames, original_of};
use super::receive::receive;
use super::rejections;
use super::report::{ChangeKind, FileChange, LeftOut, Synced};
use crate::failure::{Failure, set_changes};
use crate::git::repository::{Difference, FileVersion, NewCommit, Repository};
use crate::global::Global;
use crate::output::{Output, single_line};
use crate::setup::sharing::{self, is_backup, is_state};

/// Maximum number of attempts if other machines push first.
const ATTEMPTS: usize = 5;

/// Trailer of the commits that `sync` makes of changes, without the name of the machine.
const BY_SYNC: &str = "Saddlebag-Machine:";

/// A synchronisation with git.
pub(super) struct Sync<'a, 'd> {
    pub(super) repository: &'a mut Repository,
    pub(super) disk: &'a mut Disk<'d>,
    pub(super) args: &'a SyncArgs,
    pub(super) global: &'a Global,
    /// Scopes that leave this machine.
    pub(super) shared: &'a BTreeSet<String>,
    pub(super) expunges: &'a mut Expunges<'d>,
    pub(super) withheld: Withheld,
}

/// Commits, fetches, merges and pushes.
pub(super) fn synchronise(sync: &mut Sync<'_, '_>, synced: &mut Synced, output: &mut Output) -> Result<(), Failure> {
    let _lock = lock(&sync.repository.state)?;
    check_locks(&sync.repository.state)?;
    let branch = Branch::of(sync.repository)?;
    synced.remote = branch.as_ref().map(Branch::shown);
    exchange(sync, branch.as_ref(), synced, output)?;
    if branch.is_none() || synced.not_reached.is_some() || synced.not_sent.is_some() {
        let planned = usize::from(sync.args.dry_run && !synced.committed.is_empty());
        synced.not_sent_commits = Some(not_sent(sync.repository, branch.as_ref())? + planned);
    }
    Ok(())
}

/// Counts the commits of this machine that the remote repository does not have, as far as it was reached.
fn not_sent(repository: &Repository, branch: Option<&Branch>) -> Result<usize, Failure> {
    let Some(head) = &repository.head else { return Ok(0) };
    let there = branch.map(|branch| repository.commit_of(&branch.tracking())).transpose()?.flatten();
    let mut arguments = vec!["rev-list", "--count", head];
    arguments.extend(there.iter().flat_map(|there| ["--not", there.as_str()]));
    let count = repository.lines(&arguments)?.first().and_then(|count| count.parse().ok());
    Ok(count.unwrap_or_default())
}

/// Commits, fetches, merges and pushes, while nobody else does.
fn exchange(
    sync: &mut Sync<'_, '_>,
    branch: Option<&Branch>,
    synced: &mut Synced,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut refusal = String::new();
    take_due(sync, synced)?;
    for _ in 0..ATTEMPTS {
        let there = match branch {
            Some(branch) => fetch(sync.repository, branch, synced)?,
            None => None,
        };
        if let Some(there) = &there {
            learn(sync, there, output)?;
        }
        let local = local_commit(sync, there.as_deref(), synced)?;
        let merged = match (&local, &there) {
            (Some(local), there) => merged(sync, branch, local, there.as_deref(), synced)?,
            (None, Some(there)) => there.clone(),
            (None, None) => return Ok(()),
        };
        let mut changes = sync.repository.differences(local.as_deref(), &merged)?;
        let left_out = sync.withheld.take_out(sync.repository, sync.shared, &mut changes)?;
        synced.leave_out(left_out);
        let repository = &*sync.repository;
        let received = file_changes(repository, &changes);
        check_deletions(repository, (&changes, &received), "here", sync.args)?;
        synced.sent.clear();
        let is_sent = branch.is_some() && synced.not_reached.is_none() && there.as_ref() != Some(&merged);
        if is_sent {
            let sent = repository.differences(there.as_deref(), &merged)?;
            synced.sent = outgoing(repository, &sent)?;
            check_deletions(repository, (&sent, &synced.sent), "for the other machines", sync.args)?;
            sync.expunges.check_sent(repository, &sent, sync.disk, sync.args.dry_run)?;
            check_secrets(repository, &merged, there.as_deref(), sync.global)?;
        }
        if sync.args.dry_run {
            synced.received.extend(received);
            return Ok(());
        }
        if let Some(local) = local.as_ref().filter(|local| sync.repository.head.as_ref() != Some(local)) {
            sync.repository.adopt(local, "saddlebag: commit the changes of this machine")?;
            set_changes(true, true);
        }
        if local.as_ref() != Some(&merged) {
            let sources = match &there {
                Some(there) => sync.repository.sources(there, local.as_deref())?,
                None => BTreeMap::new(),
            };
            let kept = receive(sync.repository, sync.disk, sync.expunges, (&changes, &sources), synced)?;
            // First the record: a file that is not written must not seem to be deleted.
            sync.withheld.write()?;
            sync.repository.adopt(&merged, "saddlebag: merge the changes of other machines")?;
            set_changes(true, true);
            synced.received.extend(received.into_iter().filter(|file| !kept.contains(&file.path)));
        }
        match branch {
            Some(branch) if is_sent => match push(sync.repository, branch, &merged, synced)? {
                Some(reason) => refusal = reason,
                None => return Ok(()),
            },
            Some(branch) if there.is_some() => return follow(sync.repository, branch),
            _ => return Ok(()),
        }
    }
    let message = format!("the remote repository refused the push {ATTEMPTS} times: {refusal}");
    let help = "the changes are committed here. If other machines push meanwhile, run this again; if a lock is named and no git is \
                running there, remove it";
    Err(Failure::new(ErrorCode::Contention, message, help))
}

/// Writes the files that an earlier run left out and that may be written now.
fn take_due(sync: &mut Sync<'_, '_>, synced: &mut Synced) -> Result<(), Failure> {
    let due = sync.withheld.due(sync.repository, sync.shared)?;
    let mut received = file_changes(sync.repository, &due);
    if !sync.args.dry_run && !due.is_empty() {
        let head = sync.repository.head.as_deref();
        let sources = head.map(|head| sync.repository.sources(head, None)).transpose()?.unwrap_or_default();
        let kept = receive(sync.repository, sync.disk, sync.expunges, (&due, &sources), synced)?;
        received.retain(|file| !kept.contains(&file.path));
        sync.withheld.paths.retain(|path| !due.iter().any(|change| change.path == *path));
        sync.withheld.write()?;
    }
    synced.received.extend(received);
    Ok(())
}

/// Takes the logs that a commit of other machines has, before a text is compared with them.
fn learn(sync: &mut Sync<'_, '_>, there: &str, output: &mut Output) -> Result<(), Failure> {
    let paths = [sharing::EXPUNGED, sharing::REJECTIONS].map(|log| sync.repository.path(log));
    let [Some(expunged), Some(rejected)] = paths else { return Ok(()) };
    let logs = sync.repository.contents_at(there, &[expunged, rejected])?;
    let [expunged, rejected] = logs.as_slice() else { return Ok(()) };
    if let Some(log) = expunged {
        sync.expunges.learn(&String::from_utf8_lossy(log), sync.disk, output)?;
    }
    match rejected {
        Some(log) if !sync.args.dry_run => {
            let count = rejections::learn(sync.disk, &String::from_utf8_lossy(log), sync.shared)?;
            if count > 0 {
                output.note(&format!("rejected values of other machines, or lifted ones: {count}; they count in the scopes that are shared"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Makes a commit of what changed in the shared scopes, and does not check it out. `None` if there is nothing to commit, and no
/// commit.
fn local_commit(sync: &mut Sync<'_, '_>, there: Option<&str>, synced: &mut Synced) -> Result<Option<String>, Failure> {
    let (mut changes, mut files, mut contents, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let paths: Vec<String> = sync.repository.changed()?;
    let mut names = None;
    let filtered = sync.repository.filtered(&paths)?;
    let is_own = |path: &&String| {
        path.rsplit('/').next().is_some_and(saddlebag_host::is_temporary) && sync.repository.shown(path).is_some()
    };
    let own = sync.repository.files.keys().filter(is_own).cloned();
    files.extend(own.map(|path| FileVersion { mode: sync.repository.mode(&path), path, blob: None }));
    for path in paths {
        if sync.withheld.paths.contains(&path) {
            continue;
        }
        let repository = &*sync.repository;
        let shown = repository.shown(&path).filter(|shown| !is_state(shown) && !is_backup(shown));
        let Some(shown) = shown.filter(|shown| repository.path(shown).is_some()) else { continue };
        let is_copy =
            original_of(shown.rsplit('/').next().unwrap_or(&shown)).is_some_and(|name| name.doubt == Doubt::Sure);
        if is_copy && !repository.files.contains_key(&path) {
            continue;
        }
        let content = if filtered.contains(&path) {
            Err("a filter of git changes it; commit it with `git commit`".to_string())
        } else {
            content(sync, &path, &shown)
        };
        let content = match content {
            Ok(Some(bytes)) if sync.expunges.texts.is_in(&bytes) => {
                Err(format!("it has text that was expunged; {COMMAND}"))
            }
            Ok(Some(bytes)) if sync.expunges.texts.is_note(&shown, &bytes) => {
                Err(format!("it is a version of a note that was expunged; {COMMAND}"))
            }
            content => content,
        };
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(reason) => {
                left_out.push(LeftOut { path: shown, reason });
                continue;
            }
        };
        let repository = &*sync.repository;
        let is_known = repository.files.contains_key(&path);
        if bytes.is_some() && !is_known {
            let is_here = |path: &&String| fs::symlink_metadata(repository.top.join(path)).is_ok();
            if names.is_none() {
                // The other machines may have sent a file of this name in other letters just now.
                let new = match there {
                    Some(there) => repository.differences(repository.head.as_deref(), there)?,
                    None => Vec::new(),
                };
                let new = new.iter().filter(|change| change.before.is_none()).map(|change| &change.path);
                names = Some(NewNames::new(repository.files.keys().filter(is_here).chain(new)));
            }
            let names = names.get_or_insert_with(|| NewNames::new(std::iter::empty()));
            if let Err(reason) = names.add(&path) {
                left_out.push(LeftOut { path: shown, reason });
                continue;
            }
        }
        let change = match (&bytes, is_known) {
            (None, false) => continue,
            (None, true) => ChangeKind::Deleted,
            (Some(_), true) => ChangeKind::Changed,
            (Some(_), false) => ChangeKind::Added,
        };
        changes.push(FileChange { path: shown, change });
        match bytes {
            Some(bytes) => contents.push((path, bytes)),
            None => files.push(FileVersion { mode: repository.mode(&path), path, blob: None }),
        }
    }
    synced.leave_out(left_out);
    let repository = &*sync.repository;
    let blobs = repository.blobs(&contents)?;
    files.extend(contents.into_iter().zip(blobs).map(|((path, _), blob)| FileVersion {
        mode: repository.mode(&path),
        path,
        blob: Some(blob),
    }));
    let head = repository.head.clone();
    // A run that was killed, or `git rm --cached`, leaves an index without what is in the commit and in the folder.
    let is_committed =
        |file: &FileVersion| repository.files.get(&file.path).map(|known| &known.blob) == file.blob.as_ref();
    let (committed, files): (Vec<FileVersion>, Vec<FileVersion>) = files.into_iter().partition(is_committed);
    if !sync.args.dry_run {
        repository.write_index(&committed)?;
    }
    let is_committed =
        |change: &FileChange| committed.iter().any(|file| repository.shown(&file.path).as_ref() == Some(&change.path));
    changes.retain(|change| !is_committed(change));
    if files.is_empty() {
        return Ok(head);
    }
    let count = files.len();
    let machine = sync.global.machine.clone().unwrap_or_else(saddlebag_host::machine_name);
    let plural = if count == 1 { "" } else { "s" };
    let message = format!("Sync {count} file{plural} of memory\n\n{BY_SYNC} {}\n", single_line(&machine));
    let committer = committer(repository, sync.global)?;
    let parents: Vec<&str> = head.as_deref().into_iter().collect();
    let commit = repository.draft(head.as_deref(), &parents, &files, &committer.of(&message))?;
    if head.as_ref() != Some(&commit) {
        synced.committed.extend(changes);
    }
    Ok(Some(commit))
}

/// Returns the content of a file that is to be committed; `None` if it is deleted.
///
/// # Errors
///
/// The reason why it is left out.
fn content(sync: &Sync<'_, '_>, path: &str, shown: &str) -> Result<Option<Vec<u8>>, String> {
    if path.contains(char::REPLACEMENT_CHARACTER) {
        return Err("its name is not UTF-8".into());
    }
    if let Err(error) = RelPath::new(shown) {
        return Err(format!("another machine could not have its name: {error}"));
    }
    if !sharing::is_shared(sync.shared, shown) {
        return Err(NOT_SHARED.into());
    }
    let file = sync.repository.top.join(path);
    let known = match fs::symlink_metadata(&file) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("it cannot be read: {}", saddlebag_host::io_cause(&error))),
    };
    if !known.is_file() {
        return Err("it is not a file, but a link or a repository".into());
    }
    if known.len() > MAX_MERGED_BYTES as u64 {
        return Err(format!("it has {} bytes; the limit is {MAX_MERGED_BYTES}", known.len()));
    }
    let bytes = fs::read(&file).map_err(|error| format!("it cannot be read: {}", saddlebag_host::io_cause(&error)))?;
    match secret_in(&String::from_utf8_lossy(&bytes), shown, sync.global) {
        Some(rule) => Err(format!("it has a secret ({rule}) in it; remove it, or use --secrets allow")),
        None => Ok(Some(bytes)),
    }
}

/// Returns the kind of a secret that a text, or the path of its file, has and must not leave the machine.
fn secret_in(text: &str, path: &str, global: &Global) -> Option<&'static str> {
    let found = |text: &str| secrets_in(text).first().map(|secret| secret.rule);
    if global.secrets == SecretPolicy::Allow { None } else { found(text).or_else(|| found(path)) }
}

/// Who commits, and when.
struct Committer {
    author: crate::git::repository::Identity,
    time: saddlebag::store::Timestamp,
    committed: Option<saddlebag::store::Timestamp>,
}

impl Committer {
    fn of<'a>(&'a self, message: &'a str) -> NewCommit<'a> {
        NewCommit { message, author: &self.author, time: self.time, committed: self.committed }
    }
}

fn committer(repository: &Repository, global: &Global) -> Result<Committer, Failure> {
    repository.identity("GIT_COMMITTER_IDENT")?;
    let author = repository.identity("GIT_AUTHOR_IDENT")?;
    Ok(Committer { author, time: global.now.unwrap_or_else(saddlebag_host::now), committed: global.now })
}

/// Pushes a commit. Returns the words of git if another machine may have pushed first.
fn push(
    repository: &Repository,
    branch: &Branch,
    commit: &str,
    synced: &mut Synced,
) -> Result<Option<String>, Failure> {
    let to = format!("{commit}:refs/heads/{}", branch.name);
    let ended = repository.over_network(&["push", "--quiet", "--no-recurse-submodules", "--", &branch.remote, &to])?;
    if !ended.status.is_some_and(|status| status.success()) {
        let is_behind = ["[rejected]", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref"];
        if is_behind.iter().any(|words| ended.error.contains(words)) {
            return Ok(Some(reason(&ended)));
        }
        synced.sent.clear();
        synced.not_sent = Some(reason(&ended));
        return Ok(None);
    }
    repository.lines(&["update-ref", &branch.tracking(), commit])?;
    follow(repository, branch)?;
    Ok(None)
}

/// Notes in the settings of git that this machine has met the branch.
fn follow(repository: &Repository, branch: &Branch) -> Result<(), Failure> {
    if !branch.is_followed {
        repository.lines(&["branch", "--quiet", "--set-upstream-to", &branch.shown()])?;
    }
    Ok(())
}

/// Returns the commit that has the changes of both.
fn merged(
    sync: &mut Sync<'_, '_>,
    branch: Option<&Branch>,
    local: &str,
    there: Option<&str>,
    synced: &mut Synced,
) -> Result<String, Failure> {
    let repository = &*sync.repository;
    let Some(there) = there else { return Ok(local.into()) };
    let common = repository.common_commit(local, there)?;
    match common.as_deref() {
        Some(common) if common == there => return Ok(local.into()),
        Some(common) if common == local => {
            let files = without_expunged(repository, [local, there], &mut sync.expunges.texts)?;
            if files.is_empty() {
                return Ok(there.into());
            }
            let committer = committer(repository, sync.global)?;
            let message = format!("Keep expunged text out of memory\n\nReceived: {there}\n");
            return repository.draft(Some(there), &[there], &files, &committer.of(&message));
        }
        Some(_) => {}
        None => check_is_new(repository, branch)?,
    }
    let rejected = rejections::own(sync.disk)?;
    let texts = &mut sync.expunges.texts;
    let files = merge_commits(repository, common.as_deref(), [local, there], (texts, &rejected), synced);
    if files.is_err() && !sync.args.dry_run {
        // `expunge --received` finds what was refused only with the lines of the other machines.
        sync.expunges.write_shared(sync.disk)?;
    }
    let files = files?;
    let message = format!("Merge the memory of another machine\n\nMerged: {there}\n");
    let committer = committer(repository, sync.global)?;
    repository.draft(Some(local), &[local, there], &files, &committer.of(&message))
}

/// Refuses to merge another history, unless that of this machine is new: it was never sent, and only `sync` has committed. An address
/// of a wrong repository would mix two memories for good.
fn check_is_new(repository: &Repository, branch: Option<&Branch>) -> Result<(), Failure> {
    let (Some(head), Some(branch)) = (&repository.head, branch) else { return Ok(()) };
    let others =
        ["log", "--format=%H", "--max-count=1", "--fixed-strings", "--invert-grep", "--grep", BY_SYNC, head, "--"];
    if !branch.is_followed && repository.lines(&others)?.is_empty() {
        return Ok(());
    }
    let shown = single_line(&branch.shown());
    let message = format!("`{shown}` has another history: it has no common commit with this machine");
    let help = format!(
        "if the address is wrong, `git remote set-url {} ADDRESS` changes it; if both are one memory, commit here and run `git \
         merge --allow-unrelated-histories {shown}` in the folder of the store, and then this again",
        single_line(&branch.remote)
    );
    Err(Failure::new(ErrorCode::Conflict, message, help))
}

/// Returns the files of the store that are sent.
///
/// # Errors
///
/// A file is outside of the store, or no regular file, or belongs to the state of a machine.
fn outgoing(repository: &Repository, changes: &[Difference]) -> Result<Vec<FileChange>, Failure> {
    for change in changes {
        let shown = repository.shown(&change.path);
        let (reason, help) = match shown {
            None => ("is outside of the store, and would be sent", "send it with `git push` first"),
            Some(shown) if change.after.is_some() && (is_state(&shown) || !change.is_regular()) => (
                "is not a file of memory, but a link or the state of a machine",
                "remove it from the repository with `git rm --cached`",
            ),
            Some(_) => continue,
        };
        return Err(Failure::new(ErrorCode::Conflict, format!("`{}` {reason}", single_line(&change.path)), help));
    }
    Ok(file_changes(repository, changes))
}

/// Returns what changed of the store. That a temporary file of a host is gone is nothing to tell.
fn file_changes(repository: &Repository, changes: &[Difference]) -> Vec<FileChange> {
    let shown = changes.iter().filter_map(|change| Some((change, repository.shown(&change.path)?)));
    let shown = shown.filter(|(change, shown)| change.after.is_some() || !is_state(shown));
    let file = |(change, path): (&Difference, String)| {
        let change = match (&change.before, &change.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Changed,
            (Some(_), None) => ChangeKind::Deleted,
        };
        FileChange { path, change }
    };
    shown.map(file).collect()
}

/// A file with less than one part of this many of its bytes left was emptied.
const EMPTIED: u64 = 4;

/// Refuses changes that delete or empty more files than the arguments allow.
fn check_deletions(
    repository: &Repository,
    (changes, files): (&[Difference], &[FileChange]),
    place: &str,
    args: &SyncArgs,
) -> Result<(), Failure> {
    if files.len() <= args.max_deletes {
        return Ok(());
    }
    let pairs = changes.iter().filter(|change| change.is_regular());
    let pairs = pairs.filter_map(|change| Some((change, [change.before.clone()?, change.after.clone()?])));
    let (edited, blobs): (Vec<&Difference>, Vec<[String; 2]>) = pairs.unzip();
    let sizes = repository.sizes(&blobs.concat())?;
    let sizes = sizes.chunks_exact(2).map(|sizes| sizes[1].saturating_mul(EMPTIED) < sizes[0]);
    let emptied = edited.into_iter().zip(sizes).filter_map(|(change, is_emptied)| is_emptied.then_some(&change.path));
    let emptied: BTreeSet<String> = emptied.filter_map(|path| repository.shown(path)).collect();
    let is_lost = |file: &&FileChange| file.change == ChangeKind::Deleted || emptied.contains(&file.path);
    let lost: Vec<&str> = files.iter().filter(is_lost).map(|file| file.path.as_str()).collect();
    if lost.len() <= args.max_deletes {
        return Ok(());
    }
    let named = lost.iter().take(MAX_NAMED).map(|path| single_line(path)).collect::<Vec<_>>().join(", ");
    let more = lost.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = if emptied.is_empty() { "deleted" } else { "deleted or emptied" };
    let message =
        format!("{} files would be {what} {place}, more than {}: {named}{more}", lost.len(), args.max_deletes);
    let help = format!("if that is right, use --max-deletes {}", lost.len());
    Err(Failure::new(ErrorCode::NeedsConfirmation, message, help))
}

/// Refuses to send commits with secrets, also if a later commit has removed them.
fn check_secrets(repository: &Repository, commit: &str, there: Option<&str>, global: &Global) -> Result<(), Failure> {
    if global.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    let new = repository.new_blobs(commit, there)?;
    let blobs: Vec<String> = new.iter().map(|(blob, _)| blob.clone()).collect();
    for ((_, path), content) in new.iter().zip(repository.contents(&blobs)?) {
        if let Some(rule) = secret_in(&String::from_utf8_lossy(&content), path, global) {
            // The remote repository has it already.
            let known = there.map(|there| repository.content_at(there, path)).transpose()?.flatten();
            if known.is_some_and(|known| secret_in(&String::from_utf8_lossy(&known), path, global).is_some()) {
                continue;
            }
            let path = single_line(path);
            let message = format!("a commit has `{path}` with a secret ({rule}) in it, and would leave this machine");
            let help =
                "take the secret out of the commits that were not sent, with `git rebase -i`; --secrets allow sends it";
            return Err(Failure::new(ErrorCode::Secret, message, help));
        }
    }
    Ok(())
}
