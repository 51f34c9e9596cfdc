//! `context --preamble`: prints the start of a conversation, from files of a project and its memory.

use std::path::PathBuf;

use saddlebag::context::{Context, Preamble, PreambleFile, PreambleReply, PreambleRole};
use saddlebag::protocol::{FileContent, FsOp, FsOutcome, ReadOutcome};
use saddlebag::store::RelPath;
use saddlebag_host::{Executor, LocalDir, Project};

use super::args::ContextArgs;
use super::context::{hydrated, left_out, recalled};
use super::folder;
use crate::input;
use crate::prelude::*;
use crate::store::{Store, project};

/// Maximum number of bytes to read from a file.
const MAX_READ_BYTES: u32 = 512 << 10;

/// Names of the file with instructions for agents. Only the first that exists is used.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Prints the start of a conversation: rules, architecture, memory.
pub(super) fn run(args: &ContextArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    if let Some(base) = &args.append_to {
        let text = input::file(base)?;
        let (path, size) = (base.display().to_string(), text.len() as u64);
        files.push(PreambleFile { role: PreambleRole::BasePrompt, path, content: Ok(text.into_bytes()), size });
    }
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut folder = folder::open(&dir, global)?;
    files.extend(INSTRUCTIONS.iter().find_map(|name| read(&mut folder, PreambleRole::Instructions, name)));
    files.extend(read(&mut folder, PreambleRole::Architecture, ARCHITECTURE));

    let is_of_folder = global.project.is_none() && !global.notebook && !global.user;
    let project = if is_of_folder { Project::Path(dir) } else { project(global)? };
    let mut store = Store::for_project(project, global)?;
    store.look_back(args.at.at.clone());
    let turn = recalled(args.recall.as_deref(), &mut store, output)?;
    let max_bytes = args.block_bytes();
    let entries = hydrated(args.entries, max_bytes);
    let ContextArgs { overflow, form, prompt, preamble_bytes, .. } = *args;
    let memory = Context { overflow, max_bytes, turn, entries, form };
    let request = Preamble { files, memory, memory_prompt: prompt, max_bytes: preamble_bytes };
    let preamble = store.call(request, output)?;
    let exit = if preamble.text.is_empty() { Exit::Nothing } else { Exit::Done };
    if output.json(&preamble)? {
        return Ok(exit);
    }
    if args.report {
        report(&preamble, output)?;
        return Ok(exit);
    }
    if exit == Exit::Done {
        output.line(preamble.text.as_str())?;
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

/// Reads a file of the preamble. The result has the reason if the file cannot be read. Returns `None` if it does not
/// exist.
fn read(folder: &mut LocalDir, role: PreambleRole, name: &str) -> Option<PreambleFile> {
    let path = RelPath::new(name).ok()?;
    let (content, size) = match folder.perform(&FsOp::Read { path, offset: 0, max_bytes: MAX_READ_BYTES }) {
        Ok(FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, size, .. }))) => (Ok(bytes), size),
        Ok(_) => return None,
        Err(error) => (Err(error.to_string()), 0),
    };
    Some(PreambleFile { role, path: name.into(), content, size })
}
