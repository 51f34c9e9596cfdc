//! `memory reject`: forgets text of tools and imports that waits for approval.
//!
//! `restore` brings it back, so nobody is asked.

use clap::Args;
use saddlebag::approval::{ApproveItem, MAX_NAMES, Pending, PendingItem, Reject, SkippedItem};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::{print_item, waiting};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::shown_path;
use crate::output::{Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Forget notes and entries that wait for approval
#[derive(Debug, Args)]
#[command(after_help = example("memory reject --from codex"))]
pub(crate) struct RejectArgs {
    /// Keys of entries, or paths, names or titles of notes; put `--` before a name that begins with a hyphen
    #[arg(value_name = "KEY|PATH", value_parser = shown_path, required_unless_present = "from")]
    names: Vec<String>,
    /// Reject everything that `list --pending --from SOURCE` lists
    #[arg(long, value_name = "SOURCE", conflicts_with = "names")]
    from: Option<String>,
    /// Print what would be rejected, and reject nothing
    #[arg(long)]
    dry_run: bool,
}

/// Result of a rejection.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Rejected {
    /// Items that are rejected now.
    rejected: Vec<PendingItem>,
    /// Items that were not rejected, with the reasons.
    skipped: Vec<SkippedItem>,
    /// Summary of the reply, to be read by a person.
    message: String,
}

impl Subcommand for RejectArgs {
    type Json = Rejected;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = reject(&mut Store::open(global)?, &self, output)?;
        if output.is_json() {
            output.object(&reply)?;
        } else {
            print(&reply, output)?;
        }
        Ok(match (reply.skipped.is_empty(), reply.rejected.is_empty()) {
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
    for name in &args.names {
        match waiting(store, name, output)? {
            Ok(item) => items.push((name.clone(), PendingItem { text: None, ..item })),
            Err(reason) => done.skipped.push(SkippedItem { name: name.clone(), reason }),
        }
    }
    for part in items.chunks(MAX_NAMES) {
        let given =
            part.iter().map(|(_, item)| ApproveItem { name: item.path.to_string(), version: item.version.clone() });
        let reply = store.call(Reject { items: given.collect(), dry_run: args.dry_run }, output)?;
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

fn print(reply: &Rejected, output: &mut Output) -> Result<(), Failure> {
    for item in &reply.rejected {
        print_item(item, output)?;
    }
    for item in &reply.skipped {
        output.line(&format!("skipped {}: {}", single_line(&item.name), single_line(&item.reason)))?;
    }
    output.line(&reply.message)?;
    if !reply.rejected.is_empty() {
        output.flush()?;
        output.note("`saddlebag restore` with the path of a note or the key of an entry brings it back");
    }
    Ok(())
}
