//! [`Memory`]: the whole component as one value.

#![allow(clippy::large_enum_variant, reason = "commands and replies are made once, and moved as they are")]

use core::str::FromStr;

use atomic_refcell::AtomicRefCell;

use crate::agents_md::{AgentsMdCall, AgentsMdCommand, AgentsMdReply};
use crate::approval::{TrustCommand, TrustReply};
use crate::changes::{Call, Progress, Recorder, WrittenLogs};
use crate::context::{DEFAULT_MAP_BYTES, PromptCall, PromptCommand, PromptReply};
use crate::engine::{Limits, Scope};
use crate::entries::{self, Entries, EntriesCommand, EntriesConfig, EntriesReply, MAX_SCOPE_NAME_BYTES};
use crate::exchange::{ExchangeCall, ExchangeCommand, ExchangeReply};
use crate::history::{HistoryCommand, HistoryReply, Undo};
use crate::items::{self, FileListing, ItemsCall, ItemsCommand, ItemsReply, NewItem, Write};
use crate::journal::{JournalCall, JournalCommand, JournalReply, Search};
use crate::names::Stores;
use crate::notebook::{self, Notebook, NotebookCall, NotebookCommand, NotebookReply};
use crate::origin::{Moment, Origin, Submission};
use crate::request::{Effect, Family, Member, Request, SAMPLE_RUN, Visitor};
use crate::search::Corpus;
use crate::session::{SessionCall, SessionCommand, SessionReply};
use crate::store::{
    BackupPlace, Layout, LocalTime, LongTermScope, MAX_IDENTIFIER_BYTES, ProjectSlug, Timestamp, is_identifier,
};
use crate::tools::{ToolAnswer, ToolsCall, ToolsCommand, ToolsReply};
use crate::trust::{ForModel, HOST_SECRET_BYTES, HostSecret, SecretPolicy, TrustConfig, Writer, secrets_in};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{self as protocol, CommandId, Error, ErrorDetails, FsResult, ResultError, SubmitError};

/// Maximum length of [`Config::path_prefix`], and of each of [`Config::roots`], in bytes.
pub const MAX_PATH_PREFIX_BYTES: usize = 4096;

/// Maximum length of [`Config::version_scheme`] in bytes.
pub const MAX_VERSION_SCHEME_BYTES: usize = 64;

/// Configuration of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Number that differs from the number of every earlier opening of the same store. It is part of every context key.
    pub epoch: u64,
    /// Folder of the project under `projects/`; `None` makes the root the notebook.
    pub project: Option<String>,
    /// Prefix of every path in replies and messages; empty for paths relative to the root.
    pub path_prefix: String,
    /// Absolute paths of the root, each with a separator at its end. A name may begin with one of them, even if replies do
    /// not show it.
    pub roots: Vec<String>,
    /// Limits of the engine.
    pub limits: Limits,
    /// If set, keeps a copy of the index in the store, so that the next engine need not read every file.
    pub index_file: bool,
    /// Name of the host's version scheme, such as `local-dir/1`; empty if all hosts of this store use the same one.
    pub version_scheme: String,
    /// Scope of the entries; `None` refuses every command of the entries.
    pub entries: Option<EntriesConfig>,
    /// Policy for the text that the memory accepts.
    pub trust: TrustConfig,
    /// File that long-term memory is written to: the shared file, or the project's file.
    pub long_term: LongTermScope,
    /// Name of this machine in the history of changes: 1 to 64 ASCII letters, digits, `-` and `_`. `None`: changes are not
    /// recorded.
    pub machine: Option<String>,
    /// Key of 32 random bytes that the host keeps outside of the store. Digests of expunged text are made with it.
    pub secret: Option<HostSecret>,
    /// Place where the text that a change replaces is kept.
    pub backups: BackupPlace,
    /// Maximum size of the section that names what memory knows, in bytes; 0 leaves it out, `None` is
    /// [`DEFAULT_MAP_BYTES`].
    pub map_bytes: Option<u32>,
}

impl Config {
    /// Returns the configuration of a memory of the notebook with the default limits, which keeps a copy of the index
    /// in the store.
    pub fn new(epoch: u64) -> Self {
        Self { epoch, index_file: true, ..Self::default() }
    }
}

/// Reason why a memory cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The project is not a slug: ASCII letters, digits, `-` and `_`, at most 255 bytes.
    #[error("`{0}` is not a project slug (ascii letters, digits, `-` and `_`, at most 255 bytes)")]
    InvalidProject(String),
    /// The name of the agent or the workspace does not have 1 to 255 bytes, or contains a secret. The value is
    /// the name, or the rule that matches the secret.
    #[error("`{0}` is not a valid name of an agent or a workspace (1 to {MAX_SCOPE_NAME_BYTES} bytes)")]
    InvalidScope(String),
    /// The path prefix or a path of the root is too long or has control characters.
    #[error("path prefix refused (at most {MAX_PATH_PREFIX_BYTES} bytes, no control characters)")]
    InvalidPathPrefix,
    /// The version scheme is too long, or has characters other than visible ASCII.
    #[error(
        "`{0}` is not the name of a version scheme (1 to {MAX_VERSION_SCHEME_BYTES} visible ascii characters, or empty)"
    )]
    InvalidVersionScheme(String),
    /// The name of the machine is not 1 to 64 ASCII letters, digits, `-` and `_`. The value is the name.
    #[error("`{0}` is not the name of a machine (1 to {MAX_IDENTIFIER_BYTES} ascii letters, digits, `-` and `_`)")]
    InvalidMachine(String),
    /// The secret is not 32 bytes long. The value is its length.
    #[error("the secret has {0} bytes, not {HOST_SECRET_BYTES}")]
    InvalidSecret(u32),
    /// A limit is zero or too small. The value names it.
    #[error("limit {0} is too small")]
    LimitTooSmall(String),
}

/// A command in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// Name: [`Request::NAME`].
    pub name: &'static str,
    /// Family: the name of its interface in `wit/`.
    pub family: &'static str,
    /// Effect: [`Request::EFFECT`].
    pub effect: Effect,
    /// Samples: [`Request::samples`].
    pub samples: fn(&str) -> Vec<Submission<Command>>,
}

impl CommandInfo {
    /// Returns the catalogue's record of one command.
    pub(crate) fn of<R: Request + Into<Command>>(family: &'static str) -> Self {
        let samples: fn(&str) -> Vec<Submission<Command>> = |name| {
            let origin = if R::NEEDS_RUN { Origin::from_run(SAMPLE_RUN) } else { Origin::default() };
            R::samples(name).into_iter().map(|sample| origin.clone().with(sample.into())).collect()
        };
        Self { name: R::NAME, family, effect: R::EFFECT, samples }
    }
}

/// Generates [`Command`] and [`Reply`] from the families.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident($command:ident => $reply:ident),)*) => {
        /// A command of any family.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command {
            $($(#[$doc])* $family($command),)*
        }

        /// Reply of a [`Command`], in the case of the same name.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Reply {
            $($(#[$doc])* $family($reply),)*
        }

        impl Command {
            /// Returns the name of the command: [`Request::NAME`].
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$family(command) => command.name(),)*
                }
            }

            /// Returns the most that the command may do to files: [`Request::EFFECT`], or nothing for what is only shown.
            pub fn effect(&self) -> Effect {
                match self {
                    Self::Session(command) if command.is_dry_run() => Effect::Reads,
                    $(Self::$family(command) => command.effect(),)*
                }
            }
        }

        /// Returns every command, by family.
        pub fn catalogue() -> Vec<CommandInfo> {
            let mut commands = Vec::new();
            $($command::visit(&mut commands);)*
            commands
        }

        $(
            impl From<$command> for Command {
                fn from(command: $command) -> Self {
                    Self::$family(command)
                }
            }

            impl Part for $command {
                fn pick(reply: Reply) -> Result<$reply, Reply> {
                    match reply {
                        Reply::$family(reply) => Ok(reply),
                        other => Err(other),
                    }
                }
            }
        )*
    };
}

families! {
    /// Journal.
    Journal(JournalCommand => JournalReply),
    /// Text of a prompt.
    Prompt(PromptCommand => PromptReply),
    /// Managed section of AGENTS.md.
    AgentsMd(AgentsMdCommand => AgentsMdReply),
    /// Notebook.
    Notebook(NotebookCommand => NotebookReply),
    /// Entries.
    Entries(EntriesCommand => EntriesReply),
    /// Items.
    Items(ItemsCommand => ItemsReply),
    /// Tools.
    Tools(ToolsCommand => ToolsReply),
    /// History of the changes.
    History(HistoryCommand => HistoryReply),
    /// Approval by a person.
    Trust(TrustCommand => TrustReply),
    /// Session of an agent.
    Session(SessionCommand => SessionReply),
    /// Exchange with other agents.
    Exchange(ExchangeCommand => ExchangeReply),
}

/// A family whose commands a memory takes.
pub trait Part: Family + Into<Command> {
    /// Returns the reply of the family.
    ///
    /// # Errors
    ///
    /// The reply itself, if it belongs to another family.
    #[allow(clippy::result_large_err, reason = "it is the reply, which goes back where it was")]
    fn pick(reply: Reply) -> Result<Self::Reply, Reply>;
}

impl<F: Part> Visitor<F> for Vec<CommandInfo> {
    fn visit<R: Member<Family = F>>(&mut self) {
        self.push(CommandInfo::of::<R>(F::NAME));
    }
}

impl<R: Member<Family: Part>> From<R> for Command {
    fn from(request: R) -> Self {
        R::Family::from(request).into()
    }
}

/// A command that a memory takes, optionally with its own origin.
pub trait Submit {
    /// Returns the command with its origin.
    fn submission(self) -> Submission<Command>;
}

impl Command {
    /// Returns the name that the history has for the command: the word of the program that stores, brings in or makes again.
    fn recorded_name(&self) -> &'static str {
        match self {
            Self::Exchange(ExchangeCommand::ImportItems(_)) => "import",
            Self::History(HistoryCommand::Undo(Undo { redo: true, .. })) => "redo",
            Self::Items(ItemsCommand::Write(Write { item: NewItem::Entry(_) | NewItem::Note(_) })) => "remember",
            command => command.name(),
        }
    }
}

impl<C: Into<Command>> Submit for C {
    fn submission(self) -> Submission<Command> {
        Origin::default().with(self.into())
    }
}

impl<C: Into<Command>> Submit for Submission<C> {
    fn submission(self) -> Submission<Command> {
        self.origin.with(self.command.into())
    }
}

/// A command whose reply can be told from the replies of other commands.
pub trait Answered: Submit {
    /// Type of the command.
    type Request: Request;

    /// Returns the reply of this command; `None` if it is the reply of another.
    fn from_reply(reply: Reply) -> Option<ReplyTo<Self>>;
}

/// Reply of one command.
pub type ReplyTo<A> = <<A as Answered>::Request as Request>::Reply;

impl<R: Member<Family: Part>> Answered for R {
    type Request = R;

    fn from_reply(reply: Reply) -> Option<R::Reply> {
        R::Family::pick(reply).ok().and_then(R::from_family)
    }
}

impl<R: Member<Family: Part>> Answered for Submission<R> {
    type Request = R;

    fn from_reply(reply: Reply) -> Option<R::Reply> {
        <R as Answered>::from_reply(reply)
    }
}

/// Everything that one call caused.
pub type Step = protocol::Step<ToolAnswer>;

/// A command that finished. A [`CallTool`](crate::tools::CallTool) has its answer here.
pub type Finished = protocol::Finished<ToolAnswer>;

/// One scope of one store. It holds the state of commands in flight and a cache for searching; the truth is on disk.
///
/// Every call returns a step: requests and finished commands. The host performs the requests of a step, in any order, and
/// passes each result to [`Memory::handle_memory_result`], until the command is among the finished ones of a step. Then it takes
/// the reply.
///
/// ```
/// use saddlebag::journal::{Target, WriteFile, WriteMode};
/// use saddlebag::protocol::{CommandId, FsOutcome, FsResult, Version, ReadOutcome, AppendOutcome};
/// use saddlebag::store::Timestamp;
/// use saddlebag::{Config, Memory, Reply};
///
/// let mut memory = Memory::open(Config { epoch: 3, ..Config::default() })?;
/// let now = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };
/// let command = WriteFile {
///    target: Target::Scratchpad,
///    mode: WriteMode::Append,
///    content: "- [ ] water the plants".into(),
///    truncate: false,
/// };
/// let step = memory.submit(CommandId(17), now, command)?;
/// // No value was rejected for good.
/// let outcome = Ok(FsOutcome::Read(ReadOutcome::Absent));
/// let step = memory.handle_memory_result(FsResult { key: step.requests[0].key.to_string(), outcome })?;
/// let request = &step.requests[0];
/// assert_eq!(request.key.as_str(), "write/3.17.2");
///
/// let outcome = Ok(FsOutcome::Append(AppendOutcome::Written(Version("1".into()))));
/// let step = memory.handle_memory_result(FsResult { key: request.key.to_string(), outcome })?;
/// assert_eq!(step.finished[0].error, None);
/// assert!(matches!(memory.take(CommandId(17))?, Reply::Items(_)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Memory {
    engine: protocol::Engine<Reply>,
    epoch: u64,
    /// Name of this machine in the history; `None`: changes are not recorded.
    machine: Option<String>,
    secret: Option<HostSecret>,
    scope: Arc<Scope>,
    corpus: Arc<AtomicRefCell<Corpus>>,
    notebook: Arc<Notebook>,
    entries: Arc<Entries>,
    listing: Arc<AtomicRefCell<Option<FileListing>>>,
    written: Arc<AtomicRefCell<WrittenLogs>>,
    /// State of the commands that see an earlier time, for the last such time.
    past: Option<(Moment, Shared)>,
}

impl Memory {
    /// Opens a memory. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// A field of the configuration is invalid.
    pub fn open(config: Config) -> Result<Self, ConfigError> {
        let Config {
            epoch,
            project,
            path_prefix,
            roots,
            limits,
            index_file,
            version_scheme,
            entries,
            trust,
            long_term,
            machine,
            secret,
            backups,
            map_bytes,
        } = config;
        let map_bytes = map_bytes.unwrap_or(DEFAULT_MAP_BYTES);
        let slug = project.map(|text| ProjectSlug::from_str(&text)).transpose().map_err(ConfigError::InvalidProject)?;
        let is_refused = |prefix: &String| prefix.len() > MAX_PATH_PREFIX_BYTES || prefix.chars().any(char::is_control);
        if is_refused(&path_prefix) || roots.iter().any(is_refused) {
            return Err(ConfigError::InvalidPathPrefix);
        }
        if version_scheme.len() > MAX_VERSION_SCHEME_BYTES
            || !version_scheme.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(ConfigError::InvalidVersionScheme(version_scheme));
        }
        if let Some(secret) = secret.as_ref().filter(|secret| !secret.is_valid()) {
            return Err(ConfigError::InvalidSecret(u32::try_from(secret.size()).unwrap_or(u32::MAX)));
        }
        if let Some(machine) = machine.as_ref().filter(|machine| !is_identifier(machine)) {
            return Err(ConfigError::InvalidMachine(machine.clone()));
        }
        check(&limits)?;
        if let Some(name) = entries.as_ref().and_then(refused_name) {
            return Err(ConfigError::InvalidScope(name.into()));
        }
        if let Some(rule) = entries.as_ref().and_then(|entries| secret_in_name(entries, trust.secrets)) {
            return Err(ConfigError::InvalidScope(format!("[secret: {rule}]")));
        }
        let agent = entries.as_ref().map(|entries| entries.agent.clone()).unwrap_or_default();
        let entries = Entries::new(entries).map_err(|_| ConfigError::InvalidScope(agent))?;
        let refused = |_| ConfigError::InvalidProject(slug.as_ref().map(ToString::to_string).unwrap_or_default());
        let layout = Layout::new(slug.as_ref()).map_err(refused)?.with_long_term(long_term);
        let corpus = Arc::new(AtomicRefCell::new(Corpus::new(&layout)));
        Ok(Self {
            engine: limits.engine(epoch),
            epoch,
            machine,
            secret,
            scope: Arc::new(Scope {
                layout,
                path_prefix,
                roots,
                limits,
                index_file,
                version_scheme,
                trust,
                backups,
                map_bytes,
            }),
            notebook: Arc::new(Notebook::new(corpus.clone())),
            corpus,
            entries: Arc::new(entries),
            listing: Arc::default(),
            written: Arc::default(),
            past: None,
        })
    }

    /// Starts a command. `id` must be larger than all earlier ones; `now` is the only clock.
    ///
    /// # Errors
    ///
    /// The reason why the call is refused. Nothing has changed then.
    pub fn submit(&mut self, id: CommandId, now: Timestamp, command: impl Submit) -> Result<Step, SubmitError> {
        let now = now.local().ok_or(SubmitError::InvalidTime)?;
        let Submission { origin, command } = command.submission();
        let scope = self.scope.clone();
        let shared = match &origin.at {
            None => Shared {
                corpus: self.corpus.clone(),
                notebook: self.notebook.clone(),
                entries: self.entries.clone(),
                listing: self.listing.clone(),
            },
            Some(at) => self.shared_at(at),
        };
        let name = command.name();
        let recorded = command.recorded_name();
        let recorder = self.machine.clone().map(|machine| Recorder {
            machine,
            agent: self.entries.agent().ok(),
            command: recorded,
            writer: None,
            reason: origin.reason.clone(),
            seed: [self.epoch, id.0],
            secret: self.secret.clone(),
            written: self.written.clone(),
            state: AtomicRefCell::new(Progress {
                is_given: origin.operation.is_some(),
                operation: origin.operation.clone(),
                ..Progress::default()
            }),
        });
        let step = self.engine.start(id, name, |fs| run(fs, scope, now, shared, recorder, origin, command))?;
        Ok(self.with_answers(step))
    }

    /// Returns the state of the commands that see a moment. What is known of the files of today is of no use to them.
    fn shared_at(&mut self, at: &Moment) -> Shared {
        if let Some((_, shared)) = self.past.as_ref().filter(|(known, _)| known == at) {
            return shared.clone();
        }
        let corpus = Arc::new(AtomicRefCell::new(Corpus::new(&self.scope.layout)));
        let notebook = Arc::new(Notebook::new(corpus.clone()));
        let shared = Shared { corpus, notebook, entries: Arc::new(self.entries.unread()), listing: Arc::default() };
        self.past = Some((at.clone(), shared.clone()));
        shared
    }

    /// Accepts the result of a request.
    ///
    /// # Errors
    ///
    /// The reason why the call is refused. Nothing has changed then.
    pub fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, ResultError> {
        let step = self.engine.handle_result(result)?;
        Ok(self.with_answers(step))
    }

    /// Takes the reply of a finished command, once. Until then the command counts towards [`Limits::max_commands`]. A
    /// [`CallTool`](crate::tools::CallTool) has no reply to take: a step has its answer.
    ///
    /// # Errors
    ///
    /// The command is in flight, it failed, or its reply was taken before.
    pub fn take(&mut self, id: CommandId) -> Result<Reply, Error> {
        self.engine.take(id, Ok)
    }

    /// Takes the reply of a command, if it belongs to a family.
    #[cfg(all(target_arch = "wasm32", not(any(feature = "json", feature = "library"))))]
    pub(crate) fn take_of<P: Part>(&mut self, id: CommandId) -> Result<P::Reply, Error> {
        self.engine.take(id, P::pick)
    }

    /// Cancels a command: it finishes as cancelled, and a reply that was not taken is dropped. The host must still
    /// pass a result for each of its requests; until then the request counts towards [`Limits::max_requests`].
    pub fn cancel(&mut self, id: CommandId) -> Step {
        let step = self.engine.cancel(id);
        self.with_answers(step)
    }

    /// Adds the answers of tools, and makes errors harmless.
    fn with_answers(&mut self, step: protocol::Step) -> Step {
        let finished = step.finished.into_iter().map(|finished| {
            let protocol::Finished { id, changed, error, .. } = finished;
            let answer = self.engine.take(id, ToolsCommand::pick).ok().map(|ToolsReply::CallTool(answer)| answer);
            Finished { id, changed, error: error.map(harmless), answer }
        });
        Step { finished: finished.collect(), requests: step.requests }
    }
}

/// Escapes stored names and the host's words in an error, because a model may read them. The error is said here, so that
/// both engines give the same value.
fn harmless(error: Error) -> Error {
    let [message, help] = [&error.message, &error.help].map(|text| ForModel::escaped(text).into_string());
    ErrorDetails { code: error.code, message, help }.into()
}

/// State that the commands of one memory share.
#[derive(Clone)]
struct Shared {
    corpus: Arc<AtomicRefCell<Corpus>>,
    notebook: Arc<Notebook>,
    entries: Arc<Entries>,
    /// Listing of files whose next page may be asked for.
    listing: Arc<AtomicRefCell<Option<FileListing>>>,
}

/// Notes at the end of a command, cancelled or not, if it has changed a file that a search may have read before.
struct OwnChanges<'a> {
    fs: protocol::Fs,
    corpus: &'a AtomicRefCell<Corpus>,
}

impl Drop for OwnChanges<'_> {
    fn drop(&mut self) {
        if self.fs.has_changed() {
            self.corpus.borrow_mut().expect_own_changes();
        }
    }
}

async fn run(
    fs: protocol::Fs,
    scope: Arc<Scope>,
    now: LocalTime,
    shared: Shared,
    recorder: Option<Recorder>,
    origin: Origin,
    command: Command,
) -> Result<Reply, Error> {
    let Shared { corpus, notebook, entries, listing } = &shared;
    let _noted = OwnChanges { fs: fs.clone(), corpus };
    origin.check()?;
    entries::check_origin(entries, &origin)?;
    let Origin { agent, client, session, tool, .. } = origin.clone();
    let writer = Writer { agent, client, session, tool };
    let mut call = Call::new(fs, scope, now, origin.provenance, writer, recorder.map(Arc::new))?;
    if let Some(at) = &origin.at {
        call = look_back(call, entries, command.effect(), at).await?;
    }
    let call = &call;
    if let Some(reason) = &origin.reason {
        call.screen.name("the reason", reason)?;
    }
    let stores = Stores { call, notebook, entries };
    Ok(match command {
        Command::Journal(command) => {
            if let JournalCommand::Search(Search { all_files: true, .. }) = &command {
                notebook::adopt_config(call, notebook).await?;
            }
            Reply::Journal(command.run(&JournalCall { call, corpus }).await?)
        }
        Command::Prompt(command) => {
            let memories = &|turn| notebook.memories(turn);
            let run = origin.run.as_deref();
            Reply::Prompt(command.run(&PromptCall { call, entries, run, memories }).await?)
        }
        Command::AgentsMd(command) => {
            Reply::AgentsMd(command.run(&AgentsMdCall { call, entries }).await.map_err(entries::unavailable)?)
        }
        Command::Notebook(command) => Reply::Notebook(command.run(&NotebookCall { call, notebook }).await?),
        Command::Entries(command) => {
            Reply::Entries(entries::run_any(call, entries, &origin, command).await.map_err(entries::unavailable)?)
        }
        Command::Items(command) => {
            let origin = &origin;
            Reply::Items(items::run(&ItemsCall { stores, origin, listing }, command).await?)
        }
        Command::Tools(command) => {
            let origin = &origin;
            Reply::Tools(command.run(&ToolsCall { call, origin, corpus, notebook, entries, listing }).await?)
        }
        Command::Trust(command) => Reply::Trust(command.run(&stores).await?),
        Command::History(command) => Reply::History(command.run(&stores).await?),
        Command::Session(command) => {
            let origin = &origin;
            Reply::Session(command.run(&SessionCall { call, notebook, entries, origin }).await?)
        }
        Command::Exchange(command) => Reply::Exchange(command.run(&ExchangeCall { stores, origin: &origin }).await?),
    })
}

/// Returns the call of a command that sees the files as they were at a moment.
async fn look_back(call: Call, entries: &Entries, effect: Effect, at: &Moment) -> Result<Call, Error> {
    if effect != Effect::Reads {
        return Err(Error::invalid_argument("the past cannot be changed", "leave the time out"));
    }
    let time_ns = crate::history::look_back(&call, entries, at).await?;
    let seconds = time_ns.div_euclid(1_000_000_000);
    let then = Timestamp { seconds, nanoseconds: 0, ..call.now.timestamp() }.local();
    let then = then.ok_or_else(|| Error::invalid_argument("the time is out of range", "give a time in the past"))?;
    Ok(call.at(then))
}

/// Returns an invalid name of a scope.
fn refused_name(entries: &EntriesConfig) -> Option<&str> {
    let names = core::iter::once(&entries.agent).chain(&entries.workspace);
    names.map(String::as_str).find(|name| name.is_empty() || name.len() > MAX_SCOPE_NAME_BYTES)
}

/// Returns the rule that matches a secret in the name of a scope. The name is in the path of every entry.
fn secret_in_name(entries: &EntriesConfig, policy: SecretPolicy) -> Option<&'static str> {
    let mut names = core::iter::once(&entries.agent).chain(&entries.workspace);
    let mut found = names.find_map(|name| secrets_in(name).pop());
    found.take().filter(|_| policy != SecretPolicy::Allow).map(|secret| secret.rule)
}

fn check(limits: &Limits) -> Result<(), ConfigError> {
    let smallest = [
        ("max-file-bytes", limits.max_file_bytes, 4096),
        ("max-list-entries", limits.max_list_entries, 1),
        ("max-requests", limits.max_requests, 1),
        ("max-commands", limits.max_commands, 1),
    ];
    match smallest.into_iter().find(|(_, given, least)| given < least) {
        Some((name, given, least)) => Err(ConfigError::LimitTooSmall(format!("{name} ({given}, at least {least})"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_the_length_of_a_key_and_is_shown_nowhere() {
        let config = |bytes: usize| Config { secret: Some(vec![0x5a; bytes].into()), ..Config::default() };
        assert!(Memory::open(config(32)).is_ok());
        for bytes in [0, 31, 33] {
            let refused = Memory::open(config(bytes)).err();
            assert_eq!(refused, Some(ConfigError::InvalidSecret(u32::try_from(bytes).expect("small"))));
        }
        let shown = format!("{:?}", config(32));
        assert!(shown.contains("HostSecret(32 bytes)") && !shown.contains("90"), "{shown}");
    }

    #[test]
    fn a_memory_can_move_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<Memory>();
    }
}
