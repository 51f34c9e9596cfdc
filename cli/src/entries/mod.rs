//! The subcommands of entries.
//!
//! Every verb is a word of its own, as in the other families. What lists is named by what it lists: `list` has
//! files, `notes` has notes, `entries` has entries. `forget` is one verb for both families: a note by its name,
//! an entry by `--key`.

mod args;
mod export;
mod formats;
mod import;
mod json;
mod sources;

use saddlebag::entries::{
    CheckpointReply, CloseRun, EntriesCommand, EntriesReply, EntriesVerb, EntryInfo, EntryProblem, Explanation,
    ForgetEntry, OpenRun, RestoreEntry, SkippedEntry, StoreState,
};
use saddlebag::store::utc_text;
use saddlebag::trust::ForModel;

pub(crate) use args::{Command, ExportArgs, ImportArgs, ModeName};
pub(crate) use export::{Target, cut_short, report, sync_stream, waiting, write_file};
pub(crate) use formats::FormatName;
pub(crate) use json::{problems, reply as json};
pub(crate) use sources::stream as tar_members;

use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{FAINT, Output, STRONG, shown};
use crate::store::{Store, run_entries};
use args::{RunArgs, Task};

/// How many characters of a content a list shows.
const PREVIEW_CHARS: usize = 80;

/// Runs the subcommand; `import` and `export` with files of entries as we keep them.
pub(crate) fn run(command: Command, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    match command.into_task()? {
        Task::Verb(verb) => run_verb(verb, global, output),
        Task::Run(args) => {
            let reply = run_of_agent(&args, global, output)?;
            show(&reply, output)
        }
        Task::Export(args) => export::run(&args, global, output),
        Task::Import(args) => import::run(&args, global, output),
    }
}

/// Forgets the entry of a key.
pub(crate) fn forget(key: String, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    run_verb(EntriesVerb::ForgetEntry(ForgetEntry { key, base: None }), global, output)
}

/// Restores the entry of a key.
pub(crate) fn restore(key: String, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    run_verb(EntriesVerb::RestoreEntry(RestoreEntry { key }), global, output)
}

fn run_verb(verb: EntriesVerb, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let is_question = matches!(verb, EntriesVerb::GetEntry(_));
    let reply = run_entries(&mut Store::open(global)?, EntriesCommand::new(verb), output);
    match reply {
        // Nothing was to be changed: there is only nothing to show.
        Err(failure) if is_question && failure.code == "entry-not-found" => {
            Err(Failure { exit: Exit::Nothing, ..failure })
        }
        reply => show(&reply?, output),
    }
}

/// Opens a run, hands its entries in, and closes it. One that is refused is named, and the others go on.
fn run_of_agent(args: &RunArgs, global: &Global, output: &mut Output) -> Result<EntriesReply, Failure> {
    let verbs = args::run_verbs(args)?;
    let mut store = Store::open(global)?;
    let of_run = |verb| EntriesCommand { run: Some(args.name.clone()), ..EntriesCommand::new(verb) };
    run_entries(&mut store, of_run(EntriesVerb::OpenRun(OpenRun { fence: args.fence })), output)?;
    let mut refused = Vec::new();
    for (key, verb) in verbs {
        if let Err(failure) = run_entries(&mut store, of_run(verb), output) {
            refused.push(SkippedEntry { key, reason: failure.message });
        }
    }
    let reply = run_entries(&mut store, of_run(EntriesVerb::CloseRun(CloseRun)), output)?;
    let EntriesReply::CloseRun(mut saved) = reply else { return Err(wrong_reply()) };
    saved.skipped.splice(0..0, refused);
    let (stored, skipped) = (saved.stored.len(), saved.skipped.len());
    let message = format!("Closed run {}: {stored} stored, {skipped} skipped", args.name);
    saved.message = ForModel::escaped(&message);
    Ok(EntriesReply::CloseRun(saved))
}

fn show(reply: &EntriesReply, output: &mut Output) -> Result<Exit, Failure> {
    let exit = exit(reply);
    if output.is_json() {
        output.object(&json(reply))?;
        return Ok(exit);
    }
    print(reply, output)?;
    output.flush()?;
    problems_of(reply).iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
    Ok(exit)
}

fn exit(reply: &EntriesReply) -> Exit {
    let is_nothing = match reply {
        EntriesReply::FindEntries(reply) => reply.hits.is_empty(),
        EntriesReply::ListEntries(reply) => reply.entries.is_empty(),
        EntriesReply::Hydrate(reply) => reply.entries.is_empty(),
        EntriesReply::Explain(reply) => reply.entries.is_empty(),
        _ => false,
    };
    let is_refused = match reply {
        EntriesReply::StoreEntry(reply) | EntriesReply::RestoreEntry(reply) => {
            matches!(reply.state, StoreState::Forgotten | StoreState::Conflict)
        }
        EntriesReply::CloseRun(reply) => !reply.skipped.is_empty(),
        _ => false,
    };
    match (is_refused, is_nothing) {
        (true, _) => Exit::Failed,
        (_, true) => Exit::Nothing,
        _ => Exit::Done,
    }
}

fn problems_of(reply: &EntriesReply) -> &[EntryProblem] {
    match reply {
        EntriesReply::FindEntries(reply) => &reply.problems,
        EntriesReply::ListEntries(reply) => &reply.problems,
        EntriesReply::Hydrate(reply) => &reply.problems,
        EntriesReply::Explain(reply) => &reply.problems,
        _ => &[],
    }
}

fn print(reply: &EntriesReply, output: &mut Output) -> Result<(), Failure> {
    match reply {
        EntriesReply::StoreEntry(reply) | EntriesReply::RestoreEntry(reply) => output.line(&shown(&reply.message))?,
        EntriesReply::ForgetEntry(reply) => output.line(&shown(&reply.message))?,
        EntriesReply::PurgeEntries(reply) => output.line(&shown(&reply.message))?,
        EntriesReply::OpenRun(reply) => output.line(&shown(&reply.message))?,
        EntriesReply::GetEntry(entry) => {
            output.text(&entry.content)?;
            output.flush()?;
            // Standard output has the content alone, byte for byte.
            if let Some(from) = entry.standing().unapproved() {
                output.warning(&format!("unapproved: {from}: it goes into no prompt until `approve` lets it in"));
            }
        }
        EntriesReply::FindEntries(reply) if reply.hits.is_empty() => output.line("Nothing found.")?,
        EntriesReply::FindEntries(reply) => {
            for hit in &reply.hits {
                let (key, category) = (shown(&hit.entry.key), shown(&hit.entry.category));
                output.styled(STRONG, &format!("{key}  ({category}){}", mark(&hit.entry)))?;
                output.line(&preview(&hit.passage))?;
            }
        }
        EntriesReply::ListEntries(reply) if reply.entries.is_empty() => output.line("No entries.")?,
        EntriesReply::ListEntries(reply) => {
            print_entries(&reply.entries, output)?;
            if let Some(next) = &reply.next {
                output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, shown(next)))?;
            }
        }
        EntriesReply::Hydrate(reply) => {
            for entry in &reply.entries {
                output.styled(STRONG, &format!("{}  ({})", shown(&entry.key), shown(&entry.category)))?;
                output.line(entry.content.trim_end())?;
            }
        }
        EntriesReply::Explain(reply) => {
            reply.entries.iter().try_for_each(|entry| print_explanation(entry, output))?;
            output.styled(FAINT, &format!("{} of {} bytes", reply.bytes, reply.max_bytes))?;
        }
        EntriesReply::Checkpoint(reply) | EntriesReply::CloseRun(reply) => print_saved(reply, output)?,
        _ => return Err(wrong_reply()),
    }
    Ok(())
}

fn print_entries(entries: &[EntryInfo], output: &mut Output) -> Result<(), Failure> {
    let width = |of: fn(&EntryInfo) -> &str| entries.iter().map(|entry| shown(of(entry)).chars().count()).max();
    let key = width(|entry| &entry.key).unwrap_or_default();
    let category = width(|entry| &entry.category).unwrap_or_default();
    for entry in entries {
        output.line(&format!(
            "{:key$}  {:category$}  {}{}  {}",
            shown(&entry.key),
            shown(&entry.category),
            utc_text(entry.updated),
            mark(entry),
            preview(&entry.content)
        ))?;
    }
    Ok(())
}

/// What keeps an entry out of prompts until it is approved.
fn mark(entry: &EntryInfo) -> String {
    entry.standing().unapproved().map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}

fn print_explanation(entry: &Explanation, output: &mut Output) -> Result<(), Failure> {
    let Explanation { rank, size, total, .. } = entry;
    let tier = if entry.pinned { "pinned" } else { "windowed" };
    let decision = entry.left_out.as_deref().unwrap_or("in");
    let key = shown(&entry.key);
    output.line(&format!("{tier:8} {rank:4}  {size:6} bytes  {total:7} in all  {decision:21}  {key}"))?;
    Ok(())
}

fn print_saved(reply: &CheckpointReply, output: &mut Output) -> Result<(), Failure> {
    output.line(&shown(&reply.message))?;
    for entry in &reply.skipped {
        output.line(&format!("skipped {}: {}", shown(&entry.key), shown(&entry.reason)))?;
    }
    for (what, keys) in [("swept", &reply.swept), ("evicted", &reply.evicted)] {
        if !keys.is_empty() {
            output.line(&format!("{what}: {}", shown(&keys.join(", "))))?;
        }
    }
    Ok(())
}

/// The beginning of a content on one line.
fn preview(content: &str) -> String {
    let words: Vec<&str> = content.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    let mut chars = line.chars();
    let head: String = chars.by_ref().take(PREVIEW_CHARS).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}
