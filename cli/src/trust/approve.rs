//! `memory approve`: approves notes and entries for prompts.
//!
//! An approval names the version of the text, so that it covers only the text that the user has seen. On a terminal
//! the program shows the text and asks; elsewhere `--base` names the version.

use clap::Args;
use saddlebag::approval::{Approve, ApproveItem, ApproveReply, MAX_NAMES, Pending, SkippedItem};
use saddlebag::protocol::ErrorCode;

use super::shared::{flags, print_item};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::shown_path;
use crate::output::{Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Let notes and entries into prompts
#[derive(Debug, Args)]
#[command(after_help = example("memory approve deploy_target facts/load-balancer.md"))]
pub(crate) struct ApproveArgs {
    /// Keys of entries, or paths, names or titles of notes; put `--` before a name that begins with a hyphen; a terminal
    /// shows each text and asks
    #[arg(value_name = "KEY|PATH", value_parser = shown_path)]
    names: Vec<String>,
    /// Source: approve all that `memory pending --from SOURCE` lists now
    #[arg(long, value_name = "SOURCE", conflicts_with = "names")]
    all_from: Option<String>,
    /// Version that `memory pending` printed, once for each name in their order; with --all-from the digest that it
    /// printed; needed where nobody can be asked
    #[arg(long, value_name = "VERSION")]
    base: Vec<String>,
    /// Print what would be approved, and approve nothing
    #[arg(long)]
    dry_run: bool,
}

impl Subcommand for ApproveArgs {
    type Json = ApproveReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = approve(&mut Store::open(global)?, self, output)?;
        if output.is_json() {
            output.object(&reply)?;
        } else {
            print(&reply, output)?;
        }
        Ok(match (reply.skipped.is_empty(), reply.approved.is_empty()) {
            (false, _) => Exit::Failed,
            (true, true) => Exit::Nothing,
            (true, false) => Exit::Done,
        })
    }
}

fn approve(store: &mut Store, args: ApproveArgs, output: &mut Output) -> Result<ApproveReply, Failure> {
    let mut skipped = Vec::new();
    let items = match &args.all_from {
        Some(from) => all_from(store, from, &args, output)?,
        None if !args.base.is_empty() => by_versions(&args)?,
        None => seen(store, &args, &mut skipped, output)?,
    };
    let mut done = ApproveReply { skipped, ..ApproveReply::default() };
    if items.is_empty() && (args.all_from.is_some() || !args.names.is_empty()) {
        done.message = message(&done, args.dry_run);
        return Ok(done);
    }
    // Without any name, the component returns the error.
    let parts: Vec<&[ApproveItem]> = if items.is_empty() { vec![&[]] } else { items.chunks(MAX_NAMES).collect() };
    for part in parts {
        let request = Approve { items: part.to_vec(), dry_run: args.dry_run };
        let reply = store.call(request, output)?;
        done.approved.extend(reply.approved);
        done.skipped.extend(reply.skipped);
    }
    done.message = message(&done, args.dry_run);
    Ok(done)
}

fn message(reply: &ApproveReply, dry_run: bool) -> String {
    let verb = if dry_run { "Would approve" } else { "Approved" };
    format!("{verb} {}, skipped {}", reply.approved.len(), reply.skipped.len())
}

/// Returns the names with the versions of `--base`.
fn by_versions(args: &ApproveArgs) -> Result<Vec<ApproveItem>, Failure> {
    let ApproveArgs { names, base, .. } = args;
    if names.len() != base.len() {
        let message = format!("{} name(s) and {} version(s)", names.len(), base.len());
        return Err(Failure::usage(message, "give --base once for each name, in their order; nothing was changed"));
    }
    let pairs = names.iter().zip(base);
    Ok(pairs.map(|(name, base)| ApproveItem { name: name.clone(), version: base.clone() }).collect())
}

/// Shows each whole text and asks for approval. A missing text, or one without a yes, is skipped.
fn seen(
    store: &mut Store,
    args: &ApproveArgs,
    skipped: &mut Vec<SkippedItem>,
    output: &mut Output,
) -> Result<Vec<ApproveItem>, Failure> {
    if !args.names.is_empty() && !args.dry_run && !output.can_ask() {
        let help = "give the version that `saddlebag memory pending` prints with --base, once for each name; nothing was changed";
        return Err(Failure::usage("nobody can be asked, and no version says which text was seen", help));
    }
    let mut items = Vec::new();
    for name in &args.names {
        let request = Pending { limit: 1, name: Some(name.clone()), ..Pending::default() };
        let found = match store.call(request, output) {
            Ok(reply) => reply.items.into_iter().next(),
            Err(failure) if failure.code == ErrorCode::NotFound.into() => None,
            Err(failure) => return Err(failure),
        };
        let Some(item) = found else {
            let reason = "nothing of this name waits to be approved, or it could be several".to_string();
            skipped.push(SkippedItem { name: name.clone(), reason });
            continue;
        };
        if !args.dry_run {
            print_item(&item, output)?;
            // A long text may have scrolled its flags out of sight.
            let flagged =
                if item.findings.is_empty() { String::new() } else { format!(" ({})", flags(&item.findings)) };
            if !output.asks(&format!("Let `{}` into prompts{flagged}?", single_line(&item.name)))? {
                skipped.push(SkippedItem { name: name.clone(), reason: "the answer was not yes".into() });
                continue;
            }
        }
        items.push(ApproveItem { name: item.path.into_string(), version: item.version });
    }
    Ok(items)
}

/// Returns the items of a source, if the listing is still the one that the user has seen.
fn all_from(
    store: &mut Store,
    from: &str,
    args: &ApproveArgs,
    output: &mut Output,
) -> Result<Vec<ApproveItem>, Failure> {
    let request = Pending { limit: u32::MAX, source: Some(from.into()), ..Pending::default() };
    let listing = store.call(request, output)?;
    let count = listing.items.len();
    let changed = |message: &str| {
        let help = "`saddlebag memory pending --from SOURCE` lists what waits, and prints the --base for it; nothing was changed";
        Failure { exit: Exit::Failed, ..Failure::usage(message, help) }
    };
    match args.base.as_slice() {
        _ if count == 0 || args.dry_run => {}
        [base] if *base == listing.digest => {}
        [_] => return Err(changed("the text that waits is not the text that was listed")),
        [] if output.can_ask() => {
            for item in &listing.items {
                print_item(item, output)?;
            }
            if !output.asks(&format!("Let all {count} into prompts?"))? {
                return Err(changed("the answer was not yes"));
            }
        }
        [] => return Err(changed("nobody can be asked, and no --base says which text was seen")),
        _ => {
            return Err(Failure::usage(
                "--all-from takes one --base",
                "give the one that `saddlebag memory pending --from SOURCE` printed",
            ));
        }
    }
    Ok(listing
        .items
        .into_iter()
        .map(|item| ApproveItem { name: item.path.into_string(), version: item.version })
        .collect())
}

fn print(reply: &ApproveReply, output: &mut Output) -> Result<(), Failure> {
    for item in &reply.approved {
        print_item(item, output)?;
    }
    for item in &reply.skipped {
        output.line(&format!("skipped {}: {}", single_line(&item.name), single_line(&item.reason)))?;
    }
    output.line(&reply.message)?;
    Ok(())
}
