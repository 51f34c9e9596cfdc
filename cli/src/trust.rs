//! `pending` and `approve`: what waits to go into prompts, and what a person lets in.
//!
//! A text is approved by its version, so that it is the one that was looked at. On a terminal the program shows the
//! text and asks; elsewhere `--base` says which text it was.

use clap::{Args, Subcommand};
use saddlebag::Reply;
use saddlebag::approval::{
    Approve, ApproveItem, ApproveReply, MAX_NAMES, Pending, PendingItem, PendingReply, SkippedItem, TrustCommand,
    TrustReply,
};
use saddlebag::trust::Flag;

use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::json;
use crate::output::{FAINT, Output, STRONG, shown};
use crate::store::{Store, run_in};

/// How many items a list shows unless told otherwise.
const USUAL_ITEMS: u32 = 50;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List notes and entries of tools and imports, which go into no prompt until they are approved
    Pending(PendingArgs),
    /// Let notes and entries into prompts
    Approve(ApproveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// Show the whole text of this one: the key of an entry; the path, name or title of a note
    #[arg(value_name = "KEY|PATH", conflicts_with_all = ["from", "after"])]
    name: Option<String>,
    /// Only those with this source; `tool` and `import` select all of that provenance, a format such as claude-code
    /// all that was imported from it
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// How many at most
    #[arg(long, short = 'n', default_value_t = USUAL_ITEMS, value_name = "N")]
    limit: u32,
    /// The cursor that the page before has given
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Keys of entries; paths, names or titles of notes; behind `--` where one begins with a hyphen. On a terminal each
    /// text is shown and asked for
    #[arg(value_name = "KEY|PATH")]
    names: Vec<String>,
    /// All that `pending --from SOURCE` lists now
    #[arg(long, value_name = "SOURCE", conflicts_with = "names")]
    all_from: Option<String>,
    /// The version that `pending` has shown, once for each name and in their order; with --all-from the digest that
    /// `pending --from` has printed. Needed where nobody can be asked
    #[arg(long, value_name = "VERSION")]
    base: Vec<String>,
    /// Only say what would be approved
    #[arg(long)]
    dry_run: bool,
}

/// Runs the subcommand.
pub(crate) fn run(command: Command, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut store = Store::open(global)?;
    let reply = match command {
        Command::Pending(PendingArgs { name, from, limit, after: cursor }) => {
            TrustReply::Pending(pending(&mut store, Pending { limit, cursor, name, from }, output)?)
        }
        Command::Approve(args) => TrustReply::Approve(approve(&mut store, args, output)?),
    };
    let exit = match &reply {
        TrustReply::Pending(reply) if reply.items.is_empty() => Exit::Nothing,
        TrustReply::Approve(reply) if !reply.skipped.is_empty() => Exit::Failed,
        TrustReply::Approve(reply) if reply.approved.is_empty() => Exit::Nothing,
        _ => Exit::Done,
    };
    if output.is_json() {
        output.object(&json::trust::reply(&reply))?;
        return Ok(exit);
    }
    print(&reply, output)?;
    Ok(exit)
}

fn pending(store: &mut Store, request: Pending, output: &mut Output) -> Result<PendingReply, Failure> {
    match run_in(store, TrustCommand::Pending(request), output)? {
        Reply::Trust(TrustReply::Pending(reply)) => Ok(reply),
        _ => Err(wrong_reply()),
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
    // Without any name the component says what is missing.
    let parts: Vec<&[ApproveItem]> = if items.is_empty() { vec![&[]] } else { items.chunks(MAX_NAMES).collect() };
    for part in parts {
        let request = Approve { items: part.to_vec(), dry_run: args.dry_run };
        let Reply::Trust(TrustReply::Approve(reply)) = run_in(store, TrustCommand::Approve(request), output)? else {
            return Err(wrong_reply());
        };
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

/// The names with the versions that were given.
fn by_versions(args: &ApproveArgs) -> Result<Vec<ApproveItem>, Failure> {
    let ApproveArgs { names, base, .. } = args;
    if names.len() != base.len() {
        let message = format!("{} name(s) and {} version(s)", names.len(), base.len());
        return Err(Failure::usage(message, "give --base once for each name, in their order; nothing was changed"));
    }
    let pairs = names.iter().zip(base);
    Ok(pairs.map(|(name, base)| ApproveItem { name: name.clone(), base: base.clone() }).collect())
}

/// Shows each text as a whole and asks for it. What is not there, and what gets no yes, is skipped.
fn seen(
    store: &mut Store,
    args: &ApproveArgs,
    skipped: &mut Vec<SkippedItem>,
    output: &mut Output,
) -> Result<Vec<ApproveItem>, Failure> {
    if !args.names.is_empty() && !args.dry_run && !output.can_ask() {
        let help = "give the version that `pending` shows with --base, once for each name; nothing was changed";
        return Err(Failure::usage("nobody can be asked, and no version says which text was looked at", help));
    }
    let mut items = Vec::new();
    for name in &args.names {
        let request = Pending { limit: 1, name: Some(name.clone()), ..Pending::default() };
        let found = match pending(store, request, output) {
            Ok(reply) => reply.items.into_iter().next(),
            Err(failure) if failure.code == "not-found" => None,
            Err(failure) => return Err(failure),
        };
        let Some(item) = found else {
            let reason = "nothing of this name waits to be approved, or it could be several".to_string();
            skipped.push(SkippedItem { name: name.clone(), reason });
            continue;
        };
        if !args.dry_run {
            print_item(&item, output)?;
            // A long text may have moved the flags above it out of sight.
            let flagged = if item.flags.is_empty() { String::new() } else { format!(" ({})", flags(&item.flags)) };
            if !output.asks(&format!("Let `{}` into prompts{flagged}?", shown(&item.name)))? {
                skipped.push(SkippedItem { name: name.clone(), reason: "the answer was not yes".into() });
                continue;
            }
        }
        items.push(ApproveItem { name: item.path.into_string(), base: item.version });
    }
    Ok(items)
}

/// What is listed of a source, if it is what was looked at.
fn all_from(
    store: &mut Store,
    from: &str,
    args: &ApproveArgs,
    output: &mut Output,
) -> Result<Vec<ApproveItem>, Failure> {
    let request = Pending { limit: u32::MAX, from: Some(from.into()), ..Pending::default() };
    let listing = pending(store, request, output)?;
    let count = listing.items.len();
    let changed = |message: &str| {
        let help =
            "`pending --from SOURCE` lists what waits, and prints the --base of what it lists; nothing was changed";
        Failure { exit: Exit::Failed, ..Failure::usage(message, help) }
    };
    match args.base.as_slice() {
        _ if count == 0 || args.dry_run => {}
        [base] if *base == listing.digest => {}
        [_] => return Err(changed("what waits is not what was listed")),
        [] if output.can_ask() => {
            for item in &listing.items {
                print_item(item, output)?;
            }
            if !output.asks(&format!("Let all {count} into prompts?"))? {
                return Err(changed("the answer was not yes"));
            }
        }
        [] => return Err(changed("nobody can be asked, and no --base says what was looked at")),
        _ => {
            return Err(Failure::usage(
                "--all-from takes one --base",
                "give the one that `pending --from` has printed",
            ));
        }
    }
    Ok(listing
        .items
        .into_iter()
        .map(|item| ApproveItem { name: item.path.into_string(), base: item.version })
        .collect())
}

fn print(reply: &TrustReply, output: &mut Output) -> Result<(), Failure> {
    match reply {
        TrustReply::Pending(reply) if reply.items.is_empty() => output.line("Nothing waits to be approved.")?,
        TrustReply::Pending(reply) => {
            for item in &reply.items {
                print_item(item, output)?;
                output.styled(FAINT, &format!("  version: {}", item.version))?;
            }
            match &reply.next {
                Some(next) => {
                    output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, shown(next)))?;
                }
                None => output.styled(FAINT, &format!("Listed {}, digest: {}", reply.items.len(), reply.digest))?,
            }
        }
        TrustReply::Approve(reply) => {
            for item in &reply.approved {
                print_item(item, output)?;
            }
            for item in &reply.skipped {
                output.line(&format!("skipped {}: {}", shown(&item.name), shown(&item.reason)))?;
            }
            output.line(&reply.message)?;
        }
        _ => return Err(wrong_reply()),
    }
    Ok(())
}

fn print_item(item: &PendingItem, output: &mut Output) -> Result<(), Failure> {
    let source = item.source.as_ref().map(|source| format!(", from {}", shown(source))).unwrap_or_default();
    let provenance = item.provenance;
    output.styled(STRONG, &format!("{}  ({provenance}{source})  {}", shown(&item.name), shown(&item.path)))?;
    if !item.flags.is_empty() {
        output.line(&format!("  flagged: {}", flags(&item.flags)))?;
    }
    match &item.text {
        Some(text) => {
            for line in text.lines() {
                output.line(&format!("  {}", shown(line)))?;
            }
        }
        None => {
            let preview = item.preview.split_whitespace().collect::<Vec<_>>().join(" ");
            output.line(&format!("  {}", shown(&preview)))?;
        }
    }
    Ok(())
}

/// Says what becomes of text that has just been imported.
pub(crate) fn note_pending(output: &mut Output) -> Result<(), Failure> {
    output.flush()?;
    output.note("`pending` lists what waits to be approved; until then it goes into no prompt");
    Ok(())
}

/// Flags on one line.
pub(crate) fn flags(flags: &[Flag]) -> String {
    flags.iter().map(|flag| shown(&flag.to_string())).collect::<Vec<_>>().join(", ")
}
