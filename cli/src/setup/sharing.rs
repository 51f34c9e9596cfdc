//! `setup git` and `setup syncthing`: mark what of the store other machines get, and make git merge memory with this program.
//!
//! Everything that is not marked stays on this machine, and so do the state of the machine and backups. A block in `.gitignore` or
//! `.stignore` of the root says what is shared. A block in `.gitattributes` and settings of the repository name the merge driver.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use saddlebag::history::MergeSides;
use saddlebag::store::{
    AGENTS_FOLDER, ENTRIES_FOLDER, PROJECTS_FOLDER, SCOPE_FOLDERS, USER_FOLDER, WORKSPACES_FOLDER, file_stem, is_name,
};
use saddlebag_host::is_temporary;

use super::args::{SetupArgs, Target};
use super::choices::places;
use super::run::Program;
use super::types::Share;
use crate::disk::write_file;
use crate::failure::{ProgramCode, set_changes};
use crate::git::repository::Repository;
use crate::prelude::*;
use crate::project::{opened, others};
use crate::store::{Root, named_project};

/// File with the digests of the values that were rejected for good, of shared scopes.
pub(crate) const REJECTIONS: &str = "rejections.log";

/// File with the digests of text that was expunged from shared scopes.
pub(crate) const EXPUNGED: &str = "expunged.log";

/// Files in the root that are shared with any scope.
const WITH_ANY: [&str; 4] = [".gitignore", ".gitattributes", REJECTIONS, EXPUNGED];

/// Name of our merge driver in the settings of git.
const DRIVER: &str = "saddlebag";

/// First line of a block, after the mark of a comment.
const BEGIN: &str = " saddlebag begin: written by `saddlebag setup`; a change here is replaced by the next run";
/// Last line of a block.
const END: &str = " saddlebag end";
/// Line that names a scope which is shared.
const SHARED: &str = " shared: ";
/// Name of all scopes.
const ALL: &str = "all";
/// Name of the notebook in the root.
const NOTEBOOK: &str = "notebook";

/// What `setup git` or `setup syncthing` did.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SharingReport {
    /// True if nothing was written because of `--dry-run`.
    dry_run: bool,
    /// Files with our blocks, as they are now or would be.
    files: Vec<SharingFile>,
    /// Settings of the repository.
    settings: Vec<String>,
    /// Scopes that are shared.
    shared: Vec<String>,
    /// Summary.
    message: String,
}

/// A file with a block of ours.
#[derive(Serialize, JsonSchema)]
struct SharingFile {
    /// Path of the file.
    path: PathBuf,
    /// True if it differs from before.
    changes: bool,
    /// Lines of the block; empty if it was removed.
    lines: Vec<String>,
}

/// Returns true if a path of the store belongs to the state of a machine: what Syncthing shares of it is that too, and so are the
/// repositories in its work tree and the files that the host is writing.
pub(crate) fn is_state(path: &str) -> bool {
    let is_own = |part: &str| is_name(part, ".saddlebag") || is_name(part, ".git") || is_temporary(part);
    [".stignore", ".gitmodules"].contains(&path) || path.split('/').any(is_own)
}

/// Returns true if a path is that of a backup.
pub(crate) fn is_backup(path: &str) -> bool {
    path.ends_with(".bak")
}

/// Setting of the repository with the scopes that this machine shares. The marks in `.gitignore` reach all machines, so they
/// alone do not say what leaves this one.
const SHARES: &str = "saddlebag.shares";

/// Returns the scopes that `setup git` has marked on this machine, relative to the root.
pub(crate) fn shared_by_git(repository: &Repository) -> Result<BTreeSet<String>, Failure> {
    let value = repository.setting(SHARES)?.unwrap_or_default();
    Ok(value.split(',').filter(|scope| !scope.is_empty()).map(String::from).collect())
}

/// Returns the scopes that leave this machine, through git or Syncthing.
pub(crate) fn shared(root: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut shared = shared_in(&read(&root.join(".stignore"))?.unwrap_or_default(), "//");
    if is_in_git(root) {
        shared.extend(shared_by_git(&Repository::open(root, root)?)?);
    }
    Ok(shared)
}

/// Returns true if a file of the store is in a shared scope.
pub(crate) fn is_shared(shared: &BTreeSet<String>, path: &str) -> bool {
    let is_of = |scope: &String| path.strip_prefix(scope.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let is_of_notebook = !SCOPE_FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    WITH_ANY.contains(&path)
        || shared.contains(ALL)
        || (is_of_notebook && shared.contains(NOTEBOOK))
        || shared.iter().any(is_of)
}

/// Returns true if a store is in a git work tree.
pub(crate) fn is_in_git(root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| root.ancestors().any(|folder| folder.join(".git").exists()))
}

/// Returns the command with which git merges a file of memory.
fn driver(root: &Path) -> Result<String, Failure> {
    let program = Program::find(&places()?)?;
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', "'\\''").replace('%', "%%"));
    Ok(format!("{} --root {} merge %O %A %B --path=%P", quoted(&program.path), quoted(root)))
}

/// Returns the lines of `.gitattributes`.
fn merged_by_git() -> Vec<String> {
    vec![format!("*.md merge={DRIVER}"), format!("/{REJECTIONS} merge=union"), format!("/{EXPUNGED} merge=union")]
}

/// Writes the blocks and the settings, or removes them.
pub(super) fn set_up(args: &SetupArgs, target: Target, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let root = Root::from_options(global)?.folder()?.to_path_buf();
    let root = root.canonicalize().map_err(|error| {
        let message = format!("the store `{}` cannot be opened: {}", root.display(), saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Input, message, "store something first, or name another folder with --root")
    })?;
    let repository = if target == Target::Git { Some(Repository::open(&root, &root)?) } else { None };
    let (ignore, mark) = if target == Target::Git { (".gitignore", "#") } else { (".stignore", "//") };
    let known = read(&root.join(ignore))?;
    let mut shared = shared_in(known.as_deref().unwrap_or_default(), mark);
    let mut plans: Vec<(PathBuf, Option<String>, Vec<String>)> = Vec::new();
    let mut here = BTreeSet::new();
    if args.remove {
        shared.clear();
        plans.push((root.join(ignore), known, Vec::new()));
    } else {
        let chosen = scopes(args, global)?;
        shared.extend(chosen.iter().cloned());
        if let Some(repository) = &repository {
            here = shared_by_git(repository)?;
            here.extend(chosen);
        }
        let patterns = if target == Target::Git { for_git(&shared) } else { for_syncthing(&shared) };
        plans.push((root.join(ignore), known, ignored(&shared, mark, patterns)));
    }
    let mut settings = Vec::new();
    if let Some(repository) = &repository {
        let attributes = root.join(".gitattributes");
        let lines = if args.remove { Vec::new() } else { merged_by_git() };
        let before = read(&attributes)?;
        plans.push((attributes, before, lines));
        settings = changed_settings(repository, &here, args.remove)?;
    }
    let files: Vec<(PathBuf, Option<String>, String, Vec<String>)> = plans
        .into_iter()
        .map(|(path, before, lines)| {
            let comment = if path.ends_with(".stignore") { "//" } else { "#" };
            let after = with_block(before.as_deref().unwrap_or_default(), comment, &lines);
            (path, before, after, lines)
        })
        .collect();
    let is_changed = |before: &Option<String>, after: &str| before.as_deref().unwrap_or_default() != after;
    let changes = files.iter().filter(|(_, before, after, _)| is_changed(before, after)).count() + settings.len();
    let mut report = SharingReport {
        dry_run: args.dry_run,
        files: files
            .iter()
            .map(|(path, before, after, lines)| SharingFile {
                path: path.clone(),
                changes: is_changed(before, after),
                lines: lines.clone(),
            })
            .collect(),
        settings: settings
            .iter()
            .map(|(name, value)| format!("{name} = {}", value.as_deref().unwrap_or("(removed)")))
            .collect(),
        shared: shared.iter().cloned().collect(),
        message: String::new(),
    };
    report.message = report.told(args, target, changes);
    report.show_changes(output)?;
    if changes > 0 && !args.dry_run && !args.yes {
        output.flush()?;
        let help = "confirm with --yes; --dry-run only shows the changes";
        output.confirm("Write this?", "this would change the files above", help, false)?;
    }
    if !args.dry_run {
        for (path, before, after, _) in files.iter().filter(|(_, before, after, _)| is_changed(before, after)) {
            write_file(path, before.as_deref(), after)?;
            set_changes(true, true);
        }
        if let Some(repository) = &repository {
            for (name, value) in &settings {
                match value {
                    Some(value) => repository.lines(&["config", "--local", name, value])?,
                    None => repository.lines(&["config", "--local", "--unset-all", name])?,
                };
                set_changes(true, true);
            }
        }
    }
    output.object_or_line(&report, &report.message)?;
    let is_of_project = match args.share.as_slice() {
        [] => !global.notebook && !global.user,
        chosen => chosen.contains(&Share::Project),
    };
    if is_of_project
        && !args.remove
        && let Some(project) = opened(global, &named_project(global))
    {
        output.flush()?;
        for other in others(global) {
            output.note(&format!(
                "`{project}` is marked, and not `{}`: {}, and then this again",
                other.name,
                other.hint()
            ));
        }
    }
    Ok(Exit::Done)
}

impl SharingReport {
    fn told(&self, args: &SetupArgs, target: Target, changes: usize) -> String {
        let tool = target.word();
        let dry = if args.dry_run { "Dry run, nothing is changed: " } else { "" };
        let what = match (args.remove, self.shared.is_empty()) {
            (true, _) if changes == 0 => format!("nothing of ours was there for {tool}"),
            (true, _) => format!("{tool} shares nothing of the store any more; files that it has already stay there"),
            (false, _) => format!("{tool} shares {}", self.shared.join(", ")),
        };
        let next = match target {
            Target::Git if !args.remove => "; `saddlebag sync` commits, merges and pushes",
            _ => "",
        };
        format!("{dry}{what}{next}")
    }

    fn show_changes(&self, output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            return Ok(());
        }
        for SharingFile { path, lines, .. } in self.files.iter().filter(|file| file.changes) {
            output.line(&format!("{}:", path.display()))?;
            for line in lines {
                output.line(&format!("  {line}"))?;
            }
            if lines.is_empty() {
                output.line("  (our lines are removed)")?;
            }
        }
        for setting in &self.settings {
            output.line(&format!("git: {setting}"))?;
        }
        Ok(())
    }
}

/// Returns the folders of the scopes that the arguments name, relative to the root.
fn scopes(args: &SetupArgs, global: &Global) -> Result<Vec<String>, Failure> {
    let default = match (global.notebook, global.user) {
        (true, _) => Share::Notebook,
        (_, true) => Share::User,
        _ => Share::Project,
    };
    let chosen = if args.share.is_empty() { vec![default] } else { args.share.clone() };
    chosen
        .into_iter()
        .map(|share| match share {
            Share::All => Ok(ALL.to_string()),
            Share::Notebook => Ok(NOTEBOOK.to_string()),
            Share::User => Ok(format!("{PROJECTS_FOLDER}/{USER_FOLDER}")),
            Share::Entries => Ok(format!("{AGENTS_FOLDER}/{}/{ENTRIES_FOLDER}", file_stem(&global.agent))),
            Share::Workspace => match &global.workspace {
                Some(workspace) => Ok(format!("{WORKSPACES_FOLDER}/{}/{ENTRIES_FOLDER}", file_stem(workspace))),
                None => Err(Failure::usage("no workspace is named", "name it with --workspace")),
            },
            Share::Project => match opened(global, &named_project(global)) {
                Some(project) => Ok(format!("{PROJECTS_FOLDER}/{project}")),
                None => Err(Failure::usage("there is no project to share", "name it with --project")),
            },
        })
        .collect()
}

/// Returns the scopes that a file says are shared.
fn shared_in(text: &str, mark: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut shared = BTreeSet::new();
    for line in text.lines() {
        let Some(comment) = line.strip_prefix(mark) else { continue };
        match comment {
            BEGIN => inside = true,
            END => inside = false,
            _ if inside => shared.extend(comment.strip_prefix(SHARED).map(String::from)),
            _ => {}
        }
    }
    shared
}

/// Returns the shared folders of a store that have a scope in one of the scopes' folders.
fn folders<'a>(shared: &'a BTreeSet<String>, above: &str) -> Vec<&'a str> {
    let below = format!("{above}/");
    shared.iter().map(String::as_str).filter(|scope| scope.starts_with(&below)).collect()
}

/// Merges two versions of the `.gitignore` of a store: nothing that either side ignores is lost, and both mark what either marks,
/// except what one of them no longer does.
pub(crate) fn merge_ignored(sides: &MergeSides) -> Vec<u8> {
    let [ancestor, ours, theirs] = texts(sides);
    let united = unite_lines(&ours, &theirs);
    let [before, ours, theirs] = [ancestor, ours, theirs].map(|text| shared_in(&text, "#"));
    let is_kept = |scope: &&String| !before.contains(*scope) || (ours.contains(*scope) && theirs.contains(*scope));
    let shared: BTreeSet<String> = ours.union(&theirs).filter(is_kept).cloned().collect();
    let lines = if shared.is_empty() { Vec::new() } else { ignored(&shared, "#", for_git(&shared)) };
    with_block(&united, "#", &lines).into_bytes()
}

/// Merges two versions of the `.gitattributes` of a store: the lines of both, and the block unless a side has removed it.
pub(crate) fn merge_attributes(sides: &MergeSides) -> Vec<u8> {
    let [ancestor, ours, theirs] = texts(sides);
    let united = unite_lines(&ours, &theirs);
    let [before, ours, theirs] = [ancestor, ours, theirs].map(|text| with_block(&text, "#", &[]) != text);
    let has_block = if before { ours && theirs } else { ours || theirs };
    let lines = if has_block { merged_by_git() } else { Vec::new() };
    with_block(&united, "#", &lines).into_bytes()
}

fn texts(sides: &MergeSides) -> [String; 3] {
    [&sides.ancestor, &sides.ours, &sides.theirs]
        .map(|side| String::from_utf8_lossy(side.as_deref().unwrap_or_default()).into_owned())
}

/// Returns the lines of both texts outside of the block, in the same order whichever comes first. A line that only one text has stays
/// after the line before it: in these files a later line overrides an earlier one.
fn unite_lines(one: &str, other: &str) -> String {
    let mut rests = [one, other].map(|text| with_block(text, "#", &[]));
    rests.sort_unstable();
    let [first, second] = &rests;
    let mut united: Vec<&str> = first.lines().collect();
    let mut place = 0;
    for line in second.lines() {
        match united.iter().position(|known| *known == line) {
            Some(known) => place = known + 1,
            None => {
                united.insert(place, line);
                place += 1;
            }
        }
    }
    united.into_iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the lines of a block.
fn ignored(shared: &BTreeSet<String>, mark: &str, patterns: Vec<String>) -> Vec<String> {
    shared.iter().map(|scope| format!("{mark}{SHARED}{scope}")).chain(patterns).collect()
}

/// Returns the lines of `.gitignore`. The last line that fits a path decides.
fn for_git(shared: &BTreeSet<String>) -> Vec<String> {
    let mut lines = Vec::new();
    if !shared.contains(ALL) {
        let has_notebook = shared.contains(NOTEBOOK);
        if !has_notebook {
            lines.push("/*".to_string());
            lines.extend(WITH_ANY.map(|file| format!("!/{file}")));
        }
        for folder in SCOPE_FOLDERS {
            let scopes = folders(shared, folder);
            if scopes.is_empty() {
                lines.extend(has_notebook.then(|| format!("/{folder}/")));
                continue;
            }
            lines.extend([format!("!/{folder}/"), format!("/{folder}/*")]);
            lines.extend(scopes.iter().flat_map(|scope| {
                let parts: Vec<&str> = scope.split('/').collect();
                let owner = parts.iter().take(2).copied().collect::<Vec<_>>().join("/");
                // Of an agent, only its entries are shared.
                let only = parts.get(2).map(|part| [format!("/{owner}/*"), format!("!/{owner}/{part}/")]);
                [format!("!/{owner}/")].into_iter().chain(only.into_iter().flatten())
            }));
        }
    }
    lines.extend([".saddlebag/", ".saddlebag-*.tmp", "*.bak"].map(String::from));
    lines
}

/// Returns the lines of `.stignore`. The first line that fits a path decides.
fn for_syncthing(shared: &BTreeSet<String>) -> Vec<String> {
    let mut lines = ["(?d).saddlebag", "(?d).saddlebag-*.tmp", "(?d)*.bak"].map(String::from).to_vec();
    if shared.contains(ALL) {
        return lines;
    }
    lines.extend([REJECTIONS, EXPUNGED].map(|file| format!("!/{file}")));
    lines.extend(shared.iter().filter(|scope| *scope != NOTEBOOK).map(|scope| format!("!/{scope}")));
    if shared.contains(NOTEBOOK) {
        lines.extend(SCOPE_FOLDERS.map(|folder| format!("/{folder}")));
    } else {
        lines.push("*".to_string());
    }
    lines
}

/// Returns a text with our block, or without it if the block has no lines. The rest stays byte for byte.
fn with_block(text: &str, mark: &str, lines: &[String]) -> String {
    let (begin, end) = (format!("{mark}{BEGIN}"), format!("{mark}{END}"));
    let mut block = String::new();
    if !lines.is_empty() {
        let _ = write!(block, "{begin}\n{}\n{end}\n", lines.join("\n"));
    }
    let (mut before, mut after) = (String::new(), String::new());
    let mut inside = None;
    for with_end in text.split_inclusive('\n') {
        let line = with_end.trim_end_matches(['\r', '\n']);
        match inside {
            None if line == begin => inside = Some(true),
            Some(true) if line == end => inside = Some(false),
            Some(true) => {}
            None => before.push_str(with_end),
            Some(false) => after.push_str(with_end),
        }
    }
    if inside == Some(true) {
        // Its last line is missing: nobody knows where it ends.
        (before, after) = (text.to_string(), String::new());
    }
    if inside != Some(false) && !block.is_empty() && !before.is_empty() && !before.ends_with('\n') {
        before.push('\n');
    }
    format!("{before}{block}{after}")
}

/// Returns the settings of the repository that change; without a value if they are removed.
fn changed_settings(
    repository: &Repository,
    shares: &BTreeSet<String>,
    remove: bool,
) -> Result<Vec<(String, Option<String>)>, Failure> {
    let shares = shares.iter().cloned().collect::<Vec<_>>().join(",");
    let wanted = [
        (format!("merge.{DRIVER}.name"), "Saddlebag".to_string()),
        (format!("merge.{DRIVER}.driver"), driver(&repository.root)?),
        (SHARES.to_string(), shares),
    ];
    let mut changed = Vec::new();
    for (name, value) in wanted {
        let now = repository.setting(&name)?;
        let value = (!remove).then_some(value);
        if now != value {
            changed.push((name, value));
        }
    }
    Ok(changed)
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {}", path.display(), saddlebag_host::io_cause(&error));
            Err(Failure::new(ProgramCode::Input, message, "make it a text file that you may read"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(scopes: &[&str]) -> BTreeSet<String> {
        scopes.iter().map(|scope| (*scope).to_string()).collect()
    }

    #[test]
    fn a_block_is_added_replaced_and_removed_without_another_change() {
        for text in ["", "target/\n", "target/", "# mine\n\n*.log\n"] {
            let one = with_block(text, "#", &["# shared: all".to_string(), "a".to_string()]);
            assert_eq!(shared_in(&one, "#"), shared(&["all"]), "{one:?}");
            let two = with_block(&format!("{one}after\n"), "#", &["b".to_string()]);
            assert!(two.contains("\nb\n") && !two.contains("\na\n") && two.ends_with("after\n"), "{two:?}");
            let gone = with_block(&one, "#", &[]);
            assert_eq!(gone.trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
    }

    #[test]
    fn only_marked_scopes_are_shared() {
        assert_eq!(for_git(&shared(&["all"])), [".saddlebag/", ".saddlebag-*.tmp", "*.bak"]);
        let lines = for_git(&shared(&["projects/demo-1"]));
        let expected = [
            "/*",
            "!/.gitignore",
            "!/.gitattributes",
            "!/rejections.log",
            "!/expunged.log",
            "!/projects/",
            "/projects/*",
            "!/projects/demo-1/",
        ];
        assert_eq!(lines[..8], expected);
        let lines = for_git(&shared(&["notebook", "agents/main/entries"]));
        let expected = [
            "/projects/",
            "!/agents/",
            "/agents/*",
            "!/agents/main/",
            "/agents/main/*",
            "!/agents/main/entries/",
            "/workspaces/",
            ".saddlebag/",
            ".saddlebag-*.tmp",
            "*.bak",
        ];
        assert_eq!(lines, expected);
        assert_eq!(
            for_syncthing(&shared(&["projects/demo-1"])),
            [
                "(?d).saddlebag",
                "(?d).saddlebag-*.tmp",
                "(?d)*.bak",
                "!/rejections.log",
                "!/expunged.log",
                "!/projects/demo-1",
                "*"
            ]
        );
    }

    #[test]
    fn attributes_of_both_sides_are_kept_with_the_block_that_nobody_removed() {
        let with = |rest: &str| with_block(rest, "#", &merged_by_git());
        let merged = |ancestor: &str, ours: &str, theirs: &str| {
            let sides = |ours: &str, theirs: &str| MergeSides {
                ancestor: Some(ancestor.into()),
                ours: Some(ours.into()),
                theirs: Some(theirs.into()),
            };
            let one = merge_attributes(&sides(ours, theirs));
            assert_eq!(one, merge_attributes(&sides(theirs, ours)), "{ours} {theirs}");
            String::from_utf8(one).expect("text")
        };
        assert_eq!(merged("", &with("*.pdf binary\n"), "*.png binary\n"), with("*.png binary\n*.pdf binary\n"));
        assert_eq!(merged(&with(""), &with("a text\n"), "b text\n"), "b text\na text\n");
        let both = merged("*.a binary\n", "* text=auto\n*.a binary\n", "* -text\n*.a binary\n");
        assert_eq!(both, "* text=auto\n* -text\n*.a binary\n");
    }
}
