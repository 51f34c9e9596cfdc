//! The links that lead to no note, or to several.

use saddlebag::notebook::DeadLinks;

use crate::failure::Failure;
use crate::output::{Output, warn_of_skipped};
use crate::store::Store;

/// Lists the links whose target is missing or ambiguous.
pub(super) fn list(only_notes: bool, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
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
