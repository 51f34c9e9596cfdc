//! `list --pending`: lists text of tools and imports, which does not go into prompts until the user approves it.

use saddlebag::approval::{Pending, PendingReply};

use super::shared::print_item;
use crate::failure::Failure;
use crate::output::{FAINT, Output, single_line, warn_of_skipped};
use crate::store::Store;

/// Prints the notes and entries that wait for approval.
pub(crate) fn list_pending(request: Pending, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let reply = store.call(request, output)?;
    if output.json(&reply)? {
        return Ok(());
    }
    print(&reply, output)?;
    output.flush()?;
    warn_of_skipped(&reply.skipped, output);
    Ok(())
}

fn print(reply: &PendingReply, output: &mut Output) -> Result<(), Failure> {
    if reply.items.is_empty() {
        output.line("Nothing waits for approval.")?;
        return Ok(());
    }
    for item in &reply.items {
        print_item(item, output)?;
        output.styled(FAINT, &format!("  version: {}", item.version))?;
    }
    match &reply.next {
        Some(next) => output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, single_line(next)))?,
        None => output.styled(FAINT, &format!("Listed {}, digest: {}", reply.items.len(), reply.digest))?,
    }
    Ok(())
}
