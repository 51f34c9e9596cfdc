//! The tags of notes, and the links that lead to no note, or to several.

use saddlebag::notebook::{DeadLinks, Tags};

use crate::output::warn_of_skipped;
use crate::prelude::*;

/// Lists the tags, with the number of notes of each.
pub(super) fn list_tags(store: &mut Store, output: &mut Output) -> Result<(), Failure> {
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

/// Lists the links whose target is missing or ambiguous.
pub(super) fn list_dead_links(only_notes: bool, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let reply = store.call(DeadLinks { only_notes }, output)?;
    if output.json(&reply)? {
        return Ok(());
    }
    for link in &reply.links {
        let meaning = match link.candidates.as_slice() {
            [] if link.is_file => "no such file".to_string(),
            [] => "no such note".to_string(),
            candidates => format!("could be {}", candidates.join(", ")),
        };
        output.line(&format!("{}:{}  {}  ({meaning})", link.path, link.line, link.target))?;
    }
    output.flush()?;
    if reply.links.is_empty() {
        output.note("every link leads to one note or file");
    }
    warn_of_skipped(&reply.skipped, output);
    Ok(())
}
