//! Code that `list --pending`, `memory approve`, `memory reject` and other subcommands share.

use saddlebag::approval::{Pending, PendingItem};
use saddlebag::document::normalize_line;
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Flag;

use crate::failure::{Code, Failure};
use crate::output::{Output, STRONG, single_line};
use crate::store::Store;

pub(crate) fn print_item(item: &PendingItem, output: &mut Output) -> Result<(), Failure> {
    let source =
        item.source.as_ref().map(|source| format!(", from {}", single_line(source.as_str()))).unwrap_or_default();
    let provenance = item.provenance;
    output.styled(
        STRONG,
        &format!("{}  ({provenance}{source})  {}", single_line(item.name.as_str()), single_line(item.path.as_str())),
    )?;
    let names = [("agent", &item.agent), ("client", &item.client), ("session", &item.session), ("tool", &item.tool)];
    let names =
        names.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", single_line(name.as_ref()?.as_str()))));
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        output.line(&format!("  written by: {}", names.join(", ")))?;
    }
    if !item.projects.is_empty() {
        let projects: Vec<String> =
            item.projects.iter().map(|project| single_line(project.as_str()).to_string()).collect();
        output.line(&format!("  only in: {}", projects.join(", ")))?;
    }
    if !item.findings.is_empty() {
        output.line(&format!("  flagged: {}", flags(&item.findings)))?;
    }
    match &item.text {
        Some(text) => {
            for line in text.as_str().lines() {
                output.line(&format!("  {}", single_line(line)))?;
            }
        }
        None => {
            output.line(&format!("  {}", single_line(&normalize_line(item.preview.as_str()))))?;
        }
    }
    Ok(())
}

/// Returns the item with this name, or the reason why there is not exactly one.
pub(crate) fn waiting(
    store: &mut Store,
    name: &str,
    output: &mut Output,
) -> Result<Result<PendingItem, String>, Failure> {
    let request = Pending { limit: 1, name: Some(name.into()), ..Pending::default() };
    match store.call(request, output) {
        Ok(reply) => Ok(reply.items.into_iter().next().ok_or_else(|| "no note or entry of this name waits".into())),
        Err(Failure { code: Code::Memory(ErrorCode::NotFound | ErrorCode::AmbiguousName), message, .. }) => {
            Ok(Err(message))
        }
        Err(failure) => Err(failure),
    }
}

/// Prints a hint after an import that its text waits for approval.
pub(crate) fn note_pending(output: &mut Output) -> Result<(), Failure> {
    output.flush()?;
    output.note("`saddlebag list --pending` lists what waits for approval; until then it does not go into prompts");
    Ok(())
}

/// Returns flags on one line.
pub(crate) fn flags(flags: &[Flag]) -> String {
    flags.iter().map(|flag| single_line(&flag.to_string())).collect::<Vec<_>>().join(", ")
}
