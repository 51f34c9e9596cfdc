//! The component in wasmtime: [`ComponentRuntime`] compiles it once, [`ComponentEngine`] is one instance.

#[cfg(feature = "compiler")]
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use saddlebag::document::normalize_line;
use saddlebag::protocol::{CommandId, Error, FsResult};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, Tool, ToolSet, ToolsCommand};
use saddlebag::wit_convert::{PACKAGE, WitConvert};
use saddlebag::{Command, Config, Reply, Step, Submission};
use wasmtime::component::{Linker, ResourceAny};
use wasmtime::{ResourceLimiter, Store};

use crate::code;
#[cfg(feature = "compiler")]
use crate::code::CodeCache;
use crate::engine::{Engine, EngineError};
#[cfg(feature = "compiler")]
use crate::private::PrivateError;

use bindings::exports::saddlebag::memory::{
    agents_md, config, engine, entries, exchange, fs, history, items, journal, notebook, prompt, session, tools, trust,
    types,
};

saddlebag::wit_contract!(wit_records wit_variants open);
saddlebag::wit_error!(open: types::Error);

#[allow(missing_docs, unreachable_pub)]
mod bindings {
    wasmtime::component::bindgen!({ path: "../wit", world: "saddlebag" });
}

/// Period of the clock for deadlines.
const TICK: Duration = Duration::from_millis(50);

/// Maximum number of table entries, more than any build of the component needs.
const MAX_TABLE_ENTRIES: usize = 100_000;

/// Component to run, and its limits.
#[derive(Clone)]
#[non_exhaustive]
pub struct ComponentOptions {
    /// Code of the component.
    pub code: ComponentCode,
    /// Maximum memory of an instance in bytes.
    pub max_memory_bytes: usize,
    /// Maximum duration of one call.
    pub deadline: Duration,
    /// Maximum size in bytes of what one call passes to the host.
    pub max_hostcall_bytes: usize,
}

/// Code of a component.
#[derive(Clone)]
#[non_exhaustive]
pub enum ComponentCode {
    /// Compiled when it runs for the first time.
    #[cfg(feature = "compiler")]
    Compile(Compile),
    /// Compiled when this program was built, and part of it: the code of the crate `saddlebag-component`.
    #[cfg(feature = "embedded")]
    Embedded,
}

/// Component to compile, and the place of its compiled code.
#[cfg(feature = "compiler")]
#[derive(Clone)]
#[non_exhaustive]
pub struct Compile {
    /// Bytes of the component, for example from the crate `saddlebag-component`.
    pub component: Cow<'static, [u8]>,
    /// SHA-256 of [`component`](Self::component) in hexadecimal, if known: hashing the bytes takes longer than loading
    /// compiled code. Compiled code is stored under this name, so a wrong value loads the code of another component
    /// that this user compiled.
    pub sha256: Option<&'static str>,
    /// Place of compiled code, so that only the first run compiles.
    pub cache: CodeCache,
    /// Called before the component is compiled, which takes seconds. Not called if compiled code is loaded.
    pub before_compiling: Option<fn()>,
    /// Called if others can change the cache or a folder above it, so that it is not used and every run compiles.
    pub on_cache_refused: Option<fn(&PrivateError)>,
}

#[cfg(feature = "compiler")]
impl Compile {
    /// Compiles this component, with the user's cache.
    pub fn new(component: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            component: component.into(),
            sha256: None,
            cache: CodeCache::User,
            before_compiling: None,
            on_cache_refused: None,
        }
    }
}

impl ComponentOptions {
    /// Creates options for this code: 1 GiB of memory, 30 seconds and 256 MiB per call.
    pub fn new(code: ComponentCode) -> Self {
        Self { code, max_memory_bytes: 1 << 30, deadline: Duration::from_secs(30), max_hostcall_bytes: 256 << 20 }
    }
}

#[cfg(feature = "compiler")]
impl From<Compile> for ComponentOptions {
    fn from(compile: Compile) -> Self {
        Self::new(ComponentCode::Compile(compile))
    }
}

/// The compiled component. It is cheap to clone; its instances share only code.
#[derive(Clone)]
pub struct ComponentRuntime {
    pre: bindings::SaddlebagPre<MemoryMeter>,
    options: Arc<ComponentOptions>,
}

impl ComponentRuntime {
    /// Compiles the component, or loads its compiled code.
    ///
    /// # Errors
    ///
    /// The bytes are not a component, or the component has imports or exports another world. Compiled code may also be
    /// for another version of wasmtime, or for a processor with more features than this one.
    pub fn new(options: ComponentOptions) -> Result<Self, EngineError> {
        let failed =
            |what: &str, error: wasmtime::Error| EngineError::Component(format!("{what}: {}", one_line(&error)));
        let engine =
            wasmtime::Engine::new(&code::config()).map_err(|error| failed("wasmtime cannot run here", error))?;
        let component = match &options.code {
            #[cfg(feature = "compiler")]
            ComponentCode::Compile(compile) => {
                compiled(&engine, compile).map_err(|error| failed("not a component", error))?
            }
            #[cfg(feature = "embedded")]
            ComponentCode::Embedded => code::load_embedded(&engine)
                .map_err(|error| failed("the compiled component of this program cannot run on this machine", error))?,
        };
        // The linker is empty, so a component with imports is refused here.
        let pre = Linker::new(&engine)
            .instantiate_pre(&component)
            .map_err(|error| failed("the component has imports, which a memory must not have", error))?;
        let pre = bindings::SaddlebagPre::new(pre).map_err(|error| match contract_of(&component, &engine) {
            Some(other) if other != PACKAGE => {
                EngineError::Component(format!("the component has the contract {other}, and this host needs {PACKAGE}"))
            }
            _ => failed("the component exports another world", error),
        })?;
        start_clock(&engine);
        Ok(Self { pre, options: Arc::new(options) })
    }

    /// Returns the compiled component, for a host that instantiates it itself.
    pub fn component(&self) -> &wasmtime::component::Component {
        self.pre.instance_pre().component()
    }

    /// Creates an instance for one scope.
    ///
    /// # Errors
    ///
    /// The component refuses the configuration, or traps.
    pub fn open(&self, config: Config) -> Result<ComponentEngine, EngineError> {
        let mut store = Store::new(self.pre.engine(), MemoryMeter { max: self.options.max_memory_bytes, used: 0 });
        store.limiter(|meter| meter);
        store.set_hostcall_fuel(self.options.max_hostcall_bytes);
        let ticks = self.options.deadline.as_nanos().div_ceil(TICK.as_nanos());
        let ticks = u64::try_from(ticks).unwrap_or(u64::MAX).max(1);
        store.set_epoch_deadline(ticks);
        let instance = self.pre.instantiate(&mut store).map_err(|error| trapped(&error))?;
        let config = outgoing(config)?;
        let opened = instance.saddlebag_memory_engine().memory().call_open(&mut store, &config);
        match opened.map_err(|error| trapped(&error))? {
            Ok(memory) => Ok(ComponentEngine {
                state: Ok(Instance { store, instance, memory }),
                ticks,
                families: BTreeMap::new(),
            }),
            Err(refused) => Err(EngineError::Config(incoming(refused)?)),
        }
    }
}

/// Returns the package of the contract that a component has, such as `saddlebag:memory@0.3.0`.
fn contract_of(component: &wasmtime::component::Component, engine: &wasmtime::Engine) -> Option<String> {
    let component = component.component_type();
    let mut names = component.exports(engine).map(|(name, _)| name);
    names.find_map(|name| {
        let (package, interface) = name.split_once('/')?;
        let version = interface.strip_prefix("engine@")?;
        Some(format!("{package}@{version}"))
    })
}

#[cfg(feature = "compiler")]
fn compiled(engine: &wasmtime::Engine, compile: &Compile) -> wasmtime::Result<wasmtime::component::Component> {
    let before_compiling = || {
        if let Some(call) = compile.before_compiling {
            call();
        }
    };
    let on_refused = |error: &PrivateError| {
        if let Some(call) = compile.on_cache_refused {
            call(error);
        }
    };
    compile.cache.compile(engine, &compile.component, compile.sha256, before_compiling, on_refused)
}

/// One instance of the component.
///
/// After a trap, the instance is gone, with the commands in flight, and every further call returns this error. Files
/// are whole, because every operation was performed completely or not at all.
pub struct ComponentEngine {
    state: Result<Instance, String>,
    ticks: u64,
    /// Family of each command in flight, and of each finished command whose reply was not taken yet.
    families: BTreeMap<CommandId, Family>,
}

struct Instance {
    store: Store<MemoryMeter>,
    instance: bindings::Saddlebag,
    memory: ResourceAny,
}

/// Bounds and measures the memory of an instance.
struct MemoryMeter {
    max: usize,
    used: usize,
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let used = self.used.saturating_sub(current).saturating_add(desired);
        let allowed = used <= self.max;
        if allowed {
            self.used = used;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ENTRIES)
    }
}

impl ComponentEngine {
    /// Compiles the component and creates one instance of it. To create several, see [`ComponentRuntime`].
    ///
    /// # Errors
    ///
    /// Those of [`ComponentRuntime::new`] and [`ComponentRuntime::open`].
    pub fn open(config: Config, options: ComponentOptions) -> Result<Self, EngineError> {
        ComponentRuntime::new(options)?.open(config)
    }

    /// Returns the current memory of the instance in bytes; 0 after a trap.
    pub fn memory_bytes(&self) -> u64 {
        self.state.as_ref().map_or(0, |instance| instance.store.data().used as u64)
    }

    /// Calls into the component under a new deadline. A trap ends the instance.
    fn call<T>(&mut self, call: impl FnOnce(&mut Instance) -> wasmtime::Result<T>) -> Result<T, EngineError> {
        let instance = self.state.as_mut().map_err(|reason| EngineError::Trapped(reason.clone()))?;
        instance.store.set_epoch_deadline(self.ticks);
        call(instance).map_err(|error| {
            let error = trapped(&error);
            self.state = Err(error.to_string());
            error
        })
    }
}

impl ComponentEngine {
    /// Drops the families of failed commands, which have no reply.
    fn forget(&mut self, step: Step) -> Step {
        for finished in step.finished.iter().filter(|finished| finished.error.is_some()) {
            self.families.remove(&finished.id);
        }
        step
    }
}

/// Generates [`Family`], and its calls into the interfaces.
macro_rules! families {
    ($($family:ident in $module:ident by $guest:ident: $command:ident,)*) => {
        /// Interface to which a command is submitted.
        #[derive(Clone, Copy)]
        enum Family {
            $($family,)*
        }

        impl Family {
            /// Returns the interface of the command, and the command as a resource of the component.
            fn prepare(engine: &mut ComponentEngine, command: Command) -> Result<(Self, ResourceAny), EngineError> {
                match command {
                    $(Command::$family(command) => {
                        let command: $module::$command = outgoing(command)?;
                        let prepared = engine.call(|Instance { store, instance, .. }| {
                            instance.$guest().call_prepare(store, &command)
                        })?;
                        Ok((Self::$family, prepared))
                    })*
                    _ => Err(EngineError::Component("the contract does not have this command".to_string())),
                }
            }

            fn take(
                self,
                engine: &mut ComponentEngine,
                id: CommandId,
            ) -> Result<Result<Reply, Error>, EngineError> {
                match self {
                    $(Self::$family => {
                        let taken = engine.call(|Instance { store, instance, memory }| {
                            instance.$guest().call_take(store, *memory, id.0)
                        })?;
                        Ok(match taken {
                            Ok(reply) => Ok(Reply::$family(incoming(reply)?)),
                            Err(error) => Err(incoming(error)?),
                        })
                    })*
                }
            }
        }
    };
}

families! {
    Journal in journal by saddlebag_memory_journal: JournalCommand,
    Prompt in prompt by saddlebag_memory_prompt: PromptCommand,
    AgentsMd in agents_md by saddlebag_memory_agents_md: AgentsMdCommand,
    Notebook in notebook by saddlebag_memory_notebook: NotebookCommand,
    Entries in entries by saddlebag_memory_entries: EntriesCommand,
    Items in items by saddlebag_memory_items: ItemsCommand,
    History in history by saddlebag_memory_history: HistoryCommand,
    Trust in trust by saddlebag_memory_trust: TrustCommand,
    Session in session by saddlebag_memory_session: SessionCommand,
    Exchange in exchange by saddlebag_memory_exchange: ExchangeCommand,
}

impl Engine for ComponentEngine {
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError> {
        let Submission { origin, command } = submission;
        let (now, origin): (_, types::Origin) = (outgoing(now)?, outgoing(origin)?);
        let (step, family) = match command {
            Command::Tools(ToolsCommand::CallTool(CallTool { tool, input, options })) => {
                let options: tools::ToolOptions = outgoing(options)?;
                let step = self.call(|Instance { store, instance, memory }| {
                    let guest = instance.saddlebag_memory_tools();
                    guest.call_call(store, *memory, id.0, now, &origin, &tool, &input, Some(&options))
                })?;
                (step, None)
            }
            command => {
                let (family, command) = Family::prepare(self, command)?;
                let step = self.call(|Instance { store, instance, memory }| {
                    let guest = instance.saddlebag_memory_engine();
                    guest.memory().call_submit(store, *memory, id.0, now, &origin, command)
                })?;
                (step, Some(family))
            }
        };
        let step = step
            .map_err(|error| incoming(error).map_or_else(|failure| failure, EngineError::Submit))
            .and_then(incoming)?;
        if let Some(family) = family {
            self.families.insert(id, family);
        }
        Ok(self.forget(step))
    }

    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError> {
        // Without a family nothing was submitted, and the answer of every family is the same.
        let family = self.families.get(&id).copied().unwrap_or(Family::Journal);
        let taken = family.take(self, id)?;
        if taken.is_ok() {
            self.families.remove(&id);
        }
        Ok(taken)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        let result: fs::Reply = outgoing(result)?;
        let step = self.call(|Instance { store, instance, memory }| {
            let guest = instance.saddlebag_memory_engine();
            guest.memory().call_handle_memory_result(store, *memory, &result)
        })?;
        let step = step
            .map_err(|error| incoming(error).map_or_else(|failure| failure, EngineError::Result))
            .and_then(incoming)?;
        Ok(self.forget(step))
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        let cancelled = self.call(|Instance { store, instance, memory }| {
            instance.saddlebag_memory_engine().memory().call_cancel(store, *memory, id.0)
        })?;
        self.families.remove(&id);
        Ok(Step { finished: cancelled.map(incoming).transpose()?.into_iter().collect(), ..Step::default() })
    }

    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        let sets: Vec<tools::ToolSet> = outgoing(sets.to_vec())?;
        let tools =
            self.call(|Instance { store, instance, .. }| instance.saddlebag_memory_tools().call_tools(store, &sets))?;
        incoming(tools)
    }
}

/// Converts a value for the component. Every value of ours has a form in the contract.
fn outgoing<A: WitConvert<B>, B>(value: A) -> Result<B, EngineError> {
    value
        .convert()
        .map_err(|error| EngineError::Component(format!("a value cannot be expressed in the contract: {error}")))
}

/// Converts a value from the component, which is not trusted, so its paths are checked here.
fn incoming<A: WitConvert<B>, B>(value: A) -> Result<B, EngineError> {
    value.convert().map_err(|error| EngineError::Component(format!("the component returned an invalid value: {error}")))
}

fn trapped(error: &wasmtime::Error) -> EngineError {
    let reason = match error.downcast_ref::<wasmtime::Trap>() {
        Some(wasmtime::Trap::Interrupt) => "it took longer than its deadline".to_string(),
        Some(trap) => trap.to_string(),
        None => one_line(error),
    };
    EngineError::Trapped(reason)
}

/// Returns the error and its causes without line breaks.
fn one_line(error: &wasmtime::Error) -> String {
    // Code is mapped and made executable by the system, whose errors are reported like errors of the store.
    match error.chain().find_map(error_of_system) {
        Some(error) => crate::local_dir::io_cause(&error),
        None => normalize_line(&format!("{error:#}")),
    }
}

fn error_of_system(cause: &(dyn std::error::Error + 'static)) -> Option<std::io::Error> {
    let code = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    #[cfg(unix)]
    let code = code.or_else(|| cause.downcast_ref::<rustix::io::Errno>().map(|errno| errno.raw_os_error()));
    code.map(std::io::Error::from_raw_os_error)
}

/// Starts the clock for deadlines, which runs as long as the engine lives.
fn start_clock(engine: &wasmtime::Engine) {
    let engine = engine.weak();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TICK);
            let Some(engine) = engine.upgrade() else { break };
            engine.increment_epoch();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_fault_while_code_is_mapped_has_the_message_of_the_store() {
        for error in [
            wasmtime::Error::from(std::io::Error::from(rustix::io::Errno::NOMEM)),
            wasmtime::Error::from(rustix::io::Errno::NOMEM),
        ] {
            let error = error.context("the code cannot be loaded");
            assert_eq!(one_line(&error), "the machine is out of memory; end some programs and try again");
        }
        assert_eq!(one_line(&wasmtime::Error::msg("not\na component")), "not a component");
    }

    #[test]
    fn an_instance_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<ComponentEngine>();
        assert_send::<ComponentRuntime>();
    }
}
