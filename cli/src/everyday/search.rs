//! `search`: finds the files that contain words.

use saddlebag::items::{ItemKind, Recall};
use saddlebag::journal::Search;
use saddlebag::search::SearchResults;

use crate::input;
use crate::output::{STRONG, warn_of_skipped};
use crate::prelude::*;

/// Search the files of memory for words, literally
#[derive(Debug, Args)]
#[command(after_help = example("search staging port"))]
pub(crate) struct SearchArgs {
    /// Words or parts of words, in any case; `-` reads them from standard input
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of files to show
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Number of files to skip, for the next page
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
    /// Maximum number of bytes of text to show
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::journal::DEFAULT_READ_BYTES)]
    max_bytes: u32,
}

impl Subcommand for SearchArgs {
    type Json = SearchResults;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let words: Vec<String> = self.words.into_iter().map(input::text).collect::<Result<_, _>>()?;
        let query = words.join(" ");
        let request = Search {
            offset: self.offset,
            limit: self.limit,
            max_bytes: self.max_bytes,
            all_files: true,
            ..Search::new(query.clone())
        };
        let mut store = Store::open(global)?;
        let results = store.call(request, output)?;
        // A page after the last match is also an empty result.
        let exit = if results.hits.is_empty() && results.rendered_hits == 0 { Exit::Nothing } else { Exit::Done };
        if output.json(&results)? {
            return Ok(exit);
        }
        if results.total_files == 0 {
            output.line(&format!("No matches for '{query}'."))?;
        } else if exit == Exit::Nothing {
            output.line(&format!("No more matches for '{query}': {} in all.", results.total_files))?;
        } else {
            print(&results, output)?;
        }
        output.flush()?;
        warn_of_skipped(&results.skipped, output);
        match results.total_files {
            0 => tell_of_recall(query, &mut store, output),
            _ => tell_of_entries(query, &mut store, output),
        }
        Ok(exit)
    }
}

/// Names the number of entries that match, because `search` looks through files only.
fn tell_of_entries(query: String, store: &mut Store, output: &mut Output) {
    let entries = Recall { query, kinds: vec![ItemKind::Entry], limit: 1, ..Recall::default() };
    let found = match store.call(entries, output) {
        Ok(found) => found.total,
        Err(failure) => {
            output.warning(&format!("entries were not searched: {failure}"));
            return;
        }
    };
    match found {
        0 => {}
        1 => output.note("1 entry matches too; `saddlebag recall --kind entry` with the same words shows it"),
        entries => {
            output.note(&format!(
                "{entries} entries match too; `saddlebag recall --kind entry` with the same words shows them"
            ));
        }
    }
}

/// Says that `recall` finds more: it knows other forms of the words, and needs not all of them.
fn tell_of_recall(query: String, store: &mut Store, output: &mut Output) {
    match store.call(Recall { query, limit: 1, ..Recall::default() }, output) {
        Ok(reply) => match reply.total {
            0 => {}
            1 => output.note("`saddlebag recall` with the same words finds 1 item"),
            total => output.note(&format!("`saddlebag recall` with the same words finds {total} items")),
        },
        Err(failure) => output.warning(&format!("it was not tried if `recall` finds more: {failure}")),
    }
}

/// Prints the rendered results, with the headings of the hits in bold.
fn print(results: &SearchResults, output: &mut Output) -> Result<(), Failure> {
    for line in results.rendered.as_str().lines() {
        if results.hits.iter().any(|hit| hit.heading == *line) {
            output.styled(STRONG, line)?;
        } else {
            output.line(line)?;
        }
    }
    Ok(())
}
