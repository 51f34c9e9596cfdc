//! `memory approve`: approves notes and entries for prompts.
//!
//! An approval names the version of the text, so that it covers only the text that the user has seen. On a terminal
//! the program shows the text and asks; elsewhere `--base` names the version.

use saddlebag::approval::{Approve, ApproveItem, DEFAULT_PENDING_ITEMS, MAX_NAMES, Pending, PendingItem, SkippedItem};
use saddlebag::protocol::ErrorCode;

use super::shared::{flags, print_item, waiting};
use crate::input::shown_path;
use crate::output::single_line;
use crate::prelude::*;

/// Approve notes and entries, which then may go into prompts
#[derive(Debug, Args)]
#[command(after_help = example("memory approve deploy_target facts/load-balancer.md"))]
pub(crate) struct ApproveArgs {
    /// Keys of entries, or paths, names or titles of notes; put `--` before a name that begins with a hyphen; on a
    /// terminal, you see each before you confirm
    #[arg(value_name = "KEY|PATH", value_parser = shown_path)]
    names: Vec<String>,
    /// Approve everything that `list --pending --from SOURCE` lists
    #[arg(long, value_name = "SOURCE", conflicts_with = "names")]
    all_from: Option<String>,
    /// Version that `list --pending` printed, one per name in the same order, or its digest with --all-from; required
    /// if standard input is not a terminal
    #[arg(long, value_name = "VERSION")]
    base: Vec<String>,
    /// Print what would be approved, and approve nothing
    #[arg(long)]
    dry_run: bool,
}

/// Result of an approval.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Approved {
    /// Items that are approved now.
    approved: Vec<PendingItem>,
    /// Items that were not approved, with the reasons.
    skipped: Vec<SkippedItem>,
    /// Summary of the reply, to be read by a person.
    message: String,
}

impl Subcommand for ApproveArgs {
    type Json = Approved;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = approve(&mut Store::open(global)?, self, output)?;
        if !output.json(&reply)? {
            print(&reply, output)?;
        }
        Ok(match (reply.skipped.is_empty(), reply.approved.is_empty()) {
            (false, _) => Exit::Failed,
            (true, true) => Exit::Nothing,
            (true, false) => Exit::Done,
        })
    }
}

fn approve(store: &mut Store, args: ApproveArgs, output: &mut Output) -> Result<Approved, Failure> {
    let mut done = Approved::default();
    let items = match &args.all_from {
        Some(from) => all_from(store, from, &args, output)?,
        None => named(store, &args, &mut done.skipped, output)?,
    };
    let request = |items| Approve { items, dry_run: args.dry_run };
    if items.is_empty() && args.all_from.is_none() && args.names.is_empty() {
        // The component returns the error.
        store.call(request(Vec::new()), output)?;
    }
    for part in items.chunks(MAX_NAMES) {
        let given =
            part.iter().map(|(_, item)| ApproveItem { name: item.path.to_string(), version: item.version.clone() });
        let reply = store.call(request(given.collect()), output)?;
        let is_approved = |item: &&PendingItem| {
            reply.approved.iter().any(|done| done.name == item.path.as_str() && done.version == item.version)
        };
        done.approved.extend(part.iter().map(|(_, item)| item).filter(is_approved).cloned());
        done.skipped.extend(reply.skipped.into_iter().map(|SkippedItem { name, reason }| {
            let given = part.iter().find(|(_, item)| item.path == name).map(|(given, _)| given.clone());
            SkippedItem { name: given.unwrap_or(name), reason }
        }));
    }
    let verb = if args.dry_run { "Would approve" } else { "Approved" };
    done.message = format!("{verb} {}, skipped {}", done.approved.len(), done.skipped.len());
    Ok(done)
}

/// Returns the items with their names on the command line, in the versions of `--base` or as the user has just seen them.
/// A name without such an item is skipped.
fn named(
    store: &mut Store,
    args: &ApproveArgs,
    skipped: &mut Vec<SkippedItem>,
    output: &mut Output,
) -> Result<Vec<(String, PendingItem)>, Failure> {
    let ApproveArgs { names, base, dry_run, .. } = args;
    if !base.is_empty() && names.len() != base.len() {
        let message = format!("{} name(s) and {} version(s)", names.len(), base.len());
        return Err(Failure::usage(message, "give --base once for each name, in the same order"));
    }
    let asks = base.is_empty() && !dry_run;
    if !names.is_empty() && asks && !output.can_ask() {
        let help = "give the version that `saddlebag list --pending` prints with --base, once for each name";
        let message = "the program cannot ask here, so --base must name the version to approve";
        return Err(Failure::new(ErrorCode::NeedsConfirmation, message, help));
    }
    let mut items: Vec<(String, PendingItem)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let mut item = match waiting(store, name, output)? {
            Ok(item) => item,
            Err(reason) => {
                skipped.push(SkippedItem { name: name.clone(), reason });
                continue;
            }
        };
        if items.iter().any(|(_, other)| other.path == item.path) {
            continue;
        }
        if asks && !is_wanted(&item, output)? {
            skipped.push(SkippedItem { name: name.clone(), reason: "the answer was not yes".into() });
            continue;
        }
        item.text = None;
        if let Some(base) = base.get(at) {
            item.version.clone_from(base);
        }
        items.push((name.clone(), item));
    }
    Ok(items)
}

/// Shows the whole text, and asks for its approval.
fn is_wanted(item: &PendingItem, output: &mut Output) -> Result<bool, Failure> {
    print_item(item, output)?;
    // A long text may have scrolled its flags out of sight.
    let flagged = if item.findings.is_empty() { String::new() } else { format!(" ({})", flags(&item.findings)) };
    Ok(output.asks(&format!("Let `{}` into prompts{flagged}?", single_line(item.name.as_str())))?)
}

/// Returns the items of a source, if the listing is still the one that the user has seen.
fn all_from(
    store: &mut Store,
    from: &str,
    args: &ApproveArgs,
    output: &mut Output,
) -> Result<Vec<(String, PendingItem)>, Failure> {
    let request = Pending { limit: u32::MAX, source: Some(from.into()), ..Pending::default() };
    let listing = store.call(request, output)?;
    let count = listing.items.len();
    let refused = |code: ErrorCode, message: &str| {
        let help = "`saddlebag list --pending --from SOURCE` lists what waits, and prints the --base for it";
        Failure::new(code, message, help)
    };
    let unconfirmed = |message: &str| refused(ErrorCode::NeedsConfirmation, message);
    match args.base.as_slice() {
        _ if count == 0 => {}
        [] if args.dry_run => {}
        [base] if *base == listing.digest => {}
        [base] if is_digest_of_page(store, from, base, output)? => {
            let message = format!("this is the --base of a page, and {count} items wait");
            let help = format!(
                "`saddlebag list --pending --from SOURCE -n {count}` lists all of them, and prints the --base for all"
            );
            return Err(Failure::new(ErrorCode::StaleVersion, message, help));
        }
        [_] => return Err(refused(ErrorCode::StaleVersion, "the text has changed since it was listed")),
        [] if output.can_ask() => {
            for item in &listing.items {
                print_item(item, output)?;
            }
            if !output.asks(&format!("Let all {count} into prompts?"))? {
                return Err(unconfirmed("the answer was not yes"));
            }
        }
        [] => return Err(unconfirmed("the program cannot ask here, so --base must name the version to approve")),
        _ => {
            return Err(Failure::usage(
                "--all-from takes one --base",
                "give the one that `saddlebag list --pending --from SOURCE` printed",
            ));
        }
    }
    Ok(listing.items.into_iter().map(|item| (item.path.to_string(), item)).collect())
}

/// Returns true if a digest is that of the first page, as `list` prints it.
fn is_digest_of_page(store: &mut Store, from: &str, digest: &str, output: &mut Output) -> Result<bool, Failure> {
    let request = Pending { limit: DEFAULT_PENDING_ITEMS, source: Some(from.into()), ..Pending::default() };
    Ok(store.call(request, output)?.digest == digest)
}

fn print(reply: &Approved, output: &mut Output) -> Result<(), Failure> {
    for item in &reply.approved {
        print_item(item, output)?;
    }
    for item in &reply.skipped {
        output.line(&format!("skipped {}: {}", single_line(&item.name), single_line(&item.reason)))?;
    }
    output.line(&reply.message)?;
    Ok(())
}
