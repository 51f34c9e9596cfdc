//! `agents-md`: keeps facts in a section of AGENTS.md. The component decides how to merge the section and the store.

use std::path::{Path, PathBuf};

use clap::Args;
use saddlebag::agents_md::{FactChangeKind, Side, SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::entries::{EntryFilter, GetEntry, ListEntries};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;

use super::context::left_out;
use super::folder;
use super::syncing::Syncing;
use crate::failure::{Exit, Failure, help_of_run};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;
use crate::word::word;

/// Write facts into a section of AGENTS.md, and read edits back
#[derive(Debug, Args)]
#[command(after_help = example("agents-md sync --tag ops --dry-run"))]
pub(crate) struct SyncArgs {
    /// Folder with the file
    #[arg(long, value_name = "PATH", default_value = ".")]
    dir: PathBuf,
    /// Name of the file, created if it is missing and there is a fact to list
    #[arg(long, value_name = "NAME", default_value = "AGENTS.md")]
    file: String,
    /// Tag of the facts to list; without --tag and --key the section keeps the facts that it lists
    #[arg(long, short, value_name = "TAG")]
    tag: Vec<String>,
    /// Key of a fact to list; repeatable
    #[arg(long, short, value_name = "KEY", allow_hyphen_values = true)]
    key: Vec<String>,
    /// Maximum size of the section, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::agents_md::DEFAULT_SECTION_BYTES)]
    max_bytes: u32,
    /// Side that wins a conflict: section or store
    #[arg(long, value_name = "SIDE", value_parser = word::<Side>())]
    prefer: Option<Side>,
    /// Confirm without asking: changes to prompts, a section that another store wrote, an unknown tag or key
    #[arg(long)]
    yes: bool,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Subcommand for SyncArgs {
    type Json = SyncAgentsMdReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        sync(self, global, output)
    }
}

fn sync(args: SyncArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let path = RelPath::new(args.file.clone()).map_err(|error| {
        let message = format!("`{}` is not a file below the folder: {error}", args.file.escape_debug());
        Failure::usage(message, "give its path below --dir")
    })?;
    let mut folder = folder::open(&args.dir, global)?;
    let identity = identity(&args.dir, &path)?;
    // It lasts until the file is written.
    let _syncing = (!args.dry_run).then(|| Syncing::begin(&args.dir)).flatten();
    if !args.dry_run {
        folder.clear_leftovers();
    }
    let mut store = Store::open(global)?;
    check_names(&args, &mut store, output)?;
    let SyncArgs { file, tag, key, max_bytes, prefer, yes, dry_run, .. } = args;
    let mut request = SyncAgentsMd {
        name: file,
        identity,
        tags: tag,
        keys: key,
        max_bytes,
        prefer,
        dry_run,
        ..SyncAgentsMd::default()
    };
    let reply = loop {
        let reply = store.sync_agents_md(&mut folder, &path, &request, output)?;
        let Some(unconfirmed) = reply.unconfirmed.as_ref().filter(|_| !dry_run) else { break reply };
        // A confirmation holds only for the changes that the user has seen. Changes made since are shown again.
        let is_new = request.confirmed.as_ref() != Some(&unconfirmed.digest);
        if !is_new || !is_confirmed(&reply, yes, output)? {
            break reply;
        }
        request.confirmed = Some(unconfirmed.digest.clone());
    };
    show(reply, dry_run, output)
}

/// Asks for confirmation if no entry has one of the tags or keys. A mistyped name would take facts out of the section.
fn check_names(args: &SyncArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let mut unknown: Vec<String> = Vec::new();
    for tag in &args.tag {
        let filter = EntryFilter { all_tags: vec![tag.clone()], ..EntryFilter::default() };
        if store.call(ListEntries { filter, limit: Some(1), cursor: None }, output)?.total == 0 {
            unknown.push(format!("the tag `{}`", tag.escape_debug()));
        }
    }
    for key in &args.key {
        match store.call(GetEntry { key: key.clone() }, output) {
            Ok(_) => {}
            Err(failure) if failure.code == ErrorCode::EntryNotFound.into() => {
                unknown.push(format!("the key `{}`", key.escape_debug()));
            }
            Err(failure) => return Err(failure),
        }
    }
    if unknown.is_empty() || args.yes {
        return Ok(());
    }
    let unknown = format!("no entry has {}", unknown.join(" or "));
    if args.dry_run {
        output.warning(&unknown);
        return Ok(());
    }
    let help = "`saddlebag list --kind entry` shows keys and tags; `--yes` goes on";
    output.confirm(&format!("{}. Go on?", capitalised(&unknown)), &unknown, help, false)
}

/// Shows the changes that wait for confirmation, and asks for it.
fn is_confirmed(reply: &SyncAgentsMdReply, yes: bool, output: &mut Output) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    if output.is_json() {
        return Ok(false);
    }
    let question = match &reply.unconfirmed {
        Some(unconfirmed) => format!("{}. Make these changes?", capitalised(&unconfirmed.reason)),
        None => return Ok(false),
    };
    if !output.can_ask() {
        return Ok(false);
    }
    show_changes(reply, true, output)?;
    Ok(output.asks(&question)?)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the identity of a file: its path with links resolved. A copy elsewhere has another identity.
fn identity(folder: &Path, path: &RelPath) -> Result<String, Failure> {
    let whole = folder.canonicalize().map_err(|error| {
        let message =
            format!("the folder `{}` cannot be found: {}", folder.display(), saddlebag_host::io_cause(&error));
        Failure::new(ErrorCode::Storage, message, "name the folder of a project with --dir")
    })?;
    Ok(whole.join(path.as_str()).to_string_lossy().into_owned())
}

fn show(reply: SyncAgentsMdReply, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
    let is_open = |kind: &FactChangeKind| matches!(kind, FactChangeKind::Conflict(_) | FactChangeKind::Refused(_));
    let is_unconfirmed = reply.unconfirmed.is_some();
    let has_open = reply.changes.iter().any(|change| is_open(&change.kind));
    let exit = if has_open || (is_unconfirmed && !dry_run) { Exit::Failed } else { Exit::Done };
    if output.is_json() {
        output.object(&reply)?;
        return Ok(exit);
    }
    show_changes(&reply, dry_run || is_unconfirmed, output)?;
    output.line(&single_line(reply.message.as_str()))?;
    output.flush()?;
    left_out(&reply.left_out).iter().for_each(|line| output.warning(line));
    reply.problems.iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
    if is_unconfirmed {
        output.note(&help_of_run("look at the changes above; --yes confirms them"));
    } else if has_open {
        output.note("--prefer section or --prefer store settles a conflict; until then both sides stay as they are");
    }
    if reply.changes.iter().any(|change| change.kind == FactChangeKind::Stored) && !dry_run && !is_unconfirmed {
        crate::trust::note_pending(output)?;
    }
    Ok(exit)
}

/// Prints a line for each changed fact. Facts that a person must check are printed with their text.
fn show_changes(reply: &SyncAgentsMdReply, would: bool, output: &mut Output) -> Result<(), Failure> {
    for change in &reply.changes {
        let (word, reason) = change.kind.words();
        let line = change.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let reason = reason.map(|reason| format!(": {}", single_line(reason))).unwrap_or_default();
        let would = if would && reason.is_empty() { "would be " } else { "" };
        output.line(&format!("{would}{word} {}{line}{reason}", single_line(&change.key)))?;
        if reply.unconfirmed.is_some() {
            for (side, text) in [("entry:  ", &change.entry), ("section:", &change.section)] {
                let lines = text.iter().flat_map(|text| text.lines()).enumerate();
                for (number, line) in lines {
                    let side = if number == 0 { side } else { "        " };
                    output.line(&format!("  {side} {}", single_line(line)))?;
                }
            }
        }
    }
    Ok(())
}
