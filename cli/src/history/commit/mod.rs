//! `commit`: makes a git commit of each operation of the history.

mod machines;
mod message;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use saddlebag::history::OperationInfo;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{LONG_TERM_FILE, NOTE_SUFFIX, PROJECTS_FOLDER, Timestamp};
use saddlebag::trust::{SecretPolicy, secrets_in};

use self::plan::{LeftOut, Plan};
use super::shared::minutes;
use crate::git::repository::{Identity, NewCommit, Repository};
use crate::input::nanoseconds;
use crate::output::single_line;
use crate::prelude::*;
use crate::store::{Root, Store, named_project};

/// Folders of the root with memory of other scopes than the notebook.
const SCOPES: [&str; 3] = ["agents/", "projects/", "workspaces/"];

/// Number of files that an error names.
const MAX_NAMED: usize = 5;

/// Commit the history to git, one commit for each operation
///
/// The store, or the project's folder in it, must be in a git work tree. Each operation that `history` lists and no commit names yet
/// becomes a commit with its author, time, reason and files. No hook runs and nothing is pushed; other staged changes and the files
/// themselves stay as they are. What is in `.saddlebag` is not committed, nor what git ignores.
#[derive(Debug, Args)]
#[command(after_help = example("commit --dry-run"))]
pub(crate) struct CommitArgs {
    /// Also commit what was changed by hand since the last operation, as one more commit
    #[arg(long)]
    all: bool,
    /// Only list the commits
    #[arg(long)]
    dry_run: bool,
}

/// Commits, and what was left out.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Committed {
    /// True if nothing was committed because of --dry-run.
    dry_run: bool,
    /// Commits, oldest first.
    commits: Vec<CommitInfo>,
    /// Files that were changed by hand since the last operation, and are not committed.
    by_hand: Vec<String>,
    /// Changes that are not committed: the history does not have the text, or it has a secret.
    left_out: Vec<LeftOut>,
    /// Number of files that git ignores.
    ignored: usize,
    /// Number of files outside of the work tree.
    outside: usize,
    /// Number of operations that were not looked at, because there are too many newer ones.
    older: u32,
    /// Summary.
    message: String,
}

/// A commit.
#[derive(Serialize, JsonSchema)]
struct CommitInfo {
    /// Identifier of the commit; `null` with --dry-run.
    commit: Option<String>,
    /// Operation of the history; `null` for what was changed by hand.
    operation: Option<String>,
    /// First line of the message.
    subject: String,
    /// Name of the author.
    author: String,
    /// Time of the author, as RFC 3339.
    time: String,
    /// Paths of the files.
    files: Vec<String>,
}

/// A commit that is to be made, as it is printed and as git gets it.
struct Draft {
    info: CommitInfo,
    message: String,
    author: Identity,
    time: Timestamp,
    files: Vec<(String, Option<String>)>,
}

impl Subcommand for CommitArgs {
    type Json = Committed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        global.require_person("commit")?;
        // The paths are looked for in the work tree.
        let global = &Global { absolute: false, ..global.clone() };
        let mut store = Store::open(global)?;
        let root = Root::from_options(global)?;
        let root = root.folder()?;
        let repository = Repository::open(root, &folder(root, global))?;
        let user = repository.identity("GIT_AUTHOR_IDENT")?;
        repository.identity("GIT_COMMITTER_IDENT")?;
        let is_kept = !self.dry_run;
        let mut plan = Plan::of(&repository, is_kept, &mut store, output)?;
        let mut after = plan.after.clone();
        let by_hand = by_hand(&mut plan, &repository, is_kept, global)?;
        let mut drafts: Vec<Draft> = Vec::new();
        let operations: Vec<&OperationInfo> = plan.commits.iter().map(|planned| &planned.info).collect();
        let machines = machines::machines(root, &operations);
        for planned in &plan.commits {
            drafts.push(draft(planned, machines.get(&planned.info.operation), &user)?);
        }
        let mut done = Committed {
            dry_run: self.dry_run,
            by_hand: by_hand.iter().map(|file| file.shown.clone()).collect(),
            ignored: plan.ignored.len(),
            outside: plan.outside.len(),
            older: plan.older,
            ..Committed::default()
        };
        if self.all && !by_hand.is_empty() {
            let files = std::mem::take(&mut done.by_hand);
            let subject = message::by_hand(&files);
            let now = store.now();
            after.extend(by_hand.iter().map(|file| (file.path.clone(), file.blob.clone())));
            drafts.push(Draft {
                message: format!("{subject}\n"),
                info: CommitInfo {
                    commit: None,
                    operation: None,
                    subject,
                    author: user.name.clone(),
                    time: saddlebag::store::utc_text(nanoseconds(now)),
                    files,
                },
                author: user,
                time: now,
                files: by_hand.into_iter().map(|file| (file.path, file.blob)).collect(),
            });
        }
        refuse_staged(&after, &repository)?;
        if !self.dry_run {
            let commits: Vec<_> = drafts
                .iter()
                .map(|Draft { message, author, time, files, .. }| {
                    (NewCommit { message, author, time: *time, committed: global.now }, files.as_slice())
                })
                .collect();
            let made = repository.commit(&commits)?;
            for (draft, commit) in drafts.iter_mut().zip(made) {
                draft.info.commit = Some(commit);
            }
        }
        done.commits = drafts.into_iter().map(|draft| draft.info).collect();
        done.left_out = plan.left_out;
        done.message = done.told();
        if plan.damaged > 0 {
            output.warning(&format!("{} damaged lines of the logs are left out", plan.damaged));
        }
        done.print(output)?;
        Ok(Exit::Done)
    }
}

/// Returns the folder whose work tree is used: that of the project's memory if it exists, else the root.
fn folder(root: &Path, global: &Global) -> PathBuf {
    let project = crate::project::opened(global, &named_project(global));
    let folder = project.map(|project| root.join(PROJECTS_FOLDER).join(project));
    folder.filter(|folder| folder.is_dir()).unwrap_or_else(|| root.to_path_buf())
}

fn draft(planned: &plan::Planned, machine: Option<&String>, user: &Identity) -> Result<Draft, Failure> {
    let plan::Planned { info, files } = planned;
    let is_committed = |path: &str| files.iter().any(|file| file.shown == path);
    let subject = message::subject(info, &is_committed);
    let author = message::author(info, user);
    let time = saddlebag_host::parse_time(&info.time)
        .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string(), ""))?;
    Ok(Draft {
        message: message::message(info, machine, &subject),
        info: CommitInfo {
            commit: None,
            operation: Some(info.operation.clone()),
            subject,
            author: author.name.clone(),
            time: info.time.clone(),
            files: files.iter().map(|file| file.shown.clone()).collect(),
        },
        author,
        time,
        files: files.iter().map(|file| (file.path.clone(), file.blob.clone())).collect(),
    })
}

/// Returns the files of the memory that differ from the last commit of the plan. Those with a secret are left out.
fn by_hand(
    plan: &mut Plan,
    repository: &Repository,
    is_kept: bool,
    global: &Global,
) -> Result<Vec<plan::PlannedFile>, Failure> {
    let project = crate::project::opened(global, &named_project(global));
    let mut own = vec![format!("agents/{}/entries/", global.agent)];
    own.extend(global.workspace.iter().map(|workspace| format!("workspaces/{workspace}/entries/")));
    own.extend(project.iter().map(|project| format!("{PROJECTS_FOLDER}/{project}/")));
    let is_own = |shown: &str| {
        let is_of_scope = own.iter().any(|folder| shown.starts_with(folder.as_str()));
        let is_of_notebook = project.is_none() && !SCOPES.iter().any(|scope| shown.starts_with(scope));
        is_of_scope || is_of_notebook || shown == LONG_TERM_FILE
    };
    let is_note = |shown: &str| shown.ends_with(NOTE_SUFFIX) && !shown.split('/').any(|part| part.starts_with('.'));
    let mut paths: BTreeSet<String> = repository.changed()?.into_iter().collect();
    paths.extend(plan.after.keys().cloned());
    let mut found = Vec::new();
    for path in paths {
        let Some(shown) = repository.shown(&path).filter(|shown| is_own(shown) && is_note(shown)) else { continue };
        let is_left_out = plan.left_out.iter().any(|left| left.path == shown);
        if is_left_out || repository.path(&shown).is_none() {
            continue;
        }
        let bytes = repository.bytes(&path);
        let has_secret = global.secrets != SecretPolicy::Allow
            && bytes.as_ref().is_some_and(|bytes| !secrets_in(&String::from_utf8_lossy(bytes)).is_empty());
        let blob = bytes.map(|bytes| repository.blob(&path, &bytes, is_kept && !has_secret)).transpose()?;
        let known = || repository.files.get(&path).map(|entry| entry.blob.clone());
        if plan.after.get(&path).cloned().unwrap_or_else(known) == blob {
            continue;
        }
        if has_secret {
            let reason = "it was changed by hand and has a secret in it".to_string();
            plan.left_out.push(LeftOut { operation: None, path: shown, reason });
        } else {
            found.push(plan::PlannedFile { shown, path, blob });
        }
    }
    Ok(found)
}

/// Refuses to commit files of which the user has staged something else.
fn refuse_staged(after: &BTreeMap<String, Option<String>>, repository: &Repository) -> Result<(), Failure> {
    let staged = repository.staged(after)?;
    if staged.is_empty() {
        return Ok(());
    }
    let named = staged.iter().take(MAX_NAMED).map(|path| single_line(path)).collect::<Vec<_>>().join(", ");
    let more = staged.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("changes of the same files are staged: {named}{more}");
    Err(Failure::new(ErrorCode::Conflict, message, "commit them, or unstage them with `git restore --staged FILE`"))
}

impl Committed {
    fn told(&self) -> String {
        let plural = |count: usize| format!("{count} commit{}", if count == 1 { "" } else { "s" });
        match (self.commits.len(), self.dry_run) {
            (0, _) => "Nothing to commit".to_string(),
            (count, true) => format!("Dry run, nothing is changed: {} to make", plural(count)),
            (count, false) => format!("Made {}", plural(count)),
        }
    }

    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.json(self)? {
            return Ok(());
        }
        output.line(&self.message)?;
        for CommitInfo { commit, subject, author, time, .. } in &self.commits {
            let commit = commit.as_ref().and_then(|commit| commit.get(..10)).map(|commit| format!("{commit}  "));
            let (commit, author) = (commit.unwrap_or_default(), single_line(author));
            output.line(&format!("  {commit}{}  {author}  {subject}", minutes(time)))?;
        }
        output.flush()?;
        for path in &self.by_hand {
            output.note(&format!("changed by hand, not committed: {}", single_line(path)));
        }
        if !self.by_hand.is_empty() {
            output.note("--all commits what was changed by hand, too");
        }
        for LeftOut { operation, path, reason } in &self.left_out {
            let (path, reason) = (single_line(path), single_line(reason));
            let operation = operation.as_ref().map(|operation| format!(" of operation {operation}"));
            output.note(&format!("left out: {path}{}: {reason}", operation.unwrap_or_default()));
        }
        let counts = [(self.ignored, "ignored by git"), (self.outside, "outside of the work tree")];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            output.note(&format!("left out: {count} file{} {what}", if count == 1 { "" } else { "s" }));
        }
        if self.older > 0 {
            output.note(&format!("left out: {} operations before the newest ones", self.older));
        }
        Ok(())
    }
}
