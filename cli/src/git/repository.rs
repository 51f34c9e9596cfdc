//! [`Repository`]: the work tree in which the files of the store are, through git's own commands.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::Timestamp;

use super::run::{Ended, LIMIT, MAX_OUTPUT, NETWORK_LIMIT, command, network_command, run, run_within, said};
use crate::failure::{Failure, ProgramCode};
use crate::output::single_line;

/// Trailer that names the operation of a commit.
pub(crate) const OPERATION: &str = "Saddlebag-Operation";

/// Files in the folder of git that exist while something is going on, and what it is.
const ONGOING: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisect"),
];

/// Maximum number of characters of what is said of a commit.
const MAX_SOURCE: usize = 200;

/// Beginning of a path that is relative to the folder of the work tree.
const HERE: &str = "./";

/// Mode of a file that git does not know yet.
const REGULAR: &str = "100644";

/// Beginning of the modes of files, and the mode of another repository, whose commit is not here.
const REGULAR_KIND: &str = "100";
const REPOSITORY: &str = "160000";

/// A file in a tree or in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: String,
    /// Identifier of the content.
    pub(crate) blob: String,
}

/// Files by their paths in the work tree.
pub(crate) type Entries = BTreeMap<String, Entry>;

/// Who made something, as git names people.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) email: String,
}

/// A commit that is to be made.
pub(crate) struct NewCommit<'a> {
    pub(crate) message: &'a str,
    pub(crate) author: &'a Identity,
    pub(crate) time: Timestamp,
    /// Time of the committer; that of the clock if it is not given.
    pub(crate) committed: Option<Timestamp>,
}

/// For each path in the work tree its blob; `None` removes the file.
type Files = [(String, Option<String>)];

/// A file that differs between two commits.
#[derive(Clone)]
pub(crate) struct Difference {
    /// Path in the work tree.
    pub(crate) path: String,
    /// Mode of the file in the second commit.
    pub(crate) mode: String,
    /// Blob in the first commit; `None` if the file is new.
    pub(crate) before: Option<String>,
    /// Blob in the second commit; `None` if the file is deleted.
    pub(crate) after: Option<String>,
}

impl Difference {
    /// Returns true if the second commit has neither a link nor another repository under the path.
    pub(crate) fn is_regular(&self) -> bool {
        self.after.is_none() || self.mode.starts_with(REGULAR_KIND)
    }
}

/// New content of a file.
pub(crate) struct FileVersion {
    /// Path in the work tree.
    pub(crate) path: String,
    pub(crate) mode: String,
    /// Blob of the content; `None` removes the file.
    pub(crate) blob: Option<String>,
}

/// A work tree, and the store in it.
pub(crate) struct Repository {
    /// Folder of the work tree.
    pub(crate) top: PathBuf,
    /// Folder in which git keeps the state of this work tree.
    pub(crate) state: PathBuf,
    /// Root of the store.
    pub(crate) root: PathBuf,
    /// The checked-out commit; `None` if there is none yet.
    pub(crate) head: Option<String>,
    /// Files of the checked-out commit.
    pub(crate) files: Entries,
    settings: OnceCell<BTreeMap<String, String>>,
}

impl Repository {
    /// Finds the work tree that a folder of the store is in.
    ///
    /// # Errors
    ///
    /// git is missing, there is no work tree, or a merge or the like is going on.
    pub(crate) fn open(root: &Path, folder: &Path) -> Result<Self, Failure> {
        let (root, folder) = (canonical(root), canonical(folder));
        let Ended { output, error, status } =
            run(command(&folder).args(["rev-parse", "--show-toplevel", "--absolute-git-dir"]), &[])?;
        let text = String::from_utf8_lossy(&output);
        let mut lines = text.lines().map(PathBuf::from);
        let (true, Some(top), Some(state)) =
            (status.is_some_and(|status| status.success()), lines.next(), lines.next())
        else {
            let reason = match status {
                // The words for it differ with the mounts above the folder.
                _ if error.contains("not a git repository") => String::new(),
                Some(status) => format!(": {}", single_line(&said(&error, status))),
                None => format!(": git did not end in {} s", LIMIT.as_secs()),
            };
            let message = format!("the store is not in a git work tree{reason}");
            let help = "run `git init` in the folder of the store or of the project's memory, which `show --path root` \
                        and `show --path project` print";
            return Err(Failure::new(ProgramCode::Input, message, help));
        };
        for (file, what) in ONGOING {
            if state.join(file).exists() {
                let help = "finish or abort it, then run this again";
                return Err(Failure::new(ErrorCode::Conflict, format!("{what} is going on in the work tree"), help));
            }
        }
        let (top, files, settings) = (canonical(&top), Entries::new(), OnceCell::new());
        let mut repository = Self { top, state, root, head: None, files, settings };
        repository.head = repository.head_now()?;
        if let Some(head) = &repository.head {
            let tree = repository.read(&["ls-tree", "-r", "-z", "--full-tree", head], &[])?;
            repository.files = entries(&tree);
        }
        Ok(repository)
    }

    /// Returns the path in the work tree of a file of the store; `None` if it is outside, or in another repository.
    pub(crate) fn path(&self, shown: &str) -> Option<String> {
        let file = shown.split('/').fold(self.root.clone(), |folder, part| folder.join(part));
        let below = file.strip_prefix(&self.top).ok()?;
        let mut above = below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        if above.any(|above| self.top.join(above).join(".git").exists()) {
            return None;
        }
        let parts = below.components().map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
    }

    /// Returns the path below the root of the store; `None` for a file that is not in the store.
    pub(crate) fn shown(&self, path: &str) -> Option<String> {
        let file = self.top.join(path);
        let below = file.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Returns the bytes of a file in the work tree; `None` if there is no such file.
    pub(crate) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.top.join(path);
        fs::symlink_metadata(&file).ok().filter(fs::Metadata::is_file)?;
        fs::read(file).ok()
    }

    /// Returns the operations that the commits before the checked-out one name.
    pub(crate) fn operations(&self) -> Result<BTreeSet<String>, Failure> {
        let Some(head) = &self.head else { return Ok(BTreeSet::new()) };
        let (grep, format) =
            (format!("--grep={OPERATION}:"), format!("--format=%(trailers:key={OPERATION},valueonly)"));
        let arguments = ["log", "--no-show-signature", "--no-color", "--fixed-strings", &grep, &format, head, "--"];
        // A setting of the user could let trailers begin in another way.
        let ended = run(self.command().args(["-c", "trailer.separators=:"]).args(arguments), &[])?;
        let lines = output(&arguments, ended)?;
        let lines = String::from_utf8_lossy(&lines);
        Ok(lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect())
    }

    /// Returns the files that git ignores.
    pub(crate) fn ignored(&self, paths: &BTreeSet<String>) -> Result<BTreeSet<String>, Failure> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        // A name that begins with a colon would be a pattern.
        let input: String = paths.iter().map(|path| format!("{HERE}{path}\0")).collect();
        let ended = run(self.command().args(["check-ignore", "-z", "--stdin"]), input.as_bytes())?;
        // 1 says that none is ignored.
        match ended.status.and_then(|status| status.code()) {
            Some(0 | 1) => Ok(texts(&ended.output).map(|path| path.trim_start_matches(HERE).to_string()).collect()),
            _ => Err(failed("check-ignore", &ended)),
        }
    }

    /// Returns the files at the place of the store that differ from the checked-out commit, with new ones.
    pub(crate) fn changed(&self) -> Result<Vec<String>, Failure> {
        let place = self.root.strip_prefix(&self.top).ok().filter(|below| !below.as_os_str().is_empty());
        let place = place.map(|below| below.to_string_lossy().replace('\\', "/")).unwrap_or_default();
        let place = format!(":(top,literal){place}");
        let arguments = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        let arguments = [&arguments[..], &["--ignore-submodules=all", "--", &place]].concat();
        let output = self.read(&arguments, &[])?;
        // A file that the index alone lacks is there twice, as deleted and as new.
        let paths: BTreeSet<String> = texts(&output).filter_map(|line| line.get(3..).map(String::from)).collect();
        Ok(paths.into_iter().collect())
    }

    /// Returns the files of the index that differ from the checked-out commit, of those that are to be committed with these
    /// contents. A file that is already staged so does not count.
    pub(crate) fn staged(&self, files: &BTreeMap<String, Option<String>>) -> Result<Vec<String>, Failure> {
        let index = entries(&self.read(&["ls-files", "--stage", "-z"], &[])?);
        let blob = |entries: &Entries, path: &String| entries.get(path).map(|entry| entry.blob.clone());
        let is_staged = |path: &&String| {
            let staged = blob(&index, path);
            staged != blob(&self.files, path) && files.get(*path) != Some(&staged)
        };
        Ok(files.keys().filter(is_staged).cloned().collect())
    }

    /// Returns who the user is. `variable` is `GIT_AUTHOR_IDENT` or `GIT_COMMITTER_IDENT`.
    pub(crate) fn identity(&self, variable: &str) -> Result<Identity, Failure> {
        let ended = run(self.command().args(["var", variable]), &[])?;
        let line = String::from_utf8_lossy(&ended.output).into_owned();
        let parsed = line.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
        match parsed.filter(|_| ended.status.is_some_and(|status| status.success())) {
            Some((name, email)) => Ok(Identity { name: name.into(), email: email.into() }),
            None => {
                let help =
                    "set it with `git config --global user.name NAME` and `git config --global user.email ADDRESS`";
                Err(Failure::new(ProgramCode::Input, "git does not know who you are", help))
            }
        }
    }

    /// Writes commits with their files, one after the other, makes the last one the checked-out commit, and brings the index up to
    /// date for their files. Returns the identifiers.
    ///
    /// # Errors
    ///
    /// Something else committed meanwhile, or git cannot write. The checked-out commit is the old one then.
    pub(crate) fn commit(&self, commits: &[(NewCommit<'_>, &Files)]) -> Result<Vec<String>, Failure> {
        let index = TemporaryIndex(self.state.join(format!("saddlebag-commit-{}.index", std::process::id())));
        let with_index = |arguments: &[&str], input: &[u8]| self.with_index(&index, arguments, input);
        match &self.head {
            Some(head) => with_index(&["read-tree", head], &[])?,
            None => with_index(&["read-tree", "--empty"], &[])?,
        };
        let mut made: Vec<String> = Vec::new();
        let mut last = BTreeMap::new();
        for (commit, files) in commits {
            with_index(&["update-index", "-z", "--index-info"], &self.index_info(files, &self.files))?;
            let tree = text(&with_index(&["write-tree"], &[])?);
            let parents: Vec<&str> = made.last().or(self.head.as_ref()).map(String::as_str).into_iter().collect();
            made.push(self.commit_tree(&tree, &parents, commit)?);
            last.extend(files.iter().cloned());
        }
        let Some(new) = made.last() else { return Ok(made) };
        let last: Vec<(String, Option<String>)> = last.into_iter().collect();
        self.read(&["update-index", "-z", "--index-info"], &self.index_info(&last, &self.files))?;
        let old = self.head.as_deref().unwrap_or_default();
        let count = format!("saddlebag: commit {} operations", made.len());
        if let Err(failure) = self.read(&["update-ref", "-m", &count, "HEAD", new, old], &[]) {
            return Err(self.take_back(&last, failure));
        }
        Ok(made)
    }

    /// Makes a commit object of the files of a commit with some changes, and does not check it out. Without a change, it is the commit
    /// itself.
    pub(crate) fn draft(
        &self,
        from: Option<&str>,
        parents: &[&str],
        changes: &[FileVersion],
        commit: &NewCommit<'_>,
    ) -> Result<String, Failure> {
        // One `sync` runs at a time, so a file of this name is left from a run that was killed.
        let index = TemporaryIndex(self.state.join("saddlebag-sync.index"));
        match from {
            Some(from) => self.with_index(&index, &["read-tree", from], &[])?,
            None => self.with_index(&index, &["read-tree", "--empty"], &[])?,
        };
        if !changes.is_empty() {
            let lines = self.lines_of_index(changes);
            self.with_index(&index, &["update-index", "-z", "--index-info"], &lines)?;
        }
        let tree = text(&self.with_index(&index, &["write-tree"], &[])?);
        if let [parent] = parents
            && self.line(&["rev-parse", &format!("{parent}^{{tree}}")], &[])? == tree
        {
            return Ok((*parent).to_string());
        }
        self.commit_tree(&tree, parents, commit)
    }

    /// Makes a commit the checked-out one, and brings the index up to date for the files that differ between the two. No file of
    /// the work tree is touched.
    ///
    /// # Errors
    ///
    /// Something else committed meanwhile, or git cannot write. The checked-out commit is the old one then.
    pub(crate) fn adopt(&mut self, commit: &str, why: &str) -> Result<(), Failure> {
        let changes = self.differences(self.head.as_deref(), commit)?;
        let file = |Difference { path, mode, after, .. }: &Difference| FileVersion {
            path: path.clone(),
            mode: mode.clone(),
            blob: after.clone(),
        };
        let files: Vec<FileVersion> = changes.iter().map(file).collect();
        // First the index: if this process is killed here, `git commit` of a person takes back nothing.
        self.write_index(&files)?;
        let old = self.head.clone().unwrap_or_default();
        if let Err(failure) = self.read(&["update-ref", "-m", why, "HEAD", commit, &old], &[]) {
            let files: Vec<_> = files.into_iter().map(|file| (file.path, file.blob)).collect();
            return Err(self.take_back(&files, failure));
        }
        self.head = Some(commit.to_string());
        for change in &changes {
            match &change.after {
                Some(blob) => {
                    let entry = Entry { mode: change.mode.clone(), blob: blob.clone() };
                    self.files.insert(change.path.clone(), entry);
                }
                None => {
                    self.files.remove(&change.path);
                }
            }
        }
        Ok(())
    }

    /// Gives files these contents in the index.
    pub(crate) fn write_index(&self, files: &[FileVersion]) -> Result<(), Failure> {
        let lines = self.lines_of_index(files);
        if !lines.is_empty() {
            self.read(&["update-index", "-z", "--index-info"], &lines)?;
        }
        Ok(())
    }

    /// Returns the lines with which `update-index --index-info` makes files have these contents.
    fn lines_of_index(&self, files: &[FileVersion]) -> Vec<u8> {
        let absent = "0".repeat(self.length(&self.files));
        let line = |FileVersion { path, mode, blob }: &FileVersion| match blob {
            Some(blob) => format!("{mode} {blob}\t{path}\0"),
            None => format!("0 {absent}\t{path}\0"),
        };
        files.iter().flat_map(|file| line(file).into_bytes()).collect()
    }

    /// Returns the mode of a file, for a new content of it.
    pub(crate) fn mode(&self, path: &str) -> String {
        let known = self.files.get(path).map(|entry| entry.mode.as_str()).filter(|mode| mode.starts_with(REGULAR_KIND));
        known.unwrap_or(REGULAR).to_string()
    }

    /// Returns the files that differ between two commits. Without the first, all files of the second are new.
    pub(crate) fn differences(&self, from: Option<&str>, to: &str) -> Result<Vec<Difference>, Failure> {
        if from == Some(to) {
            return Ok(Vec::new());
        }
        let from = match from {
            Some(from) => from.to_string(),
            // The tree without files.
            None => self.line(&["mktree"], &[])?,
        };
        // A rename is two differences here, and found by `moves`.
        let output = self.read(&["diff-tree", "-r", "-z", "--no-renames", "--full-index", &from, to], &[])?;
        let mut parts = texts(&output);
        let mut found = Vec::new();
        // `:100644 100644 BEFORE AFTER M`, and the path.
        while let (Some(line), Some(path)) = (parts.next(), parts.next()) {
            let words: Vec<&str> = line.trim_start_matches(':').split(' ').collect();
            let [old_mode, mode, before, after, _] = words[..] else { continue };
            let blob = |id: &str| (!id.bytes().all(|byte| byte == b'0')).then(|| id.to_string());
            let before = if old_mode == REPOSITORY { "" } else { before };
            found.push(Difference { path, mode: mode.to_string(), before: blob(before), after: blob(after) });
        }
        Ok(found)
    }

    /// Returns the files that were moved between two commits: the old paths and the new ones.
    pub(crate) fn moves(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, Failure> {
        let arguments = ["diff-tree", "-r", "-z", "--find-renames", "--diff-filter=R", "--name-status", from, to];
        let output = self.read(&arguments, &[])?;
        let parts: Vec<String> = texts(&output).collect();
        Ok(parts.chunks_exact(3).map(|parts| (parts[1].clone(), parts[2].clone())).collect())
    }

    /// Returns the paths whose content git changes by a filter or another encoding.
    pub(crate) fn filtered(&self, paths: &[String]) -> Result<BTreeSet<String>, Failure> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let input: String = paths.iter().map(|path| format!("{path}\0")).collect();
        let output =
            self.read(&["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"], input.as_bytes())?;
        let parts: Vec<String> = texts(&output).collect();
        let is_set = |value: &str| !["unspecified", "unset"].contains(&value);
        Ok(parts.chunks_exact(3).filter(|parts| is_set(&parts[2])).map(|parts| parts[0].clone()).collect())
    }

    /// Returns the newest commit that changed each file, of those that a commit comes from and another one does not: its first digits, its
    /// author and the machine that it names.
    pub(crate) fn sources(&self, of: &str, without: Option<&str>) -> Result<BTreeMap<String, String>, Failure> {
        let format =
            "--format=%x01commit %h by %an <%ae>%x02%(trailers:key=Saddlebag-Machine,valueonly,separator=%x2C)";
        let mut arguments = vec!["log", "-z", "--no-renames", "--name-only", "--no-show-signature", format, of];
        arguments.extend(without.iter().flat_map(|without| ["--not", without]));
        let output = self.read(&[&arguments[..], &["--"]].concat(), &[])?;
        let (mut sources, mut source) = (BTreeMap::new(), String::new());
        for part in texts(&output) {
            match part.trim_start_matches('\n').strip_prefix('\u{1}') {
                Some(commit) => {
                    let (commit, machine) = commit.split_once('\u{2}').unwrap_or((commit, ""));
                    let machine = machine.trim();
                    let of = if machine.is_empty() { String::new() } else { format!(" on {machine}") };
                    source = single_line(&format!("{commit}{of}")).chars().take(MAX_SOURCE).collect();
                }
                None => {
                    let path = part.trim_start_matches('\n').to_string();
                    sources.entry(path).or_insert_with(|| source.clone());
                }
            }
        }
        Ok(sources)
    }

    /// Returns a common ancestor of two commits; `None` if there is none.
    pub(crate) fn common_commit(&self, one: &str, other: &str) -> Result<Option<String>, Failure> {
        let ended = run(self.command().args(["merge-base", "--all", one, other]), &[])?;
        match ended.status.and_then(|status| status.code()) {
            // Both sides choose the same one.
            Some(0 | 1) => Ok(text(&ended.output).lines().map(String::from).min()),
            _ => Err(failed("merge-base", &ended)),
        }
    }

    /// Returns a setting, as it was when the first one was read. Sections and names are in lower case.
    pub(crate) fn setting(&self, name: &str) -> Result<Option<String>, Failure> {
        if let Some(known) = self.settings.get() {
            return Ok(known.get(name).cloned());
        }
        let list = self.read(&["config", "--list", "-z"], &[])?;
        // A later value overrides an earlier one.
        let settings: BTreeMap<String, String> = texts(&list)
            .filter_map(|line| line.split_once('\n').map(|(name, value)| (name.to_string(), value.to_string())))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        Ok(self.settings.get_or_init(|| settings).get(name).cloned())
    }

    /// Returns the lines that a command of git prints.
    pub(crate) fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, Failure> {
        Ok(String::from_utf8_lossy(&self.read(arguments, &[])?).lines().map(String::from).collect())
    }

    /// Returns the commit of a name; `None` if there is none.
    pub(crate) fn commit_of(&self, name: &str) -> Result<Option<String>, Failure> {
        let name = format!("{name}^{{commit}}");
        let ended = run(self.command().args(["rev-parse", "--verify", "--quiet", &name]), &[])?;
        Ok(ended.status.is_some_and(|status| status.success()).then(|| text(&ended.output)))
    }

    /// Runs git where it may reach other machines.
    pub(crate) fn over_network(&self, arguments: &[&str]) -> Result<Ended, Failure> {
        run_within(NETWORK_LIMIT, network_command(&self.top).args(arguments), &[])
    }

    fn with_index(&self, index: &TemporaryIndex, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut git = self.command();
        git.env("GIT_INDEX_FILE", &index.0).args(arguments);
        output(arguments, run(&mut git, input)?)
    }

    /// Gives the index the files of the checked-out commit again, which may be another one now, and returns the failure.
    fn take_back(&self, files: &[(String, Option<String>)], failure: Failure) -> Failure {
        let restored = self.head_now().and_then(|head| {
            let head = head.unwrap_or_default();
            let tree = match head.as_str() {
                "" => Vec::new(),
                head => self.read(&["ls-tree", "-r", "-z", "--full-tree", head], &[])?,
            };
            let now = entries(&tree);
            let blob = |path: &String| now.get(path).map(|entry| entry.blob.clone());
            let files: Vec<_> = files.iter().map(|(path, _)| (path.clone(), blob(path))).collect();
            self.read(&["update-index", "-z", "--index-info"], &self.index_info(&files, &now))
        });
        let help = match restored {
            Ok(_) => "something else committed meanwhile; run this again",
            Err(_) => "the index has files that were not committed: `git restore --staged .` takes them out",
        };
        Failure::new(ErrorCode::Conflict, failure.message, help)
    }

    fn head_now(&self) -> Result<Option<String>, Failure> {
        let ended = run(self.command().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]), &[])?;
        let is_found = ended.status.is_some_and(|status| status.success());
        Ok(is_found.then(|| text(&ended.output)))
    }

    fn commit_tree(&self, tree: &str, parents: &[&str], commit: &NewCommit<'_>) -> Result<String, Failure> {
        let mut arguments = vec!["commit-tree", tree, "-F", "-"];
        arguments.extend(parents.iter().flat_map(|parent| ["-p", *parent]));
        let mut git = self.command();
        git.env("GIT_AUTHOR_NAME", &commit.author.name).env("GIT_AUTHOR_EMAIL", &commit.author.email);
        git.env("GIT_AUTHOR_DATE", date(commit.time));
        if let Some(time) = commit.committed {
            git.env("GIT_COMMITTER_DATE", date(time));
        }
        git.args(["-c", "i18n.commitEncoding=UTF-8"]).args(&arguments);
        Ok(text(&output(&arguments, run(&mut git, commit.message.as_bytes())?)?))
    }

    /// Returns the lines with which `update-index --index-info` makes files have these contents.
    fn index_info(&self, files: &[(String, Option<String>)], known: &Entries) -> Vec<u8> {
        let mut lines = Vec::new();
        for (path, blob) in files {
            let mode = known.get(path).map(|entry| entry.mode.as_str()).filter(|mode| mode.starts_with(REGULAR_KIND));
            let line = match blob {
                Some(blob) => format!("{} {blob}\t{path}\0", mode.unwrap_or(REGULAR)),
                // The identifier is not looked at, but has the length of all others.
                None => format!("0 {}\t{path}\0", "0".repeat(self.length(known))),
            };
            lines.extend(line.into_bytes());
        }
        lines
    }

    /// Returns the length of an identifier.
    fn length(&self, known: &Entries) -> usize {
        let of_files = || known.values().next().map(|entry| entry.blob.len());
        self.head.as_ref().map(String::len).or_else(of_files).unwrap_or(40)
    }

    fn command(&self) -> Command {
        command(&self.top)
    }

    pub(super) fn read(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        output(arguments, run(self.command().args(arguments), input)?)
    }

    pub(super) fn line(&self, arguments: &[&str], input: &[u8]) -> Result<String, Failure> {
        Ok(text(&self.read(arguments, input)?))
    }
}

/// An index that is removed at the end.
struct TemporaryIndex(PathBuf);

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        let mut lock: OsString = self.0.clone().into_os_string();
        lock.push(".lock");
        // What is left has no meaning for git.
        let _ = (fs::remove_file(&self.0), fs::remove_file(lock));
    }
}

fn canonical(path: &Path) -> PathBuf {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // git does not take the prefix of a canonical path of Windows.
    let short = path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).filter(|rest| !rest.starts_with("UNC"));
    short.map(PathBuf::from).unwrap_or(path)
}

/// Returns a time as git takes it.
fn date(time: Timestamp) -> String {
    let (sign, offset) = (if time.utc_offset_seconds < 0 { '-' } else { '+' }, time.utc_offset_seconds.unsigned_abs());
    format!("@{} {sign}{:02}{:02}", time.seconds.max(0), offset / 3600, offset / 60 % 60)
}

fn output(arguments: &[&str], ended: Ended) -> Result<Vec<u8>, Failure> {
    let verb = arguments.first().copied().unwrap_or_default();
    if !ended.status.is_some_and(|status| status.success()) {
        return Err(failed(verb, &ended));
    }
    if ended.output.len() as u64 > MAX_OUTPUT {
        let message = format!("`git {verb}` prints more than {} MiB", MAX_OUTPUT >> 20);
        return Err(Failure::new(ErrorCode::TooLarge, message, "give the store a repository of its own"));
    }
    Ok(ended.output)
}

fn failed(verb: &str, ended: &Ended) -> Failure {
    let reason = match ended.status {
        Some(status) => said(&ended.error, status),
        None => format!("it did not end in {} s", LIMIT.as_secs()),
    };
    Failure::new(
        ProgramCode::Input,
        format!("`git {verb}` failed: {}", single_line(&reason)),
        "run `git status` to see why",
    )
}

/// Returns the files that `git ls-tree -z` or `git ls-files --stage -z` printed: mode, perhaps a kind, identifier, perhaps a
/// stage, tab, path.
fn entries(output: &[u8]) -> Entries {
    let mut entries = Entries::new();
    for line in texts(output) {
        let Some((head, path)) = line.split_once('\t') else { continue };
        let words: Vec<&str> = head.split(' ').collect();
        let Some(mode) = words.first() else { continue };
        let blob = words.iter().skip(1).find(|word| word.len() >= 40);
        let Some(blob) = blob else { continue };
        entries.insert(path.to_string(), Entry { mode: (*mode).to_string(), blob: (*blob).to_string() });
    }
    entries
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_string()
}

/// Returns what git ended with a zero byte each.
pub(super) fn texts(output: &[u8]) -> impl Iterator<Item = String> + '_ {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned())
}
