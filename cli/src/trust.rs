//! `pending` and `approve`: what waits to go into prompts, and what a person lets in.

use clap::{Args, Subcommand};
use saddlebag::Reply;
use saddlebag::approval::{ApproveRequest, PendingItem, TrustCommand, TrustReply};
use saddlebag::trust::Flag;
use serde_json::{Value, json};

use crate::args::Global;
use crate::commands::{execute, wrong_reply};
use crate::entries::shown;
use crate::failure::{Exit, Failure};
use crate::output::{FAINT, Output, STRONG};

/// How many items a list shows unless told otherwise.
const USUAL_ITEMS: u32 = 50;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List notes and entries of tools and imports, which go into no prompt until they are approved
    Pending {
        /// How many at most
        #[arg(long, short = 'n', default_value_t = USUAL_ITEMS, value_name = "N")]
        limit: u32,
        /// The cursor that the page before has given
        #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
        after: Option<String>,
    },
    /// Let notes and entries into prompts
    Approve(ApproveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Keys of entries; paths, names or titles of notes; behind `--` where one begins with a hyphen
    #[arg(value_name = "KEY|PATH")]
    names: Vec<String>,
    /// All with this source; `tool` and `import` stand for all of that provenance, a format such as claude-code for
    /// all that was imported from it
    #[arg(long, value_name = "SOURCE")]
    all_from: Option<String>,
    /// Only if it still has the version that `pending --json` has shown; with one name alone
    #[arg(long, value_name = "VERSION")]
    base: Option<String>,
    /// Only say what would be approved
    #[arg(long)]
    dry_run: bool,
}

/// Runs the subcommand.
pub(crate) fn run(command: Command, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let command = match command {
        Command::Pending { limit, after } => TrustCommand::Pending { limit, cursor: after },
        Command::Approve(ApproveArgs { names, all_from: from, base, dry_run }) => {
            TrustCommand::Approve(ApproveRequest { names, from, base, dry_run })
        }
    };
    let reply = execute(command, global, output)?;
    let Reply::Trust(reply) = &reply else { return Err(wrong_reply()) };
    let exit = match reply {
        TrustReply::Pending(reply) if reply.items.is_empty() => Exit::Nothing,
        TrustReply::Approved(reply) if !reply.skipped.is_empty() => Exit::Failed,
        TrustReply::Approved(reply) if reply.approved.is_empty() => Exit::Nothing,
        _ => Exit::Done,
    };
    if output.is_json() {
        output.object(&self::json(reply))?;
        return Ok(exit);
    }
    print(reply, output)?;
    Ok(exit)
}

fn print(reply: &TrustReply, output: &mut Output) -> Result<(), Failure> {
    match reply {
        TrustReply::Pending(reply) if reply.items.is_empty() => output.line("Nothing waits to be approved.")?,
        TrustReply::Pending(reply) => {
            for item in &reply.items {
                print_item(item, output)?;
            }
            if let Some(next) = &reply.next {
                output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, shown(next)))?;
            }
        }
        TrustReply::Approved(reply) => {
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
    output.line(&format!("  {}", shown(&item.preview.split_whitespace().collect::<Vec<_>>().join(" "))))?;
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

/// Flags as JSON.
pub(crate) fn json_flags(flags: &[Flag]) -> Vec<Value> {
    let flag = |flag: &Flag| json!({ "kind": flag.kind.as_str(), "what": flag.what, "count": flag.count });
    flags.iter().map(flag).collect()
}

/// Any reply.
pub(crate) fn json(reply: &TrustReply) -> Value {
    match reply {
        TrustReply::Pending(reply) => json!({
            "items": reply.items.iter().map(item).collect::<Vec<_>>(),
            "next": reply.next,
            "total": reply.total,
        }),
        TrustReply::Approved(reply) => json!({
            "approved": reply.approved.iter().map(item).collect::<Vec<_>>(),
            "skipped": reply.skipped.iter().map(|item| json!({ "name": item.name, "reason": item.reason }))
                .collect::<Vec<_>>(),
            "message": reply.message,
        }),
        _ => Value::Null,
    }
}

fn item(item: &PendingItem) -> Value {
    json!({
        "name": item.name,
        "path": item.path,
        "is_entry": item.is_entry,
        "provenance": item.provenance.as_str(),
        "source": item.source,
        "version": item.version,
        "size": item.size,
        "preview": item.preview,
        "flags": json_flags(&item.flags),
    })
}
