//! `entry list`: lists the entries that pass filters.

use clap::Args;
use saddlebag::entries::{EntryFilter, EntryInfo, ListEntries, ListEntriesReply};

use super::shared::{mark, preview, warn_of_problems};
use crate::failure::Failure;
use crate::help::example;
use crate::output::{FAINT, Output, single_line};
use crate::subcommand::Ask;
use saddlebag::store::{Timestamp, utc_text};

/// List entries, the newest first
#[derive(Debug, Args)]
#[command(after_help = example("entry list --tag ops"))]
pub(crate) struct ListArgs {
    /// Only entries of this category
    #[arg(long, short = 'c', value_name = "CATEGORY")]
    category: Option<String>,
    /// Only entries with this tag; repeatable, or separated by commas: each must match
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Only entries with at least one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    any_tag: Vec<String>,
    /// Only entries changed at or after this time
    #[arg(long, value_name = "RFC3339", value_parser = saddlebag_host::parse_time)]
    since: Option<Timestamp>,
    /// Only entries changed before this time
    #[arg(long, value_name = "RFC3339", value_parser = saddlebag_host::parse_time)]
    until: Option<Timestamp>,
    /// Maximum number of entries, up to 100
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
    /// Cursor that the previous page printed
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<String>,
}

impl Ask for ListArgs {
    type Request = ListEntries;

    fn request(self) -> Result<ListEntries, Failure> {
        let filter = EntryFilter {
            category: self.category,
            all_tags: self.tag,
            any_tags: self.any_tag,
            since: self.since.map(nanoseconds),
            until: self.until.map(nanoseconds),
        };
        Ok(ListEntries { filter, limit: self.limit, cursor: self.after })
    }

    fn print(reply: &ListEntriesReply, output: &mut Output) -> Result<(), Failure> {
        if reply.entries.is_empty() {
            output.line("No entries.")?;
            return Ok(());
        }
        print_entries(&reply.entries, output)?;
        if let Some(next) = &reply.next {
            output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, single_line(next)))?;
        }
        Ok(())
    }

    fn warn(reply: &ListEntriesReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_problems(&reply.problems, output);
        Ok(())
    }
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

fn nanoseconds(time: Timestamp) -> u64 {
    time.local().map_or(0, saddlebag::store::LocalTime::epoch_nanoseconds)
}
