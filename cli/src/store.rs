//! [`Store`]: the open store that the global options name.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use saddlebag::agents_md::{SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{RelPath, Timestamp, USER_FOLDER};
use saddlebag::trust::TrustConfig;
use saddlebag::{Answered, Effect, Moment, Reply, ReplyTo, Request, Submit};
use saddlebag_host::{
    HostError, LocalDir, LocalDirOptions, Observer, OpenError, OpenStore, Options, Project, Projects, Recording,
    Saddlebag, default_root, now,
};

use crate::engine::engine;
use crate::failure::{Failure, set_changes, set_command_done};
use crate::global::Global;
use crate::output::{self, Output};
use crate::remote::{self, Address};
use crate::trace;

/// Place of the store, and its origin. Messages name a folder only if the user did.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// Folder of `--root`.
    Typed(PathBuf),
    /// Folder of `SADDLEBAG_ROOT`.
    Environment(PathBuf),
    /// Default folder of the platform.
    Default(PathBuf),
    /// Address of a store that several machines reach.
    Remote(Address),
}

impl Root {
    pub(crate) fn from_options(global: &Global) -> Result<Self, Failure> {
        let with_cache = |root: Self| match root {
            Self::Remote(address) => Self::Remote(address.with_cache(global.cache.clone())),
            folder => folder,
        };
        if let Some(root) = &global.root {
            return Self::typed(root).map(with_cache);
        }
        if let Some(root) = std::env::var_os("SADDLEBAG_ROOT").filter(|root| !root.is_empty()) {
            let root = PathBuf::from(root);
            // A client may take variables from a file of the checkout, which must not become the person's store.
            if root.is_relative() && remote::address(&root).is_none() {
                let message = "SADDLEBAG_ROOT is not an absolute path";
                return Err(Failure::usage(message, "give it the whole path, or name a folder with --root"));
            }
            return remote::address(&root)
                .map_or_else(|| Ok(Self::Environment(root.clone())), |address| address.map(Self::Remote))
                .map(with_cache);
        }
        default_root().map(Self::Default).ok_or_else(|| {
            let help = "name a folder with --root, or in SADDLEBAG_ROOT";
            Failure::new(ErrorCode::Storage, "there is no home folder to keep the store in", help)
        })
    }

    /// Returns the place that a user typed: the path of a folder, or an address.
    pub(crate) fn typed(place: &Path) -> Result<Self, Failure> {
        remote::address(place).map_or_else(|| Ok(Self::Typed(place.to_path_buf())), |address| address.map(Self::Remote))
    }

    /// Returns the folder of the store.
    ///
    /// # Errors
    ///
    /// The store is not a folder of this machine.
    pub(crate) fn folder(&self) -> Result<&Path, Failure> {
        self.local().ok_or_else(|| {
            let message = "this needs a store in a folder of this machine";
            Failure::new(
                ErrorCode::Storage,
                message,
                "name a folder with --root; the command is not for a store on a server",
            )
        })
    }

    /// Returns the folder of the store; `None` if it is not on this machine.
    pub(crate) fn local(&self) -> Option<&Path> {
        match self {
            Self::Typed(path) | Self::Environment(path) | Self::Default(path) => Some(path),
            Self::Remote(_) => None,
        }
    }

    /// Returns the path of the folder, or the address.
    pub(crate) fn place(&self) -> PathBuf {
        match self {
            Self::Remote(address) => PathBuf::from(address.to_string()),
            root => root.local().map(Path::to_path_buf).unwrap_or_default(),
        }
    }

    /// Returns true if a missing folder is created. A folder that the user named may be a mistake, so it is not
    /// created.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Self::Default(_))
    }

    /// Returns a description of the folder for messages. It never contains a path that the user did not type.
    fn described(&self) -> String {
        match self {
            Self::Typed(path) => format!("the store's root `{}`", path.display()),
            Self::Environment(_) => "the store's root that SADDLEBAG_ROOT names".to_string(),
            Self::Default(_) => "the store's default root".to_string(),
            Self::Remote(address) => format!("the store {address}"),
        }
    }

    pub(crate) fn failure(&self, error: &OpenError) -> Failure {
        let shown = self.described();
        match error {
            OpenError::Missing(_) => {
                Failure::new(ErrorCode::Storage, format!("{shown} does not exist"), "make the folder first")
            }
            OpenError::NotDirectory(_) => Failure::new(
                ErrorCode::Storage,
                format!("{shown} is not a folder"),
                "a store is a folder of Markdown files",
            ),
            OpenError::Unusable { source, .. } => {
                let help = "check the permissions of the folder and of those above it";
                Failure::new(
                    ErrorCode::Storage,
                    format!("{shown} cannot be opened: {}", saddlebag_host::io_cause(source)),
                    help,
                )
            }
            _ => Failure::new(ErrorCode::Storage, format!("{shown} cannot be opened"), ""),
        }
    }
}

/// Open store, and the time that its commands use.
pub(crate) struct Store {
    memory: Saddlebag,
    now: Timestamp,
    trace: Option<Recording>,
    /// Operation of the history that all commands of this run belong to. A run with a fixed clock, which is meant to be
    /// repeated, has none.
    operation: Option<String>,
    /// Reason that the user gives for the changes.
    reason: Option<String>,
    /// Moment at which the commands see the memory; `None`: now.
    past: Option<Moment>,
    /// Options, and the folder of the project, as long as it may have to be recorded.
    unrecorded: Option<(Global, PathBuf)>,
    _requests: Option<Requests>,
}

/// Number of requests to the server of a store, which is logged at the end.
struct Requests(Arc<AtomicU64>);

impl Drop for Requests {
    fn drop(&mut self) {
        let requests = self.0.load(Ordering::Relaxed);
        tracing::debug!(requests, "requests to the server of the store");
    }
}

impl Store {
    /// Opens the store that the global options name.
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        Self::for_project(project(global)?, global)
    }

    /// Opens the store for a project.
    pub(crate) fn for_project(project: Project, global: &Global) -> Result<Self, Failure> {
        let root = Root::from_options(global)?;
        if matches!(project, Project::Notebook) {
            root.local().inspect(|folder| warn_of_home(folder));
        }
        let folder = if let Project::Path(folder) = &project { Some(folder.clone()) } else { None };
        let options = Options { create: root.is_made(), project, ..options(global)? };
        let store = Self::at(&root, options, global)?;
        Ok(Self { unrecorded: folder.map(|folder| (global.clone(), folder)), ..store })
    }

    pub(crate) fn at(root: &Root, options: Options, global: &Global) -> Result<Self, Failure> {
        let trace = options.recording.clone();
        let mut requests = None;
        let memory = match root {
            Root::Remote(address) => {
                let remote = address.attach()?;
                requests = Some(Requests(remote.requests.clone()));
                Saddlebag::attach(remote, options)
            }
            root => Saddlebag::open(root.folder()?, options),
        };
        let memory = memory.map_err(|error| match error {
            HostError::Root(error) => root.failure(&error),
            error => error.into(),
        })?;
        let operation = global.now.is_none().then(saddlebag_host::new_operation);
        let reason = global.reason.clone();
        let now = global.now.unwrap_or_else(now);
        Ok(Self { memory, now, trace, operation, reason, past: None, unrecorded: None, _requests: requests })
    }

    /// Shows the commands from now on the memory as it was at a moment; `None`: as it is.
    pub(crate) fn look_back(&mut self, at: Option<Moment>) {
        self.past = at;
    }

    /// Returns the time that commands use.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn observe(&mut self, observer: impl Observer + Send + 'static) {
        self.memory.observe(observer);
    }

    /// Runs a command, and returns its reply in the command's own type.
    pub(crate) fn call<A: Answered>(&mut self, command: A, output: &mut Output) -> Result<ReplyTo<A>, Failure> {
        let reply = self.run(command, output)?;
        A::from_reply(reply).ok_or_else(|| Failure::wrong_reply(A::Request::NAME))
    }

    /// Runs a command of any kind.
    pub(crate) fn run(&mut self, command: impl Submit, output: &mut Output) -> Result<Reply, Failure> {
        set_command_done(false);
        let mut submission = command.submission();
        let origin = &mut submission.origin;
        origin.operation = origin.operation.take().or_else(|| self.operation.clone());
        origin.reason = origin.reason.take().or_else(|| self.reason.clone());
        origin.at = origin.at.take().or_else(|| self.past.clone());
        let may_change = submission.command.effect() != Effect::Reads;
        let reply = self.memory.run(self.now, submission);
        self.note_changes(may_change, &reply);
        self.warn_of_trace(output);
        let reply = reply?;
        set_command_done(true);
        if let Some((global, folder)) = self.unrecorded.take() {
            note_folder(&global, &folder);
        }
        Ok(reply)
    }

    /// Returns the memory itself, for callers that run several commands at once.
    #[cfg(feature = "server")]
    pub(crate) fn memory(&mut self) -> &mut Saddlebag {
        &mut self.memory
    }

    /// Writes facts into the section of a file.
    pub(crate) fn sync_agents_md(
        &mut self,
        folder: &mut LocalDir,
        path: &RelPath,
        request: &SyncAgentsMd,
        dry_run: bool,
        output: &mut Output,
    ) -> Result<SyncAgentsMdReply, Failure> {
        set_command_done(false);
        let reply = self.memory.sync_agents_md(self.now, folder, path, request, dry_run);
        self.note_changes(true, &reply);
        self.warn_of_trace(output);
        let reply = reply?;
        set_command_done(true);
        Ok(reply)
    }

    /// Returns the reason why the trace is incomplete, if it is.
    pub(crate) fn trace_failure(&self) -> Option<String> {
        self.trace.as_ref().and_then(trace::failure)
    }

    fn note_changes<T>(&self, may_change: bool, reply: &Result<T, HostError>) {
        // Of a command that the engine took with it, nobody knows what it did.
        let is_known = !matches!(reply, Err(HostError::Engine(_)));
        set_changes(may_change && is_known, self.memory.has_changed());
    }

    fn warn_of_trace(&self, output: &mut Output) {
        if let Some(failure) = self.trace_failure() {
            output.warning(&failure);
        }
    }
}

/// Warns if the notebook is the home folder or a folder above it. Every Markdown file of the user would then be
/// memory, and models could read it. The warning appears once per process, which may open the store again.
fn warn_of_home(root: &Path) {
    static SAID: std::sync::Once = std::sync::Once::new();

    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let (Some(home), Ok(root)) = (home, root.canonicalize()) else { return };
    if !home.starts_with(&root) {
        return;
    }
    let what = if home == root { "is your home folder" } else { "has your home folder in it" };
    SAID.call_once(|| {
        output::warn(&format!(
            "the notebook {what}: every Markdown file below it is memory that a model may read and change; name a folder \
             of notes with --root, or leave --notebook out"
        ));
    });
}

/// Opens the store, without an engine.
pub(crate) fn without_engine(global: &Global) -> Result<OpenStore, Failure> {
    opened(&Root::from_options(global)?, global)
}

/// Opens the store at a place, without an engine.
pub(crate) fn opened(root: &Root, global: &Global) -> Result<OpenStore, Failure> {
    match root {
        Root::Remote(address) => Ok(OpenStore::Remote(address.attach()?)),
        root => Ok(OpenStore::Folder(Box::new(folder(root, global)?))),
    }
}

/// Opens the folder of the store, without an engine.
pub(crate) fn disk(global: &Global) -> Result<LocalDir, Failure> {
    folder(&Root::from_options(global)?, global)
}

fn folder(root: &Root, global: &Global) -> Result<LocalDir, Failure> {
    let path = root.folder()?;
    let options = LocalDirOptions { durability: global.durability.into(), ..LocalDirOptions::default() };
    let opened = if root.is_made() { LocalDir::create(path, options) } else { LocalDir::open(path, options) };
    opened.map_err(|error| root.failure(&error))
}

/// Records the folder of a project that has memory. Without the record, the memory is found only by its name, so an
/// error is not reported.
fn note_folder(global: &Global, folder: &Path) {
    let noted = without_engine(global)
        .map_err(|failure| failure.message)
        .and_then(|mut store| Projects::new(&mut store).note(folder).map_err(|error| error.to_string()));
    if let Err(error) = noted {
        tracing::debug!(error, "the folder of the project is not recorded");
    }
}

/// Returns the options of the engine, the disk and the scope from the global options.
pub(crate) fn options(global: &Global) -> Result<Options, Failure> {
    Ok(Options {
        durability: global.durability.into(),
        absolute_paths: global.absolute,
        // A run with a fixed clock is meant to be repeated, so its keys must be the same.
        epoch: global.now.map(|now| now.seconds.unsigned_abs()),
        entries: Some(EntriesConfig {
            workspace: global.workspace.clone(),
            max_entries: global.max_entries,
            max_workspace_entries: global.max_entries,
            ..EntriesConfig::for_agent(global.agent.as_str())
        }),
        on_recovered: Some(output::recovered),
        trust: TrustConfig { provenance: global.provenance.unwrap_or_default(), secrets: global.secrets },
        long_term: global.long_term(),
        machine: Some(global.machine.clone().unwrap_or_else(saddlebag_host::machine_name)),
        map_bytes: global.map_bytes,
        recording: trace::recording(global)?,
        ..Options::new(engine(global)?)
    })
}

/// Returns the project whose memory is used.
///
/// # Errors
///
/// Fails if the path was typed and does not exist, because it would not belong to any project.
pub(crate) fn project(global: &Global) -> Result<Project, Failure> {
    if let Some(path) = global.project.as_deref().filter(|path| !global.notebook && !path.exists()) {
        let message = format!("the project `{}` does not exist", path.display());
        return Err(Failure::usage(message, "name a folder or a file in it, or use --notebook for no project"));
    }
    Ok(named_project(global))
}

/// Returns the project of a typed path, even if the path does not exist.
pub(crate) fn named_project(global: &Global) -> Project {
    if global.notebook {
        return Project::Notebook;
    }
    if global.user {
        return Project::Slug(USER_FOLDER.to_string());
    }
    match global.project.clone().map_or_else(std::env::current_dir, Ok) {
        Ok(path) => Project::Path(path),
        // The folder was removed while the program ran. zerostack calls such a project `default`.
        Err(_) => Project::Slug("default".to_string()),
    }
}
