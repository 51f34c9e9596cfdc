//! [`Saddlebag`]: a store on the local disk, ready to use.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use saddlebag::agents_md::{SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::context::{Context, ContextReply};
use saddlebag::entries::EntriesConfig;
use saddlebag::journal::{Search, Target, WriteFile, WriteMode, WriteReply};
use saddlebag::protocol::{CommandId, Error, ErrorCode, FsError};
use saddlebag::search::SearchResults;
use saddlebag::store::{BackupPlace, LongTermScope, RelPath, Timestamp};
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::trust::TrustConfig;
use saddlebag::{Answered, Config, Limits, Reply, ReplyTo, Submit};

use crate::clock;
#[cfg(feature = "component")]
use crate::component_engine::{ComponentEngine, ComponentOptions};
#[cfg(feature = "native")]
use crate::engine::NativeEngine;
use crate::engine::{Engine, EngineError};
use crate::executor::{Durability, Executor};
use crate::host::{AnsweredRequests, Host, HostError, Observer};
#[cfg(feature = "watch")]
use crate::local_dir::Watch;
use crate::local_dir::{LocalDir, LocalDirOptions, Recovered};
use crate::open_store::{OpenStore, Remote};
use crate::project::{canonical, project_root, project_slug};
use crate::projects::Projects;
use crate::trace::{Recording, RecordingEngine};

/// Kind of engine that runs the commands.
#[derive(Clone)]
pub enum EngineKind {
    /// The WebAssembly component, in a sandbox.
    #[cfg(feature = "component")]
    Component(ComponentOptions),
    /// The same code, compiled into this program.
    #[cfg(feature = "native")]
    Native,
}

impl EngineKind {
    /// Returns the native engine if this build has it.
    pub fn native() -> Option<Self> {
        #[cfg(feature = "native")]
        return Some(Self::Native);
        #[cfg(not(feature = "native"))]
        None
    }
}

/// Opens an engine.
///
/// # Errors
///
/// The configuration is invalid, or the component cannot be loaded.
#[cfg_attr(
    not(any(feature = "component", feature = "native")),
    expect(unused_variables, reason = "no engine takes it")
)]
pub fn open_engine(kind: EngineKind, config: Config) -> Result<Box<dyn Engine + Send>, EngineError> {
    match kind {
        #[cfg(feature = "component")]
        EngineKind::Component(options) => Ok(Box::new(ComponentEngine::open(config, options)?)),
        #[cfg(feature = "native")]
        EngineKind::Native => Ok(Box::new(NativeEngine::open(config)?)),
    }
}

/// Options of a [`Saddlebag`].
#[derive(Clone)]
pub struct Options {
    /// Engine that runs the commands.
    pub engine: EngineKind,
    /// Project whose memory it is.
    pub project: Project,
    /// Extent to which an acknowledged change survives.
    pub durability: Durability,
    /// If set, creates the folder of the store if it is missing.
    pub create: bool,
    /// If set, shows paths with the folder of the store before them; otherwise relative to it.
    pub absolute_paths: bool,
    /// Part of every context key; `None` for a number that no other opening has.
    pub epoch: Option<u64>,
    /// Limits of the engine.
    pub limits: Limits,
    /// If set, keeps no copy of the index in the store; the first recall then reads every file.
    pub no_index_file: bool,
    /// Scope of the entries; `None` refuses every command of the entries.
    pub entries: Option<EntriesConfig>,
    /// Policy for the text that the memory accepts.
    pub trust: TrustConfig,
    /// File that long-term memory is written to in a project.
    pub long_term: LongTermScope,
    /// Name of this machine in the history of changes; `None`: changes are not recorded.
    pub machine: Option<String>,
    /// Place where the text that a change replaces is kept.
    pub backups: BackupPlace,
    /// Maximum size of the section of a block that names what memory knows, in bytes; 0 leaves it out, `None` is the default.
    pub map_bytes: Option<u32>,
    /// Called for each recovered temporary file of a writer that died.
    pub on_recovered: Option<fn(&Recovered)>,
    /// Recording of every call to the engine.
    pub recording: Option<Recording>,
}

impl Options {
    /// Creates options for this engine on an existing folder, which is one notebook, with durable writes and without
    /// entries.
    pub fn new(engine: EngineKind) -> Self {
        Self {
            engine,
            project: Project::default(),
            durability: Durability::default(),
            create: false,
            absolute_paths: false,
            epoch: None,
            limits: Limits::default(),
            no_index_file: false,
            entries: None,
            trust: TrustConfig::default(),
            long_term: LongTermScope::default(),
            machine: None,
            backups: BackupPlace::default(),
            map_bytes: None,
            on_recovered: None,
            recording: None,
        }
    }
}

/// Project that a store is opened for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Project {
    /// No project: the folder of the store is one notebook.
    #[default]
    Notebook,
    /// Project that contains this path, by [`project_root`], or the one that a person has linked it to ([`Projects`]).
    Path(PathBuf),
    /// Project whose folder has this name.
    Slug(String),
}

impl Project {
    /// Returns the name of the project's folder under `projects/`, links left aside; `None` for a notebook.
    pub fn slug(&self) -> Option<String> {
        match self {
            Self::Notebook => None,
            Self::Path(path) => Some(project_slug(&project_root(path)).to_string()),
            Self::Slug(slug) => Some(slug.clone()),
        }
    }
}

/// Memory in a store: a [`Host`] with an engine and an [`OpenStore`].
///
/// ```
/// use saddlebag::journal::{AppendDaily, Target, WriteMode};
/// use saddlebag_host::{EngineKind, Options, Project, Saddlebag};
///
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// let project = Project::Path(std::env::current_dir()?);
/// let options = Options { project, ..Options::new(EngineKind::Native) };
/// let mut memory = Saddlebag::open(root, options)?;
/// memory.write(Target::LongTerm, WriteMode::Append, "Staging runs on port 8080")?;
/// memory.execute(AppendDaily { heading: "deploy".into(), body: "went well".into() })?;
/// for hit in memory.search("staging port")?.hits {
///     println!("{} {:?}", hit.path, hit.lines);
/// }
/// let prompt = memory.context()?.block.unwrap_or_default();
/// # assert!(prompt.as_str().contains("Staging runs on port 8080"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Saddlebag(Host<Box<dyn Engine + Send>, OpenStore>);

impl Saddlebag {
    /// Opens the store in the folder `root`. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// The folder or the engine cannot be opened.
    pub fn open(root: impl AsRef<Path>, options: Options) -> Result<Self, HostError> {
        let root = root.as_ref();
        let Options { durability, on_recovered, .. } = options;
        let disk = LocalDirOptions { durability, on_recovered, ..LocalDirOptions::default() };
        let store = if options.create { LocalDir::create(root, disk)? } else { LocalDir::open(root, disk)? };
        let path_prefix = if options.absolute_paths { prefix(root) } else { String::new() };
        Self::on(OpenStore::Folder(Box::new(store)), path_prefix, roots(root), options)
    }

    /// Opens the memory in a remote store.
    ///
    /// # Errors
    ///
    /// The engine cannot be opened, or the store cannot be read.
    pub fn attach(remote: Remote, options: Options) -> Result<Self, HostError> {
        let address = with_separator(Path::new(&remote.address));
        let path_prefix = if options.absolute_paths { address.clone() } else { String::new() };
        Self::on(OpenStore::Remote(remote), path_prefix, vec![address], options)
    }

    fn on(mut store: OpenStore, path_prefix: String, roots: Vec<String>, options: Options) -> Result<Self, HostError> {
        let project = match &options.project {
            Project::Path(folder) => Some(Projects::new(&mut store).opened(folder).map_err(|error| {
                // Otherwise the folder would begin a second memory.
                let message = format!("the record of the project cannot be read: {error}");
                Error::new(ErrorCode::Storage, message, "correct the cause and try again")
            })?),
            project => project.slug(),
        };
        let config = Config {
            epoch: options.epoch.unwrap_or_else(unique_epoch),
            project,
            path_prefix,
            roots,
            limits: options.limits,
            // The index has the words of every file, which a trace need not repeat.
            index_file: !options.no_index_file && options.recording.is_none(),
            version_scheme: store.version_scheme().into(),
            // No store of this crate has a model.
            entries: options.entries,
            trust: options.trust,
            long_term: options.long_term,
            machine: options.machine,
            secret: None,
            backups: options.backups,
            map_bytes: options.map_bytes,
        };
        let Some(recording) = options.recording else {
            return Ok(Self(Host::new(open_engine(options.engine, config)?, store)));
        };
        let engine = open_engine(options.engine, config.clone())?;
        Ok(Self(Host::new(Box::new(RecordingEngine::new(engine, &config, recording)), store)))
    }

    /// Sets the observer of all further events, and replaces an earlier one.
    pub fn observe(&mut self, observer: impl Observer + Send + 'static) {
        self.0.observe(observer);
    }

    /// Lets a watch of the folder tell whether anything has changed. Between changes, searches then list no folders.
    #[cfg(feature = "watch")]
    pub fn watch_with(&mut self, watch: Watch) {
        if let OpenStore::Folder(folder) = self.0.executor_mut() {
            folder.watch_with(watch);
        }
    }

    /// Lets the server of a remote store tell of changes. Between changes, searches then send no request to find out whether anything has
    /// changed. Returns false if the server cannot, or the store is a folder.
    ///
    /// `on_change` is called on another thread after each change, and when changes may have been missed.
    ///
    /// # Errors
    ///
    /// The system starts no thread.
    pub fn listen(&mut self, on_change: impl Fn() + Send + 'static) -> Result<bool, FsError> {
        match self.0.executor_mut() {
            OpenStore::Remote(Remote { listen: Some(listen), .. }) => listen(Box::new(on_change)).map(|()| true),
            OpenStore::Remote(_) | OpenStore::Folder(_) => Ok(false),
        }
    }

    /// Returns true if a finished command has changed a file, or may have. Bookkeeping does not count.
    pub fn has_changed(&self) -> bool {
        self.0.has_changed()
    }

    /// Returns the tools of these sets, as they are described to a model.
    ///
    /// # Errors
    ///
    /// Those of [`Host::tools`].
    pub fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        self.0.tools(sets)
    }

    /// Runs a command of any kind at `now`.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`].
    pub fn run(&mut self, now: Timestamp, command: impl Submit) -> Result<Reply, HostError> {
        self.0.run(now, command)
    }

    /// Runs a command at `now` and returns its own reply.
    ///
    /// # Errors
    ///
    /// Those of [`Host::call`].
    pub fn call<A: Answered>(&mut self, now: Timestamp, command: A) -> Result<ReplyTo<A>, HostError> {
        self.0.call(now, command)
    }

    /// Runs a command at the current time of the system's clock and returns its own reply.
    ///
    /// # Errors
    ///
    /// Those of [`Host::call`].
    pub fn execute<A: Answered>(&mut self, command: A) -> Result<ReplyTo<A>, HostError> {
        self.0.call(clock::now(), command)
    }

    /// Writes text to a target.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`].
    pub fn write(&mut self, target: Target, mode: WriteMode, text: &str) -> Result<WriteReply, HostError> {
        self.execute(WriteFile { target, mode, content: text.into(), truncate: false })
    }

    /// Searches for words, with the default limits.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`].
    pub fn search(&mut self, words: &str) -> Result<SearchResults, HostError> {
        self.execute(Search::new(words))
    }

    /// Writes facts into the section of the file `path` in `folder`.
    ///
    /// # Errors
    ///
    /// Those of [`Host::sync_agents_md`].
    pub fn sync_agents_md(
        &mut self,
        now: Timestamp,
        folder: &mut impl Executor,
        path: &RelPath,
        request: &SyncAgentsMd,
        dry_run: bool,
    ) -> Result<SyncAgentsMdReply, HostError> {
        self.0.sync_agents_md(now, folder, path, request, dry_run)
    }

    /// Builds the block for a prompt, with the default policy and budget.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`].
    pub fn context(&mut self) -> Result<ContextReply, HostError> {
        self.execute(Context::default())
    }
}

/// Methods for several commands in flight at once, while the caller does other work.
impl Saddlebag {
    /// Fails if the folder of the store is no longer where it was opened.
    ///
    /// # Errors
    ///
    /// The store was moved, removed or replaced.
    pub fn check_place(&self) -> Result<(), Error> {
        self.0.executor().check_place().map_err(|error| Error::new(ErrorCode::Storage, error.to_string(), ""))
    }

    /// Puts a command in flight and returns its id.
    ///
    /// # Errors
    ///
    /// Those of [`Host::submit`].
    pub fn submit(&mut self, now: Timestamp, command: impl Submit) -> Result<CommandId, EngineError> {
        self.0.submit(now, command)
    }

    /// Performs the oldest pending request, or up to `most` reads together.
    ///
    /// # Errors
    ///
    /// Those of [`Host::answer_next`].
    pub fn answer_next(&mut self, most: usize) -> Result<AnsweredRequests, EngineError> {
        self.0.answer_next(most)
    }

    /// Returns the outcome of a finished command, once.
    pub fn take_finished(&mut self, id: CommandId) -> Option<Result<Reply, Error>> {
        self.0.take_finished(id)
    }

    /// Cancels a command.
    ///
    /// # Errors
    ///
    /// Those of [`Host::cancel`].
    pub fn cancel(&mut self, id: CommandId) -> Result<(), EngineError> {
        self.0.cancel(id)
    }
}

/// Returns the default folder of a store: `saddlebag` in the platform's data folder, for example
/// `~/.local/share/saddlebag`. `None` if the user has no home.
pub fn default_root() -> Option<PathBuf> {
    use etcetera::BaseStrategy;

    etcetera::base_strategy::choose_native_strategy().ok().map(|folders| folders.data_dir().join("saddlebag"))
}

/// Returns the folder for the state of programs that is not memory, such as logs: `saddlebag` in the platform's folder
/// of states. A platform without such a folder has `saddlebag-state` in its data folder. Returns `None` if there is no home
/// folder.
pub fn state_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy;

    let folders = etcetera::base_strategy::choose_native_strategy().ok()?;
    let state = folders.state_dir().map(|folder| folder.join("saddlebag"));
    Some(state.unwrap_or_else(|| folders.data_dir().join("saddlebag-state")))
}

/// Returns the absolute paths of the root: as the caller typed it, and as it is shown.
fn roots(root: &Path) -> Vec<String> {
    let typed = std::path::absolute(root).ok().map(|path| with_separator(&path));
    let mut roots: Vec<String> = typed.into_iter().chain([prefix(root)]).collect();
    roots.dedup();
    roots
}

/// Returns the prefix of every path of the store at `root` if paths are shown in full.
fn prefix(root: &Path) -> String {
    with_separator(&canonical(root).unwrap_or_else(|| root.to_path_buf()))
}

fn with_separator(folder: &Path) -> String {
    let mut prefix = folder.to_string_lossy().into_owned();
    if !prefix.ends_with(['/', std::path::MAIN_SEPARATOR]) {
        prefix.push('/');
    }
    prefix
}

/// Returns a number that no other opening of a store has, in this process or another.
pub(crate) fn unique_epoch() -> u64 {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let opened = OPENED.fetch_add(1, Ordering::Relaxed);
    // The low bits of the time differ most; process and count use the other bits.
    (elapsed.as_nanos() as u64) ^ u64::from(std::process::id()).rotate_left(32) ^ opened.rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<Saddlebag>();
        assert_send::<Options>();
    }
}
