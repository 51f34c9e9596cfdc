//! `review`: shows what waits for approval, one item after another, and asks what to do with each.

use saddlebag::approval::{Approve, ApproveItem, Pending, PendingItem, Reject, SkippedItem};
use saddlebag::protocol::ErrorCode;

use super::edit;
use crate::item::ItemName;
use crate::output::single_line;
use crate::prelude::*;
use crate::trust::{print_item, waiting};

/// Meaning of the answers.
const ANSWERS: &str = "a accepts, e edits and asks again, r rejects, R rejects for good, s skips, q quits";

/// Decide about what waits for approval, one item after another
///
/// `a` accepts an item, which may then go into prompts. `e` opens it in the editor, shows what you saved, and asks again.
/// `r` rejects it, which `restore` takes back. `R` rejects its text for good, whoever brings it back, until `unforget`.
#[derive(Debug, Args)]
#[command(after_help = example("review --from claude-code"))]
pub(crate) struct ReviewArgs {
    /// Only items from this source, as `list --pending --from` names it
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
}

/// Number of items by answer.
#[derive(Default)]
struct Counts {
    accepted: u32,
    rejected: u32,
    skipped: u32,
}

impl Subcommand for ReviewArgs {
    type Json = ();

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(why) = output.why_silent() {
            let help = "`saddlebag list --pending` lists what waits, for `memory approve` and `memory reject`";
            return Err(Failure::new(ErrorCode::NeedsConfirmation, format!("a review asks, and {why}"), help));
        }
        let mut store = Store::open(global)?;
        let request = Pending { limit: u32::MAX, source: self.from, ..Pending::default() };
        let listed = store.call(request, output)?.items;
        let (total, mut counts) = (listed.len(), Counts::default());
        for (at, item) in listed.into_iter().enumerate() {
            // It may have been answered elsewhere meanwhile.
            let Ok(item) = waiting(&mut store, item.path.as_str(), output)? else { continue };
            output.line("")?;
            print_item(&item, output)?;
            if !review(item, &format!("{} of {total}", at + 1), global, &mut store, &mut counts, output)? {
                break;
            }
        }
        let Counts { accepted, rejected, skipped } = counts;
        let left = total.saturating_sub((accepted + rejected) as usize);
        output.line(&format!("Accepted {accepted}, rejected {rejected}, skipped {skipped}; {left} wait"))?;
        output.flush()?;
        Ok(if total == 0 { Exit::Nothing } else { Exit::Done })
    }
}

/// Asks about one item until there is an answer, and does it. Returns false to quit.
fn review(
    mut item: PendingItem,
    place: &str,
    global: &Global,
    store: &mut Store,
    counts: &mut Counts,
    output: &mut Output,
) -> Result<bool, Failure> {
    loop {
        let Some(answer) = output.answer(&format!("{place}: what to do (a, e, r, R, s, q, ? for help)?"))? else {
            return Ok(false);
        };
        let (skipped, counted) = match answer.as_str() {
            "a" => (approve(&item, store, output)?, &mut counts.accepted),
            "r" => (reject(&item, false, store, output)?, &mut counts.rejected),
            "R" => {
                let question = "Reject this text for good, whoever brings it back, until `unforget`?";
                if !output.asks(question)? {
                    continue;
                }
                (reject(&item, true, store, output)?, &mut counts.rejected)
            }
            "e" => {
                let name = ItemName { name: item.path.to_string(), kind: None };
                if let Err(failure) = edit::edit(&name, global, output) {
                    output.warning(&failure.to_string());
                    continue;
                }
                match waiting(store, item.path.as_str(), output)? {
                    Ok(edited) => {
                        print_item(&edited, output)?;
                        item = edited;
                        continue;
                    }
                    // What a person writes does not wait.
                    Err(_) => {
                        output.note("it is yours now, and does not wait any more");
                        (Vec::new(), &mut counts.accepted)
                    }
                }
            }
            "s" | "" => (Vec::new(), &mut counts.skipped),
            "q" => return Ok(false),
            _ => {
                output.note(ANSWERS);
                continue;
            }
        };
        for SkippedItem { name, reason } in &skipped {
            output.line(&format!("skipped {}: {}", single_line(name), single_line(reason)))?;
        }
        *(if skipped.is_empty() { counted } else { &mut counts.skipped }) += 1;
        return Ok(true);
    }
}

fn approve(item: &PendingItem, store: &mut Store, output: &mut Output) -> Result<Vec<SkippedItem>, Failure> {
    Ok(store.call(Approve { items: vec![shown(item)], dry_run: false }, output)?.skipped)
}

fn reject(
    item: &PendingItem,
    for_good: bool,
    store: &mut Store,
    output: &mut Output,
) -> Result<Vec<SkippedItem>, Failure> {
    Ok(store.call(Reject { items: vec![shown(item)], dry_run: false, for_good }, output)?.skipped)
}

/// Returns the item in the version that the user has seen.
fn shown(item: &PendingItem) -> ApproveItem {
    ApproveItem { name: item.path.to_string(), version: item.version.clone() }
}
