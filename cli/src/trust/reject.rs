//! `memory reject`: forgets text of tools and imports that waits for approval; with `--for-good`, refuses the value of any note
//! or entry.
//!
//! `restore` or `unforget` brings it back, so nobody is asked.

use saddlebag::approval::{ApproveItem, MAX_NAMES, Pending, PendingItem, Reject, SkippedItem};

use super::shared::{print_item, waiting};
use crate::input::shown_path;
use crate::output::single_line;
use crate::prelude::*;

/// Forget what waits for approval, or refuse a value for good
///
/// With `--for-good`, any note or entry can be named. It is forgotten, and no command stores its value again: not in another case,
/// with other white space, with letters that look alike or with invisible characters, and not by a tool, a hook, an import or
/// `backfill`. Text that says the same in other words is stored. `unforget` lifts the rejection.
#[derive(Debug, Args)]
#[command(after_help = example("memory reject --from codex"))]
pub(crate) struct RejectArgs {
    /// Keys of entries, or paths, names or titles of notes; put `--` before a name that begins with a hyphen
    #[arg(value_name = "KEY|PATH", value_parser = shown_path, required_unless_present = "from")]
    names: Vec<String>,
    /// Reject everything that `list --pending --from SOURCE` lists
    #[arg(long, value_name = "SOURCE", conflicts_with = "names")]
    from: Option<String>,
    /// Forget the items, waiting or not, and refuse their values from now on
    #[arg(long)]
    for_good: bool,
    /// Print what would be rejected, and reject nothing
    #[arg(long)]
    dry_run: bool,
}

/// Result of a rejection.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Rejected {
    /// Items that are rejected now.
    rejected: Vec<PendingItem>,
    /// Names of the items whose values are refused from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    for_good: Vec<String>,
    /// Items that were not rejected, with the reasons.
    skipped: Vec<SkippedItem>,
    /// Summary of the reply, to be read by a person.
    message: String,
}

impl Subcommand for RejectArgs {
    type Json = Rejected;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = reject(&mut Store::open(global)?, &self, output)?;
        if !output.json(&reply)? {
            print(&reply, output)?;
        }
        Ok(match (reply.skipped.is_empty(), reply.rejected.is_empty() && reply.for_good.is_empty()) {
            (false, _) => Exit::Failed,
            (true, true) => Exit::Nothing,
            (true, false) => Exit::Done,
        })
    }
}

fn reject(store: &mut Store, args: &RejectArgs, output: &mut Output) -> Result<Rejected, Failure> {
    let mut done = Rejected::default();
    let mut items: Vec<(String, PendingItem)> = Vec::new();
    if let Some(from) = &args.from {
        let request = Pending { limit: u32::MAX, source: Some(from.clone()), ..Pending::default() };
        let listed = store.call(request, output)?.items;
        items.extend(listed.into_iter().map(|item| (item.path.to_string(), item)));
    }
    if args.for_good {
        return reject_for_good(store, args, items, output);
    }
    for name in &args.names {
        match waiting(store, name, output)? {
            Ok(item) => items.push((name.clone(), PendingItem { text: None, ..item })),
            Err(reason) => done.skipped.push(SkippedItem { name: name.clone(), reason }),
        }
    }
    for part in items.chunks(MAX_NAMES) {
        let given =
            part.iter().map(|(_, item)| ApproveItem { name: item.path.to_string(), version: item.version.clone() });
        let reply = store.call(Reject { items: given.collect(), dry_run: args.dry_run, for_good: false }, output)?;
        let is_rejected = |item: &&PendingItem| reply.rejected.iter().any(|done| done.name == item.path.as_str());
        done.rejected.extend(part.iter().map(|(_, item)| item).filter(is_rejected).cloned());
        done.skipped.extend(reply.skipped.into_iter().map(|SkippedItem { name, reason }| {
            let given = part.iter().find(|(_, item)| item.path == name).map(|(given, _)| given.clone());
            SkippedItem { name: given.unwrap_or(name), reason }
        }));
    }
    let verb = if args.dry_run { "Would reject" } else { "Rejected" };
    done.message = format!("{verb} {}, skipped {}", done.rejected.len(), done.skipped.len());
    Ok(done)
}

/// Rejects the named items for good, and those that wait from a source.
fn reject_for_good(
    store: &mut Store,
    args: &RejectArgs,
    waiting: Vec<(String, PendingItem)>,
    output: &mut Output,
) -> Result<Rejected, Failure> {
    let waiting = waiting.into_iter().map(|(name, item)| ApproveItem { name, version: item.version });
    let named = args.names.iter().map(|name| ApproveItem { name: name.clone(), version: String::new() });
    let items: Vec<ApproveItem> = waiting.chain(named).collect();
    let mut done = Rejected::default();
    for part in items.chunks(MAX_NAMES) {
        let reply = store.call(Reject { items: part.to_vec(), dry_run: args.dry_run, for_good: true }, output)?;
        done.for_good.extend(reply.rejected.into_iter().map(|item| item.name));
        done.skipped.extend(reply.skipped);
        done.message = reply.message;
    }
    if items.len() > MAX_NAMES || items.is_empty() {
        let verb = if args.dry_run { "Would reject" } else { "Rejected" };
        done.message = format!("{verb} {} for good, skipped {}", done.for_good.len(), done.skipped.len());
    }
    Ok(done)
}

fn print(reply: &Rejected, output: &mut Output) -> Result<(), Failure> {
    for item in &reply.rejected {
        print_item(item, output)?;
    }
    for name in &reply.for_good {
        output.line(&single_line(name))?;
    }
    for item in &reply.skipped {
        output.line(&format!("skipped {}: {}", single_line(&item.name), single_line(&item.reason)))?;
    }
    output.line(&reply.message)?;
    if !reply.rejected.is_empty() {
        output.flush()?;
        output.note("`saddlebag restore` with the path of a note or the key of an entry brings it back");
    }
    if !reply.for_good.is_empty() {
        output.flush()?;
        output.note("`saddlebag unforget` with the path of a note or the key of an entry lifts the rejection");
    }
    Ok(())
}
