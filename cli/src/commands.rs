//! What each subcommand does: a command for the store, and its reply on the screen.

use clap::CommandFactory;
use saddlebag::Reply;
use saddlebag::journal::{
    AppendDaily, Edit, EditChange, FileState, FlushSummary, JournalCommand, JournalReply, List, Read, Restore, Search,
    Slash, Target, TargetRole, Write,
};
use saddlebag::search::{SearchHit, SearchResults};
use saddlebag::store::NOTE_SUFFIX;
use serde_json::json;

use crate::args::{
    self, AgentsMdCommand, Cli, EditArgs, ListArgs, LogArgs, NamedTarget, ReadArgs, RestoreArgs, SearchArgs, WriteArgs,
};
use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::input::target;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::output::{Output, STRONG, warn_of_skipped};
use crate::store::execute;
use crate::{
    context, demo, entries, exchange, input, instructions, json, location, notebook, status, tools, trust, zk,
};

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
        args::Command::Context(args) => context::run(&args, &global, output),
        args::Command::Preamble(args) => instructions::preamble(&args, &global, output),
        args::Command::AgentsMd(AgentsMdCommand::Sync(args)) => instructions::sync(args, &global, output),
        args::Command::Notebook(notebook::Command::Forget { key: Some(key), .. }) => {
            entries::forget(key, &global, output)
        }
        args::Command::Notebook(command) => notebook::run(command, &global, output),
        args::Command::Entries(command) => exchange::run(command, &global, output),
        args::Command::Tools(args) => tools::list(&args, output),
        args::Command::Call(args) => tools::call(args, &global, output),
        args::Command::Trust(command) => trust::run(command, &global, output),
        args::Command::Zk { arguments } => Ok(Exit::OfZk(zk::run(arguments, &global))),
    }
}

fn named(args: &NamedTarget, role: TargetRole) -> Result<Target, Failure> {
    target(&args.target, args.name.as_deref().or(args.named.as_deref()), role)
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
    let target = input::target(&target, name.as_deref(), TargetRole::Target)?;
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
