//! The tags of notes.

use saddlebag::notebook::Tags;

use crate::failure::Failure;
use crate::output::{Output, warn_of_skipped};
use crate::store::Store;

/// Lists the tags, with the number of notes of each.
pub(super) fn list(store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let reply = store.call(Tags, output)?;
    if output.json(&reply)? {
        return Ok(());
    }
    let width = reply.tags.iter().map(|tag| tag.notes.to_string().len()).max().unwrap_or_default();
    for tag in &reply.tags {
        output.line(&format!("{:width$}  {}", tag.notes, tag.name))?;
    }
    output.flush()?;
    if reply.tags.is_empty() {
        output.note("no note has a tag");
    }
    warn_of_skipped(&reply.skipped, output);
    Ok(())
}
