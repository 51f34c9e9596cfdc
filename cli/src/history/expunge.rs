//! `expunge`: removes a text from everything that the program keeps, and proves it by searching.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use saddlebag::history::{Expunge, ExpungeReply, ListVersions, MAX_HISTORY_ITEMS, PlaceKind, TextPlace};
use saddlebag::items::{ItemKind, Show};
use saddlebag::journal::FileState;
use saddlebag::notebook::slug;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Layout, NOTE_SUFFIX, PROJECTS_FOLDER, RelPath, USER_FOLDER, file_stem};
use saddlebag_host::{Project, project_root};

use super::exported::{ExportedText, files_below, files_with_text, without_text};
use crate::export::{ExportPlaces, digest};
use crate::failure::set_changes;
use crate::hook::log::Log;
use crate::item::text_of_version;
use crate::output::single_line;
use crate::prelude::*;
use crate::regular;
use crate::store::{Root, Store, named_project};
use crate::sync::{ExpungedLine, Received, line_for, received, scope_of, share};

/// Minimum number of characters of text that is searched for everywhere.
const MIN_CHARS: usize = 4;

/// Files of a project in which clients keep instructions, and `agents-md` a section with entries.
const INSTRUCTIONS: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"];

/// Remove a text or an item from everything that is kept, for good
///
/// Without --yes it only lists the places. With it, the text is removed from files, backups, all versions in the history, the index,
/// the states of sessions and the program's logs, in all projects of the store; then everything is searched again. The history keeps
/// who, when and a keyed digest. `undo` cannot take it back. Other machines that share the file get a slow digest, and `sync` there
/// names the text until `expunge --received` removes it.
#[derive(Debug, Args)]
#[command(after_help = example("expunge \"the password is tango\" --yes"))]
pub(crate) struct ExpungeArgs {
    /// Text, or the name of a note or an entry, which is removed with all its versions
    #[arg(value_name = "TEXT|NAME", allow_hyphen_values = true, required_unless_present = "received")]
    what: Option<String>,
    /// Take the argument as text, even if an item has this name
    #[arg(long)]
    text: bool,
    /// Expunge what was expunged on other machines and is still here, as `sync` says
    #[arg(long, conflicts_with_all = ["what", "text"])]
    received: bool,
    /// Remove it, not only list the places
    #[arg(long)]
    yes: bool,
}

/// Places of the text, what is left, and what the program cannot reach.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Expunged {
    /// True if nothing was changed.
    dry_run: bool,
    /// Path of the item that the name means.
    item: Option<String>,
    /// Places that had the text.
    places: Vec<TextPlace>,
    /// Places that still have it, found by searching everything again. Empty for a dry run.
    left: Vec<TextPlace>,
    /// Number of damaged lines and contents of the history that were removed too.
    unreadable: u32,
    /// Keyed digests that the history keeps of the text.
    digests: Vec<String>,
    /// True if other machines get a digest of the text.
    shared: bool,
    /// Exports of the store that were searched.
    exports: Vec<PathBuf>,
    /// What the program cannot reach, and may have the text.
    unreachable: Vec<String>,
    /// Summary.
    message: String,
}

impl Subcommand for ExpungeArgs {
    type Json = Expunged;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let root = Root::from_options(global)?;
        let root = root.folder()?;
        let with = With { root, global, yes: self.yes };
        let mut done = Expunged { dry_run: !self.yes, ..Expunged::default() };
        let mut is_named_elsewhere = false;
        match &self.what {
            Some(what) => {
                let mut store = Store::open(global)?;
                done.item = if self.text { None } else { item(what, global, &mut store, output)? };
                let whole = done.item.as_ref().map(|path| last_text(path, root, &mut store, output));
                let text = whole.as_deref().map_or_else(|| what.clone(), body);
                let item = done.item.clone().zip(whole);
                let line = if self.yes && is_searched(&text) { done.line_for(&text, item, &with) } else { None };
                done.remove(&text, &with, store, output)?;
                let named = Expunge { text: what.clone(), name: None, dry_run: true };
                is_named_elsewhere = done.item.is_some()
                    && what.chars().count() >= MIN_CHARS
                    && Store::open(global)?.call(named, output).is_ok_and(|found| !found.places.is_empty());
                if let Some(line) = line.filter(|_| !done.places.is_empty()) {
                    share(&line, global)?;
                    done.shared = true;
                }
                done.spelled(root, &text, self.yes);
                done.name_unreachable(root, global, &text);
            }
            None => {
                for Received { line, text, item } in received(global, output)? {
                    let (text, store) = match &item {
                        Some(path) => {
                            let (global, project) = scope_of(path, global);
                            (body(&read(&root.join(path.as_str()))), Store::for_project(project, &global)?)
                        }
                        None => (text, Store::open(global)?),
                    };
                    done.item = item.map(|path| path.to_string());
                    done.remove(&text, &with, store, output)?;
                    if self.yes && done.left.is_empty() {
                        share(&line, global)?;
                    }
                    done.spelled(root, &text, self.yes);
                    done.name_unreachable(root, global, &text);
                }
            }
        }
        if self.yes && !done.places.is_empty() {
            set_changes(true, true);
        }
        done.message = done.told();
        done.print(output)?;
        if is_named_elsewhere {
            output.note("other files have the words of this name too: --text expunges the words");
        }
        Ok(match (done.places.is_empty(), done.left.is_empty()) {
            (_, false) => Exit::Left,
            (true, true) => Exit::Nothing,
            (false, true) => Exit::Done,
        })
    }
}

/// Where the expunged text is removed.
struct With<'a> {
    root: &'a Path,
    global: &'a Global,
    /// If not set, places are only listed.
    yes: bool,
}

/// Returns true for text that is long enough to search for it everywhere.
fn is_searched(text: &str) -> bool {
    text.trim().chars().count() >= MIN_CHARS
}

/// A part of the store that one memory reads.
enum Scope {
    /// That of the options.
    Own,
    /// A project with this folder.
    Project(String),
    /// The root, with the entries of an agent and a workspace.
    Root { agent: String, workspace: Option<String> },
}

impl Scope {
    fn open(&self, global: &Global) -> Result<Store, Failure> {
        match self {
            Self::Own => Store::open(global),
            Self::Project(slug) => Store::for_project(Project::Slug(slug.clone()), global),
            Self::Root { agent, workspace } => {
                let global = Global { agent: agent.clone(), workspace: workspace.clone(), ..global.clone() };
                Store::for_project(Project::Notebook, &global)
            }
        }
    }
}

/// Returns the other scopes of the store: its projects, and the root with the entries of each agent and workspace.
fn scopes(root: &Path, global: &Global) -> Vec<Scope> {
    let folders = |name: &str| -> Vec<String> {
        let entries = fs::read_dir(root.join(name)).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    let mut scopes: Vec<Scope> = folders("projects").into_iter().map(Scope::Project).collect();
    scopes
        .retain(|scope| matches!(scope, Scope::Project(slug) if slug.parse::<saddlebag::store::ProjectSlug>().is_ok()));
    let has_entries = |owner: &String, of: &str| root.join(of).join(owner).join("entries").is_dir();
    let root_of = |agent: String, workspace| Scope::Root { agent, workspace };
    let agents = folders("agents").into_iter().filter(|agent| has_entries(agent, "agents"));
    scopes.extend(agents.map(|agent| root_of(agent, None)));
    let workspaces = folders("workspaces").into_iter().filter(|workspace| has_entries(workspace, "workspaces"));
    scopes.extend(workspaces.map(|workspace| root_of(global.agent.clone(), Some(workspace))));
    scopes.push(root_of(global.agent.clone(), None));
    scopes
}

/// Returns the path of the note or the entry that a name means, if it means one, also of one that is gone.
fn item(name: &str, global: &Global, store: &mut Store, output: &mut Output) -> Result<Option<String>, Failure> {
    let or_text = |failure: Failure| {
        let help = format!("{}, or give --text if it is the text to expunge", failure.help);
        Failure { help, ..failure }
    };
    match store.call(Show::item(name, None), output) {
        Ok(item) if is_of_other_scope(&item.path, global) => {
            return Err(of_all_projects(&item.path));
        }
        Ok(item) if item.kind != ItemKind::File => return Ok(Some(item.path)),
        Ok(item) if item.state == FileState::Missing => return Ok(None),
        Ok(item) => {
            let message =
                format!("{} is neither a note nor an entry, and is not expunged as a whole", single_line(&item.path));
            let help =
                "edit the file and expunge the old text with --text, or give --text if the name is the text to expunge";
            return Err(Failure::usage(message, help));
        }
        Err(failure) if failure.code == ErrorCode::AmbiguousName.into() => return Err(or_text(failure)),
        Err(_) => {}
    }
    let gone = ListVersions { name: name.to_string(), limit: 1, ..ListVersions::default() };
    match store.call(gone, output) {
        Ok(list) => return Ok(Some(list.path).filter(|path| path.ends_with(NOTE_SUFFIX))),
        Err(failure) if failure.code == ErrorCode::AmbiguousName.into() => return Err(or_text(failure)),
        Err(_) => {}
    }
    // A note for all projects that is gone.
    let of_user = Global { user: true, ..global.clone() };
    let gone = ListVersions { name: name.to_string(), limit: 1, ..ListVersions::default() };
    let is_local = global.user || global.notebook;
    match is_local || Store::open(&of_user).map_or(true, |mut user| user.call(gone, output).is_err()) {
        true => Ok(None),
        false => Err(of_all_projects(name)),
    }
}

fn of_all_projects(name: &str) -> Failure {
    let message = format!("`{}` is an item for all projects", single_line(name));
    let help = "--user expunges the item; --text expunges these words from this memory";
    Failure::new(ErrorCode::NotPermitted, message, help)
}

/// Returns true for a note for all projects, which a memory of a project only reads.
fn is_of_other_scope(path: &str, global: &Global) -> bool {
    !global.user && path.starts_with(&format!("{PROJECTS_FOLDER}/{USER_FOLDER}/"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Returns the text of an item: of its file, of its backup, or of the version before it was removed.
fn last_text(path: &str, root: &Path, store: &mut Store, output: &mut Output) -> String {
    let backup = RelPath::new(path).map(|path| root.join(Layout::backup_of(&path).as_str())).ok();
    let text =
        [Some(root.join(path)), backup].into_iter().flatten().map(|file| read(&file)).find(|text| !text.is_empty());
    if let Some(text) = text {
        return text;
    }
    let list = ListVersions { name: path.to_string(), limit: MAX_HISTORY_ITEMS, ..ListVersions::default() };
    let versions = store.call(list, output).map(|list| list.versions).unwrap_or_default();
    let last = versions.iter().find(|version| version.size.is_some() && !version.unkept);
    let text = last.and_then(|last| text_of_version(path, last.number, store, output).ok());
    text.flatten().unwrap_or_default()
}

/// Returns the text of a note below its frontmatter.
fn body(text: &str) -> String {
    let below = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(_, body)| body);
    below.unwrap_or(text).trim().to_string()
}

impl Expunged {
    /// Returns the line with which other machines find text that is about to be removed.
    fn line_for(&mut self, text: &str, item: Option<(String, String)>, with: &With<'_>) -> Option<ExpungedLine> {
        let item = item.as_ref().map(|(path, content)| (path.as_str(), content.as_str()));
        line_for(text, item, with.root, with.global).unwrap_or_else(|failure| {
            self.unreachable.push(format!("other machines, which get no digest of the text: {}", failure.message));
            None
        })
    }

    /// Removes the text everywhere, with the file of the item. Then searches for it again.
    fn remove(&mut self, text: &str, with: &With<'_>, mut store: Store, output: &mut Output) -> Result<(), Failure> {
        let With { root, global, yes } = *with;
        let left = std::mem::take(&mut self.left);
        let everywhere = |dry_run| Expunge { text: text.to_string(), name: None, dry_run };
        let first = match &self.item {
            Some(name) => Expunge { text: String::new(), name: Some(name.clone()), dry_run: !yes },
            None => everywhere(!yes),
        };
        self.add(store.call(first, output)?);
        drop(store);
        if is_searched(text) {
            for scope in scopes(root, global) {
                self.add(scope.open(global)?.call(everywhere(!yes), output)?);
            }
            self.logs(text, yes)?;
            self.exports(root, text, yes);
        }
        if yes {
            // What was found left while the scopes were searched one after the other counts no more.
            self.left.clear();
            if is_searched(text) {
                let mut all = scopes(root, global);
                all.insert(0, Scope::Own);
                for scope in all {
                    let found = scope.open(global)?.call(everywhere(true), output)?.places;
                    add(&mut self.left, found);
                }
                clear_locks(root, text);
                self.logs_left(text);
                self.search(root, text);
                self.exports_left(root, text);
            }
        }
        add(&mut self.left, left);
        Ok(())
    }

    fn add(&mut self, reply: ExpungeReply) {
        add(&mut self.places, reply.places);
        add(&mut self.left, reply.left);
        self.unreadable += reply.unreadable;
        self.digests.extend(reply.digest);
    }

    /// Removes the lines with the text from the program's own logs.
    fn logs(&mut self, text: &str, is_removed: bool) -> Result<(), Failure> {
        let Some(log) = Log::of_user() else { return Ok(()) };
        for (path, count) in log.lines_with(text, is_removed)? {
            add(&mut self.places, vec![place(&path, PlaceKind::State, count)]);
        }
        Ok(())
    }

    /// Removes the text from the files that exports of this store have written.
    fn exports(&mut self, root: &Path, text: &str, is_removed: bool) {
        let places = ExportPlaces::of_user();
        let exports = match places.as_ref().map(|places| places.of_store(root)).transpose() {
            Ok(exports) => exports.unwrap_or_default(),
            Err(error) => {
                let cause = saddlebag_host::io_cause(&error);
                self.unreachable.push(format!("exports, whose places cannot be read: {cause}"));
                return;
            }
        };
        for export in exports {
            for ExportedText { path, count, is_written } in files_with_text(&export, text) {
                if !is_written {
                    let path = path.display();
                    self.unreachable
                        .push(format!("{path}: it has the text, and is not as the export wrote it; edit it"));
                    continue;
                }
                add(&mut self.places, vec![place(&path, PlaceKind::File, count)]);
                let removed = || {
                    let after = without_text(&path, text)?;
                    // A later expunge may have to remove other text from it.
                    places.as_ref().map_or(Ok(()), |places| places.add(root, &export.path, vec![digest(&after)]))
                };
                if is_removed && let Err(error) = removed() {
                    let cause = saddlebag_host::io_cause(&error);
                    self.unreachable.push(format!("{}: it cannot be replaced: {cause}", path.display()));
                }
            }
            if export.path.to_string_lossy().contains(text) {
                self.unreachable.push(format!("{}: the name of an export has the text", export.path.display()));
            }
            self.exports.push(export.path);
        }
    }

    /// Searches the exports again.
    fn exports_left(&mut self, root: &Path, text: &str) {
        let places = ExportPlaces::of_user().and_then(|places| places.of_store(root).ok());
        let found = places.iter().flatten().flat_map(|export| files_with_text(export, text));
        for ExportedText { path, count, .. } in found.filter(|found| found.is_written) {
            add(&mut self.left, vec![place(&path, PlaceKind::File, count)]);
        }
    }

    /// Searches the folder with the state of the program.
    fn logs_left(&mut self, text: &str) {
        let Some(state) = saddlebag_host::state_folder() else { return };
        for (path, count) in files_with(&state, text, &|_| true) {
            add(&mut self.left, vec![place(&path, PlaceKind::State, count)]);
        }
    }

    /// Searches every file of the store byte by byte, also those that no memory reads. The logs of the history are compressed, so
    /// the memory has searched them.
    fn search(&mut self, root: &Path, text: &str) {
        let is_log = |path: &Path| path.extension().is_some_and(|suffix| suffix == "log") && is_below(path, "history");
        let known: BTreeSet<String> = self.left.iter().map(|place| place.path.clone()).collect();
        for (path, count) in files_with(root, text, &|path| !is_log(path)) {
            let below = path.strip_prefix(root).unwrap_or(&path);
            let shown = below.to_string_lossy().replace('\\', "/");
            if known.contains(&shown) {
                continue;
            }
            let is_ours = below.components().any(|part| part.as_os_str().to_string_lossy().starts_with(".saddlebag"));
            if is_ours || below.extension().is_some_and(|suffix| suffix == "md" || suffix == "bak") {
                let kind = if is_ours { PlaceKind::State } else { PlaceKind::File };
                add(&mut self.left, vec![TextPlace { path: shown, kind, count }]);
            } else {
                self.unreachable.push(format!("{shown}: a file beside the memory has the text"));
            }
        }
    }

    /// Names the files and records that have the text as the program spells it in the names of files: as a slug, or with escapes.
    fn spelled(&mut self, root: &Path, text: &str, is_removed: bool) {
        let spellings = [slug(text.trim()), file_stem(text.trim())];
        for spelling in spellings.into_iter().filter(|spelling| *spelling != text && is_searched(spelling)) {
            let is_path = |token: &str| token.contains('/') && token.contains(&spelling);
            for path in files_below(root, &|_| true) {
                let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                let is_ours = below.split('/').any(|part| part.starts_with(".saddlebag"));
                if below.contains(&spelling) && !is_ours {
                    let named = TextPlace { path: below, kind: PlaceKind::Name, count: 1 };
                    add(if is_removed { &mut self.left } else { &mut self.places }, vec![named]);
                    continue;
                }
                if is_removed && is_lock(&path) {
                    let _ = clear_lock(&path, &spelling);
                }
                let bytes = if is_ours { fs::read(&path).unwrap_or_default() } else { Vec::new() };
                let content = String::from_utf8_lossy(&bytes);
                let of_path = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '%'));
                if content.split(of_path).any(is_path) {
                    self.unreachable
                        .push(format!("{below}: it names a file by `{spelling}`, the text in another spelling"));
                }
            }
        }
    }

    /// Names what the program cannot reach.
    fn name_unreachable(&mut self, root: &Path, global: &Global, text: &str) {
        let project = match named_project(global) {
            Project::Path(path) => Some(project_root(&path)),
            _ => None,
        };
        let mut trees: Vec<PathBuf> = Vec::new();
        let exports = self.exports.iter().map(PathBuf::as_path);
        for folder in [Some(root), project.as_deref()].into_iter().flatten().chain(exports) {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
            let tree = folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
            trees.extend(tree.filter(|tree| !trees.contains(tree)));
        }
        for tree in trees {
            let tree = tree.display();
            self.unreachable.push(format!(
                "the git history of {tree}: `git -C \"{tree}\" log --all --oneline -S TEXT` lists its commits; `git filter-repo \
                 --replace-text FILE` rewrites them; then every other clone has to be made again, or take the new commits with `git fetch` \
                 and `git reset`, because it would send the old ones again"
            ));
        }
        for folder in project.iter() {
            for name in INSTRUCTIONS {
                let file = fs::read_to_string(folder.join(name)).unwrap_or_default();
                if is_searched(text) && file.contains(text) {
                    let path = folder.join(name);
                    self.unreachable.push(format!("{}: it has the text; edit it", path.display()));
                }
            }
        }
        let machines = match self.shared {
            true => {
                "copies that a backup made, and other machines until `sync` and `expunge --received` have run there"
            }
            false => "other machines, and copies of the store that a backup or a sync program made",
        };
        let others = [
            "exports to standard output, exports that were moved, and those in which line ends or markup break the text",
            machines,
            "files of --trace, and the transcripts that a client keeps itself",
            "pages and prompts that a running program has already given to a model",
        ];
        self.unreachable.extend(others.map(String::from));
        let mut known = BTreeSet::new();
        self.unreachable.retain(|line| known.insert(line.clone()));
    }

    fn told(&self) -> String {
        let what = if self.item.is_some() { "item" } else { "text" };
        let found = counted(&self.places);
        match (self.dry_run, self.places.is_empty(), self.left.len()) {
            (_, true, 0) => format!("Nothing has the {what}"),
            (_, true, _) => {
                format!("Nothing has the {what} as it is given, but names of files do, in {}", counted(&self.left))
            }
            (true, ..) => format!("Dry run, nothing is changed: the {what} is in {found}"),
            (false, _, 0) => {
                format!("Expunged the {what} from {found}; everything was searched again, and nothing has it")
            }
            (false, ..) => format!("Expunged the {what} from {found}, but it is still in {}", counted(&self.left)),
        }
    }

    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.json(self)? {
            return Ok(());
        }
        output.line(&single_line(&self.message))?;
        let places = if self.left.is_empty() { &self.places } else { &self.left };
        for TextPlace { path, kind, count } in places {
            // A file that goes as a whole need not have the text.
            let count = if *count == 0 { String::new() } else { format!(" ({count})") };
            output.line(&format!("    {:<8} {}{count}", kind.to_string(), single_line(path)))?;
        }
        output.flush()?;
        if self.left.iter().any(|place| place.kind == PlaceKind::Name) {
            output.note("the name of a file has the text: `move` gives the item another name; then run this again");
        } else if !self.left.is_empty() {
            output.note("others may have written the text meanwhile: run this again");
        }
        if self.unreadable > 0 {
            let unreadable = self.unreadable;
            output.warning(&format!("{unreadable} damaged parts of the history may have the text, and go too"));
        }
        if !self.places.is_empty() || !self.left.is_empty() {
            output.note("what the program cannot reach:");
            for line in &self.unreachable {
                output.note(&format!("  {}", single_line(line)));
            }
            if self.dry_run {
                output.note("--yes removes it; `undo` cannot take that back");
            }
        }
        Ok(())
    }
}

/// Returns the number of places and files.
fn counted(places: &[TextPlace]) -> String {
    let plural = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let count = places.iter().map(|place| place.count.max(1)).sum();
    let files = u32::try_from(places.len()).unwrap_or(u32::MAX);
    format!("{} in {}", plural(count, "place"), plural(files, "file"))
}

/// Overwrites the text in the lock files of the store that nobody holds. A lock file keeps the path that its last holder changed.
fn clear_locks(root: &Path, text: &str) {
    for (path, _) in files_with(&root.join(".saddlebag"), text, &|path| is_lock(path)) {
        // What cannot be overwritten is found by the search.
        let _ = clear_lock(&path, text);
    }
}

fn is_lock(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    folder.to_string_lossy().starts_with("locks")
}

fn clear_lock(path: &Path, text: &str) -> io::Result<()> {
    let mut file = regular::open(path, OpenOptions::new().read(true).write(true))?;
    file.try_lock()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // Its record belongs to a holder that died. The next holder finishes what it says.
    if !bytes.starts_with(b"free") {
        return Ok(());
    }
    for place in memchr::memmem::find_iter(&bytes, text) {
        file.seek(SeekFrom::Start(place as u64))?;
        // The file keeps its length. Cut, it would look as if it had never been used.
        file.write_all(&vec![b'-'; text.len()])?;
    }
    Ok(())
}

fn place(path: &Path, kind: PlaceKind, count: u32) -> TextPlace {
    TextPlace { path: path.display().to_string(), kind, count }
}

/// Adds places, each file once: the scopes share some.
fn add(places: &mut Vec<TextPlace>, new: Vec<TextPlace>) {
    for place in new {
        if !places.iter().any(|known| known.path == place.path && known.kind == place.kind) {
            places.push(place);
        }
    }
}

fn is_below(path: &Path, folder: &str) -> bool {
    path.components().any(|part| part.as_os_str() == folder)
}

/// Finds the files below a folder that contain the text. Returns each file with the number of places.
fn files_with(folder: &Path, text: &str, is_searched: &dyn Fn(&Path) -> bool) -> Vec<(PathBuf, u32)> {
    let count = |path: &Path| fs::read(path).map_or(0, |bytes| memchr::memmem::find_iter(&bytes, text).count());
    let found = files_below(folder, is_searched).into_iter().map(|path| {
        let count = count(&path);
        (path, u32::try_from(count).unwrap_or(u32::MAX))
    });
    found.filter(|(_, count)| *count > 0).collect()
}
