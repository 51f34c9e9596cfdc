//! `op`: lists operations, shows one, takes one back, or goes back to one; `snapshot`: names a point to go back to.

use clap::{Args, ValueEnum};
use saddlebag::history::{
    DEFAULT_HISTORY_ITEMS, ListOperations, ListVersions, MAX_HISTORY_ITEMS, OperationInfo, OperationList, Snapshot,
    SnapshotTaken, Undo, UndoReply,
};
use saddlebag::store::Timestamp;

use super::log::print_operations;
use super::shared::{operation_line, print_files};
use super::undo::UndoArgs;
use crate::output::single_line;
use crate::prelude::*;
use crate::subcommand::{Ask, Subcommand, show};

/// List operations, show one, take one back, or go back to one
#[derive(Debug, Args)]
#[command(after_help = example("op diff 1f0c"))]
pub(crate) struct OpArgs {
    /// What to do
    #[arg(value_enum, default_value_t = Action::Log)]
    action: Action,
    /// Operation, as `op log` prints it; the beginning is enough [default: the last one]
    operation: Option<String>,
    /// Maximum number of operations that `op log` lists
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_HISTORY_ITEMS,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_HISTORY_ITEMS)))]
    limit: u32,
    /// Only print what would be changed by `revert` and `restore`
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// The last operations, the newest first
    Log,
    /// One operation, and the files that it changed
    Show,
    /// What an operation changed in its files
    Diff,
    /// Take one operation back
    Revert,
    /// Take back every operation after one
    Restore,
}

/// Operations, one with its differences, or what was undone.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what is printed")]
pub(crate) enum OpJson {
    Listed(OperationList),
    Shown(OperationInfo),
    Differences(OperationDiff),
    Undone(UndoReply),
}

/// What an operation changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OperationDiff {
    /// Identifier of the operation.
    operation: String,
    /// Difference of each file.
    files: Vec<FileDiff>,
}

/// What an operation changed in a file.
#[derive(Serialize, JsonSchema)]
struct FileDiff {
    /// Path of the file.
    path: String,
    /// Difference in the form of `git diff`; `null` if the history does not have the text.
    diff: Option<String>,
}

impl Subcommand for OpArgs {
    type Json = OpJson;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let changes = matches!(self.action, Action::Revert | Action::Restore);
        if self.dry_run && !changes {
            return Err(Failure::usage("--dry-run is for `op revert` and `op restore`", "leave it out"));
        }
        match self.action {
            Action::Log => {
                let request =
                    ListOperations { limit: self.limit, operation: self.operation, ..ListOperations::default() };
                print_operations(&store.call(request, output)?, output)
            }
            Action::Show => {
                let info = one(self.operation, &mut store, output)?;
                if !output.json(&info)? {
                    output.line(&operation_line(&info))?;
                    if let Some(session) = &info.session {
                        output.line(&format!("    session  {}", single_line(session)))?;
                    }
                    print_files(&info.files, output)?;
                }
                Ok(Exit::Done)
            }
            Action::Diff => diff(self.operation, &mut store, output),
            Action::Revert => {
                let operations = self.operation.into_iter().collect();
                show::<UndoArgs>(
                    &store.call(Undo { operations, dry_run: self.dry_run, ..Undo::default() }, output)?,
                    output,
                )
            }
            Action::Restore => {
                let Some(operation) = self.operation else {
                    return Err(Failure::usage("`op restore` needs an operation", "`op log` lists them"));
                };
                let request = Undo { after: Some(operation), dry_run: self.dry_run, ..Undo::default() };
                show::<UndoArgs>(&store.call(request, output)?, output)
            }
        }
    }
}

/// Returns the operation, or the last one.
fn one(operation: Option<String>, store: &mut Store, output: &mut Output) -> Result<OperationInfo, Failure> {
    let request = ListOperations { limit: 1, operation, ..ListOperations::default() };
    let found = store.call(request, output)?.operations.pop();
    found.ok_or_else(|| Failure::nothing("there is no operation yet"))
}

fn diff(operation: Option<String>, store: &mut Store, output: &mut Output) -> Result<Exit, Failure> {
    let info = one(operation, store, output)?;
    let mut files = Vec::new();
    for file in &info.files {
        let (name, operation) = (file.path.clone(), Some(info.operation.clone()));
        let request =
            ListVersions { name, operation, limit: MAX_HISTORY_ITEMS, patch: true, ..ListVersions::default() };
        for version in store.call(request, output)?.versions.iter().rev() {
            files.push(FileDiff { path: file.path.clone(), diff: version.patch.clone() });
        }
    }
    if output.is_json() {
        output.object(&OperationDiff { operation: info.operation, files })?;
        return Ok(Exit::Done);
    }
    output.line(&operation_line(&info))?;
    for FileDiff { path, diff } in &files {
        output.line(&format!("    {}", single_line(path)))?;
        match diff {
            Some(diff) => output.text(diff)?,
            None => output.line("    the history does not have the text")?,
        }
    }
    Ok(Exit::Done)
}

/// Name a point in the history, to look at it or to go back to it later
///
/// Nothing is copied: the history has every version. `op restore ID` goes back to a snapshot, `recall --at ID` looks at it.
#[derive(Debug, Args)]
#[command(after_help = example("snapshot -m \"before the import\""))]
pub(crate) struct SnapshotArgs {
    /// Name of the point, for `op log`
    #[arg(long, short = 'm', value_name = "TEXT")]
    message: String,
}

impl Ask for SnapshotArgs {
    type Request = Snapshot;

    fn request(self, _: Timestamp) -> Result<Snapshot, Failure> {
        Ok(Snapshot { message: self.message })
    }

    fn print(reply: &SnapshotTaken, output: &mut Output) -> Result<(), Failure> {
        Ok(output.line(&single_line(&reply.message))?)
    }
}
