//! A page of entries that pass filters.

use saddlebag::entries::{EntryInfo, ListEntries, ListEntriesReply};
use saddlebag::store::utc_text;

use super::args::ListArgs;
use crate::entry::shared::{mark, preview, warn_of_problems};
use crate::failure::Failure;
use crate::output::{FAINT, Output, single_line};
use crate::store::Store;

pub(super) fn list(args: ListArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let request = ListEntries { filter: args.of_entries(store.now()), limit: args.limit, cursor: args.after };
    let reply = store.call(request, output)?;
    if output.json(&reply)? {
        return Ok(());
    }
    if reply.entries.is_empty() {
        output.line("No entries.")?;
    }
    print_entries(&reply.entries, output)?;
    print_next(&reply, output)?;
    output.flush()?;
    warn_of_problems(&reply.problems, output);
    Ok(())
}

fn print_next(reply: &ListEntriesReply, output: &mut Output) -> Result<(), Failure> {
    if let Some(next) = &reply.next {
        output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, single_line(next)))?;
    }
    Ok(())
}

fn print_entries(entries: &[EntryInfo], output: &mut Output) -> Result<(), Failure> {
    let width = |of: fn(&EntryInfo) -> &str| entries.iter().map(|entry| single_line(of(entry)).chars().count()).max();
    let key = width(|entry| &entry.key).unwrap_or_default();
    let category = width(|entry| &entry.category).unwrap_or_default();
    for entry in entries {
        output.line(&format!(
            "{:key$}  {:category$}  {}{}  {}",
            single_line(&entry.key),
            single_line(&entry.category),
            utc_text(entry.updated),
            mark(entry),
            preview(&entry.content)
        ))?;
    }
    Ok(())
}
