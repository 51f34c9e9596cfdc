//! `agents-md`: writes facts into a section of AGENTS.md.

use std::path::PathBuf;

use saddlebag::agents_md::{SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::items::{ItemKind, ListItems};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;

use super::context::left_out;
use super::folder;
use super::syncing::Syncing;
use crate::item::entry;
use crate::output::single_line;
use crate::prelude::*;

/// Write facts into a section of AGENTS.md
#[derive(Debug, Args)]
#[command(after_help = example("agents-md sync --tag ops --dry-run"))]
pub(crate) struct SyncArgs {
    /// Folder with the file
    #[arg(long, value_name = "PATH", default_value = ".")]
    dir: PathBuf,
    /// Name of the file, created if it is missing and there is a fact to list
    #[arg(long, value_name = "NAME", default_value = "AGENTS.md")]
    file: String,
    /// Tag of the facts to list; repeatable
    #[arg(long, short, value_name = "TAG")]
    tag: Vec<String>,
    /// Key of a fact to list; repeatable
    #[arg(long, short, value_name = "KEY", allow_hyphen_values = true)]
    key: Vec<String>,
    /// Maximum size of the section, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::agents_md::DEFAULT_SECTION_BYTES)]
    max_bytes: u32,
    /// Go on without asking if no entry has a tag or a key
    #[arg(long)]
    yes: bool,
    /// Write nothing, and print whether the file would change
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
    // It lasts until the file is written.
    let _syncing = (!args.dry_run).then(|| Syncing::begin(&args.dir)).flatten();
    if !args.dry_run {
        folder.clear_leftovers();
    }
    let mut store = Store::open(global)?;
    check_names(&args, &mut store, output)?;
    let SyncArgs { file, tag, key, max_bytes, dry_run, .. } = args;
    let request = SyncAgentsMd { name: file, content: None, tags: tag, keys: key, max_bytes };
    let reply = store.sync_agents_md(&mut folder, &path, &request, dry_run, output)?;
    if output.json(&reply)? {
        return Ok(Exit::Done);
    }
    let message = reply.message.as_str();
    let message = if dry_run { message.replacen(" changes: ", " would change: ", 1) } else { message.to_string() };
    output.line(&single_line(&message))?;
    output.flush()?;
    left_out(&reply.left_out).iter().for_each(|line| output.warning(line));
    reply.problems.iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
    Ok(Exit::Done)
}

/// Asks for confirmation if no entry has one of the tags or keys. A mistyped name would take facts out of the section.
fn check_names(args: &SyncArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let mut unknown: Vec<String> = Vec::new();
    if !args.tag.is_empty() {
        // The condition of a list on tags has patterns; the section takes a tag as it is written.
        let entries = store.call(ListItems { kinds: vec![ItemKind::Entry], ..ListItems::default() }, output)?.items;
        let missing = args.tag.iter().filter(|tag| !entries.iter().any(|entry| entry.tags.contains(tag)));
        unknown.extend(missing.map(|tag| format!("the tag `{}`", tag.escape_debug())));
    }
    for key in &args.key {
        match entry(key.clone(), store, output) {
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

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
