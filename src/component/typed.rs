//! The interfaces of the world with types.

use core::cell::RefCell;
use core::convert::Infallible;
use core::str::FromStr;

use crate::wit_convert::{Mismatch, WitConvert};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::ResultError;

wit_bindgen::generate!({ path: "wit", world: "saddlebag", generate_all });

use exports::saddlebag::memory::{
    agents_md, config, engine, entries, exchange, fs, history, items, journal, notebook, prompt, session, tools, trust,
    types,
};

crate::wit_contract!(wit_records wit_variants closed);
crate::wit_error!(closed: types::Error);

struct Component;

export!(Component);

struct Memory(RefCell<crate::Memory>);

struct Command(crate::Command);

impl engine::GuestCommand for Command {}

impl engine::Guest for Component {
    type Command = Command;
    type Memory = Memory;

    fn default_config(epoch: u64) -> config::Config {
        returned(crate::Config::new(epoch))
    }
}

impl engine::GuestMemory for Memory {
    fn open(config: config::Config) -> Result<engine::Memory, engine::ConfigError> {
        match crate::Memory::open(given(config)) {
            Ok(memory) => Ok(engine::Memory::new(Memory(RefCell::new(memory)))),
            Err(error) => Err(returned(error)),
        }
    }

    fn submit(
        &self,
        id: types::CommandId,
        now: types::Timestamp,
        origin: types::Origin,
        command: engine::Command,
    ) -> Result<engine::Step, engine::SubmitError> {
        let Command(command) = command.into_inner();
        let origin: crate::Origin = given(origin);
        returned(self.0.borrow_mut().submit(given(id), given(now), origin.with(command)))
    }

    fn handle_memory_result(&self, reply: fs::Reply) -> Result<engine::Step, engine::ResultError> {
        let key = reply.key.clone();
        let result: Result<saddlebag_protocol::FsResult, Mismatch> = reply.convert();
        returned(match result {
            Ok(result) => self.0.borrow_mut().handle_memory_result(result),
            Err(error) => Err(ResultError::InvalidResult { key, reason: format!("{error}") }),
        })
    }

    fn cancel(&self, id: types::CommandId) -> Option<engine::Finished> {
        self.0.borrow_mut().cancel(given(id)).finished.pop().map(returned)
    }
}

/// Implements the interface of a family, with the functions that only it has.
macro_rules! family {
    ($family:ident: $command:ident => $reply:ident { $($function:item)* }) => {
        impl $family::Guest for Component {
            fn prepare(command: $family::$command) -> engine::Command {
                let command: crate::wit_convert::own::$family::$command = given(command);
                engine::Command::new(Command(command.into()))
            }

            fn take(
                memory: engine::MemoryBorrow<'_>,
                id: types::CommandId,
            ) -> Result<$family::$reply, types::Error> {
                let memory = &memory.get::<Memory>().0;
                returned(memory.borrow_mut().take_of::<crate::wit_convert::own::$family::$command>(given(id)))
            }

            $($function)*
        }
    };
}

family!(agents_md: AgentsMdCommand => AgentsMdReply {});
family!(entries: EntriesCommand => EntriesReply {});
family!(items: ItemsCommand => ItemsReply {});

family!(journal: JournalCommand => JournalReply {
    fn project_slug(path: Vec<u8>) -> String {
        alloc::string::ToString::to_string(&crate::store::ProjectSlug::from_path(&path))
    }

    fn compaction_heading(messages: Option<u32>) -> String {
        crate::journal::compaction_heading(messages)
    }

    fn memory_prompt() -> String {
        crate::journal::MEMORY_PROMPT.into()
    }

    fn check_slash(line: String) -> Result<(), types::Error> {
        crate::journal::SlashCommand::from_str(&line).map(|_| ()).map_err(returned)
    }
});

family!(notebook: NotebookCommand => NotebookReply {});

family!(history: HistoryCommand => HistoryReply {
    fn merge(path: String, sides: history::MergeSides) -> Result<history::MergedFile, types::Error> {
        crate::history::merge(&path, &given(sides)).map(returned).map_err(returned)
    }

    fn common_version(
        versions: Vec<Vec<u8>>,
        ours: Vec<u8>,
        theirs: Vec<u8>,
    ) -> Result<Option<u32>, types::Error> {
        crate::history::common_version(&versions, &ours, &theirs).map_err(returned)
    }
});

family!(trust: TrustCommand => TrustReply {
    fn for_model(text: String) -> trust::SafeText {
        let (text, flags) = crate::trust::for_model(&text);
        let text = text.into_string();
        trust::SafeText { text, findings: returned(flags) }
    }
});

family!(exchange: ExchangeCommand => ExchangeReply {
    fn detect(paths: Vec<String>) -> Option<exchange::Detected> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        crate::exchange::detect(&paths).map(returned)
    }

    fn wants(format: exchange::Format, path: String) -> bool {
        let format: crate::exchange::Format = given(format);
        format.wants(&path)
    }
});

family!(session: SessionCommand => SessionReply {});

family!(prompt: PromptCommand => PromptReply {
    fn append_memory_block(preamble: String, block: Option<String>) -> String {
        crate::context::append_memory_block(&preamble, block.as_deref())
    }

    fn estimate_tokens(text: String) -> u64 {
        crate::context::estimate_tokens(&text)
    }

    fn effective_reserve(reserve: u64, block: Option<String>) -> u64 {
        crate::context::effective_reserve(reserve, block.as_deref())
    }
});

impl tools::Guest for Component {
    fn call(
        memory: engine::MemoryBorrow<'_>,
        id: types::CommandId,
        now: types::Timestamp,
        origin: types::Origin,
        tool: String,
        input: String,
        options: Option<tools::ToolOptions>,
    ) -> Result<engine::Step, engine::SubmitError> {
        let options: Option<crate::tools::ToolOptions> = given(options);
        let call = crate::tools::CallTool { tool, input, options: options.unwrap_or_default() };
        let origin: crate::Origin = given(origin);
        returned(memory.get::<Memory>().0.borrow_mut().submit(given(id), given(now), origin.with(call)))
    }

    fn tools(sets: Vec<tools::ToolSet>) -> Vec<tools::Tool> {
        let sets: Vec<crate::tools::ToolSet> = given(sets);
        returned(crate::tools::tools(&sets))
    }
}

/// Converts a value without a path from the host, which cannot fail.
fn given<A: WitConvert<B>, B>(value: A) -> B {
    match value.convert() {
        Ok(value) => value,
        Err(_) => core::arch::wasm32::unreachable(),
    }
}

/// Converts a value for the host.
fn returned<A: WitConvert<B, Infallible>, B>(value: A) -> B {
    match value.convert() {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
