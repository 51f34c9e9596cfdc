//! `memory preamble`: prints the start of a conversation, from files of a project and its memory.

use std::path::PathBuf;

use clap::Args;
use saddlebag::context::{BlockForm, Context, Overflow, Preamble, PreambleFile, PreambleReply, PreambleRole};
use saddlebag::protocol::{FileContent, FsOp, FsOutcome, ReadOutcome};
use saddlebag::store::RelPath;
use saddlebag_host::{Executor, LocalDir, Project};

use super::context::{hydrated, left_out, recalled};
use super::folder;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input;
use crate::output::Output;
use crate::store::{Store, project};
use crate::subcommand::Subcommand;
use crate::word::word;

/// Maximum number of bytes to read from a file.
const MAX_READ_BYTES: u32 = 512 << 10;

/// Names of the file with instructions for agents. Only the first that exists is used.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Print the start of a conversation: rules, architecture, memory
#[derive(Debug, Args)]
#[command(after_help = example("memory preamble --dir . --max-bytes 65536"))]
pub(crate) struct PreambleArgs {
    /// Folder with AGENTS.md and ARCHITECTURE.md; its project gives the memory, unless --project names another
    #[arg(long, value_name = "PATH", default_value = ".")]
    dir: PathBuf,
    /// File with the base prompt; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Maximum size of the preamble, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::context::DEFAULT_PREAMBLE_BYTES)]
    max_bytes: u32,
    /// Maximum size of the memory block, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::context::DEFAULT_BLOCK_BYTES)]
    memory_bytes: u32,
    /// Form of the block: claude (tags), openai (Markdown) or plain (no markup)
    #[arg(long = "for", default_value = "claude", value_name = "FORM", value_parser = word::<BlockForm>())]
    form: BlockForm,
    /// Choice when memory is larger than its block: documented, prioritised or balanced
    #[arg(long, default_value = "balanced", value_name = "POLICY", value_parser = word::<Overflow>())]
    overflow: Overflow,
    /// Include entries, up to this many bytes [without BYTES: up to the size of the block]
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true)]
    entries: Option<Option<u64>>,
    /// Question to recall; the answers become the last section of the block
    #[arg(long, value_name = "QUESTION", allow_hyphen_values = true)]
    recall: Option<String>,
    /// Print the instructions about memory for a model at the end
    #[arg(long)]
    prompt: bool,
    /// Instead of the text, print its parts and what is left out
    #[arg(long)]
    report: bool,
}

impl Subcommand for PreambleArgs {
    type Json = PreambleReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        run(&self, global, output)
    }
}

fn run(args: &PreambleArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    if let Some(base) = &args.base {
        let text = input::file(base)?;
        let (path, size) = (base.display().to_string(), text.len() as u64);
        files.push(PreambleFile { role: PreambleRole::BasePrompt, path, content: Ok(text.into_bytes()), size });
    }
    let mut folder = folder::open(&args.dir, global)?;
    files.extend(INSTRUCTIONS.iter().find_map(|name| read(&mut folder, PreambleRole::Instructions, name)));
    files.extend(read(&mut folder, PreambleRole::Architecture, ARCHITECTURE));

    let is_of_folder = global.project.is_none() && !global.notebook;
    let project = if is_of_folder { Project::Path(args.dir.clone()) } else { project(global)? };
    let mut store = Store::for_project(project, global)?;
    let turn = recalled(args.recall.as_deref(), &mut store, output)?;
    let entries = hydrated(args.entries, args.memory_bytes);
    let PreambleArgs { overflow, memory_bytes, form, prompt, max_bytes, .. } = *args;
    let memory = Context { overflow, max_bytes: memory_bytes, turn, entries, form };
    let request = Preamble { files, memory, memory_prompt: prompt, max_bytes };
    let preamble = store.call(request, output)?;
    let exit = if preamble.text.is_empty() { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&preamble)?;
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
