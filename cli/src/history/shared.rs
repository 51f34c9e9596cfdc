//! What several subcommands of the history print.

use saddlebag::history::{ChangeKind, FileChange, OperationInfo, UndoReply};

use crate::failure::Failure;
use crate::output::{Output, single_line};

/// Returns an operation as one line: identifier, time, who, command.
pub(super) fn operation_line(info: &OperationInfo) -> String {
    let OperationInfo { operation, time, command, tool, undone, .. } = info;
    let command = tool.as_ref().map_or_else(|| command.clone(), |tool| single_line(tool));
    let undone = if *undone { ", undone" } else { "" };
    let reason = info.reason.as_ref().map(|reason| format!(": {}", single_line(reason))).unwrap_or_default();
    format!("{operation}  {}  {}  {command}{undone}{reason}", minutes(time), who(info))
}

/// Returns who made an operation: the agent and its client, or the provenance of the text.
pub(super) fn who(info: &OperationInfo) -> String {
    let OperationInfo { provenance, agent, client, .. } = info;
    let names = [agent, client].into_iter().flatten().map(|name| single_line(name)).collect::<Vec<_>>();
    if names.is_empty() { provenance.clone() } else { format!("{provenance} ({})", names.join(", ")) }
}

/// Returns a time as `2026-05-24 10:00`.
pub(super) fn minutes(time: &str) -> String {
    time.chars().take(16).map(|character| if character == 'T' { ' ' } else { character }).collect()
}

/// Prints the files of an operation, a line each.
pub(super) fn print_files(files: &[FileChange], output: &mut Output) -> Result<(), Failure> {
    for file in files {
        let from = file.moved_from.as_ref().map(|from| format!(" from {}", single_line(from))).unwrap_or_default();
        output.line(&format!("    {:<8} {}{from}", file.kind.to_string(), single_line(&file.path)))?;
    }
    Ok(())
}

/// Prints what was undone.
pub(super) fn print_undo(reply: &UndoReply, output: &mut Output) -> Result<(), Failure> {
    output.line(&single_line(&reply.message))?;
    for info in &reply.operations {
        output.line(&format!("  {}", operation_line(info)))?;
        print_files(&info.files, output)?;
    }
    for skipped in &reply.skipped {
        output.line(&format!("  left {}: {}", skipped.operation.operation, single_line(&skipped.reason)))?;
    }
    Ok(())
}

/// Returns the words for a version that an editor or another program made.
pub(super) fn by_others(kind: ChangeKind) -> String {
    format!("{kind} outside of saddlebag")
}
