//! [`Guest`]: a memory and its storage, and the loop between them.

use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::{CommandId, FsRequest, FsResult};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, DEFAULT_SETS, Tool, ToolAnswer, ToolOptions, ToolSet, tools};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Config, Memory, Origin, Step, Submission};

use crate::executor::{Executor, VERSION_SCHEME};
use crate::storage::Storage;

/// How a memory is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number that no earlier opening of the store had.
    pub epoch: u64,
    /// Folder of the project below `projects/`, as `journal.project-slug` makes it.
    pub project: Option<String>,
    /// Name of the agent that the entries belong to; `None`: there are no entries.
    pub agent: Option<String>,
    /// Keeps a copy of the search index in the store.
    pub index_file: bool,
    /// Provenance of the text that is stored.
    pub provenance: Provenance,
}

/// A memory on a storage.
pub struct Guest<S> {
    memory: Memory,
    executor: Executor<S>,
    sets: Vec<ToolSet>,
    last: u64,
}

/// A tool that has answered, and whether it changed a file.
#[derive(Debug)]
pub struct Answered {
    /// Answer of the tool.
    pub answer: ToolAnswer,
    /// True if a file was changed, or may have been.
    pub changed: bool,
}

impl<S: Storage> Guest<S> {
    /// Opens a memory. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// Text that says which option is invalid.
    pub fn open(executor: Executor<S>, options: Options) -> Result<Self, String> {
        let Options { epoch, project, agent, index_file, provenance } = options;
        let sets = DEFAULT_SETS.to_vec();
        let config = Config {
            project,
            entries: agent.map(EntriesConfig::for_agent),
            index_file,
            version_scheme: VERSION_SCHEME.into(),
            trust: TrustConfig { provenance, ..TrustConfig::default() },
            ..Config::new(epoch)
        };
        let memory = Memory::open(config).map_err(|error| error.to_string())?;
        Ok(Self { memory, executor, sets, last: 0 })
    }

    /// Returns the tools of a model.
    pub fn tools(&self) -> Vec<Tool> {
        tools(&self.sets)
    }

    /// Returns the executor.
    pub fn executor(&self) -> &Executor<S> {
        &self.executor
    }

    /// Runs a tool for a model. `client` is recorded in what it writes.
    ///
    /// # Errors
    ///
    /// The engine refused the call; a failure of the tool is an answer.
    pub fn call(&mut self, now: Timestamp, client: &str, tool: &str, input: &str) -> Result<Answered, String> {
        let client = Some(client.to_owned()).filter(|client| !client.is_empty());
        let origin = Origin { client, tool: Some(tool.to_owned()), ..Origin::default() };
        let options = ToolOptions { sets: self.sets.clone(), ..ToolOptions::default() };
        let call = CallTool { tool: tool.into(), input: input.into(), options };
        self.run(CommandId(self.last + 1), now, origin.with(call), &mut |_| {})
    }

    /// Runs a tool to its end. `seen` is called for each operation before it is performed.
    ///
    /// # Errors
    ///
    /// The engine refused the call.
    pub fn run(
        &mut self,
        id: CommandId,
        now: Timestamp,
        call: Submission<CallTool>,
        seen: &mut dyn FnMut(&FsRequest),
    ) -> Result<Answered, String> {
        let step = self.memory.submit(id, now, call).map_err(|error| error.to_string())?;
        self.last = id.0;
        let Step { requests, mut finished } = step;
        let mut requests = std::collections::VecDeque::from(requests);
        while let Some(request) = requests.pop_front() {
            seen(&request);
            let outcome = self.executor.perform(&request.op);
            let result = FsResult { key: request.key.into_string(), outcome };
            let step = self.memory.handle_memory_result(result).map_err(|error| error.to_string())?;
            requests.extend(step.requests);
            finished.extend(step.finished);
        }
        let ended = finished.into_iter().find(|ended| ended.id == id).ok_or("the command did not finish")?;
        match (ended.answer, ended.error) {
            (Some(answer), _) => Ok(Answered { answer, changed: ended.changed }),
            (None, error) => Err(error.map_or("the tool has no answer".into(), |error| error.to_string())),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::key_value::{InMemory, KeyValue};

    /// A memory over strings in memory.
    pub(crate) fn guest() -> Guest<KeyValue<InMemory>> {
        let storage = KeyValue::open(InMemory::default(), "m", 1000).expect("opened");
        let options = Options {
            epoch: storage.epoch(),
            project: None,
            agent: Some("ada".into()),
            index_file: false,
            provenance: Provenance::Agent,
        };
        Guest::open(Executor::new(storage, || 1), options).expect("opened")
    }
}
