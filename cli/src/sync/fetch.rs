//! [`fetch`]: gets the branch of the other machines, and refuses one that this machine must not be merged with.

use saddlebag::protocol::ErrorCode;

use super::report::Synced;
use crate::failure::Failure;
use crate::git::repository::Repository;
use crate::git::{Ended, said};
use crate::output::single_line;

/// Number of files that an error names.
pub(super) const MAX_NAMED: usize = 5;

/// The branch that is synchronised.
pub(super) struct Branch {
    /// Name of the remote repository.
    pub(super) remote: String,
    /// Name of the branch there.
    pub(super) name: String,
    /// True if git knows that the checked-out branch follows it.
    pub(super) is_followed: bool,
}

impl Branch {
    /// Returns the branch that the checked-out one follows; `None` if there is no remote repository.
    pub(super) fn of(repository: &Repository) -> Result<Option<Self>, Failure> {
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

    pub(super) fn shown(&self) -> String {
        format!("{}/{}", self.remote, self.name)
    }

    pub(super) fn tracking(&self) -> String {
        format!("refs/remotes/{}/{}", self.remote, self.name)
    }
}

/// Fetches the branch, and returns its commit. A repository that cannot be reached is named in the report.
pub(super) fn fetch(repository: &Repository, branch: &Branch, synced: &mut Synced) -> Result<Option<String>, Failure> {
    let mut ended = fetched(repository, branch, "")?;
    synced.not_reached = None;
    // With --quiet, git says nothing of a branch that no longer comes from the known one.
    if ended.status.and_then(|status| status.code()) == Some(1) && !ended.error.contains("fatal:") {
        let known = repository.commit_of(&branch.tracking())?;
        ended = fetched(repository, branch, "+")?;
        if let (Some(known), Some(now)) = (known, repository.commit_of(&branch.tracking())?) {
            check_is_whole(repository, branch, &known, &now)?;
        }
    }
    if !ended.status.is_some_and(|status| status.success()) {
        if ended.error.contains("couldn't find remote ref") {
            check_is_first(repository, branch)?;
            return Ok(None);
        }
        synced.not_reached = Some(reason(&ended));
    }
    repository.commit_of(&branch.tracking())
}

fn fetched(repository: &Repository, branch: &Branch, force: &str) -> Result<Ended, Failure> {
    let from = format!("{force}refs/heads/{}:{}", branch.name, branch.tracking());
    let arguments = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", &branch.remote, &from];
    repository.over_network(&arguments)
}

/// Refuses to go on if the remote branch has lost commits that this machine has: a merge would send them again.
fn check_is_whole(repository: &Repository, branch: &Branch, known: &str, now: &str) -> Result<(), Failure> {
    let Some(head) = &repository.head else { return Ok(()) };
    let is_here = repository.common_commit(head, known)?.as_deref() == Some(known);
    let common = repository.common_commit(known, now)?;
    if !is_here || common.is_none() || common.as_deref() == Some(known) {
        return Ok(());
    }
    // The next run has to notice it too.
    repository.lines(&["update-ref", &branch.tracking(), known])?;
    let (shown, remote) = (single_line(&branch.shown()), single_line(&branch.remote));
    let message = format!("`{shown}` was rewritten: commits that it had are gone there, and would be sent again");
    let help = format!(
        "`git fetch {remote}` and `git reset {shown}` in the folder of the store take the new commits and keep the files; without the \
         reset, this sends the old commits again"
    );
    Err(Failure::new(ErrorCode::Conflict, message, help))
}

/// Refuses to begin a branch in a remote repository that has others: machines on different branches would never meet.
fn check_is_first(repository: &Repository, branch: &Branch) -> Result<(), Failure> {
    let Branch { remote, name, .. } = branch;
    let ended = repository.over_network(&["ls-remote", "--heads", "--", remote])?;
    let listed = String::from_utf8_lossy(&ended.output);
    let heads = listed.lines().filter_map(|line| line.split_once("refs/heads/")).map(|(_, head)| single_line(head));
    let heads: Vec<String> = heads.collect();
    // Without an answer, the next step says that the repository is not reached.
    let Some(other) = heads.iter().find(|head| *head == "main").or(heads.first()) else { return Ok(()) };
    let named = heads.iter().take(MAX_NAMED).map(|head| format!("`{head}`")).collect::<Vec<_>>().join(", ");
    let name = single_line(name);
    let message = format!("`{remote}` has no branch `{name}`, which is checked out here, but has {named}");
    let begin = match repository.head {
        Some(_) => format!("; `git push -u {remote} {name}` begins the branch `{name}` on purpose"),
        None => String::new(),
    };
    let help = match branch.is_followed {
        true => format!("`git branch -u {remote}/{other}`, after `git fetch {remote}`, shares that one{begin}"),
        false => format!("`git branch -m {other}` in the folder of the store shares that one{begin}"),
    };
    Err(Failure::new(ErrorCode::Conflict, message, help))
}

pub(super) fn reason(ended: &Ended) -> String {
    match ended.status {
        Some(status) => single_line(&said(&ended.error, status)),
        None => "git did not end in time".into(),
    }
}
