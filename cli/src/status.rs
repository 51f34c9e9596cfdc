//! `status`: what is always at hand, how many entries there are, and what waits for approval.

use saddlebag::Reply;
use saddlebag::approval::{Pending, TrustCommand, TrustReply};
use saddlebag::entries::{EntriesCommand, EntriesReply, EntriesVerb, EntryFilter, ListEntries};
use saddlebag::journal::{DEFAULT_READ_BYTES, JournalCommand, JournalReply, Read, Status, Target};

use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::json;
use crate::output::Output;
use crate::store::{Store, run_in};

pub(crate) fn run(global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let reply = run_in(&mut store, JournalCommand::Status(Status), output)?;
    let Reply::Journal(JournalReply::Status(sizes)) = &reply else { return Err(wrong_reply()) };
    let lines = journal_lines(&mut store, output)?;
    let entries = entries(&mut store, output)?;
    let waiting = waiting(&mut store, output)?;
    let object = || {
        let mut object = json::reply(&reply);
        if let Some(fields) = object.as_object_mut() {
            for (name, count) in [("journal_lines", lines), ("entries", entries), ("waiting", waiting)] {
                fields.insert(name.to_string(), count.into());
            }
        }
        object
    };
    let text =
        format!("{}\njournal: {lines} line(s) today\nentries: {entries}\nwaiting for approval: {waiting}", sizes.text);
    output.object_or_line(object, &text)?;
    Ok(Exit::Done)
}

/// The lines that `journal` has added to today's note: each begins with the time of day.
fn journal_lines(store: &mut Store, output: &mut Output) -> Result<u32, Failure> {
    let mut lines = 0;
    let mut offset = 0;
    let mut rest = String::new();
    loop {
        let command = JournalCommand::Read(Read { target: Target::Daily(None), offset, max_bytes: DEFAULT_READ_BYTES });
        let Reply::Journal(JournalReply::Read(part)) = run_in(store, command, output)? else {
            return Err(wrong_reply());
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

fn entries(store: &mut Store, output: &mut Output) -> Result<u32, Failure> {
    let verb = EntriesVerb::ListEntries(ListEntries { filter: EntryFilter::default(), limit: Some(1), cursor: None });
    match run_in(store, EntriesCommand::new(verb), output)? {
        Reply::Entries(EntriesReply::ListEntries(list)) => Ok(list.total),
        _ => Err(wrong_reply()),
    }
}

fn waiting(store: &mut Store, output: &mut Output) -> Result<u32, Failure> {
    match run_in(store, TrustCommand::Pending(Pending { limit: 1, ..Pending::default() }), output)? {
        Reply::Trust(TrustReply::Pending(page)) => Ok(page.total),
        _ => Err(wrong_reply()),
    }
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
