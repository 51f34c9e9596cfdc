//! `recall`: finds the notes and entries that answer a question.

use saddlebag::items::{DEFAULT_HITS, ItemKind, Recall, RecallHit, RecallReply};

use crate::entry::shared::preview;
use crate::input;
use crate::note::filter::{FilterArgs, sort_keys};
use crate::note::shared::warn;
use crate::output::{FAINT, STRONG, single_line, warn_of_skipped};
use crate::past::AtArgs;
use crate::prelude::*;
use crate::word::word;

/// Find the notes and entries that answer a question, best first
#[derive(Debug, Args)]
#[command(after_help = example("recall \"which port is staging listening on?\""))]
pub(crate) struct RecallArgs {
    /// Question, or query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`; put `--` before a query with a
    /// word that begins with a hyphen
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of hits
    #[arg(long, short = 'n', default_value_t = DEFAULT_HITS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Fill this number of bytes with the passages that answer best and their paths and titles; several may be of one note
    #[arg(long, value_name = "N", conflicts_with_all = ["limit", "offset", "sort", "explain"])]
    max_bytes: Option<u32>,
    /// Number of hits to skip, for the next page
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: u32,
    /// Key to sort by instead of the score: created, modified, path, title, word-count; `+` after it sorts upward, `-`
    /// downward; repeatable
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// Search the notes of all projects of the store, not only those of this one
    #[arg(long, conflicts_with = "at")]
    everywhere: bool,
    /// Print the parts of each score
    #[arg(long, hide_short_help = true)]
    explain: bool,
    /// Kind of items to search; repeatable
    #[arg(long, value_parser = word::<ItemKind>(), value_name = "KIND")]
    kind: Vec<ItemKind>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    at: AtArgs,
}

impl Subcommand for RecallArgs {
    type Json = RecallReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let (at, budget) = (self.at.at.clone(), self.max_bytes);
        let request = self.request()?;
        let mut store = Store::open(global)?;
        store.look_back(at);
        let reply = store.call(request, output)?;
        if !output.json(&reply)? {
            match budget {
                Some(bytes) => print_rendered(&reply, bytes, output)?,
                None => print(&reply, output)?,
            }
            output.flush()?;
            remark(&reply, budget.is_some(), output);
        }
        Ok(if reply.hits.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}

impl RecallArgs {
    fn request(self) -> Result<Recall, Failure> {
        let words: Vec<String> = self.query.into_iter().map(input::text).collect::<Result<_, _>>()?;
        Ok(Recall {
            query: words.join(" "),
            kinds: self.kind,
            limit: self.limit,
            offset: self.offset,
            max_bytes: self.max_bytes,
            filter: self.filter.into(),
            sort: sort_keys(&self.sort)?,
            explain: self.explain,
            everywhere: self.everywhere,
            assume_unchanged: false,
        })
    }
}

/// Prints the hits as they were counted for a budget.
fn print_rendered(reply: &RecallReply, budget: u32, output: &mut Output) -> Result<(), Failure> {
    match (reply.hits.is_empty(), reply.total) {
        (true, 0) => output.line("Nothing found.")?,
        (true, total) => output.line(&format!("Nothing fits into {budget} bytes; items that match: {total}"))?,
        (false, _) => output.line(reply.rendered.as_str())?,
    }
    Ok(())
}

fn print(reply: &RecallReply, output: &mut Output) -> Result<(), Failure> {
    if reply.hits.is_empty() {
        output.line("Nothing found.")?;
    }
    for (number, hit) in reply.hits.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        print_hit(hit, output)?;
    }
    Ok(())
}

/// Prints remarks about a reply on standard error.
fn remark(reply: &RecallReply, has_budget: bool, output: &mut Output) {
    warn(&reply.warnings, output);
    if reply.is_doubtful {
        output.note("nothing seems to answer; these are the nearest items");
    }
    let shown = reply.hits.len() as u64;
    // Hits of a search come best first, and the rest says less. Those of a time are in its order.
    if (1..u64::from(reply.total)).contains(&shown) && reply.hits.iter().all(|hit| hit.terms.is_empty()) {
        let others = if has_budget { "ask for a shorter time" } else { "--offset and --limit show others" };
        output.note(&format!("{shown} of {}, in the order of time; {others}", reply.total));
    }
    warn_of_skipped(&reply.skipped, output);
}

fn print_hit(hit: &RecallHit, output: &mut Output) -> Result<(), Failure> {
    let words = format!("[{}] in {}", hit.terms.join(", "), hit.fields.join(", "));
    // What a question about a time finds has no words of it.
    let parts = [Some(words).filter(|_| !hit.terms.is_empty()), hit.day.clone()];
    let mut why = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    for mark in hit.marks.texts() {
        why.push_str(&format!("; {}", single_line(&mark)));
    }
    match &hit.category {
        Some(category) => {
            let (key, category) = (single_line(&hit.title), single_line(category));
            output.styled(STRONG, &format!("entry {key}  ({category})"))?;
            output.styled(FAINT, &why)?;
            output.line(&preview(&hit.passage))?;
        }
        None => {
            let place = match hit.lines.as_slice() {
                [first, last] if first != last => format!(":{first}-{last}"),
                [first, ..] => format!(":{first}"),
                [] => String::new(),
            };
            output.styled(STRONG, &format!("{}{place}  {}", hit.path, hit.title))?;
            output.styled(FAINT, &why)?;
            output.line(hit.passage.trim_end())?;
        }
    }
    if !hit.parts.is_empty() {
        output.styled(FAINT, &format!("score {:.3}", hit.score))?;
        for part in &hit.parts {
            let field = if part.field.is_empty() { String::new() } else { format!(" in {}", part.field) };
            output.styled(FAINT, &format!("  {:>8.3}  {}{field}", part.amount, part.reason))?;
        }
    }
    Ok(())
}
