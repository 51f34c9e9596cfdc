//! `entry run`: stores the entries of one run of an agent. Each entry is stored whole or not at all.

use saddlebag::entries::{Category, CheckpointReply, CloseRun, NewEntry, OpenRun, SkippedEntry, WriteEntry};
use saddlebag::items::{Forget, ItemKind};
use saddlebag::trust::ForModel;
use saddlebag::{Command, Origin};

use crate::input;
use crate::output::single_line;
use crate::prelude::*;

/// Store the entries of one run of the agent
#[derive(Debug, Args)]
#[command(after_help = example("entry run nightly --fence 2"))]
pub(crate) struct RunArgs {
    /// Name of the run
    name: String,
    /// Number of the run, which grows with each run of the agent
    #[arg(long, value_name = "N")]
    fence: u64,
    /// Entries, one JSON object a line, with key, content, category, tags, source, supersedes, or key and `deleted` to
    /// forget one; `-` reads them from standard input
    #[arg(default_value = "-")]
    entries: String,
}

impl Subcommand for RunArgs {
    type Json = CheckpointReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = run_of_agent(self, global, output)?;
        if !output.json(&reply)? {
            print_saved(&reply, output)?;
        }
        Ok(if reply.skipped.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// Opens a run, stores its entries, and closes it. A refused entry is reported, and the others are still stored.
fn run_of_agent(args: RunArgs, global: &Global, output: &mut Output) -> Result<CheckpointReply, Failure> {
    let verbs = run_verbs(&args)?;
    let mut store = Store::open(global)?;
    let origin = Origin::from_run(&args.name);
    store.call(origin.clone().with(OpenRun { fence: args.fence }), output)?;
    let mut refused = Vec::new();
    for (key, verb) in verbs {
        if let Err(failure) = store.run(origin.clone().with(verb), output) {
            refused.push(SkippedEntry { key, reason: failure.message });
        }
    }
    let mut saved = store.call(origin.with(CloseRun), output)?;
    saved.skipped.splice(0..0, refused);
    let (stored, skipped) = (saved.stored.len(), saved.skipped.len());
    let message = format!("Closed run {}: {stored} stored, {skipped} skipped", args.name);
    saved.message = ForModel::escaped(&message);
    Ok(saved)
}

fn print_saved(reply: &CheckpointReply, output: &mut Output) -> Result<(), Failure> {
    output.line(&single_line(reply.message.as_str()))?;
    for entry in &reply.skipped {
        output.line(&format!("skipped {}: {}", single_line(&entry.key), single_line(&entry.reason)))?;
    }
    for (what, keys) in [("swept", &reply.swept), ("evicted", &reply.evicted)] {
        if !keys.is_empty() {
            output.line(&format!("{what}: {}", single_line(&keys.join(", "))))?;
        }
    }
    Ok(())
}

/// Returns the commands for a run's entries. If one line is not an entry, the whole input is refused.
fn run_verbs(args: &RunArgs) -> Result<Vec<(String, Command)>, Failure> {
    let text = input::text(args.entries.clone())?;
    let lines = (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| run_verb(line).map_err(|error| refused_line(number, &error))).collect()
}

fn run_verb(line: &str) -> Result<(String, Command), serde_json::Error> {
    let entry: RunEntry = serde_json::from_str(line)?;
    let RunEntry { key, content, category, tags, source, supersedes, deleted } = entry;
    let verb = match deleted {
        true => Forget { kind: Some(ItemKind::Entry), ..Forget::new(&key) }.into(),
        false => {
            let category = category.unwrap_or_else(|| Category::Core.as_str().to_string());
            let entry = NewEntry { key: key.clone(), content, category, tags, source, supersedes };
            WriteEntry { entry, expected_version: None }.into()
        }
    };
    Ok((key, verb))
}

fn refused_line(number: usize, error: &serde_json::Error) -> Failure {
    let help = r#"an entry is {"key": "k", "content": "text", "category": "core"}"#;
    Failure::usage(format!("line {number} is not an entry: {error}"), help)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RunEntry {
    key: String,
    #[serde(default)]
    content: String,
    category: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    source: Option<String>,
    supersedes: Option<String>,
    #[serde(default)]
    deleted: bool,
}
