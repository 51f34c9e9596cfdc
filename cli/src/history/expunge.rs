//! `expunge`: removes a text from everything that the program keeps, and proves it by searching.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use saddlebag::files::{ItemKind, Resolve};
use saddlebag::history::{
    EXPUNGED, Expunge, ExpungeReply, ListVersions, MAX_HISTORY_ITEMS, PlaceKind, ReadVersion, TextPlace,
};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Layout, NOTE_SUFFIX, PROJECTS_FOLDER, RelPath, USER_FOLDER};
use saddlebag_host::{Project, project_root};
use schemars::JsonSchema;
use serde::Serialize;

use crate::disk::{DiskError, replace};
use crate::export::{ExportPlace, ExportPlaces, digest};
use crate::failure::{Exit, Failure, set_changes};
use crate::global::Global;
use crate::help::example;
use crate::hook::log::Log;
use crate::output::{Output, single_line};
use crate::regular;
use crate::store::{Root, Store, named_project};
use crate::subcommand::Subcommand;

/// Minimum number of characters of text that is searched for everywhere.
const MIN_CHARS: usize = 4;

/// Files of a project in which clients keep instructions, and `agents-md` a section with entries.
const INSTRUCTIONS: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"];

/// Maximum size of a file that is searched, in bytes.
const MAX_SEARCHED_BYTES: u64 = 256 << 20;

/// Remove a text or an item from everything that is kept, for good
///
/// Without --yes it only lists the places. With it, the text is removed from files, backups, all versions in the history, the index,
/// the states of sessions and the program's logs, in all projects of the store; then everything is searched again. The history keeps
/// who, when and a keyed digest. `undo` cannot take it back.
#[derive(Debug, Args)]
#[command(after_help = example("expunge \"the password is tango\" --yes"))]
pub(crate) struct ExpungeArgs {
    /// Text, or the name of a note or an entry, which is removed with all its versions
    #[arg(value_name = "TEXT|NAME", allow_hyphen_values = true)]
    what: String,
    /// Take the argument as text, even if an item has this name
    #[arg(long)]
    text: bool,
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
        let mut store = Store::open(global)?;
        let root = Root::from_options(global)?;
        let root = root.folder()?;
        let item = if self.text { None } else { item(&self.what, global, &mut store, output)? };
        let text = match &item {
            Some(path) => body(&last_text(path, root, &mut store, output)),
            None => self.what.clone(),
        };
        let is_searched = text.trim().chars().count() >= MIN_CHARS;
        let mut done = Expunged { dry_run: !self.yes, item, ..Expunged::default() };
        let first = Expunge {
            text: if done.item.is_some() { String::new() } else { text.clone() },
            name: done.item.clone(),
            dry_run: !self.yes,
        };
        done.add(store.call(first, output)?);
        let named = Expunge { text: self.what.clone(), name: None, dry_run: true };
        let is_named_elsewhere = done.item.is_some()
            && self.what.chars().count() >= MIN_CHARS
            && store.call(named, output).is_ok_and(|found| !found.places.is_empty());
        drop(store);
        let everywhere = |dry_run| Expunge { text: text.clone(), name: None, dry_run };
        if is_searched {
            for scope in scopes(root, global) {
                done.add(scope.open(global)?.call(everywhere(!self.yes), output)?);
            }
            done.logs(&text, self.yes)?;
            done.exports(root, &text, self.yes);
        }
        if self.yes {
            // What was found left while the scopes were searched one after the other counts no more.
            done.left.clear();
            if is_searched {
                let mut all = scopes(root, global);
                all.insert(0, Scope::Own);
                for scope in all {
                    let found = scope.open(global)?.call(everywhere(true), output)?.places;
                    add(&mut done.left, found);
                }
                clear_locks(root, &text);
                done.logs_left(&text);
                done.search(root, &text);
                done.exports_left(root, &text);
            }
            if !done.places.is_empty() {
                set_changes(true, true);
            }
        }
        done.name_unreachable(root, global, &text);
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
    match store.call(Resolve { name: name.to_string(), kind: None }, output) {
        Ok(item) if is_of_other_scope(&item.path, global) => {
            return Err(of_all_projects(&item.path));
        }
        Ok(item) if item.kind != ItemKind::File => return Ok(Some(item.path)),
        Ok(_) => return Ok(None),
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
    let name = path.to_string();
    let list = ListVersions { name: name.clone(), limit: MAX_HISTORY_ITEMS, ..ListVersions::default() };
    let versions = store.call(list, output).map(|list| list.versions).unwrap_or_default();
    let last = versions.iter().find(|version| version.size.is_some() && !version.unkept);
    let read = last.map(|last| store.call(ReadVersion { name, version: last.number }, output));
    read.and_then(Result::ok).and_then(|version| version.text).unwrap_or_default()
}

/// Returns the text of a note below its frontmatter.
fn body(text: &str) -> String {
    let below = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(_, body)| body);
    below.unwrap_or(text).trim().to_string()
}

impl Expunged {
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
                 --replace-text FILE` rewrites them"
            ));
        }
        for folder in project.iter() {
            for name in INSTRUCTIONS {
                let file = fs::read_to_string(folder.join(name)).unwrap_or_default();
                if text.trim().chars().count() >= MIN_CHARS && file.contains(text) {
                    let path = folder.join(name);
                    self.unreachable.push(format!("{}: it has the text; edit it", path.display()));
                }
            }
        }
        let others = [
            "exports to standard output, exports that were moved, and those in which line ends or markup break the text",
            "other machines, and copies of the store that a backup or a sync program made",
            "files of --trace, and the transcripts that a client keeps itself",
            "pages and prompts that a running program has already given to a model",
        ];
        self.unreachable.extend(others.map(String::from));
    }

    fn told(&self) -> String {
        let what = if self.item.is_some() { "item" } else { "text" };
        let found = counted(&self.places);
        match (self.dry_run, self.places.is_empty(), self.left.len()) {
            (_, true, 0) => format!("Nothing has the {what}"),
            (true, ..) => format!("Dry run, nothing is changed: the {what} is in {found}"),
            (false, _, 0) => {
                format!("Expunged the {what} from {found}; everything was searched again, and nothing has it")
            }
            (false, ..) => format!("Expunged the {what} from {found}, but it is still in {}", counted(&self.left)),
        }
    }

    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            return Ok(output.object(self)?);
        }
        output.line(&single_line(&self.message))?;
        let places = if self.left.is_empty() { &self.places } else { &self.left };
        for TextPlace { path, kind, count } in places {
            output.line(&format!("    {:<8} {} ({count})", kind.to_string(), single_line(path)))?;
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
        if !self.places.is_empty() {
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

/// Returns the spellings of text in a file of an export, the longest first: as it is, or in JSON and the JSON of a page.
fn forms_in(path: &Path, text: &str) -> Vec<String> {
    if !is_json(path) {
        return vec![text.to_string()];
    }
    let json = |text: &str| {
        let json = serde_json::to_string(text).unwrap_or_default();
        json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_string()
    };
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut forms = vec![json(text), json(text).replace('<', "\\u003c"), json(&html)];
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "json" || suffix == "jsonl" || suffix == "html")
}

/// Returns the positions of a spelling in a file. In JSON, a match that begins inside an escape such as `\n` is skipped.
fn places_of(path: &Path, bytes: &[u8], form: &str) -> Vec<usize> {
    let escapes = |end: usize| bytes.iter().take(end).rev().take_while(|byte| **byte == b'\\').count();
    let is_whole = |place: &usize| !is_json(path) || escapes(*place) % 2 == 0;
    memchr::memmem::find_iter(bytes, form).filter(is_whole).collect()
}

/// A file in the place of an export that has the text.
struct ExportedText {
    path: PathBuf,
    /// Number of places in it.
    count: u32,
    /// True if the file is as the export wrote it.
    is_written: bool,
}

/// Finds the files of an export that contain the text.
fn files_with_text(export: &ExportPlace, text: &str) -> Vec<ExportedText> {
    let has_text = |(path, bytes): (PathBuf, Vec<u8>)| {
        let count: usize = forms_in(&path, text).iter().map(|form| places_of(&path, &bytes, form).len()).sum();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        (count > 0).then(|| ExportedText { path, count, is_written: export.wrote(&bytes) })
    };
    files_of(&export.path).filter_map(has_text).collect()
}

/// Returns the files in the place of an export, with their bytes.
fn files_of(place: &Path) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let files = if regular::is_one(place) { vec![place.to_path_buf()] } else { files_below(place, &|_| true) };
    files.into_iter().filter_map(|path| Some((path.clone(), regular::read(&path, MAX_SEARCHED_BYTES).ok()??)))
}

/// Replaces the text in an exported file. Returns the new bytes.
fn without_text(path: &Path, text: &str) -> io::Result<Vec<u8>> {
    let before = fs::read(path)?;
    let mut after = before.clone();
    for form in forms_in(path, text) {
        for place in places_of(path, &after, &form).into_iter().rev() {
            after.splice(place..place + form.len(), EXPUNGED.bytes());
        }
    }
    match replace(path, Some(&before), Some(&after), None) {
        Ok(_) => Ok(after),
        Err(DiskError::Unreadable(error) | DiskError::Unwritable(error)) => Err(error),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
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

/// Returns the files below a folder that are not too large to be searched. Links are not followed.
fn files_below(folder: &Path, is_searched: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file()
                && is_searched(&path)
                && entry.metadata().is_ok_and(|found| found.len() <= MAX_SEARCHED_BYTES)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
