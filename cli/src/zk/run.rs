//! Runs a command line of zk against the store.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use saddlebag::Reply;
use saddlebag::notebook::{
    CONFIG_FILE, InitNotebook, Journal, ListNotes, ListNotesReply, MAX_CONFIG_BYTES, NoteInfo, NotebookCommand,
    NotebookConfig, NotebookReply, Remember, RememberState, TagCount, Tags, Today,
};
use saddlebag::store::{DAILY_FOLDER, Timestamp};
use saddlebag::trust::Provenance;
use saddlebag_host::{HostError, Options, Project, Saddlebag, now};
use saddlebag_zk::args::{self, Asked, GraphArgs, ListArgs, NewArgs, TagCommand, TagListArgs, Zk, ZkCommand};
use saddlebag_zk::format::{self, Context, ListedLink, ListedNote, ListedTag};
use saddlebag_zk::{BadUse, EXIT_FAILED, SearchError, TextSearch, error_text, expand};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::global::Global;
use crate::output::{print, tell_part};
use crate::store::options;

/// Environment variable that names the notebook.
const NOTEBOOK_VARIABLE: &str = "ZK_NOTEBOOK_DIR";

/// Reason why a command line stopped early.
enum Stop {
    /// Message on standard error.
    Failed(String),
    /// Standard output is closed.
    Closed,
}

impl From<BadUse> for Stop {
    fn from(BadUse(message): BadUse) -> Self {
        Self::Failed(message)
    }
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.message)
    }
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// Runs the arguments of `saddlebag zk` and returns zk's exit code.
pub(crate) fn run(arguments: Vec<OsString>, global: &Global) -> u8 {
    let ended = match args::parse(arguments) {
        Ok(Asked::Print(text)) => print(&text).map_err(Stop::from),
        Ok(Asked::Run(zk)) => run_command(*zk, global),
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(()) | Err(Stop::Closed) => 0,
        Err(Stop::Failed(message)) => {
            tell_part(&error_text(&message));
            EXIT_FAILED
        }
    }
}

fn run_command(zk: Zk, global: &Global) -> Result<(), Stop> {
    let here = working_folder(&zk)?;
    if let ZkCommand::Init { directory } = &zk.command {
        let folder = global.root.as_deref().map_or_else(|| here.clone(), |root| here.join(root));
        return init(&normal(&folder.join(directory.as_deref().unwrap_or_default())), global);
    }
    let mut notebook = Notebook::open(&zk, here, global)?;
    match zk.command {
        ZkCommand::List(args) => notebook.list(&args),
        ZkCommand::Tag { command: TagCommand::List(args) } => notebook.tags(&args),
        ZkCommand::Graph(args) => notebook.graph(&args),
        ZkCommand::New(args) => notebook.new_note(&args),
        // The next query updates the index.
        ZkCommand::Index(_) | ZkCommand::Init { .. } => Ok(()),
    }
}

fn working_folder(zk: &Zk) -> Result<PathBuf, Stop> {
    let current = std::env::current_dir().map_err(|error| {
        Stop::Failed(format!("the working folder cannot be found: {}", saddlebag_host::io_cause(&error)))
    })?;
    Ok(match &zk.working_dir {
        Some(folder) => current.join(folder),
        None => current,
    })
}

fn init(folder: &Path, global: &Global) -> Result<(), Stop> {
    if let Some(root) = folder.ancestors().find(|folder| folder.join(".zk").is_dir()) {
        return Err(Stop::Failed(format!("init: a notebook already exists in {}", root.display())));
    }
    let options = Options { create: true, project: Project::Notebook, ..options(global)? };
    Saddlebag::open(folder, options)?
        .run(global.now.unwrap_or_else(now), NotebookCommand::InitNotebook(InitNotebook))?;
    Ok(())
}

/// Notebook that a command line uses.
struct Notebook {
    memory: Saddlebag,
    root: PathBuf,
    /// Folder that relative paths start from.
    here: PathBuf,
    /// Time of every command.
    now: Timestamp,
    context: Context,
    config: NotebookConfig,
}

impl Notebook {
    fn open(zk: &Zk, here: PathBuf, global: &Global) -> Result<Self, Stop> {
        let of_environment = || std::env::var_os(NOTEBOOK_VARIABLE).map(PathBuf::from);
        let above =
            |folder: &Path| folder.ancestors().find(|folder| folder.join(".zk").is_dir()).map(Path::to_path_buf);
        let root = match (&zk.notebook_dir, &global.root) {
            (Some(folder), _) => above(&here.join(folder)),
            // The store is the notebook, with or without a configuration.
            (None, Some(root)) => Some(here.join(root)),
            (None, None) => above(&here).or_else(|| of_environment().and_then(|folder| above(&folder))),
        };
        let root = root.ok_or_else(|| {
            let from = zk.notebook_dir.as_deref().map_or_else(|| here.clone(), PathBuf::from);
            Stop::Failed(format!("no notebook found in {} or a parent directory", from.display()))
        })?;
        let options = Options { project: Project::Notebook, ..options(global)? };
        let memory = Saddlebag::open(&root, options)?;
        let moment = global.now.unwrap_or_else(now);
        let seconds = u64::try_from(moment.seconds).unwrap_or_default();
        let context = Context {
            now: seconds.saturating_mul(1_000_000_000).saturating_add(moment.nanoseconds.into()),
            utc_offset_seconds: moment.utc_offset_seconds,
        };
        let config = read_config(&root)?;
        Ok(Self { memory, root, here, now: moment, context, config })
    }

    fn execute(&mut self, command: NotebookCommand) -> Result<NotebookReply, HostError> {
        match self.memory.run(self.now, command)? {
            Reply::Notebook(reply) => Ok(reply),
            _ => Err(saddlebag_host::EngineError::Component("the reply does not belong to the command".into()).into()),
        }
    }

    /// Converts a path relative to the working folder into one below the root.
    fn below_root(&self, path: &str) -> String {
        let whole = normal(&self.here.join(path));
        match whole.strip_prefix(normal(&self.root)) {
            Ok(below) => slashes(below),
            Err(_) => path.to_string(),
        }
    }

    /// Converts a path below the root into one relative to the working folder.
    fn relative(&self, path: &str) -> String {
        let (root, here) = (normal(&self.root), normal(&self.here));
        match here.strip_prefix(&root) {
            Ok(below) => {
                let mut from = below.components().map(|part| part.as_os_str().to_string_lossy()).peekable();
                let mut to = path.split('/').peekable();
                while from.peek().is_some_and(|folder| to.peek() == Some(&folder.as_ref())) && {
                    let mut rest = to.clone();
                    rest.next();
                    rest.peek().is_some()
                } {
                    from.next();
                    to.next();
                }
                let up = from.map(|_| "..".to_string());
                up.chain(to.map(str::to_string)).collect::<Vec<_>>().join("/")
            }
            Err(_) => slashes(&root.join(path)),
        }
    }

    fn notes(&mut self, request: ListNotes) -> Result<Vec<NoteInfo>, Stop> {
        Ok(self.selected(request)?.notes)
    }

    fn selected(&mut self, request: ListNotes) -> Result<ListNotesReply, Stop> {
        match self.execute(NotebookCommand::ListNotes(request))? {
            NotebookReply::ListNotes(reply) => {
                for warning in &reply.warnings {
                    tell_part(&format!("zk: warning: {}: {}\n", warning.path, warning.message));
                }
                Ok(reply)
            }
            _ => Ok(ListNotesReply::default()),
        }
    }

    /// Keeps only the notes that a search finds, in the order of the search.
    fn search(&mut self, search: &TextSearch, notes: &mut Vec<NoteInfo>) -> Result<(), Stop> {
        if search.is_empty() {
            return Ok(());
        }
        let mut all = Vec::new();
        if search.needs_all_notes() {
            let every_note = ListNotes { with_text: true, ..ListNotes::default() };
            if let NotebookReply::ListNotes(reply) = self.execute(NotebookCommand::ListNotes(every_note))? {
                all = reply.notes;
            }
        }
        match search.keep(notes, &all) {
            Ok(()) => Ok(()),
            Err(error @ SearchError::Query { .. }) => {
                // zk prints nothing and succeeds. This program succeeds too, and prints the reason.
                tell_part(&format!("zk: warning: {error}\n"));
                notes.clear();
                Ok(())
            }
            Err(error) => Err(Stop::Failed(error.to_string())),
        }
    }

    fn tag_counts(&mut self) -> Result<Vec<TagCount>, Stop> {
        match self.execute(NotebookCommand::Tags(Tags))? {
            NotebookReply::Tags(reply) => Ok(reply.tags),
            _ => Ok(Vec::new()),
        }
    }

    fn list(&mut self, args: &ListArgs) -> Result<(), Stop> {
        let filter = expand(args.filter.clone(), &self.config.filters)?;
        let request = filter.request(|path| self.below_root(path))?;
        let search = filter.text_search(|path| self.below_root(path))?;
        let mut notes = self.notes(request)?;
        self.search(&search, &mut notes)?;
        let tags = self.tag_counts()?;
        let listed: Vec<ListedNote> = notes.into_iter().map(|note| self.listed(note, &tags)).collect();
        print(&format::notes(&listed, &args.frame, &self.context)?)?;
        if !args.frame.quiet {
            tell_part(&format::found(listed.len(), "note"));
        }
        Ok(())
    }

    fn tags(&mut self, args: &TagListArgs) -> Result<(), Stop> {
        let keys = args.keys()?;
        let tags = self.tag_counts()?.into_iter();
        let tags: Vec<ListedTag> =
            tags.map(|tag| ListedTag { id: tag.number, name: tag.name, note_count: tag.notes }).collect();
        let count = tags.len();
        print(&format::tags(tags, &keys, &args.frame, &self.context)?)?;
        if !args.frame.quiet {
            tell_part(&format::found(count, "tag"));
        }
        Ok(())
    }

    fn graph(&mut self, args: &GraphArgs) -> Result<(), Stop> {
        if args.format != "json" {
            return Err(Stop::Failed(format!("{}: unknown format, try json", args.format)));
        }
        let mut paths: Vec<String> = self.notes(ListNotes::default())?.into_iter().map(|note| note.path).collect();
        // zk numbers notes by path. A folder comes before other paths with the same beginning.
        paths.sort_by_key(|path| path.replace('/', "\u{1}"));
        let numbers: BTreeMap<String, u64> = paths.into_iter().zip(1..).collect();
        let number = |path: &str| numbers.get(path).copied().unwrap_or_default();
        let filter = expand(args.filter.clone(), &self.config.filters)?;
        let request = filter.request(|path| self.below_root(path))?;
        let search = filter.text_search(|path| self.below_root(path))?;
        let mut graph = self.selected(ListNotes { with_links: true, ..request })?;
        self.search(&search, &mut graph.notes)?;
        // With a limit, notes link to others that match as well.
        let kept: BTreeSet<&str> = graph.notes.iter().map(|note| note.path.as_str()).collect();
        graph.links.retain(|link| kept.contains(&*link.source) && kept.contains(&*link.target));
        let tags = self.tag_counts()?;
        let links: Vec<ListedLink> = graph
            .links
            .iter()
            .map(|link| ListedLink {
                title: link.title.clone(),
                href: link.href.clone(),
                kind: if link.kind == "wiki-link" { "wiki-link" } else { "markdown" },
                is_external: false,
                rels: link.relations.clone(),
                snippet: link.snippet.clone(),
                snippet_start: link.snippet_start,
                snippet_end: link.snippet_end,
                source_id: number(&link.source),
                source_path: link.source.clone(),
                target_id: number(&link.target),
                target_path: link.target.clone(),
            })
            .collect();
        let notes: Vec<ListedNote> = graph.notes.into_iter().map(|note| self.listed(note, &tags)).collect();
        print(&format::graph(&notes, &links))?;
        if !args.quiet {
            tell_part(&format::found(notes.len(), "note"));
        }
        Ok(())
    }

    /// Creates a note. Unlike in zk, an existing note of the same title loses nothing: if the content is equal, no
    /// note is created, otherwise the new note gets another file name.
    fn new_note(&mut self, args: &NewArgs) -> Result<(), Stop> {
        args.extra()?;
        let unsupported = [
            ("--date", args.date.is_some()),
            ("--extra", !args.extra()?.is_empty()),
            ("--template", args.template.is_some()),
            ("--id", args.id.is_some()),
            ("--dry-run", args.dry_run),
        ];
        if let Some((flag, _)) = unsupported.iter().find(|(_, given)| *given) {
            return Err(Stop::Failed(format!("{flag} is not supported: the group's own template and names are used")));
        }
        let folder = self.below_root(args.directory.as_deref().unwrap_or("."));
        let mut content = String::new();
        if args.interactive {
            io::stdin().lock().read_to_string(&mut content).map_err(|error| {
                Stop::Failed(format!("standard input cannot be read: {}", saddlebag_host::io_cause(&error)))
            })?;
        }
        if folder == DAILY_FOLDER {
            return self.new_day(content, args.title.is_some());
        }
        let request = Remember {
            title: args.title.clone().unwrap_or_else(|| self.default_title(args.group.as_deref(), &folder)),
            content,
            template: if folder.is_empty() { ".".into() } else { folder },
            group: args.group.clone(),
            ..Remember::default()
        };
        if let NotebookReply::Remember(reply) = self.execute(NotebookCommand::Remember(request))? {
            if reply.state == RememberState::AlreadyThere {
                tell_part(&format!("zk: warning: {}\n", reply.message));
            }
            print(&format!("{}\n", normal(&self.root).join(&reply.path).display()))?;
        }
        Ok(())
    }

    /// Creates today's note if it is missing. The content is added to it as a journal entry. zk discards the content
    /// if the note exists.
    fn new_day(&mut self, content: String, has_title: bool) -> Result<(), Stop> {
        if has_title {
            tell_part("zk: warning: --title is not used: the note of a day is named by its date\n");
        }
        let command = if content.trim().is_empty() {
            NotebookCommand::Today(Today)
        } else {
            NotebookCommand::Journal(Journal { entry: content })
        };
        let (path, warnings) = match self.execute(command)? {
            NotebookReply::Today(reply) => (reply.path, reply.warnings),
            NotebookReply::Journal(reply) => (reply.path, reply.warnings),
            _ => return Ok(()),
        };
        for warning in warnings {
            tell_part(&format!("zk: warning: {}: {}\n", warning.path, warning.message));
        }
        print(&format!("{}\n", normal(&self.root).join(path).display()))?;
        Ok(())
    }

    fn default_title(&self, group: Option<&str>, folder: &str) -> String {
        let group = group.and_then(|name| self.config.groups.iter().find(|group| group.name == name));
        let note = match group {
            Some(group) => &group.note,
            None => self.config.note_at(format!("{folder}/x").trim_start_matches('/')),
        };
        note.default_title.clone()
    }

    fn listed(&self, note: NoteInfo, tags: &[TagCount]) -> ListedNote {
        let filename = note.path.rsplit('/').next().unwrap_or(&note.path).to_string();
        let stem = filename.rsplit_once('.').map_or(filename.as_str(), |(stem, _)| stem).to_string();
        let number = |name: &String| tags.iter().find(|tag| tag.name == *name).map_or(u64::MAX, |tag| tag.number);
        let mut numbered = note.tags;
        numbered.sort_by_key(number);
        ListedNote {
            filename_stem: stem,
            filename,
            path: self.relative(&note.path),
            abs_path: normal(&self.root).join(&note.path).display().to_string(),
            title: note.title,
            link: note.link,
            lead: note.lead,
            body: note.body,
            snippets: note.snippets,
            checksum: Sha256::digest(note.text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
            raw_content: note.text,
            word_count: note.word_count,
            tags: numbered,
            metadata: serde_json::from_str(&note.metadata).unwrap_or_default(),
            created: note.created,
            modified: note.modified,
            unapproved: note.unapproved.map(Provenance::as_str),
        }
    }
}

/// Reads the configuration, because named filters and titles depend on it. If it is invalid, the command reports the
/// error, because it reads the file too.
fn read_config(root: &Path) -> Result<NotebookConfig, Stop> {
    let path = root.join(CONFIG_FILE);
    // Links are not followed, as in the store.
    let is_readable = fs::symlink_metadata(&path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= u64::from(MAX_CONFIG_BYTES));
    if !is_readable {
        return Ok(NotebookConfig::default());
    }
    let bytes = fs::read(&path)
        .map_err(|error| Stop::Failed(format!("{CONFIG_FILE} cannot be read: {}", saddlebag_host::io_cause(&error))))?;
    Ok(NotebookConfig::parse(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}')).0)
}

/// Returns a path without `.` and `..`. Links are not resolved.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

fn slashes(path: &Path) -> String {
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.collect::<Vec<_>>().join("/")
}
