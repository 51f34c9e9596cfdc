//! `preamble` and `agents-md`: the files of a project that tell its agents what to do, and the memory beside them.
//!
//! They lie outside of the store. What they are read and written by is an executor on their folder, with its locks, its
//! refusal of links and its atomic writes; what becomes of them is decided by the component.

use std::path::Path;

use saddlebag::agents_md::{AgentsMdReply, FactChangeKind, SyncAgentsMd};
use saddlebag::context::{Context, Preamble, PreambleFile, PreambleReply, PreambleRole};
use saddlebag::protocol::{FileContent, FsOp, FsOutcome, Precondition, ReadOutcome};
use saddlebag::store::RelPath;
use saddlebag::{Command, Reply};
use saddlebag_host::{Executor, LocalDir, LocalDirOptions, OpenError, Project};

use crate::args::{AgentsMdArgs, PreambleArgs};
use crate::context::{hydrated, left_out, recalled};
use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{self, Output, shown};
use crate::store::{Store, project, run_in};
use crate::{input, json};

/// How much is read of a file, at most.
const MAX_READ_BYTES: u32 = 512 << 10;

/// The names of a file that tells agents what to do; the first that there is counts.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
const ARCHITECTURE: &str = "ARCHITECTURE.md";

pub(crate) fn preamble(args: &PreambleArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    if let Some(base) = &args.base {
        let text = input::file(base)?;
        let (path, size) = (base.display().to_string(), text.len() as u64);
        files.push(PreambleFile { role: PreambleRole::Base, path, content: Ok(text.into_bytes()), size });
    }
    let mut folder = open(&args.dir, global)?;
    files.extend(INSTRUCTIONS.iter().find_map(|name| read(&mut folder, PreambleRole::Instructions, name)));
    files.extend(read(&mut folder, PreambleRole::Architecture, ARCHITECTURE));

    let is_of_folder = global.project.is_none() && !global.notebook;
    let project = if is_of_folder { Project::Path(args.dir.clone()) } else { project(global)? };
    let mut store = Store::of_project(project, global)?;
    let turn = recalled(args.recall.as_deref(), &mut store)?;
    let entries = hydrated(args.entries, args.memory_bytes);
    let PreambleArgs { overflow, memory_bytes, form, prompt, max_bytes, .. } = *args;
    let memory = Context { overflow, max_bytes: memory_bytes, turn, entries, form };
    let request = Preamble { files, memory, memory_prompt: prompt, max_bytes };
    let reply = run_in(&mut store, Command::Preamble(request), output)?;
    let Reply::Preamble(preamble) = &reply else { return Err(wrong_reply()) };
    let exit = if preamble.text.is_empty() { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&json::reply(&reply))?;
        return Ok(exit);
    }
    if args.report {
        report(preamble, output)?;
        return Ok(exit);
    }
    if exit == Exit::Done {
        output.line(&preamble.text)?;
    }
    output.flush()?;
    left_out(&preamble.left_out).iter().for_each(|line| output.warning(line));
    if exit == Exit::Nothing {
        return Err(Failure::nothing("there is nothing to say: no base prompt, no instructions, no memory"));
    }
    Ok(exit)
}

fn report(preamble: &PreambleReply, output: &mut Output) -> Result<(), Failure> {
    let PreambleReply { text, tokens, parts, left_out: missing } = preamble;
    output.line(&format!("preamble: {} bytes, about {tokens} tokens", text.len()))?;
    for part in parts {
        output.line(&format!("{}: {} bytes", part.name, part.bytes))?;
    }
    if missing.is_empty() {
        output.line("left out: nothing")?;
    }
    left_out(missing).iter().try_for_each(|line| output.line(line))?;
    Ok(())
}

pub(crate) fn sync(args: AgentsMdArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let path = RelPath::parse(args.file.clone()).map_err(|error| {
        let message = format!("`{}` is no file below the folder: {error}", args.file.escape_debug());
        Failure::usage(message, "give its path below --dir")
    })?;
    let mut folder = open(&args.dir, global)?;
    let identity = identity(&args.dir, &path)?;
    let mut store = Store::open(global)?;
    let AgentsMdArgs { file, tag, key, max_bytes, prefer, yes, dry_run, .. } = args;
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
        let reply = store.sync_agents_md(&mut folder, &path, &request);
        if let Some(failure) = store.trace_failure() {
            output.warning(&failure);
        }
        let reply = reply?;
        let Some(unconfirmed) = reply.unconfirmed.as_ref().filter(|_| !dry_run) else { break reply };
        // What is confirmed is what the person has seen; what changed since is shown again.
        let is_new = request.confirmed.as_ref() != Some(&unconfirmed.digest);
        if !is_new || !is_confirmed(&reply, yes, output)? {
            break reply;
        }
        request.confirmed = Some(unconfirmed.digest.clone());
    };
    if reply.content.is_some() && !dry_run {
        ignore_locks(&mut folder);
    }
    show(reply, dry_run, output)
}

/// Shows what waits, and asks for it.
fn is_confirmed(reply: &AgentsMdReply, yes: bool, output: &mut Output) -> Result<bool, Failure> {
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

/// Which file it is: its path without links, so that a copy of the file elsewhere is another one.
fn identity(folder: &Path, path: &RelPath) -> Result<String, Failure> {
    let whole = folder.canonicalize().map_err(|error| {
        let message =
            format!("the folder `{}` cannot be found: {}", folder.display(), saddlebag_host::io_cause(&error));
        Failure::new("storage", message, "name the folder of a project with --dir")
    })?;
    Ok(whole.join(path.as_str()).to_string_lossy().into_owned())
}

/// The locks are in a folder beside the file. Version control has nothing to do with them.
fn ignore_locks(folder: &mut LocalDir) {
    let Ok(path) = RelPath::parse(".saddlebag/.gitignore") else { return };
    // Where it cannot be made, the file is written all the same.
    let _ = folder.perform(&FsOp::Write { path, content: b"*\n".to_vec(), precondition: Precondition::Absent });
}

fn show(reply: AgentsMdReply, dry_run: bool, output: &mut Output) -> Result<Exit, Failure> {
    let is_open = |kind: &FactChangeKind| matches!(kind, FactChangeKind::Conflict(_) | FactChangeKind::Refused(_));
    let is_unconfirmed = reply.unconfirmed.is_some();
    let has_open = reply.changes.iter().any(|change| is_open(&change.kind));
    let exit = if has_open || (is_unconfirmed && !dry_run) { Exit::Failed } else { Exit::Done };
    if output.is_json() {
        output.object(&json::reply(&Reply::SyncAgentsMd(reply)))?;
        return Ok(exit);
    }
    show_changes(&reply, dry_run || is_unconfirmed, output)?;
    output.line(&shown(&reply.message))?;
    output.flush()?;
    left_out(&reply.left_out).iter().for_each(|line| output.warning(line));
    reply.problems.iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
    if is_unconfirmed {
        output.note("look at the changes above; --yes confirms them; nothing was changed");
    } else if has_open {
        output.note("--prefer section or --prefer store settles a conflict; until then both sides stay as they are");
    }
    if reply.changes.iter().any(|change| change.kind == FactChangeKind::Stored) && !dry_run && !is_unconfirmed {
        crate::trust::note_pending(output)?;
    }
    Ok(exit)
}

/// A line for each fact; where a person must look at them, with the texts.
fn show_changes(reply: &AgentsMdReply, would: bool, output: &mut Output) -> Result<(), Failure> {
    for change in &reply.changes {
        let (word, reason) = json::change_words(&change.kind);
        let line = change.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let reason = reason.map(|reason| format!(": {}", shown(reason))).unwrap_or_default();
        let would = if would && reason.is_empty() { "would be " } else { "" };
        output.line(&format!("{would}{word} {}{line}{reason}", shown(&change.key)))?;
        if reply.unconfirmed.is_some() {
            for (side, text) in [("entry:  ", &change.entry), ("section:", &change.section)] {
                let lines = text.iter().flat_map(|text| text.lines()).enumerate();
                for (number, line) in lines {
                    let side = if number == 0 { side } else { "        " };
                    output.line(&format!("  {side} {}", shown(line)))?;
                }
            }
        }
    }
    Ok(())
}

fn open(folder: &Path, global: &Global) -> Result<LocalDir, Failure> {
    let durability = global.durability.into();
    let options = LocalDirOptions { durability, on_recovered: Some(output::recovered), ..LocalDirOptions::default() };
    LocalDir::open(folder, options).map_err(|error| {
        let shown = folder.display();
        let what = match error {
            OpenError::Missing(_) => format!("the folder `{shown}` does not exist"),
            OpenError::NotDirectory(_) => format!("`{shown}` is not a folder"),
            OpenError::Unusable { source, .. } => {
                format!("the folder `{shown}` cannot be opened: {}", saddlebag_host::io_cause(&source))
            }
            _ => format!("the folder `{shown}` cannot be opened"),
        };
        Failure::new("storage", what, "name the folder of a project with --dir")
    })
}

/// A file, or why it is none; `None` where there is nothing.
fn read(folder: &mut LocalDir, role: PreambleRole, name: &str) -> Option<PreambleFile> {
    let path = RelPath::parse(name).ok()?;
    let (content, size) = match folder.perform(&FsOp::Read { path, offset: 0, max_bytes: MAX_READ_BYTES, unless: None })
    {
        Ok(FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, size, .. }))) => (Ok(bytes), size),
        Ok(_) => return None,
        Err(error) => (Err(error), 0),
    };
    Some(PreambleFile { role, path: name.into(), content, size })
}
