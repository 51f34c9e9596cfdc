//! `demo`: runs commands on a sample store, and prints the operations that the component asks for.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use saddlebag::context::{Context, PromptReply};
use saddlebag::entries::{DEFAULT_HYDRATE_BYTES, Hydrate, HydrationPolicy, NewEntry, WriteEntry};
use saddlebag::items::{ItemsReply, Recall, Written};
use saddlebag::journal::{AppendDaily, JournalReply, Search, Target, WriteFile, WriteMode};
use saddlebag::notebook::WriteNote;
use saddlebag::protocol::{
    AppendOutcome, ErrorCode, FsError, FsOp, FsOutcome, FsRequest, ListOutcome, ReadOutcome, RemoveOutcome,
    RenameOutcome, WriteOutcome,
};
use saddlebag::store::RelPath;
use saddlebag::{Command, Reply};
use saddlebag_host::{Observer, Options, Project};

use crate::failure::ProgramCode;
use crate::output::{FAINT, STRONG};
use crate::prelude::*;
use crate::store::{Root, Store, options};

/// Files of the sample store. The log belongs to the day before.
const SAMPLE: [(&str, &str); 4] = [
    ("MEMORY.md", include_str!("../../sample/MEMORY.md")),
    ("SCRATCHPAD.md", include_str!("../../sample/SCRATCHPAD.md")),
    ("notes/deploy.md", include_str!("../../sample/notes/deploy.md")),
    ("notes/database.md", include_str!("../../sample/notes/database.md")),
];
const SAMPLE_LOG: &str = include_str!("../../sample/yesterday.md");

/// Maximum number of lines of a reply to print.
const SHOWN_LINES: usize = 36;

/// Show memory at work on a sample store in a fresh folder
#[derive(Debug, Args)]
#[command(after_help = example("demo"))]
pub(crate) struct DemoArgs {
    /// Keep the folder, and print its path
    #[arg(long)]
    keep: bool,
}

/// Result of the demo.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Demo {
    /// Commands in the order in which they ran.
    steps: Vec<Step>,
    /// Folder of the sample store; only with --keep.
    folder: Option<String>,
}

/// Command of the demo.
#[derive(Serialize, JsonSchema)]
struct Step {
    /// Command line.
    command: &'static str,
    /// Operations that the component asked for, one line each.
    operations: Vec<String>,
    /// Text of the reply.
    text: String,
}

impl Subcommand for DemoArgs {
    type Json = Demo;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        run(self.keep, global, output)
    }
}

fn run(keep: bool, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let failed = |error: io::Error| {
        Failure::new(
            ErrorCode::Storage,
            format!("cannot make the sample store: {}", saddlebag_host::io_cause(&error)),
            "",
        )
    };
    let folder = tempfile::Builder::new().prefix("saddlebag-demo-").tempdir().map_err(failed)?;
    let options = Options { project: Project::Notebook, create: false, ..options(global)? };
    let mut store = Store::at(&Root::Default(folder.path().to_path_buf()), options, global)?;
    copy_sample(folder.path(), &store).map_err(failed)?;
    if !output.is_json() {
        output.line("A sample store in a fresh folder. Each command is shown with the operations that the")?;
        output.line("component asks for: it decides, the host performs.")?;
    }
    let mut steps = Vec::new();
    for (line, command) in commands() {
        steps.push(step(line, command, &mut store, output)?);
    }
    let kept = keep.then(|| folder.keep());
    if output.is_json() {
        output.object(&Demo { steps, folder: kept.map(|folder| folder.display().to_string()) })?;
    } else if let Some(folder) = kept {
        output.line("")?;
        output.line(&format!("The store is in {}", folder.display()))?;
    }
    Ok(Exit::Done)
}

fn commands() -> [(&'static str, Command); 7] {
    let fact = "- Staging listens on port 8443 since the move to the new load balancer.";
    let log = AppendDaily {
        heading: "staging moved".into(),
        body: "New load balancer, port 8443. Rollback: switch the record back.".into(),
    };
    let fact_note = WriteNote {
        title: "Load balancer".into(),
        content: "Two nodes in front of staging. Certificates are renewed every 60 days.".into(),
        template: "fact".into(),
        tags: vec!["infra".into()],
        links: vec!["deploy".into()],
        ..WriteNote::default()
    };
    let entry = NewEntry {
        tags: vec!["ops".into()],
        ..NewEntry::new("deploy_target", "Staging first, production on the next workday.", "core")
    };
    let hydrate = Hydrate { max_bytes: DEFAULT_HYDRATE_BYTES, policy: HydrationPolicy::Greedy };
    let question = Recall { query: "which port is staging listening on?".into(), limit: 3, ..Recall::default() };
    [
        (
            "write long_term \"Staging listens on port 8443 ...\"",
            WriteFile { target: Target::LongTerm, mode: WriteMode::Append, content: fact.into(), truncate: false }
                .into(),
        ),
        ("log \"staging moved\" \"New load balancer ...\"", log.into()),
        ("search staging port", Search::new("staging port").into()),
        ("remember \"Load balancer\" \"Two nodes ...\" --link deploy", fact_note.into()),
        ("recall \"which port is staging listening on?\"", question.into()),
        (
            "remember --key deploy_target \"Staging first ...\" --tag ops",
            WriteEntry { entry, expected_version: None }.into(),
        ),
        ("context --entries", Context { entries: Some(hydrate.into()), ..Context::default() }.into()),
    ]
}

fn step(line: &'static str, command: Command, store: &mut Store, output: &mut Output) -> Result<Step, Failure> {
    let watcher = Watcher::default();
    let seen = watcher.0.clone();
    store.observe(watcher);
    let text = match store.run(command, output)? {
        Reply::Journal(JournalReply::AppendDaily(reply)) => reply.message,
        Reply::Items(ItemsReply::Write(Written::Entry(reply))) => reply.message,
        Reply::Items(ItemsReply::Write(Written::File(reply))) => reply.message,
        Reply::Items(ItemsReply::Write(Written::Note(reply))) => reply.message,
        Reply::Journal(JournalReply::Search(results)) => results.rendered,
        Reply::Prompt(PromptReply::Context(reply)) => reply.block.unwrap_or_default(),
        Reply::Items(ItemsReply::Recall(reply)) => reply.rendered,
        _ => return Err(Failure::new(ProgramCode::Component, "the demo got a wrong reply", "rebuild the program")),
    };
    let operations = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    if !output.is_json() {
        output.line("")?;
        output.styled(STRONG, &format!("$ saddlebag {line}"))?;
        for operation in &operations {
            output.styled(FAINT, &format!("  {operation}"))?;
        }
        let lines: Vec<&str> = text.as_str().lines().collect();
        for line in lines.iter().take(SHOWN_LINES) {
            output.line(line)?;
        }
        if lines.len() > SHOWN_LINES {
            output.styled(FAINT, &format!("({} more lines)", lines.len() - SHOWN_LINES))?;
        }
    }
    Ok(Step { command: line, operations, text: text.into_string() })
}

fn copy_sample(root: &Path, store: &Store) -> io::Result<()> {
    for folder in ["notes", "daily"] {
        fs::create_dir(root.join(folder))?;
    }
    for (path, text) in SAMPLE {
        fs::write(root.join(path), text)?;
    }
    if let Some(yesterday) = store.now().local().and_then(|now| now.date().yesterday()) {
        fs::write(root.join(format!("daily/{yesterday}.md")), SAMPLE_LOG)?;
    }
    Ok(())
}

/// Observer that collects one line for each operation.
#[derive(Default)]
struct Watcher(Arc<Mutex<Vec<String>>>);

impl Observer for Watcher {
    fn result(&mut self, request: &FsRequest, outcome: &Result<FsOutcome, FsError>) {
        let place = match &request.op {
            FsOp::Read { path, .. }
            | FsOp::Write { path, .. }
            | FsOp::Append { path, .. }
            | FsOp::Remove { path, .. }
            | FsOp::MakeDirectory { path }
            | FsOp::RemoveDirectory { path } => path.as_str(),
            FsOp::ListDirectory { folder, .. } => folder.as_ref().map_or(".", RelPath::as_str),
            FsOp::Rename { path: from, .. } => from.as_str(),
            FsOp::Generation => "",
        };
        let (name, answer) = (request.op.name(), answer(&request.op, outcome));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name:<6} {place:<22} {answer}"));
    }
}

fn answer(op: &FsOp, outcome: &Result<FsOutcome, FsError>) -> String {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return error.to_string(),
    };
    let word = match (op, outcome) {
        (_, FsOutcome::Read(ReadOutcome::Content(content))) => return format!("{} bytes", content.bytes.len()),
        (_, FsOutcome::ListDirectory(ListOutcome::Page(page))) => return format!("{} entries", page.entries.len()),
        (_, FsOutcome::ListDirectory(ListOutcome::Unchanged)) => "unchanged",
        (FsOp::Write { content, .. }, FsOutcome::Write(WriteOutcome::Written(_)))
        | (FsOp::Append { content, .. }, FsOutcome::Append(AppendOutcome::Written(_))) => {
            return format!("{} bytes written", content.len());
        }
        (_, FsOutcome::Read(ReadOutcome::Absent) | FsOutcome::Rename(RenameOutcome::Absent)) => "absent",
        (
            _,
            FsOutcome::Write(WriteOutcome::Stale(_))
            | FsOutcome::Append(AppendOutcome::Stale(_))
            | FsOutcome::Remove(RemoveOutcome::Stale(_))
            | FsOutcome::Rename(RenameOutcome::Stale(_)),
        ) => "stale",
        _ => "done",
    };
    word.to_string()
}
