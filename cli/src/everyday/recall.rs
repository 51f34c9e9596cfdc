//! `recall`: finds the notes and entries that answer a question.

use clap::Args;
use saddlebag::entries::{EntryHit, FindEntries, FindEntriesReply};
use saddlebag::notebook::{DEFAULT_HITS, NoteFilter, Recall, RecallHit, RecallReply};
use schemars::JsonSchema;
use serde::Serialize;

use crate::entry::shared::{mark, preview, warn_of_problems};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input;
use crate::note::filter::{FilterArgs, sort_keys};
use crate::note::shared::warn;
use crate::output::{FAINT, Output, STRONG, single_line, warn_of_skipped};
use crate::store::Store;
use crate::subcommand::Subcommand;
use saddlebag::search::on_one_scale;

/// Find the notes and entries that answer a question, best first
#[derive(Debug, Args)]
#[command(after_help = example("recall \"which port is staging listening on?\""))]
pub(crate) struct RecallArgs {
    /// Question, or query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`; put `--` before a query with a
    /// word that begins with a hyphen
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of notes, and of entries
    #[arg(long, short = 'n', default_value_t = DEFAULT_HITS, value_name = "N")]
    limit: u32,
    /// Number of notes to skip, for the next page
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: u32,
    /// Key to sort by instead of the score: created, modified, path, title, word-count; `+` after it sorts upward, `-`
    /// downward; repeatable
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// Print the parts of each score
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Notes and entries that answer a question.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Recalled {
    #[serde(flatten)]
    notes: RecallReply,
    /// Entries that answer the question, best first. Filters, `--sort` and pages are for notes: with one of them there are
    /// no entries.
    entries: Vec<EntryHit>,
    /// Number of all such entries.
    total_entries: u32,
    /// Rarity of a word that only one entry has. Scores of notes and of entries can be compared if each is divided by the
    /// geometric mean of the rarity of its list and the larger of both rarities.
    entries_rarity: f64,
    /// Reason why the entries could not be searched, or `null`.
    entries_error: Option<String>,
}

impl Subcommand for RecallArgs {
    type Json = Recalled;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let words: Vec<String> = self.query.into_iter().map(input::text).collect::<Result<_, _>>()?;
        let query = words.join(" ");
        let filter = self.filter.into();
        let is_for_notes = filter != NoteFilter::default() || !self.sort.is_empty() || self.offset > 0;
        let request = Recall {
            query: query.clone(),
            limit: self.limit,
            offset: self.offset,
            filter,
            sort: sort_keys(&self.sort)?,
            explain: self.explain,
            assume_unchanged: false,
        };
        let mut store = Store::open(global)?;
        let notes = store.call(request, output)?;
        let (found, entries_error) = match is_for_notes {
            true => (FindEntriesReply::default(), None),
            // Entries that cannot be read must not keep the notes from being found.
            false => match store.call(FindEntries { query, limit: self.limit }, output) {
                Ok(found) => (found, None),
                Err(failure) => (FindEntriesReply::default(), Some(failure.to_string())),
            },
        };
        let recalled = Recalled {
            notes,
            entries: found.hits,
            total_entries: found.total,
            entries_rarity: found.rarity,
            entries_error,
        };
        let is_empty = recalled.notes.hits.is_empty() && recalled.entries.is_empty();
        let exit = if is_empty { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&recalled)?;
            return Ok(exit);
        }
        print(&recalled, output)?;
        output.flush()?;
        warn(&recalled.notes.warnings, output);
        warn_of_skipped(&recalled.notes.skipped, output);
        warn_of_problems(&found.problems, output);
        if let Some(error) = &recalled.entries_error {
            output.warning(&format!("entries were not searched: {error}"));
        }
        Ok(exit)
    }
}

/// Prints notes and entries together, best first.
fn print(recalled: &Recalled, output: &mut Output) -> Result<(), Failure> {
    let (rarity, entries_rarity) = (recalled.notes.rarity, recalled.entries_rarity);
    let of_entry = |entry: &EntryHit| on_one_scale(entry.score, entries_rarity, rarity);
    let mut entries = recalled.entries.iter().peekable();
    let mut is_first = true;
    let mut begin = |output: &mut Output| if std::mem::take(&mut is_first) { Ok(()) } else { output.line("") };
    for note in &recalled.notes.hits {
        let of_note = on_one_scale(note.score, rarity, entries_rarity);
        while let Some(entry) = entries.next_if(|entry| of_entry(entry) > of_note) {
            begin(output)?;
            print_entry(entry, output)?;
        }
        begin(output)?;
        print_hit(note, output)?;
    }
    for entry in entries {
        begin(output)?;
        print_entry(entry, output)?;
    }
    if recalled.notes.hits.is_empty() && recalled.entries.is_empty() {
        output.line("Nothing found.")?;
    }
    Ok(())
}

fn print_entry(hit: &EntryHit, output: &mut Output) -> Result<(), Failure> {
    output.styled(STRONG, &format!("entry {}{}", single_line(&hit.entry.key), mark(&hit.entry)))?;
    output.styled(FAINT, &format!("[{}] in {}", hit.terms.join(", "), single_line(&hit.entry.category)))?;
    output.line(&preview(&hit.passage))?;
    Ok(())
}

fn print_hit(hit: &RecallHit, output: &mut Output) -> Result<(), Failure> {
    let place = match hit.lines.as_slice() {
        [first, last] if first != last => format!(":{first}-{last}"),
        [first, ..] => format!(":{first}"),
        [] => String::new(),
    };
    output.styled(STRONG, &format!("{}{place}  {}", hit.path, hit.title))?;
    let mut why = format!("[{}] in {}", hit.terms.join(", "), hit.fields.join(", "));
    if let Some(from) = hit.unapproved {
        why.push_str(&format!(", unapproved: {from}"));
    }
    if let Some(newer) = &hit.superseded_by {
        why.push_str(&format!("; superseded by {newer}"));
    }
    output.styled(FAINT, &why)?;
    output.line(hit.passage.trim_end())?;
    if !hit.parts.is_empty() {
        output.styled(FAINT, &format!("score {:.3}", hit.score))?;
        for part in &hit.parts {
            let field = if part.field.is_empty() { String::new() } else { format!(" in {}", part.field) };
            output.styled(FAINT, &format!("  {:>8.3}  {}{field}", part.amount, part.reason))?;
        }
    }
    Ok(())
}
