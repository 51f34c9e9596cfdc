//! `status`: prints the size of memory, the number of notes and entries, and the number of items that wait for
//! approval.

use saddlebag::approval::Pending;
use saddlebag::items::{ItemKind, ListItems, Show};
use saddlebag::journal::{Status, StatusReply};
use saddlebag::notebook::{ConditionKind, NoteCondition, NoteFilter};
use saddlebag::protocol::ErrorCode;
use saddlebag::search::says_nothing;
use saddlebag::store::{DECISIONS_FOLDER, FACTS_FOLDER};

use crate::hook::log;
use crate::output::{single_line, warn_of_skipped};
use crate::prelude::*;
use crate::project::{Other, others};
use crate::store::{Root, Store, project};

/// Maximum number of names that say nothing.
const MAX_NAMES: usize = 10;

/// Print the size of memory, and how much waits for approval
#[derive(Debug, Args)]
#[command(after_help = example("status"))]
pub(crate) struct StatusArgs;

/// Sizes of the journal, and counts of notes, entries and unapproved text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sizes {
    #[serde(flatten)]
    journal: StatusReply,
    /// Number of lines that `log --line` has added to today's note.
    journal_lines: u32,
    /// Number of notes of the notebook.
    notes: u32,
    /// Number of entries.
    entries: u32,
    /// Number of notes and entries that wait for approval.
    waiting: u32,
    /// Names of decisions, facts and entries that say nothing about them, at most ten.
    names_that_say_nothing: Vec<String>,
    /// Number of failures in the log of the hooks.
    hook_failures: u32,
    /// Last failure in the log of the hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_hook_failure: Option<log::Line>,
    /// Projects whose memory may belong to this folder, which does not open it.
    other_memory: Vec<Other>,
    /// What the server of the store was found to do; empty for a folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    server: Vec<ServerProperty>,
}

/// Property of a server that a store relies on.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ServerProperty {
    /// The property.
    property: &'static str,
    /// True if the server has it.
    holds: bool,
}

impl Subcommand for StatusArgs {
    type Json = Sizes;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let server = match Root::from_options(global)? {
            Root::Remote(address) => address.probe()?,
            _ => Vec::new(),
        };
        let server = server.into_iter().map(|(property, holds)| ServerProperty { property, holds }).collect();
        let sizes = Sizes { server, ..sizes(global, output)? };
        output.object_or_line(&sizes, &text(&sizes))?;
        output.flush()?;
        warn_of_skipped(&sizes.journal.skipped, output);
        Ok(Exit::Done)
    }
}

/// Returns the sizes of the memory that the global options name.
pub(crate) fn sizes(global: &Global, output: &mut Output) -> Result<Sizes, Failure> {
    let mut store = Store::open(global)?;
    let mut journal = store.call(Status, output)?;
    let journal_lines = journal_lines(&mut store, &journal, output)?;
    let none_of = |kind| ListItems { kinds: vec![kind], limit: Some(0), ..ListItems::default() };
    let counted = store.call(none_of(ItemKind::Note), output)?;
    let entries = store.call(none_of(ItemKind::Entry), output)?.total;
    let names_that_say_nothing = least_telling(&mut store, project(global)?.slug().as_deref(), output)?;
    let pending = store.call(Pending { limit: 1, ..Pending::default() }, output)?;
    for file in counted.skipped.into_iter().chain(pending.skipped) {
        if journal.skipped.iter().all(|other| other.path != file.path) {
            journal.skipped.push(file);
        }
    }
    let (notes, waiting) = (counted.total, pending.total);
    let (hook_failures, last_hook_failure) = log::failures();
    Ok(Sizes {
        journal,
        journal_lines,
        notes,
        entries,
        waiting,
        names_that_say_nothing,
        hook_failures,
        last_hook_failure,
        other_memory: others(global),
        server: Vec::new(),
    })
}

/// Returns the lines for a person.
fn text(sizes: &Sizes) -> String {
    let Sizes { journal, notes, entries, waiting, hook_failures, last_hook_failure, .. } = sizes;
    let Sizes { journal_lines, other_memory, server, .. } = sizes;
    let size = |size: Option<u64>| size.map_or("none yet".to_string(), |size| format!("{size} bytes"));
    let mut lines = vec![format!("long-term memory: {}", size(journal.long_term_bytes))];
    if let Some(bytes) = journal.project_long_term_bytes {
        lines.push(format!("long-term memory of the project: {bytes} bytes"));
    }
    lines.push(format!("open items of the scratchpad: {}", journal.open_items));
    lines.push(format!("entries of today's log: {}", journal.today_entries));
    lines.push(format!("lines of today's journal: {journal_lines}"));
    lines.push(format!("notes: {notes}"));
    lines.push(format!("entries: {entries}"));
    lines.push(format!("waiting for approval: {waiting}"));
    if !sizes.names_that_say_nothing.is_empty() {
        let names = single_line(&sizes.names_that_say_nothing.join(", "));
        lines.push(format!("names that say nothing at the start of a session; `saddlebag move` changes them: {names}"));
    }
    if *hook_failures > 0 {
        lines.push(format!("failures of hooks, printed by `saddlebag hook log`: {hook_failures}"));
    }
    if let Some(log::Line { time, message, .. }) = last_hook_failure {
        lines.push(single_line(&format!("last failure of a hook: {time}: {message}")));
    }
    lines.extend(other_memory.iter().map(Other::hint));
    for ServerProperty { property, holds } in server {
        lines.push(format!("the server can {property}: {}", if *holds { "yes" } else { "no" }));
    }
    lines.join("\n")
}

/// Returns the names of decisions, facts and entries that say nothing about them, those of the notes first.
fn least_telling(store: &mut Store, project: Option<&str>, output: &mut Output) -> Result<Vec<String>, Failure> {
    let path = |folder: &str| NoteCondition { kind: ConditionKind::Path, value: folder.to_string() };
    let filter =
        NoteFilter { conditions: [FACTS_FOLDER, DECISIONS_FOLDER].map(path).to_vec(), ..NoteFilter::default() };
    let notes = ListItems { kinds: vec![ItemKind::Note], filter, ..ListItems::default() };
    let entries = ListItems { kinds: vec![ItemKind::Entry], ..ListItems::default() };
    let mut names = Vec::new();
    for list in [notes, entries] {
        names.extend(store.call(list, output)?.items.into_iter().map(|item| item.name));
    }
    names.retain(|name| says_nothing(name, project));
    names.truncate(MAX_NAMES);
    Ok(names)
}

/// Returns the number of lines that `log --line` has added to today's note. Each begins with the time of day.
fn journal_lines(store: &mut Store, journal: &StatusReply, output: &mut Output) -> Result<u32, Failure> {
    let mut lines = 0;
    let mut offset = 0;
    let mut rest = String::new();
    loop {
        let part = match store.call(Show { offset, ..Show::new("daily") }, output) {
            Ok(part) => part,
            // `skipped` names a log that cannot be read.
            Err(failure)
                if !journal.skipped.is_empty()
                    && [ErrorCode::NotText, ErrorCode::Storage].into_iter().any(|code| failure.code == code.into()) =>
            {
                return Ok(0);
            }
            Err(failure) => return Err(failure),
        };
        rest.push_str(&part.text);
        let whole = if part.next_offset.is_some() { rest.rfind('\n').map_or(0, |end| end + 1) } else { rest.len() };
        lines += rest.get(..whole).unwrap_or_default().lines().filter(|line| is_journal_line(line)).count();
        rest.drain(..whole);
        match part.next_offset {
            Some(next) => offset = next,
            None => return Ok(u32::try_from(lines).unwrap_or(u32::MAX)),
        }
    }
}

fn is_journal_line(line: &str) -> bool {
    let Some((hours, rest)) = line.strip_prefix("- ").and_then(|rest| rest.split_once(':')) else { return false };
    let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(hours) && rest.get(..2).is_some_and(is_number) && !rest[2..].starts_with(|c: char| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_journal_begins_with_the_time_of_day() {
        for (line, is_one) in [
            ("- 09:15 deployed", true),
            ("- 09:15", true),
            ("- 9:15 deployed", false),
            ("- 09:155", false),
            ("- [ ] 09:15", false),
            ("09:15 x", false),
            ("- 09:é", false),
        ] {
            assert_eq!(is_journal_line(line), is_one, "{line}");
        }
    }
}
