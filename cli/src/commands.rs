//! What each subcommand does: a command for the store, and its reply on the screen.

use clap::CommandFactory;
use saddlebag::context::{BlockForm, Context, ContextEntries, ContextReply, LeftOut, append_memory_block};
use saddlebag::entries::{Hydrate, Policy};
use saddlebag::journal::{
    AppendDaily, Edit, EditChange, FileState, FlushSummary, JournalCommand, JournalReply, List, MEMORY_PROMPT, Read,
    Restore, Search, Slash, Target, TargetRole, Write,
};
use saddlebag::notebook::{NotebookCommand, RecallForTurn};
use saddlebag::search::{SearchHit, SearchResults, Skipped};
use saddlebag::store::NOTE_SUFFIX;
use saddlebag::trust::ForModel;
use saddlebag::{Command, Reply};
use serde_json::json;

use crate::args::{
    self, AgentsMdCommand, Cli, ContextArgs, EditArgs, Global, ListArgs, LogArgs, NamedTarget, ReadArgs, RestoreArgs,
    SearchArgs, WriteArgs,
};
use crate::failure::{Exit, Failure};
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::output::{Output, STRONG};
use crate::store::Store;
use crate::{demo, entries, input, instructions, json, location, notebook, status, tools, trust, zk};

/// The one turn that a run has.
const TURN: u64 = 1;
/// How many recalled notes go into the block.
const RECALLED_NOTES: u32 = 10;
/// How many hits a search lists unless told otherwise.
const USUAL_HITS: u32 = 50;

/// Runs the subcommand.
pub(crate) fn run(cli: Cli, output: &mut Output) -> Result<Exit, Failure> {
    let Cli { global, command } = cli;
    match command {
        args::Command::Path(args) => location::run(args, &global, output),
        #[cfg(feature = "mcp")]
        args::Command::Mcp(args) => mcp::run(&args, global, output),
        args::Command::Demo { keep } => demo::run(keep, &global, output),
        args::Command::Completions { shell } => completions(shell, output),
        args::Command::Write(args) => change(write(args)?, &global, output),
        args::Command::Edit(args) => change(edit(args)?, &global, output),
        args::Command::Log(args) => change(log(args)?, &global, output),
        args::Command::Restore(args) => restore(args, &global, output),
        args::Command::Slash { line } => change(JournalCommand::Slash(Slash { line: line.join(" ") }), &global, output),
        args::Command::Status => status::run(&global, output),
        args::Command::Read(args) => read(&args, &global, output),
        args::Command::List(args) => list(&args, &global, output),
        args::Command::Search(args) => search(args, &global, output),
        args::Command::Context(args) => context(&args, &global, output),
        args::Command::Preamble(args) => instructions::preamble(&args, &global, output),
        args::Command::AgentsMd(AgentsMdCommand::Sync(args)) => instructions::sync(args, &global, output),
        args::Command::Notebook(notebook::Command::Forget { key: Some(key), .. }) => {
            entries::forget(key, &global, output)
        }
        args::Command::Notebook(command) => notebook::run(command, &global, output),
        args::Command::Entries(command) => entries::run(command, &global, output),
        args::Command::Tools(args) => tools::list(&args, output),
        args::Command::Call(args) => tools::call(args, &global, output),
        args::Command::Trust(command) => trust::run(command, &global, output),
        args::Command::Zk { arguments } => Ok(Exit::OfZk(zk::run(arguments, &global))),
    }
}

/// The target that the words of a command line name.
pub(crate) fn target(word: &str, name: Option<&str>, role: TargetRole) -> Result<Target, Failure> {
    let inline =
        ["note", "page"].into_iter().find_map(|kind| Some((kind, word.strip_prefix(kind)?.strip_prefix(':')?)));
    match (inline, name) {
        (Some((kind, inline)), None) => Ok(Target::parse(kind, Some(inline), role)?),
        (Some((kind, inline)), Some(name)) => {
            let (inline, name) = (inline.escape_debug(), name.escape_debug());
            Err(Failure::usage(format!("the {kind} has two names, `{inline}` and `{name}`"), "give one"))
        }
        (None, name) => Ok(Target::parse(word, name, role)?),
    }
}

fn named(args: &NamedTarget, role: TargetRole) -> Result<Target, Failure> {
    target(&args.target, args.name.as_deref().or(args.named.as_deref()), role)
}

/// Opens the store and runs one command in it.
pub(crate) fn execute(command: impl Into<Command>, global: &Global, output: &mut Output) -> Result<Reply, Failure> {
    run_in(&mut Store::open(global)?, command, output)
}

/// Runs one command in an open store.
pub(crate) fn run_in(store: &mut Store, command: impl Into<Command>, output: &mut Output) -> Result<Reply, Failure> {
    let reply = store.run(command);
    if let Some(failure) = store.trace_failure() {
        output.warning(&failure);
    }
    reply
}

/// Runs a command whose reply is a message.
fn change(command: JournalCommand, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let reply = execute(command, global, output)?;
    let message = match &reply {
        Reply::Journal(
            JournalReply::Write(reply) | JournalReply::AppendDaily(reply) | JournalReply::FlushSummary(reply),
        ) => reply.message.as_str(),
        Reply::Journal(JournalReply::Edit(reply)) => reply.message.as_str(),
        Reply::Journal(JournalReply::Restore(reply)) => reply.message.as_str(),
        Reply::Journal(JournalReply::Status(reply)) => &reply.text,
        Reply::Journal(JournalReply::Slash(reply)) => &reply.text,
        _ => return Err(wrong_reply()),
    };
    output.object_or_line(|| json::reply(&reply), message)?;
    Ok(Exit::Done)
}

fn write(args: WriteArgs) -> Result<JournalCommand, Failure> {
    let target = target(&args.target, args.name.as_deref(), TargetRole::Target)?;
    Ok(JournalCommand::Write(Write {
        target,
        mode: args.mode,
        content: input::text(args.content)?,
        truncate: args.truncate,
    }))
}

fn edit(args: EditArgs) -> Result<JournalCommand, Failure> {
    let target = named(&args.target, TargetRole::Target)?;
    let change = match (args.old, args.new, args.delete) {
        (None, _, true) => EditChange::Delete,
        (Some(old), None, true) => EditChange::Replace { old: input::text(old)?, new: String::new() },
        (Some(old), Some(new), _) => {
            if old == "-" && new == "-" {
                return Err(Failure::usage("only one text can come from standard input", "give the other one here"));
            }
            EditChange::Replace { old: input::text(old)?, new: input::text(new)? }
        }
        // Leaving the new text out must not delete anything.
        (Some(_), None, false) => {
            return Err(Failure::usage(
                "edit needs the new text",
                "give --new TEXT, or --delete to delete the old one",
            ));
        }
        (None, _, false) => {
            return Err(Failure::usage("edit needs --old TEXT", "with --new TEXT; or only --delete to delete a note"));
        }
    };
    Ok(JournalCommand::Edit(Edit { target, change }))
}

fn log(args: LogArgs) -> Result<JournalCommand, Failure> {
    if args.compaction {
        return Ok(JournalCommand::FlushSummary(FlushSummary {
            summary: input::text(args.heading)?,
            messages: args.messages,
        }));
    }
    let body = args.body.map(input::text).transpose()?.unwrap_or_default();
    Ok(JournalCommand::AppendDaily(AppendDaily { heading: args.heading, body }))
}

/// Restores a file of the journal, a note by its path, or an entry by its key.
fn restore(args: RestoreArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let RestoreArgs { target, name, named: option, key } = args;
    if let Some(key) = key {
        return entries::restore(key, global, output);
    }
    let target = target.unwrap_or_default();
    let name = name.or(option);
    let is_path = !target.starts_with("note:") && (target.contains('/') || target.ends_with(NOTE_SUFFIX));
    if is_path && name.is_none() {
        return notebook::restore(target, global, output);
    }
    let target = self::target(&target, name.as_deref(), TargetRole::Target)?;
    change(JournalCommand::Restore(Restore { target }), global, output)
}

fn read(args: &ReadArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let target = named(&args.source, TargetRole::Source)?;
    let command = JournalCommand::Read(Read { target, offset: args.offset, max_bytes: args.limit });
    let reply = execute(command, global, output)?;
    let Reply::Journal(JournalReply::Read(part)) = &reply else { return Err(wrong_reply()) };
    let is_missing = part.state == FileState::Missing;
    if output.is_json() {
        output.object(&json::reply(&reply))?;
        return Ok(if is_missing { Exit::Nothing } else { Exit::Done });
    }
    if is_missing {
        return Err(Failure {
            help: "`list` shows what there is".into(),
            ..Failure::nothing(format!("there is no {}", part.path))
        });
    }
    output.text(&part.text)?;
    output.flush()?;
    if part.state == FileState::Empty {
        output.note(&format!("{} is empty", part.path));
    }
    if let Some(next) = part.next_offset {
        output.note(&format!("bytes {} to {next} of {}; --offset {next} shows what follows", part.offset, part.size));
    }
    Ok(Exit::Done)
}

fn list(args: &ListArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let reply = execute(JournalCommand::List(List), global, output)?;
    let Reply::Journal(JournalReply::List(list)) = &reply else { return Err(wrong_reply()) };
    let exit = if list.files.is_empty() { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&json::reply(&reply))?;
        return Ok(exit);
    }
    let width = list.files.iter().map(|file| file.size.to_string().len()).max().unwrap_or_default();
    for file in &list.files {
        let size = file.size;
        output.line(&if args.long { format!("{size:width$}  {}", file.path) } else { file.path.clone() })?;
    }
    output.flush()?;
    warn_of_skipped(&list.skipped, output);
    if exit == Exit::Nothing {
        return Err(Failure::nothing("there is no memory yet"));
    }
    Ok(exit)
}

fn search(args: SearchArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let words: Vec<String> = args.words.into_iter().map(input::text).collect::<Result<_, _>>()?;
    let request = Search {
        offset: args.offset,
        limit: args.limit.unwrap_or(USUAL_HITS),
        max_bytes: args.max_bytes,
        ..Search::new(words.join(" "))
    };
    let query = request.query.clone();
    let reply = execute(JournalCommand::Search(request), global, output)?;
    let Reply::Journal(JournalReply::Search(results)) = &reply else { return Err(wrong_reply()) };
    // An offset behind the last match finds nothing either.
    let exit = if results.hits.is_empty() && results.rendered_hits == 0 { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&json::reply(&reply))?;
        return Ok(exit);
    }
    if results.total_files == 0 {
        output.line(&format!("No matches for '{query}'."))?;
    } else if exit == Exit::Nothing {
        output.line(&format!("No more matches for '{query}': {} in all.", results.total_files))?;
    } else {
        print_results(results, args.limit, output)?;
    }
    output.flush()?;
    warn_of_skipped(&results.skipped, output);
    Ok(exit)
}

/// The rendering, with the names of the files set off.
fn print_results(results: &SearchResults, limit: Option<u32>, output: &mut Output) -> Result<(), Failure> {
    let limited = limit.filter(|&limit| limit < results.rendered_hits).map(|limit| limited(results, limit));
    let headings: Vec<String> = results.hits.iter().map(heading).collect();
    for line in limited.as_deref().unwrap_or(&results.rendered).lines() {
        if headings.iter().any(|heading| heading == line) {
            output.styled(STRONG, line)?;
        } else {
            output.line(line)?;
        }
    }
    Ok(())
}

/// The line above a hit, as the rendering has it.
fn heading(hit: &SearchHit) -> String {
    let mark = hit.unapproved.map(|from| format!(" (unapproved: {from})")).unwrap_or_default();
    format!("{}{mark}  [matched: {}]", hit.path, hit.terms.join(", "))
}

/// The rendering of the first hits alone: its own limit is in bytes.
fn limited(results: &SearchResults, limit: u32) -> String {
    let headline = results.rendered.lines().next().unwrap_or_default();
    let shown = format!("Showing top {}", results.rendered_hits);
    let mut blocks = vec![headline.replacen(&shown, &format!("Showing top {limit}"), 1)];
    blocks.extend(results.hits.iter().map(|hit| format!("{}\n{}", heading(hit), hit.body)));
    blocks.join("\n\n")
}

fn context(args: &ContextArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    if args.message && args.form != BlockForm::Openai {
        return Err(Failure::usage("--message is of OpenAI's interface", "give --for openai as well"));
    }
    let preamble = args.append_to.as_deref().map(input::file).transpose()?;
    let preamble_given = preamble.is_some();
    let mut store = Store::open(global)?;
    let turn = recalled(args.recall.as_deref(), &mut store)?;
    let entries = hydrated(args.entries, args.max_bytes);
    let ContextArgs { overflow, max_bytes, form, .. } = *args;
    let request = Context { overflow, max_bytes, turn, entries, form };
    let reply = run_in(&mut store, Command::Context(request), output)?;
    let Reply::Context(context) = &reply else { return Err(wrong_reply()) };
    let text = match &preamble {
        Some(preamble) => Some(append_memory_block(preamble, context.block.as_deref())),
        None => context.block.clone().map(ForModel::into_string),
    };
    // An empty text without a block says nothing either.
    let text = text.filter(|text| !text.is_empty());
    let exit = if text.is_some() || args.prompt { Exit::Done } else { Exit::Nothing };
    if output.is_json() {
        let mut object = json::reply(&reply);
        if let Some(fields) = object.as_object_mut() {
            let more = [
                ("prompt", args.prompt.then(|| MEMORY_PROMPT.into())),
                ("text", preamble.and_then(|_| text.clone()).map(Into::into)),
                ("message", text.filter(|_| args.message).map(|text| developer_message(&text))),
            ];
            fields.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
        }
        output.object(&object)?;
        return Ok(exit);
    }
    if args.report {
        report(context, output)?;
        return Ok(exit);
    }
    match text {
        Some(text) if args.message => output.object(&developer_message(&text))?,
        Some(text) => output.line(&text)?,
        None => {}
    }
    if args.prompt {
        if context.block.is_some() {
            output.line("")?;
        }
        output.text(MEMORY_PROMPT)?;
    }
    output.flush()?;
    if preamble_given && context.block.is_none() && exit == Exit::Done {
        output.note("memory has nothing to say: the text stands without a block");
    }
    for line in left_out(&context.left_out).iter().chain(&flagged(context)) {
        output.warning(line);
    }
    if exit == Exit::Nothing {
        return Err(Failure::nothing("memory has nothing to say: no block"));
    }
    Ok(exit)
}

/// Recalls what a block is to have for a question, and gives the turn that it was recalled for.
pub(crate) fn recalled(question: Option<&str>, store: &mut Store) -> Result<Option<u64>, Failure> {
    let Some(question) = question else { return Ok(None) };
    let query = input::text(question.to_string())?;
    store.run(NotebookCommand::RecallForTurn(RecallForTurn { turn: TURN, query, limit: RECALLED_NOTES }))?;
    Ok(Some(TURN))
}

/// The entries that a block is to have: of as many bytes as were asked for, else as the block has.
pub(crate) fn hydrated(asked: Option<Option<u64>>, block_bytes: u32) -> Option<ContextEntries> {
    asked.map(|bytes| ContextEntries {
        request: Hydrate { max_bytes: bytes.unwrap_or(block_bytes.into()), policy: Policy::Greedy },
        run: None,
    })
}

fn developer_message(text: &str) -> serde_json::Value {
    json!({ "role": "developer", "content": text })
}

fn report(context: &ContextReply, output: &mut Output) -> Result<(), Failure> {
    let bytes = context.block.as_ref().map_or(0, |block| block.len());
    output.line(&format!("block: {bytes} bytes, about {} tokens", context.tokens))?;
    let left_out = left_out(&context.left_out);
    if left_out.is_empty() {
        output.line("left out: nothing")?;
    }
    for line in left_out.into_iter().chain(flagged(context)) {
        output.line(&line)?;
    }
    Ok(())
}

/// What the texts of the block hide or pose as.
fn flagged(context: &ContextReply) -> Vec<String> {
    let lines = context.flags.iter().map(|flagged| {
        let what = flagged.key.as_deref().map_or_else(|| flagged.path.clone(), entries::shown);
        format!("flagged: {what} ({}): {}", flagged.section, trust::flags(&flagged.flags))
    });
    lines.collect()
}

pub(crate) fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    let lines = left_out.iter().map(|left_out| {
        let whole = left_out.kept_bytes + left_out.left_out_bytes;
        let (section, reason) = (&left_out.section, &left_out.reason);
        let what = left_out.key.as_deref().map_or_else(|| left_out.path.clone(), entries::shown);
        format!("left out: {} of {whole} bytes of {what} ({section}): {reason}", left_out.left_out_bytes)
    });
    lines.collect()
}

pub(crate) fn warn_of_skipped(skipped: &[Skipped], output: &mut Output) {
    for file in skipped {
        output.warning(&format!("skipped {}: {}", file.path, file.reason));
    }
}

fn completions(shell: clap_complete::Shell, output: &mut Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "saddlebag", &mut script);
    let script = String::from_utf8_lossy(&script);
    if output.is_json() {
        output.object(&json!({ "shell": shell.to_string(), "script": script }))?;
    } else {
        output.text(&script)?;
    }
    Ok(Exit::Done)
}

pub(crate) fn wrong_reply() -> Failure {
    Failure::new("component", "the reply is not of the kind of its command", "rebuild the program")
}
