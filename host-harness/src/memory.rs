//! [`Saddlebag`]: a store on the local disk, ready to use.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use saddlebag::agents_md::{SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::context::{Context, ContextReply};
use saddlebag::entries::EntriesConfig;
use saddlebag::journal::{Search, Target, Write, WriteMode, WriteReply};
use saddlebag::protocol::{CommandId, Error};
use saddlebag::search::SearchResults;
use saddlebag::store::{LongTermScope, RelPath, Timestamp};
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::trust::TrustConfig;
use saddlebag::{Answered, Config, Limits, Reply, ReplyTo, Submit};

use crate::clock;
#[cfg(feature = "component")]
use crate::component_engine::{ComponentEngine, ComponentOptions};
use crate::engine::{Engine, EngineError, NativeEngine};
use crate::executor::{Durability, Executor};
use crate::host::{AnsweredRequests, Host, HostError, Observer};
use crate::local_dir::{LocalDir, LocalDirOptions, Recovered};
use crate::project::{canonical, project_root, project_slug};
use crate::trace::{Recording, RecordingEngine};

/// Which engine runs the commands.
#[derive(Clone)]
pub enum EngineKind {
    /// The WebAssembly component, in a sandbox.
    #[cfg(feature = "component")]
    Component(ComponentOptions),
    /// The same code, compiled into this program.
    Native,
}

/// Opens an engine.
///
/// # Errors
///
/// A configuration that breaks a rule, or a component that cannot be loaded.
pub fn open_engine(kind: EngineKind, config: Config) -> Result<Box<dyn Engine + Send>, EngineError> {
    match kind {
        #[cfg(feature = "component")]
        EngineKind::Component(options) => Ok(Box::new(ComponentEngine::open(config, options)?)),
        EngineKind::Native => Ok(Box::new(NativeEngine::open(config)?)),
    }
}

/// What a [`Saddlebag`] is opened with.
#[derive(Clone)]
pub struct Options {
    /// Which engine runs the commands.
    pub engine: EngineKind,
    /// Whose memory it is.
    pub project: Project,
    /// What an acknowledged change survives.
    pub durability: Durability,
    /// Make the folder of the store if it is missing.
    pub create: bool,
    /// Show paths with the folder of the store before them, rather than below it.
    pub absolute_paths: bool,
    /// Part of every context key; `None` for a number that no other opening has.
    pub epoch: Option<u64>,
    /// What the engine takes at once.
    pub limits: Limits,
    /// Keep no copy of the index in the store; the first recall then reads every file.
    pub no_index_file: bool,
    /// Whose entries it keeps; `None` refuses every command of theirs.
    pub entries: Option<EntriesConfig>,
    /// Whose text it takes, and what of it.
    pub trust: TrustConfig,
    /// The file that long-term memory means where there is a project.
    pub long_term: LongTermScope,
    /// Is told of each text that was found in the temporary file of a writer that died and is kept.
    pub on_recovered: Option<fn(&Recovered)>,
    /// Where every call to the engine is written down.
    pub recording: Option<Recording>,
}

impl Options {
    /// This engine on a folder that exists, which is one notebook, with durable writes and no entries.
    #[must_use]
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
            on_recovered: None,
            recording: None,
        }
    }
}

/// Whose memory a store is opened for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Project {
    /// Nobody's in particular: the folder of the store is one notebook.
    #[default]
    Notebook,
    /// That of the project which this path is in, by [`project_root`].
    Path(PathBuf),
    /// That of the project whose folder has this name.
    Slug(String),
}

impl Project {
    /// The name of the project's folder under `projects/`; `None` for a notebook.
    #[must_use]
    pub fn slug(&self) -> Option<String> {
        match self {
            Self::Notebook => None,
            Self::Path(path) => Some(project_slug(&project_root(path)).to_string()),
            Self::Slug(slug) => Some(slug.clone()),
        }
    }
}

/// Memory in a folder of the local disk: a [`Host`] with an engine and a [`LocalDir`].
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
/// # assert!(prompt.contains("Staging runs on port 8080"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Saddlebag(Host<Box<dyn Engine + Send>, LocalDir>);

impl Saddlebag {
    /// Opens the store in the folder `root`. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// A folder that cannot be opened, an engine that cannot be.
    pub fn open(root: impl AsRef<Path>, options: Options) -> Result<Self, HostError> {
        let root = root.as_ref();
        let Options { durability, on_recovered, .. } = options;
        let disk = LocalDirOptions { durability, on_recovered, ..LocalDirOptions::default() };
        let store = if options.create { LocalDir::create(root, disk)? } else { LocalDir::open(root, disk)? };
        let config = Config {
            epoch: options.epoch.unwrap_or_else(unique_epoch),
            project: options.project.slug(),
            path_prefix: if options.absolute_paths { prefix(root) } else { String::new() },
            limits: options.limits,
            index_file: !options.no_index_file,
            version_scheme: LocalDir::VERSION_SCHEME.into(),
            // A local disk has no model.
            rescore: false,
            entries: options.entries,
            trust: options.trust,
            long_term: options.long_term,
            secret: None,
        };
        let Some(recording) = options.recording else {
            return Ok(Self(Host::new(open_engine(options.engine, config)?, store)));
        };
        let engine = open_engine(options.engine, config.clone())?;
        Ok(Self(Host::new(Box::new(RecordingEngine::new(engine, &config, recording)), store)))
    }

    /// Has everything that happens from here on watched, in place of an earlier observer.
    pub fn observe(&mut self, observer: impl Observer + Send + 'static) {
        self.0.observe(observer);
    }

    /// The tools of these sets, as a model is shown them.
    ///
    /// # Errors
    ///
    /// As [`Host::tools`].
    pub fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        self.0.tools(sets)
    }

    /// Runs a command of any kind at `now`.
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn run(&mut self, now: Timestamp, command: impl Submit) -> Result<Reply, HostError> {
        self.0.run(now, command)
    }

    /// Runs a command at `now` and gives its own reply.
    ///
    /// # Errors
    ///
    /// As [`Host::call`].
    pub fn call<A: Answered>(&mut self, now: Timestamp, command: A) -> Result<ReplyTo<A>, HostError> {
        self.0.call(now, command)
    }

    /// Runs a command at this moment of the system's clock and gives its own reply.
    ///
    /// # Errors
    ///
    /// As [`Host::call`].
    pub fn execute<A: Answered>(&mut self, command: A) -> Result<ReplyTo<A>, HostError> {
        self.0.call(clock::now(), command)
    }

    /// Writes text to a target.
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn write(&mut self, target: Target, mode: WriteMode, text: &str) -> Result<WriteReply, HostError> {
        self.execute(Write { target, mode, content: text.into(), truncate: false })
    }

    /// Searches for words, with the usual limits.
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn search(&mut self, words: &str) -> Result<SearchResults, HostError> {
        self.execute(Search::new(words))
    }

    /// Brings the section of the file `path` in `folder` and the entries together.
    ///
    /// # Errors
    ///
    /// As [`Host::sync_agents_md`].
    pub fn sync_agents_md(
        &mut self,
        now: Timestamp,
        folder: &mut impl Executor,
        path: &RelPath,
        request: &SyncAgentsMd,
    ) -> Result<SyncAgentsMdReply, HostError> {
        self.0.sync_agents_md(now, folder, path, request)
    }

    /// Makes the block for a prompt, under the usual policy and budget.
    ///
    /// # Errors
    ///
    /// As [`Host::run`].
    pub fn context(&mut self) -> Result<ContextReply, HostError> {
        self.execute(Context::default())
    }
}

/// Several commands in flight at once, beside which the caller does other work.
impl Saddlebag {
    /// Puts a command in flight and gives its id.
    ///
    /// # Errors
    ///
    /// As [`Host::submit`].
    pub fn submit(&mut self, now: Timestamp, command: impl Submit) -> Result<CommandId, EngineError> {
        self.0.submit(now, command)
    }

    /// Performs the oldest pending request, or up to `most` reads together.
    ///
    /// # Errors
    ///
    /// As [`Host::answer_next`].
    pub fn answer_next(&mut self, most: usize) -> Result<AnsweredRequests, EngineError> {
        self.0.answer_next(most)
    }

    /// The outcome of a command that ended, once.
    pub fn take_finished(&mut self, id: CommandId) -> Option<Result<Reply, Error>> {
        self.0.take_finished(id)
    }

    /// Gives a command up.
    ///
    /// # Errors
    ///
    /// As [`Host::cancel`].
    pub fn cancel(&mut self, id: CommandId) -> Result<(), EngineError> {
        self.0.cancel(id)
    }
}

/// The folder that a store is in unless one is named: `saddlebag` in the platform's data folder, for
/// example `~/.local/share/saddlebag`. `None` where the user has no home.
#[must_use]
pub fn default_root() -> Option<PathBuf> {
    use etcetera::BaseStrategy;

    etcetera::base_strategy::choose_native_strategy().ok().map(|folders| folders.data_dir().join("saddlebag"))
}

/// What stands before every path of the store at `root` where paths are shown in full.
fn prefix(root: &Path) -> String {
    let mut prefix = canonical(root).unwrap_or_else(|| root.to_path_buf()).to_string_lossy().into_owned();
    if !prefix.ends_with(['/', std::path::MAIN_SEPARATOR]) {
        prefix.push('/');
    }
    prefix
}

/// A number that no other opening of a store has, in this process or another.
fn unique_epoch() -> u64 {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let opened = OPENED.fetch_add(1, Ordering::Relaxed);
    // The low bits of the time differ most; the process and the count go where they do not.
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
