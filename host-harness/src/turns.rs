//! [`Turns`]: the commands in flight that change the store, and the files that each of them works on.
//!
//! Commands that change one file at the same time lose races: each reads the file, one writes it, and the others begin
//! again. So the operations of a command on a file wait while an older command in flight works on it. The order of
//! operations decides nothing, so a command that waits in vain loses only time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use saddlebag::protocol::{CommandId, FsOp, FsRequest};
use saddlebag::tools::{ToolSet, ToolsCommand, tools};
use saddlebag::{Command, Effect};

/// Maximum number of files that are recorded for one command: those that a command changes are among its first.
const MAX_FILES: usize = 64;

/// Names of the tools that change nothing.
static READ_ONLY_TOOLS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| tools(&ToolSet::ALL).into_iter().filter(|tool| tool.read_only).map(|tool| tool.name).collect());

/// Files of the commands in flight that may change the store.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    files: BTreeMap<CommandId, BTreeSet<String>>,
}

impl Turns {
    /// Adds a command that is about to be submitted.
    pub(crate) fn enter(&mut self, id: CommandId, command: &Command) {
        if may_change(command) {
            self.files.insert(id, BTreeSet::new());
        }
    }

    /// Removes a command that has finished.
    pub(crate) fn leave(&mut self, id: CommandId) {
        self.files.remove(&id);
    }

    /// Records the file of a request.
    pub(crate) fn note(&mut self, request: &FsRequest) {
        if let Some(path) = file_of(&request.op)
            && let Some(files) = self.files.get_mut(&request.command)
            && files.len() < MAX_FILES
            && !files.contains(path)
        {
            files.insert(path.to_string());
        }
    }

    /// Returns true if at least two commands may change the store.
    pub(crate) fn may_meet(&self) -> bool {
        self.files.len() > 1
    }

    /// Returns true if an older command works on the file of the request.
    pub(crate) fn must_wait(&self, request: &FsRequest) -> bool {
        let is_turn = self.files.contains_key(&request.command);
        let Some(path) = file_of(&request.op).filter(|_| is_turn) else { return false };
        self.files.range(..request.command).any(|(_, files)| files.contains(path))
    }
}

/// Returns the file that an operation is on. Configurations and indexes, which many commands read, do not count.
fn file_of(op: &FsOp) -> Option<&str> {
    let path = match op {
        FsOp::Read { path, .. } | FsOp::Write { path, .. } | FsOp::Remove { path, .. } | FsOp::Rename { path, .. } => {
            path.as_str()
        }
        // An append never loses a race.
        FsOp::Append { .. }
        | FsOp::ListDirectory { .. }
        | FsOp::MakeDirectory { .. }
        | FsOp::RemoveDirectory { .. }
        | FsOp::Generation => return None,
    };
    (!path.split('/').any(|segment| segment.starts_with('.'))).then_some(path)
}

fn may_change(command: &Command) -> bool {
    match command {
        Command::Tools(ToolsCommand::CallTool(call)) => !READ_ONLY_TOOLS.contains(&call.tool),
        command => command.effect() != Effect::Reads,
    }
}
